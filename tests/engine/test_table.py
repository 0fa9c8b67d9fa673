"""The state machine of a hand, step by step (R1-R12, R25, R26)."""

from __future__ import annotations

from typing import Any

from engine import events as e
from engine import inputs as i
from engine.opening import wall_positions
from engine.ruleset import load_ruleset
from engine.state import gone_from_wall
from engine.table import new_state, wants
from engine.tiles import SEATS, is_flower
from tests.engine.invariants import Invariants
from tests.engine.walker import Walker, refused


def at_phase(phase: str, **options: Any) -> Walker:
    walker = Walker("new-xiamen-120", **options)
    walker.run(lambda state: state.phase == phase)
    assert walker.state.phase == phase
    return walker


def prompts(walker: Walker, verb: str) -> dict[str, Any]:
    return {want.seat: want for want in wants(walker.state) if want.verb == verb and want.kind == "prompt"}


def test_a_short_side_stops_before_dealing_and_names_the_side() -> None:
    walker = Walker("new-xiamen-120")
    walker.start()
    (sort,) = [want for want in wants(walker.state) if want.kind == "operation"]
    walker.feed(i.OperationDone(str(sort.id), {"tiles": {"E": 30, "S": 29, "W": 30, "N": 30}}))
    asked = prompts(walker, "count")
    assert set(asked) == set(SEATS)
    assert asked["E"].params["sides"] == [{"side": "S", "counted": 29, "expected": 30}]
    assert not [want for want in wants(walker.state) if want.kind == "operation"]
    walker.feed(i.KeyPressed("lift"))
    (again,) = [want for want in wants(walker.state) if want.kind == "operation"]
    assert (again.verb, again.id.attempt) == ("sort", sort.id.attempt + 1)


