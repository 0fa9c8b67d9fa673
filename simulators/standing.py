"""The faults that stand at a simulated board: told as they come and go, and again to each new host."""

from __future__ import annotations

from collections.abc import Callable

from protocol.serial.faults import FAULTS
from protocol.serial.messages import FaultCleared, FaultCode, FaultRaised, Message, Seat, Severity
from simulators.mechanisms import Ending

Key = tuple[FaultCode, Seat]


class Standing:
    """`send` tells the host. A fault that an operation ended with goes when one of its kind is done again."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self.faults: dict[Key, tuple[Severity, str]] = {}
        self._send = send
        self._behind: dict[Key, str] = {}

    def come(self, code: FaultCode, severity: Severity, mechanism: str, side: Seat, verb: str = "") -> None:
        """A fault comes and is told once; `verb` is the operation that it ended."""
        if verb:
            self._behind[code, side] = verb
        if (code, side) not in self.faults:
            self.faults[code, side] = (severity, mechanism)
            self._send(FaultRaised(code, severity, mechanism, side))

    def go(self, code: FaultCode, side: Seat) -> None:
        """A fault goes."""
        self._behind.pop((code, side), None)
        if self.faults.pop((code, side), None) is not None:
            self._send(FaultCleared(code, side))

    def ended(self, verb: str, ending: Ending) -> None:
        """An operation has ended: the faults that it found come, those that an earlier one found go."""
        found: set[Key] = set(ending.noticed)
        if ending.outcome == "failed" and ending.fault:
            found.add((ending.fault, ending.side))
        if ending.outcome == "done":
            for key in [key for key, behind in self._behind.items() if behind == verb and key not in found]:
                self.go(*key)
        for code, side in sorted(found):
            # What stopped an operation stands in the way, however mild it usually is.
            severity = "fault" if code == ending.fault else FAULTS[code].severity
            self.come(code, severity, FAULTS[code].mechanism, side, verb)

    def tell(self) -> None:
        """A new host learns what stands."""
        for (code, side), (severity, mechanism) in self.faults.items():
            self._send(FaultRaised(code, severity, mechanism, side))

    def forget(self) -> None:
        """The board starts anew: it looks again before it says anything."""
        self.faults.clear()
        self._behind.clear()
