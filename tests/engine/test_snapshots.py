"""A state through a snapshot and back: the same state, and the same hand goes on from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine import events as e
from engine import snapshots
from engine.match.statistics import BOOK_KEPT, figures, hands_counted, points, trimmed
from engine.ruleset import load_ruleset, profiles
from engine.state import State, new_state
from engine.table import fold, wants
from tests.engine.walker import Walker

GAMES = [(name, layout) for name in profiles() for layout in load_ruleset(name).layouts]


def through(state: State) -> State:
    """The state as a start finds it again."""
    return snapshots.decode(json.loads(json.dumps(snapshots.encode(state))))


def at_every(nth: int, checked: list[State]) -> Callable[[State, tuple[e.Event, ...], State], None]:
    """A watcher that takes every nth state through a snapshot."""
    count = 0

    def watch(before: State, decided: tuple[e.Event, ...], after: State) -> None:
        nonlocal count
        count += 1
        if count % nth:
            return
        found = through(after)
        assert found == after
        assert wants(found) == wants(after)
        checked.append(found)

    return watch


MANY = [
    pytest.param(name, layout, sensing, marks=() if layout == load_ruleset(name).layouts[0] else pytest.mark.long)
    for name, layout in GAMES
    for sensing in ("none", "full")
]


@pytest.mark.parametrize(("name", "layout", "sensing"), MANY)
def test_every_state_of_a_match_comes_back_as_it_was(name: str, layout: str, sensing: str) -> None:
    checked: list[State] = []
    walker = Walker(
        name, layout, sensing, "unread", hands=1, seed=11, spoil_rate=0.1, fail_rate=0.08, object_rate=0.3,
        blind_rate=0.1, undo_rate=0.3, by_dice=True, watch=at_every(23, checked),
    )  # fmt: skip
    walker.run()
    assert len(checked) > 5


@hypothesis_settings(max_examples=6)
@given(
    game=st.sampled_from(GAMES), sensing=st.sampled_from(["none", "full"]), steps=st.integers(1, 700),
    seed=st.integers(0, 2**32),
)  # fmt: skip
def test_a_hand_goes_on_from_a_snapshot_as_it_would_have_gone_on(
    game: tuple[str, str], sensing: str, steps: int, seed: int
) -> None:
    """The same events and wants follow, whoever goes on: the state that was kept, or the one that was read."""
    walker = Walker(*game, sensing, hands=2, seed=seed, spoil_rate=0.05, fail_rate=0.05, object_rate=0.2)
    walker.start()
    for _ in range(steps):
        if walker.state.phase != "ended":
            walker.step()
    kept = through(walker.state)
    walker.events.clear()
    for _ in range(60):
        if walker.state.phase != "ended":
            walker.step()
    after = fold(walker.events, kept)
    assert after == walker.state and wants(after) == wants(walker.state)


def test_an_empty_table_is_a_state_too() -> None:
    assert through(new_state()) == new_state()


def test_data_that_is_no_state_is_told_and_never_taken() -> None:
    good = snapshots.encode(new_state())

    def wrong(**changes: Any) -> dict[str, Any]:
        return {**good, "state": {**good["state"], **changes}}

    bad: list[tuple[Any, str]] = [
        ({}, "version"),
        ({**good, "version": 0}, "version 0"),
        (wrong(hand="1"), "'1' is no int"),
        (wrong(colour="red"), "State knows no colour"),
        (wrong(sets=None), "None is no list"),
        (wrong(play=[]), "no state|list"),
        (wrong(setup={"rules": 7}), "no ruleset 7|Setup"),
        ({**good, "rules": [{"name": "x"}]}, "no state"),
        ([], "no state"),
    ]
    for body, words in bad:
        with pytest.raises(snapshots.SnapshotError, match=words):
            snapshots.decode(body)


def test_a_field_that_a_state_has_gained_since_takes_its_default() -> None:
    body = snapshots.encode(new_state())
    del body["state"]["parks"]
    assert snapshots.decode(body) == new_state()


def test_the_book_of_an_endless_match_stays_short_and_its_figures_stay_right() -> None:
    """10,000 hands do not make a state larger than some hundred do; points, figures and the match's end count on."""
    walker = Walker("new-xiamen-120", sensing="none", hands=3, seed=5)
    walker.run()
    session = walker.state.session
    some = [one for one in session.book if not one.voided]
    whole = replace(session, book=())
    short = whole
    for number in range(BOOK_KEPT * 3):
        booking = replace(some[number % len(some)], hand=number + 1)
        whole = replace(whole, book=(*whole.book, booking))
        short = trimmed(replace(short, book=(*short.book, booking)))
    assert len(short.book) < BOOK_KEPT * 1.5 and len(whole.book) == BOOK_KEPT * 3
    for player in session.players:
        assert figures(short, player.id) == figures(whole, player.id)
        assert points(short, player.id) == points(whole, player.id)
    assert hands_counted(short) == hands_counted(whole)
    # Another match begins: what the one before brought counts for the evening alone.
    following = replace(short, match=short.match + 1)
    assert points(following, session.players[0].id) == 0 and hands_counted(following) == 0
    assert through(replace(walker.state, session=short)).session == short
