"""What one seat owes one winner, as reasons: four kinds of scoring (R30, R31, R33, R35, R36), and 课外 (R34)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.fan import fan_parts
from engine.reasons import Reason
from engine.ruleset import Ruleset
from engine.tally import HARDNESS, Items, Tally, Winner
from engine.tiles import SEATS


def owed(rules: Ruleset, tally: Tally, win: Winner, payer: str) -> tuple[Reason, ...]:
    """Why one seat pays a winner: reasons that come to the amount."""
    return _SCORING[rules.scoring](rules, tally, win, payer)


def bonus_owed(rules: Ruleset, way: str) -> tuple[Reason, ...]:
    """R34: 课外 from each who pays; no reason where there is none."""
    if not rules.bonus or rules.bonus_points is None:
        return ()
    points: Mapping[str, int] = {str(name): value for name, value in rules.bonus_points.items()}
    each = points.get(way, 0)
    return (Reason("bonus_way", "add", each, {"way": way}),) if each else ()


def dealer_base(rules: Ruleset, steps: int) -> int:
    """The dealer's 底 after so many steps of growth (R31), or in the turn after so many (R36)."""
    if rules.base_series is not None:
        return rules.base_series[min(steps, len(rules.base_series) - 1)]
    assert rules.base_dealer is not None and rules.base_growth is not None
    if rules.base_growth == "double":
        return int(rules.base_dealer * 2**steps)
    return rules.base_dealer + rules.base_growth * steps


def most_bid(rules: Ruleset, steps: int) -> int:
    """R36: the most that a seat may bid as 买底 or 顶底, the hand's 底; 0 in rules without bids."""
    return dealer_base(rules, steps) if rules.scoring == "hardness" else 0


def buy_and_top(dealer: str, bids: Mapping[str, int]) -> tuple[int, dict[str, int]]:
    """R36: what the seats bid as 买底 of the dealer and 顶底 of the others; who is not in `bids` has bid nothing."""
    return bids.get(dealer, 0), {seat: 0 if seat == dealer else bids.get(seat, 0) for seat in SEATS}


def _by_bases(rules: Ruleset, tally: Tally, win: Winner, payer: str) -> tuple[Reason, ...]:
    """R30, R33."""
    return (Reason("way", "add", rules.value(win.way), {"way": win.way}), *_water(tally.water[win.seat]))


def _by_multipliers(rules: Ruleset, tally: Tally, win: Winner, payer: str) -> tuple[Reason, ...]:
    """R31: the dealer's 底 counts whenever the dealer wins or pays (option: the winner's 底 for all)."""
    assert rules.base_others is not None
    sides = (win.seat,) if rules.uniform_winner_base else (win.seat, payer)
    if tally.dealer in sides:
        base = Reason("base_dealer", "add", dealer_base(rules, tally.steps), {"seat": tally.dealer})
    else:
        base = Reason("base_others", "add", rules.base_others)
    times = Reason("multiplier", "times", rules.value(win.way), {"way": win.way})
    return (base, *_water(tally.water[win.seat]), times)


def _by_fan(rules: Ruleset, tally: Tally, win: Winner, payer: str) -> tuple[Reason, ...]:
    """R35: 连庄番 for a winning dealer, then 封顶, and all times 底."""
    assert rules.base is not None
    why = [
        Reason(_fan_code(name), "times" if name == "gangshangkaihua" else "add", value, {"way": win.way})
        for name, value in fan_parts(rules, win.way, win.patterns)
    ]
    streak = (rules.streak_fan or 0) * tally.steps
    if win.seat == tally.dealer and streak:
        why.append(Reason("fan_streak", "add", streak, {"times": tally.steps}))
    if rules.fan_cap is not None:
        why.append(Reason("fan_cap", "limit", rules.fan_cap))
    return (*why, Reason("base_fan", "times", rules.base))


def _fan_code(name: str) -> str:
    return "fan_way" if name in ("qiangjin", "tianhu", "dihu") else f"fan_{name}"


def _by_hardness(rules: Ruleset, tally: Tally, win: Winner, payer: str) -> tuple[Reason, ...]:
    """R36: between non-dealers the base of a first turn; 买底 and 顶底 touch only what passes to or from the dealer."""
    assert rules.base_series is not None and rules.hardness is not None
    times = Reason(f"hardness_{tally.hardness}", "times", rules.hardness[HARDNESS.index(tally.hardness)])
    if tally.dealer not in (win.seat, payer):
        return (Reason("base_others", "add", rules.base_series[0]), times)
    other = payer if win.seat == tally.dealer else win.seat
    base = Reason("base_dealer", "add", dealer_base(rules, tally.steps), {"seat": tally.dealer})
    bids = (
        Reason("base_buy", "add", tally.buy, {"seat": tally.dealer}),
        Reason("base_top", "add", tally.top[other], {"seat": other}),
    )
    return (base, *(bid for bid in bids if bid.number), times)


def _water(items: Items) -> tuple[Reason, ...]:
    """The winner's 水, item by item."""
    return tuple(Reason(name if name == "water" else f"water_{name}", "add", value) for name, value in items)


_SCORING: Mapping[str, Callable[[Ruleset, Tally, Winner, str], tuple[Reason, ...]]] = {
    "bases": _by_bases,
    "multipliers": _by_multipliers,
    "fan": _by_fan,
    "hardness": _by_hardness,
}
