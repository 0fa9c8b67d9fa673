"""A hand at a table that reads no tiles, as people declare it, settled by the very code that settles a played one.

A `Sheet` gathers what is declared in any order; a later word about the same thing replaces the earlier. Every
declaration is checked by itself and against the others (`engine.declared_checks`), as far as what is known reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine import declarations as d
from engine import declared_checks as checks
from engine import declared_ends as ends
from engine.chain import Refused
from engine.counting import Told
from engine.hands import golds_held
from engine.melds import Meld
from engine.outcome import Foul, HandEnd, Held, Outcome, Win
from engine.ruleset import Ruleset
from engine.settlement import Settlement, settle_outcome
from engine.tally import Items
from engine.tiles import SEATS

__all__ = ["Refused", "SeatSheet", "Sheet", "declare", "new_sheet", "settle_declared"]


@dataclass(frozen=True, slots=True)
class SeatSheet:
    """What is declared of one seat; None where nothing was said."""

    flowers: tuple[str, ...] | None = None
    melds: tuple[Meld, ...] = ()
    golds: int | None = None
    triplets: tuple[str, ...] = ()
    concealed: tuple[str, ...] | None = None
    items: Items | None = None
    patterns: tuple[str, ...] | None = None

    def held(self, gold: str | None) -> Held:
        """The tiles that are known of the seat: its hand, or its golds and triplets alone."""
        if self.concealed is not None:
            return Held(self.concealed, self.melds, self.flowers or ())
        golds = (gold,) * (self.golds or 0) if gold is not None else ()
        triplets = tuple(face for face in self.triplets for _ in range(3))
        return Held((*golds, *triplets), self.melds, self.flowers or ())


@dataclass(frozen=True, slots=True)
class Sheet:
    """One hand as far as it has been declared; `steps`, `buy` and `top` as in `engine.outcome.HandEnd`."""

    rules: Ruleset
    dealer: str
    gold: str | None
    steps: int = 0
    buy: int = 0
    top: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SEATS, 0))
    seats: Mapping[str, SeatSheet] = field(default_factory=lambda: {seat: SeatSheet() for seat in SEATS})
    outcome: Outcome | None = None
    hardness: str | None = None
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    no_flowers: bool = False
    followed: int = 0

    @property
    def shown(self) -> tuple[str, ...]:
        """Seats whose whole hand was entered."""
        return tuple(seat for seat in SEATS if self.seats[seat].concealed is not None)

    @property
    def known_golds(self) -> dict[str, int]:
        """Golds of the seats of which it is known how many they hold."""
        known = [seat for seat in SEATS if seat in self.shown or self.seats[seat].golds is not None]
        told = {seat: golds for seat in SEATS if (golds := self._golds_by_water(seat)) is not None}
        return told | {seat: golds_held(self.seats[seat].held(self.gold).concealed, self.gold) for seat in known}

    def _golds_by_water(self, seat: str) -> int | None:
        """Golds as the items of 水 tell them; None where nobody told any, or only the sum."""
        items = self.seats[seat].items
        each = self.rules.water.gold if self.rules.water is not None else 0
        if items is None or not each or any(name == "water" for name, _ in items):
            return None
        return sum(value for name, value in items if name == "golds") // each

    @property
    def end(self) -> HandEnd:
        """The hand as a played one; only what was shown is held."""
        held = {seat: said.held(self.gold) for seat, said in self.seats.items()}
        outcome = replace(
            self.outcome or Outcome("draw"),
            covered=self.covered,
            pays_all=self.pays_all,
            no_flowers=self.no_flowers,
            followed=self.followed,
        )
        return HandEnd(self.dealer, self.gold, outcome, held, self.steps, self.buy, self.top)


def new_sheet(
    rules: Ruleset,
    dealer: str,
    gold: str | None,
    steps: int = 0,
    buy: int = 0,
    top: Mapping[str, int] | None = None,
) -> Sheet:
    """An empty sheet; Refused when the gold is none of the rules or a bid is higher than the hand's base (R36)."""
    bids = {**dict.fromkeys(SEATS, 0), **(top or {})}
    checks.check_gold(rules, gold)
    checks.check_bids(rules, dealer, steps, buy, bids)
    return Sheet(rules, dealer, gold, steps, buy, bids)


def declare(sheet: Sheet, said: d.Declaration) -> Sheet:
    """The sheet with one declaration more; Refused with a code and the rule when it cannot be true."""
    seat = getattr(said, "seat", None)
    if seat is not None:
        checks.check_seat(seat)
    changed: Sheet = _DECLARED[type(said)](sheet, said)
    checks.check_tiles(changed.rules, changed.end, changed.outcome is not None)
    return changed


def settle_declared(sheet: Sheet, chips: Mapping[str, int] | None = None) -> Settlement:
    """The settlement of the hand; Refused when its end is not declared, or what is declared cannot be such an end."""
    if sheet.outcome is None:
        raise Refused("no_end_declared", "R18")
    ends.check_end(sheet.rules, sheet.end, sheet.known_golds, sheet.shown)
    for win in sheet.outcome.winners:
        _need_what_counts(sheet, win)
    return settle_outcome(sheet.rules, sheet.end, chips, _told(sheet))


