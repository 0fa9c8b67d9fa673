"""Which faults stand: what boards tell, what the driver finds itself, and what the engine still holds in error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from controller.lines import Line
from controller.mechanisms import Learned
from engine import inputs
from protocol.serial import messages as serial

LINK_LOST: Final = "link_lost"
GEAR_MISMATCH: Final = "gear_mismatch"
FIRMWARE_MISMATCH: Final = "firmware_mismatch"
SLOW: Final = "slow_"
"""Begins the code of a mechanism that takes longer than it used to: `slow_sort`."""

_Key = tuple[str, str]


class HeldFault(Protocol):
    """The part of the engine's `Fault` that is compared."""

    @property
    def code(self) -> str: ...

    @property
    def side(self) -> str: ...


class FaultLedger:
    """Feeds faults that come and go. What the engine holds though nobody tells it any more is cleared.

    A board tells all that stands behind its Identity; once every board has been heard out, the rest is history.
    """

    def __init__(self, lines: Sequence[Line], feed: Callable[[inputs.Input], None]) -> None:
        self._lines = tuple(lines)
        self._feed = feed
        self._told: dict[Line, set[_Key]] = {}
        self._heard_out: set[Line] = set()
        self._own: set[str] = set()
        self._held: frozenset[_Key] = frozenset()

    def held(self, faults: Iterable[HeldFault]) -> None:
        """What the engine holds now; what of it stands no more is cleared."""
        self._held = frozenset((fault.code, fault.side) for fault in faults)
        self._settle()

    def greeted(self, line: Line) -> None:
        """A session has begun: its board is about to tell what stands."""
        self._told[line] = set()
        self._heard_out.discard(line)
        if all(each.ready for each in self._lines):
            self.over(LINK_LOST)
            self.over(FIRMWARE_MISMATCH)

    def heard_out(self, line: Line) -> None:
        """The board has told everything that stands."""
        self._heard_out.add(line)
        self._settle()

    def lost(self, line: Line) -> None:
        """The session has ended: whether its faults stand is not known until the next one."""
        self._heard_out.discard(line)
        self.find(LINK_LOST, "link")

    def find(self, code: str, mechanism: str, severity: str = "fault") -> None:
        """The driver itself has found a fault; told once as long as it stands."""
        if code not in self._own:
            self._own.add(code)
            self._feed(inputs.FaultRaised(code, severity, mechanism, ""))

    def slow(self, verb: str, times: Learned) -> None:
        """A mechanism has become slow: a warning long before it fails."""
        self._own.add(SLOW + verb)
        self._feed(inputs.FaultRaised(SLOW + verb, "warning", verb, "", times.recent_ms, times.usual_ms))

    def calm(self, verb: str) -> None:
        """It is as quick as it was."""
        self.over(SLOW + verb)

    def known_slow(self, verbs: Iterable[str]) -> None:
        """What an earlier run of the daemon has warned of still stands."""
        self._own.update(SLOW + verb for verb in verbs)

    def stands(self, code: str) -> bool:
        """Whether a fault stands, at whatever side, as far as is known."""
        return any(known == code for known, _ in self._standing())

    def over(self, code: str) -> None:
        """A fault that the driver finds itself does not stand, whichever run of the daemon found it."""
        known = code in self._own or (code, "") in self._held
        self._own.discard(code)
        if known and (code, "") not in self._standing():
            self._feed(inputs.FaultCleared(code))

    def raised(self, line: Line, fault: serial.FaultRaised) -> None:
        """A board tells of a fault."""
        self._told.setdefault(line, set()).add((fault.code, fault.side))
        self._feed(inputs.FaultRaised(fault.code, fault.severity, fault.mechanism, fault.side))

    def cleared(self, line: Line, fault: serial.FaultCleared) -> None:
        """A board tells that a fault is over."""
        self._told.setdefault(line, set()).discard((fault.code, fault.side))
        if (fault.code, fault.side) not in self._standing():
            self._feed(inputs.FaultCleared(fault.code, fault.side))

    def _standing(self) -> set[_Key]:
        return {key for told in self._told.values() for key in told} | {(code, "") for code in self._own}

    def _settle(self) -> None:
        if len(self._heard_out) < len(self._lines):
            return
        for code, side in sorted(self._held - self._standing()):
            self._feed(inputs.FaultCleared(code, side))
