"""The port over a real pseudo-terminal: hang-up, a peer that stops reading, a second owner, a moved name (F1, F2)."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
import stat
import tty
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from controller.serial_port import SEND_LIMIT, SerialPort, SerialPortError, open_port, open_serial_port


@dataclass
class Peer:
    """The other end of a pty behind a symlink."""

    path: Path
    master: int
    slave: int

    @classmethod
    def plug(cls, path: Path) -> Peer:
        master, slave = pty.openpty()
        tty.setraw(slave)
        scratch = path.with_name("new-name")
        scratch.symlink_to(os.ttyname(slave))
        scratch.replace(path)
        return cls(path, master, slave)

    def unplug(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            os.close(self.slave)
            self.master = -1


@dataclass
class Ear:
    """What a port has told."""

    data: bytearray = field(default_factory=bytearray)
    lost: list[str] = field(default_factory=list)
    drained: int = 0
    told: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, data: bytes) -> None:
        self.data += data
        self.told.set()

    def lose(self, reason: str) -> None:
        self.lost.append(reason)
        self.told.set()

    def drain(self) -> None:
        self.drained += 1
        self.told.set()

    async def wait(self) -> None:
        async with asyncio.timeout(5):
            await self.told.wait()
        self.told.clear()


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    made = Peer.plug(tmp_path / "port")
    yield made
    made.unplug()


def opened(peer: Peer, ear: Ear) -> SerialPort:
    return open_serial_port(str(peer.path), 115200, ear.hear, ear.lose, ear.drain)


async def test_bytes_go_both_ways(peer: Peer) -> None:
    ear = Ear()
    port = opened(peer, ear)
    port.write(b"\x00ping\x00")
    assert os.read(peer.master, 100) == b"\x00ping\x00"
    os.write(peer.master, b"\x00\x03\x11\x13pong")
    await ear.wait()
    assert bytes(ear.data) == b"\x00\x03\x11\x13pong"
    assert (port.bytes_in, port.bytes_out) == (8, 6)
    port.abort()


async def test_an_empty_line_is_not_taken_for_a_hang_up(peer: Peer) -> None:
    """pyserial's VMIN=0 would make it look like one."""
    ear = Ear()
    port = opened(peer, ear)
    await asyncio.sleep(0.05)
    assert port.alive and not ear.lost
    port.abort()


async def test_a_hang_up_is_noticed_once_and_does_not_spin(peer: Peer) -> None:
    ear = Ear()
    port = opened(peer, ear)
    peer.unplug()
    await ear.wait()
    assert len(ear.lost) == 1 and not port.alive
    port.write(b"into the void")
    port.abort()
    assert len(ear.lost) == 1


async def test_a_peer_that_stops_reading_costs_neither_the_loop_nor_the_end(peer: Peer) -> None:
    """F2: 64 KB queued, the loop lives, letting go is immediate."""
    ear = Ear()
    port = opened(peer, ear)
    for _ in range(SEND_LIMIT // 1024):
        port.write(b"x" * 1024)
    assert port.alive and port.pending > 0
    ticks = 0
    for _ in range(20):
        await asyncio.sleep(0.001)
        ticks += 1
    assert ticks == 20
    began = asyncio.get_running_loop().time()
    port.abort()
    assert asyncio.get_running_loop().time() - began < 0.5


async def test_more_than_the_limit_waiting_is_a_lost_line(peer: Peer) -> None:
    ear = Ear()
    port = opened(peer, ear)
    for _ in range(2 * SEND_LIMIT // 4096):
        port.write(b"x" * 4096)
    assert len(ear.lost) == 1 and "stopped reading" in ear.lost[0]
    assert not port.alive and port.pending == 0


async def test_what_waits_goes_out_when_the_peer_reads_again(peer: Peer) -> None:
    ear = Ear()
    port = opened(peer, ear)
    sent = bytes(range(256)) * 128
    port.write(sent)
    received = bytearray()
    os.set_blocking(peer.master, False)
    async with asyncio.timeout(5):
        while len(received) < len(sent):
            await asyncio.sleep(0)
            try:
                received += os.read(peer.master, 4096)
            except BlockingIOError:
                continue
    assert received == sent and ear.drained == 1 and port.pending == 0
    port.abort()


async def test_a_second_owner_is_turned_away_with_words(peer: Peer) -> None:
    ear = Ear()
    port = opened(peer, ear)
    with pytest.raises(SerialPortError, match="another program holds this port") as refused:
        opened(peer, Ear())
    assert refused.value.code == "busy"
    port.abort()
    opened(peer, ear).abort()


async def test_a_name_that_leads_elsewhere_is_noticed(peer: Peer) -> None:
    """F1: the adapter is back under another number while the old descriptor still looks well."""
    ear = Ear()
    port = opened(peer, ear)
    assert not port.moved()
    other = Peer.plug(peer.path)
    assert port.moved()
    other.path.unlink()
    assert port.moved()
    port.abort()
    other.unplug()


@pytest.mark.parametrize("kind", ["missing", "file", "baud"])
async def test_what_cannot_be_opened_is_told_in_words(peer: Peer, tmp_path: Path, kind: str) -> None:
    ear = Ear()
    plain = tmp_path / "plain"
    plain.write_text("")
    name, code = {
        "missing": (tmp_path / "nothing", "missing"),
        "file": (plain, "not_serial"),
        "baud": (peer.path, "failed"),
    }[kind]
    with pytest.raises(SerialPortError) as refused:
        open_serial_port(str(name), -5 if kind == "baud" else 115200, ear.hear, ear.lose)
    assert refused.value.code == code and str(name) in str(refused.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open anything")
async def test_a_port_without_permission_says_who_may(peer: Peer) -> None:
    os.chmod(os.ttyname(peer.slave), stat.S_IWOTH)
    with pytest.raises(SerialPortError) as refused:
        opened(peer, Ear())
    assert refused.value.code == "permission"


async def test_a_simulator_is_reached_over_tcp() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    ear = Ear()
    port = await open_port(f"socket://127.0.0.1:{listener.getsockname()[1]}", 115200, ear.hear, ear.lose)
    peer, _ = listener.accept()
    port.write(b"hello")
    assert peer.recv(10) == b"hello"
    peer.sendall(b"world")
    await ear.wait()
    assert bytes(ear.data) == b"world"
    peer.close()
    await ear.wait()
    assert len(ear.lost) == 1
    listener.close()


@pytest.mark.parametrize("name", ["socket://", "socket://host", "socket://host:0", "socket://host:x"])
async def test_an_address_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SerialPortError, match="expected socket://host:port"):
        await open_port(name, 115200, Ear().hear, Ear().lose)


async def test_nobody_at_the_address_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    with pytest.raises(SerialPortError, match="cannot be reached"):
        await open_port(f"socket://127.0.0.1:{free}", 115200, Ear().hear, Ear().lose)
