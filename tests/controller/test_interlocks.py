"""Motion × what must be true, cell by cell, on both sides: the daemon's table, and the simulated board's refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller import interlocks as on
from controller.interlocks import INTERLOCKS, Facts, unmet
from controller.operations import LIMITS
from engine.ruleset import load_ruleset
from protocol.serial import messages as serial
from simulators.assumptions import default_assumptions
from simulators.mechanisms import VERBS, Build, Mechanisms
from simulators.pace import Pace
from simulators.world import World

CELLS = [(verb, condition) for verb, conditions in INTERLOCKS.items() for condition in conditions]
RIGHT = Facts(sorted_set=1, service=True, key_held=True)
WRONG: dict[str, dict[str, Any]] = {
    on.LID: {"lid_closed": False},
    on.STOP: {"stop": True},
    on.WALLS_DOWN: {"walls": "up"},
    on.NO_SORT: {"sorting_set": 2},
    on.CENTRE_DOWN: {"centre": "up"},
    on.CENTRE_SEEN: {"centre": "unknown", "by_word": True},
    on.SET_SORTED: {"sorted_set": 2},
    on.GEAR: {"gear": False},
    on.SERVICE: {"service": False},
    on.KEY: {"key_held": False},
}
OP = serial.OpId(1, 1, 1, 1)
OPERATIONS: dict[str, Any] = {
    "centre_raise": serial.CentreRaise(OP),
    "centre_lower": serial.CentreLower(OP),
    "walls_raise": serial.WallsRaise(OP, 1),
    "walls_lower": serial.WallsLower(OP),
    "sort": serial.SortStart(OP, 2),
    "present_group": serial.PresentGroup(OP, "E", 0, 2, "S"),
    "dice_roll": serial.DiceRoll(OP),
    "jog": serial.Jog(OP, 0, 100),
    "self_test": serial.SelfTest(OP, 1),
    "read_wall": serial.ReadWall(OP, "E"),
    "sort_stop": serial.SortStop(OP),
}


# --- the daemon -------------------------------------------------------------------------------------------------------


def test_every_motion_of_the_contract_has_its_row() -> None:
    assert set(INTERLOCKS) == set(VERBS.values()) and set(LIMITS) <= set(INTERLOCKS)
    assert all({on.STOP, on.LID} <= set(conditions) for verb, conditions in INTERLOCKS.items() if verb not in STILL)
    assert not any(INTERLOCKS[verb] for verb in STILL)


STILL = ("read_wall", "sort_stop")
"""These move nothing."""


@pytest.mark.parametrize("verb", INTERLOCKS)
def test_a_motion_whose_conditions_hold_may_be_sent(verb: str) -> None:
    assert unmet(verb, RIGHT, 1) is None


@pytest.mark.parametrize(("verb", "condition"), CELLS)
def test_a_motion_is_not_sent_where_one_condition_does_not_hold(verb: str, condition: str) -> None:
    assert unmet(verb, replace(RIGHT, **WRONG[condition]), 1) == condition


@pytest.mark.parametrize("position", ["up", "moving", "unknown"])
def test_a_mechanism_that_is_not_seen_where_it_must_be_is_not_there(position: Any) -> None:
    assert unmet("sort", replace(RIGHT, centre=position), 1) == on.CENTRE_SEEN
    assert unmet("walls_raise", replace(RIGHT, centre=position), 1) == on.CENTRE_DOWN
    assert unmet("centre_raise", replace(RIGHT, walls=position)) == on.WALLS_DOWN


def test_peoples_word_lets_walls_rise_and_nothing_be_sorted() -> None:
    lost = replace(RIGHT, centre="unknown", by_word=True)
    assert unmet("walls_raise", lost, 1) is None
    assert unmet("sort", lost, 1) == on.CENTRE_SEEN
    assert unmet("walls_raise", replace(lost, centre="up"), 1) == on.CENTRE_DOWN


# --- the board --------------------------------------------------------------------------------------------------------


class Table:
    """A simulated table in which every motion may begin: set 1 sorted, set 2 inside, in service with the key held."""

    def __init__(self) -> None:
        rules = load_ruleset("new-xiamen-120")
        self.world = World(faces=rules.faces(), seed=1)
        build = Build(aid="present", readers=True)
        self.mechanisms = Mechanisms(self.world, build, default_assumptions(), Pace("max"))
        self.shown = {"centre_down": True, "centre_up": True, "walls_down": True, "walls_up": True}
        self.mechanisms.bench.sensors = lambda: self.shown
        self.mechanisms.set_gear(120, (15, 15, 15, 15))
        self.world.sort(1, (15, 15, 15, 15))
        self.mechanisms.bench.mode = True
        self.mechanisms.bench.key_down("service", "")

    def refusal(self, verb: str) -> str | None:
        if verb == "present_group" and self.world.stacked[1]:
            self.world.raise_walls(1)
        return self.mechanisms.refusal(OPERATIONS[verb])


def _open_lid(table: Table) -> None:
    table.mechanisms.lid_open = True


def _walls(table: Table) -> None:
    table.world.lifts = "up"


def _sorting(table: Table) -> None:
    table.mechanisms.sorting_set = 2


def _centre(table: Table) -> None:
    table.world.centre = "up"


def _unsorted(table: Table) -> None:
    table.world.unstack(1)


def _no_gear(table: Table) -> None:
    table.mechanisms.gear = (0, (0, 0, 0, 0))


def _no_service(table: Table) -> None:
    table.mechanisms.bench.mode = False


def _no_key(table: Table) -> None:
    table.mechanisms.bench.key_up("service", "", 100)


BREAK: dict[str, Callable[[Table], None]] = {
    on.LID: _open_lid, on.WALLS_DOWN: _walls, on.NO_SORT: _sorting, on.CENTRE_DOWN: _centre, on.CENTRE_SEEN: _centre,
    on.SET_SORTED: _unsorted, on.GEAR: _no_gear, on.SERVICE: _no_service, on.KEY: _no_key,
}  # fmt: skip


@pytest.mark.parametrize("verb", INTERLOCKS)
def test_the_board_lets_a_motion_begin_whose_conditions_hold(verb: str) -> None:
    assert Table().refusal(verb) is None


@pytest.mark.parametrize(("verb", "condition"), [cell for cell in CELLS if cell[1] != on.STOP])
def test_the_board_refuses_where_one_condition_does_not_hold(verb: str, condition: str) -> None:
    table = Table()
    if verb == "self_test" and condition == on.SERVICE:
        table.mechanisms.bench.key_up("service", "", 100)
    BREAK[condition](table)
    assert table.refusal(verb) in ("interlock", "service_mode", "gear"), f"{verb} begins without: {condition}"


async def test_the_board_refuses_every_motion_while_a_stop_is_latched(tmp_path: Path) -> None:
    from tests.simulators.host import table_and_host

    async with table_and_host(tmp_path, sensing="full", aid="present") as (_, host):
        await host.identify()
        await host.set_gear()
        host.send(serial.EmergencyStop("tried"))
        await host.until(serial.StopLatched)
        for verb, operation in OPERATIONS.items():
            fields = {name: getattr(operation, name) for name in operation.__slots__ if name != "op"}
            assert await host.refused(type(operation), **fields) == "latched", verb


def test_the_board_takes_peoples_word_for_the_walls_alone() -> None:
    table = Table()
    table.shown = {**table.shown, "centre_down": False}
    assert table.mechanisms.centre == "unknown"
    assert table.refusal("walls_raise") == table.refusal("sort") == "interlock"
    assert table.mechanisms.vouch_centre()
    assert table.refusal("walls_raise") is None and table.refusal("sort") == "interlock"
    table.world.centre = "up"
    assert not table.mechanisms.vouch_centre() and table.refusal("walls_raise") == "interlock"
