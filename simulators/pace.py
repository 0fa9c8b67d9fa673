"""How fast simulated time runs: real seconds divided by the speed, or no waiting at all."""

from __future__ import annotations

import asyncio


class PaceError(ValueError):
    """A speed that is neither a positive number nor `max`."""


class Pace:
    """A scaled clock. At speed `max` nothing waits, but everything still happens in turn on the event loop."""

    def __init__(self, speed: str | float) -> None:
        self.speed = parse_speed(speed)

    def real(self, seconds: float) -> float:
        """Real seconds for so many simulated ones; 0 at speed `max`."""
        return 0.0 if self.speed is None else seconds / self.speed

    async def sleep(self, seconds: float, halt: asyncio.Event | None = None) -> bool:
        """Let simulated time pass; False as soon as `halt` is set, True when the time has passed."""
        if halt is None:
            await asyncio.sleep(self.real(seconds))
            return True
        if self.speed is None:
            await asyncio.sleep(0)
            return not halt.is_set()
        try:
            async with asyncio.timeout(self.real(seconds)):
                await halt.wait()
        except TimeoutError:
            return True
        return False


def parse_speed(text: str | float) -> float | None:
    """A speed as a factor, or None for `max`; PaceError on anything else."""
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise PaceError(f"speed {text!r}: expected a number above 0 such as 1 or 10, or max")
    return speed
