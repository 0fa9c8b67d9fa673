"""One simulated person: reads the own seat's display over MQTT, sees and acts in the world, for ever."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiomqtt
from pydantic import ValidationError

from protocol.mqtt.envelope import EnvelopeError, decode
from protocol.mqtt.models import Availability
from protocol.mqtt.topics import Topics
from protocol.mqtt.views import SeatView
from simulators.assumptions import People
from simulators.channel import ActRefused, WorldClient
from simulators.mind import LEAVE, Intention, Person, intention
from simulators.pace import Pace
from simulators.scenario.manners import Manners
from simulators.sight import Sight
from simulators.tasks import cancel_all

AWAY = ("starting", "offline", "lost")
"""What `availability` says while nobody listens at the table; one with a fault does."""
CONNECT_S = 3.0
PUBLISH_S = 3.0
KEEPALIVE_S = 5
LONGEST_PAUSE_S = 2.0
"""Back-off between connections, to the table's own broker, at most."""
ANSWER_S = 3.0
"""Real seconds that an answer, or the effect of a key, is waited for before it is tried again."""
RETRY_S = 0.5
"""Real seconds until an act that the world did not allow is tried again: another's tiles may have to be put right."""
LEAST_ABSENCE_S = 1.0
"""Real seconds that somebody is away, even at speed max."""
LEAST_PATIENCE_S = 1.5
"""Real seconds that anybody waits for the one who is asked first, even at speed max."""


_quiet = logging.Logger("quiet", logging.CRITICAL)
"""The client library tells of every lost connection; here they are counted."""


@dataclass(frozen=True, slots=True)
class Seating:
    """Where one person sits and how: broker, login, world, seed and speed."""

    seat: str
    table: str
    host: str
    port: int
    socket: Path | None
    user: str
    password: str
    world: str
    seed: int
    speed: str | float
    patience: float | None = None
    """Seconds until somebody else presses what everybody may press; None: as assumed, at this speed."""
    mistakes: Mapping[str, float] = field(default_factory=dict)
    """Rates of mistakes by name (`simulators.mistakes`)."""
    matches: int = 0
    """After so many matches nobody begins another; 0: they play on."""
    manners: Manners = field(default_factory=Manners)
    """What a scenario lets people do wrong."""


