"""Service mode: asked for from afar, begun and ended with the service key at the table, and what is done in it.

While it lasts the hand waits, untouched: the engine asks nobody anything and nothing that it wants is begun. Every
action is in the journal, and shown at the four seats, before anything moves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from controller.commands import CommandFailed
from controller.core import Core
from controller.hardware import Hardware
from controller.interlocks import KEY, LID, SERVICE, STOP, Condition, Facts, unmet
from controller.lines import Line, LineLost
from controller.mechanisms import LearnedTimes
from controller.publisher import Publisher
from controller.service.history import FaultHistory
from controller.service.looking import Readout, at_rest, away_from_home, counters, read_sensors, times
from controller.service.motion import Make, Motion, Mover
from engine import inputs as i
from engine.chain import Refused
from protocol.mqtt.models import Command
from protocol.serial import messages as serial

ASK_S: Final = 60.0
"""So long a table waits for its service key after somebody has asked for service mode."""

IDLE_S: Final = 600.0
"""Service mode ends by itself when nothing has been done for so long."""

KEY_MS: Final = 3_000
"""The service key held so long begins service mode, or ends it."""

POLL_S: Final = 0.2
SAY_S: Final = 1.0
"""Live sensors are looked at so often, and said when they change, at least every second."""

LAMPS_S: Final = 5.0
SELF_TEST_S: Final = 60.0
USUAL_JOG_MS: Final = 300
LEAVE_AGAIN_S: Final = 5.0
GREETED_KEPT: Final = 16

_REFUSED_FOR: Final[Mapping[Condition, str]] = {
    STOP: "latched",
    LID: "interlock",
    SERVICE: "board_not_in_service",
    KEY: "key_not_held",
}
"""What a repairer is told of a condition that does not hold, in the words of the board's own refusals."""

_Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Somebody wants service mode; the key has not been held yet."""

    who: str
    until: float


class Service:
    """The repairer's desk of one table. `now` gives monotonic seconds; `learned` the times of its mechanisms."""

    def __init__(
        self,
        core: Core,
        hardware: Hardware,
        publisher: Publisher,
        history: FaultHistory,
        journal_id: int,
        now: Callable[[], float],
        learned: LearnedTimes,
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self._core = core
        self._hardware = hardware
        self._publisher = publisher
        self._history = history
        self._now = now
        self._times = learned
        self._spawn = spawn
        self._mover = Mover(hardware, journal_id, publisher.epoch, self._key_held)
        self._asked: _Asked | None = None
        self._active_at = now()
        self._shown: Readout | None = None
        self._resting = False
        self._said: tuple[dict[str, Any], float] | None = None
        self._leave_at = 0.0
        self._lamps: asyncio.TimerHandle | None = None
        self._wake = asyncio.Event()
        self._moving = asyncio.Lock()
        self._greeted: set[serial.Identity] = set()
        self._log = structlog.get_logger("service")
        self.last: Mapping[str, Any] = {}
        """What was done last, as the seats see it."""

    @property
    def on(self) -> bool:
        """A repairer has the table."""
        return bool(self._core.state.service)

    @property
    def busy(self) -> bool:
        """Something that a repairer set going has not ended."""
        return self._moving.locked()

    def notices(self) -> Sequence[Mapping[str, Any]]:
        """What all four seats are shown while the table waits for its key."""
        asked = self._waiting()
        if asked is None:
            return ()
        left = int((asked.until - self._now()) * 1000)
        return ({"code": "service_asked", "seat": "", "left_ms": left, "params": {"who": asked.who}},)

    async def run(self) -> None:
        """Watch over service mode: say what sensors show, and end it when nobody does anything. Goes on for ever."""
        if self.on:
            self._log.warning("a repairer has the table since before this start", who=self._core.state.service)
        while True:
            if not self.on:
                self._wake.clear()
                await self._wake.wait()
            await self._look()
            await self._end_in_time()
            await asyncio.sleep(POLL_S)

    # --- the key ------------------------------------------------------------------------------------------------------

    def key(self, pressed_ms: int) -> bool:
        """The service key was let go after so long; whether that was for service mode and for nothing else."""
        if self.on:
            self._active_at = self._now()
        if pressed_ms < KEY_MS:
            return self.on
        if self.on or self._waiting() is not None:
            self._spawn(self._key_was_held())
            return True
        # Nobody has asked: the board is not to be left in a mode that its host does not know of.
        self._end_board_mode()
        return False

    async def _key_was_held(self) -> None:
        try:
            shown = await read_sensors(self._hardware.table_line)
        except LineLost:
            return
        asked = self._waiting()
        if not self.on and asked is not None and shown.mode:
            self._asked = None
            await self._begin(asked.who)
        elif self.on and not shown.mode and not self.busy:
            try:
                await self._leave("key", sure=False, at_table=True)
            except CommandFailed as failed:
                self._log.warning("service mode is not ended", reason=failed.code, **failed.params)

    async def _begin(self, who: str) -> None:
        self._active_at = self._now()
        self._resting, self._said, self.last = False, None, {}
        await self._core.ask(i.Service(True, who))
        self._log.warning("service mode begins: play waits", who=who)
        self._wake.set()

    def greet(self) -> None:
        """A board may have come back in a mode that was ended while it was away."""
        if self.on or self._waiting() is not None:
            return
        for line in self._hardware.lines:
            identity = line.identity
            if line.ready and identity is not None and identity.capabilities.service and identity not in self._greeted:
                self._greeted = {*self._greeted, identity} if len(self._greeted) < GREETED_KEPT else {identity}
                line.send_soon([serial.ServiceEnd()])

    def _end_board_mode(self) -> None:
        for line in self._hardware.lines:
            if line.ready:
                line.send_soon([serial.ServiceEnd()])

    # --- commands -----------------------------------------------------------------------------------------------------

    async def command(self, command: Command) -> _Result:
        """Carry out one action of `command/service`. CommandFailed with the code of what hinders it."""
        action, args, who = str(command.args["action"]), command.args, command.who
        match action:
            case "history":
                return self._history.told(int(args.get("from", 0)))
            case "counters" | "times":
                return await self._figures(action)
            case "status":
                return self._status()
            case "enter":
                return self._enter(who)
            case "leave":
                await self._leave(who, sure=args.get("sure") is True)
                return self._status()
        if not self.on:
            raise CommandFailed("not_in_service")
        self._active_at = self._now()
        match action:
            case "sensors":
                shown = await self._sensors()
                return {"sensors": dict(shown.sensors), "values": dict(shown.values)}
            case "jog":
                return await self._jog(command)
            case "self_test":
                return await self._self_test(command)
            case "lamps" | "buzzer":
                return await self._show(command, action)
            case "forget":
                return await self._forget(command)
        return await self._stop(command)

    def _status(self) -> dict[str, Any]:
        asked = self._waiting()
        state = self._core.state
        return {
            "service": "on" if self.on else "asked" if asked is not None else "off",
            "who": state.service or (asked.who if asked is not None else ""),
            "left_s": self._left_s() if self.on else int(asked.until - self._now()) if asked is not None else 0,
            "phase": state.phase,
            "link": self._hardware.link_state,
            "stop": state.stop or None,
        }

    def _enter(self, who: str) -> _Result:
        if not self.on:
            if not self._hardware.table_line.ready:
                raise CommandFailed("link_lost")
            # Whatever the board thinks: the key that is held from now on turns its mode on.
            self._end_board_mode()
            self._asked = _Asked(who, self._now() + ASK_S)
            asyncio.get_running_loop().call_later(ASK_S + 0.1, self._core.touch)
            self._core.touch(at_once=True)
        self._active_at = self._now()
        return self._status()

    async def _leave(self, by: str, sure: bool, at_table: bool = False) -> None:
        """Service mode ends. Play goes on where that is said with the key, `at_table`; otherwise the table is parked
        as it stands, until the key or a seat says that no hand is in it.
        """
        if not self.on:
            self._asked = None
            self._core.touch(at_once=True)
            return
        if self.busy:
            raise CommandFailed("busy", params={"what": "service"})
        if not sure:
            await self._check_home()
        await self._core.ask(i.Service(False, by, at_table))
        self._end_board_mode()
        self._hardware.lamps.show_again()
        self.last = {}
        self._log.warning("service mode is over", by=by, play="goes on" if at_table else "waits for a press at a seat")

    async def _check_home(self) -> None:
        """CommandFailed(not_home) where a mechanism does not stand where the hand goes on from."""
        state = self._core.state
        on_its_way = state.phase in ("centre_up", "centre_down", "idle", "ended")
        try:
            found = await away_from_home(self._hardware.table_line, state.centre, on_its_way)
        except LineLost:
            raise CommandFailed("link_lost") from None
        if found:
            raise CommandFailed("not_home", params=found)

    async def _figures(self, action: str) -> _Result:
        try:
            if action == "times":
                return await times(self._hardware.table_line, self._times.learned())
            return {**await counters(self._hardware.lines), "history_cycles": self._history.cycles}
        except LineLost:
            raise CommandFailed("link_lost") from None

    async def _jog(self, command: Command) -> _Result:
        motor, ms = command.args.get("motor"), int(command.args.get("ms", USUAL_JOG_MS))
        if motor not in serial.MOTORS:
            raise CommandFailed("bad_value", f"args.motor: one of {', '.join(serial.MOTORS)}")
        if ms == 0:
            raise CommandFailed("bad_value", "args.ms: not 0")
        number = serial.MOTORS.index(motor)
        line = self._hardware.dice_line if motor == "dice" else self._hardware.table_line
        said = {"motor": motor, "ms": ms}
        result = await self._move(
            command, "jog", said, line, lambda op: serial.Jog(op, number, ms), abs(ms) / 1000, needs_key=True
        )
        return _outcome(result)

    async def _self_test(self, command: Command) -> _Result:
        number = int(command.args.get("number", 0))
        name = serial.SELF_TESTS[number] if number < len(serial.SELF_TESTS) else str(number)
        # A test of its own that a board has beyond those of the contract may move whatever it likes.
        moves = name in serial.MOVING_TESTS or number >= len(serial.SELF_TESTS)
        said = {"number": number, "test": name}
        line = self._hardware.table_line
        result = await self._move(
            command, "self_test", said, line, lambda op: serial.SelfTest(op, number), SELF_TEST_S, moves
        )
        return {**_outcome(result), "number": number, "test": name, "checks": _checks(result)}

    async def _move(
        self,
        command: Command,
        act: str,
        params: Mapping[str, Any],
        line: Line,
        make: Make,
        seconds: float,
        needs_key: bool,
    ) -> serial.OpResult:
        """One motion: allowed, in the journal, then begun, and seen to its end before any other."""
        if self.busy:
            raise CommandFailed("busy", params={"what": "service"})
        async with self._moving:
            await self._may_move(needs_key)
            await self._audit(command, act, params)
            # The disk may have taken its time: the hand at the key, or the lid, may no longer be where it was.
            await self._may_move(needs_key)
            what = str(params.get("motor") or params.get("test"))
            motion = Motion(act, what, asyncio.get_running_loop().time() + seconds)
            return await self._mover.run(line, make, motion, needs_key)

    async def _show(self, command: Command, action: str) -> _Result:
        line = self._hardware.table_line
        if not line.ready:
            raise CommandFailed("link_lost")
        if action == "buzzer":
            pattern = int(command.args.get("pattern", 0))
            await self._audit(command, "buzzer", {"pattern": pattern})
            line.send_soon([serial.Buzzer(pattern)])
            return {}
        await self._audit(command, "lamps", {})
        stacks = line.identity.stacks if line.identity is not None else (0,) * 4
        lit = [serial.Lamp(side, 0, (count or 18) - 1, side) for side, count in zip(serial.SIDES, stacks, strict=True)]
        line.send_soon([serial.LampsOff(), *lit])
        if self._lamps is not None:
            self._lamps.cancel()
        self._lamps = asyncio.get_running_loop().call_later(LAMPS_S, self._hardware.lamps.show_again)
        return {"seconds": LAMPS_S}

    async def _forget(self, command: Command) -> _Result:
        """A mechanism was mended: what it took before says nothing any more, and its usual time is learned anew."""
        movement, known = command.args.get("movement"), self._times.learned()
        if movement not in known:
            raise CommandFailed("bad_value", f"args.movement: one of {', '.join(known)}")
        await self._audit(command, "forget", {"movement": movement})
        await self._times.forget(str(movement))
        return {}

    async def _stop(self, command: Command) -> _Result:
        """Stop everything, at once: nothing is asked first, the journal hears of it from the board."""
        for line in self._hardware.lines:
            if line.ready:
                line.send_soon([serial.EmergencyStop("service")])
        await self._audit(command, "stop", {})
        return {}

    async def _may_move(self, needs_key: bool) -> None:
        """CommandFailed unless the machine rests and the interlocks of a jog hold; without the key, of a self-test."""
        if self._core.state.stop:
            raise CommandFailed("latched")
        try:
            shown = await self._sensors()
            if not await at_rest(self._hardware.lines):
                raise CommandFailed("busy", params={"what": "machine"})
        except LineLost:
            raise CommandFailed("link_lost") from None
        missing = unmet("jog" if needs_key else "self_test", self._facts(shown))
        if missing is not None:
            raise CommandFailed(_REFUSED_FOR[missing])

    def _facts(self, shown: Readout) -> Facts:
        """What a jog and a self-test are allowed by; they ask for no position of any mechanism."""
        state = self._core.state
        return Facts(
            lid_closed=shown.lid_closed and not any(fault.code == "lid_open" for fault in state.faults),
            stop=bool(state.stop),
            service=shown.mode,
            key_held=shown.key,
        )

    async def _audit(self, command: Command, act: str, params: Mapping[str, Any]) -> None:
        """On the disk, and at the seats, before anything is done."""
        self.last = {"act": act, "params": dict(params)}
        try:
            await self._core.ask(i.Serviced(command.who, act, params), command.id)
        except Refused as refused:
            raise CommandFailed(refused.code) from None

    # --- what is looked at --------------------------------------------------------------------------------------------

    async def _sensors(self) -> Readout:
        try:
            self._shown = await read_sensors(self._hardware.table_line)
        except LineLost:
            raise CommandFailed("link_lost") from None
        return self._shown

    async def _key_held(self) -> bool:
        return (await read_sensors(self._hardware.table_line)).key

    async def _look(self) -> None:
        """Say what the sensors show, when that has changed and at least every second."""
        link = "up"
        try:
            self._shown = await read_sensors(self._hardware.table_line)
            if self._shown.key:
                self._active_at = self._now()
            if not self._resting:
                self._resting = await at_rest(self._hardware.lines)
        except LineLost:
            link, self._shown, self._resting = "lost", None, False
        if not self.on:
            return
        data = self._live(link)
        now = self._now()
        same = {key: value for key, value in data.items() if key not in ("left_s", "values")}
        if self._said is None or self._said[0] != same or now - self._said[1] >= SAY_S:
            self._said = (same, now)
            self._publisher.say_service(data)

    def _live(self, link: str) -> dict[str, Any]:
        shown, motion = self._shown, self._mover.motion
        left_ms = 0 if motion is None else max(0, int((motion.until - asyncio.get_running_loop().time()) * 1000))
        return {
            "who": self._core.state.service,
            "left_s": self._left_s(),
            "link": link,
            "at_rest": self._resting,
            "board_mode": shown is not None and shown.mode,
            "key": shown is not None and shown.key,
            "stop": self._core.state.stop or None,
            "sensors": {} if shown is None else dict(shown.sensors),
            "values": {} if shown is None else dict(shown.values),
            "motion": None
            if motion is None
            else {"action": motion.action, "what": motion.what, "left_ms": left_ms},
        }

    def _left_s(self) -> int:
        return max(0, int(self._active_at + IDLE_S - self._now()))

    async def _end_in_time(self) -> None:
        """Nobody has done anything for long: service mode ends, unless a mechanism stands where play cannot go on."""
        now = self._now()
        if self.busy or now - self._active_at < IDLE_S or now < self._leave_at:
            return
        self._leave_at = now + LEAVE_AGAIN_S
        try:
            await self._leave("time", sure=False)
        except CommandFailed as failed:
            self._log.warning("service mode cannot end by itself", reason=failed.code, **failed.params)

    def _waiting(self) -> _Asked | None:
        if self._asked is not None and self._asked.until <= self._now():
            self._asked = None
        return self._asked


def _outcome(result: serial.OpResult) -> dict[str, Any]:
    return {"outcome": result.outcome, "fault": result.fault, "side": result.side}


def _checks(result: serial.OpResult) -> list[dict[str, Any]]:
    """What each test found; empty where the board tells no more than the outcome."""
    if not result.values:
        return []
    try:
        found = serial.SelfTestOutcome.unpack(result.values).checks
    except serial.MessageError:
        return []
    names = serial.SELF_TESTS
    return [
        {"number": number, "test": names[number] if number < len(names) else str(number), "fault": fault, "side": side}
        for number, fault, side in found
    ]
