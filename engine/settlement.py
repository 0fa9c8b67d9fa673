"""Who pays what when a hand is over, why, and who deals next (R3, R18, R27, R30-R41).

One path answers every question about points: a finished hand is tallied, every payment is made of its reasons
(`engine.scoring`), and what a seat gets and pays is the sum of its payments. Who pays, 包赔, offsets, 课外,
the chips and the next dealer are the same for all kinds of scoring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.counting import NOTHING_TOLD, Told, false_win, tally_of
from engine.outcome import HandEnd
from engine.purses import empties_all, net_of, swept, within
from engine.reasons import Account, Reason, Transfer, payment
from engine.ruleset import Ruleset
from engine.scoring import bonus_owed, owed
from engine.tally import FalseWin, Tally, Winner, total
from engine.tiles import SEATS, next_seat, play_order

FAKED_WAYS: Mapping[str, str] = {"zhahu": "youjin", "zhayou": "shuangyou", "zhashuangyou": "sanyou"}
"""R38: what a false win pays for, where it pays what was faked."""

_ACCOUNTS: tuple[Account, ...] = ("net", "bonus")


@dataclass(frozen=True, slots=True)
class Settlement:
    """The payments of a hand, and who deals next with how grown a base; points and 课外 each sum to zero."""

    transfers: tuple[Transfer, ...]
    dealer: str
    steps: int

    @property
    def net(self) -> dict[str, int]:
        """Points of every seat."""
        return net_of(self.transfers, "net")

    @property
    def bonus(self) -> dict[str, int]:
        """课外 of every seat (R34, R38)."""
        return net_of(self.transfers, "bonus")

    @property
    def next(self) -> tuple[str, int]:
        """The next dealer, and how often the base will have grown."""
        return (self.dealer, self.steps)

    def of(self, seat: str) -> tuple[Transfer, ...]:
        """The payments that a seat makes or gets: the lines of its display."""
        return tuple(line for line in self.transfers if seat in (line.payer, line.receiver))

    def plain(self) -> dict[str, Any]:
        """The settlement as JSON data."""
        return {
            "net": self.net,
            "bonus": self.bonus,
            "next": {"dealer": self.dealer, "base_steps": self.steps},
            "transfers": [transfer.plain() for transfer in self.transfers],
        }


def foul_kinds(rules: Ruleset) -> tuple[str, ...]:
    """The false wins that these rules know (R38)."""
    if rules.foul == "none":
        return ()
    return tuple(FAKED_WAYS) if rules.foul == "way" else ("zhahu",)


def settle_outcome(
    rules: Ruleset, end: HandEnd, chips: Mapping[str, int] | None = None, told: Told = NOTHING_TOLD
) -> Settlement:
    """The settlement of a hand: 水, fan, hardness and 财神 are counted from what every seat holds, or as `told`."""
    if end.outcome.foul is not None:
        return settle_foul(rules, false_win(rules, end, end.outcome.foul, told), chips)
    return settle(rules, tally_of(rules, end, told), chips)


def settle(rules: Ruleset, tally: Tally, chips: Mapping[str, int] | None = None) -> Settlement:
    """What every seat gets and pays for a hand. The tally must be one that the rules know.

    With `chips` (what every seat holds) a loser pays no more than he has (option `debt`), and 杀三 is seen (R34, R41).
    """
    sweeping = chips is not None and rules.sanyou_sweeps and any(win.way == "sanyou" for win in tally.wins)
    paid = [*_followed(rules, tally)]
    for win in tally.wins:
        for line in _won(rules, tally, win):
            sweeps = sweeping and chips is not None and tally.pays_all is None and line.account == "net"
            paid.append(swept(line, chips) if sweeps and chips is not None else line)
    if tally.wins and not sweeping:
        paid += _offset(rules, tally)
    if tally.wins:
        paid += _caishen(rules, tally)
    if chips is not None:
        paid = paid if rules.debt else [*within(paid, chips)]
        paid += _sweep(rules, tally, net_of(paid, "net"), chips)
    return Settlement(tuple(paid), *next_deal(rules, tally))


def settle_foul(rules: Ruleset, foul: FalseWin, chips: Mapping[str, int] | None = None) -> Settlement:
    """R38: the offender pays each of the others, 重判 besides where the rules know it; dealer and 底 stay."""
    tally = Tally(foul.dealer, foul.steps)
    paid = [_fine(rules, tally, foul, other) for other in _others(foul.seat)]
    for seat, water in foul.ready.items():
        paid += _judged(rules, foul, Tally(foul.dealer, foul.steps, water={**tally.water, seat: water}), seat, chips)
    if chips is not None and not rules.debt:
        paid = [*within(paid, chips)]
    return Settlement(tuple(paid), foul.dealer, foul.steps if _grows(rules) else 0)


def next_deal(rules: Ruleset, tally: Tally) -> tuple[str, int]:
    """R3, R18: who deals next, and how often the base will have grown; 0 where it never grows."""
    dealer = _next_dealer(rules, tally)
    moved = rules.dealer_after_win == "next" if tally.wins else rules.dealer_after_draw == "next"
    return dealer, tally.steps + 1 if dealer == tally.dealer and _grows(rules) and not moved else 0


def _next_dealer(rules: Ruleset, tally: Tally) -> str:
    following = next_seat(tally.dealer)
    if not tally.wins:
        if rules.dealer_after_draw == "last_drawer" and tally.last_drawer is not None:
            return tally.last_drawer
        return following if rules.dealer_after_draw == "next" else tally.dealer
    winners = [win.seat for win in tally.wins]
    if rules.dealer_after_win == "next":
        return following
    if tally.dealer in winners:
        return tally.dealer
    if rules.dealer_after_win == "stays_or_next":
        return following
    order = play_order(tally.source or tally.dealer)
    return min(winners, key=order.index)


def _grows(rules: Ruleset) -> bool:
    return rules.scoring in ("multipliers", "hardness") or bool(rules.streak_fan)


def _others(seat: str) -> tuple[str, ...]:
    return tuple(other for other in SEATS if other != seat)


def _payers(rules: Ruleset, tally: Tally, win: Winner) -> tuple[str, ...]:
    """All three, or the discarder alone; 抢杠 counts as self-draw, so that the robbed does not pay alone (R15)."""
    if rules.payers == "discarder" and tally.source is not None and win.way != "qianggang":
        return (tally.source,)
    return _others(win.seat)


def _won(rules: Ruleset, tally: Tally, win: Winner) -> Iterator[Transfer]:
    """What a winner gets, points and then 课外; who pays for all does so in each one's place (R27)."""
    for account in _ACCOUNTS:
        for payer in _payers(rules, tally, win):
            why = owed(rules, tally, win, payer) if account == "net" else bonus_owed(rules, win.way)
            if why:
                yield _in_place(tally, payer, win.seat, account, why)


