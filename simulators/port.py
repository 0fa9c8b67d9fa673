"""The simulated table's end of the line: a pseudo-terminal behind a stable name, a TCP port, or memory.

A port gives what it reads to `received`, says with `lost` that the line is gone and with `writable` that it takes
bytes again. It never blocks: `write` takes what fits and says how much.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import tty
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from simulators.channel import ChannelError, split_address

CHUNK = 4096


class PortError(OSError):
    """The port cannot be opened; the message says which and why."""


class Shell(Protocol):
    """What a port tells."""

    def received(self, data: bytes) -> None: ...

    def lost(self) -> None: ...

    def writable(self) -> None: ...


class Port(Protocol):
    """One end of a line."""

    async def open(self, shell: Shell) -> str: ...

    async def unplug(self) -> None: ...

    def write(self, data: bytes) -> int: ...

    def pause_reading(self, paused: bool) -> None: ...

    def close(self) -> None: ...


class PtyPort:
    """A pty whose slave is found under a symlink that is replaced atomically; a re-plugged one has another number."""

    def __init__(self, link: Path) -> None:
        self._link = link
        self._master = self._slave = -1
        self._shell: Shell | None = None
        self._waiting = False
        self._former = ""

    async def open(self, shell: Shell) -> str:
        """Make the pty and lay the symlink; the name of the slave."""
        self._shell = shell
        master, slave = _another_pty(self._former)
        tty.setraw(slave)
        os.set_blocking(master, False)
        name = os.ttyname(slave)
        beside = self._link.with_name(f".{self._link.name}.{os.getpid()}")
        try:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
            if self._link.exists() and not self._link.is_symlink():
                raise PortError(errno.EEXIST, "is there already and no symlink", str(self._link))
            beside.symlink_to(name)
            beside.replace(self._link)
        except OSError as error:
            os.close(master)
            os.close(slave)
            raise PortError(error.errno, error.strerror or "cannot be laid", str(self._link)) from None
        self._master, self._slave = master, slave
        asyncio.get_running_loop().add_reader(master, self._readable)
        return name

    async def unplug(self) -> None:
        """The adapter is pulled: the pty closes; the symlink goes."""
        self._former = os.ttyname(self._slave) if self._slave >= 0 else self._former
        self.close()

    def write(self, data: bytes) -> int:
        """Bytes taken; 0 while the other end does not read."""
        if self._master < 0:
            return 0
        try:
            written = os.write(self._master, data)
        except BlockingIOError:
            written = 0
        except OSError:
            return 0
        if written < len(data) and not self._waiting:
            self._waiting = True
            asyncio.get_running_loop().add_writer(self._master, self._drained)
        return written

    def pause_reading(self, paused: bool) -> None:
        """Read nothing until told otherwise: what the host writes fills its own buffers."""
        if self._master < 0:
            return
        if paused:
            asyncio.get_running_loop().remove_reader(self._master)
        else:
            asyncio.get_running_loop().add_reader(self._master, self._readable)

    def close(self) -> None:
        """Close the pty and take its symlink away."""
        mine = ""
        if self._slave >= 0:
            mine = os.ttyname(self._slave)
        self._close_fds()
        with contextlib.suppress(OSError):
            if mine and os.readlink(self._link) == mine:
                self._link.unlink()

    def _readable(self) -> None:
        try:
            data = os.read(self._master, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data and self._shell is not None:
            self._shell.received(data)

    def _drained(self) -> None:
        self._waiting = False
        asyncio.get_running_loop().remove_writer(self._master)
        if self._shell is not None:
            self._shell.writable()

    def _close_fds(self) -> None:
        if self._master < 0:
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._master)
        if self._waiting:
            loop.remove_writer(self._master)
            self._waiting = False
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1


def _another_pty(former: str) -> tuple[int, int]:
    """A new pty whose number is not the one just freed, as a re-plugged adapter's would not be."""
    master, slave = os.openpty()
    if os.ttyname(slave) != former:
        return master, slave
    other = os.openpty()
    os.close(master)
    os.close(slave)
    return other


