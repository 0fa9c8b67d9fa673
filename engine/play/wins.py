"""By which ways a seat may win now (R13, R15, R21-R26, R29): a table of phases, ways and the judge of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, pairwise

from engine.claims import GOLDS_OF_SANJINDAO, may_claim, opening_claims
from engine.hands import Hand, complete, reading, youjin_ready
from engine.play.actions import Action, No
from engine.play.deal import Deal
from engine.play.state import PlayState, drew_flower, without
from engine.ruleset import Ruleset
from engine.ruleset_model import TOUR
from engine.tiles import FLOWERS, SEATS

GOLD_FLIPS = 3
CHAIN_OF_SANHUAYOU = 3
OPENING_WAYS: tuple[str, ...] = ("sanhuayou", "tianhu", "sanjindao", "qiangshuangyou", "qiangjin")

_DROPPING: tuple[str, ...] = ("qiangjin", "qiangshuangyou")

_COMPLETE_BY_DISCARD = frozenset({"pinghu", "dihu"})

_LEAST: Mapping[str, int] = {"any": 0, "self": 1, "youjin": 2, "shuangyou": 3}
_GREATNESS: Mapping[str, int] = {
    "pinghu": 0,
    "zimo": 1,
    "qianggang": 1,
    "youjin": 2,
    "sanhuayou": 2,
    "shuangyou": 3,
    "sanyou": 4,
}


def ways(state: PlayState, seat: str) -> Iterator[Action]:
    """Every `hu` that a seat may say now."""
    return (action for action in said(state, seat) if judge(state, seat, action) is None)


def said(state: PlayState, seat: str) -> Iterator[Action]:
    """Every `hu` that could be meant now, valid or not, the greatest ways first."""
    held = state.seats[seat]
    for way in _meant(state.deal, state.phase):
        if way in _DROPPING:
            for drop in _drops(state, seat, way):
                yield _PLAIN_HU[way] if drop == "" else Action("hu", way=way, tile=drop)
        elif held.ready or way not in TOUR:
            yield _PLAIN_HU[way]


def judge(state: PlayState, seat: str, action: Action) -> No | None:
    """Why a seat may not win so now; None when it may. The seat is one of those asked."""
    if seat not in state.asked:
        return No("already_answered", "R14") if seat in state.answers else No("not_your_turn", "R13")
    check = _JUDGES.get((state.phase, action.way))
    if check is None or action.way not in state.deal.ways:
        return No("unknown_way", "R28", {"way": action.way})
    if action.tile and (action.way not in ("qiangjin", "qiangshuangyou") or action.tile not in state.seats[seat].hand):
        return No("unknown_way", "R28", {"way": action.way})
    return check(state, seat, action)


def by_discard_alone(deal: Deal) -> bool:
    """Whether no window on a discard knows another win than by a complete hand."""
    return set(_meant(deal, "window")) <= _COMPLETE_BY_DISCARD


def _meant(deal: Deal, phase: str) -> tuple[str, ...]:
    known = deal.said.get(phase)
    if known is None:
        known = deal.said[phase] = _could_be_meant(deal, phase)
    return known


def _could_be_meant(deal: Deal, phase: str) -> tuple[str, ...]:
    """The ways of a phase that these rules know, without those that are openings alone there."""
    ways = [way for way in _WAYS_IN.get(phase, ()) if way in deal.ways]
    if phase != "opening" and deal.rules.qiangjin_window != "own_discard":
        in_play = ("qiangjin",) if deal.rules.qiangjin == "in_play" else ()
        ways = [way for way in ways if way not in _DROPPING or way in in_play]
    return tuple(ways)


def ranked_openings(state: PlayState) -> list[tuple[str, str]]:
    """R25, R26: every valid opening, the strongest first; three flowers flipped in 开金 came before all others."""
    deal = state.deal
    found = [(deal.dealer, "sanhuayou")] if flipped_flowers_win(state) else []
    if deal.gold is not None:
        found += opening_claims(deal.rules, deal.dealer, deal.gold, {seat: state.seats[seat].hand for seat in SEATS})
    return found


def holds_window(state: PlayState) -> bool:
    """R25: whether these rules know any opening, so that the window is held whatever the hands."""
    known = any(claim != "dihu" for claim in state.deal.rules.opening_priority)
    return known or flipped_flowers_win(state)


def flipped_flowers_win(state: PlayState) -> bool:
    """R26: three flowers flipped in 开金, in rules where they win for the dealer."""
    deal = state.deal
    return deal.rules.sanhuayou == "gold_flips" and deal.flips >= GOLD_FLIPS and "sanhuayou" in deal.ways


def wins_by_flowers(state: PlayState, seat: str) -> bool:
    """R26: all eight flowers held, in rules where they win at once."""
    return "shuanghuagang" in state.deal.ways and len(set(state.seats[seat].flowers)) == len(FLOWERS)


def winning_tile(state: PlayState, seat: str, way: str) -> str:
    """The tile that a win comes by: claimed, robbed, flipped, drawn, or empty for none."""
    if way in ("pinghu", "dihu", "qianggang"):
        return state.tile
    if way in ("qiangjin", "qiangshuangyou") and state.deal.rules.qiangjin != "in_play":
        return state.deal.flipped
    return state.tile if state.phase == "window" else state.drawn if state.turn == seat else ""


def golds_after(state: PlayState, seat: str) -> int:
    """Golds that a seat holds, a drawn one counted."""
    return _golds(state.seats[seat].hand, state.deal.gold)


def limit(rules: Ruleset, way: str, golds: int) -> No | None:
    """R21: whether a hand with so many golds may win by a way; openings and eight flowers know no limit."""
    if golds == 0:
        return None
    least = rules.min_way_by_gold[min(golds, 3) - 1]
    if _GREATNESS[way] >= _LEAST[least]:
        return None
    return No("least_way", "R21", {"golds": golds, "least": least})


def natural_wait(rules: Ruleset, gold: str, concealed: tuple[str, ...]) -> bool:
    """R29: whether 3n+1 tiles wait for the gold's own face, as itself: in a set, or as a pair of two golds."""
    if Hand(reading(rules, gold), concealed).ready():
        return True
    return any(complete(rules, gold, without(concealed, *two)) for two in _beside(gold, concealed))


