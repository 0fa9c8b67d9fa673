"""What became of the seats' inputs: the last 16 of each seat, and which ids have been used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.tiles import SEATS

SHOWN: Final = 16
REMEMBERED: Final = 256


class Answers:
    """By seat. An input is answered once; its repetition changes nothing."""

    def __init__(self) -> None:
        self._shown: dict[str, OrderedDict[str, dict[str, Any]]] = {seat: OrderedDict() for seat in SEATS}
        self._used: dict[str, OrderedDict[str, None]] = {seat: OrderedDict() for seat in SEATS}

    def repeated(self, seat: str, id: str) -> bool:
        """Whether this seat has used the id before. An answer that is no longer shown is given as `duplicate`."""
        if id not in self._used[seat]:
            return False
        if id not in self._shown[seat]:
            self._show(seat, id, {"id": id, "ok": False, "code": "duplicate", "rule": "", "params": {}})
        return True

    def accept(self, seat: str, id: str) -> None:
        """The input has been carried out."""
        self._settle(seat, id, {"id": id, "ok": True, "code": "", "rule": "", "params": {}})

    def refuse(self, seat: str, id: str, code: str, rule: str = "", params: Mapping[str, Any] | None = None) -> None:
        """The input has been refused, with the code that the page words and the rule that says so."""
        self._settle(seat, id, {"id": id, "ok": False, "code": code, "rule": rule, "params": dict(params or {})})

    def shown(self) -> dict[str, Sequence[Mapping[str, Any]]]:
        """What each seat's view says of its inputs, oldest first."""
        return {seat: tuple(answers.values()) for seat, answers in self._shown.items()}

    def _settle(self, seat: str, id: str, answer: dict[str, Any]) -> None:
        used = self._used[seat]
        used[id] = None
        if len(used) > REMEMBERED:
            used.popitem(last=False)
        self._show(seat, id, answer)

    def _show(self, seat: str, id: str, answer: dict[str, Any]) -> None:
        shown = self._shown[seat]
        shown[id] = answer
        if len(shown) > SHOWN:
            shown.popitem(last=False)
