"""A broker and a page server on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from controller.private_broker import PrivateBroker
from tests.controller.web.site import (
    TABLE,
    Site,
    serving,
    settings_for,
)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path / "broker", TABLE) as running:
        yield running


@pytest.fixture
async def site(broker: PrivateBroker, tmp_path: Path) -> AsyncIterator[Site]:
    async with serving(settings_for(broker, tmp_path / "web"), broker) as one:
        yield one
