"""The payloads of every topic but the views: availability, birth, inputs, events, commands, ledger, pairing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from protocol.mqtt.envelope import U64, Envelope
from protocol.mqtt.ledger import LedgerAck, LedgerRecord
from protocol.mqtt.parts import Code, Count, Milliseconds, Name, Params, Payload, Seat, Viewer
from protocol.mqtt.views import (
    Answer,
    DiceMode,
    Fault,
    Layout,
    PairingAsk,
    PublicState,
    SeatView,
    Sensing,
    Want,
)

__all__ = [
    "Answer", "Availability", "Birth", "Capabilities", "Command", "ConfigDesired", "ConfigReported", "Envelope",
    "Event", "Fault", "Heartbeat", "KeyReport", "LedgerAck", "LedgerRecord", "LinkCounters", "PairingAsk",
    "PairingGrant", "PairingRefused", "PairingRelease", "PairingRequest", "PairingState", "PublicState", "Response",
    "SeatInput", "SeatView", "ServiceLive", "Want",
]  # fmt: skip

Availability_ = Literal["starting", "ready", "parked", "fault", "maintenance", "offline", "lost"]
InputId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,40}$")]
Client = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class Availability(Payload):
    """Whether the table can be counted on. `lost` is said by the broker (the will), `offline` by a clean stop."""

    state: Availability_
    reason: Annotated[str, Field(max_length=80)] = ""


class Versions(Payload):
    """Versions of the daemon, of the MCU's firmware (empty: never met) and of this contract."""

    daemon: str
    mcu: str = ""
    contract: str


class Capabilities(Payload):
    """What this table can do."""

    sensing: Sensing
    dice: DiceMode
    sets: Literal[1, 2]
    layouts: tuple[Layout, ...]
    deals: bool = False
    commands: tuple[Code, ...] = ()


class Replayable(Payload):
    """The event numbers that `command/replay` can still give, both ends included."""

    first: U64
    last: U64


class Birth(Payload):
    """Who this table is, said at every connection."""

    name: Name
    journal: str
    versions: Versions
    capabilities: Capabilities
    boot: Literal["cold", "restart", "recovered", "adopted"]
    replay: Replayable | None = None


class Event(Payload):
    """One public event. Names no concealed tile and nothing that depends on one before the settlement."""

    stream: Literal["machine", "game", "fault", "audit"]
    name: Code
    hand: Count | None = None
    seat: Seat | None = None
    params: Params = Field(default_factory=dict)


class SeatInput(Payload):
    """What a display says for its seat. `want` is the prompt it answers, empty for the actions that answer none."""

    id: InputId
    epoch: U64
    want: Annotated[str, Field(max_length=64)]
    action: Code
    params: Params = Field(default_factory=dict)


class Command(Payload):
    """A request of the parlor; the verb stands in the topic.

    Expires at `not_after_ms` of the table's `mono_ms` in the named `epoch`, or at `not_after` (UTC, ms since 1970)
    where the sender's clock is `synced` and the table's too.
    """

    id: InputId
    client: Client
    who: Annotated[str, Field(min_length=1, max_length=64)]
    epoch: U64 | None = None
    not_after_ms: Milliseconds | None = None
    not_after: Milliseconds | None = None
    clock: Literal["synced", "unsynced"] = "unsynced"
    args: Params = Field(default_factory=dict)


class Response(Payload):
    """What became of a command: `accepted` or `rejected`, then `done` or `failed`.

    `field` and `expected` tell a programmer what was wrong with it; `rule` and `params` go with a code of the rules.
    """

    id: str
    verb: str
    outcome: Literal["accepted", "rejected", "done", "failed"]
    code: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,40}$")] = ""
    field: str = ""
    expected: str = ""
    rule: str = ""
    params: Params = Field(default_factory=dict)
    result: dict[str, Any] = Field(default_factory=dict)


class LinkCounters(Payload):
    """Counters of one serial link since the daemon's start."""

    state: str
    frames_in: Count = 0
    frames_out: Count = 0
    bad_frames: Count = 0
    retransmits: Count = 0
    sessions: Count = 0
    errors: dict[str, Count] = Field(default_factory=dict)
    round_trip_ms: float | None = None


class Heartbeat(Payload):
    """Every 30 s: how the table itself is.

    `outbox`: messages that the broker has not taken. `ledger_last` is the newest row of the ledger; `ledger_waiting`
    rows are not acknowledged by the hub, the oldest for `oldest_unacknowledged_s` (at least, where the clock is not
    set); `acks_refused` acknowledgements of it made no sense. `clock_offset_ms`: how far the time of day is off as the
    table's system reckons, null while it is not synchronised; `disk_free_kb` is null where the disk does not tell.
    """

    uptime_s: Count
    memory_kb: Count
    disk_free_kb: Count | None = None
    clock_offset_ms: int | None = None
    outbox: Count = 0
    ledger_last: Count = 0
    ledger_waiting: Count = 0
    oldest_unacknowledged_s: Count | None = None
    acks_refused: Count = 0
    links: dict[str, LinkCounters] = Field(default_factory=dict)


class ServiceMotion(Payload):
    """What a repairer has set going: its action, what it moves or tests, and until when it may last."""

    action: Literal["jog", "self_test"]
    what: str
    left_ms: Milliseconds


class ServiceLive(Payload):
    """Service mode as it is now. Names of sensors and values are those of the serial contract; none is a tile."""

    who: Name
    """Who entered it."""
    left_s: Count
    """Seconds until it ends by itself, unless something is done."""
    link: Literal["up", "lost"]
    at_rest: bool
    """What the machine was doing when service mode began has ended: motors may be jogged."""
    board_mode: bool
    """The board is in service mode as well."""
    key: bool
    """The service key is held at the table."""
    stop: str | None = None
    sensors: dict[str, bool] = Field(default_factory=dict)
    values: dict[str, int] = Field(default_factory=dict)
    motion: ServiceMotion | None = None


class ConfigDesired(Payload):
    """The whole configuration that the hub wishes for, with its revision."""

    revision: Count
    values: dict[str, Any]


class KeyReport(Payload):
    """One key of the configuration: taken, or refused and why."""

    value: Any = None
    ok: bool
    code: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,40}$")] = ""
    expected: str = ""


class ConfigReported(Payload):
    """The configuration that holds, key by key."""

    revision: Count
    keys: dict[str, KeyReport]


class PairingRequest(PairingAsk):
    """Web to table: a display shows `code` and asks for `seat`."""

    device: Annotated[str, Field(min_length=1, max_length=64)]


class PairingGrant(Payload):
    """Table to web: somebody at the table confirmed (or refused) the display that shows `code`."""

    code: Annotated[str, Field(pattern=r"^[0-9]{6}$")]
    seat: Viewer
    device: Annotated[str, Field(min_length=1, max_length=64)]
    ok: bool


class PairingRelease(Payload):
    """Table to web: this seat un-pairs its display."""

    seat: Viewer


class PairingRefused(Payload):
    """Web to table: another display tried to take a seat that is held; shown to all four."""

    seat: Viewer
    name: Name = ""


class PairingState(Payload):
    """Web to table, retained: the display that holds each seat, null where none does."""

    E: Name | None
    S: Name | None
    W: Name | None
    N: Name | None
    view: Name | None
    service: Name | None = None
