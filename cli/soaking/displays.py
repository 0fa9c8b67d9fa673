"""Displays that only look: what each seat and the public are told, held against the journal and against what is secret.

Each logs in as its seat's own user and reconnects for ever, as a page does. The parlor's user reads beside them what is
said of every event, and the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiomqtt

from cli.demo_parts import TABLE, Broker
from cli.soaking.book import Book, Shoulders, Wrong
from controller import views
from controller.broker_address import BrokerAddress
from controller.live import Live, TableFacts
from engine.state import State
from engine.tiles import SEATS, TileError, is_flower, parse_tiles, sort_tiles
from protocol.mqtt.envelope import Envelope, EnvelopeError, decode
from protocol.mqtt.topics import STREAMS, Topics
from simulators.channel import ChannelError, WorldClient
from simulators.sight import Sight
from simulators.witness import Witness

LEAST = 5
"""Tiles of a hand, or in a row of a wall, that are no chance."""
IN_PLAY = frozenset(
    ("row", "bids", "deal_roll", "taking", "door_roll", "door", "flowers", "gold_roll", "gold", "opening", "play")
)
"""Phases in which the hands of the walls that stand are secret; afterwards they are laid open."""
AGAIN_S = 0.2
CURRENT_S = 10.0
"""Within this time the displays show what the journal holds, once nobody acts any more."""

PARLOR = "parlor"
"""Who reads the public facts."""
LEDGER = "ledger"
"""Who reads the ledger: the parlor as well."""

_RUN = re.compile(r"(?<![0-9A-Za-z])(?:[1-9]+[mpszf])+(?![0-9A-Za-z])")
_NOT_COMPARED = frozenset({"notices", "left_ms", "name"})
"""What depends on the moment: countdowns, and what is shown for a while."""
_OF_THE_MACHINE = ("stop", "faults", "problem")
"""What is compared of the machine: progress and link depend on the moment."""


@dataclass(frozen=True)
class Runs:
    """The runs of tiles that one message to one reader held, as lists of faces; the seat's own hand is left out.

    `seq` is the number of the last public fact that it knows; `phase` what it says of itself, empty for facts.
    """

    reader: str
    seq: int
    phase: str
    runs: tuple[tuple[str, ...], ...]


class Displays:
    """Four seats and a wall view. `last` is by reader (a seat, or empty for the public) what was told last."""

    def __init__(self, broker: Broker, witness: Witness, world: str, rules: str) -> None:
        self.last: dict[str, Envelope] = {}
        self.availability = ""
        self.received = 0
        self.epochs: set[int] = set()
        self.told: list[Runs] = []
        self._broker = broker
        self._witness = witness
        self._world = world
        self._topics = Topics(TABLE)
        self._changed = asyncio.Event()
        self._live = Live(TableFacts(rules, "", "none", "read", "guide", 2, 0, rulesets=(rules,)))

    async def run(self, witness: bool) -> None:
        """Look until cancelled; with a `witness` at what lies on the table, too."""
        async with asyncio.TaskGroup() as group:
            for reader in (*SEATS, "", PARLOR):
                group.create_task(self._read_for_ever(reader))
            for seat in SEATS if witness else "":
                group.create_task(self._see_for_ever(seat))

    @property
    def state(self) -> Mapping[str, Any]:
        """The public snapshot as told last; empty before the first."""
        return self.last[""].data if "" in self.last else {}

    async def wait(self, seconds: float) -> None:
        """Until something more is told, or so long."""
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    async def check(self, book: Book) -> None:
        """While nobody acts: all displays show what the journal holds. Wrong names the display and the field."""
        until = asyncio.get_running_loop().time() + CURRENT_S
        while True:
            book.read()
            problem = self._difference(book.state)
            if not problem:
                return
            if asyncio.get_running_loop().time() > until:
                raise Wrong(f"not within {CURRENT_S:.0f} s: {problem}")
            await self.wait(0.2)

    def check_secrets(self, book: Book, sensing: str) -> None:
        """Nobody was told another's hand, or a row of a wall. Wrong says who was told what."""
        told, self.told = self.told, []
        for one in told:
            if one.reader == LEDGER:
                raise Wrong(f"{_name(one.reader)} holds tiles: {' '.join(one.runs[0])}")
            hand = book.shown(one.seq) if sensing == "full" else self._seen(book.wall_shown(one.seq))
            if hand is not None and (one.phase or book.phase_shown(one.seq)) in IN_PLAY:
                for run in one.runs:
                    _check_run(one, run, hand)

    # --- within -------------------------------------------------------------------------------------------------------

    def _seen(self, wall: int) -> Shoulders | None:
        """The hands after that rising of the walls, as they lay there: where the table has read nothing of them."""
        truths = self._witness.truths
        if not 0 < wall <= len(truths):
            return None
        ever = truths[wall - 1].ever
        return Shoulders({seat: {tuple(sort_tiles(hand)) for hand in ever[seat]} for seat in SEATS})

    async def _read_for_ever(self, reader: str) -> None:
        broker = self._broker
        user = reader if reader == PARLOR else f"{TABLE}-{reader or 'view'}"
        address = BrokerAddress(broker.host, broker.port, broker.socket, user, broker.credentials[user], keepalive=5)
        if reader == PARLOR:
            heard = [self._topics.ledger, *(self._topics.event(stream) for stream in STREAMS)]
        else:
            heard = [self._topics.seat(reader)] if reader else [self._topics.state, self._topics.availability]
        while True:
            with contextlib.suppress(aiomqtt.MqttError, OSError):
                async with address.client() as client:
                    await client.subscribe([(topic, 1) for topic in heard])
                    async for message in client.messages:
                        self._hear(reader, str(message.topic), bytes(message.payload or b""))
            await asyncio.sleep(AGAIN_S)

    def _hear(self, reader: str, topic: str, payload: bytes) -> None:
        if not payload:
            return
        try:
            envelope = decode(payload)
        except EnvelopeError as error:
            raise Wrong(f"{topic}: not readable: {error}") from None
        self.received += 1
        self.epochs.add(envelope.epoch)
        if reader == PARLOR:
            self._told(LEDGER if topic == self._topics.ledger else PARLOR, envelope, "")
        elif topic == self._topics.availability:
            self.availability = str(envelope.data.get("state"))
        elif reader not in self.last or self.last[reader].epoch <= envelope.epoch:
            self.last[reader] = envelope
            self._told(reader, envelope, str(envelope.data.get("phase")))
        self._changed.set()

    def _told(self, reader: str, envelope: Envelope, phase: str) -> None:
        runs = tuple(_runs_of(envelope.data, reader))
        if runs:
            self.told.append(Runs(reader, envelope.seq, phase, runs))

    async def _see_for_ever(self, seat: str) -> None:
        def saw(sight: Sight) -> None:
            self._witness.saw(seat, sight)

        while True:
            with contextlib.suppress(ChannelError, OSError):
                await WorldClient(self._world, seat, saw).run()
            await asyncio.sleep(AGAIN_S)

    def _difference(self, state: State) -> str:
        public = _plain(views.public_view(state, self._live))
        for reader in ("", *SEATS):
            if reader not in self.last:
                return f"{_name(reader)} has been told nothing"
            data = _plain(self.last[reader].data)
            want = public if not reader else public | {"me": _own(_plain(views.own(state, reader, self._live)))}
            if reader:
                data["me"] = _own(data["me"])
            for name, value in want.items():
                if data.get(name) != value:
                    return f"{_name(reader)} shows {name} {_short(data.get(name))}, it is {_short(value)}"
        return ""


