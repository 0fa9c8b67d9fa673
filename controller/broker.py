"""The session with the table's own broker: connects for ever, says the latest of every retained topic, keeps nothing
in the client library.

One `BrokerSession` lives as long as its process; each connection is a fresh client. What is to be said waits in the
session's own outbox: of a retained topic only the latest content, of other messages a bounded queue in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import aiomqtt
import structlog
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.broker_address import MOST_IN_FLIGHT, BrokerAddress, payload_bytes
from controller.broker_client import PromptClient
from protocol.mqtt.topics import TopicError, parse_topic

PUBLISH_S = 3.0
STABLE_S = 5.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0
FAREWELL_S = 1.0
MOST_WAITING = 1000
_ECHO_S = 5.0
_SAY_AGAIN_S = 0.2
_SUMMARY_S = 60.0
# Whatever is first in this list is said first after a CONNACK: who the table is, then how it stands, then that it is
# there. Topics of other kinds come before availability.
_ORDER = ("birth", "state", "seat")

_log = structlog.get_logger("broker")

OnMessage = Callable[[str, bytes, bool], None]


@dataclass(slots=True)
class Counters:
    """What has happened since the start of the session."""

    attempts: int = 0
    connections: int = 0
    received: int = 0
    published: int = 0
    dropped: int = 0
    said_again: int = 0
    unheard: int = 0
    denied: int = 0
    refused_retained: int = 0
    handler_errors: int = 0


@dataclass(slots=True)
class _Waiting:
    """A message that is not retained, waiting for its turn or for its acknowledgement."""

    topic: str
    payload: bytes
    qos: int
    keep: bool = True
    """Wait for the next connection where this one ends before the broker has taken it."""


@dataclass(frozen=True, slots=True)
class _Flight:
    """A message on its way: a retained topic's latest content, or what waited in the queue; since when (monotonic)."""

    what: str | _Waiting
    since: float


