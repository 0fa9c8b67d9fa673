"""What seats and table keys may answer, and what each answer does: a table of prompts and actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine import events as e
from engine import inputs as i
from engine.chain import Chain, Refused
from engine.dice import DiceError, check_dice
from engine.state import expected_hand, tail_drawn
from engine.steps import (
    after_flowers,
    close_window,
    dice_stand,
    end_hand,
    face_stands,
    record_step,
    sort_again,
    want_gold_roll,
    wins_by_flowers,
)
from engine.tiles import ALL_FACES, SEATS, is_flower, play_order
from engine.wants import Want


def _start(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    raise Refused("start_needs_table")


def _lift(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.LiftPressed(asked.seat))


def _pushed(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.TilesPushed(asked.seat))


def _recount(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    sort_again(chain, wanted.params["set"])


def _retry(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    key = wanted.params["step"]
    if wanted.params["operation"] == "sort":
        sort_again(chain, int(key.rpartition("-")[2]))
    else:
        chain.add(e.OperationRetried(key, asked.seat))


def _rows_ok(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.RowsLaid())


def _throw(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.RollBegun(asked.seat))


def _enter_dice(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.DiceEntered(asked.seat, _dice_of(asked)))


def _dice_of(asked: i.SeatAction) -> tuple[int, int]:
    try:
        return check_dice(asked.params.get("dice"))
    except DiceError as error:
        raise Refused("bad_value", "R1", {"field": "dice", "expected": "two numbers 1-6"}) from error


def _cocked(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """R1: a die that leans is thrown again by the same seat; only people see it where the board does not read."""
    chain.add(e.RollSpoilt("cocked"))


def _agree_dice(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """The other three may object until they have all looked, or the time is over."""
    chain.add(e.DiceAgreed(asked.seat))
    roll = chain.state.play.roll
    if roll is not None and set(roll.agreed) | {roll.entered_by} == set(SEATS):
        dice_stand(chain, "agreed")


def _object_dice(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.DiceObjected(asked.seat))


def _witness(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """After a lost throw: two seats that saw the same settle it; only if nobody saw it is it thrown anew."""
    seen = None if asked.action == "nobody" else _dice_of(asked)
    chain.add(e.DiceWitnessed(asked.seat, seen))
    roll = chain.state.play.roll
    assert roll is not None
    if seen is not None and sum(1 for dice in roll.witnesses.values() if dice == seen) >= 2:
        chain.add(e.DiceRolled(roll.purpose, roll.by or roll.thrower or asked.seat, seen, "witnessed"))
    elif len(roll.witnesses) == 4 and not any(roll.witnesses.values()):
        chain.add(e.RollSpoilt("nobody_saw"))


def _all_taken(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.TakingDone(asked.seat))


def _flower(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    tile = _flower_of(asked)
    for seat in SEATS:
        if tile in chain.state.play.flowers[seat]:
            raise Refused("flower_taken", "R7", {"tile": tile, "seat": seat})
    chain.add(e.FlowerDeclared(asked.seat, tile))


def _unflower(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    tile = _flower_of(asked)
    if tile not in chain.state.play.flowers[asked.seat]:
        raise Refused("flower_not_yours", "R7", {"tile": tile})
    if any(passed.tile == tile and passed.to for passed in chain.state.play.passed):
        raise Refused("flower_by_gold", "R8", {"tile": tile})
    chain.add(e.FlowerWithdrawn(asked.seat, tile))


def _flower_of(asked: i.SeatAction) -> str:
    tile = asked.params.get("tile")
    if not isinstance(tile, str) or tile not in ALL_FACES or not is_flower(tile):
        raise Refused("bad_value", "R7", {"field": "tile", "expected": "a flower 1f-8f"})
    return tile


def _shift_tail(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    by = asked.params.get("by")
    if isinstance(by, bool) or by not in (1, -1):
        raise Refused("bad_value", "R7", {"field": "by", "expected": "1 or -1"})
    entered = tail_drawn(chain.state)
    if not 0 <= entered + by <= 24:
        raise Refused("bad_value", "R7", {"field": "by", "expected": "0 to 24 tiles taken from the tail"})
    chain.add(e.TailShifted(asked.seat, by))


def _flowers_ok(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.FlowersDone(asked.seat))
    want_gold_roll(chain)


def _enter_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    tile = asked.params.get("tile")
    known = chain.state.match.rules.faces()
    if not isinstance(tile, str) or tile not in known:
        raise Refused("bad_value", "R8", {"field": "tile", "expected": "a face of these rules"})
    if is_flower(tile) and any(tile in flowers for flowers in chain.state.play.flowers.values()):
        raise Refused("flower_taken", "R8", {"tile": tile})
    chain.add(e.GoldEntered(asked.seat, tile))


def _agree_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.GoldAgreed(asked.seat))
    gold = chain.state.play.gold
    if gold is not None and set(gold.agreed) | {gold.entered_by} == set(SEATS):
        face_stands(chain)


def _object_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.GoldObjected(asked.seat))


def _hand_ok(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """The seat's word settles it (a correction, journaled): as many tiles as wanted are taken as they are seen,
    fewer are a reader's fault, and the wall is believed."""
    state = chain.state
    seen = state.play.seen[(asked.seat, "hand")]
    counted_right = len(seen) == len(expected_hand(state, asked.seat))
    record_step(chain, asked.seat)
    if counted_right:
        chain.add(e.HandAccepted(asked.seat, seen))
    after_flowers(chain, asked.seat)


