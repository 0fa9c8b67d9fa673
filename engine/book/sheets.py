"""From what people tell to a sheet that the rules settle, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine import declarations as d
from engine.book.words import LAST_TILES, End, Kong, Page, Said
from engine.chain import Refused
from engine.counting import TOUR_WAYS, water_of
from engine.declared import SeatSheet, Sheet, declare, new_sheet, settle_declared
from engine.hands import youjin_ready
from engine.melds import KONGS, counts_as_honour
from engine.outcome import HandEnd, Win
from engine.ruleset import Ruleset
from engine.scoring import buy_and_top
from engine.settlement import Settlement
from engine.tally import Items, total
from engine.tiles import SEATS
from engine.water import flower_water, gold_water, last_tile_water, set_water

AFTER_KONG = "gangshangkaihua"


@dataclass(frozen=True, slots=True)
class Frame:
    """What a hand's book stands in: the rules, who deals with how grown a base, the gold, and the chips."""

    rules: Ruleset
    dealer: str = "E"
    gold: str | None = None
    steps: int = 0
    chips: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Reckoning:
    """A version reckoned: its sheet and settlement, or why it cannot be settled yet."""

    sheet: Sheet | None
    settlement: Settlement | None
    missing: Refused | None


def reckon(frame: Frame, page: Page) -> Reckoning:
    """The settlement that a version comes to."""
    sheet = None
    try:
        sheet = sheet_of_page(frame, page)
        _check_ready(frame, page)
        return Reckoning(sheet, settle_declared(sheet, frame.chips), None)
    except Refused as refused:
        return Reckoning(sheet, None, refused)


def sheet_of_page(frame: Frame, page: Page) -> Sheet:
    """A version as the sheet that is booked; Refused when it cannot be true."""
    buy, top = buy_and_top(frame.dealer, {seat: said.bid for seat, said in page.seats.items()})
    sheet = new_sheet(frame.rules, frame.dealer, frame.gold, frame.steps, buy, top)
    for said in _declarations(frame, page):
        sheet = declare(sheet, said)
    return sheet


def own_sheet(frame: Frame, seat: str, said: Said) -> Sheet:
    """What is told of one seat by itself; Refused when it cannot be true, whatever the others hold."""
    sheet = new_sheet(frame.rules, frame.dealer, frame.gold, frame.steps)
    for one in _of_seat(frame, seat, said, None):
        sheet = declare(sheet, one)
    return sheet


def water_so_far(frame: Frame, page: Page, seat: str) -> int:
    """水 of a seat as far as it is told."""
    said = page.seats[seat]
    win = next((_whole_win(page, win) for win in page.end.wins if win.seat == seat), None)
    if not said.by_tiles:
        return total(items_of(frame.rules, said, win))
    held = SeatSheet(flowers=said.flowers, melds=said.melds, concealed=said.concealed).held(frame.gold)
    return total(water_of(frame.rules, frame.gold, held, win))


def items_of(rules: Ruleset, said: Said, win: Win | None) -> Items:
    """水 of what a seat has told by counts, by the rules' own table; a last tile is that of a 游金 alone (R22)."""
    found = [("flowers", flower_water(rules, said.flowers)), ("golds", gold_water(rules, said.golds or 0))]
    for name, suited, honour in (
        ("triplet", said.triplets_suited, said.triplets_honour),
        ("pong", said.pongs_suited, said.pongs_honour),
    ):
        found += [(name, set_water(rules, name, False))] * suited + [(name, set_water(rules, name, True))] * honour
    found += [(f"kong_{kong.kind}", set_water(rules, f"kong_{kong.kind}", kong.honour)) for kong in said.kongs]
    if said.last_tile and win is not None and win.way in TOUR_WAYS:
        found.append(("last_tile", last_tile_water(rules, *LAST_TILES[said.last_tile])))
    return tuple((name, value) for name, value in found if value)


def kongs_of(rules: Ruleset, gold: str | None, said: Said) -> tuple[Kong, ...]:
    """The kongs among entered tiles, as touches would tell them."""
    kongs = [meld for meld in said.melds if meld.kind in KONGS]
    return tuple(
        kong_of(rules, meld.kind.removeprefix("kong_"), counts_as_honour(rules, gold, meld.tiles[0])) for meld in kongs
    )


def kong_of(rules: Ruleset, kind: str, honour: bool) -> Kong:
    """A kong told; whether of honours is kept only where it counts otherwise."""
    return Kong(kind, honour and kongs_differ(rules, kind))


