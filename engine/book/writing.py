"""What an action writes on a version of the hand: a new page, or Refused when its words cannot be true by themselves.

Whether all words of a page go together is reckoned afterwards, so that nobody has to wait for another to put his right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from engine import declared_checks as checks
from engine.book import params as read
from engine.book.fields import known_counts, most, needs_source
from engine.book.params import Params
from engine.book.sheets import Frame, check_sets, kong_of, kongs_of, own_sheet
from engine.book.words import KONG_KINDS, End, Kong, Page, Said, touched
from engine.chain import Refused
from engine.declared_ends import golds_needed
from engine.outcome import Foul, Win
from engine.ruleset import Ruleset
from engine.tally import HARDNESS
from engine.tiles import SEATS, is_flower, play_order, sort_tiles

MOST_TRACES = 8
"""R40: how many discards of the dealer at most all may have followed."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes on what; `seat` is whose words they are. `playing`: play goes on, so that what was entered of a hand
    before is not held against what is touched now.
    """

    frame: Frame
    page: Page
    seat: str
    playing: bool = False

    @property
    def rules(self) -> Ruleset:
        """The rules of the hand."""
        return self.frame.rules

    @property
    def said(self) -> Said:
        """What is told of the seat so far."""
        return self.page.seats[self.seat]

    @property
    def end(self) -> End:
        """How the hand ended so far."""
        return self.page.end

    def say(self, **changes: Any) -> Page:
        """The page with another word about the seat."""
        return self.page.with_seat(self.seat, replace(self.said, **changes))

    def ended(self, **changes: Any) -> Page:
        """The page with another word about the end."""
        return self.page.with_end(replace(self.end, **changes))


Write: TypeAlias = Callable[[Writer, Params, str], Page]


@dataclass(frozen=True, slots=True)
class Writing:
    """An action that writes: how, the rule it rests on, its values; `own`: it speaks of the presser's own hand."""

    write: Write
    rule: str
    fields: tuple[str, ...]
    own: bool = True


def _flower(writer: Writer, params: Params, rule: str) -> Page:
    tile = read.flower(params, rule)
    checks.check_flowers(writer.rules, (tile,))
    for seat, said in writer.page.seats.items():
        if tile in said.flowers:
            code = "flower_twice" if seat == writer.seat else "flower_taken"
            raise Refused(code, rule, {"tile": tile, "seat": seat})
    return writer.say(flowers=tuple(sort_tiles((*writer.said.flowers, tile))))


def _unflower(writer: Writer, params: Params, rule: str) -> Page:
    tile = read.flower(params, rule)
    if tile not in writer.said.flowers:
        raise Refused("flower_not_yours", rule, {"tile": tile})
    return writer.say(flowers=tuple(face for face in writer.said.flowers if face != tile))


def _kong(writer: Writer, params: Params, rule: str) -> Page:
    kong = _kong_told(writer, params, rule)
    changed = replace(writer.said, by_tiles=False, kongs=(*writer.said.kongs, kong))
    check_sets(writer.rules, writer.seat, touched(changed) if writer.playing else changed)
    return writer.page.with_seat(writer.seat, changed)


def _unkong(writer: Writer, params: Params, rule: str) -> Page:
    kong = _kong_told(writer, params, rule)
    kongs = list(writer.said.kongs)
    if kong not in kongs:
        raise Refused("no_such_kong", rule, {"kind": kong.kind})
    kongs.remove(kong)
    return writer.say(by_tiles=False, kongs=tuple(kongs))


def _kong_told(writer: Writer, params: Params, rule: str) -> Kong:
    if writer.said.by_tiles and not writer.playing:
        raise Refused("kongs_by_tiles", rule, {"seat": writer.seat})
    honour = read.flag(params, "honour", rule, False)
    return kong_of(writer.rules, read.word(params, "kind", KONG_KINDS, rule), honour)


def _items(writer: Writer, params: Params, rule: str) -> Page:
    """Counts in place of tiles; those left out stay."""
    known = known_counts(writer.frame)
    changes: dict[str, Any] = {}
    for name in (name for name in params if name != "seat"):
        if name not in known:
            raise Refused("unknown_item", rule, {"item": name})
        changes[name] = read.whole(params, name, most(writer.frame, name), rule)
    if changes.get("golds") and writer.frame.gold is None:
        raise Refused("no_gold", "R8")
    changed = replace(writer.said, by_tiles=False, **changes)
    check_sets(writer.rules, writer.seat, changed)
    return writer.page.with_seat(writer.seat, changed)


