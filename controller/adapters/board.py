"""The firmware that a board of a simpler dialect lacks, on this side of its line: pure, like the link.

Messages of the contract and what the board tells go in; messages and orders come out through `say` and `put`; `now` is
monotonic seconds. It keeps an id's at-most-once itself, while this process lives: nothing outlives it (`volatile`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from controller.adapters.moves import LOOKS, MOVES, TRIES, Move
from controller.interlocks import GEAR, STOP, Facts, unmet
from protocol.dialects import Dialect, Order, Pressed, Shown, Started, Told
from protocol.serial import messages as serial
from protocol.serial.operations import OperationMemory
from protocol.serial.parts import DiceOutcome, SortOutcome
from protocol.serial.vocabulary import RefusalReason

FIRMWARE: Final = "adapter 1"
LEAST_WAIT_S: Final = 0.6
"""However fast a simulated table is: what its line says needs this long to be heard."""

STOPS: Final = 3
"""An order to stop is given so often: nobody answers it, and to stop twice does no harm."""

_REFUSED: Final[Mapping[str, RefusalReason]] = {STOP: "latched", GEAR: "gear"}
_BITS: Final = {name: 1 << bit for bit, name in enumerate(serial.SENSOR_BITS)}


@dataclass(slots=True)
class _Running:
    """A movement under way: `looks` since the order that showed nothing begun, `began` once something did."""

    operation: serial.Operation
    move: Move
    set_no: int
    since: float
    tries: int = 1
    looks: int = 0
    began: bool = False


class AdaptedBoard:
    """One board of a dialect as a board of the contract. `speed` divides every time; 1 at a real table."""

    def __init__(self, dialect: Dialect, boot_id: int, speed: float = 1.0) -> None:
        self.say: Callable[[serial.Message], None] = lambda message: None
        self.put: Callable[[bytes], None] = lambda data: None
        self.shown: Shown | None = None
        """What the board showed last; None where nothing has been heard since the line was opened."""
        self.sorted_sets = 0
        self.heard = 0
        self.junk = 0
        self._dialect = dialect
        self._boot_id = boot_id
        self._speed = speed
        self._memory = OperationMemory()
        self._running: list[_Running] = []
        self._gear: tuple[int, tuple[int, int, int, int]] = (0, (0, 0, 0, 0))
        self._stop_reason = ""
        self._up = False
        self._vouched = False
        self._pushed_in = False

    # --- the board's side ---------------------------------------------------------------------------------------------

    def hear(self, told: Told, now: float) -> None:
        """The board has told something."""
        self.heard += 1
        match told:
            case Shown():
                self._see(told, now)
            case Pressed(key=key, seat=seat):
                self.say(serial.Key(key, seat))
            case Started():
                self._lose(self._running)

    def _see(self, shown: Shown, now: float) -> None:
        pressed_in = shown.button and (self.shown is None or not self.shown.button)
        self.shown = shown
        if shown.closed:
            self._up = self._vouched = False
        if pressed_in:
            self._latch("stop button")
        for one in tuple(self._running):
            idle = one.move.idle(shown, one.set_no)
            one.began = one.began or (one.set_no not in shown.stacked if one.move.verb == "sort" else not idle)
            # What is shown in the moment of the order may have been said before it came.
            one.looks = one.looks + 1 if idle and now - one.since > 0.1 else 0
            if one.move.again and one.looks > LOOKS and one.tries < TRIES:
                one.tries, one.looks = one.tries + 1, 0
                self.put(self._dialect.order(one.move.order_for(one.set_no)))
        self.tick(now)

    def line_lost(self) -> None:
        """The line to the board is gone, or says nothing: nobody knows how what ran has ended."""
        self.shown = None
        self._lose(self._running)

    def host_lost(self) -> None:
        """The daemon goes, or does not see us: what moves is stopped, a throw ends by itself."""
        motors = [one for one in self._running if one.move.again]
        if motors:
            self._order_stop()
            self._lose(motors)

    def _lose(self, lost: Iterable[_Running]) -> None:
        """Nobody will ever know how these have ended: people look, or it is begun anew as another attempt."""
        self._up = False
        for one in tuple(lost):
            if one.move.lost == "fault":
                self._end(one, "failed", one.move.fault)
            else:
                self._end(one, "interrupted")

    # --- time ---------------------------------------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When `tick` must be called at the latest; None while nothing runs."""
        return min((self._least(one) if self._stands(one) else self._most(one) for one in self._running), default=None)

    def tick(self, now: float) -> None:
        """End what has ended by now, or should have."""
        for one in tuple(self._running):
            if self._stands(one) and now >= self._least(one):
                self._end(one, "done")
            elif now >= self._most(one):
                self._end(one, "failed", one.move.fault)

    def _stands(self, one: _Running) -> bool:
        return self.shown is not None and one.move.stands(self.shown, one.set_no, one.began)

    def _least(self, one: _Running) -> float:
        return one.since + one.move.least_s / self._speed

    def _most(self, one: _Running) -> float:
        return one.since + max(one.move.most_s / self._speed, one.move.least_s / self._speed + LEAST_WAIT_S)

    def _end(self, one: _Running, outcome: serial.Outcome, fault: serial.FaultCode | None = None) -> None:
        self._running.remove(one)
        values = b""
        if outcome == "done":
            match one.move.verb:
                case "centre_raise":
                    self._up = True
                case "centre_lower":
                    self._pushed_in = True
                case "sort":
                    self.sorted_sets += 1
                    # Nobody has counted: a side that is short is seen when its wall stands.
                    e, s, w, n = self._gear[1]
                    values = SortOutcome((2 * e, 2 * s, 2 * w, 2 * n)).pack()
                case "dice_roll":
                    values = DiceOutcome(None, "unread", round(1000 * one.move.least_s)).pack()
        self.say(self._memory.finish(one.operation.op, outcome, fault or "", "", values))

    # --- the daemon's side --------------------------------------------------------------------------------------------

    def take(self, message: serial.Message, now: float) -> None:
        """A message of the host. What such a board has not is refused (`unsupported`) or forgotten (lamps, sounds)."""
        match message:
            case serial.Identify(req=req):
                self.say(self._identity(req))
            case serial.Ping(req=req):
                self.say(serial.Pong(req))
            case serial.StatusQuery(req=req):
                self.say(self._status(req))
            case serial.SetGear(req=req, tiles=tiles, stacks=stacks):
                self.say(self._set_gear(req, tiles, stacks))
            case serial.CountersQuery(req=req):
                counted = {"frames_in": self.heard, "bad_frames": self.junk}
                self.say(serial.Counters(req, self.sorted_sets, (0,) * 6, (0,) * 6, **counted))
            case serial.SensorsQuery(req=req):
                self.say(serial.Sensors(req, self._bits(), (0,) * 8))
            case serial.DiceQuery(req=req):
                rolling = any(one.move.verb == "dice_roll" for one in self._running)
                self.say(serial.DiceFaces(req, False, moving=rolling))
            case serial.VouchCentre(req=req):
                self._vouched = self._centre() != "up"
                self.say(serial.CentreVouched(req, self._vouched))
            case serial.EmergencyStop(reason=reason):
                self._latch(reason or "stopped")
            case serial.ClearStop(req=req):
                self._clear_stop(req)
            case _ if isinstance(message, serial.OPERATIONS):
                self._operate(message, now)

    def _operate(self, operation: serial.Operation, now: float) -> None:
        known = self._memory.admit(operation)
        if known is not None:
            self.say(known)
            return
        reason = self._refusal(operation)
        if reason is not None:
            self.say(serial.OpRefused(operation.op, reason))
            return
        self.say(self._memory.begin(operation))
        if isinstance(operation, serial.SortStop):
            # One order for all motors: what else runs is interrupted with it, the dice aside.
            self._order_stop()
            self._interrupt()
            self.say(self._memory.finish(operation.op, "done"))
            return
        set_no = getattr(operation, "set_no", 0)
        move = MOVES[type(operation)]
        one = _Running(operation, move, set_no, now)
        if move.verb == "sort":
            one.began = self.shown is not None and set_no not in self.shown.stacked
            self.put(self._dialect.order(Order("gear", self._gear[0])))
        elif move.verb in ("centre_raise", "walls_raise"):
            self._vouched = False
        if move.verb == "walls_raise":
            self._pushed_in = False
        self._running.append(one)
        self.put(self._dialect.order(move.order_for(set_no)))
        self.tick(now)

    def _refusal(self, operation: serial.Operation) -> RefusalReason | None:
        """The contract's interlocks: such a board has its own at best, and says nothing when it does not move."""
        if self._stop_reason and not isinstance(operation, serial.SortStop):
            return "latched"
        if isinstance(operation, serial.SortStop):
            return None
        move = MOVES.get(type(operation))
        if move is None:
            return "unsupported"
        lifts = ("centre_raise", "centre_lower")
        alike = lifts if move.verb in lifts else (move.verb,)
        if any(one.move.verb in alike for one in self._running):
            return "busy"
        missing = unmet(move.verb, self._facts(), getattr(operation, "set_no", 0))
        if missing is None:
            return None
        return _REFUSED.get(missing, "interlock")

    def _facts(self) -> Facts:
        shown = self._status(0)
        return Facts(
            shown.centre, shown.walls, shown.sorted_set, shown.set_up, shown.sorting_set,
            stop=bool(self._stop_reason), by_word=self._vouched, gear=bool(self._gear[0]),
        )  # fmt: skip

    # --- within -------------------------------------------------------------------------------------------------------

    def _latch(self, reason: str) -> None:
        """Nobody answers an order to stop, and the board latches nothing: the latch is here, and in the daemon."""
        self._order_stop()
        self._interrupt()
        self._stop_reason = self._stop_reason or reason
        self.say(serial.StopLatched(self._stop_reason))

    def _interrupt(self) -> None:
        for one in tuple(self._running):
            if one.move.verb != "dice_roll":
                self._end(one, "interrupted")

    def _order_stop(self) -> None:
        self._up = False
        for _ in range(STOPS):
            self.put(self._dialect.order(Order("stop")))

    def _clear_stop(self, req: int) -> None:
        if self.shown is not None and self.shown.button:
            self.say(serial.StopLatched(self._stop_reason, req))
            return
        self._stop_reason = ""
        self.say(serial.StopCleared(req))

    def _set_gear(self, req: int, tiles: int, stacks: tuple[int, int, int, int]) -> serial.GearSet:
        if any(one.move.verb == "sort" for one in self._running):
            return serial.GearSet(req, False, "busy")
        if not tiles or 2 * sum(stacks) != tiles:
            return serial.GearSet(req, False, "bad_argument")
        # Told with each sort: that it was heard nobody says.
        self._gear = (tiles, stacks)
        return serial.GearSet(req, True)

    def _centre(self) -> serial.Position:
        if any(one.move.verb in ("centre_raise", "centre_lower") for one in self._running):
            return "moving"
        if self.shown is not None and self.shown.closed:
            return "down"
        return "up" if self._up else "unknown"

    def _walls(self) -> serial.Position:
        if any(one.move.verb == "walls_raise" for one in self._running):
            return "moving"
        return "down" if self.shown is not None and self.shown.home else "unknown"

    def _status(self, req: int) -> serial.Status:
        shown = self.shown or Shown(False, False)
        sorting = next((one.set_no for one in self._running if one.move.verb == "sort"), 0)
        stacked = sorted(shown.stacked - {sorting})
        if not self._running and shown.busy:
            # A motor runs that this process did not start: what it began before, or somebody at the board.
            sorting = min({1, 2} - shown.stacked - {shown.out}, default=1)
        running = self._memory.running
        return serial.Status(
            req=req,
            centre=self._centre(),
            walls=self._walls(),
            set_up=0 if self._pushed_in else shown.out,
            sorted_set=stacked[0] if stacked else 0,
            sorting_set=sorting,
            felt_sets=0,
            stop_reason=self._stop_reason,
            running_op=running[0] if running else None,
        )

    def _bits(self) -> int:
        shown = self.shown or Shown(False, False)
        lit = {"centre_down": shown.closed, "walls_down": shown.home, "stop_button": shown.button}
        return sum(_BITS[name] for name, on in lit.items() if on)

    def _identity(self, req: int) -> serial.Identity:
        return serial.Identity(
            req=req,
            protocol=serial.PROTOCOL,
            firmware=FIRMWARE,
            model=self._dialect.model,
            serial_number="",
            boot_id=self._boot_id,
            capabilities=serial.Capabilities(dice="unread", lamps=False),
            gear_tiles=self._gear[0],
            stacks=self._gear[1],
            last_op=self._memory.last_completed,
            stop_reason=self._stop_reason,
        )
