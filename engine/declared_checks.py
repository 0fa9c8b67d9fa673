"""What can be said against one declaration by itself, and against the tiles of all of them together (R7-R12, R30-R40).

Every check raises Refused with a code that displays word and the rule it rests on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.chain import Refused
from engine.fan import KONG_WAYS, NAMED_BY_WAY
from engine.melds import MELD_KINDS, Meld, is_meld
from engine.outcome import HandEnd, Win
from engine.reasons import WATER_ITEMS
from engine.ruleset import Ruleset
from engine.ruleset_checks import PATTERNS
from engine.scoring import most_bid
from engine.settlement import foul_kinds
from engine.tally import HARDNESS, Items
from engine.tiles import SEATS, is_flower
from engine.win_checks import objection

MOST_GOLDS = 4
"""There are four of the gold."""
_MOST_FOLLOWED = 8


def check_seat(seat: str) -> None:
    """One of the four seats."""
    if seat not in SEATS:
        raise Refused("bad_seat", "R2", {"seat": str(seat)})


def check_number(name: str, number: int, most: int, rule: str) -> None:
    """A whole number from 0 to `most`."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise Refused("bad_number", rule, {"what": name, "most": most})


def check_gold(rules: Ruleset, gold: str | None) -> None:
    """The gold is a face of these tiles, no flower; None before 开金."""
    if gold is not None and (gold not in rules.faces() or is_flower(gold)):
        raise Refused("unknown_face", "R8", {"tile": str(gold)})


def check_bids(rules: Ruleset, dealer: str, steps: int, buy: int, top: Mapping[str, int]) -> None:
    """R36: 买底 is the dealer's, 顶底 another's; none higher than the hand's base, and only where they are known."""
    check_seat(dealer)
    check_number("base_steps", steps, 100, "R31")
    most = most_bid(rules, steps)
    check_number("buy", buy, most, "R36")
    for seat, bid in top.items():
        check_seat(seat)
        check_number("top", bid, 0 if seat == dealer else most, "R36")


def check_faces(rules: Ruleset, faces: Sequence[str]) -> None:
    """Tiles of this game, no flowers, no more of a face than there are."""
    known = rules.faces()
    for face in faces:
        if face not in known or is_flower(face):
            raise Refused("unknown_face", "R12", {"tile": str(face)})
    for face, count in Counter(faces).items():
        if count > known[face]:
            raise Refused("too_many_copies", "R12", {"tile": face, "copies": known[face]})


def check_flowers(rules: Ruleset, faces: Sequence[str]) -> None:
    """R7: flowers, each once, in a game that has them."""
    known = rules.faces()
    for face in faces:
        if face not in known or not is_flower(face):
            raise Refused("not_a_flower", "R7", {"tile": str(face)})
    if len(set(faces)) != len(faces):
        raise Refused("flower_twice", "R7")


def check_melds(rules: Ruleset, gold: str | None, melds: Sequence[Meld]) -> None:
    """R11, R15: each is what its kind says, the gold never among them; no more of them than a hand has sets."""
    for meld in melds:
        if meld.kind not in MELD_KINDS:
            raise Refused("bad_meld", "R15", {"kind": str(meld.kind)})
        check_faces(rules, meld.tiles)
        if not is_meld(rules, gold, meld):
            raise Refused("bad_meld", "R11", {"kind": meld.kind, "tiles": "".join(meld.tiles)})
    if len(melds) > rules.sets:
        raise Refused("hand_size", "R20", {"sets": rules.sets})


def check_triplets(rules: Ruleset, gold: str | None, faces: Sequence[str]) -> None:
    """R32: a concealed triplet is of natural tiles, each face once."""
    check_faces(rules, faces)
    if gold in faces or len(set(faces)) != len(faces):
        raise Refused("bad_triplet", "R32")
    if len(faces) > rules.sets:
        raise Refused("hand_size", "R20", {"sets": rules.sets})


def check_items(rules: Ruleset, items: Items) -> None:
    """R30-R33: known items, none and no sum of one kind above what a hand can hold, where the game counts 水."""
    if rules.water is None:
        raise Refused("no_water_here", "R32")
    most = most_water(rules)
    for name, value in items:
        if name != "water" and name not in WATER_ITEMS:
            raise Refused("unknown_item", "R32", {"item": str(name)})
        check_number(name, value, most[name], "R32")
    for name in dict.fromkeys(name for name, _ in items):
        check_number(name, sum(value for item, value in items if item == name), most[name], "R32")


def most_water(rules: Ruleset) -> dict[str, int]:
    """R22, R30, R32, R33: the most that each item, and `water` for all of them, can come to in one hand."""
    table = rules.water
    if table is None:
        return dict.fromkeys((*WATER_ITEMS, "water"), 0)
    sets = {
        "pong": rules.sets * max(table.pong),
        "triplet": rules.sets * max(table.triplet),
        "kong_open": rules.sets * max(table.kong_open),
        "kong_added": rules.sets * max(table.kong_open),
        "kong_concealed": rules.sets * max(table.kong_concealed),
    }
    whole_set = table.flowers[4] if rules.flower_set is None else rules.flower_set
    fourth = max(concealed - own for concealed, own in zip(table.kong_concealed, table.triplet, strict=True))
    rest = {
        "flowers": 2 * max(*table.flowers[:4], whole_set) if rules.has_flowers else 0,
        "golds": MOST_GOLDS * table.gold,
        "last_tile": max(1, fourth) if rules.tour_last_tile else 0,
    }
    return {**sets, **rest, "water": max(sets.values()) + sum(rest.values())}


