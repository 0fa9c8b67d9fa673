"""Two links over a line that loses, doubles, damages, cuts, joins, delays and reorders, under a clock of numbers.

The promise: what one side sends within a session arrives at the other once and in order, up to where the session is
declared lost; a line that is merely bad gets everything through; a healed line is usable within seconds.
"""

import heapq
import random
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial.events import Delivered, LinkEvent, LinkLost, SessionStarted
from protocol.serial.link import Link
from protocol.serial.messages import Ping, Pong


@dataclass(frozen=True)
class Weather:
    """Chances for each piece of the stream."""

    lost: float = 0.0
    doubled: float = 0.0
    damaged: float = 0.0
    overtakes: float = 0.0
    noise: float = 0.0
    piece: int = 64
    delay: float = 0.002
    jitter: float = 0.0


CALM = Weather()
BAD = Weather(lost=0.01, doubled=0.01, damaged=0.01, overtakes=0.01, noise=0.02, piece=24, delay=0.003, jitter=0.004)
STORM = Weather(lost=0.12, doubled=0.08, damaged=0.1, overtakes=0.08, noise=0.1, piece=16, delay=0.01, jitter=0.05)
DEAD = Weather(lost=1.0)


@dataclass
class Side:
    """One end: its link, and what it sent and heard in each session."""

    link: Link
    started: list[int] = field(default_factory=list)
    sent: dict[int, list[int]] = field(default_factory=dict)
    heard: dict[int, list[int]] = field(default_factory=dict)
    lost: list[LinkLost] = field(default_factory=list)
    events: list[LinkEvent] = field(default_factory=list)
    last_on_line: float = 0.0


class Line:
    """Both ends, the bytes between them, and the time."""

    def __init__(self, seed: int, weather: Weather) -> None:
        self.chance = random.Random(seed)
        self.weather = weather
        self.now = 100.0
        self.ends = {"host": Side(self.make("host")), "mcu": Side(self.make("mcu"))}
        self.on_the_way: list[tuple[float, int, str, bytes]] = []
        self.order = count()
        self.next_number = count(1)

    def make(self, role: str) -> Link:
        return Link("host" if role == "host" else "mcu", lambda: self.chance.getrandbits(32))

    def say(self, role: str) -> bool:
        """One more numbered message from this side, if its link takes it."""
        side = self.ends[role]
        if side.link.room == 0:
            return False
        number = next(self.next_number)
        side.link.send(Ping(number) if role == "host" else Pong(number))
        side.sent.setdefault(side.started[-1], []).append(number)
        return True

    def pump(self) -> None:
        for role in self.ends:
            self.carry(role, self.ends[role].link.outgoing(self.now))

    def carry(self, role: str, data: bytes) -> None:
        weather, chance, side = self.weather, self.chance, self.ends[role]
        to = "mcu" if role == "host" else "host"
        while data:
            size = chance.randint(1, weather.piece)
            piece, data = data[:size], data[size:]
            if chance.random() < weather.noise:
                piece = chance.choice((b"AT\r", b"\x00", chance.randbytes(9), b"\x00\x00\xff")) + piece
            if chance.random() < weather.lost:
                continue
            if chance.random() < weather.damaged:
                harmed = bytearray(piece)
                harmed[chance.randrange(len(harmed))] ^= 1 << chance.randrange(8)
                piece = bytes(harmed)
            arrival = self.now + weather.delay + chance.random() * weather.jitter
            if chance.random() >= weather.overtakes:
                arrival = max(arrival, side.last_on_line)
                side.last_on_line = arrival
            for _ in range(2 if chance.random() < weather.doubled else 1):
                heapq.heappush(self.on_the_way, (arrival, next(self.order), to, piece))

    def note(self, role: str, events: list[LinkEvent]) -> None:
        side = self.ends[role]
        for event in events:
            side.events.append(event)
            match event:
                case SessionStarted(session):
                    side.started.append(session)
                case LinkLost():
                    side.lost.append(event)
                case Delivered(Ping(number) | Pong(number)):
                    side.heard.setdefault(side.started[-1], []).append(number)
                case _:
                    raise AssertionError(f"not expected on this line: {event}")

    def run(self, until: float, talk: float = 0.0) -> None:
        """Let time pass; with ``talk`` each side says something about so often (seconds)."""
        next_talk = self.now
        self.pump()
        for _ in range(200_000):
            times = [until]
            times += [at for side in self.ends.values() if (at := side.link.next_deadline()) is not None]
            if self.on_the_way:
                times.append(self.on_the_way[0][0])
            if talk:
                times.append(next_talk)
            self.now = max(self.now, min(times))
            if self.now >= until:
                return
            while self.on_the_way and self.on_the_way[0][0] <= self.now:
                _, _, to, piece = heapq.heappop(self.on_the_way)
                self.note(to, self.ends[to].link.receive(piece, self.now))
            for role, side in self.ends.items():
                self.note(role, side.link.tick(self.now))
            if talk and self.now >= next_talk:
                next_talk = self.now + self.chance.random() * 2 * talk
                for role in self.ends:
                    self.say(role)
            self.pump()
        raise AssertionError("the links never let time pass")

    def check(self) -> None:
        """Within each session: heard is the beginning of what was sent; losses are told honestly."""
        for role, peer in (("host", "mcu"), ("mcu", "host")):
            speaker, listener = self.ends[role], self.ends[peer]
            for session, heard in listener.heard.items():
                assert heard == speaker.sent.get(session, [])[: len(heard)], (role, session)
            ended = speaker.started[: len(speaker.lost)]
            for session, loss in zip(ended, speaker.lost, strict=True):
                sent, heard = speaker.sent.get(session, []), listener.heard.get(session, [])
                assert len(sent) - loss.undelivered <= len(heard) <= len(sent), (role, session)
            kinds = [type(event) for event in speaker.events if isinstance(event, SessionStarted | LinkLost)]
            assert kinds == [(SessionStarted, LinkLost)[turn % 2] for turn in range(len(kinds))]

    def both_connected(self) -> bool:
        return all(side.link.connected for side in self.ends.values())

    def total(self, role: str) -> tuple[int, int]:
        other = "mcu" if role == "host" else "host"
        sent = sum(map(len, self.ends[role].sent.values()))
        return sent, sum(map(len, self.ends[other].heard.values()))


