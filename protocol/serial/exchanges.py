"""The vectors of ``exchanges.json``: talks of a host with a board's link, as the link of this package answers them."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from protocol.serial.events import Delivered, LinkEvent, LinkLost, SessionStarted, Undecodable, VersionRefused
from protocol.serial.frames import DELIMITER, Frame, FrameKind, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import Identify, Message, Ping, Pong, RowLaid, encode_message

_HOST: Final = 0x1B9D3F42
_OWN: Final = (0x8C5A0E77, 0x00000001, 0xFFFFFFFE)


class Talk:
    """Leads a board's link through steps and writes down what it does. Times are whole ms."""

    def __init__(self, name: str, meaning: str, numbers: tuple[int, ...] = _OWN) -> None:
        self.name, self.meaning, self.numbers = name, meaning, numbers
        drawn = iter((1, *numbers))  # a link of this package draws one at its start that a board has no use for
        self._link = Link("mcu", lambda: next(drawn))
        self.steps: list[dict[str, Any]] = []
        self.at = 0
        self.tag = _HOST ^ numbers[0]

    def receive(self, *frames: Frame | bytes, after: int = 0) -> "Talk":
        """The host says these frames, so many ms after the step before."""
        data = b"".join(one if isinstance(one, bytes) else encode_frame(one) for one in frames)
        return self._step(after, {"receive": data.hex()}, lambda now: self._link.receive(data, now))

    def send(self, message: Message, after: int = 0) -> "Talk":
        """The board says a message."""

        def sent(now: float) -> list[LinkEvent]:
            events = self._link.tick(now)
            self._link.send(message)
            return events

        return self._step(after, {"send": encode_message(message).hex()}, sent)

    def wait(self, after: int) -> "Talk":
        """Time passes."""
        return self._step(after, {}, self._link.tick)

    def hello(self, window: int = 8, number: int = _HOST) -> "Talk":
        """The host offers a session."""
        return self.receive(DELIMITER, Frame("host", FrameKind.HELLO, number, payload=bytes((window,))))

    def meet(self, window: int = 8) -> "Talk":
        """A session stands."""
        return self.hello(window).receive(self.frame(FrameKind.ACK), after=2)

    def frame(self, kind: FrameKind, seq: int = 0, ack: int = 0, payload: bytes = b"") -> Frame:
        """A frame of the host in this session."""
        return Frame("host", kind, self.tag, seq, ack, payload)

    def data(self, seq: int, message: Message, ack: int = 0) -> Frame:
        """A message of the host."""
        return self.frame(FrameKind.DATA, seq, ack, encode_message(message))

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        told = {"name": self.name, "meaning": self.meaning, "numbers": [f"{number:08x}" for number in self.numbers]}
        return {**told, "steps": self.steps}

    def _step(self, after: int, what: dict[str, Any], do: Callable[[float], list[LinkEvent]]) -> "Talk":
        self.at += after
        events = [words_of(event) for event in do(self.at / 1000)]
        out = self._link.outgoing(self.at / 1000)
        self.steps.append({"at": self.at, **what, "events": events, "out": out.hex()})
        return self


def words_of(event: LinkEvent) -> str:
    """An event in the words of ``exchanges.json``."""
    match event:
        case SessionStarted(session):
            return f"started {session:08x}"
        case Delivered(message):
            return f"message {encode_message(message).hex()}"
        case Undecodable():
            return "undecodable"
        case LinkLost(reason, undelivered):
            return f"lost {reason} {undelivered}"
        case VersionRefused(version):
            return f"version {version}"


def exchanges() -> list[dict[str, Any]]:
    """Sessions, delivery and liveness, one matter each."""
    return [talk.plain() for talk in (*_sessions(), *_delivery(), *_liveness())]


