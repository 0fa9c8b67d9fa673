"""The acts of the world channel by name: what each needs of a request, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from engine.dice import Dice, DiceError, check_dice
from engine.play import Action
from engine.ruleset import RulesetError, load_ruleset
from engine.tiles import SEATS
from simulators import laying
from simulators.round import Round
from simulators.sight import public_sight, seat_sight
from simulators.world import World, WorldError

Request: TypeAlias = Mapping[str, Any]
_LAYOUTS = ("zhitui", "bagua")


def perform(world: World, act: str, request: Request) -> dict[str, Any]:
    """Carry out one act of a person; WorldError names what was wrong with it."""
    carry_out = _ACTS.get(act)
    if carry_out is None:
        raise WorldError(f"no act {act!r}: see docs/simulators.md for the acts")
    return carry_out(world, request) or {}


def text_of(request: Request, name: str, usual: str | None = None) -> str:
    """A text of a request; WorldError when it is none, or left out without a usual one."""
    value = request.get(name, usual)
    if not isinstance(value, str):
        raise WorldError(f"{name}: expected a text, got {value!r}")
    return value


def seat_of(request: Request, name: str = "seat") -> str:
    """A seat of a request; WorldError when it is none."""
    value = request.get(name)
    if value not in SEATS:
        raise WorldError(f"{name}: expected E, S, W or N, got {value!r}")
    return str(value)


# --- looking, keys, the opening ---------------------------------------------------------------------------------------


def _see(world: World, request: Request) -> dict[str, Any]:
    seat = request.get("seat")
    sight = public_sight(world) if seat is None else seat_sight(world, seat_of(request))
    return {"sight": sight.model_dump()}


def _press(world: World, request: Request) -> None:
    world.press(text_of(request, "key"), seat_of(request), _held_ms(request))


def _hold(world: World, request: Request) -> None:
    world.hold(text_of(request, "key"), seat_of(request))


def _throw(world: World, request: Request) -> dict[str, Any]:
    return {"dice": list(world.throw_by_hand().dice)}


def _push_in(world: World, request: Request) -> dict[str, Any]:
    return {"tiles": world.push_in(seat_of(request))}


def _put_in(world: World, request: Request) -> dict[str, Any]:
    return {"tiles": world.put_in_forgotten()}


def _lay_row(world: World, request: Request) -> None:
    world.lay_row(seat_of(request))


def _take(world: World, request: Request) -> dict[str, Any]:
    return {"tiles": world.take(seat_of(request), _texts(request, "positions"))}


def _lay_flowers(world: World, request: Request) -> dict[str, Any]:
    faces = _texts(request, "faces") if "faces" in request else None
    return {"tiles": world.lay_flowers(seat_of(request), faces)}


def _begin_flowers(world: World, request: Request) -> None:
    world.begin_flowers(seat_of(request, "dealer"))


def _flip(world: World, request: Request) -> dict[str, Any]:
    return {"tile": world.flip(text_of(request, "position"))}


def _turn_back(world: World, request: Request) -> None:
    world.turn_back(text_of(request, "position"))


def _give_flower(world: World, request: Request) -> dict[str, Any]:
    return {"tile": world.give_flower(text_of(request, "position"), seat_of(request, "to"))}


# --- play -------------------------------------------------------------------------------------------------------------


def _discard(world: World, request: Request) -> None:
    laying.discard(world, seat_of(request), text_of(request, "tile"), _flag(request, "down", False))


def _take_back(world: World, request: Request) -> dict[str, Any]:
    return {"tile": laying.take_back(world, seat_of(request))}


def _meld(world: World, request: Request) -> None:
    source, own = seat_of(request, "from"), _texts(request, "own")
    laying.meld(world, seat_of(request), text_of(request, "kind"), source, text_of(request, "tile"), own)


def _kong(world: World, request: Request) -> None:
    laying.kong(world, seat_of(request), text_of(request, "kind"), text_of(request, "tile"))


def _undo_meld(world: World, request: Request) -> None:
    laying.undo_meld(world, seat_of(request))


def _put_away(world: World, request: Request) -> dict[str, Any]:
    return {"tile": laying.put_away(world, seat_of(request), text_of(request, "tile", ""))}


def _take_flipped(world: World, request: Request) -> dict[str, Any]:
    return {"tile": laying.take_flipped(world, seat_of(request), text_of(request, "position"))}


def _show_hand(world: World, request: Request) -> None:
    laying.show_hand(world, seat_of(request), _flag(request, "open", True))


def _put_back(world: World, request: Request) -> dict[str, Any]:
    return {"position": laying.put_back(world, seat_of(request), text_of(request, "position", ""))}


# --- play as the people referee it ------------------------------------------------------------------------------------


def _begin_round(world: World, request: Request) -> None:
    if world.round is not None:
        return
    layout, options, flips = request.get("layout"), request.get("options") or {}, request.get("flips")
    if layout not in _LAYOUTS:
        raise WorldError(f"layout: expected {' or '.join(_LAYOUTS)}, got {layout!r}")
    if not isinstance(options, dict):
        raise WorldError(f"options: expected an object, got {options!r}")
    if flips is not None and (not isinstance(flips, int) or isinstance(flips, bool) or flips < 0):
        raise WorldError(f"flips: expected a count, got {flips!r}")
    try:
        rules = load_ruleset(text_of(request, "rules"), options)
    except RulesetError as error:
        raise WorldError(str(error)) from None
    deal, door = _dice(request, "deal"), _dice(request, "door") if layout == "bagua" else None
    gold, opening = text_of(request, "gold"), _opening(request)
    world.round = Round(world, rules, layout, seat_of(request, "dealer"), deal, door, gold, flips, opening)
    world.changed()


def _play(world: World, request: Request) -> None:
    body, number = request.get("action"), request.get("number")
    if not isinstance(body, dict):
        raise WorldError(f"action: expected an object, got {body!r}")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise WorldError(f"number: expected the number of discards so far, got {number!r}")
    unknown = sorted(set(body) - {"name", "tile", "tiles", "way", "kind", "reason"})
    if unknown:
        raise WorldError(f"action: there is no field {unknown[0]!r}")
    words = {name: text_of(body, name, "") for name in ("tile", "way", "kind", "reason")}
    action = Action(text_of(body, "name"), tiles=tuple(_texts(body, "tiles") if "tiles" in body else ()), **words)
    _round(world).play(seat_of(request), action, number)


def _close_window(world: World, request: Request) -> None:
    _round(world).close_window()


# --- what is in a request ---------------------------------------------------------------------------------------------


def _round(world: World) -> Round:
    if world.round is None:
        raise WorldError("no hand has begun that people referee")
    return world.round


def _texts(request: Request, name: str) -> list[str]:
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WorldError(f"{name}: expected a list of texts, got {value!r}")
    return value


def _flag(request: Request, name: str, usual: bool) -> bool:
    value = request.get(name, usual)
    if not isinstance(value, bool):
        raise WorldError(f"{name}: expected true or false, got {value!r}")
    return value


def _held_ms(request: Request) -> int:
    value = request.get("held_ms", 80)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 60_000:
        raise WorldError(f"held_ms: expected 0 to 60000, got {value!r}")
    return value


def _dice(request: Request, name: str) -> Dice:
    try:
        return check_dice(request.get(name))
    except DiceError as error:
        raise WorldError(f"{name}: {error}") from None


def _opening(request: Request) -> tuple[str, str] | None:
    value = request.get("opening")
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(item, str) for item in value):
        raise WorldError(f"opening: expected seat and way, both empty when nobody won, got {value!r}")
    return value[0], value[1]


_ACTS: Mapping[str, Callable[[World, Request], dict[str, Any] | None]] = {
    "see": _see,
    "press": _press,
    "hold": _hold,
    "throw": _throw,
    "push_in": _push_in,
    "put_in": _put_in,
    "lay_row": _lay_row,
    "take": _take,
    "lay_flowers": _lay_flowers,
    "begin_flowers": _begin_flowers,
    "flip": _flip,
    "turn_back": _turn_back,
    "give_flower": _give_flower,
    "discard": _discard,
    "take_back": _take_back,
    "meld": _meld,
    "kong": _kong,
    "undo_meld": _undo_meld,
    "put_away": _put_away,
    "take_flipped": _take_flipped,
    "show_hand": _show_hand,
    "put_back": _put_back,
    "begin_round": _begin_round,
    "play": _play,
    "close_window": _close_window,
}
