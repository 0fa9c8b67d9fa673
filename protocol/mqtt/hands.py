"""Parts of the views once the gold lies open: play, the book that people keep, results, the match, and sheets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from protocol.mqtt.parts import Code, Count, Face, Name, Params, Payload, Position, Seat

MeldKind = Literal["chi", "pong", "kong_open", "kong_added", "kong_concealed"]
HandKind = Literal["win", "draw", "foul"]
Way = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$", description="a way to win, such as tianhu")]
Player = Annotated[str, Field(max_length=8, description="a player's id; it stays his over all seats and matches")]
Tiles = Annotated[str, Field(max_length=64, description="tiles run together, each letter once: 123m5p7z")]
Discarded = Annotated[
    str, Field(pattern=r"^([1-9][mps]|[1-7]z|[1-8]f)?$", description="a discard; empty lies face down")
]


class Meld(Payload):
    """A meld that lies open; `tiles` is empty where nobody reads them, and of a concealed kong that stays hidden."""

    kind: MeldKind
    tiles: Tiles = ""


class LastDiscard(Payload):
    """The newest discard."""

    seat: Seat
    tile: Discarded


class Tour(Payload):
    """游金 (1), 双游 (2) or 三游 (3) under way, and whose."""

    owner: Seat
    level: Literal[1, 2, 3]


class Unanswered(Payload):
    """P8: a zone that is read otherwise than it should lie, and whose seat does not answer; `id` is for `decide`."""

    seat: Seat
    zone: Literal["hand", "flowers", "melds", "discards"]
    id: Annotated[str, Field(max_length=64)]


class Play(Payload):
    """What lies open in play. Where nothing is read only kongs are known, and `stage` is `keep`."""

    turn: Seat | None = None
    stage: Literal["draw", "turn", "window", "rob", "lap", "keep", "over"]
    tile: Face | None = None
    source: Seat | None = None
    discards: dict[Seat, tuple[Discarded, ...]] = Field(default_factory=dict)
    last: LastDiscard | None = None
    melds: dict[Seat, tuple[Meld, ...]] = Field(default_factory=dict)
    aside: dict[Seat, Count] = Field(default_factory=dict)
    covered: dict[Seat, Code] = Field(default_factory=dict)
    tour: Tour | None = None
    to_draw: Count | None = None
    number: Count = 0
    position: Position | None = None
    unanswered: Unanswered | None = None


class NextDeal(Payload):
    """Who deals the next hand, and how often the base has grown for him."""

    dealer: Seat
    base_steps: Count


class Totals(Payload):
    """What a settlement comes to; points and 课外 each sum to zero."""

    net: dict[Seat, int]
    bonus: dict[Seat, int]
    next: NextDeal | None = None


class Book(Payload):
    """The book of a hand that people tell, as far as everybody may see it. `id`: what the floor may decide now."""

    id: Annotated[str, Field(max_length=64)] | None = None
    stage: Literal["keeping", "entry", "agreement", "objection", "vote", "closed"]
    kind: HandKind | None = None
    winners: tuple[Params, ...] = ()
    foul: Params | None = None
    done: dict[Seat, bool] = Field(default_factory=dict)
    agreed: dict[Seat, bool] = Field(default_factory=dict)
    by: Seat | None = None
    votes: dict[Seat, Literal[1, 2]] = Field(default_factory=dict)
    settlement: Totals | None = None
    second: Totals | None = None


class Win(Payload):
    """One seat's win: how, on whose tile, and the tile where it is known."""

    seat: Seat
    way: Way
    source: Seat | None = None
    tile: Face | None = None


class Result(Payload):
    """How the last hand ended and what it brought; seats are those of now, also after a swap.

    `tiles` are hands that were laid open: all four where tiles are read, else those that were entered. `open`: the
    booking may still be taken back.
    """

    hand: Count
    winner: Seat | None
    way: Way | None
    dealer: Seat | None
    match: Count = 0
    kind: HandKind | None = None
    wins: tuple[Win, ...] = ()
    foul: Seat | None = None
    net: dict[Seat, int] = Field(default_factory=dict)
    bonus: dict[Seat, int] = Field(default_factory=dict)
    next_dealer: Seat | None = None
    tiles: dict[Seat, Tiles] = Field(default_factory=dict)
    melds: dict[Seat, tuple[Meld, ...]] = Field(default_factory=dict)
    open: bool = False


class Person(Payload):
    """Who sits at a seat."""

    id: Player
    name: Name = ""


class Match(Payload):
    """The match and how it stands. `points` are what was won or lost in it, `deck` the chips' worth of a deck of cards.

    `left_min`: minutes left of the agreed time. `pausing`: the floor pauses the table after this hand. From the second
    match of an evening on, `evening` is what each player won or lost in all of them, `evening_bonus` the 课外 of it.
    """

    number: Count
    hand: Count
    hands: Count
    minutes: Count
    left_min: Count | None = None
    stage: Literal["seating", "dealer", "between", "playing", "ended"]
    ended: Code | None = None
    players: dict[Seat, Person] = Field(default_factory=dict)
    points: dict[Seat, int] = Field(default_factory=dict)
    chips: dict[Seat, int] | None = None
    deck: Literal[0, 100, 200, 300] = 0
    bonus: dict[Seat, int] = Field(default_factory=dict)
    evening: dict[Player, int] = Field(default_factory=dict)
    evening_bonus: dict[Player, int] = Field(default_factory=dict)
    swaps: dict[Seat, tuple[Code, ...]] = Field(default_factory=dict)
    steps: Count = 0
    pausing: bool = False


class Sheet(Payload):
    """What a seat asked to look at: rows of the history or the statistics, or the text of a hand's or a match's record,
    by pages from 0.
    """

    what: Literal["history", "statistics", "hand", "record", "match"]
    page: Count = 0
    pages: Count = 1
    rows: tuple[Params, ...] = ()
    players: dict[Player, Params] = Field(default_factory=dict)
    lines: tuple[Params, ...] = ()
    match: Count | None = None
    hand: Count | None = None
    text: str | None = None
    missing: Code | None = None


Lines = tuple[dict[str, Any], ...]
"""Payments of a seat with their reasons."""