def _sessions() -> Iterator[Talk]:
    ack, data, bye = FrameKind.ACK, FrameKind.DATA, FrameKind.BYE

    talk = Talk("a first session", "HELLO, HELLO_ACK, the first frame; then requests, answers and BYE").meet()
    talk.receive(talk.data(0, Identify(1, 1, 1, "host")), after=5).receive(talk.data(1, Ping(2)), after=5)
    talk.send(Pong(2), after=1).receive(talk.frame(ack, 2, 1), after=3)
    yield talk.receive(talk.frame(bye, 2, 1), after=9)

    talk = Talk("HELLO again", "the same HELLO has the same answer, before a session stands and after").hello().hello()
    yield talk.receive(talk.frame(ack), after=2).hello()

    talk = Talk("a new session", "only its first frame ends the old one; what waited is forgotten").meet()
    talk.send(Pong(7), after=5).hello(number=0x22222222)
    talk.receive(talk.data(0, Ping(1)), after=5)  # the old one runs on
    talk.tag = 0x22222222 ^ _OWN[1]
    talk.receive(talk.data(0, Ping(2)), after=5)
    talk.tag = _HOST ^ _OWN[0]
    yield talk.receive(talk.data(1, Ping(3)), after=5)

    talk = Talk("an unknown tag", "answered with RESET of that tag; a burst of them with one; BYE with none")
    talk.tag = 0x01020304
    talk.receive(*(talk.frame(ack) for _ in range(3)))
    yield talk.receive(talk.frame(data, 0, 0, b"\x41"), after=1).receive(talk.frame(bye), after=1)

    talk = Talk("an unknown tag in a session", "the running one goes on").meet()
    strange = Frame("host", ack, 0x01020304)
    yield talk.receive(strange, talk.data(0, Ping(1)), after=3)

    talk = Talk("another version", "HELLO_ACK of five zeros in the board's own version; told once; no session stands")
    for version in (2, 2, 9):
        talk.receive(Frame("host", FrameKind.HELLO, _HOST, payload=b"\x08", version=version), after=3)
    yield talk.hello().receive(talk.frame(ack), after=2)

    talk = Talk("number 0", "a drawn 0 is told as 1", (0, 5))
    talk.tag = _HOST ^ 1
    yield talk.meet()

    talk = Talk("own frames come back", "they are ignored and no sign of life").meet()
    own = Frame("mcu", data, talk.tag, 0, 0, encode_message(Pong(9)))
    talk.receive(own, Frame("mcu", ack, talk.tag, 3, 3), after=5)
    yield talk.receive(own, after=600).receive(own, after=405)

    talk = Talk("what only boards send", "HELLO_ACK and RESET of a host change nothing").meet()
    offer = Frame("host", FrameKind.HELLO_ACK, _HOST, payload=bytes(5))
    yield talk.receive(offer, Frame("host", FrameKind.RESET, talk.tag), after=5).receive(talk.data(0, Ping(1)))