def _need_what_counts(sheet: Sheet, win: Win) -> None:
    """What the points of a winner rest on must be known: the hand, or what is read from it."""
    seat, said = win.seat, sheet.seats[win.seat]
    if said.concealed is not None and said.items is None:
        return
    ends.check_water_told(sheet.rules, win, said.items, said.golds)
    if said.concealed is not None:
        return
    if sheet.rules.fans is not None:
        if said.patterns is None:
            raise Refused("patterns_missing", "R35", {"seat": seat})
        checks.check_patterns(said.patterns, win.way)
    if sheet.rules.scoring == "hardness" and sheet.hardness is None:
        raise Refused("hardness_missing", "R36", {"seat": seat})


def _told(sheet: Sheet) -> Told:
    """What stands in place of tiles that nobody entered; a hand that is shown speaks for itself."""
    hidden = {seat: said for seat, said in sheet.seats.items() if said.concealed is None}
    winners = [win.seat for win in sheet.outcome.winners] if sheet.outcome else []
    return Told(
        water={seat: said.items for seat, said in sheet.seats.items() if said.items is not None},
        patterns={seat: said.patterns for seat, said in hidden.items() if said.patterns is not None},
        hardness=sheet.hardness if any(seat in hidden for seat in winners) else None,
    )


def _of_seat(sheet: Sheet, seat: str, **changes: Any) -> Sheet:
    return replace(sheet, seats={**sheet.seats, seat: replace(sheet.seats[seat], **changes)})


def _flowers(sheet: Sheet, said: d.FlowersHeld) -> Sheet:
    checks.check_flowers(sheet.rules, said.faces)
    return _of_seat(sheet, said.seat, flowers=said.faces)


def _melds(sheet: Sheet, said: d.MeldsLaid) -> Sheet:
    checks.check_melds(sheet.rules, sheet.gold, said.melds)
    return _of_seat(sheet, said.seat, melds=said.melds)


def _golds_held(sheet: Sheet, said: d.GoldsHeld) -> Sheet:
    checks.check_number("golds", said.golds, 4, "R11")
    if said.golds and sheet.gold is None:
        raise Refused("no_gold", "R8")
    return _of_seat(sheet, said.seat, golds=said.golds)


def _triplets(sheet: Sheet, said: d.TripletsHeld) -> Sheet:
    checks.check_triplets(sheet.rules, sheet.gold, said.faces)
    return _of_seat(sheet, said.seat, triplets=said.faces)


def _hand(sheet: Sheet, said: d.HandShown) -> Sheet:
    checks.check_faces(sheet.rules, said.concealed)
    return _of_seat(sheet, said.seat, concealed=said.concealed)


def _items(sheet: Sheet, said: d.WaterTold) -> Sheet:
    checks.check_items(sheet.rules, said.items)
    return _of_seat(sheet, said.seat, items=tuple((name, value) for name, value in said.items if value))


def _patterns(sheet: Sheet, said: d.PatternsTold) -> Sheet:
    checks.check_pattern_names(sheet.rules, said.patterns)
    return _of_seat(sheet, said.seat, patterns=said.patterns)


def _told_hardness(sheet: Sheet, said: d.HardnessTold) -> Sheet:
    checks.check_hardness(sheet.rules, said.hardness)
    return replace(sheet, hardness=said.hardness)


def _won(sheet: Sheet, said: d.HandWon) -> Sheet:
    checks.check_wins(sheet.rules, sheet.dealer, said.wins)
    return replace(sheet, outcome=Outcome("win", said.wins))


def _drawn(sheet: Sheet, said: d.HandDrawn) -> Sheet:
    checks.check_draw(sheet.rules, said.last_drawer)
    return replace(sheet, outcome=Outcome("draw", last_drawer=said.last_drawer))


def _foul(sheet: Sheet, said: d.FalseWinShown) -> Sheet:
    checks.check_foul(sheet.rules, said.seat, said.kind, said.ready)
    return replace(sheet, outcome=Outcome("foul", foul=Foul(said.seat, said.kind, said.ready)))


def _covered(sheet: Sheet, said: d.SeatCovered) -> Sheet:
    others = tuple(seat for seat in sheet.covered if seat != said.seat)
    return replace(sheet, covered=(*others, said.seat) if said.covered else others)


def _pays_all(sheet: Sheet, said: d.PaysAll) -> Sheet:
    return replace(sheet, pays_all=said.seat)


def _followed(sheet: Sheet, said: d.DealerFollowed) -> Sheet:
    checks.check_followed(sheet.rules, said.followed)
    return replace(sheet, no_flowers=said.no_flowers, followed=said.followed)


_DECLARED: Mapping[type[Any], Callable[[Sheet, Any], Sheet]] = {
    d.FlowersHeld: _flowers,
    d.MeldsLaid: _melds,
    d.GoldsHeld: _golds_held,
    d.TripletsHeld: _triplets,
    d.HandShown: _hand,
    d.WaterTold: _items,
    d.PatternsTold: _patterns,
    d.HardnessTold: _told_hardness,
    d.HandWon: _won,
    d.HandDrawn: _drawn,
    d.FalseWinShown: _foul,
    d.SeatCovered: _covered,
    d.PaysAll: _pays_all,
    d.DealerFollowed: _followed,
}
