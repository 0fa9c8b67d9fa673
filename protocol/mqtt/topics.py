"""Every topic of the contract, built and parsed in one place. `{t}` is the table's id, seats are E, S, W, N."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

MAJOR: Literal[1] = 1
ROOT = f"kaijin/{MAJOR}"

Seat = Literal["E", "S", "W", "N"]
Stream = Literal["machine", "game", "fault", "audit"]
PairingStep = Literal["request", "grant", "refused", "release", "state"]
SEATS: tuple[Seat, ...] = get_args(Seat)
STREAMS: tuple[Stream, ...] = get_args(Stream)
PAIRING_STEPS: tuple[PairingStep, ...] = get_args(PairingStep)

_TABLE_ID = re.compile(r"[a-z0-9-]{3,32}")
_LEVEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class TopicError(ValueError):
    """A table id or topic that the contract does not know; the message says what was expected."""


def table_id(text: str) -> str:
    """`text` if it is a table id (3 to 32 of a-z, 0-9 and -), else TopicError."""
    if _TABLE_ID.fullmatch(text) is None:
        raise TopicError(f"table id {text!r}: expected 3 to 32 characters of a-z, 0-9 and -")
    return text


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one table, as strings."""

    table: str

    def __post_init__(self) -> None:
        table_id(self.table)

    @property
    def base(self) -> str:
        return f"{ROOT}/{self.table}"

    @property
    def availability(self) -> str:
        return f"{self.base}/availability"

    @property
    def birth(self) -> str:
        return f"{self.base}/birth"

    @property
    def state(self) -> str:
        return f"{self.base}/state"

    @property
    def heartbeat(self) -> str:
        return f"{self.base}/heartbeat"

    @property
    def ledger(self) -> str:
        return f"{self.base}/ledger"

    @property
    def ledger_ack(self) -> str:
        return f"{self.base}/ledger/ack"

    @property
    def config_desired(self) -> str:
        return f"{self.base}/config/desired"

    @property
    def config_reported(self) -> str:
        return f"{self.base}/config/reported"

    def seat(self, seat: str) -> str:
        return f"{self.base}/seat/{_seat(seat)}"

    def seat_input(self, seat: str) -> str:
        return f"{self.seat(seat)}/input"

    def event(self, stream: str) -> str:
        if stream not in STREAMS:
            raise TopicError(f"event stream {stream!r}: expected one of {', '.join(STREAMS)}")
        return f"{self.base}/event/{stream}"

    def command(self, verb: str) -> str:
        return f"{self.base}/command/{_level(verb, 'command verb')}"

    def response(self, client: str) -> str:
        return f"{self.base}/response/{_level(client, 'client')}"

    @property
    def service(self) -> str:
        return f"{self.base}/service"

    def pairing(self, step: str) -> str:
        if step not in PAIRING_STEPS:
            raise TopicError(f"pairing step {step!r}: expected one of {', '.join(PAIRING_STEPS)}")
        return f"{self.base}/pairing/{step}"

    def table_reads(self) -> tuple[str, ...]:
        """What the daemon subscribes to, besides its own retained topics."""
        return (
            f"{self.base}/seat/+/input",
            f"{self.base}/command/+",
            self.config_desired,
            self.ledger_ack,
            self.pairing("request"),
            self.pairing("refused"),
            self.pairing("state"),
        )

    def table_retains(self) -> tuple[str, ...]:
        """The daemon's own retained topics, which it reads back."""
        seats = (self.seat(seat) for seat in SEATS)
        return (self.availability, self.birth, self.state, *seats, self.config_reported)


@dataclass(frozen=True, slots=True)
class Address:
    """A topic taken apart: `kind` is the topic's name, `detail` its seat, stream, verb, client or pairing step."""

    table: str
    kind: Literal[
        "availability", "birth", "state", "heartbeat", "service", "ledger", "ledger/ack",
        "config/desired", "config/reported",
        "seat", "seat/input", "event", "command", "response", "pairing",
    ]  # fmt: skip
    detail: str = ""


def parse_topic(topic: str) -> Address:
    """The parts of `topic`; TopicError if it is none of the contract, or of another major version."""
    levels = topic.split("/")
    if len(levels) < 4 or levels[0] != "kaijin":
        raise TopicError(f"topic {topic!r}: expected {ROOT}/<table>/...")
    if levels[1] != str(MAJOR):
        raise TopicError(f"topic {topic!r}: contract version {levels[1]!r}, this side speaks {MAJOR}")
    table = table_id(levels[2])
    match levels[3:]:
        case ["availability" | "birth" | "state" | "heartbeat" | "service" | "ledger" as kind]:
            return Address(table, kind)
        case ["ledger", "ack"]:
            return Address(table, "ledger/ack")
        case ["config", "desired"]:
            return Address(table, "config/desired")
        case ["config", "reported"]:
            return Address(table, "config/reported")
        case ["seat", seat] if seat in SEATS:
            return Address(table, "seat", seat)
        case ["seat", seat, "input"] if seat in SEATS:
            return Address(table, "seat/input", seat)
        case ["event", stream] if stream in STREAMS:
            return Address(table, "event", stream)
        case ["command", verb] if _LEVEL.fullmatch(verb):
            return Address(table, "command", verb)
        case ["response", client] if _LEVEL.fullmatch(client):
            return Address(table, "response", client)
        case ["pairing", step] if step in PAIRING_STEPS:
            return Address(table, "pairing", step)
    raise TopicError(f"topic {topic!r}: not a topic of this contract")


def _seat(seat: str) -> str:
    if seat not in SEATS:
        raise TopicError(f"seat {seat!r}: expected one of {', '.join(SEATS)}")
    return seat


def _level(text: str, what: str) -> str:
    if _LEVEL.fullmatch(text) is None:
        raise TopicError(f"{what} {text!r}: expected 1 to 64 characters of A-Z, a-z, 0-9, _, . and -")
    return text