def _tiles(writer: Writer, params: Params, rule: str) -> Page:
    """The whole hand tile by tile; its kongs, and flowers where they are given, go before those touched earlier."""
    concealed = tuple(sort_tiles(read.faces(params, "concealed", rule)))
    melds = read.melds(params, "melds", rule)
    if not concealed and not melds:
        return writer.say(by_tiles=False, concealed=(), melds=(), tile="")
    tile = read.maybe_face(params, "tile", rule)
    flowers = writer.said.flowers
    if "flowers" in params:
        flowers = tuple(sort_tiles(read.faces(params, "flowers", rule, "a list of flowers 1f-8f")))
    changed = replace(writer.said, by_tiles=True, concealed=concealed, melds=melds, tile=tile, flowers=flowers)
    own_sheet(writer.frame, writer.seat, changed)
    size = len(concealed) + 3 * len(melds)
    full = writer.rules.hand + 1
    if size not in (full - 1, full) and writer.seat not in writer.end.covered:
        raise Refused("hand_size", rule, {"seat": writer.seat, "tiles": full})
    if tile and tile not in (flowers if is_flower(tile) else concealed):
        raise Refused("tile_not_held", rule, {"tile": tile})
    return writer.page.with_seat(
        writer.seat, replace(changed, kongs=kongs_of(writer.rules, writer.frame.gold, changed))
    )


def _patterns(writer: Writer, params: Params, rule: str) -> Page:
    way = next((win.way for win in writer.end.wins if win.seat == writer.seat), None)
    patterns = read.words(params, "patterns", rule)
    checks.check_pattern_names(writer.rules, patterns)
    if way is None:
        raise Refused("not_a_winner", rule, {"seat": writer.seat})
    checks.check_patterns(patterns, way)
    return writer.say(patterns=patterns)


def _hardness(writer: Writer, params: Params, rule: str) -> Page:
    hardness = read.word(params, "hardness", HARDNESS, rule)
    checks.check_hardness(writer.rules, hardness)
    if writer.seat not in writer.end.winners:
        raise Refused("not_a_winner", rule, {"seat": writer.seat})
    return writer.say(hardness=hardness)


def _bid(writer: Writer, params: Params, rule: str) -> Page:
    """R36, P7: 买底 of the dealer, 顶底 of another; said before the hand, and put right after it."""
    if not most(writer.frame, "bid"):
        raise Refused("no_bids_here", rule)
    return writer.say(bid=read.whole(params, "points", most(writer.frame, "bid"), rule))


def _win(writer: Writer, params: Params, rule: str) -> Page:
    """R13: a seat has won; beside others only where several win on one tile, and then on the one named last."""
    seat = read.seat(params, "seat", rule, writer.seat)
    source = read.maybe_seat(params, "source", rule)
    new = Win(seat, read.text(params, "way", rule), None, source)
    if source is None and needs_source(new.way) and writer.rules.knows(new.way):
        raise Refused("whose_tile", rule, {"seat": seat, "way": new.way})
    wins = [new]
    if source is not None and writer.rules.several_winners:
        others = [replace(win, source=source) for win in writer.end.wins if win.seat != seat and win.source is not None]
        order = play_order(source)
        wins = sorted([new, *others], key=lambda win: order.index(win.seat))
    checks.check_wins(writer.rules, writer.frame.dealer, wins)
    if seat in writer.end.covered:
        raise Refused("covered_wins", "R39", {"seat": seat})
    if writer.frame.gold is None and golds_needed(new.way):
        raise Refused("no_gold", "R8")
    return writer.page.with_end(not_ended(writer.end, kind="win", wins=tuple(wins)))


def _unwin(writer: Writer, params: Params, rule: str) -> Page:
    seat = read.seat(params, "seat", rule)
    left = tuple(win for win in writer.end.wins if win.seat != seat)
    if len(left) == len(writer.end.wins):
        raise Refused("not_a_winner", rule, {"seat": seat})
    if not left:
        raise Refused("no_winner", rule)
    return writer.ended(wins=left)


