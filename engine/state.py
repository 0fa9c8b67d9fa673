"""The state of a table between and during hands, and what follows from it.

A `State` is frozen plain data. What can be derived (which tiles have gone, who may throw) is a function here,
never a field, so that it cannot disagree with the events it came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.book import Book
from engine.book import tail_taken as taken_by_book
from engine.declared import Sheet
from engine.dice import Dice
from engine.match import Match
from engine.match.state import Booking
from engine.opening import Lines, next_tiles
from engine.outcome import Held
from engine.play.actions import Action
from engine.play.state import PlayState
from engine.ruleset import Ruleset
from engine.tiles import SEATS, is_flower, play_order

PHASES: tuple[str, ...] = (
    "idle",
    "seating",
    "sorting",
    "lift",
    "centre_up",
    "push_in",
    "centre_down",
    "walls",
    "reading",
    "dealer_roll",
    "row",
    "bids",
    "deal_roll",
    "taking",
    "door_roll",
    "door",
    "flowers",
    "gold_roll",
    "gold",
    "opening",
    "play",
    "settle",
    "swapping",
    "paused",
    "ended",
)
"""The procedure at a table, in order; `door_roll` and `door` in 八卦, `reading` and `opening` where walls are read.
`bids`: each may bid 买底 or 顶底, in rules that know them (P7).

`settle`: the book of the hand is open; `swapping`: a player throws for a swap of seats (R2); `paused`: by the floor."""

UNREAD = "??"
"""A tile that lies there and could not be read."""

SURE_FROM = 60
"""From how many per cent of confidence on a reading is taken as it is; below, one of its faces may be wrong."""

STEPS: tuple[str, ...] = (
    "start",
    "sort",
    "lift",
    "centre_raise",
    "push_in",
    "centre_lower",
    "walls_raise",
    "read_wall",
    "row",
    "roll",
    "dice_roll",
    "dice",
    "dice_check",
    "dice_stands",
    "dice_lost",
    "take",
    "present_group",
    "pace",
    "flowers",
    "tail",
    "flip",
    "gold_face",
    "gold_check",
    "gold_stands",
    "hand_check",
    "opening",
    "window",
    "count",
    "retry",
    "stopped",
    "clear_stop",
    "seats",
    "swap",
    "undo",
    "paused",
    "parked",
    "park_wait",
    "minute",
    "book",
    "entry",
    "agree",
    "objection",
    "object_entry",
    "vote",
    "agree_clock",
    "draw",
    "turn",
    "claim",
    "claim_window",
    "lay",
    "lap",
    "flower",
    "replace",
    "wrong_discard",
    "count_wrong",
    "count_seen",
    "reader_check",
    "entry_clock",
    "end",
    "laid",
    "bid",
    "bid_clock",
    "stands",
    "count_open",
    "count_ruling",
    "call_off",
    "taken",
)
"""Everything a table can want, in a fixed order: a step's place is part of operation ids on the wire."""

TAKEN = "taken-0"
"""The step under which it is counted how often a hand has gone back to its taking."""

BID = "bid-0"
"""The step under which it is counted how often bids have been asked for in a hand."""

ROLL_INDEX: Mapping[str, int] = {"dealer": 0, "deal": 1, "door": 2, "gold": 3, "swap": 32, "seat": 64}


@dataclass(frozen=True, slots=True)
class WantId:
    """What names a want for good: hand, step with its index, attempt; no other event changes it."""

    hand: int
    step: str
    index: int = 0
    attempt: int = 1

    def __str__(self) -> str:
        return f"{self.hand}.{self.step}-{self.index}.{self.attempt}"

    @property
    def key(self) -> str:
        """The step with its index, as failed operations are listed: `read_wall-2`."""
        return f"{self.step}-{self.index}"

    @property
    def step_number(self) -> int:
        """The step as 16 bits for operation ids on the wire: its place in `STEPS` × 256 + index."""
        return STEPS.index(self.step) * 256 + self.index


@dataclass(frozen=True, slots=True)
class Setup:
    """What a match is played with; see `engine.inputs.StartMatch`."""

    rules: Ruleset
    layout: str
    sensing: str
    dice: str
    aid: str
    hands: int
    object_ms: int
    take_pace_ms: int
    options: Mapping[str, object] = field(default_factory=dict)
    agree_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class SortJob:
    """A set being sorted, or miscounted and waiting for a person."""

    set: int
    hand: int
    attempt: int