def kongs_differ(rules: Ruleset, kind: str) -> bool:
    """Whether a kong of honours counts otherwise than a suited one."""
    return set_water(rules, f"kong_{kind}", True) != set_water(rules, f"kong_{kind}", False)


def check_sets(rules: Ruleset, seat: str, said: Said) -> None:
    """R20: no more sets told by counts than a hand has."""
    sets = said.pongs_suited + said.pongs_honour + said.triplets_suited + said.triplets_honour + len(said.kongs)
    if sets > rules.sets:
        raise Refused("hand_size", "R20", {"seat": seat, "sets": rules.sets})


def sheet_of(rules: Ruleset, end: HandEnd) -> Sheet:
    """A played hand as a sheet with all four hands shown."""
    sheet = new_sheet(rules, end.dealer, end.gold, end.steps, end.buy, end.top)
    outcome = end.outcome
    said: list[d.Declaration] = []
    for seat, held in end.held.items():
        said += [d.FlowersHeld(seat, held.flowers), d.MeldsLaid(seat, held.melds), d.HandShown(seat, held.concealed)]
    said += [d.SeatCovered(seat) for seat in outcome.covered]
    said.append(d.PaysAll(outcome.pays_all))
    if rules.dealer_followed:
        said.append(d.DealerFollowed(outcome.no_flowers, outcome.followed))
    if outcome.foul is not None:
        said.append(d.FalseWinShown(outcome.foul.seat, outcome.foul.kind, outcome.foul.ready))
    else:
        said.append(d.HandWon(outcome.winners) if outcome.winners else d.HandDrawn(outcome.last_drawer))
    for one in said:
        sheet = declare(sheet, one)
    return sheet


def page_of(sheet: Sheet) -> Page:
    """The version that a sheet holds: of `sheet_of`, of a book that was closed, or of golds and sets that are known.

    Refused for a sheet with 水 that no count of sets comes to, such as a sum told whole.
    """
    wins = sheet.outcome.winners if sheet.outcome is not None else ()
    foul = sheet.outcome.foul if sheet.outcome is not None else None
    seats = {seat: _said_of(sheet, seat, next((win for win in wins if win.seat == seat), None)) for seat in SEATS}
    end = End(
        kind=sheet.outcome.kind if sheet.outcome is not None else "",
        wins=tuple(replace(win, tile=None, after_kong=False) for win in wins),
        foul=replace(foul, ready=()) if foul is not None else None,
        last_drawer=sheet.outcome.last_drawer if sheet.outcome is not None else None,
        covered=sheet.covered,
        pays_all=sheet.pays_all,
        no_flowers=sheet.no_flowers,
        followed=sheet.followed,
    )
    return Page(seats, end)


def _said_of(sheet: Sheet, seat: str, win: Win | None) -> Said:
    told = sheet.seats[seat]
    said = Said(
        flowers=told.flowers or (),
        golds=told.golds,
        patterns=told.patterns,
        bid=sheet.buy if seat == sheet.dealer else sheet.top[seat],
        hardness=sheet.hardness if win is not None else None,
        ready=sheet.outcome is not None and sheet.outcome.foul is not None and seat in sheet.outcome.foul.ready,
    )
    if told.concealed is not None:
        kong = win is not None and win.after_kong
        said = replace(
            said,
            by_tiles=True,
            concealed=told.concealed,
            melds=told.melds,
            tile=win.tile or "" if win is not None else "",
            patterns=(AFTER_KONG,) if kong else None,
        )
        return replace(said, kongs=kongs_of(sheet.rules, sheet.gold, said))
    if told.items is None:
        return _known_sets(sheet, said, told)
    for name, value in told.items:
        said = _counted(sheet.rules, said, name, value)
    return said


def _known_sets(sheet: Sheet, said: Said, told: SeatSheet) -> Said:
    """What a seat told, with the melds and triplets that a sheet knows of it as counts."""
    rules, gold = sheet.rules, sheet.gold
    sets = [("pongs", meld.tiles[0]) for meld in told.melds if meld.kind == "pong"]
    sets += [("triplets", face) for face in told.triplets]
    counted: dict[str, Any] = Counter(f"{name}_{_told_apart(rules, gold, name[:-1], face)}" for name, face in sets)
    return replace(said, kongs=kongs_of(rules, gold, replace(said, melds=told.melds)), **counted)


