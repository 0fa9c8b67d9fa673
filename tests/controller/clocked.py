"""A whole daemon on a clock of its own: everything that is waited for takes exactly its time, and no time passes else.

Its broker session and its hardware are replaced by listening ones; core, publisher, views, desk of the seats, journal
and reporter are its own. What people and readers do is a `Script` that can be recorded and done again byte for byte.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest

from controller.broker_address import BrokerAddress
from controller.daemon import Daemon
from controller.journal import open_journal
from controller.notify import Notifier
from controller.settings import load_settings
from controller.startup import Start, fold_events
from engine import inputs as i
from engine.opening import wall_positions
from engine.ruleset import load_ruleset
from engine.tiles import SEATS, parse_tiles
from engine.wants import Want
from hil.clock import LeapingLoop, LoopClock
from protocol.mqtt.topics import Topics, parse_topic

TABLE = "same-table"
TOPICS = Topics(TABLE)
BEGAN_MS = 1_800_000_000_000
TICK_MS = 1
"""The clock's own step."""

_TAKES_S = {"dice_roll": 3.0, "read_wall": 0.5}
_TAKES_ELSE_S = 2.0


# --- what is around the daemon ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """Something that came out of the daemon: a message, lamps lit, or an operation begun."""

    at_ms: int
    topic: str
    payload: bytes
    how: str


class Session:
    """Takes what the daemon says, in place of its broker session."""

    def __init__(self, on_message: Callable[[str, bytes, bool], None], hear: Callable[[str, bytes, str], None]) -> None:
        self.counters = SimpleNamespace(
            attempts=1, connections=1, received=0, published=0, dropped=0, said_again=0, refused_retained=0,
            denied=0,
        )
        self.connected = True
        self.waiting = 0
        self.unsaid: frozenset[str] = frozenset()
        self.on_message = on_message
        self._hear = hear
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        await self._stopped.wait()

    def stop(self) -> None:
        self._stopped.set()

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        self._hear(topic, payload or b"", "retained")

    def publish(self, topic: str, payload: bytes, qos: int = 1, keep: bool = True) -> None:
        self._hear(topic, payload, f"qos {qos}")


class Machine:
    """Carries out every operation in its time, in place of the hardware; `wall` and `dice` are what it shows."""

    def __init__(
        self, wall: Sequence[str], dice: Iterable[Sequence[int]], feed: Callable[[i.Input], None],
        changed: Callable[[], None], hear: Callable[[str, bytes, str], None],
    ) -> None:  # fmt: skip
        can = SimpleNamespace(sensing="full", dice="read", aid="guide", sets=2)
        self.last_identity = SimpleNamespace(capabilities=can, firmware="1")
        self.dice_line = SimpleNamespace(last_identity=self.last_identity)
        self.link_state, self.sorting, self.on_key = "up", None, None
        self.feed = feed
        self._wall, self._dice, self._hear = list(wall), iter(list(dice)), hear
        self._begun: set[str] = set()
        self._lamps: Any = None
        self.lamps = SimpleNamespace(show=self.show)
        self.times = SimpleNamespace(learned={})
        self.lines: tuple[Any, ...] = ()
        asyncio.get_running_loop().call_later(0.5, changed)

    async def where_sets_are(self) -> tuple[str, ...]:
        return ("inside", "felt")

    def set_gear(self, gear: Any) -> None:
        pass

    def reconcile(self, wants: Iterable[Want], stop: str = "", faults: Iterable[Any] = (), *more: Any) -> None:
        for want in wants:
            name = str(want.id)
            if want.kind == "operation" and name not in self._begun:
                self._begun.add(name)
                self._hear("operation", json.dumps([want.verb, dict(want.params)]).encode(), name)
                seconds = _TAKES_S.get(want.verb, _TAKES_ELSE_S)
                done = i.OperationDone(name, self._result(want))
                asyncio.get_running_loop().call_later(seconds, self.feed, done)

    def show(self, lamps: Any) -> None:
        if lamps != self._lamps:
            self._lamps = lamps
            self._hear("lamps", json.dumps(lamps).encode(), "lit")

    async def close(self) -> None:
        pass

    def _result(self, want: Want) -> dict[str, Any]:
        side = len(self._wall) // 4
        if want.verb == "sort":
            return {"tiles": dict.fromkeys(SEATS, side)}
        if want.verb == "read_wall":
            at = SEATS.index(want.params["side"]) * side
            return {"tiles": self._wall[at : at + side], "confidence": 99}
        if want.verb == "dice_roll":
            return {"dice": list(next(self._dice)), "quality": "clean", "spin_ms": 3000}
        return {}


@dataclass
class _Line:
    name: str = "port"
    refusal: str = ""
    ready: bool = True
    trouble: str = ""
    failures: int = 0
    stats: Any = field(
        default_factory=lambda: SimpleNamespace(
            frames_in=0, frames_out=0, retransmits=0, sessions=1, errors={}, round_trip=0.0, duplicates=0, gaps=0,
            losses=0,
        )
    )  # fmt: skip

    async def run(self) -> None:
        await asyncio.Event().wait()


