"""A board whose firmware is the C reference: the simulated mechanisms behind a program that speaks the board's side.

The program (`protocol/c/host`, started with `--plant`) keeps line, session, operation memory, dead man's switch and
stop latch. What moves and what sees is the simulated table's own: it answers over the program's stdin and stdout, in
records of a length (u16, little-endian), a letter and data, as `protocol/c/host/pipe_plant.c` lists them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Final

from protocol.serial.events import LinkEvent, LinkLost, LossReason, SessionStarted
from protocol.serial.messages import (
    ClearStop,
    EmergencyStop,
    Jog,
    Message,
    Operation,
    OpResult,
    RefusalReason,
    SelfTest,
    StopLatched,
    decode_message,
    encode_message,
)
from protocol.serial.parts import REASON
from simulators.line import Line
from simulators.mcu import Board, Mcu
from simulators.mechanisms import Mechanisms
from simulators.port import Port, PortError
from simulators.readers import Readers
from simulators.servicing import moves

OF_BYTES: Final = frozenset(
    (
        *("flip", "drop", "insert", "duplicate", "half", "delay", "garbage", "noise", "echo", "drip", "silence"),
        *("nak_storm", "no_ack", "stop_reading"),
    )
)
"""Orders for a port of this process: the program has its line to itself."""
END_S: Final = 5.0
"""Seconds until a program that was told to end is killed."""
_LOST: Final[tuple[LossReason, ...]] = (
    *("silence", "no_answer", "peer_restarted", "peer_closed", "line", "closed"),
)  # fmt: skip
_HEAD: Final = struct.Struct("<H")


class CLine(Line):
    """The board's end of the line, in another process. `asked` gets new operations and says why they may not begin.

    `halted` is told that every motor must stop, `stopped` the reason of the latched stop (empty: none), `started` that
    the board has begun anew with this boot_id.
    """

    def __init__(self, port: Port, on_event: Callable[[LinkEvent], None], program: Path, link: Path) -> None:
        super().__init__(port, on_event)
        self.asked: Callable[[Operation], RefusalReason | None] = lambda operation: "unsupported"
        self.said: Callable[[Message], None] = lambda message: None
        self.halted: Callable[[], None] = lambda: None
        self.stopped: Callable[[str], None] = lambda reason: None
        self.started: Callable[[int], None] = lambda boot_id: None
        self.flash: Path | None = None
        self._on_event = on_event
        self._program = program
        self._symlink = link
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._plugged: asyncio.Future[str] | None = None
        self._connected = False
        self._closing = False

    async def open(self) -> str:
        """Start the program, or plug its adapter in again; the name of its line."""
        self._plugged = asyncio.get_running_loop().create_future()
        if self._process is None:
            arguments = [str(self._program), "--link", str(self._symlink), "--plant"]
            if self.flash is not None:
                arguments += ["--flash", str(self.flash)]
            try:
                self._process = await asyncio.create_subprocess_exec(*arguments, stdin=PIPE, stdout=PIPE)
            except OSError as error:
                raise PortError(error.errno, error.strerror or "cannot be started", str(self._program)) from None
            self._reading = asyncio.create_task(self._read(self._process))
        else:
            self._give(b"P\x01")
        return await self._plugged

    async def unplug(self) -> None:
        """Pull the adapter."""
        self._give(b"P\x00")

    def send(self, message: Message) -> None:
        """Give a message to the board, which tells it to its host or keeps it."""
        self._give(b"M" + encode_message(message))

    def hold_stop(self, held: bool) -> None:
        """The cause of the stop is there, or has gone."""
        self._give(b"K" + bytes((held,)))

    def restart(self) -> None:
        """The board is reset."""
        self._give(b"X")

    def mute(self, muted: bool) -> None:
        """While muted the board neither hears nor speaks."""
        self._give(b"Z" + bytes((muted,)))

    def freeze(self, frozen: bool) -> None:
        """While frozen the program stands still."""
        self._signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def lost(self) -> None:
        """The board tells by itself what becomes of its session."""

    def close(self) -> None:
        """Say goodbye and end the program; `ended` waits for it."""
        self._closing = True
        self._signal(signal.SIGCONT)
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def ended(self) -> None:
        """The program has ended, by force where it must be."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), END_S)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._process.wait()
        if self._reading is not None:
            await self._reading

    # --- within -------------------------------------------------------------------------------------------------------

    def _give(self, record: bytes) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(_HEAD.pack(len(record)) + record)

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = _HEAD.unpack(await process.stdout.readexactly(_HEAD.size))
                self._on_record(await process.stdout.readexactly(length))
        code = await process.wait()
        if self._plugged is not None and not self._plugged.done():
            self._plugged.set_exception(PortError(0, f"ended with code {code}", str(self._program)))
        elif not self._closing:
            print(f"{self._program}: the board's program ended by itself with code {code}", file=sys.stderr)

    def _on_record(self, record: bytes) -> None:
        letter, data = record[:1], record[1:]
        match letter:
            case b"R":
                self.started(int.from_bytes(data[:4], "little"))
                if data[4:] and self._plugged is not None and not self._plugged.done():
                    self._plugged.set_result(data[4:].decode())
            case b"A":
                operation = decode_message(data)
                assert isinstance(operation, Operation)
                reason = self.asked(operation)
                self._give(b"G" + (b"\x00" if reason is None else REASON.put("reason", reason)))
            case b"M":
                self.said(decode_message(data))
            case b"H":
                self.halted()
            case b"S":
                self._on_state(data)

    def _on_state(self, data: bytes) -> None:
        connected, why, undelivered = data[0] != 0, data[2], int.from_bytes(data[3:5], "little")
        self.stopped(data[5:].decode())
        if self._connected and not connected:
            self._on_event(LinkLost(_LOST[why], undelivered))
        elif connected and not self._connected:
            self._on_event(SessionStarted(0))
        self._connected = connected


