"""When to send again: RFC 6298's estimate of the round trip, with Karn's rule, between 25 ms and 2 s."""

from dataclasses import dataclass
from typing import Final

RTO_LOWEST: Final = 0.025
RTO_HIGHEST: Final = 2.0
RTO_START: Final = 0.1
_GRANULARITY: Final = 0.001
_ALPHA: Final = 1 / 8
_BETA: Final = 1 / 4


@dataclass(slots=True)
class RoundTrip:
    """Smoothed round trip and the time-out made from it, in seconds."""

    rto: float = RTO_START
    smoothed: float | None = None
    variation: float = 0.0

    def sample(self, seconds: float) -> None:
        """A frame sent once was acknowledged after ``seconds``. Never call it for one sent again (Karn)."""
        seconds = max(0.0, seconds)
        if self.smoothed is None:
            self.smoothed, self.variation = seconds, seconds / 2
        else:
            self.variation = (1 - _BETA) * self.variation + _BETA * abs(self.smoothed - seconds)
            self.smoothed = (1 - _ALPHA) * self.smoothed + _ALPHA * seconds
        self.rto = _within(self.smoothed + max(_GRANULARITY, 4 * self.variation))

    def back_off(self) -> None:
        """The time-out passed: double it; it stays so until the next sample."""
        self.rto = _within(2 * self.rto)


def _within(seconds: float) -> float:
    return min(RTO_HIGHEST, max(RTO_LOWEST, seconds))