@pytest.mark.parametrize("seed", range(12))
def test_a_bad_line_gets_everything_through(seed: int) -> None:
    line = Line(seed, BAD)
    line.run(until=130.0, talk=0.05)
    line.weather = CALM
    line.run(until=133.0)
    line.check()
    assert line.ends["host"].lost == []
    for role in ("host", "mcu"):
        sent, heard = line.total(role)
        assert sent == heard > 300
    assert line.ends["host"].link.stats.retransmits > 0


@pytest.mark.parametrize("seed", range(12))
def test_a_storm_never_doubles_swaps_or_hides_anything_and_passes(seed: int) -> None:
    line = Line(seed, STORM)
    line.run(until=140.0, talk=0.05)
    line.check()
    line.weather = CALM
    line.run(until=146.0)
    assert line.both_connected()
    before = {role: line.total(role)[1] for role in line.ends}
    session = line.ends["host"].started[-1]
    for role in line.ends:
        for _ in range(20):
            assert line.say(role)
    line.run(until=147.0)
    line.check()
    assert line.ends["host"].started[-1] == session
    assert {role: line.total(role)[1] for role in line.ends} == {role: n + 20 for role, n in before.items()}


@settings(max_examples=25, derandomize=True)
@given(
    st.integers(0, 2**32),
    st.builds(
        Weather,
        lost=st.floats(0, 0.3),
        doubled=st.floats(0, 0.3),
        damaged=st.floats(0, 0.3),
        overtakes=st.floats(0, 0.3),
        noise=st.floats(0, 0.3),
        piece=st.integers(1, 300),
        delay=st.floats(0, 0.3),
        jitter=st.floats(0, 0.3),
    ),
)
def test_any_weather_keeps_the_promise(seed: int, weather: Weather) -> None:
    line = Line(seed, weather)
    line.run(until=110.0, talk=0.1)
    line.check()
    line.weather = CALM
    line.run(until=117.0)
    line.check()
    assert line.both_connected()


@pytest.mark.parametrize("seed", range(6))
def test_restarts_of_either_end_in_mid_talk(seed: int) -> None:
    """A restarted end has forgotten everything: its memory of the test goes on, its link is new."""
    line = Line(seed, BAD)
    for turn in range(8):
        line.run(until=line.now + 1.0, talk=0.03)
        role = ("mcu", "host")[turn % 2]
        side = line.ends[role]
        if side.link.connected:
            undelivered = side.link.close()
            line.note(role, undelivered)  # the books: a restart ends its session, the peer is told nothing
        side.link = line.make(role)
    line.run(until=line.now + 4.0)
    line.check()
    assert line.both_connected()
    assert len(line.ends["host"].started) >= 8


@pytest.mark.parametrize("seed", range(6))
def test_a_line_that_dies_and_comes_back(seed: int) -> None:
    line = Line(seed, BAD)
    line.run(until=102.0, talk=0.05)
    line.weather = DEAD
    line.run(until=104.5, talk=0.05)
    assert [loss.reason for loss in line.ends["host"].lost] == ["silence"]
    assert [loss.reason for loss in line.ends["mcu"].lost] == ["silence"]
    line.weather = BAD
    line.run(until=107.0, talk=0.05)
    line.check()
    assert line.both_connected()


def test_time_outs_stay_within_their_bounds_whatever_the_line() -> None:
    line = Line(3, STORM)
    for _ in range(400):
        line.run(until=line.now + 0.1, talk=0.05)
        for side in line.ends.values():
            assert not side.link.connected or 0.025 <= side.link.stats.rto <= 2.0
