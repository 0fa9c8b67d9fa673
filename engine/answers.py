"""What seats and table keys may answer, and what each answer does: a table of prompts and actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from engine import events as e
from engine import inputs as i
from engine.book import params as read
from engine.book.deciding import AGREEMENT, ENTRY, KEEPING, OBJECTION, VOTE
from engine.closing import unpark
from engine.deciding import Chain, Refused
from engine.dice import DiceError, check_dice
from engine.golds import after_flowers, face_stands
from engine.match import inputs as m
from engine.play import Action
from engine.refereeing import (
    action_of,
    admit,
    as_seen,
    ask_call_off,
    believe,
    done_by_hand,
    keep_on,
    play,
    rule,
)
from engine.results import DONE
from engine.sessions import ask_swap, ask_undo, end_match, may_undo, sit_down, swap_offers
from engine.settling import keep_book, tell
from engine.state import (
    UNREAD,
    current_take,
    expected_hand,
    gone_from_wall,
    held_flowers,
    next_of_tail,
    tail_drawn,
)
from engine.steps import dice_stand, record_step, sort_again, want_gold_roll, wins_by_flowers
from engine.tiles import ALL_FACES, SEATS, is_flower
from engine.wants import VOUCHERS, Want, wants


def _start(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """What the board can do and where its sets lie is not known here: who knows makes a StartMatch of this press."""
    raise Refused("start_needs_table", "P6")


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


def _stands(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """What the machine cannot know two seats can see: then it is done, as if the machine had said so."""
    key = wanted.params["step"]
    chain.add(e.OperationVouched(key, asked.seat))
    problem = next(one for one in chain.state.problems if one.key == key)
    if len(problem.vouched) < VOUCHERS:
        return
    chain.add(e.OperationStands(key))
    done = next((one for one in wants(chain.state) if one.kind == "operation" and one.id.key == key), None)
    if done is not None:
        DONE[done.verb](chain, done, {})


def _rows_ok(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.RowsLaid())


def _bid(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """R36, P7: what a seat bids on the hand; its last word counts."""
    read.only(asked.params, "R36", "points")
    points = read.whole(asked.params, "points", wanted.params["most"], "R36")
    if wanted.params["points"] == points:
        raise Refused("already_answered", "P7")
    chain.add(e.BidSaid(asked.seat, points))


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
    if seen is not None and sum(1 for dice in roll.witnesses.values() if dice and sorted(dice) == sorted(seen)) >= 2:
        chain.add(e.DiceRolled(roll.purpose, roll.by or roll.thrower or asked.seat, seen, "witnessed"))
    elif len(roll.witnesses) == 4 and not any(roll.witnesses.values()):
        chain.add(e.RollSpoilt("nobody_saw"))


def _all_taken(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.TakingDone(asked.seat))


def _not_all_taken(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.TakingResumed(asked.seat))


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
    """R26: who has laid out all eight wins before the gold is opened, in rules that know it."""
    chain.add(e.FlowersDone(asked.seat))
    if any(wins_by_flowers(chain.state, seat) for seat in SEATS):
        keep_book(chain)
    else:
        want_gold_roll(chain)


def _enter_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    tile = asked.params.get("tile")
    known = chain.state.match.rules.faces()
    if not isinstance(tile, str) or tile not in known:
        raise Refused("bad_value", "R8", {"field": "tile", "expected": "a face of these rules"})
    if is_flower(tile) and any(tile in flowers for flowers in chain.state.play.flowers.values()):
        raise Refused("flower_taken", "R8", {"tile": tile})
    turned_back = sum(passed.tile == tile and passed.why == "third_same" for passed in chain.state.play.passed)
    if turned_back >= known[tile]:
        raise Refused("no_such_tile", "R9", {"tile": tile})
    chain.add(e.GoldEntered(asked.seat, tile))


def _agree_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.GoldAgreed(asked.seat))
    gold = chain.state.play.gold
    if gold is not None and set(gold.agreed) | {gold.entered_by} == set(SEATS):
        face_stands(chain)


def _object_face(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.GoldObjected(asked.seat))


def _hand_ok(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """The seat's word settles it (a correction, journaled): as many tiles as wanted are taken as they are seen, and
    the wall is put right with them; fewer are a reader's fault, and the wall is believed.
    """
    state = chain.state
    believed = expected_hand(state, asked.seat)
    seen = _filled(state.play.seen[(asked.seat, "hand")], believed)
    if len(seen) == len(believed):
        _correct_wall(chain, asked.seat, seen, believed)
        record_step(chain, asked.seat)
        if Counter(seen) != Counter(believed):
            chain.add(e.HandAccepted(asked.seat, seen))
    else:
        record_step(chain, asked.seat)
        chain.add(e.ZoneAccepted(asked.seat, "hand", believed))
    after_flowers(chain, asked.seat)


def _filled(seen: tuple[str, ...], believed: tuple[str, ...]) -> tuple[str, ...]:
    """A reader's tiles with those it could not read taken to be what else is believed to be there."""
    rest = (Counter(believed) - Counter(seen)).elements()
    return tuple(next(rest, tile) if tile == UNREAD else tile for tile in seen)


