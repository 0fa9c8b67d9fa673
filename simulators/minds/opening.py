"""A hand up to its play: walls set up, dice, tiles taken, flowers replaced, the gold opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.tiles import SEATS, is_flower, next_seat
from protocol.mqtt.views import SeatView, Want
from simulators.minds.between import swappers
from simulators.minds.person import (
    Answering,
    Intention,
    Person,
    by_anybody,
    by_lift_key,
    check,
    chosen_thrower,
    rank_of,
    texts,
)
from simulators.minds.telling import touch_laid
from simulators.minds.walls import dealt_by_table, from_tail, gold_thrower, next_take, tail_is_off
from simulators.sight import Sight

BIDS = 0.4
"""How likely somebody bids on a hand (R36)."""
SWAP_RANKS = 5
"""The lift waits so much longer for those who have said that they will swap seats: no slow machine decides that."""

# --- what hands do ----------------------------------------------------------------------------------------------------


def clear_felt(person: Person, sight: Sight) -> Iterator[Intention]:
    """The centre is open: everything on the own side goes in."""
    if sight.centre == "up" and _lying(sight, person.seat) + len(sight.standing[person.seat]):
        yield Intention("push_in", pace="push")


def lay_row(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """八卦: the row is laid."""
    if view.phase == "row" and person.seat not in sight.rows and sight.standing[person.seat]:
        yield Intention("lay_row", pace="row")


def take_in_turn(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """Level none: the order of the takes is known from the roll, and everybody sees whose turn it is."""
    if view.phase not in ("taking", "door_roll", "door", "flowers"):
        return
    turn = next_take(view, sight)
    if turn is not None and turn[0] == person.seat and not dealt_by_table(sight, turn[1]):
        yield Intention("take", {"positions": list(turn[1])}, pace="take")


def put_flipped_right(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """R8, R9: a flipped flower goes to the dealer where the table counts it there; what is rejected is turned back."""
    gold = view.gold
    for position, face in sight.flipped.items():
        if gold is not None and gold.position == position:
            continue
        if is_flower(face):
            if view.dealer is not None and face in view.flowers.get(view.dealer, ()):
                if person.seat == view.dealer:
                    yield Intention("give_flower", {"position": position, "to": view.dealer}, pace="flip")
            elif view.phase == "gold_roll" and person.seat == gold_thrower(view):
                yield Intention("turn_back", {"position": position}, pace="flip")
        elif view.phase in ("gold_roll", "gold") and person.seat == gold_thrower(view):
            yield Intention("turn_back", {"position": position}, pace="flip")


# --- what the display asks --------------------------------------------------------------------------------------------

def _leave(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    return iter(())


def _lift(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    asked = by_lift_key(person, view, want, "lift")
    # Who has said that it will swap seats goes first (R2); nobody waits for ever.
    yield replace(asked, rank=asked.rank + SWAP_RANKS) if swappers(person.seed, view) else asked


def _push_in(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.centre == "up" and not _left_on_felt(sight):
        yield by_lift_key(person, view, want, "pushed")


def _count(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.forgotten:
        yield Intention("put_in", pace="push", rank=rank_of(person, sight.forgotten[0]))
    else:
        yield by_lift_key(person, view, want, "retry")


def _retry(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield by_anybody(person, view.dealer, want, "retry")


def _stands(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """What the machine cannot know is looked at: everybody who sees that it stands says so, else one lets it try."""
    if not _stands_done(view, sight, str(want.params.get("operation", ""))):
        yield by_anybody(person, view.dealer, want, "retry")
    elif "stands" in want.actions:
        yield Intention("stands", want=want.id)


def _stands_done(view: SeatView, sight: Sight, operation: str) -> bool:
    match operation:
        case "centre_raise" | "centre_lower":
            return sight.centre == ("up" if operation == "centre_raise" else "down")
        case "walls_raise":
            return all(sight.standing[seat] for seat in SEATS)
        case _:
            return view.take is None or not any(sight.stands(position) for position in view.take.positions)


def _row(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if len(sight.rows) == 4:
        yield by_anybody(person, _says_when_done(view), want, "ok")


def _bid(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """R36, P7: 买底 or 顶底 as chance will have it, mostly none."""
    if want.params.get("points") is None:
        yield Intention("bid", {"points": bid_of(person, view.hand, want)}, want=want.id, pace="think")


def bid_of(person: Person, hand: int, want: Want) -> int:
    """What this person bids on a hand: the same wherever it is asked."""
    chance, most = person.chance("bid", hand), want.params.get("most")
    return chance.randint(1, most) if isinstance(most, int) and most and chance.random() < BIDS else 0


def _roll(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """The thrower presses the key or the display; where anybody may throw, chance has named one of the four."""
    if sight.dice.moving or (view.phase == "gold_roll" and view.sensing == "none" and tail_is_off(view, sight)):
        return
    thrower = view.dice.by if view.dice is not None else ""
    if thrower == person.seat and person.chance("key", view.hand, want.id).random() < 0.5:
        yield Intention("press", {"key": "dice"}, want=want.id)
    elif (thrower or chosen_thrower(person.seed, view.hand)) == person.seat:
        # Nobody throws in his place where anybody may: the count starts at the thrower, so it would be another hand.
        yield Intention("roll", want=want.id)


def _dice(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving:
        return
    if view.dice_mode == "hand" and sight.dice.throw == (person.thrown_before or 0):
        yield Intention("throw", pace="flip")
        return
    by = view.dice.by if view.dice is not None else ""
    if sight.dice.values is not None:
        yield by_anybody(person, by or person.seat, want, "dice", dice=list(sight.dice.values))
    elif sight.dice.cocked and "cocked" in want.actions:
        yield by_anybody(person, by or person.seat, want, "cocked")


def _dice_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving or sight.dice.values is None:
        return
    yield from check(person, want, sorted(sight.dice.values), sorted(want.params.get("dice", ())))


def _dice_lost(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving:
        return
    stopped_since = person.thrown_before is not None and sight.dice.throw > person.thrown_before
    if stopped_since and sight.dice.values is not None:
        yield Intention("dice", {"dice": list(sight.dice.values)}, want=want.id)
    else:
        yield Intention("nobody", want=want.id)


def _take(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if "ok" in want.actions:
        if next_take(view, sight) is None and _hands_begun(sight):
            yield by_anybody(person, _says_when_done(view), want, "ok")
    elif want.params.get("seat") == person.seat:
        standing = [position for position in texts(want, "positions") if sight.stands(position)]
        if standing and not dealt_by_table(sight, standing):
            yield Intention("take", {"positions": standing}, pace="take")


def _flowers(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if "flower" in want.actions:
        yield from _flowers_touched(person, view, sight, want)
        return
    held = [face for face in texts(want, "tiles") if face in sight.hand]
    standing = [position for position in texts(want, "positions") if sight.stands(position)]
    if held:
        yield Intention("lay_flowers", {"faces": held}, pace="lay")
    elif standing:
        yield Intention("take", {"positions": standing}, pace="take")


def _flowers_touched(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """Level none: lay out, touch each on the display, take as many from the tail, in the rhythm of R7."""
    yield from touch_laid(person, view, sight, want)
    if want.verb != "flowers" or next_take(view, sight) is not None or view.dealer is None:
        return
    turn = sight.turn
    if turn is None:
        yield Intention("begin_flowers", {"dealer": view.dealer})
    elif turn.done:
        laid = {seat: sorted(faces) for seat, faces in sight.flowers.items()}
        if laid == {seat: sorted(faces) for seat, faces in view.flowers.items()}:
            yield by_anybody(person, _says_when_done(view), want, "ok")
    elif turn.seat == person.seat and turn.owed:
        tail = from_tail(view, sight, turn.owed)
        if tail:
            yield Intention("take", {"positions": tail}, pace="take")
    elif turn.seat == person.seat:
        yield Intention("lay_flowers", pace="lay")


def _tail(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield from touch_laid(person, view, sight, want)
    by = tail_is_off(view, sight)
    if by and "tail_shift" in want.actions:
        yield by_anybody(person, view.dealer, want, "tail_shift", by=by)


def _gold_face(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = str(want.params.get("position", ""))
    if position in sight.flipped:
        yield Intention("face", {"tile": sight.flipped[position]}, want=want.id)
    elif sight.stands(position):
        yield Intention("flip", {"position": position}, pace="flip")


def _gold_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = view.gold.position if view.gold is not None else None
    if position is not None and position in sight.flipped:
        yield from check(person, want, sight.flipped[position], want.params.get("tile"))


def _flip(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = str(want.params.get("position", ""))
    if sight.stands(position) and position not in sight.flipped:
        yield Intention("flip", {"position": position}, pace="flip")


def _hand_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """The hand lies as it should; the readers are believed only after a while, they may just be slow."""
    yield Intention("ok", want=want.id, rank=1)


def _left_on_felt(sight: Sight) -> bool:
    return any(sight.standing[seat] or _lying(sight, seat) for seat in SEATS)


def _lying(sight: Sight, seat: str) -> int:
    """Tiles on a side of the felt, but those of the wall."""
    melds = sum(len(meld.tiles) for meld in sight.melds[seat])
    laid = len(sight.flowers[seat]) + len(sight.discards[seat]) + melds + sight.aside[seat]
    return sight.felt[seat] + sight.counts[seat] + laid


def _says_when_done(view: SeatView) -> str:
    """Who says that all have what they need: the dealer, or the seat behind him where he has dice to enter."""
    dealer = view.dealer or "E"
    return dealer if view.dice_mode in ("read", "software") else next_seat(dealer)


def _hands_begun(sight: Sight) -> bool:
    return any(sight.counts.values())



WANTS: Mapping[str, Answering] = {
    "lift": _lift,
    "push_in": _push_in,
    "count": _count,
    "retry": _retry,
    "stands": _stands,
    "row": _row,
    "bid": _bid,
    "roll": _roll,
    "dice": _dice,
    "dice_check": _dice_check,
    "dice_lost": _dice_lost,
    "take": _take,
    "flowers": _flowers,
    "tail": _tail,
    "gold_face": _gold_face,
    "gold_check": _gold_check,
    "flip": _flip,
    "hand_check": _hand_check,
}


