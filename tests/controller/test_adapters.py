"""An adapted board: what its sensors prove, what time proves, what nobody can know, and what is never done twice."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters import AdaptedBoard, opener_for
from controller.lines import Line
from controller.probe import ProbeError, probe
from engine.ruleset import load_ruleset
from protocol.dialects import NAMES, VERBS, Order, Pressed, Shown, Started, UnknownDialect, dialect
from protocol.dialects.example import (
    KEYS,
    ORDERS,
    PRESSED,
    SHOWN,
    START,
    STARTED,
    ExampleDialect,
    frame,
    order_ear,
    told_bytes,
)
from protocol.serial import messages as serial
from protocol.serial.parts import DiceOutcome, SortOutcome
from simulators.table import SimulatedTable, TableConfig

REST = Shown(closed=True, home=True, stacked=frozenset({1}), out=2)
GEAR = (15, 15, 15, 15)


class Bench:
    """An adapted board with a clock of the test's; what it says and what it tells its board."""

    def __init__(self) -> None:
        self.now = 100.0
        self.said: list[Any] = []
        self.orders: list[Order] = []
        self.board = AdaptedBoard(ExampleDialect(), 7)
        self.board.say = self.said.append
        ear = order_ear()
        self.board.put = lambda data: self.orders.extend(ear.feed(data))
        self._steps = 0

    def show(self, shown: Shown, after: float = 0.0) -> None:
        self.now += after
        self.board.hear(shown, self.now)

    def ready(self, shown: Shown = REST) -> Bench:
        self.show(shown)
        self.ask(serial.SetGear(1, 120, GEAR))
        return self

    def ask(self, message: Any) -> Any:
        """Say something as the daemon; what is said last."""
        self.board.take(message, self.now)
        return self.said[-1]

    def begin(self, kind: Any, *more: Any) -> Any:
        self._steps += 1
        return self.ask(kind(serial.OpId(9, 1, self._steps, 1), *more))

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.board.tick(self.now)

    @property
    def results(self) -> list[tuple[str, str]]:
        return [(one.outcome, one.fault) for one in self.said if isinstance(one, serial.OpResult)]

    def given(self, verb: str) -> int:
        return sum(order.verb == verb for order in self.orders)


# --- the dialect ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_every_order_comes_through_a_line_of_noise(verb: Any) -> None:
    order = Order(verb, {"walls_raise": 2, "sort": 1, "gear": 144}.get(verb, 0))
    chance = random.Random(verb)
    noise = bytes(byte for byte in chance.randbytes(60) if byte != START)
    ear = order_ear()
    assert ear.feed(noise + ExampleDialect().order(order) + noise) == [order]
    assert ear.junk == 2 * len(noise)


@pytest.mark.parametrize(
    "told",
    [REST, Shown(False, False, True, frozenset({1, 2}), 0, True), Started(), *(Pressed(*key) for key in KEYS)],
)
def test_what_a_board_tells_is_heard_byte_by_byte(told: Any) -> None:
    ear = ExampleDialect().ear()
    heard = [found for byte in told_bytes(told) for found in ear.feed(bytes((byte,)))]
    assert heard == [told]


@given(st.lists(st.one_of(st.sampled_from([REST, Started()]), st.binary(max_size=6)), max_size=12))
def test_no_bytes_make_an_ear_fail_and_a_frame_behind_them_is_heard(parts: Sequence[Any]) -> None:
    ear = ExampleDialect().ear()
    for part in parts:
        ear.feed(part if isinstance(part, bytes) else told_bytes(part))
    # What begins like a frame takes three bytes with it at most.
    heard = ear.feed(bytes(3) + told_bytes(Pressed("lift")))
    assert Pressed("lift") in heard


