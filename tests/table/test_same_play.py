"""A whole hand in play twice, with two of S's hidden tiles exchanged: nobody else is told a byte otherwise.

S's display is in the hands of this test. It discards the same tiles in both hands and claims nothing: every second
window it lets run out, the others it passes. In the second hand it holds the pair, or the third tile, of a face that
somebody else discards, so that it is offered a claim there that it was not offered in the first.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controller.live import Live, TableFacts
from controller.views import public_events, public_view, seat_view
from engine import events as e
from engine.opening import wall_positions
from engine.play import events as p
from engine.play import options
from engine.ruleset import load_ruleset
from engine.state import State
from engine.tiles import is_flower, join_tiles, parse_tiles
from protocol.mqtt.topics import Topics
from tests.table.evening import steps
from tests.table.harness import TABLE, WholeTable
from tests.table.seated import BY_ANYBODY, Display, seated
from tests.table.test_cases import laid, walled_cases
from tests.table.test_same_traffic import BY_CHANCE, IN_TIME, OTHERS, SECRET, text, without
from tests.table.test_secrets import Recording, recorded

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]

WINDOW_MS = 700
TICK_MS = 100
LAG_MS = 600
"""What a busy machine may add to one window."""
CASES = ["opening/random-wall-new-zhitui", "opening/random-wall-new-bagua"]


@dataclass
class Plan:
    """What S does: discard by discard, or (None) as it comes, and which face it keeps."""

    discards: list[str] | None
    kept: str
    made: list[str] = field(default_factory=list)


@dataclass
class Played:
    """One hand: its journal, and what was received."""

    journal: Path
    seen: Recording
    plan: Plan


async def press_for_south(display: Display, plan: Plan) -> None:
    """S discards by the plan and claims nothing; every second window it does not answer."""
    done: set[str] = set()
    windows = 0
    while True:
        for want in display.wants:
            if want["id"] in done:
                continue
            verb = want["verb"]
            if verb == "turn":
                may = want["params"]["discards"]
                gold = display.view["gold"]["face"]
                if plan.discards is None:
                    tile = next(face for face in may if face not in (gold, plan.kept))
                else:
                    tile = plan.discards[len(plan.made)]
                assert tile in may, (tile, may)
                plan.made.append(tile)
                await display.press(want, "discard", tile=tile)
            elif verb == "claim":
                windows += 1
                if windows % 2:
                    await display.press(want, "pass")
            elif verb in ("opening", "lap", "flower"):
                await display.press(want, "pass")
            elif verb in BY_ANYBODY and verb != "start":
                await display.press(want, BY_ANYBODY[verb])
            else:
                continue
            done.add(want["id"])
        seen = display.view
        await display.until(lambda seen=seen: display.view is not seen, "another view", 120)  # type: ignore[misc]


async def play(folder: Path, row: Mapping[str, Any], plan: Plan) -> Played:
    """One hand with this wall, to the end of its play."""
    folder.mkdir()
    table = WholeTable(
        folder, rules=row["rules"], layout=row["layout"], sensing="full", hands=0, seed=7, people="", patience=60,
        script=[laid(dict(row))], simulate=["--cocked", "0"],
        options={**row.get("options", {}), "claim_window_ms": WINDOW_MS, "opening_window_ms": 20_000},
    )  # fmt: skip
    seen: Recording
    async with table, seated(table, SECRET) as displays, recorded(table) as seen:
        pressing = asyncio.create_task(press_for_south(displays[SECRET], plan))
        try:
            table.start_people()
            await table.hands_ended(1, 200)
        finally:
            pressing.cancel()
        (ended,) = await asyncio.gather(pressing, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError), ended
    return Played(table.journal, seen, plan)


# --- the other wall ---------------------------------------------------------------------------------------------------


def first_tile(row: Mapping[str, Any]) -> tuple[str, str]:
    """A tile of S's first take that is neither a flower nor a gold: its place in the wall and its face."""
    faces = faces_by_place(row)
    taken = next(positions for seat, positions in row["want"]["takes"] if seat == SECRET)
    return next(
        (place, faces[place])
        for place in taken
        if not is_flower(faces[place]) and faces[place] not in (row["want"]["gold"]["tile"], "5z")
    )


def faces_by_place(row: Mapping[str, Any]) -> dict[str, str]:
    rules = load_ruleset(row["rules"])
    return dict(zip(wall_positions(rules, row["layout"]), parse_tiles(row["wall"]), strict=True))


def with_a_claim(row: Mapping[str, Any], played: Played, place: str, face: str) -> tuple[dict[str, Any], str]:
    """The wall that gives S one more of a face which another has discarded, from where nobody drew it; the face."""
    for _, event, before, _ in steps(played.journal):
        if not isinstance(event, e.Played) or not isinstance(event.event, p.TileDiscarded):
            continue
        tile, game = event.event.tile, before.play.game
        assert game is not None
        wanted = event.event.seat != SECRET and game.seats[SECRET].hand.count(tile) == 1 and tile != face
        deep = [at for at, lying in standing_at_the_end(played).items() if lying == tile]
        if wanted and deep and tile not in played.plan.made and tile != game.deal.gold:
            faces = faces_by_place(row)
            faces[place], faces[deep[0]] = faces[deep[0]], faces[place]
            rules = load_ruleset(row["rules"])
            return {**row, "wall": join_tiles([faces[at] for at in wall_positions(rules, row["layout"])])}, tile
    raise AssertionError("nobody discards what S could claim with one tile more: take another case")


def standing_at_the_end(played: Played) -> dict[str, str]:
    """The tiles that nobody has drawn, by their place."""
    for _, event, before, _ in steps(played.journal):
        if isinstance(event, e.HandEnded):
            game = before.play.game
            assert game is not None
            return {before.play.places[at]: game.deal.wall[at] for at in game.left}
    raise AssertionError("no hand has ended")