@dataclass(frozen=True)
class Roll:
    """A throw from being asked for to counting.

    `stage`: `wanted` → `throwing` → (`entering` → `checking`)* → `done`; `lost` when the power went in between.
    `thrower` is empty when anybody may throw; `by` is who did; `entry` counts entries from 1.
    """

    purpose: str
    nth: int
    thrower: str
    stage: str = "wanted"
    attempt: int = 1
    entry: int = 1
    by: str = ""
    dice: Dice | None = None
    spoilt: str = ""
    entered_by: str = ""
    agreed: tuple[str, ...] = ()
    witnesses: Mapping[str, Dice | None] = field(default_factory=dict)

    @property
    def index(self) -> int:
        """The step index of this throw: dealer 0, deal 1, door 2, gold from 3, swaps from 32, seats from 64."""
        return ROLL_INDEX[self.purpose] + self.nth - 1


@dataclass(frozen=True, slots=True)
class CountedRoll:
    """A throw that counted."""

    purpose: str
    by: str
    dice: Dice
    how: str


@dataclass(frozen=True)
class GoldState:
    """Opening the gold (R8-R10): `stage` `flipping` | `checking` | `opened`; `flips` counts flipped tiles."""

    path: tuple[str, ...]
    position: str
    stage: str = "flipping"
    flips: int = 1
    entry: int = 1
    entered: str = ""
    entered_by: str = ""
    agreed: tuple[str, ...] = ()
    tile: str = ""
    face: str = ""
    white: str | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A flipped tile that was not the gold: `why` `flower` | `third_same`; `to` the seat that got it, or empty."""

    position: str
    tile: str
    why: str
    to: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that waits for a person: kind `failed` (an operation) or `count` (a sorted set)."""

    kind: str
    key: str
    verb: str
    fault: str = ""
    side: str = ""
    set: int = 0
    sides: tuple[tuple[str, int, int], ...] = ()
    hand: int = 0
    vouched: tuple[str, ...] = ()
    """The seats that say of a failed operation that it stands done."""


@dataclass(frozen=True)
class Result:
    """How the last hand ended and what was booked; empty winner and way when nobody won. `held` is what lay open."""

    hand: int
    winner: str
    way: str
    dealer: str
    booking: Booking | None = None
    held: Mapping[str, Held] = field(default_factory=dict)