def _in_place(tally: Tally, payer: str, seat: str, account: Account, why: tuple[Reason, ...]) -> Transfer:
    notes = [Reason("covered", params={"seat": payer})] if payer in tally.covered else []
    if tally.pays_all not in (None, payer):
        notes.append(Reason("pays_all", params={"seat": payer}))
    return payment(tally.pays_all or payer, seat, account, (*why, *notes))


def _fine(rules: Ruleset, tally: Tally, foul: FalseWin, other: str) -> Transfer:
    """R38: the worth of the way faked, without 水; or a fixed fine, in points or 课外."""
    if rules.foul == "way":
        faked = FAKED_WAYS[foul.kind]
        why = owed(rules, tally, Winner(other, faked), foul.seat)
        return payment(foul.seat, other, "net", (*why, Reason("faked", params={"kind": foul.kind, "way": faked})))
    why = (Reason("fine", "add", rules.foul_points, {"kind": foul.kind}),)
    return payment(foul.seat, other, "bonus" if rules.foul == "bonus" else "net", why)


def _judged(
    rules: Ruleset, foul: FalseWin, would: Tally, seat: str, chips: Mapping[str, int] | None
) -> Iterator[Transfer]:
    """R38 重判: the offender alone pays a ready seat all that a 游金 would have brought it."""
    brought = list(_won(rules, would, Winner(seat, "youjin")))
    if chips is not None:
        brought = [*(brought if rules.debt else within(brought, chips))]
        if empties_all(net_of(brought, "net"), chips, seat):
            brought += [payment(payer, seat, "bonus", why) for payer in _others(seat) for why in _sweep_bonus(rules)]
    for line in brought:
        yield payment(foul.seat, seat, line.account, (*line.why, Reason("ready", params={"seat": line.payer})))


def _offset(rules: Ruleset, tally: Tally) -> Iterator[Transfer]:
    """R37: each pair of losers settles the difference of their 水; a covered seat's own counts 0 (R39)."""
    if rules.offsets:
        losers = [seat for seat in SEATS if seat not in [win.seat for win in tally.wins]]
        held = {seat: 0 if seat in tally.covered else total(tally.water[seat]) for seat in losers}
        yield from _differences(held, tally, "offset", 1)


def _caishen(rules: Ruleset, tally: Tally) -> Iterator[Transfer]:
    """R36: every other seat pays each holder of 财神 for each of them."""
    if rules.caishen is not None:
        yield from _differences({seat: tally.caishen[seat] for seat in SEATS}, tally, "caishen", rules.caishen)


def _differences(held: Mapping[str, int], tally: Tally, code: str, each: int) -> Iterator[Transfer]:
    """Everybody pays everybody what he holds: each pair settles the difference."""
    for seat, mine in held.items():
        for other, theirs in held.items():
            if mine > theirs:
                why = [Reason(f"{code}_theirs", "add", mine * each, {"seat": seat})]
                if theirs:
                    why.append(Reason(f"{code}_own", "add", -theirs * each, {"seat": other}))
                if other in tally.covered and code == "offset":
                    why.append(Reason("covered", params={"seat": other}))
                yield payment(other, seat, "net", tuple(why))


def _followed(rules: Ruleset, tally: Tally) -> Iterator[Transfer]:
    """R40: the dealer pays each 1 when nobody has a flower, and 1, 2, 4, … when all follow his discard."""
    if not rules.dealer_followed:
        return
    why = [Reason("no_flowers", "add", 1)] if tally.no_flowers else []
    why += [Reason("followed", "add", 2**time, {"time": time + 1}) for time in range(tally.followed)]
    for other in _others(tally.dealer) if why else ():
        yield payment(tally.dealer, other, "net", tuple(why))


def _sweep(rules: Ruleset, tally: Tally, net: Mapping[str, int], chips: Mapping[str, int]) -> Iterator[Transfer]:
    """R34, R41: 杀三, one winner who takes the last chips of all three; a classic 三游 counts as that."""
    if len(tally.wins) != 1:
        return
    win = tally.wins[0]
    if (rules.sanyou_sweeps and win.way == "sanyou") or empties_all(net, chips, win.seat):
        for payer in _others(win.seat):
            for why in _sweep_bonus(rules):
                yield _in_place(tally, payer, win.seat, "bonus", why)


def _sweep_bonus(rules: Ruleset) -> Iterator[tuple[Reason, ...]]:
    if rules.bonus and rules.clean_sweep_bonus:
        yield (Reason("bonus_sweep", "add", rules.clean_sweep_bonus),)