class Player:
    """The person of a seating. `counts` tells what was done."""

    def __init__(self, seating: Seating, people: People) -> None:
        self.seating = seating
        self.counts: Counter[str] = Counter()
        self._people = people
        self._pace = Pace(seating.speed)
        assumed = max(LEAST_PATIENCE_S, self._pace.real(people.impatience))
        self._patience = assumed if seating.patience is None else seating.patience
        self._topics = Topics(seating.table)
        self._person = Person(
            seating.seat, seating.seed, rates=seating.mistakes, matches=seating.matches, ordered=seating.manners.errs
        )
        self._changed = asyncio.Event()
        self._view: SeatView | None = None
        self._sight: Sight | None = None
        self._epoch = 0
        self._ready = False
        self._client: aiomqtt.Client | None = None
        self._world = WorldClient(seating.world, seating.seat, self._saw)
        self._throw_asked: tuple[object, ...] = ()
        self._sent: dict[str, str] = {}
        self._held_back: dict[str, float] = {}
        self._settled: set[str] = set()
        self._made: set[str] = set()
        self._made_in: tuple[int, int] = (0, 0)

    async def run(self) -> None:
        """Sit at the table until cancelled."""
        tasks = [asyncio.create_task(work) for work in (self._keep_reading(), self._keep_seeing(), self._play())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await cancel_all(tasks)

    # --- eyes -------------------------------------------------------------------------------------------------------

    async def _keep_seeing(self) -> None:
        pause = 0.05
        while True:
            with contextlib.suppress(OSError):
                await self._world.run()
            self._sight = None
            self.counts["world_reconnects"] += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _saw(self, sight: Sight) -> None:
        self._sight = sight
        self._changed.set()

    # --- the display ------------------------------------------------------------------------------------------------

    async def _keep_reading(self) -> None:
        pause = 0.05
        while True:
            began = asyncio.get_running_loop().time()
            with contextlib.suppress(aiomqtt.MqttError, OSError):
                await self._read_display()
            self._client, self._view, self._ready = None, None, False
            self.counts["broker_reconnects"] += 1
            if asyncio.get_running_loop().time() - began > 5.0:
                pause = 0.05
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _read_display(self) -> None:
        async with self._new_client() as client:
            await client.subscribe([(self._topics.availability, 1), (self._topics.seat(self.seating.seat), 1)])
            self._client = client
            async for message in client.messages:
                self._read(str(message.topic), bytes(message.payload or b""))

    def _new_client(self) -> aiomqtt.Client:
        seating = self.seating
        unix = seating.socket is not None
        return aiomqtt.Client(
            hostname=str(seating.socket) if unix else seating.host,
            port=1 if unix else seating.port,
            transport="unix" if unix else "tcp",
            username=seating.user,
            password=seating.password,
            identifier=f"person-{secrets.token_hex(8)}",
            protocol=aiomqtt.ProtocolVersion.V311,
            keepalive=KEEPALIVE_S,
            timeout=CONNECT_S,
            socket_options=[] if unix else [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            logger=_quiet,
        )

    def _read(self, topic: str, payload: bytes) -> None:
        if not payload and topic != self._topics.availability:
            self._view = None  # the table has nothing to say to this seat
            return
        try:
            envelope = decode(payload)
            if topic == self._topics.availability:
                self._ready = Availability.model_validate(envelope.data).state not in AWAY
                self._new_epoch(envelope.epoch)
            elif envelope.epoch >= self._epoch:
                self._new_epoch(envelope.epoch)
                self._show(SeatView.model_validate(envelope.data))
        except (EnvelopeError, ValidationError):
            self.counts["unreadable_views"] += 1
        self._changed.set()

    def _new_epoch(self, epoch: int) -> None:
        """After a restart of the table nobody knows which answers were heard: they are given again."""
        if epoch > self._epoch:
            if self._epoch:
                self.counts["epochs"] += 1
            self._epoch = epoch
            self._sent.clear()
            self._held_back.clear()
            self._settled.clear()

    def _show(self, view: SeatView) -> None:
        self._view = view
        hand = (view.match.number if view.match is not None else 0, view.hand)
        if hand != self._made_in:
            self._made_in = hand
            self._made.clear()
        throw = (view.hand, view.dice.purpose, view.dice.nth) if view.dice is not None else ()
        waiting = view.dice is not None and view.dice.state == "wanted"
        if self._sight is not None and throw and (waiting or throw != self._throw_asked):
            self._person = replace(self._person, thrown_before=self._sight.dice.throw)
        self._throw_asked = throw
        self._read_answers(view)

    def _read_answers(self, view: SeatView) -> None:
        outstanding = {want.id for want in view.me.wants}
        self._settled = {key for key in self._settled if key.partition("|")[0] in outstanding}
        for answer in view.me.answers:
            key = self._sent.pop(answer.id, None)
            if key is None:
                continue
            self.counts["accepted" if answer.ok else "refused"] += 1
            if answer.ok:
                self._settled.add(key)
            else:
                self.counts[f"refused_{answer.code}"] += 1

    # --- doing ------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        loop = asyncio.get_running_loop()
        planned, due = "", 0.0
        while True:
            self._changed.clear()
            now = loop.time()
            self._held_back = {key: until for key, until in self._held_back.items() if until > now}
            wanted = self._decide()
            if wanted is None:
                planned = ""
                await self._until_changed(min(self._held_back.values(), default=None))
                continue
            if wanted.key != planned:
                planned, due = wanted.key, now + self._delay(wanted)
            if now < due:
                await self._until_changed(due)
                continue
            planned = ""
            self._held_back[wanted.key] = now + ANSWER_S
            with contextlib.suppress(aiomqtt.MqttError, OSError):
                await self._do(wanted)

    def _decide(self) -> Intention | None:
        if self._view is None or self._sight is None or not self._ready:
            return None
        person = replace(
            self._person,
            done=self._held_back.keys() | self._settled,
            hands_only=self._view.me.device is not None,
            made=frozenset(self._made),
        )
        return intention(person, self._view, self._sight)

    def _delay(self, wanted: Intention) -> float:
        hand = self._view.hand if self._view is not None else 0
        usual = getattr(self._people, wanted.pace).sample(self._person.chance("delay", hand, wanted.key))
        away = self._person.errs("away", hand, wanted.key) and self._slips(f"away/{hand}/{wanted.key}")
        absent = max(LEAST_ABSENCE_S, self._pace.real(self._people.absence)) if away else 0.0
        return self._pace.real(usual) + wanted.rank * self._patience + absent

    def _slips(self, label: str) -> bool:
        """A mistake is made; False where it has been before. Labels begin with the mistake's name."""
        if label in self._made:
            return False
        self._made.add(label)
        self.counts[f"mistake_{label.partition('/')[0]}"] += 1
        return True

    async def _until_changed(self, until: float | None) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until if until is None else max(until, loop.time())):
                await self._changed.wait()

    async def _do(self, wanted: Intention) -> None:
        if wanted.act == LEAVE:
            self._slips(wanted.slip)
            self._settled.add(wanted.key)
            return
        if wanted.on_display:
            await self._answer(wanted)
            return
        if wanted.slip:
            self._slips(wanted.slip)
        try:
            result = await self._world.act(wanted.act, **wanted.arguments)
        except ActRefused:
            self.counts["acts_refused"] += 1
            self._held_back[wanted.key] = asyncio.get_running_loop().time() + RETRY_S
            return
        self.counts[wanted.act] += 1
        if wanted.act != "press":
            del self._held_back[wanted.key]
        await self._until_seen(result.get("seen", 0))

    async def _until_seen(self, version: int) -> None:
        """Look before doing the next thing: the world has changed. A world begun anew counts from the start again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                while self._sight is not None and self._sight.seen < version:
                    self._changed.clear()
                    await self._changed.wait()

    async def _answer(self, wanted: Intention) -> None:
        client = self._client
        if client is None:
            return
        if wanted.slip:
            self._slips(wanted.slip)
        number = self._new_id()
        self._sent[number] = wanted.key
        self.counts["answers"] += 1
        if wanted.act == "claim":
            self.counts[f"claim_{wanted.arguments.get('way')}"] += 1
        await self._send(client, number, wanted)
        hand = self._view.hand if self._view is not None else 0
        if self._person.errs("double_press", hand, wanted.key) and self._slips(f"double_press/{hand}/{wanted.key}"):
            await self._send(client, number, wanted)
            await self._send(client, self._new_id(), wanted)

    def _new_id(self) -> str:
        return f"{self.seating.seat}-{secrets.token_hex(8)}"

    async def _send(self, client: aiomqtt.Client, number: str, wanted: Intention) -> None:
        body: Mapping[str, Any] = {
            "id": number,
            "epoch": self._epoch,
            "want": wanted.want,
            "action": wanted.act,
            "params": dict(wanted.arguments),
        }
        await client.publish(self._topics.seat_input(self.seating.seat), json.dumps(body), qos=1, timeout=PUBLISH_S)