class BrokerSession:
    """Keeps one user connected and its outbox empty.

    `subscribe`: topic filters read with QoS 1. `read_back`: own retained topics that are read as well; where the
    broker holds anything but the latest that was said, it is said again. `will` gives topic and payload of the
    retained will of each new connection. `on_message(topic, payload, retained)` gets everything else that is read and
    must not block; what should never have been retained (inputs, commands, pairing requests) is cleared on the
    broker and given to `on_refused(topic, payload)` instead. `on_connected` is called after each CONNACK, before the
    outbox is said.

    MQTT 5 is tried first, since it tells of a live message too whether it was published as retained; a broker that
    speaks 3.1.1 alone gets that, and its retained messages are found at the next connection.
    """

    def __init__(
        self,
        address: BrokerAddress,
        subscribe: Iterable[str],
        on_message: OnMessage,
        *,
        read_back: Iterable[str] = (),
        will: Callable[[], tuple[str, bytes]] | None = None,
        on_refused: Callable[[str, bytes], None] | None = None,
        on_connected: Callable[[], None] | None = None,
    ) -> None:
        self.counters = Counters()
        self._address = address
        self._subscribe = tuple(subscribe)
        self._read_back = frozenset(read_back)
        self._on_message = on_message
        self._on_refused = on_refused
        self._on_connected = on_connected
        self._will = will
        self._retained: dict[str, bytes] = {}
        self._dirty: dict[str, None] = {}
        self._queue: deque[_Waiting] = deque()
        self._talk: _Connection | None = None
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._up = asyncio.Event()
        self._protocol = aiomqtt.ProtocolVersion.V5
        self._failures = 0
        self._told_at = -_SUMMARY_S
        self._unsaid: set[str] = set()

    @property
    def unsaid(self) -> frozenset[str]:
        """Topics of ours that the broker takes and does not pass on: the access list denies them."""
        return frozenset(self._unsaid)

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted us and the connection is not known to be lost."""
        return self._up.is_set()

    async def wait_connected(self) -> None:
        """Wait until `connected`."""
        await self._up.wait()

    @property
    def waiting(self) -> int:
        """How many messages are not yet acknowledged by the broker."""
        flying = 0 if self._talk is None else len(self._talk.flying)
        return len(self._dirty) + len(self._queue) + flying

    @property
    def retained(self) -> Mapping[str, bytes]:
        """The latest content of every retained topic of ours."""
        return self._retained

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        """Say this as the retained content of `topic`, now or as soon as there is a connection; None empties it."""
        self._retained[topic] = payload or b""
        self._mark(topic)

    def publish(self, topic: str, payload: bytes, qos: int = 1, keep: bool = True) -> None:
        """Say this once, in order. QoS 0 is dropped while there is no connection, QoS 1 waits (the last 1000).

        What is not to be kept ends with the connection: who says it says it again on the next one.
        """
        if (qos == 0 or not keep) and not self.connected:
            self.counters.dropped += 1
            return
        if len(self._queue) >= MOST_WAITING:
            self._queue.popleft()
            self.counters.dropped += 1
        self._queue.append(_Waiting(topic, payload, qos, keep))
        self._say_now()

    def stop(self) -> None:
        """Make `run` say what waits (at most 1 s), leave cleanly and return. Set availability `offline` before."""
        self._stop.set()
        self._wake.set()

    async def run(self) -> None:
        """Stay connected until `stop`; returns then. Never raises for what a broker or a network does."""
        failures_in_row = 0
        while not self._stop.is_set():
            began = time.monotonic()
            lasted = await self._attempt()
            if self._stop.is_set():
                return
            failures_in_row = 0 if lasted >= STABLE_S else failures_in_row + 1
            longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(failures_in_row, 8))
            pause = max(0.0, random.uniform(longest / 2, longest) - (time.monotonic() - began - lasted))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)

    async def _attempt(self) -> float:
        """One connection, from its begin to its end; how many seconds it was up."""
        self.counters.attempts += 1
        will = None
        if self._will is not None:
            topic, payload = self._will()
            will = aiomqtt.Will(topic, payload, qos=1, retain=True)
        up_at, reached = None, False
        client = self._address.client(will, self._protocol)
        try:
            if not await self._connect(client):
                return 0.0
            reached = True
            try:
                up_at = time.monotonic()
                await self._connected_with(client)
            finally:
                self._up.clear()
                await client.__aexit__(None, None, None)
        except (aiomqtt.MqttError, OSError, ValueError, TimeoutError) as error:
            self._tell_failure(error, up_at is not None)
            older = not reached and self._protocol is aiomqtt.ProtocolVersion.V5 and _may_be_older(error)
            self._protocol = aiomqtt.ProtocolVersion.V311 if older else aiomqtt.ProtocolVersion.V5
        client.forget_loss()
        return 0.0 if up_at is None else time.monotonic() - up_at

    async def _connect(self, client: aiomqtt.Client) -> bool:
        """Connect; False if stopped meanwhile. A connect under way is not cancelled: it runs in a thread."""
        connecting = asyncio.ensure_future(client.__aenter__())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                await asyncio.wait({connecting}, timeout=FAREWELL_S)
            if not connecting.done():
                return False
            await connecting
            return True
        finally:
            stopping.cancel()
            if not connecting.done():
                connecting.cancel()

    async def _connected_with(self, client: PromptClient) -> None:
        talk = _Connection(self, client)
        # Reading begins before anything is asked, so that the loss of the connection is never overlooked.
        reader = asyncio.create_task(talk.read(), name="broker-read")
        writer = asyncio.create_task(self._greet_and_write(client, talk), name="broker-write")
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._talk = None
            talk.take_back()
            for task in (reader, writer):
                task.cancel()
            ended = await asyncio.gather(reader, writer, return_exceptions=True)
        for end in ended:
            if isinstance(end, Exception):
                raise end

    async def _greet_and_write(self, client: PromptClient, talk: _Connection) -> None:
        await self._subscribe_all(client)
        self.counters.connections += 1
        self._failures = 0
        _log.info("broker_connected", connections=self.counters.connections)
        self._dirty = dict.fromkeys(sorted(self._retained, key=_rank))
        self._up.set()
        if self._on_connected is not None:
            self._on_connected()
        # From here on what is set or published leaves at once.
        self._talk = talk
        await talk.write()

    async def _subscribe_all(self, client: aiomqtt.Client) -> None:
        # The client forgets a loss that came with the CONNACK: only an answer proves that the connection stands, so
        # something is asked even where there is nothing to read.
        read = self._subscribe or ("kaijin/none",)
        own = sorted(self._read_back)
        if self._protocol is not aiomqtt.ProtocolVersion.V5:
            await client.subscribe([(topic, 1) for topic in (*read, *own)])
            return
        as_published = SubscribeOptions(qos=1, retainAsPublished=True)
        plain = SubscribeOptions(qos=1)
        await client.subscribe([(topic, as_published) for topic in read] + [(topic, plain) for topic in own])

    def _mark(self, topic: str) -> None:
        self._dirty[topic] = None
        self._say_now()

    def _say_now(self) -> None:
        """Say what waits, as far as the connection takes it; its writer goes on with the rest as receipts come."""
        if self._talk is not None:
            self._talk.launch()

    def _handle(self, topic: str, payload: bytes, retained: bool) -> None:
        self.counters.received += 1
        try:
            forbidden = never_retained(topic)
            if forbidden and not payload:
                # Somebody emptied it, most often we.
                return
            if forbidden and retained:
                self.counters.refused_retained += 1
                self._queue.append(_Waiting(topic, b"", -1))
                self._say_now()
                _log.warning("retained_message_refused", topic=topic)
                if self._on_refused is not None:
                    self._on_refused(topic, payload)
            else:
                self._on_message(topic, payload, retained)
        except Exception:
            # A handler's mistake with one message must not end the session for all others.
            self.counters.handler_errors += 1
            _log.exception("message_handler_failed", topic=topic)

    def _judge(self, topic: str, denied: bool) -> None:
        """A receipt that says no tells that the access list denies a topic; one that says yes may be of no worth."""
        if denied:
            self.counters.denied += 1
            self._not_passed_on(topic)
        elif topic not in self._read_back:
            self._unsaid.discard(topic)

    def _not_passed_on(self, topic: str) -> None:
        if topic not in self._unsaid:
            self._unsaid.add(topic)
            _log.error("own_topic_not_passed_on", topic=topic, hint="does the access list allow it?")

    def _tell_failure(self, error: Exception, was_up: bool) -> None:
        self._failures += 1
        now = time.monotonic()
        if was_up or now - self._told_at >= _SUMMARY_S:
            self._told_at = now
            _log.warning("broker_lost" if was_up else "broker_unreachable", error=str(error), failures=self._failures)


class _Connection:
    """One connection's reading and writing, and what it has said that was not acknowledged or heard yet."""

    def __init__(self, session: BrokerSession, client: PromptClient) -> None:
        self.session = session
        self.client = client
        self.client.on_receipt = self._receipt
        self.flying: dict[int, _Flight] = {}
        self.flying_topics: set[str] = set()
        self.receipts: list[tuple[int, bool]] = []
        self.failure: aiomqtt.MqttError | None = None
        self.unheard: dict[str, deque[tuple[bytes, float]]] = {}
        self.said_again_at: dict[str, float] = {}

    async def read(self) -> None:
        """Read until the connection is lost."""
        async for message in self.client.messages:
            topic, payload = message.topic.value, payload_bytes(message.payload)
            if topic in self.session._read_back and topic in self.session._retained:
                self._heard(topic, payload, message.retain)
            else:
                self.session._handle(topic, payload, message.retain)

    async def write(self) -> None:
        """Say what waits until the connection is lost, or until everything is said after a stop."""
        session = self.session
        deadline = None
        while True:
            session._wake.clear()
            self._land()
            self.launch()
            if self.failure is not None:
                raise self.failure
            if session._stop.is_set():
                deadline = deadline or time.monotonic() + FAREWELL_S
                if not session.waiting or time.monotonic() >= deadline:
                    return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(session._wake.wait(), 0.1 if deadline else self._patience())
            self._check_receipts()
            self._check_echoes()

    def launch(self) -> None:
        """Say what waits and is not on its way, as far as so many may be; never blocks and never raises."""
        session = self.session
        for topic in [topic for topic in session._dirty if topic not in self.flying_topics]:
            if not self._may_launch():
                return
            del session._dirty[topic]
            payload = session._retained[topic]
            if self._fly(topic, topic, payload, 1, True):
                self.flying_topics.add(topic)
                if topic in session._read_back:
                    self.unheard.setdefault(topic, deque()).append((payload, time.monotonic()))
        while session._queue and self._may_launch():
            waiting = session._queue.popleft()
            # Only clearing what should never have been retained is queued with qos -1.
            self._fly(waiting, waiting.topic, waiting.payload, abs(waiting.qos), waiting.qos < 0)

    def take_back(self) -> None:
        """After the end: what was not acknowledged waits again, in its old order. Retained topics are said anew."""
        self._land()
        flown = [flight.what for flight in self.flying.values()]
        unacknowledged = [what for what in flown if isinstance(what, _Waiting) and what.qos != 0]
        again = [what for what in (*unacknowledged, *self.session._queue) if what.keep]
        self.session._queue = deque(again)

    def _may_launch(self) -> bool:
        return self.failure is None and len(self.flying) < MOST_IN_FLIGHT

    def _fly(self, what: str | _Waiting, topic: str, payload: bytes, qos: int, retain: bool) -> bool:
        """Hand a message to the socket; False when it is not on its way."""
        try:
            number = self.client.say(topic, payload, qos, retain)
        except aiomqtt.MqttError as error:
            # The connection is lost. The message waits for the next one, retained topics are said anew there.
            if isinstance(what, _Waiting) and what.qos != 0:
                self.session._queue.appendleft(what)
            self.failure = error
            self.session._wake.set()
            return False
        except (ValueError, TypeError) as error:
            # The client library refuses this very message: saying it again would end every connection.
            self.session.counters.dropped += 1
            _log.error("message_not_sendable", topic=topic, error=str(error))
            return False
        self.flying[number] = _Flight(what, time.monotonic())
        self.client.flush()
        return True

    def _receipt(self, number: int, denied: bool) -> None:
        """Called by the client library; what it makes room for is said later, outside the library."""
        self.receipts.append((number, denied))
        self.session._wake.set()

    def _land(self) -> None:
        """Take what was acknowledged out of flight."""
        for number, denied in self.receipts:
            flight = self.flying.pop(number, None)
            if flight is None:
                continue
            self.session.counters.published += 1
            if isinstance(flight.what, str):
                self.flying_topics.discard(flight.what)
            self.session._judge(flight.what if isinstance(flight.what, str) else flight.what.topic, denied)
        self.receipts.clear()

    def _patience(self) -> float:
        """Seconds until the oldest message in flight is given up, or echoes are looked after."""
        oldest = next(iter(self.flying.values()), None)
        return _ECHO_S if oldest is None else max(0.0, oldest.since + PUBLISH_S - time.monotonic())

    def _check_receipts(self) -> None:
        """A broker that acknowledges nothing is no connection."""
        self._land()
        oldest = next(iter(self.flying.values()), None)
        if oldest is not None and oldest.since + PUBLISH_S <= time.monotonic():
            raise aiomqtt.MqttError("Operation timed out")

    def _heard(self, topic: str, payload: bytes, retained: bool) -> None:
        """One of our own topics comes back. What is not our latest, and not on its way, is said again."""
        self.session.counters.received += 1
        said = self.unheard.get(topic, deque())
        if any(payload == one for one, _ in said):
            while said.popleft()[0] != payload:
                pass
            self.session._unsaid.discard(topic)
            return
        on_its_way = bool(said) or topic in self.session._dirty
        if payload == self.session._retained[topic] or (retained and on_its_way):
            return
        now = time.monotonic()
        if now - self.said_again_at.get(topic, -_SAY_AGAIN_S) < _SAY_AGAIN_S:
            asyncio.get_running_loop().call_later(_SAY_AGAIN_S, self._say_again, topic)
        else:
            self._say_again(topic)

    def _say_again(self, topic: str) -> None:
        self.said_again_at[topic] = time.monotonic()
        self.session.counters.said_again += 1
        self.session._mark(topic)
        _log.warning("own_topic_overwritten", topic=topic)

    def _check_echoes(self) -> None:
        """A PUBACK proves nothing: a topic that never comes back was denied or lost."""
        oldest = time.monotonic() - _ECHO_S
        for topic, said in self.unheard.items():
            if said and said[0][1] < oldest:
                said.clear()
                self.session.counters.unheard += 1
                self.session._mark(topic)
                self.session._not_passed_on(topic)


def never_retained(topic: str) -> bool:
    """Whether a retained message on `topic` is a mistake: seat inputs, commands, pairing requests and answers."""
    try:
        address = parse_topic(topic)
    except TopicError:
        return False
    if address.kind == "pairing":
        return address.detail != "state"
    return address.kind in ("seat/input", "command", "ledger/ack")


def _rank(topic: str) -> tuple[int, str]:
    try:
        kind = parse_topic(topic).kind
    except TopicError:
        kind = "seat"
    if kind == "availability":
        return len(_ORDER) + 1, topic
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER)), topic


def _may_be_older(error: Exception) -> bool:
    """Whether a failed connect may be that of a broker that does not understand MQTT 5: it refuses or says nothing."""
    return isinstance(error, aiomqtt.exceptions.MqttConnectError) or "timed out" in str(error)
