"""How soon the daemon is ready, and how much memory daemon and page server take."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

from cli.benchmarks.rig import TABLE, Rig, resident_mb
from cli.benchmarks.rows import Goal, Row

STARTS: Final = 5
SETTLED_S: Final = 1.0
MEMORY: Final = Goal("at most", 60, "MB")
_SEATS: Final = ("E", "S", "W", "N")


def start(folder: Path | None) -> list[Row]:
    """Daemon started → `ready` heard at the broker, after a start that does not count; and its memory then."""
    seconds, memory = [], []
    with Rig(folder, autostart=False) as rig:
        for _ in range(STARTS + 1):
            began = time.monotonic()
            with rig.daemon() as process:
                seconds.append(rig.ready().at - began)
                rig.rest(SETTLED_S)
                memory.append(resident_mb(process.pid))
            rig.rest(0.1)
    each = ", ".join(f"{one:.2f}" for one in seconds[1:])
    return [
        Row(
            "start", "daemon started → ready", "", median(seconds[1:]), Goal("at most", 1.5, "s"),
            detail=f"with its files in the cache: {each}",
        ),
        Row("memory", "memory of the daemon", "", median(memory[1:]), MEMORY, detail="resident, ready"),
    ]  # fmt: skip


def web(folder: Path | None) -> list[Row]:
    """Memory of the page server with four displays that hear their seats."""
    with Rig(folder, autostart=False) as rig, rig.daemon():
        rig.ready()
        command = [sys.executable, "-c", "from cli.main import main; main()", "web", "--config", str(rig.config)]
        with rig.process(command, "web") as process:
            log = rig.folder / "web.log"
            rig.wait(lambda: "http://" in log.read_text(encoding="utf-8"))
            url = "http" + log.read_text(encoding="utf-8").partition("http")[2].split()[0]
            memory = asyncio.run(_with_displays(rig, url, process.pid))
    detail = f"resident, with four displays; {memory['alone']:.0f} MB before the first"
    return [
        Row(
            "memory", "memory of the page server", "", memory["displays"], Goal("at most", 60, "MB"), detail=detail,
        )
    ]  # fmt: skip


async def _with_displays(rig: Rig, url: str, process: int) -> Mapping[str, float]:
    """Pair four displays, have each fetch the page and hear its seat; the server's memory before and after, in MB."""
    import aiohttp

    from controller.web_pairing import Tokens

    tokens = Tokens(rig.folder / "web")
    alone = resident_mb(process)
    timeout = aiohttp.ClientTimeout(total=15)
    async with aiohttp.ClientSession(url, timeout=timeout) as browser:
        sockets = []
        for seat in _SEATS:
            async with browser.get("/") as page:
                await page.read()
            asked = {"seat": seat, "token": tokens.make(seat), "device": f"bench-display-{seat}00", "name": "bench"}
            async with browser.post("/pair", json=asked) as answer:
                answer.raise_for_status()
                paired: Mapping[str, Any] = await answer.json()
            sockets.append(await _display(browser, paired, rig.topics.seat(seat)))
        await asyncio.sleep(SETTLED_S)
        memory = resident_mb(process)
        for socket in sockets:
            await socket.close()
    return {"alone": alone, "displays": memory}


async def _display(browser: Any, paired: Mapping[str, Any], topic: str) -> Any:
    """A display's connection through the bridge, when its first view has come."""
    from cli.benchmarks.mqtt import connect_packet, subscribe_packet

    socket = await browser.ws_connect("/mqtt", protocols=("mqtt",))
    await socket.send_bytes(connect_packet(paired["user"], paired["password"], f"bench-{paired['seat']}", keepalive=30))
    answered = await socket.receive_bytes()
    if answered[:1] != b"\x20" or answered[3] != 0:
        raise RuntimeError(f"the bridge of {TABLE} let a paired display not in")
    await socket.send_bytes(subscribe_packet(1, topic))
    heard = 0
    while heard < 200:
        heard += len(await socket.receive_bytes())
    return socket