def _golds(hand: tuple[str, ...], gold: str | None) -> int:
    return 0 if gold is None else hand.count(gold)


def _beside(face: str, concealed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Pairs of held tiles that make a set with a tile of the gold's face read as itself, golds among them."""
    near = [f"{int(face[0]) + step}{face[1]}" for step in (-2, -1, 1, 2)] if face[1] != "z" else []
    runs = {frozenset(pair) for pair in pairwise(near)}
    for pair in combinations([*near, face, face], 2):
        fits = face in pair or frozenset(pair) in runs
        if fits and all(concealed.count(tile) >= pair.count(tile) for tile in pair):
            yield pair


def _drops(state: PlayState, seat: str, way: str) -> tuple[str, ...]:
    """Tiles that a seat with one too many may drop to take the flipped gold; the empty text where it drops none."""
    hand = state.seats[seat].hand
    if way in ("qiangjin", "qiangshuangyou") and len(hand) % 3 == 2 and state.deal.rules.qiangjin != "in_play":
        late = state.phase == "turn"
        return () if late and not _keeps_opening(state, seat, way) else tuple(dict.fromkeys(hand))
    return ("",)


def _opening(state: PlayState, seat: str, action: Action) -> No | None:
    """R25: an opening while its window is held; the dealer says which tile he drops for the flipped gold."""
    deal = state.deal
    if action.way == "sanhuayou":
        valid = seat == deal.dealer and flipped_flowers_win(state)
    elif action.way in ("qiangjin", "qiangshuangyou"):
        listed = _claim(state, seat, action.way) in deal.rules.opening_priority
        valid = listed and _takes_gold(state, seat, action) is None
    else:
        gold, tiles = deal.gold, state.seats[seat].hand
        valid = gold is not None and may_claim(deal.rules, deal.dealer, gold, seat, action.way, tiles)
    return None if valid else No("no_claim", "R25", {"way": action.way})


def _takes_gold(state: PlayState, seat: str, action: Action) -> No | None:
    """抢金, 抢双游: a seat's tiles with the flipped gold, one dropped where there is one too many."""
    hand, gold = state.seats[seat].hand, state.deal.gold
    if gold is None or (len(hand) % 3 == 2) != (action.tile != ""):
        return No("no_claim", "R25", {"way": action.way})
    rest = without(hand, action.tile) if action.tile else hand
    rules = state.deal.rules
    fits = complete(rules, gold, (*rest, gold)) if action.way == "qiangjin" else youjin_ready(rules, gold, rest)
    return None if fits else No("no_claim", "R25", {"way": action.way})


def _late_opening(state: PlayState, seat: str, action: Action) -> No | None:
    """R25, 004 read literally: 抢金 until one's own first discard, with the tiles one began with."""
    foreign = action.tile != "" and seat != state.deal.dealer and action.tile != state.drawn
    if foreign or not _keeps_opening(state, seat, action.way):
        return No("no_claim", "R25", {"way": action.way})
    return _takes_gold(state, seat, action)


def _keeps_opening(state: PlayState, seat: str, way: str) -> bool:
    """R25: whether a seat still has the tiles it began with, in rules where the gold may be taken as long."""
    rules, held = state.deal.rules, state.seats[seat]
    claim = _claim(state, seat, way)
    untouched = held.discards == 0 and not held.melds and state.deal.gold is not None
    return rules.qiangjin_window == "own_discard" and untouched and claim in rules.opening_priority


def _claim(state: PlayState, seat: str, way: str) -> str:
    """A 抢金 or 抢双游 as the list of openings names it."""
    return f"{way}@{'dealer' if seat == state.deal.dealer else 'others'}"


def _zimo(state: PlayState, seat: str, action: Action) -> No | None:
    """A drawn tile completes the hand; a youjin-ready one wins as 游金 and not by less (R22)."""
    held, rules = state.seats[seat], state.deal.rules
    if state.entry == "claim":
        return No("not_drawn", "R13")
    if no := _in_last_lap(state, seat) or limit(rules, "zimo", golds_after(state, seat)):
        return no
    if held.ready:
        return No("higher_way", "R22", {"way": "youjin"})
    if drew_flower(state) or not state.deal.complete(held.hand):
        return No("not_complete", "R20")
    return None


def _tour(state: PlayState, seat: str, action: Action) -> No | None:
    """R22, R23: the owner's own draw completes the level; in another's lap and by itself it is 游金.

    A flower completes it where the rules say so (R22), and is replaced elsewhere.
    """
    rules, held, tour = state.deal.rules, state.seats[seat], state.tour
    mine = tour is not None and tour.owner == seat
    level = TOUR[tour.level - 1] if tour is not None and mine else TOUR[0]
    if action.way != level or not held.ready:
        return No("not_reached", "R22", {"way": action.way})
    if drew_flower(state) and not rules.tour_last_tile:
        return No("not_complete", "R20")
    return _in_last_lap(state, seat) or limit(rules, action.way, golds_after(state, seat))


def _in_last_lap(state: PlayState, seat: str) -> No | None:
    """R23: in a 三游 lap the others may be held to a kong's replacement."""
    tour = state.tour
    if tour is None or tour.owner == seat or tour.level < 3 or state.entry == "kong":
        return None
    return No("kong_only", "R23") if state.deal.rules.sanyou_interrupt == "kong_only" else None


def _late_sanjindao(state: PlayState, seat: str, action: Action) -> No | None:
    """R25, R31, R35: three golds held in mid-hand, in one's own turn, whatever the rest."""
    if golds_after(state, seat) < GOLDS_OF_SANJINDAO:
        return No("three_golds", "R25")
    mine = state.tour is not None and state.tour.owner == seat
    return No("tour_forced", "R23") if mine else _in_last_lap(state, seat)


def _qiangjin(state: PlayState, seat: str, action: Action) -> No | None:
    """抢金 is an opening (R25), or in mid-hand on a gold discarded or drawn (R29)."""
    if state.deal.rules.qiangjin != "in_play":
        return _late_opening(state, seat, action)
    gold, held = state.deal.gold, state.seats[seat]
    tile = state.tile if state.phase == "window" else state.drawn
    if gold is None or action.tile or tile != gold:
        return No("not_the_gold", "R29")
    if state.phase == "window":
        return _barred(state, seat) or _waits_for_gold(state, gold, held.hand)
    return _waits_for_gold(state, gold, without(held.hand, gold))


def _waits_for_gold(state: PlayState, gold: str, concealed: tuple[str, ...]) -> No | None:
    waiting = natural_wait(state.deal.rules, gold, concealed)
    return None if waiting else No("not_complete", "R20")


def _pinghu(state: PlayState, seat: str, action: Action) -> No | None:
    """R13: the discard completes the hand; without an own draw before it is 地胡 (R29)."""
    rules, gold, held = state.deal.rules, state.deal.gold, state.seats[seat]
    if state.tile == gold:
        return No("gold_not_claimable", "R11")
    if no := _barred(state, seat):
        return no
    early = "dihu" in state.deal.ways and held.draws == 0 and seat != state.deal.dealer
    if early != (action.way == "dihu"):
        return No("higher_way" if early else "not_reached", "R29", {"way": "dihu"})
    if not early and (no := limit(rules, "pinghu", _golds(held.hand, gold))):
        return no
    return None if state.deal.complete((*held.hand, state.tile)) else No("not_complete", "R20")


def _barred(state: PlayState, seat: str) -> No | None:
    """R14, R17: no win by this discard."""
    held = state.seats[seat]
    if held.locked:
        return No("locked", "R17")
    return No("missed", "R14", {"tile": state.tile}) if state.tile in held.missed else None


def _qianggang(state: PlayState, seat: str, action: Action) -> No | None:
    """R15: the tile of a 补杠 completes the hand; counts as self-draw, with no more golds than the rules allow."""
    rules, gold, held = state.deal.rules, state.deal.gold, state.seats[seat]
    golds = _golds(held.hand, gold)
    if golds > rules.rob_kong_golds:
        return No("rob_golds", "R15", {"golds": golds, "most": rules.rob_kong_golds})
    if no := limit(rules, "qianggang", golds):
        return no
    return None if state.deal.complete((*held.hand, state.tile)) else No("not_complete", "R20")


def _sanhuayou(state: PlayState, seat: str, action: Action) -> No | None:
    """R26: three flowers in one unbroken chain of draw and replacements."""
    rules = state.deal.rules
    if rules.sanhuayou != "chain" or state.chain < CHAIN_OF_SANHUAYOU:
        return No("three_flowers", "R26")
    return limit(rules, "sanhuayou", golds_after(state, seat))


_JUDGES: Mapping[tuple[str, str], Callable[[PlayState, str, Action], No | None]] = {
    **{("opening", way): _opening for way in OPENING_WAYS},
    ("turn", "sanyou"): _tour,
    ("turn", "shuangyou"): _tour,
    ("turn", "youjin"): _tour,
    ("turn", "qiangshuangyou"): _late_opening,
    ("turn", "qiangjin"): _qiangjin,
    ("turn", "sanjindao_late"): _late_sanjindao,
    ("turn", "zimo"): _zimo,
    ("flower", "sanyou"): _tour,
    ("flower", "shuangyou"): _tour,
    ("flower", "youjin"): _tour,
    ("flower", "sanhuayou"): _sanhuayou,
    ("lap", "youjin"): _tour,
    ("lap", "sanjindao_late"): _late_sanjindao,
    ("lap", "zimo"): _zimo,
    ("window", "qiangshuangyou"): _late_opening,
    ("window", "qiangjin"): _qiangjin,
    ("window", "dihu"): _pinghu,
    ("window", "pinghu"): _pinghu,
    ("rob", "qianggang"): _qianggang,
}

_WAYS_IN: Mapping[str, tuple[str, ...]] = {
    phase: tuple(way for at, way in _JUDGES if at == phase) for phase, _ in _JUDGES
}

_PLAIN_HU: Mapping[str, Action] = {way: Action("hu", way=way) for _, way in _JUDGES}