def _done_by_hand(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """The seat says that it has done its step although no reader shows it: the wall is believed."""
    record_step(chain, asked.seat)
    after_flowers(chain, asked.seat)


def _clear_stop(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    if not chain.state.clearing:
        chain.add(e.ReleaseWanted(asked.seat))


def _play_begins(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    for seat in play_order(chain.state.dealer):
        if wins_by_flowers(chain.state, seat):
            return end_hand(chain, seat, "shuanghuagang")
    return end_hand(chain, "", "")


def _claim(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    way = asked.params.get("way")
    if (asked.seat, way) not in chain.state.play.claims:
        raise Refused("no_claim", "R28", {"way": str(way)})
    chain.add(e.OpeningAnswered(asked.seat, str(way)))
    _close_when_all_answered(chain)


def _pass(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.OpeningAnswered(asked.seat, ""))
    _close_when_all_answered(chain)


def _close_when_all_answered(chain: Chain) -> None:
    """R13: the window ends early only when every seat has answered, whatever it holds."""
    if len(chain.state.play.answers) == 4:
        close_window(chain)


ACTIONS: Mapping[tuple[str, str], Callable[[Chain, i.SeatAction, Want], None]] = {
    ("start", "start"): _start,
    ("stopped", "clear"): _clear_stop,
    ("lift", "lift"): _lift,
    ("push_in", "pushed"): _pushed,
    ("count", "retry"): _recount,
    ("retry", "retry"): _retry,
    ("row", "ok"): _rows_ok,
    ("roll", "roll"): _throw,
    ("dice", "dice"): _enter_dice,
    ("dice", "cocked"): _cocked,
    ("dice_check", "agree"): _agree_dice,
    ("dice_check", "object"): _object_dice,
    ("dice_lost", "dice"): _witness,
    ("dice_lost", "nobody"): _witness,
    ("take", "ok"): _all_taken,
    ("take", "by_hand"): _done_by_hand,
    ("flowers", "flower"): _flower,
    ("flowers", "unflower"): _unflower,
    ("flowers", "tail_shift"): _shift_tail,
    ("flowers", "ok"): _flowers_ok,
    ("flowers", "by_hand"): _done_by_hand,
    ("tail", "flower"): _flower,
    ("tail", "unflower"): _unflower,
    ("tail", "tail_shift"): _shift_tail,
    ("gold_face", "face"): _enter_face,
    ("flip", "face"): _enter_face,
    ("gold_check", "agree"): _agree_face,
    ("gold_check", "object"): _object_face,
    ("hand_check", "ok"): _hand_ok,
    ("opening", "ok"): _play_begins,
    ("opening", "claim"): _claim,
    ("opening", "pass"): _pass,
}

KEYS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "lift": (("push_in", "pushed"), ("count", "retry"), ("retry", "retry"), ("lift", "lift")),
    "dice": (("roll", "roll"),),
}
