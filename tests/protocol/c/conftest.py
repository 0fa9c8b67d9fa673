"""What of the shared tests is asked of the C link only on request: the same again with more seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

SEEDS = 4
"""So many of the seeds of the lossy line in every run; the others are marked long."""
LONG = ("test_heartbeats_keep_an_idle_session_alive_for_an_hour", "test_any_frames_at_all_are_safe")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is long."""
    for item in items:
        if item.path == Path(__file__).with_name("test_same_line.py"):
            seed = getattr(item, "callspec", None) and item.callspec.params.get("seed", 0)
            if (isinstance(seed, int) and seed >= SEEDS) or getattr(item, "originalname", "") in LONG:
                item.add_marker("long")