def test_a_cocked_throw_is_a_new_throw_of_the_same_seat() -> None:
    walker = at_phase("deal_roll", seed=3)
    dealer = walker.state.dealer
    (ask,) = prompts(walker, "roll").values()
    assert ask.seat == dealer
    walker.feed(i.SeatAction(dealer, str(ask.id), "roll"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationDone(str(throw.id), {"dice": None, "quality": "cocked"}))
    (again,) = prompts(walker, "roll").values()
    assert again.seat == dealer and str(again.id) != str(ask.id) and again.params["spoilt"] == "cocked"
    walker.feed(i.KeyPressed("dice"))
    (second,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    assert str(second.id) != str(throw.id)
    stale = i.OperationDone(str(throw.id), {"dice": [1, 1], "quality": "clean"})
    assert not walker.feed(stale), "a stale result counts"


def test_a_lost_throw_is_settled_by_witnesses_and_never_thrown_again_unasked() -> None:
    walker = at_phase("deal_roll", seed=3, dice_mode="unread")
    walker.feed(i.KeyPressed("dice"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationUnknown(str(throw.id)))
    assert not [want for want in wants(walker.state) if want.kind == "operation" and want.verb == "dice_roll"]
    asked = prompts(walker, "dice_lost")
    # Which die is named first means nothing.
    walker.feed(i.SeatAction("E", str(asked["E"].id), "dice", {"dice": [4, 3]}))
    walker.feed(i.SeatAction("S", str(asked["S"].id), "dice", {"dice": [3, 5]}))
    assert walker.state.play.roll is not None and walker.state.play.roll.stage == "lost"
    walker.feed(i.SeatAction("W", str(asked["W"].id), "dice", {"dice": [3, 4]}))
    assert walker.state.phase == "taking"
    assert walker.state.play.rolls[-1].dice == (3, 4)


def test_only_when_all_four_saw_nothing_is_a_lost_throw_thrown_anew() -> None:
    walker = at_phase("deal_roll", seed=3)
    walker.feed(i.KeyPressed("dice"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationUnknown(str(throw.id)))
    for seat in SEATS:
        assert not prompts(walker, "roll")
        walker.feed(i.SeatAction(seat, str(prompts(walker, "dice_lost")[seat].id), "nobody"))
    (ask,) = prompts(walker, "roll").values()
    assert ask.id.attempt == 2 and ask.params["spoilt"] == "nobody_saw"


def test_entered_dice_stand_unless_somebody_objects() -> None:
    walker = at_phase("deal_roll", seed=4, dice_mode="hand")
    dealer = walker.state.dealer
    (ask,) = prompts(walker, "dice").values()
    walker.feed(i.SeatAction(dealer, str(ask.id), "dice", {"dice": [2, 2]}))
    checks = prompts(walker, "dice_check")
    other = next(seat for seat in SEATS if seat != dealer)
    assert checks[dealer].actions == ("object",)
    assert checks[other].actions == ("agree", "object")
    walker.feed(i.SeatAction(other, str(checks[other].id), "object"))
    assert refused(walker, i.SeatAction(other, str(checks[other].id), "agree")).code == "late"
    (ask,) = prompts(walker, "dice").values()
    walker.feed(i.SeatAction(dealer, str(ask.id), "dice", {"dice": [2, 3]}))
    (timer,) = [want for want in wants(walker.state) if want.kind == "timer"]
    walker.feed(i.TimerElapsed(str(timer.id)))
    assert walker.state.play.rolls[-1].dice == (2, 3)


def test_keys_mean_nothing_when_nothing_is_asked() -> None:
    walker = at_phase("taking", seed=2)
    assert walker.feed(i.KeyPressed("dice")) == () == walker.feed(i.KeyPressed("lift"))
    assert walker.feed(i.DiceUnasked((3, 3)))
    assert walker.state.unasked == ((3, 3),)
    assert walker.state.play.rolls[-1].dice != (3, 3) or walker.state.phase == "taking"


def test_anybody_may_throw_for_the_dealer_where_the_rules_say_so_but_only_a_known_seat() -> None:
    """R3 (比金): the count starts at the thrower, so a shared key, which names nobody, does not throw."""
    walker = Walker("bijin-xiamen-144", seed=6)
    walker.run(lambda state: state.phase == "dealer_roll")
    assert set(prompts(walker, "roll")) == set(SEATS)
    assert walker.feed(i.KeyPressed("dice")) == ()
    walker.feed(i.SeatAction("W", str(prompts(walker, "roll")["W"].id), "roll"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationDone(str(throw.id), {"dice": [1, 1], "quality": "clean"}))
    assert walker.state.dealer == "N"


def test_a_latched_stop_is_cleared_by_a_person_and_forgets_no_operation() -> None:
    """The first reason is kept; what was wanted is wanted still, under the same id; clearing asks the machine."""
    walker = at_phase("centre_up", seed=1)
    (before,) = [want for want in wants(walker.state) if want.kind == "operation"]
    walker.feed(i.StopLatched("pinch"))
    walker.feed(i.StopLatched("second"))
    assert walker.state.stop == "pinch"
    assert before in wants(walker.state)
    asked = prompts(walker, "stopped")
    assert set(asked) == set(SEATS) and asked["S"].params == {"reason": "pinch"}
    assert not [want for want in wants(walker.state) if want.verb == "clear_stop"]
    walker.feed(i.SeatAction("S", str(asked["S"].id), "clear"))
    (clear,) = [want for want in wants(walker.state) if want.verb == "clear_stop"]
    walker.feed(i.OperationDone(str(clear.id), {}))
    assert walker.state.stop == "pinch", "only the machine says that it is over"
    walker.feed(i.StopCleared())
    assert not walker.state.stop and not prompts(walker, "stopped")
    assert before in wants(walker.state)
    walker.feed(i.StopLatched("again"))
    assert not [want for want in wants(walker.state) if want.verb == "clear_stop"], "a new stop is cleared anew"
    assert str(prompts(walker, "stopped")["E"].id) != str(asked["E"].id)


def test_a_stop_that_latches_again_while_it_is_cleared_is_cleared_anew() -> None:
    """Its cause is still there: the machine is not asked for ever, people are."""
    walker = at_phase("centre_up", seed=1)
    walker.feed(i.StopLatched("pinch"))
    asked = prompts(walker, "stopped")["S"]
    walker.feed(i.SeatAction("S", str(asked.id), "clear"))
    walker.feed(i.StopLatched("pinch"))
    assert walker.state.stop == "pinch"
    assert not [want for want in wants(walker.state) if want.verb == "clear_stop"]
    assert str(prompts(walker, "stopped")["S"].id) != str(asked.id)


def test_a_wall_that_is_no_set_of_these_rules_stops_before_dealing() -> None:
    walker = at_phase("reading", seed=1)
    for want in [want for want in wants(walker.state) if want.verb == "read_wall"]:
        walker.feed(i.OperationDone(str(want.id), {"tiles": ["1m"] * 30}))
    assert walker.state.phase == "reading" and not walker.state.play.wall
    asked = prompts(walker, "retry")
    assert asked["N"].params["fault"] == "sets_mixed"
    assert not [want for want in wants(walker.state) if want.kind == "operation" and want.verb == "read_wall"]
    walker.feed(i.SeatAction("N", str(asked["N"].id), "retry"))
    again = [want for want in wants(walker.state) if want.verb == "read_wall"]
    assert len(again) == 4 and all(want.id.attempt == 2 for want in again)


def test_one_illegible_tag_follows_from_the_rest_and_more_are_read_again() -> None:
    def read(blind: int) -> Walker:
        walker = at_phase("reading", seed=1)
        tiles = walker.wall_of(walker.state.hand)
        for want in [want for want in wants(walker.state) if want.verb == "read_wall"]:
            at = SEATS.index(want.params["side"]) * 30
            side = tiles[at : at + 30]
            if want.params["side"] == "E":
                side = ["??"] * blind + side[blind:]
            walker.feed(i.OperationDone(str(want.id), {"tiles": side}))
        return walker

    walker = read(1)
    assert walker.state.phase == "dealer_roll"
    assert walker.state.play.wall["E1t"] == walker.wall_of(walker.state.hand)[0]
    walker = read(9)
    assert walker.state.phase == "reading" and prompts(walker, "retry")["E"].params["fault"] == "reader_blind"


def test_a_cocked_throw_is_thrown_again_by_whoever_threw_where_anybody_might() -> None:
    walker = Walker("bijin-xiamen-144", seed=6)
    walker.run(lambda state: state.phase == "dealer_roll")
    walker.feed(i.SeatAction("W", str(prompts(walker, "roll")["W"].id), "roll"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationDone(str(throw.id), {"dice": None, "quality": "cocked"}))
    assert set(prompts(walker, "roll")) == {"W"}


def test_people_say_that_a_die_leans_where_the_board_cannot() -> None:
    walker = at_phase("deal_roll", seed=4, dice_mode="unread")
    walker.feed(i.KeyPressed("dice"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationDone(str(throw.id), {"dice": None, "quality": "unread"}))
    (ask,) = prompts(walker, "dice").values()
    walker.feed(i.SeatAction(ask.seat, str(ask.id), "cocked"))
    (again,) = prompts(walker, "roll").values()
    assert again.seat == ask.seat and again.params["spoilt"] == "cocked"


def test_a_failed_throw_is_settled_by_people_and_not_thrown_again_by_one_press() -> None:
    walker = at_phase("deal_roll", seed=3)
    walker.feed(i.KeyPressed("dice"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.OperationFailed(str(throw.id), "dice_stuck"))
    assert not walker.feed(i.KeyPressed("lift"))
    assert not [want for want in wants(walker.state) if want.verb == "dice_roll"]
    assert set(prompts(walker, "dice_lost")) == set(SEATS)


def test_objection_is_open_until_all_three_others_have_looked() -> None:
    walker = at_phase("deal_roll", seed=4, dice_mode="hand")
    (ask,) = prompts(walker, "dice").values()
    walker.feed(i.SeatAction(ask.seat, str(ask.id), "dice", {"dice": [2, 2]}))
    others = [seat for seat in SEATS if seat != ask.seat]
    for seat in others[:2]:
        walker.feed(i.SeatAction(seat, str(prompts(walker, "dice_check")[seat].id), "agree"))
        assert prompts(walker, "dice_check")[others[2]].actions == ("agree", "object")
        assert prompts(walker, "dice_check")[seat].actions == ("object",)
    walker.feed(i.SeatAction(others[2], str(prompts(walker, "dice_check")[others[2]].id), "agree"))
    assert walker.state.phase == "taking"


def test_each_failed_operation_is_tried_again_by_its_own_button() -> None:
    walker = at_phase("reading", seed=1)
    reads = {want.params["side"]: want for want in wants(walker.state) if want.verb == "read_wall"}
    for side in "EW":
        walker.feed(i.OperationFailed(str(reads[side].id), "reader_blind", side))
    asked = {want.params["side"]: want for want in wants(walker.state) if want.verb == "retry" and want.seat == "N"}
    walker.feed(i.SeatAction("N", str(asked["W"].id), "retry"))
    assert {want.params["side"] for want in wants(walker.state) if want.verb == "retry"} == {"E"}


def test_a_reader_that_misses_tiles_or_is_blind_loses_no_hand() -> None:
    """Three of four seen, or none at all: the seat's word settles it and the wall is believed."""
    walker = at_phase("taking", seed=2)
    take = next(want for want in wants(walker.state) if want.verb == "take")
    true = tuple(walker.state.play.wall[position] for position in take.params["positions"])
    walker.feed(i.ZoneSeen(take.seat, "hand", true[:3]))
    check = prompts(walker, "hand_check")[take.seat]
    assert check.params == {"seen": 3, "expected": 4}
    walker.feed(i.SeatAction(take.seat, str(check.id), "ok"))
    assert walker.state.play.hands[take.seat] == true
    second = next(want for want in wants(walker.state) if want.verb == "take")
    walker.feed(i.ZoneSeen(second.seat, "hand", ("1m",) * 5))
    assert prompts(walker, "hand_check")[second.seat].actions == (), "too many: put back, nobody can say ok"
    walker.feed(i.SeatAction(second.seat, str(second.id), "by_hand"))
    assert walker.state.play.takes_done == 2
    walker = at_phase("gold", seed=2)
    (flip,) = prompts(walker, "flip").values()
    walker.feed(i.SeatAction(flip.seat, str(flip.id), "face", {"tile": "3p"}))
    assert set(prompts(walker, "gold_check")) == set(SEATS)


def test_flowers_are_entered_once_each_and_can_be_taken_back() -> None:
    walker = at_phase("flowers", sensing="none", seed=9)
    for seat in SEATS:
        for tile in walker.state.play.flowers[seat]:
            walker.feed(i.SeatAction(seat, str(prompts(walker, "flowers")[seat].id), "unflower", {"tile": tile}))
    ask = prompts(walker, "flowers")
    walker.feed(i.SeatAction("E", str(ask["E"].id), "flower", {"tile": "3f"}))
    clash = refused(walker, i.SeatAction("S", str(ask["S"].id), "flower", {"tile": "3f"}))
    assert (clash.code, clash.rule, clash.params["seat"]) == ("flower_taken", "R7", "E")
    assert refused(walker, i.SeatAction("S", str(ask["S"].id), "unflower", {"tile": "3f"})).code == "flower_not_yours"
    assert prompts(walker, "flowers")["W"].params["count"] == 1
    walker.feed(i.SeatAction("E", str(ask["E"].id), "unflower", {"tile": "3f"}))
    assert prompts(walker, "flowers")["W"].params["count"] == 0


def test_the_window_closes_when_all_four_have_answered_whatever_they_hold() -> None:
    walker = at_phase("opening", seed=8)
    for seat in SEATS:
        assert walker.state.phase == "opening"
        walker.feed(i.SeatAction(seat, str(prompts(walker, "opening")[seat].id), "pass"))
    assert walker.state.phase == "play" and list(prompts(walker, "turn")) == [walker.state.dealer]


def test_all_eight_flowers_win_at_once_before_the_gold() -> None:
    """R26 in a wall that gives one seat every flower: 双花杠 before any gold roll."""
    rules = load_ruleset("new-xiamen-120")
    places = wall_positions(rules, "zhitui")
    plain = [face for face, copies in rules.faces().items() if not is_flower(face) for _ in range(copies)]
    flowers = [face for face in rules.faces() if is_flower(face)]
    dealt = [f"S{n}{tier}" for n in (2, 3, 10, 11) for tier in "tb"]
    wall = {place: plain.pop() for place in places if place not in dealt}
    wall |= dict(zip(dealt, flowers, strict=True))
    walker = Walker("new-xiamen-120", wall="".join(wall[place] for place in places), dice=[[6, 3], [5, 1]], hands=1)
    walker.run()
    (ended,) = [event for event in walker.events if isinstance(event, e.HandEnded)]
    assert (ended.winner, ended.way) == (walker_dealer(walker), "shuanghuagang")
    assert not [event for event in walker.events if isinstance(event, e.RollWanted) and event.purpose == "gold"]


def walker_dealer(walker: Walker) -> str:
    return next(event.seat for event in walker.events if isinstance(event, e.DealerChosen))


def test_wrong_tiles_in_a_hand_are_asked_of_that_seat_alone() -> None:
    """The seat's word settles it where such tiles stand in the wall, and the wall is put right with them."""
    walker = at_phase("taking", seed=2, watch=Invariants())
    take = next(want for want in wants(walker.state) if want.verb == "take")
    wrong = ("1f",) * len(take.params["positions"])
    walker.feed(i.ZoneSeen(take.seat, "hand", wrong))
    checks = prompts(walker, "hand_check")
    assert list(checks) == [take.seat]
    refusal = refused(walker, i.SeatAction(take.seat, str(checks[take.seat].id), "ok"))
    assert (refusal.code, refusal.params["tile"]) == ("no_such_tile", "1f")
    true = [walker.state.play.wall[position] for position in take.params["positions"]]
    other = next(face for place, face in walker.state.play.wall.items() if face not in true and not is_flower(face))
    seen = (other, *true[1:])
    walker.feed(i.ZoneSeen(take.seat, "hand", seen))
    walker.feed(i.SeatAction(take.seat, str(prompts(walker, "hand_check")[take.seat].id), "ok"))
    assert walker.state.play.takes_done == 1 and sorted(walker.state.play.hands[take.seat]) == sorted(seen)
    assert [event for event in walker.events if isinstance(event, e.WallCorrected)]


def test_a_tile_that_cannot_be_read_is_what_stood_there() -> None:
    walker = at_phase("taking", seed=2, watch=Invariants())
    take = next(want for want in wants(walker.state) if want.verb == "take")
    true = tuple(walker.state.play.wall[position] for position in take.params["positions"])
    walker.feed(i.ZoneSeen(take.seat, "hand", (*true[:3], "??")))
    assert walker.state.play.hands[take.seat] == true


def test_a_flipped_tile_that_is_read_otherwise_than_the_wall_is_for_people_to_say() -> None:
    """R8: no misread face becomes the gold; what people say puts the wall right."""
    walker = at_phase("gold", seed=2, watch=Invariants())
    (flip,) = prompts(walker, "flip").values()
    position, wall = flip.params["position"], walker.state.play.wall
    gone = gone_from_wall(walker.state)
    other = next(
        face for place, face in wall.items() if place not in gone and face != wall[position] and not is_flower(face)
    )
    assert not walker.feed(i.TileFlipped(position, other))
    walker.feed(i.SeatAction(flip.seat, str(flip.id), "face", {"tile": other}))
    walker.feed(i.TimerElapsed(next(str(want.id) for want in wants(walker.state) if want.verb == "gold_stands")))
    assert walker.state.play.gold is not None and walker.state.play.gold.face == other
    assert walker.state.play.wall[position] == other and walker.state.phase == "opening"


def held_by_all_and_standing_nowhere(walker: Walker) -> str:
    """A face of which every copy is in a hand, as the readers believe."""
    held = {face for hand in walker.state.play.hands.values() for face in hand}
    standing = {face for place, face in walker.state.play.wall.items() if place not in gone_from_wall(walker.state)}
    return min(held - standing)


def test_nobody_learns_from_the_gold_pad_what_others_hold() -> None:
    """R8: a face that stands nowhere is taken like any other, and looked at again only once all have agreed to it; the
    third time four people are believed, and a hand's reader was wrong."""
    walker = at_phase("gold", seed=2, watch=Invariants())
    face = held_by_all_and_standing_nowhere(walker)
    for _ in range(3):
        assert walker.state.play.gold is not None and walker.state.play.gold.stage == "flipping"
        (flip,) = prompts(walker, "flip").values()
        walker.feed(i.SeatAction(flip.seat, str(flip.id), "face", {"tile": face}))
        walker.feed(i.TimerElapsed(next(str(want.id) for want in wants(walker.state) if want.verb == "gold_stands")))
    assert walker.state.play.gold is not None and walker.state.play.gold.face == face
    assert walker.state.phase == "opening" and walker.state.play.corrected


def test_hand_numbers_run_on_over_matches_so_no_operation_id_comes_twice() -> None:
    walker = Walker("new-xiamen-120", hands=1, seed=1, watch=Invariants())
    walker.run()
    first = walker.state.hand
    walker.sets = walker.state.sets
    walker.run()
    assert walker.state.hand == first + 2
    assert new_state().hand == 0