def _told_apart(rules: Ruleset, gold: str | None, kind: str, face: str) -> str:
    differ = set_water(rules, kind, True) != set_water(rules, kind, False)
    return "honour" if differ and counts_as_honour(rules, gold, face) else "suited"


def _counted(rules: Ruleset, said: Said, name: str, value: int) -> Said:
    """What a seat told, with one item of 水 turned back into the set it came from."""
    if name in ("flowers", "golds"):
        return said
    if name == "last_tile":
        for number, one in enumerate(LAST_TILES):
            if number and last_tile_water(rules, *one) == value:
                return replace(said, last_tile=number)
    elif name != "water":
        honour = next((one for one in (False, True) if set_water(rules, name, one) == value), None)
        if honour is not None:
            if name in KONGS:
                return replace(said, kongs=(*said.kongs, Kong(name.removeprefix("kong_"), honour)))
            count = f"{name}s_{'honour' if honour else 'suited'}"
            return replace(said, **{count: getattr(said, count) + 1})
    raise Refused("bad_value", "R32", {"field": name, "expected": "水 of single flowers, golds and sets"})


def _declarations(frame: Frame, page: Page) -> Iterator[d.Declaration]:
    wins = {win.seat: win for win in page.end.wins}
    for seat, said in page.seats.items():
        yield from _of_seat(frame, seat, said, wins.get(seat))
    end, rules = page.end, frame.rules
    for seat in end.covered:
        yield d.SeatCovered(seat)
    if page.pays_all is not None:
        yield d.PaysAll(page.pays_all)
    if rules.dealer_followed:
        yield d.DealerFollowed(end.no_flowers, end.followed)
    if page.hardness is not None and rules.scoring == "hardness":
        yield d.HardnessTold(page.hardness)
    if end.kind == "win":
        yield d.HandWon(tuple(_whole_win(page, win) for win in end.wins))
    elif end.kind == "foul" and page.foul is not None:
        yield d.FalseWinShown(page.foul.seat, page.foul.kind, page.foul.ready)
    elif end.kind == "draw":
        yield d.HandDrawn(end.last_drawer)


def _of_seat(frame: Frame, seat: str, said: Said, win: Win | None) -> Iterator[d.Declaration]:
    rules = frame.rules
    if rules.has_flowers:
        yield d.FlowersHeld(seat, said.flowers)
    if said.by_tiles:
        yield d.MeldsLaid(seat, said.melds)
        yield d.HandShown(seat, said.concealed)
        if win is not None and said.tile == "" and _tile_matters(rules, win):
            raise Refused("tile_missing", "R22" if win.source is None else "R32", {"seat": seat})
        return
    check_sets(rules, seat, said)
    winner = win is not None and (rules.water is not None or rules.caishen is not None)
    if said.golds is not None or winner:
        yield d.GoldsHeld(seat, said.golds or 0)
    if rules.water is not None:
        yield d.WaterTold(seat, items_of(rules, said, win))
    if rules.fans is not None and win is not None:
        yield d.PatternsTold(seat, said.patterns or ())


def _tile_matters(rules: Ruleset, win: Win) -> bool:
    """Whether points may rest on which tile a shown hand was won by."""
    return win.source is not None or (win.way in TOUR_WAYS and rules.tour_last_tile)


def _whole_win(page: Page, win: Win) -> Win:
    """A win with what the winner's tiles say of it."""
    said = page.seats[win.seat]
    if not said.by_tiles:
        return win
    return replace(win, tile=said.tile or None, after_kong=AFTER_KONG in (said.patterns or ()))


def _check_ready(frame: Frame, page: Page) -> None:
    """R22, R38: who is paid as 游金-ready and has shown his tiles waited for every tile, a drawn one dropped."""
    foul = page.foul
    for seat in foul.ready if foul is not None and page.end.kind == "foul" else ():
        said = page.seats[seat]
        if said.by_tiles and not _was_ready(frame, list(said.concealed)):
            raise Refused("not_ready", "R38", {"seat": seat})


def _was_ready(frame: Frame, tiles: list[str]) -> bool:
    if len(tiles) % 3 == 1:
        return youjin_ready(frame.rules, frame.gold, tiles)
    rests = ([*tiles[:place], *tiles[place + 1 :]] for place in range(len(tiles)))
    return any(youjin_ready(frame.rules, frame.gold, rest) for rest in rests)