@dataclass(frozen=True)
class Undoable:
    """The last booking as it can still be taken back: its hand, who dealt it, how often before, and what was told."""

    hand: int
    dealer: str
    streak: int
    sheet: Sheet
    asked_by: tuple[str, ...] = ()
    times: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault the machine reports now."""

    code: str
    severity: str
    mechanism: str
    side: str


@dataclass(frozen=True)
class HandState:
    """One hand from the walls on; empty again for each hand. `bids` are of the seats that have spoken (P7).

    `take_left` is the take that the guide showed when a seat said that all is taken; 0 where none has said so.
    """

    roll: Roll | None = None
    rolls: tuple[CountedRoll, ...] = ()
    wall: Mapping[str, str] = field(default_factory=dict)
    rows_laid: bool = False
    bids: Mapping[str, int] = field(default_factory=dict)
    first_seat: str = ""
    takes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    take_shown: int = 0
    takes_done: int = 0
    take_left: int = 0
    presented: int = 0
    lines: Lines | None = None
    hands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seen: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    flowers: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict.fromkeys(SEATS, ()))
    replaced: int = 0
    tail_shift: int = 0
    flower_turn: tuple[int, int] | None = None
    gold: GoldState | None = None
    passed: tuple[Passed, ...] = ()
    game: PlayState | None = None
    places: tuple[str, ...] = ()
    entries: tuple[tuple[str, Action] | None, ...] = ()
    beat: int = 0
    looks: Mapping[tuple[str, str], int] = field(default_factory=dict)
    doubted: tuple[tuple[str, str], ...] = ()
    unsure: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, str, str, str] | None = None
    corrected: bool = False
    asks: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """How often each zone of each seat has been asked about (R39)."""
    told: tuple[tuple[str, str], ...] = ()
    """The zones whose question nobody answered, so that all four know of it (P8)."""
    rulings: tuple[tuple[str, str, str, str], ...] = ()
    """What others say of such a zone: `(by, seat, zone, ruling)`, the ruling `believed` or `out`."""
    called_off: tuple[str, ...] = ()
    """The seats that want the hand called off (P9)."""
    calls_off: int = 0
    """How often a hand that was to be called off went on."""
    doubted_end: tuple[str, ...] = ()
    """The seats of which a zone was in doubt as the hand ended."""


@dataclass(frozen=True)
class State:
    """A table: the match, the machine as far as the procedure needs it, and the hand.

    `hand` counts on over all matches, so that no operation id comes twice; a match counts from `first_hand`.
    `phase` is one of `PHASES`; `sets` says of each tile set where it is: `inside` (unsorted), `sorting`, `sorted`,
    `up` (walls on the felt) or `felt` (loose on it). `session` is the whole evening; `book` is open while people tell
    a hand; `book_turn` counts its stages, so that no press of one is taken in another.
    `back` is the phase to which a reopened hand or a swap returns. `minutes` of the match have gone by.
    `by_word`: the centre is down because two seats said so, no switch did.
    """

    setup: Setup | None = None
    phase: str = "idle"
    hand: int = 0
    first_hand: int = 0
    dealer: str = ""
    streak: int = 0
    ending: bool = False
    sets: tuple[str, ...] = ()
    centre: str = "down"
    sort: SortJob | None = None
    attempts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    gold_history: tuple[str, ...] = ()
    result: Result | None = None
    faults: tuple[Fault, ...] = ()
    stop: str = ""
    stops: int = 0
    clearing: bool = False
    unasked: tuple[Dice | None, ...] = ()
    session: Match = field(default_factory=Match)
    book: Book | None = None
    book_turn: int = 0
    back: str = ""
    undoable: Undoable | None = None
    swap: tuple[str, str, str] = ("", "", "")
    came_from: Mapping[str, str] = field(default_factory=dict)
    minutes: int = 0
    end_asked: tuple[str, ...] = ()
    end_times: int = 0
    pausing: bool = False
    parking: str = ""
    park_take: int = 0
    parked: bool = False
    parks: int = 0
    service: str = ""
    """Which repairer has the table, empty for none."""
    by_word: bool = False
    play: HandState = field(default_factory=HandState)

    @property
    def match(self) -> Setup:
        """The match in play; only phases of a match ask for it."""
        assert self.setup is not None, "no match is in play"
        return self.setup

    @property
    def reads_tiles(self) -> bool:
        """Whether walls and hands are read (sensing level `full`)."""
        return self.match.sensing == "full"


def new_state() -> State:
    """A table at which no match is in play."""
    return State()


def set_up(state: State) -> int:
    """The tile set that stands on the felt, 0 for none."""
    return _set_where(state, "up")


def sorted_set(state: State) -> int:
    """The tile set that stands stacked inside, 0 for none."""
    return _set_where(state, "sorted")


def felt_set(state: State) -> int:
    """The tile set that lies loose on the felt, 0 for none."""
    return _set_where(state, "felt")


def attempt(state: State, key: str) -> int:
    """Which attempt of a step this is, from 1."""
    return state.attempts.get(key, 1)


def gone_from_wall(state: State) -> frozenset[str]:
    """The positions whose tiles have left the wall: taken, drawn at the tail, or by the gold (R4-R8)."""
    hand = state.play
    if hand.game is not None:
        return _gone_in_play(hand, hand.game)
    gone = {position for _, positions in hand.takes[: hand.takes_done] for position in positions}
    if hand.lines is not None:
        gone.update(passed.position for passed in hand.passed if passed.to)
        if hand.gold is not None and hand.gold.stage == "opened":
            gone.add(hand.gold.position)
        gone.update(next_tiles(hand.lines.tail, gone, tail_drawn(state)))
    return frozenset(gone)


def _gone_in_play(hand: HandState, game: PlayState) -> frozenset[str]:
    """Everything that was there but what the wall of the game still holds; the exposed gold has left it (R8)."""
    assert hand.lines is not None
    stands = {hand.places[place] for place in game.left}
    taken = {position for _, positions in hand.takes for position in positions}
    return frozenset((taken | set(hand.lines.head)) - stands)


def flowers_of(state: State, seat: str) -> tuple[str, ...]:
    """The flowers that lie before a seat, in any phase."""
    if state.play.game is not None:
        return state.play.game.seats[seat].flowers
    if state.book is not None:
        return tuple(state.book.flowers[seat])
    return state.play.flowers[seat]


def tail_drawn(state: State) -> int:
    """How many tiles have been drawn at the tail: read, or as many as flowers were entered, shifted by people."""
    if state.reads_tiles:
        return state.play.replaced
    entered = sum(len(flowers_of(state, seat)) for seat in SEATS)
    if state.book is not None:
        entered = taken_by_book(state.book)
    by_flip = sum(1 for passed in state.play.passed if passed.to)
    return max(0, entered - by_flip + state.play.tail_shift)


def next_of_tail(state: State, count: int) -> tuple[str, ...]:
    """The next positions at the tail."""
    assert state.play.lines is not None
    return next_tiles(state.play.lines.tail, gone_from_wall(state), count)


def current_take(state: State) -> tuple[int, str, tuple[str, ...]] | None:
    """The take that is due: number from 1, seat, positions; None when all is taken."""
    hand = state.play
    if state.phase not in ("taking", "door"):
        return None
    number = hand.takes_done if state.reads_tiles else max(hand.takes_done, hand.take_shown - 1)
    if number >= len(hand.takes):
        return None
    seat, positions = hand.takes[number]
    return (number + 1, seat, positions)


def resumable(state: State) -> str:
    """Sensing none: the phase to which a word that all is taken leads back: `taking` or `door`; empty once the next
    step has begun: a flower told, the tail put right, dice thrown.
    """
    hand = state.play
    if not hand.take_left or state.reads_tiles:
        return ""
    waits = hand.roll is not None and hand.roll.stage == "wanted" and not hand.roll.spoilt
    if state.phase == "door_roll":
        return "taking" if waits else ""
    untouched = not any(hand.flowers.values()) and not hand.tail_shift
    first = state.phase == "flowers" or (
        state.phase == "gold_roll" and waits and not state.match.rules.has_flowers and hand.gold is None
    )
    return ("door" if state.match.layout == "bagua" else "taking") if first and untouched else ""


def held_flowers(state: State, seat: str) -> tuple[str, ...]:
    """Sensing full: the flowers in a seat's hand, not yet laid out."""
    return tuple(face for face in state.play.hands.get(seat, ()) if is_flower(face))


