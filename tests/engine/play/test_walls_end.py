"""The end of the wall: the drawn hand (R18) and the limits of the last tiles with 包赔 (R27); who drew last (R3)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import PlayState, begin, legal, to_draw, visible
from tests.engine.play.hands_at_play import deal_of, hu_ways, play, turn, until, why_not, winner

SETS = "123m 456m 789m 123p 456p"


def start(name: str, hands: dict[str, str], **more: Any) -> PlayState:
    plain = {"follow": "off", "missed_tiles": False} if name == "classic-xiamen-144" else {}
    return begin(deal_of(name, hands, **{**more, "options": plain | more.get("options", {})}))


@pytest.mark.parametrize(("name", "left"), [("classic-xiamen-144", 18), ("new-xiamen-120", 2)])
def test_the_hand_is_drawn_when_the_reserve_is_left(name: str, left: int) -> None:
    state = start(name, {"E": "1p"}, draws="2p3p", left=left)
    assert to_draw(state) == 2
    state = turn(turn(play(state, "E discard 1p", "pass")))
    assert state.outcome is not None
    assert (state.outcome.kind, state.outcome.winners, state.outcome.last_drawer) == ("draw", (), "W")


def test_a_replacement_that_cannot_be_drawn_ends_it_too() -> None:
    state = start("new-xiamen-120", {"E": "1p"}, draws="1f", left=1)
    state = play(state, "E discard 1p", "pass")
    assert state.outcome is not None and (state.outcome.kind, state.outcome.last_drawer) == ("draw", "S")
    state = start("new-xiamen-120", {"E": "1111p"}, left=0)
    (kong,) = [one for one in legal(state, "E") if one.action.name == "kong_concealed"]
    assert kong.effect["last"]
    state = play(state, "E kong_concealed 1p")
    assert state.outcome is not None and state.outcome.kind == "draw"


def test_the_last_discard_may_still_be_won() -> None:
    state = start("new-xiamen-120", {"E": "7s", "S": f"{SETS} 7s"}, left=0)
    assert winner(play(state, "E discard 7s", "S hu pinghu", "pass"))[1] == "pinghu"


@pytest.mark.parametrize(("draws", "level"), [("1s2s3s9s1p2p", "youjin"), ("1s2s3s9s1p2p3p9s1s", "shuangyou")])
def test_in_a_tours_lap_the_level_already_reached_is_paid(draws: str, level: str) -> None:
    left = len(draws) // 2 + 16
    state = start("classic-xiamen-144", {"E": f"{SETS} 9s 7s"}, draws=draws, left=left)
    state = play(until(play(state, "E discard 7s", "pass"), "E"), "E tour_discard 9s")
    while state.outcome is None:
        state = play(state, "E tour_discard 9s" if state.turn == "E" else f"{state.turn} pass")
    assert winner(state) == ("E", level, None, None)


def test_in_a_first_lap_nothing_is_reached_yet() -> None:
    hidden = {"tour_discard": "ming"}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s 7s"}, draws="1s2s", left=2, options=hidden)
    state = play(state, "E discard_down 7s", "S pass", "W pass")
    assert state.outcome is not None and state.outcome.kind == "draw"
    direct = {"direct_shuangyou": True}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s9s"}, draws="1s2s", left=2, options=direct)
    state = play(state, "E tour_discard 9s", "S pass", "W pass")
    assert state.outcome is not None and state.outcome.kind == "draw"


@pytest.mark.parametrize(("left", "ready"), [(4, False), (5, True)])
def test_nobody_enters_a_youjin_in_the_last_tiles(left: int, ready: bool) -> None:
    options = {"last_tiles_no_youjin": 4, "tour_discard": "ming"}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s 7s"}, draws="1s2s3s8p", left=left, options=options)
    after = play(state, "E discard 7s", "pass")
    assert after.seats["E"].ready is ready
    assert hu_ways(until(after, "E"), "E") == ({"youjin"} if ready else {"zimo"})
    if not ready:
        assert why_not(state, "E discard_down 7s") == ("last_tiles", "R27")


def test_nor_straight_into_shuangyou() -> None:
    options = {"last_tiles_no_youjin": 4, "direct_shuangyou": True}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s9s"}, left=4, options=options)
    assert why_not(state, "E tour_discard 9s") == ("last_tiles", "R27")


def test_who_is_in_it_already_stays_in_it() -> None:
    options = {"last_tiles_no_youjin": 4}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s 7s"}, draws="1s2s3s8p", left=5, options=options)
    state = until(play(state, "E discard 7s", "pass"), "E")
    assert play(state, "E discard 8p").seats["E"].ready


def test_who_is_in_it_already_may_go_on() -> None:
    options = {"last_tiles_no_youjin": 4}
    state = start("new-xiamen-120", {"E": f"{SETS} 9s 7s"}, draws="1s2s3s9s1p", left=5, options=options)
    state = until(play(state, "E discard 7s", "pass"), "E")
    assert hu_ways(state, "E") == {"youjin"}
    assert play(state, "E tour_discard 9s").turn == "S"


SEEN: dict[str, Any] = {"options": {"last_tiles_seen_only": 8}}
WAITS = f"{SETS} 7s"


def test_an_unseen_face_of_the_last_tiles_is_told() -> None:
    state = start("new-xiamen-120", {"E": "7s 8s"}, left=8, **SEEN)
    told = {one.action.tile: one.effect for one in legal(state, "E")}
    assert told["7s"]["unseen"]
    early = start("new-xiamen-120", {"E": "7s 8s"}, left=9, **SEEN)
    assert "unseen" not in {one.action.tile: one.effect for one in legal(early, "E")}["7s"]
    later = play(early, "E discard 7s", "pass")
    assert later.liable == ""


def test_who_discards_it_pays_for_all_if_it_is_won() -> None:
    state = start("new-xiamen-120", {"E": "7s", "N": WAITS}, left=8, **SEEN)
    state = play(state, "E discard 7s", "N hu pinghu", "pass")
    assert state.outcome is not None and state.outcome.pays_all == "E"


def test_and_if_a_later_self_draw_wins() -> None:
    state = start("new-xiamen-120", {"E": "8s", "W": WAITS}, draws="6p7s", left=8, **SEEN)
    state = play(state, "E discard 8s", "pass", "S discard 6p", "pass", "W hu zimo")
    assert state.outcome is not None and state.outcome.pays_all == "S"


def test_but_not_by_a_later_discard_of_a_seen_face() -> None:
    state = start("new-xiamen-120", {"E": "7s", "N": WAITS}, draws="8s7s", left=9, **SEEN)
    state = play(state, "E discard 7s", "pass", "S discard 8s", "pass")
    assert state.liable == "S"
    state = play(state, "W discard 7s")
    assert not state.discards[-1].unseen
    state = play(state, "N hu pinghu", "pass")
    assert state.outcome is not None and state.outcome.pays_all is None


def test_a_liable_winner_pays_for_nobody() -> None:
    state = start("new-xiamen-120", {"E": f"{SETS} 7s 8s"}, draws="8s8s8s7s", left=8, **SEEN)
    state = play(state, "E discard 8s", "pass")
    assert state.liable == "E"
    state = until(state, "E")
    state = play(state, "E hu zimo")
    assert state.outcome is not None and state.outcome.pays_all is None


def test_the_last_to_have_discarded_an_unseen_face_pays() -> None:
    state = start("new-xiamen-120", {"E": "8s"}, draws="6p8p", left=8, **SEEN)
    state = play(state, "E discard 8s", "pass", "S discard 6p", "pass", "W discard 8p")
    assert state.liable == "W"


def test_faces_in_melds_and_the_flipped_tile_are_seen() -> None:
    state = start("new-xiamen-120", {"E": "7s", "S": "68s"}, left=9, **SEEN)
    state = play(state, "E discard 7s", "S chi 68s", "pass")
    assert {"6s", "7s", "8s", "9s"} <= visible(state)
