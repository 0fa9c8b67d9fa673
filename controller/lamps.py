"""The lamps along the walls: what play wants lit, on every board that has lamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from controller.lines import Line
from protocol.serial import messages as serial
from protocol.serial.vocabulary import LampColour, Side

Lamps = tuple[tuple[str, int, int, str], ...]
"""Ranges `(side, first stack, last stack, colour)`; stacks count from 1 at the side's right-hand end."""


class LampKeeper:
    """Lights what is wanted, and again on a board that has started anew."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = tuple(lines)
        self._wanted: Lamps = ()
        self._shown: dict[Line, Lamps] = {}

    def show(self, lamps: Lamps) -> None:
        """Light these alone."""
        self._wanted = lamps
        for line in self._lines:
            self.send(line)

    def show_again(self) -> None:
        """Light what is wanted, whatever was lit meanwhile."""
        self._shown.clear()
        self.show(self._wanted)

    def greeted(self, line: Line) -> None:
        """A session has begun: nobody knows what is lit there."""
        self._shown.pop(line, None)

    def send(self, line: Line) -> None:
        """Light on one board what is not lit there yet."""
        identity = line.identity
        if not line.ready or identity is None or not identity.capabilities.lamps:
            return
        if self._shown.get(line, ()) == self._wanted:
            return
        self._shown[line] = self._wanted
        line.send_soon([serial.LampsOff(), *(_lamp(*lamp) for lamp in self._wanted)])


def _lamp(side: str, first: int, last: int, colour: str) -> serial.Lamp:
    """The board counts stacks from 0."""
    return serial.Lamp(cast(Side, side), first - 1, last - 1, cast(LampColour, colour))
