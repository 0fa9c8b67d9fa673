"""What the machine's results mean for the procedure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine.chain import Chain
from engine.dice import DiceError, check_dice
from engine.opening import stand_positions
from engine.tiles import ALL_FACES, SEATS
from engine.wants import Want


def _sorted(chain: Chain, wanted: Want, result: Mapping[str, Any]) -> None:
    """A set is ready only when every side counts what the gear stacks; else people look for the tile first."""
    rules = chain.state.match.rules
    tiles = result.get("tiles") or {}
    wrong = []
    for side in SEATS:
        expected = len(stand_positions(rules, side))
        if tiles.get(side) != expected:
            wrong.append((side, int(tiles.get(side) or 0), expected))
    number = wanted.params["set"]
    chain.add(e.SetMiscounted(number, tuple(wrong)) if wrong else e.SetSorted(number))


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
    if len(tiles) != expected or any(tile not in ALL_FACES for tile in tiles):
        chain.add(e.OperationBroken(wanted.id.key, wanted.verb, "reader_blind", side))
    else:
        chain.add(e.WallRead(side, tiles))


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
        return  # the readers say when the tiles are in the hand
    total = len(chain.state.play.takes)
    chain.add(e.TakeShown(number + 1) if number < total else e.TakingDone(""))


DONE: Mapping[str, Callable[[Chain, Want, Mapping[str, Any]], None]] = {
    "sort": _sorted,
    "centre_raise": _raised,
    "centre_lower": _lowered,
    "walls_raise": _walls_up,
    "read_wall": _wall_read,
    "dice_roll": _thrown,
    "present_group": _presented,
}