def _correct_wall(chain: Chain, seat: str, seen: tuple[str, ...], believed: tuple[str, ...]) -> None:
    """Tiles that were taken are others than the wall's readers said: those stand elsewhere in it, and are exchanged."""
    state = chain.state
    more = list((Counter(seen) - Counter(believed)).elements())
    less = list((Counter(believed) - Counter(seen)).elements())
    take, wall = current_take(state), state.play.wall
    taken = take[2] if take is not None else next_of_tail(state, len(held_flowers(state, seat)))
    standing = [place for place in wall if place not in gone_from_wall(state) and place not in taken]
    exchanged: list[tuple[str, str]] = []
    used: set[str] = set()
    for right, wrong in zip(more, less, strict=True):
        here = next((place for place in taken if wall[place] == wrong and place not in used), None)
        there = next((place for place in reversed(standing) if wall[place] == right and place not in used), None)
        if here is None or there is None:
            raise Refused("no_such_tile", "R39", {"tile": right})
        used |= {here, there}
        exchanged += [(here, right), (there, wrong)]
    if exchanged:
        chain.add(e.WallCorrected(seat, tuple(exchanged)))


def _done_by_hand(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """The seat says that it has done its step although no reader shows it: the wall is believed."""
    believed = expected_hand(chain.state, asked.seat)
    record_step(chain, asked.seat)
    chain.add(e.ZoneAccepted(asked.seat, "hand", believed))
    after_flowers(chain, asked.seat)


def _clear_stop(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    if not chain.state.clearing:
        chain.add(e.ReleaseWanted(asked.seat))


def _claim(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """R25: an opening is claimed; the tile dropped for the flipped gold is named where one must be."""
    play(chain, asked.seat, Action("hu", tile=action_of(asked).tile, way=action_of(asked).way))


def _act(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """Anything in play: what is allowed is for the rules to say."""
    play(chain, asked.seat, action_of(asked))


def _tell(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """Anything in the book of a hand: what is allowed is for the book to say."""
    tell(chain, asked.seat, asked.action, asked.params)


def _undo(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    if not may_undo(chain.state):
        raise Refused("cannot_undo", "P5")
    ask_undo(chain, asked.seat)


def _keep(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.UndoKept(asked.seat))


def _end(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """Two different seats end the match; whoever presses first waits for the second."""
    chain.add(e.EndAsked(asked.seat))
    if len(chain.state.end_asked) > 1:
        end_match(chain, m.EndMatch())


def _go_on_playing(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    chain.add(e.EndKept(asked.seat))


def _swap(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    right = asked.params.get("right")
    allowed = swap_offers(chain.state).get(asked.seat, ())
    if right not in allowed:
        raise Refused("no_swap", "R2", {"rights": list(allowed)})
    ask_swap(chain, asked.seat, str(right))


def _seated(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    sit_down(chain, asked.seat)


def _unpark(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    unpark(chain, asked.seat)


_IN_PLAY: Mapping[str, tuple[str, ...]] = {
    "opening": ("pass",),
    "turn": (
        "hu", "kong_concealed", "kong_added", "tour_discard", "discard", "discard_down", "expose_false",
    ),
    "claim": ("hu", "kong_open", "pong", "chi", "pass", "expose_false"),
    "lap": ("hu", "kong_concealed", "kong_added", "tour_discard", "pass", "expose_false"),
    "flower": ("hu", "pass"),
}  # fmt: skip
"""Prompts of play and the actions of `engine.play` that answer them."""

_IN_BOOK: Mapping[str, tuple[str, ...]] = {
    "book": KEEPING,
    "entry": ENTRY,
    "agree": AGREEMENT,
    "object_entry": OBJECTION,
    "vote": VOTE,
}
"""Prompts of the book and the actions of `engine.book` that answer them."""

ACTIONS: Mapping[tuple[str, str], Callable[[Chain, i.SeatAction, Want], None]] = {
    ("start", "start"): _start,
    ("stopped", "clear"): _clear_stop,
    ("lift", "lift"): _lift,
    ("push_in", "pushed"): _pushed,
    ("count", "retry"): _recount,
    ("retry", "retry"): _retry,
    ("stands", "retry"): _retry,
    ("stands", "stands"): _stands,
    ("row", "ok"): _rows_ok,
    ("bid", "bid"): _bid,
    ("roll", "roll"): _throw,
    ("dice", "dice"): _enter_dice,
    ("dice", "cocked"): _cocked,
    ("dice_check", "agree"): _agree_dice,
    ("dice_check", "object"): _object_dice,
    ("dice_lost", "dice"): _witness,
    ("dice_lost", "nobody"): _witness,
    ("take", "ok"): _all_taken,
    ("take", "by_hand"): _done_by_hand,
    ("taken", "not_yet"): _not_all_taken,
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
    ("opening", "claim"): _claim,
    **{(verb, action): _act for verb, actions in _IN_PLAY.items() for action in actions},
    **{(verb, action): _tell for verb, actions in _IN_BOOK.items() for action in actions},
    ("draw", "by_hand"): done_by_hand,
    ("replace", "by_hand"): done_by_hand,
    ("lay", "by_hand"): done_by_hand,
    ("count_wrong", "ok"): believe,
    ("count_wrong", "admit"): admit,
    ("reader_check", "believed"): believe,
    ("reader_check", "seen"): as_seen,
    ("count_ruling", "believed"): rule,
    ("count_ruling", "out"): rule,
    ("call_off", "call_off"): ask_call_off,
    ("call_off", "keep"): keep_on,
    ("undo", "undo"): _undo,
    ("undo", "keep"): _keep,
    ("end", "end"): _end,
    ("end", "keep"): _go_on_playing,
    ("swap", "swap"): _swap,
    ("seats", "ok"): _seated,
    ("parked", "unpark"): _unpark,
}

KEYS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "lift": (("push_in", "pushed"), ("count", "retry"), ("retry", "retry"), ("lift", "lift")),
    "dice": (("roll", "roll"),),
}