def _delivery() -> Iterator[Talk]:
    ack, nak = FrameKind.ACK, FrameKind.NAK

    talk = Talk("a window of 2", "the smaller of both windows; the third message waits").meet(window=2)
    for req in (1, 2, 3):
        talk.send(Pong(req), after=1)
    talk.receive(talk.frame(ack, 0, 1), after=1).receive(talk.frame(ack, 0, 2), after=1)
    yield talk.receive(talk.frame(ack, 0, 3), after=1)

    talk = Talk("a window of 0", "is taken for 1").meet(window=0)
    yield talk.send(Pong(1), after=1).send(Pong(2), after=1).receive(talk.frame(ack, 0, 1), after=1)

    talk = Talk("had before", "acknowledged again and dropped").meet()
    yield talk.receive(talk.data(0, Ping(1)), talk.data(0, Ping(1)), after=1).receive(talk.data(0, Ping(1)), after=9)

    talk = Talk("from ahead", "dropped; one NAK for the gap; then in order").meet()
    talk.receive(talk.data(0, Ping(1)), after=1)
    talk.receive(talk.data(2, Ping(3)), after=1).receive(talk.data(3, Ping(4)), after=1)
    yield talk.receive(talk.data(1, Ping(2)), talk.data(2, Ping(3)), talk.data(3, Ping(4)), after=1)

    talk = Talk("a gap told by ACK", "the number of an ACK shows that the last frame was lost").meet()
    yield talk.receive(talk.frame(ack, 1, 0), after=5).receive(talk.frame(ack, 1, 0), after=5)

    talk = Talk("garbage", "one NAK per burst; the next valid frame ends the burst").meet()
    talk.receive(b"AT\r\x00", b"\x05\x05\x00", after=5).receive(b"\xff\x00", after=5)
    talk.receive(talk.frame(ack), after=5)
    yield talk.receive(b"AT\r\x00", after=5).receive(talk.data(0, Ping(1)), after=5)

    talk = Talk("garbage and what it held", "nothing is asked for where the frame comes in the same burst").meet()
    yield talk.receive(b"AT\r\x00", talk.data(0, Ping(1)), after=5)

    yield Talk("garbage outside a session", "nothing is answered").receive(b"AT\r\n\x00", b"\x01\x02\x00")

    talk = Talk("what cannot be read", "unknown, of the wrong direction, too long, out of range: acknowledged, dropped")
    talk.meet()
    for seq, payload in enumerate((b"\x7e", encode_message(Pong(1)), b"\x02\x01\x00\x00", b"\x40\x09\x00\x00\x00")):
        talk.receive(talk.frame(FrameKind.DATA, seq, 0, payload), after=1)
    yield talk.receive(talk.data(4, Ping(1)), after=1)

    talk = Talk("time-out", "100 ms at first, doubled each time; a heartbeat of the host acknowledges nothing").meet()
    talk.send(Pong(1), after=10)
    for after in (99, 2, 199, 2, 399, 2):
        talk.wait(after).receive(talk.frame(ack), after=0)
    yield talk.receive(talk.frame(ack, 0, 1), after=5).wait(400)

    talk = Talk("Karn", "a frame that was sent again is no sample: the doubled time-out stays").meet()
    talk.send(Pong(1), after=10).wait(101).receive(talk.frame(ack, 0, 1), after=20)
    yield talk.send(Pong(2), after=10).wait(198).receive(talk.frame(ack, 0, 1)).wait(4)

    talk = Talk("a measured round trip", "40 ms twice: RTO 120 ms, then 100 ms").meet()
    talk.send(Pong(1), after=10).receive(talk.frame(ack, 0, 1), after=40)
    talk.send(Pong(2), after=10).wait(118).receive(talk.frame(ack, 0, 1)).wait(4)
    yield talk

    talk = Talk("NAK", "everything from ack on is sent again at once; a NAK right behind it is about the same").meet()
    talk.send(Pong(1), after=10).receive(talk.frame(ack, 0, 1), after=40)
    for req in (2, 3, 4):
        talk.send(Pong(req), after=1)
    talk.receive(talk.frame(nak, 0, 2), after=45).receive(talk.frame(nak, 0, 2), after=5)
    yield talk.receive(talk.frame(nak, 0, 2), after=30).receive(talk.frame(nak, 0, 9), after=40)

    talk = Talk("ack outside what is in flight", "says nothing").meet()
    talk.send(Pong(1), after=10).receive(talk.frame(ack, 0, 2), after=2).receive(talk.frame(ack, 0, 200), after=2)
    yield talk.receive(talk.frame(ack, 0, 1), after=2)

    talk = Talk("numbers go round", "at 256, in both directions").meet()
    for number in range(260):
        talk.receive(talk.data(number & 0xFF, Ping(number + 1), number & 0xFF), after=1).send(Pong(number + 1))
    yield talk


def _liveness() -> Iterator[Talk]:
    ack = FrameKind.ACK

    talk = Talk("heartbeat", "who has said nothing for 300 ms says ACK").meet()
    talk.wait(299).receive(talk.frame(ack)).wait(2).wait(298)
    yield talk.receive(talk.frame(ack)).wait(4)

    talk = Talk("silence", "after 1 s the host is lost; a frame that comes later is of an unknown session").meet()
    yield talk.send(RowLaid("E"), after=10).wait(988).wait(3).receive(talk.frame(ack), after=1)

    talk = Talk("silence before reading", "a board that wakes after 20 s acts on nothing of what waits").meet()
    flood = (talk.data(0, Ping(1)), talk.data(1, Ping(2)), talk.frame(FrameKind.ACK, 2))
    yield talk.receive(*flood, after=20_000).hello()

    talk = Talk("garbage is no life", "only a valid frame of the session is").meet()
    yield talk.receive(b"\x05\x05\x00", after=600).receive(b"\x05\x05\x00", after=405)

    talk = Talk("no answer", "a frame unacknowledged for 4 s ends the session though the host is alive").meet()
    talk.send(Pong(1), after=10).send(Pong(2))
    for _ in range(9):
        talk.receive(talk.frame(ack), after=441)
        talk.wait(5)
    yield talk
