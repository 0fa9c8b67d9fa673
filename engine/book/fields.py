"""What may count for a seat under the rules of the hand, and who must say that he has said all (R32-R38)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.book.sheets import Frame, kongs_differ
from engine.book.words import KONG_KINDS, LAST_TILES, End
from engine.counting import TOUR_WAYS
from engine.declared_checks import MOST_GOLDS
from engine.melds import counts_as_honour
from engine.ruleset import Ruleset
from engine.scoring import most_bid
from engine.tiles import SEATS, is_flower
from engine.water import last_tile_water, set_water
from engine.win_checks import SELF_DRAWN


def needed(rules: Ruleset, end: End, again: Collection[str] = ()) -> tuple[str, ...]:
    """The seats that must say that they have said all: winners, losers only where their own 水 or 财神 counts, those
    who may be 游金-ready in a 重判, and who asked to change something.
    """
    return tuple(seat for seat in SEATS if seat in again or counts(rules, end, seat))


def counts(rules: Ruleset, end: End, seat: str) -> bool:
    """Whether points rest on what this seat holds."""
    if end.kind == "foul":
        return rules.foul_ready and end.foul is not None and seat != end.foul.seat and seat not in end.covered
    if end.kind != "win":
        return False
    return seat in end.winners or rules.caishen is not None or (bool(rules.offsets) and _offset(end, seat))


def fields(frame: Frame, end: End, seat: str) -> tuple[str, ...]:
    """Names of what a seat may be asked for: counts, `flowers`, `kongs`, and what is said of the whole hand."""
    rules, found = frame.rules, []
    if counts(rules, end, seat):
        found += [name for name in ("flowers", "golds", "kongs", *_SETS) if _counted(frame, name)]
        if seat in end.winners:
            found += _of_winner(rules, end, seat)
        if rules.scoring == "hardness":
            found.append("bid")
    if end.kind == "foul" and counts(rules, end, seat):
        found.append("ready")
    if rules.dealer_followed and seat == frame.dealer and end.kind != "foul":
        found.append("followed")
    if rules.last_tiles_seen_only and end.kind == "win" and seat not in end.winners:
        found.append("pays_all")
    return tuple(found)


def known_counts(frame: Frame) -> tuple[str, ...]:
    """The counts that these rules give a meaning to."""
    found = [name for name in ("golds", *_SETS) if _counted(frame, name)]
    return (*found, "last_tile") if frame.rules.tour_last_tile and frame.rules.water is not None else tuple(found)


def most(frame: Frame, name: str) -> int:
    """The greatest number taken for a count of `COUNTS`, or for a `bid` (R36: the hand's 底; 0 without bids)."""
    if name == "bid":
        return most_bid(frame.rules, frame.steps)
    if name == "last_tile":
        return max(last_tiles(frame.rules))
    return MOST_GOLDS if name == "golds" else frame.rules.sets


def last_tiles(rules: Ruleset) -> tuple[int, ...]:
    """R22: the numbers of `LAST_TILES` that these rules tell apart; none where the last tile brings nothing."""
    worth = [last_tile_water(rules, *one) if number else 0 for number, one in enumerate(LAST_TILES)]
    if worth[3] == worth[2]:
        worth.pop()
    return (0, *(number for number, value in enumerate(worth) if number and value)) if any(worth) else ()


def ways(rules: Ruleset) -> list[dict[str, Any]]:
    """The ways to win that these rules know: `source`, a giver must be named; `may`, one may be."""
    known = [str(way) for way in rules.ways if rules.knows(way)]
    return [{"way": way, "source": needs_source(way), "may": may_have_source(rules, way)} for way in known]


def needs_source(way: str) -> bool:
    """Whether somebody's tile is won by it always."""
    return way in ("pinghu", "dihu", "qianggang")


def may_have_source(rules: Ruleset, way: str) -> bool:
    """Whether somebody's tile may be won by it."""
    return way not in SELF_DRAWN and (way != "qiangjin" or rules.qiangjin == "in_play")


def honours_matter(rules: Ruleset) -> bool:
    """Whether a kong of honours counts otherwise than a suited one."""
    return any(kongs_differ(rules, kind) for kind in KONG_KINDS)


_SETS = ("pongs_suited", "pongs_honour", "triplets_suited", "triplets_honour")


def _offset(end: End, seat: str) -> bool:
    """R37, R39: losers settle among themselves, those out of the hand with nothing; a single loser with nobody."""
    return seat not in end.covered and len(end.winners) < len(SEATS) - 1


def _of_winner(rules: Ruleset, end: End, seat: str) -> list[str]:
    way = next(win.way for win in end.wins if win.seat == seat)
    found = ["last_tile"] if way in TOUR_WAYS and last_tiles(rules) else []
    found += ["patterns"] if rules.fans is not None else []
    return [*found, "hardness"] if rules.scoring == "hardness" else found


def _counted(frame: Frame, name: str) -> bool:
    rules = frame.rules
    if name == "golds":
        return rules.water is not None or rules.caishen is not None
    if rules.water is None:
        return False
    if name == "flowers":
        return rules.has_flowers
    if name == "kongs":
        return any(set_water(rules, f"kong_{kind}", honour) for kind in KONG_KINDS for honour in (False, True))
    kind, _, honour = name.partition("s_")
    return set_water(rules, kind, honour == "honour") > 0 and (honour == "suited" or _honours(frame))


def _honours(frame: Frame) -> bool:
    """R12, R32: whether any set that is not of golds can count as one of honours."""
    faces = [face for face in frame.rules.faces() if not is_flower(face) and face != frame.gold]
    return any(counts_as_honour(frame.rules, frame.gold, face) for face in faces)