class TcpPort:
    """A TCP port that serves one host at a time; a newcomer takes the line over."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._shell: Shell | None = None
        self._server: asyncio.Server | None = None
        self._bound: tuple[str, int] | None = None
        self._line: asyncio.StreamWriter | None = None

    async def open(self, shell: Shell) -> str:
        """Listen; the address in use."""
        self._shell = shell
        try:
            host, port, path = split_address(self._address)
            if path is not None:
                raise ChannelError(f"{self._address!r} is no TCP address: expected HOST:PORT")
            self._server = await asyncio.start_server(self._serve, *(self._bound or (host, port)))
        except ChannelError as error:
            raise PortError(errno.EINVAL, str(error)) from None
        except OSError as error:
            raise PortError(error.errno or errno.EINVAL, error.strerror or str(error), self._address) from None
        self._bound = self._server.sockets[0].getsockname()[:2]
        assert self._bound is not None
        return f"{self._bound[0]}:{self._bound[1]}"

    async def unplug(self) -> None:
        """The connection breaks and nobody answers until the port is opened again."""
        self.close()

    def write(self, data: bytes) -> int:
        """Bytes taken; 0 while nobody is connected or the other end does not read."""
        if self._line is None or self._line.transport.get_write_buffer_size() > CHUNK:
            return 0
        self._line.write(data)
        return len(data)

    def pause_reading(self, paused: bool) -> None:
        """Read nothing until told otherwise."""
        if self._line is None or self._line.transport.is_closing():
            return
        transport = self._line.transport
        if isinstance(transport, asyncio.ReadTransport):
            transport.pause_reading() if paused else transport.resume_reading()

    def close(self) -> None:
        """Close the line and the port."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._line is not None:
            self._line.transport.abort()
            self._line = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._line is not None:
            self._line.transport.abort()
        self._line = writer
        _without_delay(writer)
        shell = self._shell
        assert shell is not None
        shell.lost()
        try:
            while data := await reader.read(CHUNK):
                if self._line is not writer:
                    return
                shell.received(data)
        except (OSError, asyncio.CancelledError):
            pass  # the host hung up, or the table is being switched off
        finally:
            writer.transport.abort()
            if self._line is writer:
                self._line = None
                shell.lost()


class MemoryPort:
    """A line within one process: `host_write` is what the host says, `host_data` what it hears, after `delay_s`."""

    def __init__(self, delay_s: float = 0.001) -> None:
        self.delay_s = delay_s
        self.host_data: Callable[[bytes], None] = lambda data: None
        self.host_lost: Callable[[str], None] = lambda reason: None
        self._shell: Shell | None = None
        self._paused: list[bytes] | None = None
        self._on_the_way: tuple[deque[bytes], deque[bytes]] = (deque(), deque())

    async def open(self, shell: Shell) -> str:
        """Listen; it is called `memory`."""
        self._shell = shell
        return "memory"

    async def unplug(self) -> None:
        """Nothing passes until it is opened again."""
        self._shell = None

    def write(self, data: bytes) -> int:
        """Every byte is taken."""
        # Timers that are due at the same moment come in any order; bytes never do.
        self._on_the_way[0].append(data)
        asyncio.get_running_loop().call_later(self.delay_s, self._to_host)
        return len(data)

    def host_write(self, data: bytes) -> None:
        """Bytes of the host."""
        self._on_the_way[1].append(data)
        asyncio.get_running_loop().call_later(self.delay_s, self._arrived)

    def pause_reading(self, paused: bool) -> None:
        """Read nothing until told otherwise."""
        waiting, self._paused = self._paused, [] if paused else None
        for data in waiting or ():
            self._to_board(data)

    def close(self) -> None:
        """The line ends."""
        self._shell = None

    def _to_host(self) -> None:
        data = self._on_the_way[0].popleft()
        if self._shell is not None:
            self.host_data(data)

    def _arrived(self) -> None:
        self._to_board(self._on_the_way[1].popleft())

    def _to_board(self, data: bytes) -> None:
        if self._paused is not None:
            self._paused.append(data)
        elif self._shell is not None:
            self._shell.received(data)


def _without_delay(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if isinstance(connection, socket.socket) or hasattr(connection, "setsockopt"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
