"""Who pays what when a hand is over, and who deals next (R3, R18, R27, R30-R38).

Four kinds of scoring say what one seat pays one winner: points of the way + 水; (底 + 水) × the way's multiplier;
底 × fan; (底 + 买底 + 顶底) × hardness, 财神 apart. Who pays, 包赔, offsets among losers, 课外 and the next dealer are
the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.fan import fan_total
from engine.ruleset import Ruleset
from engine.tiles import SEATS, next_seat, play_order

FAKED_WAYS: Mapping[str, str] = {"zhahu": "youjin", "zhayou": "shuangyou", "zhashuangyou": "sanyou"}
"""R38: what a false win pays for, where it pays what was faked."""

HARDNESS: tuple[str, ...] = ("soft", "hard", "double")

NO_WATER: Mapping[str, int] = {seat: 0 for seat in SEATS}


@dataclass(frozen=True, slots=True)
class Win:
    """One seat's win: how, and the patterns beside it where fan count (R35)."""

    seat: str
    way: str
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A hand that was won by somebody, or by nobody (`wins` empty).

    `steps` is how often the dealer's base has grown (in turns of the dealer: one less than the turn). `source` is the
    discarder or the robbed. `covered` seats are under 盖牌. `pays_all` pays for all (R27).
    """

    dealer: str
    steps: int = 0
    wins: tuple[Win, ...] = ()
    source: str | None = None
    water: Mapping[str, int] = field(default_factory=lambda: NO_WATER)
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    last_drawer: str | None = None
    hardness: str = "soft"
    buy: int = 0
    top: Mapping[str, int] = field(default_factory=lambda: NO_WATER)
    caishen: Mapping[str, int] = field(default_factory=lambda: NO_WATER)


@dataclass(frozen=True, slots=True)
class Foul:
    """R38: a false win, and the 水 of the seats that were 游金-ready at that moment (重判)."""

    dealer: str
    steps: int
    seat: str
    kind: str
    ready: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settlement:
    """Points and 课外 of every seat, each summing to zero, and who deals next with how grown a base."""

    net: Mapping[str, int]
    bonus: Mapping[str, int]
    dealer: str
    steps: int


def foul_kinds(rules: Ruleset) -> tuple[str, ...]:
    """The false wins that these rules know (R38)."""
    if rules.foul == "none":
        return ()
    return tuple(FAKED_WAYS) if rules.foul == "way" else ("zhahu",)


def settle(rules: Ruleset, outcome: Outcome) -> Settlement:
    """What every seat gets and pays for a hand. The outcome must be one that the rules know."""
    net = dict.fromkeys(SEATS, 0)
    bonus = dict.fromkeys(SEATS, 0)
    for win in outcome.wins:
        for payer in _payers(rules, outcome, win):
            paying = outcome.pays_all or payer
            _pay(net, paying, win.seat, _SCORING[rules.scoring](rules, outcome, win, payer))
            _pay(bonus, paying, win.seat, _bonus(rules, win.way))
    if outcome.wins:
        _offset(rules, outcome, net)
        _pay_caishen(rules, outcome, net)
    dealer, steps = next_deal(rules, outcome)
    return Settlement(net, bonus, dealer, steps)


def settle_foul(rules: Ruleset, foul: Foul) -> Settlement:
    """R38: the offender pays each of the others, 重判 besides where the rules know it; dealer and 底 stay."""
    net = dict.fromkeys(SEATS, 0)
    bonus = dict.fromkeys(SEATS, 0)
    outcome = Outcome(foul.dealer, foul.steps)
    for other in _others(foul.seat):
        if rules.foul == "way":
            faked = Win(other, FAKED_WAYS[foul.kind])
            _pay(net, foul.seat, other, _SCORING[rules.scoring](rules, outcome, faked, foul.seat))
        else:
            _pay(bonus if rules.foul == "bonus" else net, foul.seat, other, rules.foul_points)
    for seat, water in foul.ready.items():
        would = Outcome(foul.dealer, foul.steps, water={**NO_WATER, seat: water})
        for payer in _others(seat):
            amount = _SCORING[rules.scoring](rules, would, Win(seat, "youjin"), payer)
            _pay(net, foul.seat, seat, amount)
            _pay(bonus, foul.seat, seat, _bonus(rules, "youjin"))
    return Settlement(net, bonus, foul.dealer, foul.steps if _grows(rules) else 0)


def dealer_base(rules: Ruleset, steps: int) -> int:
    """The dealer's 底 after so many steps of growth (R31), or in the turn after so many (R36)."""
    if rules.base_series is not None:
        return rules.base_series[min(steps, len(rules.base_series) - 1)]
    assert rules.base_dealer is not None and rules.base_growth is not None
    if rules.base_growth == "double":
        return int(rules.base_dealer * 2**steps)
    return rules.base_dealer + rules.base_growth * steps


