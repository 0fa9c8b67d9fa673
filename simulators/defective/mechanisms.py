"""Boards that let their mechanisms do what they must not: interlocks, lid, gear, sorts, motors without a host."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from protocol.serial.events import LinkEvent, LinkLost
from protocol.serial.messages import (
    CentreRaise,
    DiceRoll,
    Message,
    Operation,
    OpProgress,
    OpResult,
    PresentGroup,
    RefusalReason,
    SortStart,
    WallsRaise,
)
from protocol.serial.vocabulary import Position
from simulators.mcu import Mcu
from simulators.mechanisms import Ending, Mechanisms, Progress


class _NeverBusy(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if reason == "busy" and isinstance(operation, DiceRoll | SortStart) else reason


class NeverBusy(Mcu):
    mechanisms_kind = _NeverBusy


class _WallsAnyhow(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        if isinstance(operation, WallsRaise) and self.centre == "up" and self.world.stacked[operation.set_no]:
            return None
        return super().refusal(operation)


class WallsAnyhow(Mcu):
    mechanisms_kind = _WallsAnyhow


class _AnySetRises(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        unsorted = isinstance(operation, WallsRaise) and not self.world.stacked[operation.set_no]
        return None if reason == "interlock" and unsorted and self.centre == "down" else reason

    async def run(self, operation: Operation, halt: asyncio.Event, progress: Progress) -> Ending:
        if isinstance(operation, WallsRaise) and not self.world.stacked[operation.set_no]:
            await self.pace.sleep(1.0, halt)
            return Ending("failed", "wall_not_home")
        return await super().run(operation, halt, progress)


class AnySetRises(Mcu):
    mechanisms_kind = _AnySetRises


class _Anyhow(Mechanisms):
    ignored: type[Any] = SortStart

    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if reason == "interlock" and isinstance(operation, self.ignored) and not self.lid_open else reason


class SortAnyhow(Mcu):
    mechanisms_kind = _Anyhow


class _CentreAnyhow(_Anyhow):
    ignored = CentreRaise


class CentreAnyhow(Mcu):
    mechanisms_kind = _CentreAnyhow


class _PresentAnyhow(_Anyhow):
    ignored = PresentGroup

    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if isinstance(operation, PresentGroup) and self.centre == "up" and not self.lid_open else reason


class PresentAnyhow(Mcu):
    mechanisms_kind = _PresentAnyhow


class _LidNotAsked(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        before, self.lid_open = self.lid_open, False
        try:
            return super().refusal(operation)
        finally:
            self.lid_open = before


class LidNotAsked(Mcu):
    mechanisms_kind = _LidNotAsked


class LidStopsNothing(Mcu):
    def open_lid(self, opened: bool) -> None:
        self.mechanisms.lid_open = opened


class LidLatches(Mcu):
    def open_lid(self, opened: bool) -> None:
        super().open_lid(opened)
        if opened:
            self._latch("lid")


class _AnyGear(Mechanisms):
    def set_gear(self, tiles: int, stacks: tuple[int, int, int, int]) -> RefusalReason | None:
        self.gear = (tiles, stacks)
        return None


class AnyGear(Mcu):
    mechanisms_kind = _AnyGear


class NoProgress(Mcu):
    def _send(self, message: Message) -> None:
        if not isinstance(message, OpProgress):
            super()._send(message)


class ProgressAfterwards(Mcu):
    told: OpProgress | None = None

    def _send(self, message: Message) -> None:
        super()._send(message)
        if isinstance(message, OpProgress):
            self.told = message
        elif isinstance(message, OpResult) and self.told is not None and self.told.op == message.op:
            told, self.told = self.told, None
            super()._send(told)


class SortStopsAsDone(Mcu):
    def _send(self, message: Message) -> None:
        if isinstance(message, OpResult) and message.outcome == "interrupted":
            message = replace(message, outcome="done")
        super()._send(message)


class DeadManMissing(Mcu):
    def _on_link(self, event: LinkEvent) -> None:
        if isinstance(event, LinkLost):
            self._identified = False
        else:
            super()._on_link(event)


class _WordIsASwitch(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        reason = super().refusal(operation)
        return None if reason == "interlock" and isinstance(operation, SortStart) and self.vouched else reason


class WordIsASwitch(Mcu):
    mechanisms_kind = _WordIsASwitch


class _NoWord(Mechanisms):
    @property
    def centre(self) -> Position:
        return "down" if super().centre == "unknown" else super().centre


class UnknownIsDown(Mcu):
    mechanisms_kind = _NoWord


class _OneAtATime(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        return "busy" if isinstance(operation, WallsRaise) and self.sorting_set else super().refusal(operation)


class OneAtATime(Mcu):
    mechanisms_kind = _OneAtATime


class _LidRefusesAll(Mechanisms):
    def refusal(self, operation: Operation) -> RefusalReason | None:
        return "interlock" if self.lid_open else super().refusal(operation)


class LidRefusesAll(Mcu):
    mechanisms_kind = _LidRefusesAll


KINDS: Final[tuple[tuple[str, str, type[Mcu]], ...]] = (
    ("never_busy", "begins a throw or a sort while another one goes on", NeverBusy),
    ("walls_rise_into_centre", "raises the walls while the centre is up", WallsAnyhow),
    ("unsorted_walls_rise", "raises the walls of a set that is not sorted", AnySetRises),
    ("sorts_with_centre_up", "sorts while the centre is up", SortAnyhow),
    ("centre_rises_in_sort", "raises the centre during a sort", CentreAnyhow),
    ("presents_with_centre_up", "pushes a group while the centre is up", PresentAnyhow),
    ("lid_not_asked", "begins motions while the lid is open", LidNotAsked),
    ("lid_stops_nothing", "goes on moving when the lid is opened", LidStopsNothing),
    ("lid_latches", "latches a stop when the lid is opened", LidLatches),
    ("any_gear_accepted", "takes a gear whose stacks are not its tiles", AnyGear),
    ("progress_missing", "tells nothing during a sort", NoProgress),
    ("progress_after_result", "tells progress of a sort that has ended", ProgressAfterwards),
    ("interrupted_told_as_done", "tells what was stopped half-way as done", SortStopsAsDone),
    ("dead_man_missing", "lets motors run on without a host", DeadManMissing),
    ("word_is_a_switch", "sorts by people's word that the centre is down", WordIsASwitch),
    ("unknown_taken_for_down", "takes a centre that no switch shows for down", UnknownIsDown),
    ("one_at_a_time", "raises no walls while the other set is sorted", OneAtATime),
    ("lid_refuses_all", "refuses with the lid open what moves nothing", LidRefusesAll),
)
"""Name, what the board does, and the board."""