# --- what is done -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Act:
    """At a time a seat presses (`payload`), tiles lie in a zone (by where they stood in the wall), or one is turned."""

    at: float
    seat: str
    payload: bytes = b""
    zone: str = ""
    places: tuple[str, ...] = ()


Script = tuple[Act, ...]


@dataclass(frozen=True)
class Laid:
    """A wall and its throws under some rules."""

    rules: str
    wall: str
    dice: Sequence[Sequence[int]]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faces(self) -> dict[str, str]:
        """What stands where."""
        positions = wall_positions(load_ruleset(self.rules, dict(self.options)), "zhitui")
        return dict(zip(positions, parse_tiles(self.wall), strict=True))

    def exchanged(self, *pairs: tuple[str, str]) -> Laid:
        """The same with tiles at two places exchanged, for each pair."""
        faces = self.faces
        for one, other in pairs:
            faces[one], faces[other] = faces[other], faces[one]
        return Laid(self.rules, "".join(faces.values()), self.dice, self.options)


class Table:
    """A daemon at work in a folder. `view` has each reader's newest message; `heard` is everything that came out,
    `figures` what `/metrics` says at the end.
    """

    def __init__(self, laid: Laid) -> None:
        self.laid, self.faces = laid, laid.faces
        self.heard: list[Heard] = []
        self.view: dict[str, dict[str, Any]] = {}
        self.acts: list[Act] = []
        self.figures = ""
        self.session: Any = None
        self.machine: Any = None

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def hear(self, topic: str, payload: bytes, how: str) -> None:
        """Everything that leaves the daemon."""
        self.heard.append(Heard(round(self.now * 1000), topic, payload, how))
        if payload and topic.startswith("kaijin/"):
            address = parse_topic(topic)
            if address.kind in ("seat", "state"):
                self.view[address.detail or "view"] = json.loads(payload)["data"]

    def do(self, act: Act) -> None:
        """Something is done at the table."""
        self.acts.append(act)
        if act.payload:
            self.session.on_message(TOPICS.seat_input(act.seat), act.payload, False)
        elif act.zone == "end":
            pass
        elif act.zone == "flip":
            self.machine.feed(i.TileFlipped(act.places[0], self.faces[act.places[0]]))
        else:
            self.machine.feed(i.ZoneSeen(act.seat, act.zone, tuple(self.faces[place] for place in act.places)))

    async def follow(self, script: Script) -> None:
        """Everything is done again, each at its time."""
        for act in script:
            await asyncio.sleep(act.at - self.now)
            self.do(act)


def run(folder: Path, laid: Laid, play: Callable[[Table], Any], journal: Path | None = None) -> Table:
    """A daemon from its start until `play` (a coroutine function) returns; it goes on from a copy of `journal`."""
    folder.mkdir()
    if journal is not None:
        shutil.copy(journal, folder / "table.journal")
    table = Table(laid)
    options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in laid.options.items())
    (folder / "table.toml").write_text(
        f"""
        [table]
        id = "{TABLE}"
        [serial]
        ports = ["port"]
        [journal]
        path = "table.journal"
        [match]
        rules = "{laid.rules}"
        layout = "zhitui"
        hands = 1
        autostart = true
        options = {{ {options} }}
        [health]
        listen = ""
        """,
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("controller.publisher.secrets", SimpleNamespace(token_hex=lambda size: "0" * 2 * size))
        patched.setattr("controller.reports.resident_bytes", lambda: 1 << 20)
        patched.setattr("controller.reports.shutil", SimpleNamespace(disk_usage=lambda path: SimpleNamespace(free=1)))
        patched.setattr("controller.daemon.BrokerSession", lambda *given, **more: _session(table, given[2]))
        patched.setattr("controller.daemon.Hardware", lambda *given: _machine(table, given[2], given[3]))
        patched.setattr("controller.daemon.Line", lambda *given: _Line())
        loop = LeapingLoop()
        try:
            loop.run_until_complete(_serve(folder, table, play))
        finally:
            loop.close()
    return table


def _session(table: Table, on_message: Callable[[str, bytes, bool], None]) -> Session:
    table.session = Session(on_message, table.hear)
    return table.session


def _machine(table: Table, feed: Callable[[i.Input], None], changed: Callable[[], None]) -> Machine:
    table.machine = Machine(parse_tiles(table.laid.wall), table.laid.dice, feed, changed, table.hear)
    return table.machine


async def _serve(folder: Path, table: Table, play: Callable[[Table], Any]) -> None:
    settings = load_settings(folder / "table.toml", {})
    journal, state = open_journal(settings.journal.path, fold_events)
    journal.journal_id = 1
    journal.begin_epoch(1)
    address = BrokerAddress("127.0.0.1", 1, None, None, None, 2)
    clock: Any = LoopClock(BEGAN_MS, "synced")
    daemon = Daemon(settings, Start(journal, state, 1, "cold"), address, clock, Notifier({}))
    serving = asyncio.create_task(daemon.run())
    playing = asyncio.create_task(play(table))
    await asyncio.wait({serving, playing}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        playing.cancel()
        serving.result()
    try:
        await playing
        daemon._reporter.collect()
        table.figures = generate_latest(daemon._reporter._metrics.registry).decode()
    finally:
        daemon.stop()
        await serving

