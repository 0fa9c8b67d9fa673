"""Boards whose program is wrong: dice, interlocks, stops, lamps, service."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from protocol.serial.events import LinkEvent, LinkLost, SessionStarted
from protocol.serial.messages import (
    ClearStop,
    Counters,
    CountersQuery,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    DiceUnasked,
    Identify,
    Identity,
    Jog,
    Key,
    Lamp,
    Message,
    Operation,
    OpId,
    OpResult,
    RefusalReason,
    SelfTest,
    Sensors,
    SensorsQuery,
    Status,
    StatusQuery,
    StopCleared,
    StopLatched,
)
from simulators.mcu import Mcu
from simulators.mechanisms import Ending, Mechanisms, Progress

LAMPS: Final = 40
"""Lamps of a side in the memory of a board that does not look where it writes."""


# --- session and requests ---------------------------------------------------------------------------------------------


class BootIdConstant(Mcu):
    def _boot(self) -> None:
        super()._boot()
        self._boot_id = 0x0B0071D5


class MajorsIgnored(Mcu):
    def _on_message(self, message: Message) -> None:
        if isinstance(message, Identify):
            message = replace(message, protocol_min=1, protocol_max=1)
        super()._on_message(message)


class SpeaksFirst(Mcu):
    def _on_link(self, event: LinkEvent) -> None:
        super()._on_link(event)
        if isinstance(event, SessionStarted):
            self._identify(0)


class WithoutReq(Mcu):
    def _send(self, message: Message) -> None:
        super()._send(replace(message, req=0) if isinstance(message, Sensors | Counters) else message)


class QueriesWait(Mcu):
    def _on_message(self, message: Message) -> None:
        if not self.stop_reason or not isinstance(message, SensorsQuery | CountersQuery | DiceQuery):
            super()._on_message(message)


# --- dice -------------------------------------------------------------------------------------------------------------


class QueryThrows(Mcu):
    def _on_message(self, message: Message) -> None:
        super()._on_message(message)
        if isinstance(message, DiceQuery) and not self.world.spinning:
            self._spawn(self._throw())

    async def _throw(self) -> None:
        await self.mechanisms.throw()


class _Guesses(Mechanisms):
    async def run(self, operation: Operation, halt: asyncio.Event, progress: Progress) -> Ending:
        ending = await super().run(operation, halt, progress)
        lying = self.world.lying
        if isinstance(operation, DiceRoll) and lying is not None and lying.cocked:
            return replace(ending, values=DiceOutcome(lying.dice, "clean", 3000).pack())
        return ending


class CockedGuessed(Mcu):
    mechanisms_kind = _Guesses


class UnaskedAsResult(Mcu):
    async def _unasked(self) -> None:
        throw, _ = await self.mechanisms.throw()
        last = self._memory.last_completed or OpId(0, 0, 0, 0)
        self._send(OpResult(last, "done", values=DiceOutcome(throw.dice, "clean", 3000).pack()))


class ThrowEndsWithHost(Mcu):
    def _on_link(self, event: LinkEvent) -> None:
        super()._on_link(event)
        if isinstance(event, LinkLost):
            for task in tuple(self._tasks):
                task.cancel()
            self._memory.interrupt()
            self.mechanisms.forget_running()


# --- stops ------------------------------------------------------------------------------------------------------------


class NotLatched(Mcu):
    def _latch(self, reason: str) -> None:
        self._halt_motors()
        self._send(StopLatched(reason or "stopped"))


class SecondReason(Mcu):
    def _latch(self, reason: str) -> None:
        self.stop_reason = ""
        super()._latch(reason)


class MovesWhileLatched(Mcu):
    def _refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super()._refusal(operation)
        return self.mechanisms.refusal(operation) if reason == "latched" else reason


class SessionClearsStop(Mcu):
    def _on_link(self, event: LinkEvent) -> None:
        super()._on_link(event)
        if isinstance(event, SessionStarted):
            self.stop_reason = ""


class StopMovesOn(Mcu):
    def _latch(self, reason: str) -> None:
        self.stop_reason = self.stop_reason or reason or "stopped"
        self._send(StopLatched(self.stop_reason))


class ButtonCleared(Mcu):
    def _clear_stop(self, req: int) -> None:
        self.stop_reason = ""
        self._send(StopCleared(req))


class ClearNotAnswered(Mcu):
    def _on_message(self, message: Message) -> None:
        if isinstance(message, ClearStop) and not self.stop_button:
            self.stop_reason = ""
            self._send(StopCleared(0))
        else:
            super()._on_message(message)


class EmptyReason(Mcu):
    def _latch(self, reason: str) -> None:
        super()._latch(reason)
        if not reason and self.stop_reason == "stopped":
            self.empty = True

    empty = False

    def _send(self, message: Message) -> None:
        if self.empty and isinstance(message, Status | Identity) and message.stop_reason == "stopped":
            message = replace(message, stop_reason="")
        super()._send(message)


# --- lamps and service ------------------------------------------------------------------------------------------------


class LampsKill(Mcu):
    def _on_message(self, message: Message) -> None:
        super()._on_message(message)
        if isinstance(message, Lamp) and (message.last >= LAMPS or message.first > message.last):
            self._line.mute(True)


class _AnyJog(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        if isinstance(operation, Jog) and self.bench.mode:
            return None
        return super().refusal(operation)


class JogWithoutKey(Mcu):
    mechanisms_kind = _AnyJog


class _JogAtAnyTime(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if isinstance(operation, Jog) and not self.bench.mode else reason


class JogOutsideService(Mcu):
    mechanisms_kind = _JogAtAnyTime


class JogOutlivesKey(Mcu):
    def _halt_service(self) -> None:
        """It goes on until its time is over."""


class _AnyTest(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if reason == "service_mode" and isinstance(operation, SelfTest) else reason


class TestOutsideService(Mcu):
    mechanisms_kind = _AnyTest


class ServiceOutlivesReset(Mcu):
    def _boot(self) -> None:
        before = self.mechanisms.bench.mode
        super()._boot()
        self.mechanisms.bench.mode = before


class ServiceEndIgnored(Mcu):
    def _on_message(self, message: Message) -> None:
        if type(message).__name__ != "ServiceEnd":
            super()._on_message(message)


class KeysNotTold(Mcu):
    def _send(self, message: Message) -> None:
        if not isinstance(message, Key):
            super()._send(message)


class FaultsToldOnce(Mcu):
    def _tell_what_stands(self) -> None:
        """Whoever comes later does not hear of it."""


class JogsNotTold(Mcu):
    jogged = False

    async def _run(self, operation: Operation, halt: asyncio.Event) -> None:
        self.jogged = isinstance(operation, Jog)
        await super()._run(operation, halt)
        self.jogged = False

    def _send(self, message: Message) -> None:
        if not self.jogged or not isinstance(message, DiceUnasked):
            super()._send(message)


class _MovingTests(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if reason == "service_mode" and isinstance(operation, SelfTest) and self.bench.mode else reason


class MovingTestsWithoutKey(Mcu):
    mechanisms_kind = _MovingTests


class StatusOfTheOther(Mcu):
    def _on_message(self, message: Message) -> None:
        if isinstance(message, StatusQuery):
            told = self._status(message.req)
            swapped = {"down": "up", "up": "down"}
            self._send(replace(told, centre=swapped.get(told.centre, told.centre)))  # type: ignore[arg-type]
        else:
            super()._on_message(message)


KINDS: Final[tuple[tuple[str, str, type[Mcu]], ...]] = (
    ("boot_id_constant", "has the same boot_id after each reset", BootIdConstant),
    ("protocol_major_ignored", "carries operations out for a host of another protocol", MajorsIgnored),
    ("speaks_before_identify", "tells who it is before it is asked", SpeaksFirst),
    ("answers_without_req", "answers Sensors and Counters without the number of the request", WithoutReq),
    ("queries_wait_for_clear", "answers no questions while a stop is latched", QueriesWait),
    ("query_throws", "throws the dice when it is asked what lies there", QueryThrows),
    ("cocked_guessed", "guesses the faces of dice that lean", CockedGuessed),
    ("unasked_as_result", "tells a throw that nobody commanded as a result", UnaskedAsResult),
    ("throw_ends_with_host", "breaks a throw off when its host is gone", ThrowEndsWithHost),
    ("stop_not_latched", "stops, and forgets the stop at once", NotLatched),
    ("second_reason_kept", "replaces the reason of a stop by a later one", SecondReason),
    ("moves_while_latched", "begins motions while a stop is latched", MovesWhileLatched),
    ("session_clears_stop", "forgets a stop when a session begins", SessionClearsStop),
    ("stop_moves_on", "latches a stop and lets motors run on", StopMovesOn),
    ("button_cleared", "clears a stop while the stop button is pressed", ButtonCleared),
    ("clear_without_req", "answers ClearStop without its number", ClearNotAnswered),
    ("empty_reason_hidden", "tells a stop without a reason as none", EmptyReason),
    ("lamp_range_kills", "is dead after a lamp that no side has", LampsKill),
    ("jog_without_key", "jogs though nobody holds the service key", JogWithoutKey),
    ("jog_outside_service", "jogs outside service mode", JogOutsideService),
    ("jog_outlives_key", "jogs on when the service key is let go", JogOutlivesKey),
    ("self_test_outside_service", "tests itself outside service mode", TestOutsideService),
    ("service_outlives_reset", "stays in service mode over a reset", ServiceOutlivesReset),
    ("service_end_ignored", "stays in service mode at ServiceEnd", ServiceEndIgnored),
    ("keys_not_told", "does not tell of keys", KeysNotTold),
    ("faults_told_once", "tells no new host of faults that stand", FaultsToldOnce),
    ("jogged_dice_not_told", "does not tell that dice were jogged", JogsNotTold),
    ("moving_test_without_key", "tests its motors though nobody holds the service key", MovingTestsWithoutKey),
    ("status_wrong", "tells the centre up that is down", StatusOfTheOther),
)
"""Name, what the board does, and the board."""
