"""The C link under the tests of the Python one: sessions, delivery and the lossy line, same seeds, same invariants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tests.protocol.serial.pair as pair
import tests.protocol.serial.test_delivery as delivery
import tests.protocol.serial.test_lossy_line as lossy_line
import tests.protocol.serial.test_sessions as sessions
from tests.protocol.c.building import compiler
from tests.protocol.c.clink import CLink, make
from tests.protocol.serial.test_delivery import *  # noqa: F403
from tests.protocol.serial.test_lossy_line import *  # noqa: F403
from tests.protocol.serial.test_sessions import *  # noqa: F403


@pytest.fixture(scope="module", autouse=True)
def in_c() -> Iterator[None]:
    """Every board's link of these modules is the C one."""
    compiler("gcc")
    with pytest.MonkeyPatch.context() as patch:
        for module in (pair, delivery, lossy_line, sessions):
            patch.setattr(module, "Link", make)
        yield


def test_the_boards_link_is_the_one_in_c() -> None:
    assert isinstance(pair.Table().mcu, CLink)
    assert isinstance(lossy_line.Line(1, lossy_line.CALM).ends["mcu"].link, CLink)
    assert pair.Table().settle().mcu.connected
