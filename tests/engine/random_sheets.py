"""Random declared hands: whatever people may say, in any order, as far as it is not refused."""

from __future__ import annotations

import random
from typing import Any

from engine import declarations as d
from engine.declared import Refused, Sheet, declare, new_sheet
from engine.fan import KONG_WAYS
from engine.hands import golds_held
from engine.outcome import HandEnd, Win
from engine.ruleset import Ruleset
from engine.settlement import foul_kinds
from engine.tally import HARDNESS
from engine.tiles import SEATS
from engine.water import water
from tests.engine.random_hands import FANS, some_end


def some_sheet(
    chance: random.Random, rules: Ruleset, dealer: str | None = None, steps: int | None = None
) -> tuple[Sheet, list[d.Declaration]]:
    """A sheet and what was said for it, much of it twice, corrected or in vain."""
    end = some_end(chance, rules)
    top = {seat: bid if seat != (dealer or end.dealer) else 0 for seat, bid in end.top.items()}
    begun = new_sheet(rules, dealer or end.dealer, end.gold, end.steps if steps is None else steps, end.buy, top)
    sheet, said = begun, []
    for one in _told(chance, rules, end):
        try:
            sheet = declare(sheet, one)
        except Refused:
            continue
        said.append(one)
    return begun, said


def _told(chance: random.Random, rules: Ruleset, end: HandEnd) -> list[d.Declaration]:
    told: list[Any] = []
    for seat in SEATS:
        own = end.held[seat]
        items = water(rules, end.gold, own.flowers, own.concealed, own.melds)
        golds = golds_held(own.concealed, end.gold)
        triplets = tuple(face for face in dict.fromkeys(own.concealed) if own.concealed.count(face) >= 3)
        told += [
            d.FlowersHeld(seat, own.flowers),
            d.FlowersHeld(seat, own.flowers[:1]),
            d.MeldsLaid(seat, own.melds),
            d.MeldsLaid(seat, ()),
            d.GoldsHeld(seat, golds),
            d.TripletsHeld(seat, tuple(face for face in triplets if face != end.gold)),
            d.HandShown(seat, own.concealed),
            d.WaterTold(seat, tuple(items)),
            d.WaterTold(seat, (("water", sum(value for _, value in items)),)),
            d.PatternsTold(seat, tuple(name for name in FANS if chance.random() < 0.2)),
            d.SeatCovered(seat, chance.random() < 0.5),
        ]
    told = chance.sample(told, chance.randint(0, len(told)))
    told += [d.HardnessTold(chance.choice(HARDNESS)), d.DealerFollowed(end.outcome.no_flowers, end.outcome.followed)]
    told += [d.PaysAll(end.outcome.pays_all)]
    chance.shuffle(told)
    for win in end.outcome.winners if chance.random() < 0.7 else ():
        patterns = d.PatternsTold(win.seat, ())
        told += [d.MeldsLaid(win.seat, ()), d.WaterTold(win.seat, (("water", 4),)), patterns, d.PaysAll(None)]
    told.append(_ended(chance, rules, end))
    return told


def _ended(chance: random.Random, rules: Ruleset, end: HandEnd) -> d.Declaration:
    outcome = end.outcome
    if outcome.foul is not None:
        return d.FalseWinShown(outcome.foul.seat, outcome.foul.kind, outcome.foul.ready)
    if outcome.winners and rules.several_winners and chance.random() < 0.5:
        source = chance.choice(SEATS)
        others = [seat for seat in SEATS if seat != source][: chance.randint(1, 3)]
        return d.HandWon(tuple(Win(seat, "pinghu", "3m", source) for seat in others))
    if outcome.winners:
        (win,) = outcome.winners
        return d.HandWon((Win(win.seat, win.way, win.tile, win.source, win.way in KONG_WAYS and win.after_kong),))
    return d.HandDrawn(outcome.last_drawer)


def booked_somehow(chance: random.Random, rules: Ruleset, dealer: str, steps: int) -> list[d.Declaration]:
    """What settles for certain: a win told by 水, patterns and hardness, a draw, or a false win."""
    kind = chance.random()
    if kind < 0.1 and foul_kinds(rules):
        return [d.FalseWinShown(chance.choice(SEATS), chance.choice(foul_kinds(rules)))]
    if kind < 0.2:
        return [d.HandDrawn(chance.choice(SEATS) if rules.dealer_after_draw == "last_drawer" else None)]
    seat = chance.choice(SEATS)
    said: list[d.Declaration] = []
    if rules.water is not None:
        said = [d.WaterTold(other, (("water", chance.randint(1, 6)),)) for other in SEATS]
    if rules.fans is not None:
        said.append(d.PatternsTold(seat, ("menqing",)))
    if rules.scoring == "hardness":
        said += [d.HardnessTold("soft"), d.GoldsHeld(seat, 0)]
    return [*said, d.HandWon((Win(seat, "zimo"),))]
