"""What can be said against the end of a declared hand: who wins and pays, and the hands shown (R20-R29, R39)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.chain import Refused
from engine.counting import TOUR_WAYS
from engine.declared_checks import check_seat, copies_seen
from engine.fan import KONG_WAYS
from engine.hands import complete, youjin_ready
from engine.melds import KONGS
from engine.outcome import Foul, HandEnd, Held, Win
from engine.ruleset import Ruleset
from engine.tally import Items
from engine.tiles import FLOWERS, is_flower

_RANK: Mapping[str, int] = {"pinghu": 0, "zimo": 1, "qianggang": 1, "youjin": 2, "shuangyou": 3, "sanyou": 4}
_LEAST: Mapping[str, int] = {"any": 0, "self": 1, "youjin": 2, "shuangyou": 3}
_WHATEVER_THE_REST = ("sanjindao", "sanjindao_late", "shuanghuagang", "sanhuayou")
"""Ways that ask nothing of the shape."""

_GOLDS_NEEDED: Mapping[str, int] = {
    **dict.fromkeys(TOUR_WAYS, 1),
    "qiangjin": 1,
    "qiangshuangyou": 2,
    "sanjindao": 3,
    "sanjindao_late": 3,
}
"""Golds that a hand won so holds in the end, the one taken counted (R22, R25, R29)."""

_FLOWERS_NEEDED: Mapping[str, int] = {"shuanghuagang": len(FLOWERS), "sanhuayou": 3}
"""Flowers that lie before a seat that has won so (R26)."""

_BEFORE_FIRST_DISCARD = ("tianhu", "sanjindao", "qiangshuangyou")
_TAKES_FLIPPED = ("qiangjin", "qiangshuangyou")


def check_end(rules: Ruleset, end: HandEnd, golds: Mapping[str, int], shown: Sequence[str]) -> None:
    """Refused unless the hand can have ended so; `golds` are known of some seats, the tiles of those `shown`."""
    outcome = end.outcome
    winners = [win.seat for win in outcome.winners]
    for seat in outcome.covered:
        if seat in winners:
            raise Refused("covered_wins", "R39", {"seat": seat})
    if outcome.foul is not None:
        _check_foul(outcome.foul, outcome.covered)
    if outcome.pays_all is not None:
        check_seat(outcome.pays_all)
        if not winners:
            raise Refused("pays_all_without_win", "R27")
        if outcome.pays_all in winners:
            raise Refused("payer_won", "R27", {"seat": outcome.pays_all})
    _check_gold_copies(rules, end)
    for seat in shown:
        if seat not in winners and seat not in outcome.covered:
            drawn = seat == end.dealer or outcome.foul is not None
            _check_size(rules, end, seat, (rules.hand, rules.hand + 1) if drawn else (rules.hand,))
    for win in outcome.winners:
        _check_golds(rules, win, golds.get(win.seat))
        _check_flowers(win, end.held[win.seat])
        if win.seat in shown:
            _check_hand(rules, end, win)


def check_water_told(rules: Ruleset, win: Win, items: Items | None, golds: int | None) -> None:
    """R22, R32: what a winner's 水 is made of must be known where his hand is not: the items, or the golds at least;
    and the 水 told has room for the golds of the way.
    """
    if rules.water is None:
        return
    needed = golds_needed(win.way)
    if items is None:
        if golds is None:
            raise Refused("water_missing", "R22" if needed else "R32", {"seat": win.seat, "way": win.way})
        return
    room = sum(value for name, value in items if name in ("golds", "water"))
    if room < needed * rules.water.gold:
        raise Refused("golds_missing", "R22", {"way": win.way, "golds": needed})


def golds_needed(way: str) -> int:
    """R22, R25: how many golds a hand won so holds at least."""
    return _GOLDS_NEEDED.get(way, 0)


def flowers_needed(way: str) -> int:
    """R26: how many flowers lie before a seat that has won so."""
    return _FLOWERS_NEEDED.get(way, 0)


def _check_foul(foul: Foul, covered: Sequence[str]) -> None:
    """R39: a seat out of the hand lays no hand open, and is not judged again."""
    if foul.seat in covered:
        raise Refused("covered_foul", "R39", {"seat": foul.seat})
    for seat in foul.ready:
        if seat in covered:
            raise Refused("covered_ready", "R39", {"seat": seat})


def _check_gold_copies(rules: Ruleset, end: HandEnd) -> None:
    """R8, R25: the flipped gold is in no hand, unless 抢金 took it."""
    if end.gold is None or rules.gold != "flipped":
        return
    taken = rules.qiangjin == "opening" and any(win.way in _TAKES_FLIPPED for win in end.outcome.winners)
    most = rules.faces()[end.gold] - (0 if taken else 1)
    if copies_seen(end)[end.gold] > most:
        raise Refused("too_many_copies", "R8", {"tile": end.gold, "copies": most})


def _check_size(rules: Ruleset, end: HandEnd, seat: str, sizes: Sequence[int]) -> None:
    held = end.held[seat]
    if len(held.concealed) + 3 * len(held.melds) not in sizes:
        raise Refused("hand_size", "R20", {"seat": seat, "tiles": sizes[-1]})


def _check_golds(rules: Ruleset, win: Win, golds: int | None) -> None:
    """R15, R21, R22, R25: golds that the way needs, and ways that the golds allow."""
    if golds is None:
        return
    needed = golds_needed(win.way)
    if golds < needed:
        raise Refused("golds_missing", "R22", {"way": win.way, "golds": needed})
    if win.way == "qianggang" and golds > rules.rob_kong_golds:
        raise Refused("rob_golds", "R15", {"golds": rules.rob_kong_golds})
    if golds and win.way in _RANK:
        least = rules.min_way_by_gold[min(golds, 3) - 1]
        if _RANK[win.way] < _LEAST[least]:
            raise Refused("least_way", "R21", {"golds": golds, "least": least})


def _check_flowers(win: Win, held: Held) -> None:
    """R26: all eight for 双花杠, three at least for 三花游."""
    needed = flowers_needed(win.way)
    if len(held.flowers) < needed:
        raise Refused("flowers_missing", "R26", {"flowers": needed})


def _check_hand(rules: Ruleset, end: HandEnd, win: Win) -> None:
    """R20, R22: the winner's tiles are as many as they should be, complete, and were ready where they had to be."""
    held = end.held[win.seat]
    if win.way in _BEFORE_FIRST_DISCARD and held.melds:
        raise Refused("melds_before_discard", "R25", {"way": win.way})
    if win.after_kong and (win.way not in KONG_WAYS or all(meld.kind not in KONGS for meld in held.melds)):
        raise Refused("no_kong", "R35", {"seat": win.seat})
    if win.tile is not None and is_flower(win.tile):
        _check_flower_drawn(rules, end, win)
        return
    full = rules.hand + 1
    free = win.way in _WHATEVER_THE_REST
    _check_size(rules, end, win.seat, (rules.hand, full) if free else (full,))
    if win.tile is not None and win.tile not in held.concealed:
        raise Refused("tile_not_held", "R20", {"tile": win.tile})
    if not free and not complete(rules, end.gold, held.concealed):
        raise Refused("not_complete", "R20", {"seat": win.seat})
    if win.way in TOUR_WAYS or win.way == "qiangshuangyou":
        _check_ready(rules, end, win)


def _check_flower_drawn(rules: Ruleset, end: HandEnd, win: Win) -> None:
    """R22 (004): a drawn flower completes a 游金; R26: it may be the last of those that win by themselves."""
    held = end.held[win.seat]
    if win.tile not in held.flowers:
        raise Refused("tile_not_held", "R22", {"tile": str(win.tile)})
    if win.way in ("shuanghuagang", "sanhuayou"):
        return
    if win.way not in TOUR_WAYS or not rules.tour_last_tile:
        raise Refused("not_complete", "R22", {"seat": win.seat})
    _check_size(rules, end, win.seat, (rules.hand,))
    if not youjin_ready(rules, end.gold, held.concealed):
        raise Refused("not_ready", "R22", {"seat": win.seat})


def _check_ready(rules: Ruleset, end: HandEnd, win: Win) -> None:
    """R22: before the winning tile came the hand waited for every tile."""
    tiles = list(end.held[win.seat].concealed)
    last = end.gold if win.way == "qiangshuangyou" else win.tile
    for face in dict.fromkeys(tiles) if last is None else (last,):
        rest = list(tiles)
        rest.remove(face)
        if youjin_ready(rules, end.gold, rest):
            return
    raise Refused("not_ready", "R22", {"seat": win.seat})
