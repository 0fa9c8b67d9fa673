"""The ledger as it travels: what was begun, booked, taken back and ended, each row under a number without gaps.

No row names a tile. Players are named by their ids; seats are those of the hand. Durations are counted on the
monotonic clock while the table was on, and `restarts` says how often the daemon was started within one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from protocol.mqtt.envelope import U64
from protocol.mqtt.hands import HandKind, Person, Player, Way
from protocol.mqtt.parts import Code, Count, Milliseconds, Name, Payload, Seat

JournalId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{16}$", description="the journal that gave the number; `birth` names the present one")
]
RowNumber = Annotated[int, Field(ge=1, lt=1 << 64)]


class LedgerRef(Payload):
    """One row of the ledger."""

    journal: JournalId
    number: RowNumber


class LedgerSessionBegun(Payload):
    """The table was taken into use: opened by the parlor, or by the first match where nobody opened it."""

    kind: Literal["session_begun"]
    session: Count
    by: Literal["parlor", "match"]


class LedgerMatchBegun(Payload):
    """A match began: its rules, what was agreed (0: no limit), and who plays."""

    kind: Literal["match_begun"]
    session: Count
    match: Count
    rules: Name
    options: dict[str, Any] = Field(default_factory=dict)
    hands: Count
    minutes: Count
    players: tuple[Person, ...]


class LedgerWin(Payload):
    """One seat's win."""

    seat: Seat
    way: Way


class LedgerHand(Payload):
    """A hand was booked: how it ended, and what each player won or lost (points and 课外 each sum to zero)."""

    kind: Literal["hand"]
    session: Count
    match: Count
    hand: Count
    result: HandKind
    seats: dict[Seat, Player]
    dealer: Seat
    steps: Count
    wins: tuple[LedgerWin, ...] = ()
    source: Seat | None = None
    foul: Seat | None = None
    points: dict[Player, int]
    bonus: dict[Player, int]
    next_dealer: Seat
    duration_ms: Milliseconds
    restarts: Count = 0


class LedgerVoid(Payload):
    """A row was taken back, the one that `voids` names: it counts no more. What stands for it follows by itself."""

    kind: Literal["void"]
    session: Count
    match: Count
    hand: Count | None = None
    what: Literal["hand", "match_ended", "session_ended"]


class LedgerMatchEnded(Payload):
    """A match ended: why, how many hands count, and what each player won or lost in it."""

    kind: Literal["match_ended"]
    session: Count
    match: Count
    why: Code
    hands: Count
    points: dict[Player, int]
    bonus: dict[Player, int]
    chips: dict[Player, int]
    duration_ms: Milliseconds
    restarts: Count = 0


class LedgerSessionEnded(Payload):
    """The table is free again: the parlor closed it, or the match ended at a table that nobody had opened."""

    kind: Literal["session_ended"]
    session: Count
    by: Literal["parlor", "match"]
    matches: Count
    duration_ms: Milliseconds
    restarts: Count = 0


class LedgerClock(Payload):
    """The clock was set at last: the true time of everything said in `epoch` is `zero_ts` + its `mono_ms`.

    `first` to `last` are the rows of `journal` that were said under `unsynced` in that epoch.
    """

    kind: Literal["clock"]
    epoch: U64
    zero_ts: int
    journal: JournalId
    first: RowNumber
    last: RowNumber


class LedgerRecord(Payload):
    """One row of the ledger. `number` has no gaps within a `journal`; a correction names the row that it `voids`."""

    journal: JournalId
    number: RowNumber
    voids: LedgerRef | None = None
    record: Annotated[
        LedgerSessionBegun
        | LedgerMatchBegun
        | LedgerHand
        | LedgerVoid
        | LedgerMatchEnded
        | LedgerSessionEnded
        | LedgerClock,
        Field(discriminator="kind"),
    ]


class LedgerAck(Payload):
    """The highest number of a journal below and at which everything stands committed in the hub's database.

    0 where it holds nothing yet. Said again, it asks for the rows that follow once more.
    """

    journal: JournalId
    number: U64
