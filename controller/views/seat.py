"""What one seat alone may see: its own tiles, what it is asked, answers to its inputs, its payments, its sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pydantic_core import to_json

from controller.live import Live, TableFacts
from controller.views.evening import lines, own_points
from controller.views.once import wanted
from engine.ruleset import load_ruleset
from engine.state import State, set_up
from engine.tiles import ALL_FACES, join_tiles, sort_tiles
from engine.wants import Want

ANSWERS_KEPT: Final = 16
"""How many of a seat's last inputs its view answers."""

HEAD_ROOM: Final = 320
"""Bytes of an envelope around a view."""

_TIMER_OF = {
    "dice_check": "dice_stands",
    "gold_check": "gold_stands",
    "opening": "window",
    "claim": "claim_window",
    "agree": "agree_clock",
    "bid": "bid_clock",
    **dict.fromkeys(("entry", "object_entry", "objection", "vote"), "entry_clock"),
}


def own(state: State, seat: str, live: Live) -> dict[str, Any]:
    """The part `me` of a seat's view."""
    device = live.devices.get(seat)
    sheet = live.sheets.get(seat)
    return {
        "seat": seat,
        "tiles": own_tiles(state, seat),
        "wants": [_want(want, state, live) for want in wanted(state) if want.seat == seat],
        "answers": [dict(answer) for answer in live.answers.get(seat, ())[-ANSWERS_KEPT:]],
        "points": own_points(state, seat),
        "lines": lines(state, seat),
        "sheet": dict(sheet) if sheet else None,
        "device": {"name": device} if device else None,
        "pairing": [dict(asked) for asked in live.pairing],
    }


def rests(state: State, live: Live) -> bool:
    """Whether nobody at the table is asked or told anything, but that a match may be begun."""
    asked = any(want.kind == "prompt" and want.verb != "start" for want in wanted(state))
    return state.phase == "idle" and not asked and not live.pairing and not live.notices and not state.faults


def fitted(me: dict[str, Any], room: int) -> bytes:
    """`me` as JSON of at most `room` bytes, with less of what matters least where it would be longer.

    What is asked and what the seat holds always stay, reasons of payments apart: they are small enough.
    """
    encoded = to_json(me)
    for shed in _SHED:
        if len(encoded) <= room:
            break
        encoded = to_json(me := {**me, **shed(me)})
    return encoded


def lasting(view: Mapping[str, Any]) -> dict[str, Any]:
    """A view without the time that its countdowns have left, to see whether anything else has changed."""
    return {name: _LASTING[name](value) if name in _LASTING and value else value for name, value in view.items()}


def own_tiles(state: State, seat: str) -> str | None:
    """A seat's own hand in tile order, as its readers see it, a tile just drawn last; None where nothing is read."""
    if state.setup is None or not state.reads_tiles or not set_up(state):
        return None
    believed, drawn = _believed(state, seat)
    seen = state.play.seen.get((seat, "hand"))
    shown = [face for face in seen if face in ALL_FACES] if seen else list(believed)
    more = list((Counter(shown) - Counter(believed)).elements())
    last = drawn if drawn in shown else more[0] if len(more) == 1 else ""
    if last:
        shown.remove(last)
    return join_tiles([*sort_tiles(shown), *([last] if last else [])])


def _believed(state: State, seat: str) -> tuple[tuple[str, ...], str]:
    """What the table believes the seat to hold, and which of it was just drawn."""
    game = state.play.game
    if game is None:
        return state.play.hands.get(seat, ()), ""
    drawn = game.drawn if game.turn == seat and game.phase in ("turn", "lap") else ""
    return game.seats[seat].hand, drawn


def _want(want: Want, state: State, live: Live) -> dict[str, Any]:
    verb, params, actions = want.verb, dict(want.params), list(want.actions)
    if verb == "start" and live.table.shut:
        verb, actions = "locked", []
    elif verb == "start":
        params |= _offered(live)
        params["fresh"] = may_begin_anew(state, live.table)
    return {
        "id": str(want.id),
        "verb": verb,
        "params": params,
        "actions": actions,
        "left_ms": _left(want, state, live),
    }


def may_begin_anew(state: State, table: TableFacts) -> bool:
    """Whether a seat may say that another party sits down: somebody has played, and no parlor has opened the table, to
    whom the evening would belong.
    """
    return state.session.agreement is not None and not table.opened


def _offered(live: Live) -> dict[str, Any]:
    """What a match would be started with unless the seat says otherwise."""
    table = live.table
    return {
        "rules": table.rules,
        "layout": table.layout,
        "rulesets": [{"name": name, "layouts": list(load_ruleset(name).layouts)} for name in table.rulesets],
        "options": dict(table.options),
        "hands": table.hands,
        "minutes": table.minutes,
        "seats": table.seats,
        "chips": load_ruleset(table.rules, table.options).chips,
    }


def _left(want: Want, state: State, live: Live) -> int | None:
    """Time left to answer, where the want ends by itself."""
    timer = _TIMER_OF.get(want.verb)
    found = next((other for other in wanted(state) if other.kind == "timer" and other.verb == timer), None)
    return None if found is None else int(live.timers.get(str(found.id), found.after_ms))


def _timeless(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**part, "left_ms": None} for part in parts]


_LASTING: Mapping[str, Callable[[Any], Any]] = {
    "window": lambda window: window["kind"],
    "notices": _timeless,
    "wants": _timeless,
}


def _fewer_answers(count: int) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda me: {"answers": me["answers"][-count:]}


def _bare(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Payments without their reasons."""
    return [{**line, "why": []} for line in lines]


def _bare_wants(me: Mapping[str, Any]) -> dict[str, Any]:
    """Prompts that show payments show them without reasons."""
    wanted = [
        {**want, "params": {**want["params"], "lines": _bare(want["params"]["lines"])}}
        if "lines" in want["params"]
        else want
        for want in me["wants"]
    ]
    return {"wants": wanted}


def _no_sheet(me: Mapping[str, Any]) -> dict[str, Any]:
    sheet = me["sheet"]
    return {"sheet": {"what": sheet["what"], "missing": "no_room"} if sheet else None}


def _steps() -> Iterator[Callable[[Mapping[str, Any]], dict[str, Any]]]:
    yield _fewer_answers(8)
    yield _no_sheet
    yield lambda me: {"pairing": me["pairing"][:2]}
    yield _fewer_answers(4)
    yield lambda me: {"lines": _bare(me["lines"])}
    yield _fewer_answers(2)
    yield _bare_wants
    yield lambda me: {"lines": []}


_SHED = tuple(_steps())
"""What goes first when a view grows too long."""