def check_pattern_names(rules: Ruleset, patterns: Sequence[str]) -> None:
    """R35: patterns of basic-136, each once."""
    if rules.fans is None:
        raise Refused("no_patterns_here", "R35")
    known = (*PATTERNS, "zimo", "sanjindao")
    if any(name not in known for name in patterns) or len(set(patterns)) != len(patterns):
        raise Refused("unknown_pattern", "R35", {"patterns": ", ".join(map(str, patterns))})


def check_patterns(patterns: Sequence[str], way: str) -> None:
    """R35: patterns that go together and with the way of winning."""
    clash = "hunyise" in patterns and "qingyise" in patterns
    kong = "gangshangkaihua" in patterns and way not in KONG_WAYS
    drawn = "zimo" in patterns and way in ("pinghu", "dihu")
    if clash or kong or drawn or NAMED_BY_WAY.get(way) in patterns:
        raise Refused("patterns_clash", "R35", {"way": way, "patterns": ", ".join(patterns)})


def check_hardness(rules: Ruleset, hardness: str) -> None:
    """R36: soft, hard or double, where the game knows it."""
    if rules.scoring != "hardness" or hardness not in HARDNESS:
        raise Refused("bad_hardness", "R36", {"hardness": str(hardness)})


def check_wins(rules: Ruleset, dealer: str, wins: Sequence[Win]) -> None:
    """R13: ways that the rules know; one winner, or several on one tile of one seat."""
    if not wins:
        raise Refused("no_winner", "R13")
    seats = [win.seat for win in wins]
    for win in wins:
        check_seat(win.seat)
        if win.source is not None:
            check_seat(win.source)
        if not rules.knows(win.way):
            raise Refused("unknown_way", "R21", {"way": str(win.way)})
        wrong = objection(rules, dealer, win.source, win.seat, win.way)
        if wrong is not None:
            raise Refused(wrong.code, wrong.rule, {"seat": win.seat, "way": win.way})
        if win.tile is not None and win.tile not in rules.faces():
            raise Refused("unknown_face", "R12", {"tile": str(win.tile)})
    if len(wins) > 1 and not rules.several_winners:
        raise Refused("one_winner", "R13")
    if len(set(seats)) != len(seats):
        raise Refused("winner_twice", "R13")
    if len(wins) > 1 and (len({win.source for win in wins}) > 1 or wins[0].source is None):
        raise Refused("whose_tile", "R13", {"seat": seats[0], "way": wins[0].way})


def check_draw(rules: Ruleset, last_drawer: str | None) -> None:
    """R3, R18: who drew the last tile must be known where he deals next."""
    if rules.dealer_after_draw == "last_drawer":
        if last_drawer is None:
            raise Refused("last_drawer_missing", "R3")
        check_seat(last_drawer)


def check_foul(rules: Ruleset, seat: str, kind: str, ready: Sequence[str]) -> None:
    """R38: a false win that these rules know; 重判 where they know that, never of the offender."""
    if kind not in foul_kinds(rules):
        raise Refused("unknown_foul", "R38", {"kind": str(kind)})
    for other in ready:
        check_seat(other)
    if ready and (not rules.foul_ready or seat in ready or len(set(ready)) != len(ready)):
        raise Refused("bad_ready", "R38", {"seat": seat})


def check_followed(rules: Ruleset, followed: int) -> None:
    """R40, where the rules know 跟庄."""
    if not rules.dealer_followed:
        raise Refused("no_following_here", "R40")
    check_number("followed", followed, _MOST_FOLLOWED, "R40")


def check_tiles(rules: Ruleset, end: HandEnd, told: bool = True) -> None:
    """R7, R12: over all seats no flower twice and no more of a face than there are.

    `told`: who won is known; before that two or three hands that are shown may each hold the tile that all won on.
    """
    shared = 0 if told or not rules.several_winners else len(SEATS) - 2
    flowers = [face for held in end.held.values() for face in held.flowers]
    if len(set(flowers)) != len(flowers):
        raise Refused("flower_twice", "R7")
    known = rules.faces()
    for face, count in copies_seen(end).items():
        if count > known[face] + shared:
            raise Refused("too_many_copies", "R12", {"tile": face, "copies": known[face]})


def copies_seen(end: HandEnd) -> Counter[str]:
    """How many of each face are known to lie with the four seats; the tile that several won on is one (R13)."""
    seen: Counter[str] = Counter()
    on_it = [win for win in end.outcome.winners if win.source is not None and win.tile in end.held[win.seat].concealed]
    seen.subtract([win.tile for win in on_it[1:] if win.tile is not None])
    for held in end.held.values():
        seen.update(held.concealed)
        for meld in held.melds:
            seen.update(meld.tiles)
    return seen
