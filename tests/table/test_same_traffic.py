"""What everybody but one seat receives does not depend on that seat's hidden tiles: not in content, not in order.

Two tables are laid with walls that differ in two places alone: a tile that comes into S's hand, and one in the middle
of the wall that nobody sees. How messages are put together in time (snapshots that follow each other fast are said
once) is left to chance, so each is looked for in the one chain of views that the journal gives; the two chains, and
the public streams, must be the same byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controller.journal import read_events
from controller.live import Live, TableFacts
from controller.views import public_events, public_view, seat_view
from engine.claims import opening_claims
from engine.events import PlayBegun, decode_event
from engine.opening import lines, taking, wall_positions
from engine.ruleset import load_ruleset
from engine.state import new_state
from engine.table import apply
from engine.tiles import SEATS, is_flower, join_tiles, parse_tiles
from protocol.mqtt.topics import Topics
from tests.table.harness import TABLE, WholeTable
from tests.table.test_cases import the_table, walled_cases
from tests.table.test_secrets import Recording, recorded

pytestmark = [pytest.mark.table, pytest.mark.timeout(200)]

SECRET = "S"
OTHERS = tuple(seat for seat in SEATS if seat != SECRET)
BY_CHANCE = {"answers", "device", "pairing", "notices", "machine"}
"""Ids of inputs, displays, and how far the other set is sorted meanwhile."""
IN_TIME = BY_CHANCE | {"left_ms"}


# --- two walls --------------------------------------------------------------------------------------------------------


@dataclass
class Laid:
    """A written case whose wall can be changed: what lies where, what comes into each hand."""

    row: dict[str, Any]

    def __post_init__(self) -> None:
        row, want = self.row, self.row["want"]
        self.rules = load_ruleset(row["rules"])
        layout, deal = row["layout"], tuple(row["rolls"]["deal"])
        self.places = wall_positions(self.rules, layout)
        self.faces = dict(zip(self.places, parse_tiles(row["wall"]), strict=True))
        wall = lines(self.rules, layout, row["dealer"], deal)
        takes = taking(self.rules, layout, row["dealer"], deal).takes
        self.holder = {place: seat for seat, places in takes for place in places} | {wall.extra: row["dealer"]}
        self.hidden = [place for place, seat in self.holder.items() if seat == SECRET]
        self.holder |= {place: seat for _, seat, place, _ in want["replacements"]}
        self.flipped, self.gold = str(want["gold"]["position"]), str(want["gold"]["tile"])
        self.middle = wall.head[len(wall.head) // 3 : len(wall.head) // 2]
        assert self.flipped not in self.middle and not self.holder.keys() & set(self.middle)

    def plain(self, places: Sequence[str]) -> Iterator[str]:
        """The places where neither a flower nor a gold lies."""
        return (at for at in places if not is_flower(self.faces[at]) and self.faces[at] != self.gold)

    def swapped(self, *pairs: tuple[str, str]) -> Laid:
        """The case with tiles exchanged; what it wants is of the old wall."""
        faces = dict(self.faces)
        for one, other in pairs:
            faces[one], faces[other] = faces[other], faces[one]
        return Laid({**self.row, "wall": join_tiles([faces[place] for place in self.places])})

    def claims(self) -> list[tuple[str, str]]:
        """R25 with these tiles."""
        hands: dict[str, list[str]] = {seat: [] for seat in SEATS}
        for place, seat in self.holder.items():
            if not is_flower(self.faces[place]):
                hands[seat].append(self.faces[place])
        return opening_claims(self.rules, self.row["dealer"], self.gold, hands)


def base() -> Laid:
    return Laid(next(row for row in walled_cases() if row["id"] == "opening/random-wall-new-zhitui"))


def plain_pair() -> tuple[Laid, Laid]:
    """Two walls without any claim."""
    laid = base()
    mine = next(laid.plain(laid.hidden))
    other = next(at for at in laid.plain(laid.middle) if laid.faces[at] != laid.faces[mine])
    changed = laid.swapped((mine, other))
    assert laid.claims() == changed.claims() == []
    return laid, changed


def claiming_pair() -> tuple[Laid, Laid]:
    """With the second wall S may claim 三金倒 in the opening; with the first one nobody may claim anything."""
    laid = base()
    golds = [at for at in laid.places if laid.faces[at] == laid.gold and at != laid.flipped]
    mine = list(laid.plain(laid.hidden))[:3]
    aside = next(laid.plain(laid.middle))
    for gold, to in zip(golds, (mine[0], mine[1], aside), strict=True):
        laid = laid.swapped((gold, to))
    changed = laid.swapped((aside, mine[2]))
    assert laid.claims() == [] and changed.claims() == [(SECRET, "sanjindao")]
    return laid, changed


# --- what is received -------------------------------------------------------------------------------------------------


@dataclass
class Told:
    """What one table has said to everybody but S, up to the first moment of the opening's window."""

    chain: dict[str, list[str]]
    """By reader every view there was, as the journal has it."""
    facts: list[str]
    """The names of the public stream of the game as the journal has it."""
    views: dict[str, list[str]]
    """By reader the views that came."""
    heard: list[str]
    """The public stream of the game and of the machine as it came, from the first lift on; without the sorting."""


