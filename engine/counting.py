"""From a hand that ended to what counts of it: 水, patterns, hardness, 财神 (R22, R32, R35, R36)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.fan import patterns
from engine.hands import complete, golds_held
from engine.melds import counts_as_honour, natural_face
from engine.outcome import Foul, HandEnd, Held, Win
from engine.ruleset import Ruleset
from engine.tally import FalseWin, Items, Tally, Winner
from engine.tiles import SEATS, is_flower
from engine.water import last_tile_water, water

TOUR_WAYS: tuple[str, ...] = ("youjin", "shuangyou", "sanyou")


@dataclass(frozen=True, slots=True)
class Told:
    """What people say in place of tiles that nobody entered: it goes before what the tiles would count."""

    water: Mapping[str, Items] = field(default_factory=dict)
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hardness: str | None = None


NOTHING_TOLD = Told()


def tally_of(rules: Ruleset, end: HandEnd, told: Told = NOTHING_TOLD) -> Tally:
    """A won or drawn hand, counted."""
    outcome = end.outcome
    wins = {win.seat: win for win in outcome.winners}
    return Tally(
        dealer=end.dealer,
        steps=end.steps,
        wins=tuple(_winner(rules, end, win, told) for win in outcome.winners),
        source=next((win.source for win in outcome.winners if win.source is not None), None),
        water={seat: _water(rules, end, seat, wins.get(seat), told) for seat in SEATS},
        covered=outcome.covered,
        pays_all=outcome.pays_all,
        last_drawer=outcome.last_drawer,
        hardness=told.hardness or (hardness_of(rules, end, outcome.winners[0]) if outcome.winners else "soft"),
        buy=end.buy,
        top=end.top,
        caishen={seat: golds_held(end.held[seat].concealed, end.gold) for seat in SEATS},
        no_flowers=outcome.no_flowers,
        followed=outcome.followed,
    )


def false_win(rules: Ruleset, end: HandEnd, foul: Foul, told: Told = NOTHING_TOLD) -> FalseWin:
    """R38: a false win, with the 水 of those who show that they were 游金-ready."""
    ready = foul.ready if rules.foul_ready else ()
    water = {seat: _water(rules, end, seat, None, told) for seat in ready}
    return FalseWin(end.dealer, end.steps, foul.seat, foul.kind, water)


def water_of(rules: Ruleset, gold: str | None, held: Held, win: Win | None) -> Items:
    """水 of one seat: a triplet that another's tile completed is not concealed; the last tile of a 游金 (R22)."""
    taken = win.tile if win is not None and win.source is not None else None
    items = water(rules, gold, held.flowers, held.concealed, held.melds, taken)
    more = _last_tile(rules, gold, held, win)
    return (*items, ("last_tile", more)) if more else tuple(items)


def hardness_of(rules: Ruleset, end: HandEnd, win: Win) -> str:
    """R36: double for 天胡 and for three 财神 in a complete hand; soft where a 财神 stands for another tile in a win
    by discard; hard otherwise.
    """
    if rules.scoring != "hardness":
        return "soft"
    tiles = end.held[win.seat].concealed
    golds = golds_held(tiles, end.gold)
    if win.way == "tianhu" or (golds >= 3 and complete(rules, end.gold, tiles)):
        return "double"
    at_home = golds == 0 or stands_for_itself(rules, end.gold, tiles)
    return "hard" if win.way != "pinghu" or golds >= 3 or at_home else "soft"


def stands_for_itself(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> bool:
    """R36 财神归位: whether the hand is complete with every gold as the tile that it is."""
    counts = Counter(natural_face(rules, gold, face) for face in concealed)
    return any(_all_sets(counts - Counter({face: 2})) for face, copies in counts.items() if copies >= 2)


def _water(rules: Ruleset, end: HandEnd, seat: str, win: Win | None, told: Told) -> Items:
    return told.water[seat] if seat in told.water else water_of(rules, end.gold, end.held[seat], win)


def _winner(rules: Ruleset, end: HandEnd, win: Win, told: Told) -> Winner:
    if rules.fans is None:
        return Winner(win.seat, win.way)
    if win.seat in told.patterns:
        return Winner(win.seat, win.way, told.patterns[win.seat])
    held = end.held[win.seat]
    return Winner(win.seat, win.way, patterns(rules, end.gold, held.concealed, held.melds, win.way, win.after_kong))


def _last_tile(rules: Ruleset, gold: str | None, held: Held, win: Win | None) -> int:
    """R22 (004): what the last tile of a 游金 brings itself: a fourth tile of an own 碰 1, of an own concealed triplet
    what a 暗杠 counts more than the triplet; a flower lies among the flowers.
    """
    if win is None or win.tile is None or win.way not in TOUR_WAYS or not rules.tour_last_tile:
        return 0
    if is_flower(win.tile) or win.tile == gold or rules.water is None:
        return 0
    face = natural_face(rules, gold, win.tile)
    if any(meld.kind == "pong" and natural_face(rules, gold, meld.tiles[0]) == face for meld in held.melds):
        return last_tile_water(rules, "pong", False)
    if held.concealed.count(win.tile) < 4:
        return 0
    return last_tile_water(rules, "triplet", counts_as_honour(rules, gold, win.tile))


def _all_sets(counts: Counter[str]) -> bool:
    """Whether natural tiles are sets alone."""
    first = min(counts, default=None)
    if first is None:
        return True
    if counts[first] >= 3 and _all_sets(counts - Counter({first: 3})):
        return True
    run = [f"{int(first[0]) + step}{first[1]}" for step in range(3)]
    return first[1] != "z" and all(counts[face] for face in run) and _all_sets(counts - Counter(run))