def next_deal(rules: Ruleset, outcome: Outcome) -> tuple[str, int]:
    """R3, R18: who deals next, and how often the base will have grown; 0 where it never grows."""
    dealer = _next_dealer(rules, outcome)
    moved = rules.dealer_after_win == "next" if outcome.wins else rules.dealer_after_draw == "next"
    return dealer, outcome.steps + 1 if dealer == outcome.dealer and _grows(rules) and not moved else 0


def _next_dealer(rules: Ruleset, outcome: Outcome) -> str:
    following = next_seat(outcome.dealer)
    if not outcome.wins:
        if rules.dealer_after_draw == "last_drawer" and outcome.last_drawer is not None:
            return outcome.last_drawer
        return following if rules.dealer_after_draw == "next" else outcome.dealer
    winners = [win.seat for win in outcome.wins]
    if rules.dealer_after_win == "next":
        return following
    if outcome.dealer in winners:
        return outcome.dealer
    if rules.dealer_after_win == "stays_or_next":
        return following
    order = play_order(outcome.source or outcome.dealer)
    return min(winners, key=order.index)


def _grows(rules: Ruleset) -> bool:
    return rules.scoring in ("multipliers", "hardness") or bool(rules.streak_fan)


def _others(seat: str) -> tuple[str, ...]:
    return tuple(other for other in SEATS if other != seat)


def _payers(rules: Ruleset, outcome: Outcome, win: Win) -> tuple[str, ...]:
    """All three, or the discarder alone; 抢杠 counts as self-draw, so that the robbed does not pay alone (R15)."""
    if rules.payers == "discarder" and outcome.source is not None and win.way != "qianggang":
        return (outcome.source,)
    return _others(win.seat)


def _pay(account: dict[str, int], payer: str, seat: str, amount: int) -> None:
    account[payer] -= amount
    account[seat] += amount


def _by_bases(rules: Ruleset, outcome: Outcome, win: Win, payer: str) -> int:
    """R30, R33."""
    return rules.value(win.way) + outcome.water[win.seat]


def _by_multipliers(rules: Ruleset, outcome: Outcome, win: Win, payer: str) -> int:
    """R31: the dealer's 底 counts whenever the dealer wins or pays (option: the winner's 底 for all)."""
    assert rules.base_others is not None
    sides = (win.seat,) if rules.uniform_winner_base else (win.seat, payer)
    base = dealer_base(rules, outcome.steps) if outcome.dealer in sides else rules.base_others
    return (base + outcome.water[win.seat]) * rules.value(win.way)


def _by_fan(rules: Ruleset, outcome: Outcome, win: Win, payer: str) -> int:
    """R35: 连庄番 for a winning dealer, then 封顶."""
    assert rules.base is not None
    total = fan_total(rules, win.way, win.patterns)
    if win.seat == outcome.dealer:
        total += (rules.streak_fan or 0) * outcome.steps
    return rules.base * (total if rules.fan_cap is None else min(total, rules.fan_cap))


def _by_hardness(rules: Ruleset, outcome: Outcome, win: Win, payer: str) -> int:
    """R36: between non-dealers the base of a first turn; 买底 and 顶底 touch only what passes to or from the dealer."""
    assert rules.base_series is not None and rules.hardness is not None
    base = rules.base_series[0]
    if outcome.dealer in (win.seat, payer):
        other = payer if win.seat == outcome.dealer else win.seat
        base = dealer_base(rules, outcome.steps) + outcome.buy + outcome.top[other]
    return base * rules.hardness[HARDNESS.index(outcome.hardness)]


_SCORING: Mapping[str, Callable[[Ruleset, Outcome, Win, str], int]] = {
    "bases": _by_bases,
    "multipliers": _by_multipliers,
    "fan": _by_fan,
    "hardness": _by_hardness,
}


def _bonus(rules: Ruleset, way: str) -> int:
    """R34: 课外 from each who pays."""
    if not rules.bonus or rules.bonus_points is None:
        return 0
    points: Mapping[str, int] = {str(name): value for name, value in rules.bonus_points.items()}
    return points.get(way, 0)


def _offset(rules: Ruleset, outcome: Outcome, net: dict[str, int]) -> None:
    """R37: each pair of losers settles the difference of their 水; a covered seat's own counts 0 (R39)."""
    if not rules.offsets:
        return
    winners = [win.seat for win in outcome.wins]
    losers = {seat: 0 if seat in outcome.covered else outcome.water[seat] for seat in SEATS if seat not in winners}
    _share(net, losers)


def _pay_caishen(rules: Ruleset, outcome: Outcome, net: dict[str, int]) -> None:
    """R36: every other seat pays each holder of 财神 for each of them."""
    if rules.caishen is not None:
        _share(net, {seat: rules.caishen * outcome.caishen[seat] for seat in SEATS})


def _share(net: dict[str, int], held: Mapping[str, int]) -> None:
    """Everybody pays everybody what he holds: each pair settles the difference."""
    total = sum(held.values())
    for seat, amount in held.items():
        net[seat] += len(held) * amount - total