def without(value: Any, fields: set[str]) -> Any:
    """JSON data without the fields of these names, at any depth."""
    if isinstance(value, dict):
        return {key: without(part, fields) for key, part in value.items() if key not in fields}
    return [without(part, fields) for part in value] if isinstance(value, list) else value


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def chain_of(journal: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Views of the others and public facts, event by event, until the window of the opening is open."""
    live = Live(TableFacts("", "", "full", "read", "guide", 2, 1))
    state, facts = new_state(), []
    chain: dict[str, list[str]] = {reader: [] for reader in ("view", *OTHERS)}
    for stored in read_events(journal):
        event = decode_event({**stored.body, "type": stored.type})
        before, state = state, apply(state, event)
        facts += [name for stream, name, _ in public_events(event, before, state) if stream == "game"]
        turn = state.play.flower_turn
        if turn is not None and turn[1] > 3:
            # In the midst of a step, between two events that are stored together.
            continue
        public = public_view(state, live)
        for reader, views in chain.items():
            view = public if reader == "view" else seat_view(state, reader, live, public)
            said = text(without(json.loads(json.dumps(view)), BY_CHANCE))
            if views[-1:] != [said]:
                views.append(said)
        if isinstance(event, PlayBegun):
            return chain, facts
    raise AssertionError("the opening never began")


def views_in(messages: list[tuple[str, bytes]], topic: str) -> list[str]:
    """The views of the hand on a topic, as far as they follow from the game, each once, up to the opening's first."""
    found: list[str] = []
    for name, payload in messages:
        data = json.loads(payload)["data"] if name == topic and payload else {"hand": 0}
        if not data["hand"]:
            continue
        if data["result"] is not None or data["phase"] in ("play", "settle"):
            break
        said = text(without(data, IN_TIME))
        if found[-1:] != [said]:
            found.append(said)
        if data["phase"] == "opening":
            break
    return found


def heard_by(messages: list[tuple[str, bytes]]) -> list[str]:
    """The public events but for times, ids and numbers, from the centre's rise to the opening."""
    topics = Topics(TABLE)
    heard: list[str] = []
    for name, payload in messages:
        if name in (topics.event("game"), topics.event("machine")):
            body = without(json.loads(payload), {"ts", "mono_ms", "id", "seq", "cause"})
            told_name = body["data"]["name"]
            if told_name == "centre_up" or (heard and not told_name.startswith("sort")):
                heard.append(text(body))
            if told_name == "opening":
                return heard
    raise AssertionError("the opening was never told")


async def told(folder: Path, laid: Laid) -> Told:
    """One hand of a table with this wall."""
    folder.mkdir()
    table: WholeTable = the_table(folder, laid.row, "full")
    table.people, table.patience, table.web = "", 60, True
    # Long enough for everybody to answer; who claims, claims at once.
    table.options = {**table.options, "opening_window_ms": 60_000}
    seen: Recording
    async with table, recorded(table) as seen:
        table.start_people()
        await table.follow("parlor", table.topics.event("game"), lambda data: data["name"] == "hand_ended")
    topics = Topics(TABLE)
    chain, facts = chain_of(table.journal)
    return Told(
        chain=chain,
        facts=facts,
        views={
            "view": views_in(seen["view"], topics.state),
            **{seat: views_in(seen[seat], topics.seat(seat)) for seat in OTHERS},
        },
        heard=heard_by(seen["parlor"]),
    )


@pytest.mark.parametrize("pair", [plain_pair, claiming_pair], ids=["no-claims", "a-claim"])
async def test_two_hidden_tiles_change_nothing_for_the_others(tmp_path: Path, pair: Any) -> None:
    first, second = [await told(tmp_path / name, laid) for name, laid in zip("ab", pair(), strict=True)]
    assert first.chain == second.chain
    assert first.facts == second.facts and first.heard == second.heard
    # Three are told before the centre rises; centre_up, centre_down and walls_up are the machine's.
    assert len(first.heard) == len(first.facts) - 3 + 3
    for one in (first, second):
        assert all('"phase": "opening"' in one.views[seat][-1] for seat in OTHERS)
        for reader, views in one.views.items():
            rest = iter([text(without(json.loads(view), IN_TIME)) for view in one.chain[reader]])
            assert views
            for view in views:
                assert view in rest, (reader, view)