def test_one_flipped_bit_makes_no_other_order_of_any() -> None:
    dialect_ = ExampleDialect()
    for verb in ORDERS.values():
        order = Order(verb, {"walls_raise": 2, "sort": 1, "gear": 144}.get(verb, 0))
        for bit in range(32):
            spoilt = bytearray(dialect_.order(order))
            spoilt[bit // 8] ^= 1 << bit % 8
            assert order_ear().feed(bytes(spoilt)) == [], (order, bit)


def test_an_unknown_dialect_is_named_with_those_there_are() -> None:
    assert dialect(NAMES[0]).name == "example"
    with pytest.raises(UnknownDialect, match="example"):
        dialect("klingon")


def test_frames_are_those_of_the_document() -> None:
    assert frame(0x28, 1).hex(" ") == "aa 28 01 d3"


# --- the adapter ----------------------------------------------------------------------------------------------------


def test_it_says_what_it_cannot() -> None:
    identity = Bench().ready().ask(serial.Identify(3, 1, 1, "test"))
    can = identity.capabilities
    assert (can.sensing, can.dice, can.aid, can.memory) == ("none", "unread", "guide", "volatile")
    assert not can.lamps and not can.readers and not can.service


def test_a_throw_ends_by_time_unread_and_one_id_throws_once() -> None:
    bench = Bench().ready()
    roll = serial.DiceRoll(serial.OpId(9, 1, 1, 1))
    assert isinstance(bench.ask(roll), serial.OpAccepted)
    assert bench.ask(serial.DiceQuery(4)) == serial.DiceFaces(4, False, moving=True)
    for _ in range(8):
        bench.show(REST, after=1)
        bench.ask(roll)
    assert bench.given("dice_roll") == 1
    result = bench.said[-1]
    assert DiceOutcome.unpack(result.values).quality == "unread"
    assert bench.ask(serial.DiceQuery(5)).known is False


@pytest.mark.parametrize("happens", ["started", "line"])
def test_a_throw_during_which_the_board_was_lost_is_interrupted_and_never_ordered_again(happens: str) -> None:
    bench = Bench().ready()
    roll = serial.DiceRoll(serial.OpId(9, 1, 1, 1))
    bench.ask(roll)
    if happens == "started":
        bench.board.hear(Started(), bench.now)
    else:
        bench.board.line_lost()
    bench.show(REST, after=1)
    bench.later(20)
    assert bench.ask(roll).outcome == "interrupted"
    assert bench.given("dice_roll") == 1


def test_the_centre_rises_by_time_once_it_has_left_its_switch() -> None:
    bench = Bench().ready()
    bench.begin(serial.CentreRaise)
    bench.show(replace(REST, closed=False, busy=True), after=0.2)
    bench.later(3)
    assert bench.results == []  # a motor runs still
    bench.show(replace(REST, closed=False))
    assert bench.results == [("done", "")]
    assert bench.ask(serial.StatusQuery(2)).centre == "up"


def test_an_order_that_was_not_heard_is_given_again_only_while_the_board_shows_that_nothing_began() -> None:
    bench = Bench().ready()
    bench.begin(serial.CentreRaise)
    for _ in range(3):
        bench.show(REST, after=1)
    assert bench.given("centre_raise") == 2
    bench.show(replace(REST, closed=False, busy=True), after=0.2)
    for _ in range(3):
        bench.show(replace(REST, closed=False, busy=True), after=0.3)
    bench.show(replace(REST, closed=False), after=0.2)
    assert bench.results == [("done", "")]
    assert bench.given("centre_raise") == 2


def test_a_centre_that_never_moves_is_a_fault_after_its_time() -> None:
    bench = Bench().ready()
    bench.begin(serial.CentreRaise)
    for _ in range(8):
        bench.show(REST, after=1)
    assert bench.results == [("failed", "centre_limit_missing")]
    assert bench.given("centre_raise") == 3


def test_walls_stand_when_the_set_has_gone_out_and_the_lifts_are_home() -> None:
    bench = Bench().ready()
    bench.begin(serial.WallsRaise, 1)
    bench.show(replace(REST, home=False, busy=True), after=0.2)
    bench.show(replace(REST, home=False, stacked=frozenset(), out=1, busy=True), after=2)
    assert bench.results == []
    bench.show(Shown(True, True, out=1), after=2)
    assert bench.results == [("done", "")]
    status = bench.ask(serial.StatusQuery(2))
    assert (status.set_up, status.sorted_set, status.walls) == (1, 0, "down")


def test_walls_that_were_rising_when_the_line_was_lost_are_for_people_to_see() -> None:
    bench = Bench().ready()
    bench.begin(serial.WallsRaise, 1)
    bench.board.line_lost()
    assert bench.results == [("failed", "wall_not_home")]


def test_a_sort_is_done_when_its_set_lies_stacked_again_and_counts_are_the_gear_s() -> None:
    bench = Bench().ready()
    bench.begin(serial.SortStart, 1)
    bench.show(REST, after=0.05)  # said before the order came
    assert bench.results == []
    bench.show(replace(REST, stacked=frozenset(), busy=True), after=1)
    bench.show(replace(REST, busy=False), after=25)
    assert bench.results == [("done", "")]
    assert SortOutcome.unpack(bench.said[-1].values).tiles == (30, 30, 30, 30)
    assert bench.orders[:2] == [Order("gear", 120), Order("sort", 1)]


def test_nothing_is_sorted_below_an_open_centre_whoever_vouches() -> None:
    bench = Bench().ready(replace(REST, closed=False))
    assert bench.ask(serial.VouchCentre(5)) == serial.CentreVouched(5, True)
    assert bench.begin(serial.SortStart, 1).reason == "interlock"
    assert isinstance(bench.begin(serial.WallsRaise, 1), serial.OpAccepted)
    assert bench.given("sort") == 0


def test_a_word_for_the_centre_ends_when_it_moves() -> None:
    bench = Bench().ready(replace(REST, closed=False))
    bench.ask(serial.VouchCentre(5))
    bench.begin(serial.CentreRaise)
    bench.show(replace(REST, closed=False), after=2.5)
    assert bench.results == [("done", "")]
    assert bench.ask(serial.VouchCentre(6)).accepted is False
    assert bench.begin(serial.WallsRaise, 1).reason == "interlock"


@pytest.mark.parametrize(
    ("shown", "kind", "more"),
    [
        (replace(REST, home=False), serial.CentreRaise, ()),
        (replace(REST, home=False), serial.CentreLower, ()),
        (replace(REST, busy=True), serial.CentreRaise, ()),
        (replace(REST, out=0), serial.WallsRaise, (2,)),
        (replace(REST, closed=False), serial.SortStart, (1,)),
    ],
)
def test_the_interlocks_are_kept_for_a_board_that_has_none(shown: Shown, kind: Any, more: tuple[int, ...]) -> None:
    bench = Bench().ready(shown)
    assert bench.begin(kind, *more) == serial.OpRefused(serial.OpId(9, 1, 1, 1), "interlock")
    assert bench.orders == []


@pytest.mark.parametrize(
    ("kind", "more"),
    [(serial.WallsLower, ()), (serial.ReadWall, ("E",)), (serial.PresentGroup, ("E", 0, 2, "S")),
     (serial.Jog, (0, 500)), (serial.SelfTest, (1,))],
)  # fmt: skip
def test_what_such_a_board_has_not_is_unsupported(kind: Any, more: tuple[Any, ...]) -> None:
    bench = Bench().ready()
    assert bench.begin(kind, *more).reason == "unsupported"
    assert bench.orders == []


def test_a_stop_is_ordered_three_times_and_latched_on_this_side() -> None:
    bench = Bench().ready()
    bench.begin(serial.CentreRaise)
    assert bench.ask(serial.EmergencyStop("smoke")).reason == "smoke"
    assert bench.results == [("interrupted", "")]
    assert bench.given("stop") == 3
    assert bench.begin(serial.DiceRoll).reason == "latched"
    assert bench.ask(serial.ClearStop(8)) == serial.StopCleared(8)
    assert isinstance(bench.begin(serial.DiceRoll), serial.OpAccepted)


def test_the_stop_button_latches_until_it_is_out_and_a_person_clears() -> None:
    bench = Bench().ready()
    bench.show(replace(REST, button=True))
    assert bench.ask(serial.ClearStop(8)) == serial.StopLatched("stop button", 8)
    bench.show(REST)
    assert bench.begin(serial.DiceRoll).reason == "latched"
    assert bench.ask(serial.ClearStop(9)) == serial.StopCleared(9)


def test_a_daemon_that_goes_stops_the_motors_and_lets_a_throw_end() -> None:
    bench = Bench().ready()
    bench.begin(serial.SortStart, 1)
    bench.begin(serial.DiceRoll)
    bench.board.host_lost()
    assert bench.results == [("interrupted", "")]
    assert bench.given("stop") == 3
    bench.later(7)
    assert bench.results[-1] == ("done", "")


def test_an_adapter_that_starts_knows_of_a_risen_centre_only_that_it_is_not_closed() -> None:
    bench = Bench().ready(replace(REST, closed=False))
    assert bench.ask(serial.StatusQuery(2)).centre == "unknown"


def test_random_lines_never_throw_twice_for_one_id_and_end_every_operation() -> None:
    """Any order may be lost, any report too; each operation has one result, and the dice one order at most."""
    for seed in range(100):
        chance = random.Random(seed)
        bench = Bench().ready()
        shown = REST
        for step in range(12):
            kind, more = chance.choice(
                [(serial.DiceRoll, ()), (serial.CentreRaise, ()), (serial.CentreLower, ()), (serial.WallsRaise, (1,)),
                 (serial.SortStart, (1,)), (serial.SortStart, (2,))]
            )  # fmt: skip
            asked = kind(serial.OpId(9, 1, step, 1), *more)
            before = bench.given("dice_roll")
            bench.ask(asked)
            for _ in range(70):
                if chance.random() < 0.1:
                    shown = Shown(
                        chance.random() < 0.7, chance.random() < 0.7, False,
                        frozenset(chance.sample([1, 2], chance.randint(0, 2))), chance.randint(0, 2),
                        chance.random() < 0.3,
                    )  # fmt: skip
                if chance.random() < 0.02:
                    chance.choice([bench.board.line_lost, bench.board.host_lost])()
                if chance.random() < 0.9:
                    bench.show(shown, after=1)
                else:
                    bench.later(1)
                bench.ask(asked)
            assert bench.given("dice_roll") - before <= (kind is serial.DiceRoll)
        bench.later(70)
        ended = [one.op for one in bench.said if isinstance(one, serial.OpResult)]
        begun = {one.op for one in bench.said if isinstance(one, serial.OpAccepted)}
        assert begun == set(ended)
        for op in begun:
            assert len({one for one in bench.said if isinstance(one, serial.OpResult) and one.op == op}) == 1


# --- at a real port -------------------------------------------------------------------------------------------------


async def test_a_look_at_such_a_board_tells_what_it_can(tmp_path: Path) -> None:
    config = TableConfig(
        faces=load_ruleset("new-xiamen-120").faces(), world=str(tmp_path / "world"), link=tmp_path / "port",
        dialect="example",
    )  # fmt: skip
    async with SimulatedTable(config):
        probed = await probe(str(tmp_path / "port"), 9600, "test", 3.0, opener_for("example"))
        assert probed.identity.model == "example dialect"
        assert probed.status is not None and (probed.status.centre, probed.status.walls) == ("down", "down")
        # A daemon that takes it for a board of the contract says what came instead.
        with pytest.raises(ProbeError, match="bytes came, but no frame"):
            await probe(str(tmp_path / "port"), 9600, "test", 1.2)


async def test_a_line_on_which_nothing_is_heard_is_no_board(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        with pytest.raises(ProbeError, match="nobody answers"):
            await probe(os.ttyname(slave), 9600, "test", 1.2, opener_for("example"))
        assert os.set_blocking(master, False) is None
        with pytest.raises(BlockingIOError):
            os.read(master, 100)  # nor was it told anything
    finally:
        os.close(master)
        os.close(slave)


@asynccontextmanager
async def at_a_table(folder: Path, **more: Any) -> AsyncIterator[tuple[SimulatedTable, Line]]:
    """A daemon's line to a simulated board of the dialect, ready."""
    config = TableConfig(
        faces=load_ruleset("new-xiamen-120").faces(), world=str(folder / "world"), link=folder / "port",
        dialect="example", **more,
    )  # fmt: skip
    async with SimulatedTable(config) as simulated:
        line = Line(str(folder / "port"), 9600, "test", folder / "flights", opener_for("example", float(config.speed)))
        running = asyncio.create_task(line.run())
        try:
            await until(lambda: line.ready)
            yield simulated, line
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_daemon_that_ends_orderly_stops_what_moves(tmp_path: Path) -> None:
    async with at_a_table(tmp_path, speed=10) as (simulated, line):
        await line.request(lambda req: serial.SetGear(req, 120, GEAR), serial.GearSet, 2)
        await line.send(serial.SortStart(serial.OpId(9, 1, 1, 1), 1))
        await until(lambda: bool(simulated.mcu.mechanisms.sorting_set))
    # Leaving the block ended the line first, then the table: what ran was interrupted, not finished.
    assert simulated.mcu.counts["sort_interrupted"] == 1
    assert [order.verb for order in simulated.mcu.heard].count("stop") == 3  # type: ignore[attr-defined]


async def test_a_board_that_falls_silent_is_a_line_lost_and_an_id_asked_again_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExampleDialect, "repeats_s", 0.15)
    async with at_a_table(tmp_path, speed=10) as (simulated, line):
        lost: list[str] = []
        ended: list[Any] = []
        line.on_lost = lambda line, reason: lost.append(reason)
        line.on_message = lambda line, message: ended.append(message)
        boot = line.last_identity.boot_id if line.last_identity is not None else 0
        roll = serial.DiceRoll(serial.OpId(9, 1, 1, 1))
        await line.send(roll)
        await until(lambda: simulated.world.spinning)
        await simulated.mcu.freeze(1.0)
        await until(lambda: bool(lost) and line.ready)
        assert line.last_identity is not None and line.last_identity.boot_id == boot
        await line.send(roll)
        await until(lambda: any(isinstance(one, serial.OpResult) for one in ended))
        assert ended[-1].outcome == "interrupted"
        assert simulated.world.throws == 1


async def test_the_stop_button_at_the_board_latches_and_holds_until_it_is_out(tmp_path: Path) -> None:
    async with at_a_table(tmp_path, speed=10) as (simulated, line):
        said: list[Any] = []
        line.on_message = lambda line, message: said.append(message)
        simulated.mcu.press_stop()
        await until(lambda: serial.StopLatched("stop button") in said)
        answers = (serial.StopCleared, serial.StopLatched)
        assert isinstance(await line.ask(serial.ClearStop, answers, 2), serial.StopLatched)
        simulated.mcu.release_stop()
        async with asyncio.timeout(5):
            while isinstance(await line.ask(serial.ClearStop, answers, 2), serial.StopLatched):
                await asyncio.sleep(0.02)
        await line.send(serial.CentreRaise(serial.OpId(9, 1, 2, 1)))
        await until(lambda: simulated.world.centre == "up")


def test_the_document_has_the_codes_of_the_program() -> None:
    text = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text("utf-8")
    orders = text.split("**Orders**")[1].split("**Reports**")[0]
    told = text.split("**Reports**")[1].split("| bit of")[0]
    assert re.findall(r"^\| `([0-9A-F]{2})`", orders, re.MULTILINE) == [f"{code:02X}" for code in ORDERS]
    assert re.findall(r"^\| `([0-9A-F]{2})`", told, re.MULTILINE) == ["80", "81", "82"] == [
        f"{code:02X}" for code in (SHOWN, PRESSED, STARTED)
    ]