class CMcu(Mcu):
    """A board as `Mcu`, its firmware in C: of the host it hears only what is new, and what is no operation."""

    def __init__(
        self,
        mechanisms: Mechanisms,
        board: Board,
        port: Port,
        program: Path,
        link: Path,
        readers: Readers | None = None,
    ) -> None:
        super().__init__(mechanisms, board, port, None, readers)
        self._c = CLine(port, self._on_link, program, link)
        self._c.asked = self._asked
        self._c.said = self._on_message
        self._c.halted = self._halt_motors
        self._c.stopped = self._told_stop
        self._c.started = self._started
        if board.nonvolatile:
            self._c.flash = link.with_name(f"{link.name}.flash")
        self._line = self._c

    async def stop(self) -> None:
        """Switch off: motors stop, the program ends."""
        await super().stop()
        await self._c.ended()
        if self._c.flash is not None:
            self._c.flash.unlink(missing_ok=True)

    def press_stop(self) -> None:
        """The red button is pushed and stays in."""
        self.stop_button = True
        self._c.hold_stop(True)
        self._latch("stop button")

    def release_stop(self) -> None:
        """The red button is turned out again; the stop stays latched until the host clears it."""
        self.stop_button = False
        self._c.hold_stop(False)

    # --- within -------------------------------------------------------------------------------------------------------

    def _started(self, boot_id: int) -> None:
        if boot_id == self._boot_id:
            return
        self._boot_id = boot_id
        if self.stop_button:
            self._c.hold_stop(True)
            self._latch("stop button")

    def _told_stop(self, reason: str) -> None:
        self.stop_reason = reason

    def _asked(self, operation: Operation) -> RefusalReason | None:
        """A new operation: why it may not begin; None where it has begun."""
        self.counts[type(operation).__name__] += 1
        reason = self.mechanisms.refusal(operation)
        if reason is not None:
            self.counts["refused_operations"] += 1
            return reason
        # The board's own memory is in C; this one is the mechanisms' list of what runs.
        self._memory.begin(operation)
        halt = self._halts[operation.op] = asyncio.Event()
        if isinstance(operation, Jog) or (isinstance(operation, SelfTest) and moves(operation.number)):
            self._service_ops.add(operation.op)
        self._spawn(self._run(operation, halt))
        return None

    def _on_message(self, message: Message) -> None:
        # Both are done in C: motors are halted by its word, and the stop is told by it.
        assert not isinstance(message, Operation | EmergencyStop | ClearStop)
        super()._on_message(message)

    def _latch(self, reason: str) -> None:
        self._c.send(StopLatched(reason or "stopped"))

    def _send(self, message: Message) -> None:
        if isinstance(message, OpResult):
            self._c.send(message)  # the board keeps it whether a host is there or not
        else:
            super()._send(message)
