"""What the machine's results mean for the procedure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine.deciding import Chain
from engine.dice import DiceError, check_dice
from engine.opening import stand_positions
from engine.tiles import ALL_FACES, SEATS
from engine.wants import ALL_OF_A_STEP, Want

ILLEGIBLE = "??"
"""A tile that a reader could not read."""

def _sorted(chain: Chain, wanted: Want, result: Mapping[str, Any]) -> None:
    """A set is ready only when every side counts what the gear stacks; else people look for the tile first."""
    rules = chain.state.match.rules
    counted = result.get("tiles")
    tiles = counted if isinstance(counted, Mapping) else {}
    wrong = []
    for side in SEATS:
        expected = len(stand_positions(rules, side))
        found = tiles.get(side)
        if found != expected:
            wrong.append((side, found if isinstance(found, int) else 0, expected))
    number = wanted.params["set"]
    chain.add(e.SetMiscounted(number, tuple(wrong)) if wrong else e.SetSorted(number))


def _nothing(_: Chain, __: Want, ___: Mapping[str, Any]) -> None:
    """The stop is over when the machine says so (`StopCleared`)."""


def _raised(chain: Chain, wanted: Want, _: Mapping[str, Any]) -> None:
    chain.add(e.CentreRaised())


def _lowered(chain: Chain, wanted: Want, _: Mapping[str, Any]) -> None:
    chain.add(e.CentreLowered())


def _walls_up(chain: Chain, wanted: Want, _: Mapping[str, Any]) -> None:
    chain.add(e.WallsRaised(wanted.params["set"]))


def _wall_read(chain: Chain, wanted: Want, result: Mapping[str, Any]) -> None:
    side = wanted.params["side"]
    tiles = tuple(result.get("tiles") or ())
    expected = len(stand_positions(chain.state.match.rules, side))
    if len(tiles) != expected or any(tile not in ALL_FACES and tile != ILLEGIBLE for tile in tiles):
        chain.add(e.OperationBroken(wanted.id.key, wanted.verb, "reader_blind", side))
        return
    chain.add(e.WallRead(side, tiles))
    if len(chain.state.play.wall) == chain.state.match.rules.tiles:
        _check_wall(chain)


def _check_wall(chain: Chain) -> None:
    """A wall must be one whole set of these rules; what cannot be read must follow from the rest."""
    faces = chain.state.match.rules.faces()
    read = Counter(tile for tile in chain.state.play.wall.values() if tile != ILLEGIBLE)
    missing = faces - read
    if read - faces:
        _reject_wall(chain, "sets_mixed")
    elif len(missing) > 1:
        _reject_wall(chain, "reader_blind")
    elif missing:
        (face,) = missing
        for seat in SEATS:
            tiles = [tile for place, tile in chain.state.play.wall.items() if place[0] == seat]
            if ILLEGIBLE in tiles:
                chain.add(e.WallRead(seat, tuple(face if tile == ILLEGIBLE else tile for tile in tiles)))


def _reject_wall(chain: Chain, fault: str) -> None:
    chain.add(e.WallRejected(fault))
    chain.add(e.OperationBroken(f"read_wall-{ALL_OF_A_STEP}", "read_wall", fault, ""))


def _thrown(chain: Chain, wanted: Want, result: Mapping[str, Any]) -> None:
    quality = result.get("quality")
    roll = chain.state.play.roll
    assert roll is not None
    if quality in ("cocked", "ambiguous"):
        chain.add(e.RollSpoilt(str(quality)))
    elif result.get("dice"):
        try:
            dice = check_dice(result["dice"])
        except DiceError:
            chain.add(e.RollSpoilt("ambiguous"))
            return
        chain.add(e.DiceRolled(roll.purpose, roll.by or roll.thrower, dice, "read"))
    else:
        chain.add(e.DiceLie())


def _presented(chain: Chain, wanted: Want, _: Mapping[str, Any]) -> None:
    number = wanted.id.index
    if chain.state.reads_tiles:
        chain.add(e.GroupPresented(number))
        return
    total = len(chain.state.play.takes)
    chain.add(e.TakeShown(number + 1) if number < total else e.TakingDone(""))


DONE: Mapping[str, Callable[[Chain, Want, Mapping[str, Any]], None]] = {
    "clear_stop": _nothing,
    "sort": _sorted,
    "centre_raise": _raised,
    "centre_lower": _lowered,
    "walls_raise": _walls_up,
    "read_wall": _wall_read,
    "dice_roll": _thrown,
    "present_group": _presented,
}
