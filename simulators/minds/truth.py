"""What people know of a hand that they refereed themselves, once it is over and all hands lie open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.book.words import LAST_TILES
from engine.chain import Refused
from engine.counting import water_of
from engine.melds import Meld
from engine.outcome import Foul, HandEnd, Held, Outcome, Win
from engine.ruleset import Ruleset
from engine.scoring import buy_and_top
from engine.settlement import Settlement, settle_outcome
from engine.tiles import SEATS, is_flower
from engine.water import last_tile_water, set_water
from protocol.mqtt.views import SeatView
from simulators.minds.person import rules_of
from simulators.sight import Sight

Over = Mapping[str, Any]
"""`RoundSight.over`: how the hand ended."""

__all__ = ["Over", "counts_of", "expected", "held_of", "over_of", "plain_melds", "totals_of", "win_of"]


def over_of(sight: Sight) -> Over | None:
    """How the hand ended; None while it goes on, or where its people do not referee it."""
    return sight.round.over if sight.round is not None else None


def win_of(over: Over, seat: str) -> Win | None:
    """The win of a seat; None when it has not won."""
    found = next((win for win in over["winners"] if win["seat"] == seat), None)
    return None if found is None else _win(found)


def held_of(sight: Sight, over: Over, seat: str) -> Held | None:
    """What a seat has as points are worked out; None while its hand does not lie open."""
    if seat == sight.seat and "held" in over:
        told = over["held"]
        melds = tuple(Meld(meld["kind"], tuple(meld["tiles"])) for meld in told["melds"])
        return Held(tuple(told["concealed"]), melds, tuple(told["flowers"]))
    if seat not in sight.shown:
        return None
    concealed = list(sight.shown[seat])
    win = win_of(over, seat)
    if win is not None and win.tile is not None and not is_flower(win.tile) and len(concealed) % 3 == 1:
        concealed.append(win.tile)
    robbed = next((one for one in over["winners"] if one["way"] == "qianggang" and one["source"] == seat), None)
    if robbed is not None and robbed["tile"] in concealed:
        concealed.remove(robbed["tile"])
    melds = tuple(Meld(meld.kind, meld.tiles) for meld in sight.melds[seat])
    return Held(tuple(concealed), melds, sight.flowers[seat])


def expected(view: SeatView, sight: Sight) -> Settlement | None:
    """The settlement as the rules have it; None while somebody's hand or the end is not known."""
    over, rules = over_of(sight), rules_of(view)
    if over is None or rules is None or view.dealer is None:
        return None
    held = {seat: held_of(sight, over, seat) for seat in SEATS}
    known = {seat: one for seat, one in held.items() if one is not None}
    if len(known) != len(SEATS):
        return None
    gold = view.gold.face if view.gold is not None else None
    steps = view.match.steps if view.match is not None else 0
    held_chips = view.match.chips if view.match is not None else None
    chips = None if held_chips is None else {str(seat): chips for seat, chips in held_chips.items()}
    try:
        buy, top = buy_and_top(view.dealer, {str(seat): points for seat, points in (view.bids or {}).items()})
        return settle_outcome(rules, HandEnd(view.dealer, gold, _outcome(over), known, steps, buy, top), chips)
    except Refused:
        return None


def totals_of(settlement: Settlement) -> dict[str, Any]:
    """What every seat gets and pays, as a display tells it."""
    return {"net": settlement.net, "bonus": settlement.bonus}


def counts_of(rules: Ruleset, gold: str | None, held: Held, win: Win | None) -> dict[str, int]:
    """What a seat holds as numbers of what counts; kongs and flowers are touched by themselves."""
    counts = {"golds": sum(1 for face in held.concealed if face == gold)}

    for name, value in water_of(rules, gold, held, win):
        if name in ("triplet", "pong"):
            honour = value != set_water(rules, name, False)
            kind = f"{name}s_{'honour' if honour else 'suited'}"
            counts[kind] = counts.get(kind, 0) + 1
        elif name == "last_tile":
            worth = [last_tile_water(rules, *one) if number else 0 for number, one in enumerate(LAST_TILES)]
            counts[name] = worth.index(value)
    return counts


def plain_melds(held: Held) -> list[dict[str, Any]]:
    """The melds as they are entered."""
    return [{"kind": meld.kind, "tiles": list(meld.tiles)} for meld in held.melds]


def _outcome(over: Over) -> Outcome:
    foul = over["foul"]
    return Outcome(
        kind=over["kind"],
        winners=tuple(_win(win) for win in over["winners"]),
        covered=tuple(over["covered"]),
        pays_all=over["pays_all"] or None,
        last_drawer=over["last_drawer"] or None,
        foul=None if foul is None else Foul(foul["seat"], foul["kind"], tuple(foul["ready"])),
        no_flowers=bool(over["no_flowers"]),
        followed=int(over["followed"]),
    )


def _win(plain: Mapping[str, Any]) -> Win:
    return Win(plain["seat"], plain["way"], plain["tile"] or None, plain["source"] or None, bool(plain["after_kong"]))
