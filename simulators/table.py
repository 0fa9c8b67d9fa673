"""A whole simulated table: world, mechanisms, board, line and world channel, as one async context manager.

    async with SimulatedTable(TableConfig(link=Path("table-serial"), world="table-world", seed=7)) as table:
        print(table.line_name, table.world_address)

It runs on the loop that opens it and is gone when the block ends. `kaijin simulate table` is this and nothing more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, get_args

from engine.tiles import SEATS
from protocol.serial.messages import FAULT_CODES, FaultCode, Severity
from protocol.serial.vocabulary import DealingAid, DiceAbility, Sensing
from simulators.acts import seat_of, text_of
from simulators.assumptions import Assumptions, default_assumptions
from simulators.c_board import OF_BYTES, CMcu
from simulators.channel import WorldServer
from simulators.defects import board_kind
from simulators.dialect_board import DialectBoard
from simulators.dice_unit import DiceMechanisms, DiceUnit
from simulators.mcu import Board, Mcu
from simulators.mechanisms import USUAL_FAULT, Build
from simulators.pace import Pace
from simulators.port import Port, PtyPort, TcpPort
from simulators.readers import Readers
from simulators.scenario.actions import Machine
from simulators.scenario.director import Director, Happened
from simulators.scenario.model import KINDS, Scenario
from simulators.scenario.reading import ScenarioError, parse_order
from simulators.scenario.wire import FaultyPort
from simulators.script import ScriptedHand
from simulators.wear import Failure
from simulators.world import Happening, Missing, World, WorldError

CONTROLS = (*KINDS, "summary")
"""What can be done to the hardware over the world channel: every action of a scenario, and the summary."""
_SHORT: Final[Mapping[str, str]] = {"stop_button": "pressed", "lid": "open", "fault": "cleared", "misread": "as"}
"""Verbs that may be said with this word as well: what is on or off, without a time."""
_ENVELOPE: Final = ("id", "act", "verb")
_SWITCHED: Final = {*_ENVELOPE, "seat", "side", "code", "severity", "board", "zone", "kind", "tile"}


@dataclass(frozen=True, slots=True)
class TableConfig:
    """How the simulated table is built and what goes wrong at it.

    One of `link` (symlink to the pty), `tcp` (HOST:PORT) and `port` (any other line, such as a MemoryPort); `world` a
    socket's path or HOST:PORT; `faces` how many of each face one set has; `speed` a factor or `max`; `cocked` the
    chance of a leaning die, None for the assumed one; `wear` how many times the assumed rates of faults;
    `reader_faults` the chance that a change is read wrongly; `defect` what is wrong with the program of the table's
    board (simulators.defects); `dice_link` the symlink of a second board's line that has the dice, where they are a
    unit of their own; `scenario` what goes wrong by order, with `scenario_seed` in the place of its own seed;
    `dialect` what the table's board speaks in the place of the contract, with `noise` the chance that one of its
    bytes is lost or another.
    """

    faces: Mapping[str, int]
    world: str
    link: Path | None = None
    tcp: str | None = None
    seed: int = 1
    speed: str | float = 1
    sensing: Sensing = "none"
    dice: DiceAbility = "read"
    aid: DealingAid = "guide"
    nonvolatile: bool = False
    cocked: float | None = None
    missing: Sequence[Missing] = ()
    failures: Sequence[Failure] = ()
    wear: float = 0.0
    reader_faults: float = 0.0
    script: Sequence[ScriptedHand] = ()
    baud: int | None = None
    serial_number: str = "SIM-0001"
    dice_link: Path | None = None
    assumptions: Assumptions | None = None
    scenario: Scenario | None = None
    scenario_seed: int | None = None
    port: Port | None = None
    defect: str = ""
    dialect: str = ""
    noise: float = 0.0
    mcu: Path | None = None
    """A program that is the board in the place of the one in Python (simulators.c_board); it needs `link`."""


class SimulatedTable:
    """The table of a configuration; `line_name` and `world_address` say where it is found once it runs.

    `told` hears of everything that a scenario or an order lets go wrong.
    """

    def __init__(self, config: TableConfig, told: Callable[[Happened], None] = lambda happened: None) -> None:
        assumptions = config.assumptions or default_assumptions()
        cocked = assumptions.rates.cocked if config.cocked is None else config.cocked
        self.world = World(
            faces=config.faces,
            seed=config.seed,
            script=config.script,
            missing=config.missing,
            cocked_rate=cocked if config.dice == "read" else 0.0,
            deals=config.aid == "present",
            notify=self._noticed,
        )
        apart = config.dice_link is not None
        dice_here: DiceAbility = "unread" if config.dialect else config.dice
        build = Build("hand" if apart else dice_here, config.aid, config.sensing == "full")
        pace = Pace(config.speed)
        mcu_kind = board_kind(config.defect) if config.defect else Mcu
        mechanisms = mcu_kind.mechanisms_kind(self.world, build, assumptions, pace, config.failures, config.wear)
        board = Board(config.serial_number, config.nonvolatile)
        readers = Readers(self.world, config.reader_faults)
        wire = FaultyPort(_port(config))
        self.mcu = (
            CMcu(mechanisms, board, wire, config.mcu, config.link, readers)
            if config.mcu is not None and config.link is not None
            else DialectBoard(mechanisms, board, wire, config.noise, config.seed)
            if config.dialect
            else mcu_kind(mechanisms, board, wire, config.baud, readers)
        )
        answer, chance = assumptions.quirks.answer, random.Random(f"{config.seed}/answers")
        if answer.seconds:
            self.mcu.line.thinks = lambda: pace.real(answer.sample(chance))
        self._machines = {"table": Machine(self.mcu, wire)}
        self.dice_unit: DiceUnit | None = None
        if config.dice_link is not None:
            dice = DiceMechanisms(
                self.world, Build(config.dice), assumptions, Pace(config.speed), config.failures, config.wear
            )
            unit = Board(f"{config.serial_number}-D", config.nonvolatile)
            wire = FaultyPort(PtyPort(config.dice_link))
            self.dice_unit = DiceUnit(dice, unit, wire, config.baud)
            self._machines["dice"] = Machine(self.dice_unit, wire)
        self.director = Director(self._machines, pace, config.scenario, config.scenario_seed, told)
        self._channel = WorldServer(self.world, config.world, self._control, self._acted)
        self.line_name = ""
        self.world_address = ""

    async def __aenter__(self) -> SimulatedTable:
        self.world_address = await self._channel.start()
        try:
            self.line_name = await self.mcu.start()
            if self.dice_unit is not None:
                await self.dice_unit.start()
        except OSError:
            await self.mcu.stop()
            await self._channel.stop()
            raise
        self.director.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.director.stop()
        for board in self._boards():
            await board.stop()
        await self._channel.stop()

    def summary(self) -> dict[str, Any]:
        """What has happened so far, in counts."""
        boards = self._boards()
        counts = sum((board.counts for board in boards), Counter[str]())
        running = [board.mechanisms.running for board in boards]
        return {
            "sorts": self.world.sorts,
            "walls": self.world.raised,
            "throws": self.world.throws,
            "presented": counts["present_group_done"],
            "boots": sum(board.board.boots for board in boards),
            "operations": sum(count for name, count in counts.items() if name.endswith(("_done", "_failed"))),
            "failed": sum(count for name, count in counts.items() if name.endswith("_failed")),
            "interrupted": sum(count for name, count in counts.items() if name.endswith("_interrupted")),
            "refused": counts["refused_operations"],
            "repeated": counts["repeated_operations"],
            "unasked": counts["unasked_throws"],
            "misread": self.mcu.readers.misread,
            "thrown_again": sum(count - 1 for board in boards for count in board.thrown.values()),
            "ordered": dict(sorted(self.director.counts.items())),
            "scenario_seed": self.director.seed,
            "running": sorted(verb for verb, count in sum(running, Counter[str]()).items() if count),
        }

    async def act(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the world channel answers to a request, without the channel."""
        return await self._channel.answer(request)

    def _boards(self) -> tuple[Mcu, ...]:
        return (self.mcu,) if self.dice_unit is None else (self.mcu, self.dice_unit)

    def _noticed(self, happening: Happening) -> None:
        self._channel.changed()
        self.mcu.noticed(happening)
        self.director.changed()

    def _acted(self, act: str, request: Mapping[str, Any]) -> None:
        self.mcu.behaviour.acted(act, request)

    async def _control(self, verb: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        if verb == "summary":
            return self.summary()
        if verb not in KINDS:
            raise WorldError(f"control {verb!r}: expected {', '.join(CONTROLS)}")
        if isinstance(self.mcu, CMcu) and verb in OF_BYTES:
            raise WorldError(f"control {verb!r}: not at a board that is a program of its own, whose line is not here")
        if _SHORT.get(verb) in request or (verb in _SHORT and set(request) <= _SWITCHED):
            self._switch(verb, request)
            return {}
        words = {name: value for name, value in request.items() if name not in _ENVELOPE}
        if words.get("seat", "") is None or "seat" not in KINDS[verb].model_fields:
            words.pop("seat", None)  # who sits at a seat says it with every request
        try:
            action = parse_order({"action": verb, **words})
        except ScenarioError as error:
            raise WorldError(str(error)) from None
        await self.director.order(action)
        return {}

    def _switch(self, verb: str, request: Mapping[str, Any]) -> None:
        match verb:
            case "stop_button":
                board = self._machine(request).mcu
                board.press_stop() if request.get("pressed", True) is True else board.release_stop()
            case "lid":
                self._machine(request).lid(request.get("open", True) is True)
            case "fault":
                self._fault(self._machine(request).mcu, request)
            case "misread":
                self._misread(request)

    def _misread(self, request: Mapping[str, Any]) -> None:
        if not self.mcu.mechanisms.build.readers:
            raise WorldError("this table has no readers")
        seat, zone = seat_of(request), text_of(request, "zone")
        face, read_as = text_of(request, "tile", ""), text_of(request, "as", "")
        self.mcu.readers.err(seat, zone, text_of(request, "kind"), face, read_as)
        self.mcu.send_zone(seat, zone)

    def _machine(self, request: Mapping[str, Any]) -> Machine:
        """Whose fault it is: the table's, or the dice unit's where that is a board of its own."""
        named = text_of(request, "board", "table")
        if named not in self._machines:
            raise WorldError(f"board: expected {' or '.join(self._machines)}, got {named!r}")
        return self._machines[named]

    def _fault(self, board: Mcu, request: Mapping[str, Any]) -> None:
        code, side, severity = request.get("code"), request.get("side", ""), request.get("severity", "warning")
        if code not in FAULT_CODES:
            raise WorldError(f"code: expected one of {', '.join(FAULT_CODES)}, got {code!r}")
        if side not in (*SEATS, ""):
            raise WorldError(f"side: expected E, S, W, N or nothing, got {side!r}")
        if severity not in get_args(Severity):
            raise WorldError(f"severity: expected one of {', '.join(get_args(Severity))}, got {severity!r}")
        if request.get("cleared") is True:
            board.clear_fault(code, side)
        else:
            board.raise_fault(code, severity, "", side)


class FaultSpecError(ValueError):
    """A `--fail` or `--missing-tile` that cannot be read; the message says what was expected."""


def parse_failure(text: str) -> Failure:
    """`centre_raise:2` or `sort:1:sort_timeout`: the second raising fails, the first sort times out."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or parts[0] not in USUAL_FAULT:
        raise FaultSpecError(f"{text!r}: expected OP:K or OP:K:FAULT with OP one of {', '.join(USUAL_FAULT)}")
    fault: FaultCode = USUAL_FAULT[parts[0]]
    if len(parts) == 3:
        if parts[2] not in FAULT_CODES:
            raise FaultSpecError(f"{text!r}: fault {parts[2]!r} is none of {', '.join(FAULT_CODES)}")
        fault = next(code for code in FAULT_CODES if code == parts[2])
    return Failure(parts[0], _count(text, parts[1]), fault)


def parse_missing(text: str) -> Missing:
    """`2:S` or `2:S:3`: at the second sort one tile, or three, are missing at side S."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or parts[1] not in SEATS:
        raise FaultSpecError(f"{text!r}: expected SORT:SIDE or SORT:SIDE:N with SIDE one of E, S, W, N")
    return Missing(_count(text, parts[0]), parts[1], _count(text, parts[2]) if len(parts) == 3 else 1)


def _count(text: str, part: str) -> int:
    if not part.isascii() or not part.isdigit() or not 1 <= int(part) <= 10_000:
        raise FaultSpecError(f"{text!r}: {part!r} is no count: expected a whole number from 1")
    return int(part)


def _port(config: TableConfig) -> Port:
    if config.port is not None:
        return config.port
    if config.tcp is not None:
        return TcpPort(config.tcp)
    if config.link is None:
        raise ValueError("a table needs a line: `link`, `tcp` or `port`")
    return PtyPort(config.link)
