"""One serial port under asyncio: opened exclusively by a stable name, driven through its own descriptor.

pyserial opens and configures the port; bytes move by `add_reader`, `os.read` and `os.write` on its descriptor, since
`Serial.write()` can spin for ever when the other side stops reading and `close()` can hang with data pending.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import stat
import termios
import threading
from collections.abc import Callable
from typing import Final

import serial

from controller.port_holder import holder_of

SEND_LIMIT: Final = 65_536
"""Bytes that wait for the line at most; a line that takes no more is dead."""

CLOSE_S: Final = 0.5
"""How long letting go of a port may hold the loop; a driver that needs longer closes it in its own time."""

_READ_SIZE: Final = 4096
_PTY_MAJORS: Final = range(136, 144)
_SOCKET_SCHEME: Final = "socket://"


class SerialPortError(Exception):
    """The port cannot be used; the message says what to do.

    `code` is `missing`, `busy`, `permission`, `not_serial` or `failed`.
    """

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


class SerialPort:
    """An open port: single use, dead after `abort` or the first `lost`.

    `on_data` gets what arrives; `on_lost` gets the reason, once, and never after `abort`; `on_drained` is called when
    nothing waits any more.
    """

    def __init__(
        self,
        name: str,
        descriptor: int,
        owner: object,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[str], None],
        on_drained: Callable[[], None],
    ) -> None:
        self.name = name
        self._on_drained = on_drained
        self._descriptor = descriptor
        # The object's finalizer closes the descriptor: it must live as long as this one.
        self._owner: object | None = owner
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._alive = True
        self.bytes_in = 0
        self.bytes_out = 0
        self._loop.add_reader(descriptor, self._readable)

    @property
    def alive(self) -> bool:
        """Whether bytes can still come and go."""
        return self._alive

    @property
    def pending(self) -> int:
        """Bytes that wait for the line."""
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        """Send bytes as the line takes them; never blocks. More than SEND_LIMIT waiting is a lost line."""
        if not self._alive or not data:
            return
        if self._waiting:
            self._waiting += data
        else:
            taken = self._try_write(data)
            if not self._alive or taken == len(data):
                return
            self._waiting += data[taken:]
            self._loop.add_writer(self._descriptor, self._writable)
        if len(self._waiting) > SEND_LIMIT:
            self._lose(f"the other side stopped reading: {len(self._waiting)} bytes wait")

    def moved(self) -> bool:
        """Whether the name now leads to another device than the open one (an adapter that came back elsewhere)."""
        if self.name.startswith(_SOCKET_SCHEME) or not self._alive:
            return False
        try:
            named, opened = os.stat(self.name), os.fstat(self._descriptor)
        except OSError:
            return True
        return (named.st_rdev, named.st_ino) != (opened.st_rdev, opened.st_ino)

    def abort(self) -> None:
        """Let go of the port; what waits is thrown away. Holds the loop for CLOSE_S at most, may be called again."""
        if not self._alive:
            return
        self._alive = False
        self._loop.remove_reader(self._descriptor)
        self._loop.remove_writer(self._descriptor)
        self._waiting.clear()
        owner, self._owner = self._owner, None
        # A driver may wait in close() for bytes that a dead device never takes.
        closing = threading.Thread(target=_release, args=(owner, self._descriptor), name="close port", daemon=True)
        closing.start()
        closing.join(CLOSE_S)

    def _readable(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(f"reading failed: {error.strerror}")
            return
        if not data:
            # A hung-up line is readable for ever and gives nothing: going on would spin.
            self._lose("the line was hung up")
            return
        self.bytes_in += len(data)
        self._on_data(data)

    def _writable(self) -> None:
        taken = self._try_write(self._waiting)
        if not self._alive:
            return
        del self._waiting[:taken]
        if not self._waiting:
            self._loop.remove_writer(self._descriptor)
            self._on_drained()

    def _try_write(self, data: bytes | bytearray) -> int:
        try:
            taken = os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            self._lose(f"writing failed: {error.strerror}")
            return 0
        self.bytes_out += taken
        return taken

    def _lose(self, reason: str) -> None:
        if self._alive:
            self.abort()
            self._on_lost(reason)


def open_serial_port(
    name: str,
    baud: int,
    on_data: Callable[[bytes], None],
    on_lost: Callable[[str], None],
    on_drained: Callable[[], None] = lambda: None,
) -> SerialPort:
    """Open a device by its path, exclusively; SerialPortError says why not. Needs a running loop; may block briefly.

    For `socket://host:port` use `open_port`, which resolves and connects without blocking.
    """
    _check_device(name)
    port = serial.Serial(exclusive=True)
    port.port = name
    try:
        port.baudrate = baud
        # Set before opening: the lines keep this state and no board is reset by their edges.
        port.dtr = True
        port.rts = True
        port.open()
        descriptor: int = port.fileno()
        _keep_others_out(descriptor)
        _set_reading_and_closing(descriptor)
        os.set_blocking(descriptor, False)
    except serial.SerialException as error:
        raise _explained(name, error) from None
    except (OSError, termios.error, ValueError) as error:
        port.close()
        raise SerialPortError("failed", f"{name}: cannot be set up for {baud} baud: {error}") from None
    return SerialPort(name, descriptor, port, on_data, on_lost, on_drained)


async def open_port(
    name: str,
    baud: int,
    on_data: Callable[[bytes], None],
    on_lost: Callable[[str], None],
    on_drained: Callable[[], None] = lambda: None,
    timeout: float = 3.0,
) -> SerialPort:
    """Open a device, or connect to a simulator at `socket://host:port`; SerialPortError says why not."""
    if not name.startswith(_SOCKET_SCHEME):
        return open_serial_port(name, baud, on_data, on_lost, on_drained)
    host, port = _socket_address(name)
    loop = asyncio.get_running_loop()
    connection: socket.socket | None = None
    try:
        async with asyncio.timeout(timeout):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            family, kind, protocol, _, address = found[0]
            connection = socket.socket(family, kind | socket.SOCK_NONBLOCK, protocol)
            await loop.sock_connect(connection, address)
    except TimeoutError:
        _close_quietly(connection)
        raise SerialPortError("missing", f"{name}: nothing answered within {timeout:g} s") from None
    except OSError as error:
        _close_quietly(connection)
        raise SerialPortError("missing", f"{name}: cannot be reached: {error.strerror or error}") from None
    except BaseException:
        _close_quietly(connection)
        raise
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return SerialPort(name, connection.fileno(), connection, on_data, on_lost, on_drained)


def _check_device(name: str) -> None:
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        raise SerialPortError("missing", f"{name}: no such device; is the board plugged in and powered?") from None
    except OSError as error:
        raise SerialPortError("failed", f"{name}: {error.strerror}") from None
    if not stat.S_ISCHR(mode):
        raise SerialPortError("not_serial", f"{name}: this is no serial device")
    if not os.access(name, os.R_OK | os.W_OK):
        raise SerialPortError(
            "permission", f"{name}: this user may not use it; add the user to the group that owns it (often dialout)"
        )


def _explained(name: str, error: serial.SerialException) -> SerialPortError:
    number = error.errno
    if number in (errno.EWOULDBLOCK, errno.EBUSY) or "lock" in str(error).lower():
        who = holder_of(name) or "is a daemon running?"
        return SerialPortError("busy", f"{name}: another program holds this port ({who})")
    if number in (errno.EACCES, errno.EPERM):
        return SerialPortError("permission", f"{name}: this user may not use it")
    if number in (errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.EIO):
        return SerialPortError("missing", f"{name}: the device is gone")
    return SerialPortError("failed", f"{name}: cannot be opened: {error}")


def _keep_others_out(descriptor: int) -> None:
    """pyserial's lock binds only those who ask for it; TIOCEXCL turns away whoever just opens the device (but root).

    A pseudo-terminal keeps that mark while its other side lives, even when its owner was killed: there it is not set.
    """
    if os.major(os.fstat(descriptor).st_rdev) not in _PTY_MAJORS:
        fcntl.ioctl(descriptor, termios.TIOCEXCL)


def _set_reading_and_closing(descriptor: int) -> None:
    """pyserial leaves VMIN at 0, which makes an empty line read like a hung-up one, and lets closing drop DTR."""
    attributes = termios.tcgetattr(descriptor)
    attributes[2] &= ~termios.HUPCL
    attributes[6][termios.VMIN] = 1
    attributes[6][termios.VTIME] = 0
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)


def _release(owner: object | None, descriptor: int) -> None:
    if isinstance(owner, socket.socket):
        owner.close()
        return
    if isinstance(owner, serial.Serial):
        # Closing waits for bytes under way; a device that has gone has nothing left to flush.
        with contextlib.suppress(OSError, termios.error):
            termios.tcflush(descriptor, termios.TCOFLUSH)
        owner.close()


def _socket_address(name: str) -> tuple[str, int]:
    host, colon, port = name.removeprefix(_SOCKET_SCHEME).rstrip("/").rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise SerialPortError("not_serial", f"{name}: expected socket://host:port")
    return host.strip("[]"), int(port)


def _close_quietly(connection: socket.socket | None) -> None:
    if connection is not None:
        connection.close()
