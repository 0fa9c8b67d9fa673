"""Whole random matches at a table: invariants, nonsense, readers that show anything, and the published openings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine import events as e
from engine import inputs as i
from engine.opening import wall_positions
from engine.readings import ZONES
from engine.ruleset import load_ruleset, profiles
from engine.state import State, gone_from_wall
from engine.table import Refused, decide, fold, wants
from engine.tiles import SEATS, format_tiles
from tests.engine.invariants import Invariants
from tests.engine.walker import Walker, refused

CASES = Path(__file__).parents[1] / "cases"
GAMES = [(name, layout) for name in profiles() for layout in load_ruleset(name).layouts]


def case(name: str) -> dict[str, Any]:
    for line in (CASES / "opening.jsonl").read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        if row["id"] == name:
            return row
    raise AssertionError(name)


def walled_cases() -> list[str]:
    rows = [json.loads(line) for line in (CASES / "opening.jsonl").read_text("utf-8").splitlines()]
    return [row["id"] for row in rows if "wall" in row and "error" not in row["want"] and "gold" in row["want"]]


@pytest.mark.parametrize(("name", "layout"), GAMES)
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("dice", ["read", "unread", "hand", "software"])
def test_matches_end_whatever_people_do(name: str, layout: str, sensing: str, dice: str) -> None:
    walker = Walker(
        name, layout, sensing, dice, hands=3, seed=5, spoil_rate=0.1, fail_rate=0.08, object_rate=0.3,
        blind_rate=0.1, watch=Invariants(),
    )  # fmt: skip
    walker.run()
    session = walker.state.session
    counted = [one for one in session.book if not one.voided and one.kind != "foul"]
    assert len(counted) == 3 if session.ended == "hands" else session.ended == "empty"
    assert fold(walker.events) == walker.state
    assert all(count == 1 for count in walker.thrown.values()), "a throw was asked for twice under one id"


@hypothesis_settings(max_examples=25)
@given(
    game=st.sampled_from(GAMES),
    sensing=st.sampled_from(["none", "full"]),
    dice=st.sampled_from(["read", "unread"]),
    aid=st.sampled_from(["guide", "present"]),
    sets=st.sampled_from([("inside", "felt"), ("felt",), ("sorted", "felt"), ("inside", "inside")]),
    seed=st.integers(0, 2**32),
)
def test_any_table_keeps_its_invariants(
    game: tuple[str, str], sensing: str, dice: str, aid: str, sets: tuple[str, ...], seed: int
) -> None:
    walker = Walker(
        *game, sensing, dice, aid, sets, hands=2, seed=seed, spoil_rate=0.1, fail_rate=0.1, object_rate=0.3,
        watch=Invariants(),
    )  # fmt: skip
    walker.run()
    assert fold(walker.events) == walker.state


TILES = st.sampled_from(["1m", "5p", "9s", "3f", "5z", "??", ""])
JUNK = st.recursive(
    st.none() | st.integers() | st.text(max_size=8) | st.booleans() | st.floats() | TILES | st.sampled_from(SEATS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from(
    ["dice", "tile", "tiles", "by", "way", "kind", "reason", "seat", "source", "choice", "right", "golds", "concealed",
     "melds", "patterns", "hardness", "on", "points", "last_drawer", "followed", "no_flowers", "honour", "x"]
)  # fmt: skip


@hypothesis_settings(max_examples=120)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(profiles()),
    sensing=st.sampled_from(["none", "full"]),
    steps=st.integers(0, 900),
    data=st.data(),
)
def test_nonsense_is_refused_and_changes_nothing(
    seed: int, name: str, sensing: str, steps: int, data: st.DataObject
) -> None:
    walker = Walker(name, sensing=sensing, seed=seed, dice_mode="unread", undo_rate=0.2)
    walker.start()
    for _ in range(steps):
        if walker.state.phase != "ended":
            walker.step()
    prompts = [want for want in wants(walker.state) if want.kind == "prompt" and want.actions]
    for want in prompts[:8]:
        action = data.draw(st.one_of(st.sampled_from(want.actions), st.text(max_size=6)))
        asked = i.SeatAction(want.seat, str(want.id), action, data.draw(st.dictionaries(NAMES, JUNK, max_size=3)))
        try:
            events = decide(walker.state, asked)
        except Refused as refusal:
            assert refusal.code
        else:
            fold(list(events), walker.state)
    for seat, zone in data.draw(st.lists(st.tuples(st.sampled_from(SEATS), st.sampled_from(ZONES)), max_size=4)):
        seen = i.ZoneSeen(seat, zone, tuple(data.draw(st.lists(TILES, max_size=20))))
        fold(list(decide(walker.state, seen)), walker.state)
    assert refused(walker, i.SeatAction("E", "0.nothing-0.1", "ok")).code == "late"


@hypothesis_settings(max_examples=40)
@given(seed=st.integers(0, 2**32), steps=st.integers(0, 700), data=st.data())
def test_readers_that_show_anything_leave_a_table_that_can_go_on(seed: int, steps: int, data: st.DataObject) -> None:
    """Noise on any zone at any time: tiles stay what they are, and once people answer the hand is played to its end."""
    walker = Walker("new-xiamen-120", seed=seed, hands=1, watch=Invariants())
    walker.start()
    for _ in range(steps):
        if walker.state.phase != "ended":
            walker.step()
    for _ in range(data.draw(st.integers(1, 4))):
        seat, zone = data.draw(st.sampled_from(SEATS)), data.draw(st.sampled_from(ZONES))
        shown = list(walker.state.play.seen.get((seat, zone), ()))
        at = data.draw(st.integers(0, len(shown)))
        change = data.draw(st.sampled_from(["missing", "doubled", "wrong", "unread"]))
        if change == "missing":
            del shown[at : at + 1]
        else:
            shown[at : at + (change != "doubled")] = [data.draw(TILES.filter(bool)) if change != "unread" else "??"]
        walker.feed(i.ZoneSeen(seat, zone, tuple(shown)))
    for _ in range(8000):
        if walker.state.phase == "ended":
            break
        walker.step()
    assert walker.state.phase == "ended", walker.state.phase


@pytest.mark.parametrize("name", walled_cases())
def test_the_table_opens_as_the_rule_cases_say(name: str) -> None:
    """The state machine itself, with readers, against the written cases: hands, flowers, replacements, gold."""
    row = case(name)
    rolls = row["rolls"]
    throws = [rolls["deal"], *([rolls["door"]] if "door" in rolls else []), *rolls["gold"]]
    walker = Walker(
        row["rules"], row.get("layout", ""), dice=throws, wall=row["wall"], options=row.get("options", {}), hands=1
    )
    history = tuple(row.get("gold_history", ()))

    def dealt(state: State) -> bool:
        return state.play.game is not None

    walker.start()
    session = walker.state.session
    session = replace(session, deal=session.seats[row["dealer"]], phase="between")
    walker.state = replace(walker.state, dealer=row["dealer"], gold_history=history, session=session)
    for _ in range(4000):
        if dealt(walker.state) or walker.state.phase == "ended" or walker.state.result is not None:
            break
        walker.step()
    assert dealt(walker.state), walker.state.phase
    play, want = walker.state.play, row["want"]
    assert {seat: format_tiles(play.hands[seat]) for seat in SEATS} == want["hands"]
    assert {seat: format_tiles(play.flowers[seat]) for seat in SEATS} == want["flowers"]
    assert play.gold is not None
    got: dict[str, Any] = {"position": play.gold.position, "tile": play.gold.face}
    if "indicator" in want["gold"]:
        got["indicator"] = play.gold.tile
    assert got == want["gold"]
    assert [[passed.position, passed.tile] for passed in play.passed] == want["passed"]
    replaced = [
        [event.round, event.seat, position, tile]
        for event in walker.events
        if isinstance(event, e.FlowersReplaced)
        for position, tile in zip(event.positions, event.tiles, strict=True)
    ]
    assert replaced == want["replacements"]
    standing = set(wall_positions(walker.book, walker.state.match.layout)) - gone_from_wall(walker.state)
    assert len(standing) == want["remaining"]
