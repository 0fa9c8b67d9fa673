"""Every fault of the vocabulary at a whole table: named at all four seats with words, in the state and in the stream of
events; a person acts; the hand is played to its end with the points that it has without any fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import displays
from controller.remedies import remedy
from engine.ruleset import load_ruleset
from engine.tiles import SEATS
from protocol.serial.faults import FAULTS
from protocol.serial.vocabulary import FAULT_CODES
from tests.table.evening import check_book, standing
from tests.table.harness import WholeTable
from tests.table.test_faults import metrics

pytestmark = [pytest.mark.table, pytest.mark.timeout(240)]

RULES = "new-xiamen-120"
CATALOGUE: dict[str, list[str]] = json.loads(
    (Path(displays.__file__).parent / "catalogue.json").read_text(encoding="utf-8")
)

SEED = 2
"""Of a hand that is soon won."""

SORTS = (
    "head_jam", "sort_timeout", "single_tile_push", "push_incomplete", "eye_dirty", "sets_mixed", "gear_mismatch",
    "motor_overheat", "motor_stall",
)  # fmt: skip
"""How the attempts at the first sort end; the next one is a tile short at S, then it is done."""

ENDINGS = (
    ("centre_raise", ("centre_limit_missing", "motor_stall")),
    ("centre_lower", ("centre_limit_missing",)),
    ("walls_raise", ("wall_not_home",)),
    ("read_wall", ("reader_blind",)),
    ("dice_roll", ("dice_stuck", "dice_ambiguous")),
    ("present_group", ("push_incomplete", "single_tile_push")),
)
"""How the first operations of the others end."""

COME = (
    ("side_long", "E"), ("key_stuck", "W"), ("eye_dirty", "N"), ("reader_blind", "S"), ("motor_overheat", ""),
)  # fmt: skip
"""Faults that come in play and go: an eye is wiped, a key let go."""

CRITICAL = ("brown_out", "firmware_mismatch")
"""Faults that park the table until somebody lets it go on."""


def hand(seed: int) -> dict[str, Any]:
    """A wall that chance has laid, and dice that always fall so: what is thrown again deals the same hand."""
    chance = random.Random(seed)
    faces = load_ruleset(RULES).faces()
    wall = sorted(face for face, count in faces.items() for _ in range(count))
    chance.shuffle(wall)
    return {"wall": "".join(wall), "dice": [[2, 5]] * 30}


def the_table(folder: Path, script: list[dict[str, Any]], **settings: Any) -> WholeTable:
    folder.mkdir()
    simulate = ["--aid", "present", "--cocked", "0", *settings.pop("simulate", ())]
    patient = {"claim_window_ms": 20_000}
    return WholeTable(
        folder, rules=RULES, sensing="full", hands=1, seed=31, script=script, simulate=simulate, options=patient,
        **settings,
    )  # fmt: skip


@dataclass
class Told:
    """Everything that was told: by seat the codes of faults that stood and of wants that named them, with the public
    state, and the facts of the stream of faults.
    """

    seats: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {seat: {} for seat in SEATS})
    verbs: dict[str, set[str]] = field(default_factory=lambda: {seat: set() for seat in SEATS})
    state: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: list[dict[str, Any]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def named(self, code: str) -> bool:
        """Whether all four seats have been told."""
        return all(code in self.seats[seat] for seat in SEATS)

    def facts_of(self, code: str) -> Iterator[Mapping[str, Any]]:
        """Every fact that names a code."""
        for fact in self.facts:
            params = fact["params"]
            if fact["name"] not in ("raised", "operation_failed", "miscounted"):
                continue
            if code in (params.get("code"), params.get("fault")):
                yield params
            yield from (side for side in params.get("sides", ()) if side.get("code") == code)


@contextlib.asynccontextmanager
async def listening(table: WholeTable) -> AsyncIterator[Told]:
    """Everything that the table says while the block runs."""
    told = Told()
    ready = [asyncio.Event() for _ in range(6)]
    work = [asyncio.create_task(_seat(table, seat, told, ready[at])) for at, seat in enumerate(SEATS)]
    work += [asyncio.create_task(_state(table, told, ready[4])), asyncio.create_task(_facts(table, told, ready[5]))]
    try:
        async with asyncio.timeout(20):
            await asyncio.gather(*(one.wait() for one in ready))
        yield told
    finally:
        for task in work:
            task.cancel()
        for ended in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


def _found(machine: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for fault in machine["faults"]:
        yield fault["code"], fault
    problem = machine["problem"]
    if problem is not None and problem["kind"] == "failed":
        yield problem["fault"], problem
    elif problem is not None:
        for side in problem["sides"]:
            yield ("side_short" if side["counted"] < side["expected"] else "side_long"), side


async def _seat(table: WholeTable, seat: str, told: Told, ready: asyncio.Event) -> None:
    async with table.client(seat) as client:
        await client.subscribe(table.topics.seat(seat), qos=1)
        ready.set()
        async for message in client.messages:
            if not message.payload:
                continue
            view = json.loads(bytes(message.payload))["data"]
            told.seats[seat].update(_found(view["machine"]))
            told.verbs[seat].update(want["verb"] for want in view["me"]["wants"])
            if view["machine"]["link"] == "lost":
                told.seats[seat].setdefault("link_lost", {})
            told.changed.set()


async def _state(table: WholeTable, told: Told, ready: asyncio.Event) -> None:
    async with table.client("view") as client:
        await client.subscribe(table.topics.state, qos=1)
        ready.set()
        async for message in client.messages:
            told.state.update(_found(json.loads(bytes(message.payload))["data"]["machine"]))


async def _facts(table: WholeTable, told: Told, ready: asyncio.Event) -> None:
    async with table.client("parlor") as client:
        await client.subscribe(table.topics.event("fault"), qos=1)
        ready.set()
        async for message in client.messages:
            told.facts.append(json.loads(bytes(message.payload))["data"])


async def all_seats(told: Told, code: str) -> None:
    """Wait until every seat has been told of a fault."""
    async with asyncio.timeout(20):
        while not told.named(code):
            told.changed.clear()
            await told.changed.wait()


def check_words(code: str) -> None:
    """A first-aid sentence for players and one for a repairer, in all three scripts."""
    for key in (f"fault.{code}", f"fault.{code}.do", f"fault.{code}.repair"):
        assert len(CATALOGUE[key]) == 3 and all(CATALOGUE[key]), key


async def test_every_fault_is_named_helped_and_survived(tmp_path: Path) -> None:
    """One hand through the whole vocabulary; beside it the same hand without a fault."""
    right = await undisturbed(tmp_path)
    fails = [f"sort:{number}:{fault}" for number, fault in enumerate(SORTS, 1)]
    fails += [f"{verb}:{number}:{fault}" for verb, faults in ENDINGS for number, fault in enumerate(faults, 1)]
    simulate = [word for fail in fails for word in ("--fail", fail)]
    simulate += ["--missing-tile", f"{len(SORTS) + 1}:S"]
    table = the_table(tmp_path / "faulty", [hand(SEED)], simulate=simulate, people="", autostart=False)
    async with table, listening(table) as told:
        await begin(table)
        table.start_people()
        await table.state(lambda data: data["phase"] == "play")
        await come_and_go(table, told)
        await table.ended()
        physical = await table.physical()
        await facts_are_there(told)
    assert standing(table.journal) == right
    check_book(table.journal)
    events = [name for name, _ in table.events()]
    assert physical["throws"] == events.count("RollBegun") and physical["thrown_again"] == 0
    assert events.count("ThrowBroken") == events.count("DiceLost") == 1
    for code in FAULT_CODES:
        check_told(told, code)


_RIGHT: list[list[dict[str, Any]]] = []


async def undisturbed(folder: Path) -> list[dict[str, Any]]:
    """What the hand comes to when nothing goes wrong; played once for all tests here."""
    if not _RIGHT:
        async with the_table(folder / "right", [hand(SEED)]) as table:
            await table.ended()
        _RIGHT.append(standing(table.journal))
    return _RIGHT[0]


async def begin(table: WholeTable) -> None:
    """East starts the match: everything that fails is heard from the first."""
    await table.state(lambda data: data["machine"]["link"] == "up")
    await table.answer("E", "start", "start")


async def come_and_go(table: WholeTable, told: Told) -> None:
    """What comes while people play; they hardly notice, or the table waits for a person."""
    for code, side in COME:
        severity = FAULTS[next(known for known in FAULT_CODES if known == code)].severity
        await table.world_act("control", verb="fault", code=code, side=side, severity=severity)
    for code, _ in COME:
        await all_seats(told, code)
    await table.state(lambda data: {code for code, _ in COME} <= {one["code"] for one in data["machine"]["faults"]})
    for code, side in COME:
        await table.world_act("control", verb="fault", code=code, side=side, cleared=True)
    await table.state(lambda data: not data["machine"]["faults"])
    for code in CRITICAL:
        await table.world_act("control", verb="fault", code=code, severity="critical")
        await table.follow(
            "view", table.topics.availability, lambda data: (data["state"], data["reason"]) == ("parked", "fault"), 20
        )
        await table.world_act("control", verb="fault", code=code, cleared=True)
        await table.answer("W", "parked", "unpark")
        await table.state(lambda data: not data["machine"]["faults"])
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "ready", 20)
    unplugged = asyncio.create_task(table.world_act("control", verb="unplug", seconds=1.0))
    await all_seats(told, "link_lost")
    await table.state(lambda data: any(one["code"] == "link_lost" for one in data["machine"]["faults"]))
    await unplugged
    await table.state(lambda data: data["machine"]["link"] == "up" and not data["machine"]["faults"])
    await table.world_act("control", verb="lid", open=True)
    await all_seats(told, "lid_open")
    await table.state(lambda data: any(one["code"] == "lid_open" for one in data["machine"]["faults"]))
    await table.world_act("control", verb="lid", open=False)


async def facts_are_there(told: Told) -> None:
    """Wait until the stream has caught up with the seats."""
    async with asyncio.timeout(10):
        while not all(any(told.facts_of(code)) for code in FAULT_CODES):
            await asyncio.sleep(0.05)


def check_told(told: Told, code: str) -> None:
    """Named at four seats, in the stream with sensor, first aid and whom to send, with its side where it has one."""
    check_words(code)
    assert told.named(code), f"{code}: {[seat for seat in SEATS if code not in told.seats[seat]]} were not told"
    facts = list(told.facts_of(code))
    assert facts, f"{code} is not in the stream of faults"
    row = remedy(code)
    for fact in facts:
        assert fact["aid"] == row.aid and fact["send"] in (row.send, "repairer"), fact
        assert bool(fact["side"]) == FAULTS[code].sided, fact
        if row.sensors:
            assert fact["sensors"] == [name.format(side=fact["side"]) for name in row.sensors], fact


# --- a switch that is lost --------------------------------------------------------------------------------------------


async def test_a_lost_switch_of_the_centre_costs_no_hand_and_nothing_is_sorted_by_word(tmp_path: Path) -> None:
    """Two seats say that it is closed, the walls rise and the hand is played; sorting waits for the switch."""
    right = await undisturbed(tmp_path)
    async with the_table(tmp_path / "lost", [hand(SEED)], people="") as table:
        await table.state(lambda data: data["phase"] == "lift" and data["machine"]["sorted_set"] == 1)
        await table.world_act("control", verb="stuck_sensor", sensor="centre_down", on=False)
        async with listening(table) as told:
            table.start_people()
            await all_seats(told, "centre_limit_missing")
            playing = await table.state(lambda data: data["phase"] == "play")
            assert all("stands" in told.verbs[seat] for seat in SEATS)
            (fault,) = [one for one in playing["machine"]["faults"] if one["code"] == "centre_limit_missing"]
            assert fault["sensors"] == ["centre_down", "centre_up"] and fault["send"] == "repairer"
            assert (await table.physical())["sorts"] == 1, "nothing was sorted below a centre that no switch shows"
        await table.world_act("control", verb="heal")
        await table.state(lambda data: data["machine"]["sorted_set"] == 2 or data["phase"] == "ended")
        await table.ended()
    names = [name for name, _ in table.events()]
    assert names.count("OperationStands") >= 1 and names.count("OperationVouched") >= 2
    assert standing(table.journal) == right


# --- the mains --------------------------------------------------------------------------------------------------------

VERBS = ("sort", "centre_raise", "centre_lower", "walls_raise", "read_wall", "dice_roll", "present_group")


@pytest.mark.parametrize(
    "verbs",
    [
        pytest.param(("walls_raise", "dice_roll"), id="short"),
        pytest.param(VERBS, marks=pytest.mark.long, id="all"),
    ],
)
async def test_the_mains_cut_in_the_midst_of_operations(tmp_path: Path, verbs: tuple[str, ...]) -> None:
    """Board, daemon and broker go at once and the board forgets: nothing is thrown twice, the hand is the same."""
    right = await undisturbed(tmp_path)
    async with the_table(tmp_path / "cut", [hand(SEED)], speed="4" if len(verbs) > 2 else "12") as table:
        for verb in verbs:
            await cut_in_the_midst(table, verb)
        await table.ended(150)
        physical = await table.physical()
    assert standing(table.journal) == right
    check_book(table.journal)
    names = [name for name, _ in table.events()]
    assert physical["boots"] == 1 + len(verbs)
    assert physical["throws"] == names.count("RollBegun") and physical["thrown_again"] == 0
    assert physical["walls"] == 1


async def cut_in_the_midst(table: WholeTable, verb: str) -> None:
    """The power goes while an operation of this kind runs, and comes back."""
    async with asyncio.timeout(60):
        while verb not in (await table.physical())["running"]:
            await asyncio.sleep(0.01)
    table.kill("daemon")
    await table.world_act("control", verb="reboot")
    await asyncio.to_thread(table.broker.restart)
    table.start_daemon()


# --- the stop ---------------------------------------------------------------------------------------------------------


async def test_a_stop_outlives_daemon_and_board_and_no_command_clears_it(tmp_path: Path) -> None:
    """The first reason is kept; a board that forgot is latched again; a person at a seat clears it."""
    table = the_table(tmp_path / "stop", [hand(SEED)], people="", speed="5")
    async with table:
        await table.state(lambda data: data["machine"]["sorting"] is not None)
        await table.world_act("control", verb="stop_button")
        await table.state(lambda data: data["machine"]["stop"] == "stop button", 10)
        table.kill("daemon")
        await table.world_act("control", verb="reboot")
        table.start_daemon()
        await sessions(table, 1)
        await table.world_act("control", verb="stop_button", pressed=False)
        await table.world_act("control", verb="reboot")
        await sessions(table, 2)
        for verb, args in (("pause", {"on": True}), ("pause", {"on": False}), ("park", {})):
            await table.command(verb, **args)
        await table.command("rebirth")
        before = await table.physical()
        still = await table.state(lambda data: data["machine"]["link"] == "up")
        assert still["machine"]["stop"] == "stop button" and not before["running"]
        await table.answer("N", "stopped", "clear")
        await table.state(lambda data: data["machine"]["stop"] is None, 10)
        await table.answer("N", "parked", "unpark")
        # Whether the sort's end was heard before the board forgot it decides if people are asked: both go on.
        retry = asyncio.create_task(table.answer("N", "retry", "retry"))
        await table.state(lambda data: data["machine"]["sorted_set"] == 1)
        retry.cancel()
        await asyncio.gather(retry, return_exceptions=True)
    names = [name for name, _ in table.events()]
    assert names.count("Stopped") == names.count("Released") == 1


async def sessions(table: WholeTable, count: int) -> None:
    """Wait until the daemon that runs now has shaken hands with the board so often."""
    name = f'kaijin_link_total{{port="{table.port_link}",what="sessions"}}'
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(OSError):
                if (await asyncio.to_thread(metrics, table.health_port)).get(name, 0) >= count:
                    return
            await asyncio.sleep(0.05)
