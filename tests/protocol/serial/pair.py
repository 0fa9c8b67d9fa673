"""A host and an MCU joined by a perfect line; time is a number that the tests advance."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from protocol.serial.events import (
    Delivered,
    LinkEvent,
    LinkLost,
    SessionStarted,
)
from protocol.serial.frames import Frame, FrameDecoder
from protocol.serial.link import Link
from protocol.serial.messages import Message


def ids(seed: int) -> Callable[[], int]:
    source = random.Random(seed)
    return lambda: source.getrandbits(32)


@dataclass
class Table:
    """A host and an MCU joined by a perfect line of no length."""

    host: Link = field(default_factory=lambda: Link("host", ids(1)))
    mcu: Link = field(default_factory=lambda: Link("mcu", ids(2)))
    now: float = 1000.0
    host_events: list[LinkEvent] = field(default_factory=list)
    mcu_events: list[LinkEvent] = field(default_factory=list)

    def settle(self) -> "Table":
        """Carry bytes to and fro until both are quiet, without letting time pass."""
        for _ in range(50):
            out = self.host.outgoing(self.now)
            self.mcu_events += self.mcu.receive(out, self.now)
            back = self.mcu.outgoing(self.now)
            self.host_events += self.host.receive(back, self.now)
            if not out and not back:
                return self
        raise AssertionError("the links never grow quiet")

    def wait(self, seconds: float, step: float = 0.01) -> "Table":
        end = self.now + seconds
        while self.now < end:
            self.now += step
            self.host_events += self.host.tick(self.now)
            self.mcu_events += self.mcu.tick(self.now)
            self.settle()
        return self

    def at_host(self) -> list[Message]:
        return [event.message for event in self.host_events if isinstance(event, Delivered)]

    def at_mcu(self) -> list[Message]:
        return [event.message for event in self.mcu_events if isinstance(event, Delivered)]


def frames_in(data: bytes) -> list[Frame]:
    return FrameDecoder().feed(data)


def kinds_in(data: bytes) -> list[str]:
    return [frame.kind.name for frame in frames_in(data)]


def losses(events: list[LinkEvent]) -> list[LinkLost]:
    return [event for event in events if isinstance(event, LinkLost)]


def tag_of(events: list[LinkEvent]) -> int:
    return next(event.session for event in events if isinstance(event, SessionStarted))