def _drawn(writer: Writer, params: Params, rule: str) -> Page:
    last_drawer = read.maybe_seat(params, "last_drawer", rule)
    checks.check_draw(writer.rules, last_drawer)
    return writer.page.with_end(not_ended(writer.end, kind="draw", last_drawer=last_drawer))


def _foul(writer: Writer, params: Params, rule: str) -> Page:
    seat = read.seat(params, "seat", rule, writer.seat)
    kind = read.text(params, "kind", rule)
    checks.check_foul(writer.rules, seat, kind, ())
    if seat in writer.end.covered:
        raise Refused("covered_foul", "R39", {"seat": seat})
    return writer.page.with_end(not_ended(writer.end, kind="foul", foul=Foul(seat, kind)))


def not_ended(end: End, **changes: Any) -> End:
    """The hand goes on, or ended otherwise: what is told of it beside how it ended stays."""
    plain = replace(end, kind="", wins=(), foul=None, last_drawer=None)
    return replace(plain, **changes)


def _ready(writer: Writer, params: Params, rule: str) -> Page:
    on = read.flag(params, "on", rule)
    foul = writer.end.foul
    if foul is None or writer.end.kind != "foul":
        raise Refused("no_foul", rule)
    checks.check_foul(writer.rules, foul.seat, foul.kind, (writer.seat,) if on else ())
    if on and writer.seat in writer.end.covered:
        raise Refused("covered_ready", "R39", {"seat": writer.seat})
    return writer.say(ready=on)


def _cover(writer: Writer, params: Params, rule: str) -> Page:
    seat, on = read.seat(params, "seat", rule), read.flag(params, "on", rule)
    if on and seat in writer.end.winners:
        raise Refused("covered_wins", rule, {"seat": seat})
    if on and writer.end.foul is not None and seat == writer.end.foul.seat:
        raise Refused("covered_foul", rule, {"seat": seat})
    covered = tuple(other for other in SEATS if (on if other == seat else other in writer.end.covered))
    return writer.ended(covered=covered)


def _pays_all(writer: Writer, params: Params, rule: str) -> Page:
    seat = read.maybe_seat(params, "seat", rule)
    if seat is not None and writer.end.kind != "win":
        raise Refused("pays_all_without_win", rule)
    if seat in writer.end.winners:
        raise Refused("payer_won", rule, {"seat": seat})
    return writer.ended(pays_all=seat)


def _followed(writer: Writer, params: Params, rule: str) -> Page:
    checks.check_followed(writer.rules, 0)
    no_flowers = read.flag(params, "no_flowers", rule, writer.end.no_flowers)
    followed = read.whole(params, "followed", MOST_TRACES, rule) if "followed" in params else writer.end.followed
    return writer.ended(no_flowers=no_flowers, followed=followed)


WRITINGS: Mapping[str, Writing] = {
    "flower": Writing(_flower, "R7", ("tile",)),
    "unflower": Writing(_unflower, "R7", ("tile",)),
    "kong": Writing(_kong, "R15", ("kind", "honour")),
    "unkong": Writing(_unkong, "R15", ("kind", "honour")),
    "items": Writing(_items, "R32", ()),
    "tiles": Writing(_tiles, "R20", ("concealed", "melds", "tile", "flowers")),
    "patterns": Writing(_patterns, "R35", ("patterns",)),
    "hardness": Writing(_hardness, "R36", ("hardness",)),
    "bid": Writing(_bid, "R36", ("points",)),
    "win": Writing(_win, "R13", ("way", "seat", "source"), own=False),
    "unwin": Writing(_unwin, "R13", ("seat",), own=False),
    "drawn": Writing(_drawn, "R18", ("last_drawer",), own=False),
    "foul": Writing(_foul, "R38", ("kind", "seat"), own=False),
    "ready": Writing(_ready, "R38", ("on",)),
    "cover": Writing(_cover, "R39", ("seat", "on"), own=False),
    "pays_all": Writing(_pays_all, "R27", ("seat",), own=False),
    "followed": Writing(_followed, "R40", ("no_flowers", "followed"), own=False),
}
"""Every action that writes."""


def written(writer: Writer, action: str, params: Params) -> Page:
    """The page after an action; Refused with a code and the rule."""
    writing = WRITINGS[action]
    if action != "items":
        read.only(params, writing.rule, *writing.fields)
    return writing.write(writer, params, writing.rule)
