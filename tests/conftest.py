"""What every test shares: hypothesis without deadlines, for machines whose speed is nobody's promise; what is slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

settings.register_profile("kaijin", deadline=None)
settings.load_profile("kaijin")

SLOW: tuple[str, ...] = (
    *("engine/book", "engine/test_table_walks", "engine/test_readers_that_err", "engine/test_equal_levels"),
    *("engine/test_table", "engine/test_pause_park", "engine/test_sessions", "engine/test_reckoner"),
    *("engine/test_hands", "engine/test_opening_walk", "engine/play/test_random_hands", "engine/test_refereeing"),
    *("engine/test_laid_claims", "engine/test_meanwhile"),
    *("simulators", "cli/test_park", "cli/test_demo", "cli/test_docs", "cli/test_bench", "cli/test_journal"),
    "protocol/c",
    *("controller/test_equal_traffic", "controller/test_secrecy", "controller/test_daemon", "controller/hardware"),
    *("controller/test_lines", "controller/test_time", "controller/test_journal_", "engine/test_snapshots", "fuzz"),
    *("controller/web", "controller/test_parlor", "controller/test_broker", "controller/test_ledger", "test_setup"),
    *("controller/test_service", "cli/test_service", "controller/test_mechanisms", "controller/test_support"),
    *("controller/test_health", "controller/test_contended_windows", "controller/test_adapters", "hil/host"),
    "hil/conform",
)
"""Whole random matches, processes and counts of everything: what `./kaijin check` leaves to `./kaijin test`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is slow."""
    root = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(root) and item.path.relative_to(root).as_posix().startswith(SLOW):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def own_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a command in this process makes of the log ends with its test: a logger that keeps what it was first given
    would write there for ever, and no later test would hear it.
    """
    before, configure = structlog.get_config(), structlog.configure

    def for_this_test(*given: Any, **named: Any) -> None:
        configure(*given, **named | {"cache_logger_on_first_use": False})

    monkeypatch.setattr(structlog, "configure", for_this_test)
    yield
    configure(**before)