def flower_turn_seat(state: State) -> str:
    """Sensing full: whose turn it is to replace flowers, empty for nobody."""
    if state.phase != "flowers" or state.play.flower_turn is None:
        return ""
    return play_order(state.dealer)[state.play.flower_turn[1]]


def expected_hand(state: State, seat: str) -> tuple[str, ...]:
    """Sensing full: what the reader of a seat shows when the step in hand is done (R4-R7)."""
    hand = state.play
    held = hand.hands.get(seat, ())
    take = current_take(state)
    if take is not None and take[1] == seat:
        return held + tuple(hand.wall[position] for position in take[2])
    if seat == flower_turn_seat(state):
        flowers = held_flowers(state, seat)
        drawn = next_of_tail(state, len(flowers))
        return tuple(face for face in held if not is_flower(face)) + tuple(hand.wall[p] for p in drawn)
    return held


def same(seen: Sequence[str], believed: Sequence[str]) -> bool:
    """Whether a reader shows these tiles; a tile it could not read stands for any one."""
    if len(seen) != len(believed):
        return False
    if UNREAD not in seen:
        return seen == believed or sorted(seen) == sorted(believed)
    legible = Counter(tile for tile in seen if tile != UNREAD)
    return not legible - Counter(believed)


def looks_at(state: State, seat: str, *zones: str) -> int:
    """How often some zones of a seat have changed as far as their readers, or the seat, told; all without names."""
    looks = state.play.looks.items()
    return sum(count for (owner, zone), count in looks if owner == seat and (not zones or zone in zones))


def throw_is_open(state: State) -> bool:
    """Whether a throw is asked for that nobody has begun, as far as the table can know; dice thrown by hand are
    entered afterwards.
    """
    roll = state.play.roll
    if roll is None:
        return False
    return roll.stage == "wanted" or (roll.stage == "entering" and state.match.dice == "hand")


def hand_disagrees(state: State, seat: str) -> bool:
    """Sensing full: the seat whose step it is has begun it, but its readers do not show what the wall says."""
    seen = state.play.seen.get((seat, "hand"))
    begun = seen is not None and not same(seen, state.play.hands.get(seat, ()))
    return is_due(state, seat) and begun and _flowers_laid(state, seat) and not hand_agrees(state, seat)


def hand_agrees(state: State, seat: str) -> bool:
    """Sensing full: the seat whose step it is has done it, as its readers see."""
    if not is_due(state, seat) or not _flowers_laid(state, seat):
        return False
    return same(state.play.seen.get((seat, "hand"), ()), expected_hand(state, seat))


def _flowers_laid(state: State, seat: str) -> bool:
    """Whether a seat in its flower turn has laid out all its flowers; true of every other seat."""
    if seat != flower_turn_seat(state):
        return True
    laid = state.play.seen.get((seat, "flowers"), ())
    return Counter(laid) == Counter(state.play.flowers[seat] + held_flowers(state, seat))


def is_due(state: State, seat: str) -> bool:
    """Sensing full: whether this seat is to take tiles or replace flowers now."""
    take = current_take(state)
    return seat == (take[1] if take is not None else flower_turn_seat(state))


def _set_where(state: State, where: str) -> int:
    return state.sets.index(where) + 1 if where in state.sets else 0
