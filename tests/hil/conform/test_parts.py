"""The parts of the suite by themselves: the clock that jumps, a line in memory, hands that are asked."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest

from hil.conform.hands import AskedHands, NoHands
from hil.conform.requirement import Skipped, requirement
from hil.conform.runner import chosen
from hil.conform.virtual import MemoryEndpoint, run_virtual
from simulators.port import MemoryPort


def test_an_hour_of_waiting_costs_nothing_and_happens_in_order() -> None:
    happened: list[str] = []

    async def wait(seconds: float, name: str) -> None:
        await asyncio.sleep(seconds)
        happened.append(name)

    async def main() -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(wait(3600, "last"), wait(0.5, "first"), wait(60, "second"))
        return asyncio.get_running_loop().time() - began

    real = time.monotonic()
    assert 3600 <= run_virtual(main) < 3600.1
    assert happened == ["first", "second", "last"]
    assert time.monotonic() - real < 60


def test_who_waits_for_nobody_is_told() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="nothing will ever happen again on this clock"):
        run_virtual(main)


def test_a_line_in_memory_keeps_the_order_of_bytes_both_ways() -> None:
    class Shell:
        def __init__(self) -> None:
            self.heard = b""

        def received(self, data: bytes) -> None:
            self.heard += data

        def lost(self) -> None: ...

        def writable(self) -> None: ...

    async def main() -> tuple[bytes, bytes, bytes]:
        port, shell = MemoryPort(), Shell()
        end, heard = MemoryEndpoint(port), bytearray()
        end.attach(heard.extend, lambda reason: None)
        await port.open(shell)
        for number in range(200):
            end.write(bytes((number,)))
            assert port.write(bytes((number,))) == 1
        port.pause_reading(True)
        await asyncio.sleep(1)
        paused = shell.heard
        port.pause_reading(False)
        await asyncio.sleep(1)
        return paused, shell.heard, bytes(heard)

    paused, at_board, at_host = run_virtual(main)
    assert paused == b""
    assert at_board == at_host == bytes(range(200))


def test_a_person_is_asked_for_what_a_person_can_do() -> None:
    asked: list[str] = []
    hands = AskedHands(asked.append)
    assert hands.can("reset") and not hands.can("freeze") and not hands.can("lean_die")
    asyncio.run(hands.do("reset"))
    assert asked == ["reset the board (its button, or its power)"]
    assert not NoHands().can("reset")
    with pytest.raises(Skipped, match="nobody is there to open the lid"):
        asyncio.run(NoHands().do("open_lid"))


def test_a_number_is_given_once() -> None:
    with pytest.raises(ValueError, match=r"number 1\.1: expected one that is free"):
        requirement("1.1", "again", "again", section="2")(lambda bench: asyncio.sleep(0))


def plain(text: str) -> str:
    """Without what only marks words up, in small letters: a sentence may begin in the midst of one."""
    return " ".join(re.sub(r"[*`|]", "", text).split()).lower()


def test_every_test_quotes_the_contract_word_for_word() -> None:
    contract = plain((Path(__file__).resolve().parents[3] / "docs" / "serial.md").read_text(encoding="utf-8"))
    for one in chosen(()):
        for part in one.says.split("…"):
            assert plain(part.strip(" .:;,")) in contract, f"{one.number}: {part!r} does not stand in docs/serial.md"