# --- what is told -----------------------------------------------------------------------------------------------------


def in_play(played: Played) -> tuple[dict[str, list[str]], list[str]]:
    """Views of the others and public facts of the hand up to its win or draw, event by event out of the journal."""
    live = Live(TableFacts("", "", "full", "read", "guide", 2, 1))
    chain: dict[str, list[str]] = {reader: [] for reader in ("view", *OTHERS)}
    facts: list[str] = []
    for _, event, before, after in steps(played.journal):
        if isinstance(event, e.Played) and isinstance(event.event, p.HandWon | p.PlayEnded):
            return chain, facts
        for stream, name, params in public_events(event, before, after):
            facts += [text([name, params])] if stream == "game" else []
        if settled(after):
            public = public_view(after, live)
            for reader, views in chain.items():
                view = public if reader == "view" else seat_view(after, reader, live, public)
                said = text(without(json.loads(json.dumps(view)), BY_CHANCE))
                if views[-1:] != [said]:
                    views.append(said)
    raise AssertionError("the hand has no end")


def settled(state: State) -> bool:
    """Not between two events that are stored together."""
    turn = state.play.flower_turn
    return turn is None or turn[1] <= 3


def received(played: Played, reader: str, end: int) -> list[str]:
    """The views of the hand that came before the public event of this number, each once."""
    topics = Topics(TABLE)
    topic = topics.state if reader == "view" else topics.seat(reader)
    found: list[str] = []
    for name, payload in played.seen[reader]:
        envelope = json.loads(payload) if name == topic and payload else {"data": {"hand": 0}, "seq": 0}
        if not envelope["data"]["hand"] or envelope["seq"] >= end:
            continue
        said = text(without(envelope["data"], IN_TIME))
        if found[-1:] != [said]:
            found.append(said)
    return found


def heard(played: Played) -> tuple[list[str], int]:
    """The public events from the first throw on as they came, without times, ids and numbers; the number of the one
    that ended play.
    """
    topics, found = Topics(TABLE), []
    for name, payload in played.seen["parlor"]:
        if name != topics.event("game"):
            continue
        body = json.loads(payload)
        if body["data"]["name"] in ("won", "play_over"):
            return found, body["seq"]
        if found or body["data"]["name"] == "roll_wanted":
            found.append(text(without(body, {"ts", "mono_ms", "id", "seq", "cause"})))
    raise AssertionError("the end was never told")


def windows(played: Played) -> list[tuple[bool, int]]:
    """Every claim window: whether S was offered anything in it, and how long it was open, ms."""
    found: list[tuple[bool, int]] = []
    opened: tuple[int, bool] | None = None
    for stored, event, _, after in steps(played.journal):
        if not isinstance(event, e.Played):
            continue
        if isinstance(event.event, p.TileDiscarded) and event.event.seat != SECRET:
            may = options(after.play.game, SECRET) if after.play.game is not None else ()
            opened = stored.stamp.mono_ms, any(action.name != "pass" for action in may)
        elif isinstance(event.event, p.WindowClosed) and opened is not None:
            found.append((opened[1], stored.stamp.mono_ms - opened[0]))
            opened = None
    return found


def first_left(played: Played, reader: str) -> list[int]:
    """How much time each claim window had left when its prompt was first shown to a reader, ms."""
    found: dict[str, int] = {}
    for topic, payload in played.seen[reader]:
        if "/seat/" in topic and payload:
            for want in json.loads(payload)["data"]["me"]["wants"]:
                if want["verb"] == "claim":
                    found.setdefault(want["id"], want["left_ms"])
    return list(found.values())


@pytest.mark.parametrize("name", CASES)
async def test_what_south_holds_changes_nothing_for_the_others_in_play(tmp_path: Path, name: str) -> None:
    row = next(row for row in walled_cases() if row["id"] == name)
    place, face = first_tile(row)
    one = await play(tmp_path / "a", row, Plan(None, face))
    changed, claimable = with_a_claim(row, one, place, face)
    other = await play(tmp_path / "b", changed, Plan(list(one.plan.made), face))

    assert one.plan.made == other.plan.made and len(one.plan.made) >= 3
    views, facts = in_play(one)
    assert (views, facts) == in_play(other)
    assert heard(one)[0] == heard(other)[0] and len(heard(one)[0]) > 60
    for played in (one, other):
        end = heard(played)[1]
        for reader, chain in views.items():
            rest = iter([text(without(json.loads(view), IN_TIME)) for view in chain])
            came = received(played, reader, end)
            assert len(came) > (20 if reader != "view" else 5)
            for view in came:
                assert view in rest, (reader, view)

    # The windows: S could claim in one hand where it could not in the other, and they were open as long.
    first, second = windows(one), windows(other)
    assert len(first) == len(second) >= 6
    offered = [number for number, pair in enumerate(zip(first, second, strict=True)) if pair[0][0] != pair[1][0]]
    assert offered, f"S was never offered {claimable}"
    for at in range(2):
        lasting = [pair for number, pair in enumerate(zip(first, second, strict=True)) if number % 2 == at]
        between = [abs(a - b) for (_, a), (_, b) in lasting]
        assert statistics.median(between) <= TICK_MS and max(between) <= LAG_MS, between
    kinds = Counter(took >= WINDOW_MS for _, took in first)
    assert kinds[True] and kinds[False], "some ran out and some were answered"
    for reader in OTHERS:
        for left in (first_left(one, reader), first_left(other, reader)):
            assert left and all(WINDOW_MS - LAG_MS <= told <= WINDOW_MS for told in left), left
