"""What must stay hidden at a table, hand by hand, and what of it each seat sees or lies open to all.

It comes from the table's journal where tiles are read, from a written case or from a witness (`evening.Witness`) where
they are not.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import events as e
from engine.opening import side_positions, wall_positions
from engine.play import PlayState, options
from engine.play import events as p
from engine.play_wants import plain_action
from engine.ruleset import load_ruleset
from engine.state import State, WantId, flowers_of
from engine.tiles import ALL_FACES, SEATS, parse_tiles, sort_tiles
from tests.table.evening import Truth, steps

FACES = frozenset(ALL_FACES)
LEAST = 3
"""Faces of a hand or take that tell it from chance."""

_PROMPTS = {"opening": "opening", "turn": "turn", "window": "claim", "rob": "claim", "lap": "lap", "flower": "flower"}


def _by_seat() -> dict[str, Any]:
    return {seat: set() for seat in SEATS}


@dataclass
class Hand:
    """One hand. Secret: `sides` of the wall in their order, `groups` of tiles held or drawn together (sorted), and what
    each seat may do (`offered` by prompt and seat, `claims` as seat and way).

    `own`: the hands that a seat held (sorted), `ever` each of their faces. Open: `flowers`, `gold` (all that was
    turned up), `discards` but those face down, `melds`, `kongs` (faces of added ones); after the end `shown` hands.
    """

    sides: set[tuple[str, ...]] = field(default_factory=set)
    groups: set[tuple[str, ...]] = field(default_factory=set)
    offered: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    claims: set[tuple[str, str]] = field(default_factory=set)
    own: dict[str, set[tuple[str, ...]]] = field(default_factory=_by_seat)
    ever: dict[str, set[str]] = field(default_factory=_by_seat)
    flowers: dict[str, set[str]] = field(default_factory=_by_seat)
    gold: set[str] = field(default_factory=set)
    discards: dict[str, Counter[str]] = field(default_factory=lambda: {seat: Counter() for seat in SEATS})
    melds: dict[str, set[tuple[str, ...]]] = field(default_factory=_by_seat)
    kongs: set[str] = field(default_factory=set)
    shown: set[tuple[str, ...]] = field(default_factory=set)

    def add_group(self, tiles: Iterable[str]) -> None:
        """A hand, a take, or what was drawn for flowers."""
        group = tuple(sort_tiles(tiles))
        if len(group) >= LEAST:
            self.groups.add(group)

    def add_hand(self, seat: str, tiles: Iterable[str]) -> None:
        """A hand that its seat sees."""
        hand = tuple(sort_tiles(face for face in tiles if face in FACES))
        if hand not in self.own[seat]:
            self.own[seat].add(hand)
            self.ever[seat].update(hand)
            self.add_group(hand)

    def on_table(self) -> set[str]:
        """Every face that was discarded open, or laid beside a 碰."""
        return {face for lying in self.discards.values() for face in lying} | self.kongs

    def is_secret(self, faces: Sequence[str]) -> bool:
        """Whether a run of faces is part of a wall side, in either direction, or a whole hand or take in any order."""
        if len(faces) < LEAST:
            return False
        if tuple(sort_tiles(faces)) in self.groups:
            return True
        text, back = " ".join(faces), " ".join(reversed(faces))
        return any(text in side or back in side for side in map(" ".join, self.sides))


@dataclass
class Hidden:
    """The hands of an evening, oldest first, and the number of the public event with which each ended."""

    hands: list[Hand] = field(default_factory=lambda: [Hand()])
    ends: list[int] = field(default_factory=list)

    def at(self, kind: str, seq: int) -> tuple[Hand, Hand | None]:
        """The hand that a message of this number speaks of, and the one before it."""
        find = bisect_left if kind == "event" else bisect_right
        number = find(self.ends, seq)
        now = self.hands[number] if number < len(self.hands) else Hand()
        return now, self.hands[number - 1] if number else None


def hidden_in_journal(path: Path) -> Hidden:
    """Everything secret that a table has read, in all its hands."""
    hidden = Hidden(ends=_ends(path))
    for _, event, before, after in steps(path):
        hand = hidden.hands[-1]
        match event:
            case e.WallRead():
                hand.sides.add(event.tiles)
            case e.TakeDone(tiles=tuple() as tiles) | e.FlowersReplaced(tiles=tiles):
                hand.add_group(tiles)
            case e.GoldOpened():
                hand.gold |= {event.tile, event.face, event.white or event.face}
            case e.GoldPassed() | e.GoldEntered():
                hand.gold.add(event.tile)
            case e.Played(event=p.TileDiscarded() as discard) if discard.how != "ming":
                hand.discards[discard.seat][discard.tile] += 1
            case e.Played(event=p.KongShown() as kong):
                hand.kongs.add(kong.tile)
            case e.HandEnded() | e.HandRebooked() if after.result is not None:
                hand.shown.update(tuple(sort_tiles(held.concealed)) for held in after.result.held.values())
                for seat, held in after.result.held.items():
                    hand.melds[seat].update(tuple(sort_tiles(meld.tiles)) for meld in held.melds)
        if isinstance(event, e.HandEnded):
            hidden.hands.append(Hand())
        elif after.setup is not None:
            _looked_at(hand, before, after)
    return hidden


def add_witness(hidden: Hidden, truths: Sequence[Truth]) -> None:
    """What lay there where nothing was read."""
    for hand, truth in zip(hidden.hands, truths, strict=False):
        for seat in SEATS:
            for tiles in truth.ever[seat]:
                hand.add_hand(seat, tiles)
            hand.melds[seat].update(tuple(sort_tiles(tiles)) for _, tiles in truth.melds.get(seat, ()))
            over = truth.over.get(seat)
            if over is not None:
                hand.add_hand(seat, over["held"]["concealed"])


def hidden_in_case(row: Mapping[str, Any]) -> Hidden:
    """A written case that is laid into a table: its wall, its takes and its hands (no seat reads any)."""
    rules = load_ruleset(row["rules"])
    layout = row.get("layout") or rules.layouts[0]
    at = dict(zip(wall_positions(rules, layout), parse_tiles(row["wall"]), strict=True))
    hand = Hand(sides={tuple(at[place] for place in side_positions(rules, layout, side)) for side in SEATS})
    for _, positions in row["want"]["takes"]:
        hand.add_group(at[position] for position in positions)
    for tiles in row["want"]["hands"].values():
        hand.add_group(parse_tiles(tiles))
    return Hidden([hand])


def _looked_at(hand: Hand, before: State, after: State) -> None:
    """What has changed of what seats hold, and lies open."""
    for seat in SEATS:
        held = after.play.hands.get(seat, ())
        if held is not before.play.hands.get(seat, ()):
            hand.add_hand(seat, held)
        hand.flowers[seat].update(flowers_of(after, seat))
    if after.play.seen is not before.play.seen:
        for seat in SEATS:
            hand.add_hand(seat, after.play.seen.get((seat, "hand"), ()))
    game = after.play.game
    if game is not None and (game is not before.play.game or after.play.beat != before.play.beat):
        _in_play(hand, after, game)


def _in_play(hand: Hand, state: State, game: PlayState) -> None:
    for seat, own in game.seats.items():
        hand.add_hand(seat, own.hand)
        hand.melds[seat].update(tuple(sort_tiles(meld.tiles)) for meld in own.melds)
    step = _PROMPTS.get(game.phase)
    if step is None:
        return
    wanted = WantId(state.hand, step) if step == "opening" else WantId(state.hand, step, state.play.beat)
    for seat in game.asked if step in ("opening", "claim") else (game.turn,):
        if (str(wanted), seat) not in hand.offered:
            may = options(game, seat)
            hand.offered[str(wanted), seat] = {canonical(plain_action(action)) for action in may}
            hand.claims.update((seat, action.way) for action in may if action.name == "hu")


def canonical(option: Mapping[str, Any]) -> str:
    """An action as a text by which it is compared."""
    return json.dumps(option, sort_keys=True)


def _ends(path: Path) -> list[int]:
    """The numbers of the public events with which hands ended."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reading:
        rows = reading.execute("SELECT seq, envelope FROM published ORDER BY seq").fetchall()
    return [seq for seq, envelope in rows if json.loads(envelope)["data"].get("name") == "hand_ended"]