def _own(me: Mapping[str, Any]) -> dict[str, Any]:
    """What of a seat's own part follows from the state alone."""
    wants = [{name: want[name] for name in ("id", "verb", "actions")} for want in me["wants"]]
    return {"tiles": me["tiles"], "wants": wants, "points": me["points"]}


def _plain(value: Any) -> Any:
    """As JSON has it, without what depends on the moment."""
    if isinstance(value, Mapping):
        if isinstance(machine := value.get("machine"), Mapping):
            value = {**value, "machine": {name: machine.get(name) for name in _OF_THE_MACHINE}}
        return {str(key): _plain(one) for key, one in value.items() if key not in _NOT_COMPARED}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _name(reader: str) -> str:
    if reader in (PARLOR, LEDGER):
        return f"the {reader}"
    return f"the display of {reader}" if reader else "the public snapshot"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


def _runs_of(data: Mapping[str, Any], reader: str) -> Iterator[tuple[str, ...]]:
    own = data["me"]["tiles"] if reader and isinstance(data.get("me"), Mapping) else ""
    for run in _walk(data):
        if len(run) >= LEAST and not (own and sort_tiles(run) == sort_tiles(parse_tiles(str(own)))):
            yield run


def _walk(value: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(value, str):
        for text in _RUN.findall(value):
            with contextlib.suppress(TileError):
                yield tuple(parse_tiles(text))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _walk(one)
    elif isinstance(value, list):
        if value and all(isinstance(one, str) and _RUN.fullmatch(one) for one in value):
            yield tuple(value)
        else:
            for one in value:
                yield from _walk(one)


def _check_run(told: Runs, run: tuple[str, ...], hand: Shoulders) -> None:
    if all(map(is_flower, run)):
        return
    sorted_run = tuple(sort_tiles(run))
    for seat in SEATS:
        if seat != told.reader and sorted_run in hand.held[seat]:
            raise Wrong(f"{_name(told.reader)} was told the hand of {seat}: {' '.join(run)} (phase {told.phase})")
    text, back = " ".join(run), " ".join(reversed(run))
    if any(text in side or back in side for side in hand.sides):
        raise Wrong(f"{_name(told.reader)} was told a row of the wall: {' '.join(run)} (phase {told.phase})")


def resident(pid: int) -> int:
    """Resident memory of a process in bytes; 0 where it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0
