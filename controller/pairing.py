"""Displays and seats as the table sees them: who asks, who confirms, who holds a seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.tiles import SEATS
from protocol.mqtt.models import PairingRefused, PairingRequest, PairingState

ASK_S: Final = 120.0
NOTICE_S: Final = 15.0
MOST_ASKING: Final = 8
LONG_PRESS_MS: Final = 2000
"""A key held so long confirms the oldest asking display; so the first display needs no other."""

CONFIRMING_KEYS: Final = ("lift", "seat")
"""The dice key is not among them: held long it throws by itself on many tables."""

SERVICE: Final = "service"
"""The place of a repairer's page: its own key confirms it, and nothing else."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer to one asking display."""

    code: str
    seat: str
    device: str
    ok: bool


class Pairing:
    """Requests wait for two minutes; a notice is shown for 15 s. `now` gives monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._asking: dict[str, tuple[PairingRequest, float]] = {}
        self._notices: list[tuple[str, str, float]] = []
        self._devices: dict[str, str | None] = dict.fromkeys(SEATS)

    @property
    def devices(self) -> Mapping[str, str | None]:
        """The name of each seat's display."""
        return self._devices

    def asked(self, request: PairingRequest) -> bool:
        """A display asks; False when too many do already."""
        self._forget()
        if request.code not in self._asking and len(self._asking) >= MOST_ASKING:
            return False
        self._asking[request.code] = (request, self._now() + ASK_S)
        return True

    def answer(self, code: str, ok: bool) -> Grant | None:
        """A seat confirms or refuses the display that shows `code`; None when none does.

        What a repairer's page may do needs a key at the table: a seat can only refuse it.
        """
        self._forget()
        asked = self._asking.get(code)
        if ok and asked is not None and asked[0].seat == SERVICE:
            return None
        return self._answered(code, ok)

    def _answered(self, code: str, ok: bool) -> Grant | None:
        found = self._asking.pop(code, None)
        return None if found is None else Grant(code, found[0].seat, found[0].device, ok)

    def key_held(self, key: str, seat: str, pressed_ms: int) -> Grant | None:
        """A key of the table was held: the oldest asking display (of that seat, where the key has one) is confirmed.

        The service key confirms a repairer's page, the other keys any other display.
        """
        self._forget()
        if key not in (*CONFIRMING_KEYS, SERVICE) or pressed_ms < LONG_PRESS_MS:
            return None
        for code, (request, _) in self._asking.items():
            if (request.seat == SERVICE) == (key == SERVICE) and (not seat or request.seat == seat):
                return self._answered(code, True)
        return None

    def refused(self, told: PairingRefused) -> None:
        """A second display tried a seat that is held: all four are told."""
        self._notices = [notice for notice in self._notices if notice[1] != told.seat]
        self._notices.append(("second_device", told.seat, self._now() + NOTICE_S))

    def held(self, told: PairingState) -> list[str]:
        """The displays that hold seats now; the seats that have just lost theirs."""
        names = {seat: getattr(told, seat) for seat in SEATS}
        lost = [seat for seat in SEATS if self._devices[seat] is not None and names[seat] is None]
        self._devices = names
        return lost

    def asking(self) -> Sequence[Mapping[str, Any]]:
        """The displays that ask, as seats are shown them."""
        self._forget()
        return [{"code": code, "seat": ask.seat, "name": ask.name} for code, (ask, _) in self._asking.items()]

    def notices(self) -> Sequence[Mapping[str, Any]]:
        """What all four are shown."""
        self._forget()
        now = self._now()
        return [
            {"code": code, "seat": seat, "left_ms": int((until - now) * 1000)} for code, seat, until in self._notices
        ]

    def _forget(self) -> None:
        now = self._now()
        self._asking = {code: asked for code, asked in self._asking.items() if asked[1] > now}
        self._notices = [notice for notice in self._notices if notice[2] > now]
