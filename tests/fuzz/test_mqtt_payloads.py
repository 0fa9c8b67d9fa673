"""Malformed MQTT payloads for a daemon with a hand in play: no crash, no hang, no change, each answered or counted.

Most are near misses: right messages with something wrong. One that is right by chance is left out.
"""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from controller.broker_address import BrokerAddress
from controller.clock import SystemClock
from controller.daemon import Daemon
from controller.journal import read_events
from controller.notify import Notifier
from controller.settings import load_settings
from controller.startup import start
from engine import inputs as i
from engine.table import Refused, decide
from engine.tiles import SEATS
from engine.wants import wants
from protocol.mqtt.actions import ACTIONS
from protocol.mqtt.commands import COMMANDS
from protocol.mqtt.inbound import InputError, parse_command, parse_input
from protocol.mqtt.models import LedgerAck, PairingRefused, PairingRequest, PairingState
from protocol.mqtt.topics import Topics
from tests.controller.written import written

TABLE = "fuzzed"
TOPICS = Topics(TABLE)
BATCH = 250
FEW, MANY = 4_000, 105_000

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 2**64, 10**40, 0.5, 1e308, "", " ", "E", "\x00", "\ud800", "１", "x" * 300,
    "x" * 5000, [], {}, [[]], {"a": {"b": [1, {"c": None}]}}, ["1m"] * 200, "__class__", "../../etc/passwd", "1m", 3.0,
    {"": ""}, -(2**63), "true", "NaN",
)  # fmt: skip


class Wrong:
    """Makes payloads for the topics that the table hears, none of which is right."""

    def __init__(self, seed: int, daemon: Daemon) -> None:
        self.chance = random.Random(seed)
        self.daemon = daemon
        self.right_by_chance = 0
        self.kinds: Counter[str] = Counter()
        state = daemon._core.state
        self.outstanding = {(want.seat, str(want.id)): want for want in wants(state) if want.kind == "prompt"}
        self.epoch = daemon._publisher.epoch

    def next(self) -> tuple[str, bytes]:
        """A topic and what is said there."""
        while True:
            kind = self.chance.choice((*("seat", "command") * 3, "ack", "pairing", "config"))
            topic, body, right = getattr(self, f"_{kind}")()
            payload = self._spoilt(body)
            if right(payload):
                self.right_by_chance += 1
                continue
            self.kinds[kind] += 1
            return topic, payload

    # --- what is nearly right -----------------------------------------------------------------------------------------

    def _seat(self) -> tuple[str, dict[str, Any], Callable[[bytes], bool]]:
        seat, state = self.chance.choice(SEATS), self.daemon._core.state
        want = self.chance.choice([*(id for _, id in self.outstanding), "9.gone-0.1", "", "0.start-0.1"])
        known = self.outstanding.get((seat, want))
        action = self.chance.choice(list(known.actions) if known is not None and known.actions else list(ACTIONS))
        params = {param.name: self._value() for param in ACTIONS[action].params} if action in ACTIONS else {}
        body = {"id": self._id(), "epoch": self.epoch, "want": want, "action": action, "params": params}

        def right(payload: bytes) -> bool:
            try:
                said = parse_input(payload, self.epoch)
            except InputError:
                return False
            if (seat, said.want) not in self.outstanding:
                return not said.want  # `look`, `unpair` …
            try:
                decide(state, i.SeatAction(seat, said.want, said.action, said.params))
            except Refused:
                return False
            except Exception:
                return False  # The engine's mistake: the daemon is to count it, and the test to find it.
            return True

        return TOPICS.seat_input(seat), body, right

    def _command(self) -> tuple[str, dict[str, Any], Callable[[bytes], bool]]:
        verb = self.chance.choice([*COMMANDS, "reveal", "config"])
        known = COMMANDS.get(verb)
        args = {param.name: self._value() for param in known.args} if known is not None else {}
        about = {"id": self._id(), "client": "hub", "who": "fuzz"}
        body = {**about, "epoch": self.epoch, "not_after_ms": 400_000, "args": args}

        def right(payload: bytes) -> bool:
            try:
                parse_command(payload, verb, self.daemon._publisher._clock.mono_ms(), self.epoch, None)
            except InputError:
                return False
            return True

        return TOPICS.command(verb), body, right

    def _ack(self) -> tuple[str, dict[str, Any], Callable[[bytes], bool]]:
        body = {"journal": f"{self.daemon._journal.journal_id:016x}", "number": self.chance.choice((0, 1, 3, 2**63))}

        def right(payload: bytes) -> bool:
            try:
                said = LedgerAck.model_validate_json(payload, strict=True)
            except ValidationError:
                return False
            return said.number <= self.daemon._ledger._said_up_to

        return TOPICS.ledger_ack, body, right

    def _pairing(self) -> tuple[str, dict[str, Any], Callable[[bytes], bool]]:
        step, model, body = self.chance.choice(
            (
                ("request", PairingRequest, {"code": "123456", "seat": "E", "device": "d1", "name": "n"}),
                ("refused", PairingRefused, {"seat": "E", "name": "n"}),
                ("state", PairingState, {"E": "a", "S": None, "W": None, "N": None, "view": None, "service": None}),
            )
        )

        def right(payload: bytes) -> bool:
            try:
                model.model_validate_json(payload)
            except ValueError:
                return False
            return True

        return TOPICS.pairing(step), dict(body), right

    def _config(self) -> tuple[str, dict[str, Any], Callable[[bytes], bool]]:
        nowhere = (f"{TOPICS.base}/nothing", "kaijin/9/x/y", TOPICS.base, "", "\x00")
        topic = self.chance.choice((TOPICS.config_desired, *nowhere))
        return topic, {"match": {"rules": "new-xiamen-120"}}, lambda payload: False

    def _value(self) -> Any:
        return copy.deepcopy(self.chance.choice(VALUES))

    def _id(self) -> str:
        return f"z{self.chance.randrange(10**12)}"

    # --- what is wrong with it ----------------------------------------------------------------------------------------

    def _spoilt(self, body: dict[str, Any]) -> bytes:
        how = self.chance.randrange(12)
        if how < 6:
            return self._text(self._changed(body))
        text = bytearray(self._text(body))
        place = self.chance.randrange(len(text))
        if how == 6:
            for _ in range(self.chance.randint(1, 4)):
                text[self.chance.randrange(len(text))] ^= 1 << self.chance.randrange(8)
        elif how == 7:
            del text[place:]
        elif how == 8:
            text[place:place] = self.chance.choice(
                (b"\x00", b"\xff\xfe", b"NaN", b"Infinity", b"1e999", b'"', b"{", b"[" * 2000, b"\\ud800", b"9" * 400)
            )
        elif how == 9:
            return self.chance.randbytes(self.chance.randint(0, 400))
        elif how == 10:
            text += self.chance.choice((b"}", b" " * 9000, bytes(text), b",null", b"\xe4\xb8"))
        else:
            deep = (b"[" * 100_000, b'{"a":' * 3000)
            return self.chance.choice((b"null", b"[]", b'"x"', b"1", b"{}", *deep, b"\xef\xbb\xbf{}"))
        return bytes(text)

    def _changed(self, body: dict[str, Any]) -> dict[str, Any]:
        """One to three values put in, left out, renamed or doubled somewhere."""
        made: dict[str, Any] = copy.deepcopy(body)
        for _ in range(self.chance.randint(1, 3)):
            at = self.chance.choice([made, *(one for one in made.values() if isinstance(one, dict))])
            key = self.chance.choice([*at, "more"])
            match self.chance.randrange(4):
                case 0:
                    at[key] = self._value()
                case 1:
                    at.pop(key, None)
                case 2:
                    at[key.upper() + "_"] = at.pop(key, None)
                case _:
                    at[key] = [at.get(key)] * 2
        return made

    def _text(self, body: dict[str, Any]) -> bytes:
        return json.dumps(body, ensure_ascii=self.chance.random() < 0.5).encode("utf-8", "surrogatepass")


class Outlet:
    """Takes what the table says, and remembers who was answered."""

    def __init__(self) -> None:
        self.answered: set[str] = set()
        self.connected = True

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        pass

    def publish(self, topic: str, payload: bytes, qos: int = 1, keep: bool = True) -> None:
        if "/response/" in topic:
            self.answered.add(json.loads(payload)["data"]["id"])


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    """A daemon in the middle of a hand, without board and broker; its timers do not run out."""
    (tmp_path / "table.toml").write_text(
        f"""
        [table]
        id = "{TABLE}"
        [serial]
        ports = ["nothing-here"]
        [broker]
        port = 1
        [journal]
        path = "table.journal"
        [timing]
        speed = 0.001
        [health]
        listen = ""
        """
    )
    scribe = await written(
        tmp_path / "table.journal", hands=1, sensing="full",
        until=lambda state: state.phase == "play" and any(want.kind == "prompt" for want in wants(state)),
    )  # fmt: skip
    await scribe.journal.close()
    settings = load_settings(tmp_path / "table.toml", {})
    address = BrokerAddress("127.0.0.1", 1, None, None, None, 5)
    begun = await start(settings, address, adopt=True)
    made = Daemon(settings, begun, address, SystemClock(), Notifier({}))
    made._publisher._outlet = Outlet()
    running = asyncio.create_task(made.run())
    await asyncio.wait_for(made._core.beat(), 20)
    yield made
    assert not running.done(), running.exception()
    made.stop()
    await asyncio.wait_for(running, 20)


@pytest.mark.parametrize(
    "count", [FEW, pytest.param(MANY, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]
)  # fmt: skip
async def test_malformed_payloads_change_nothing(daemon: Daemon, count: int) -> None:
    """Every payload is answered or counted, and the hand in play is what it was."""
    core, journal, outlet = daemon._core, daemon._journal, daemon._publisher._outlet
    assert isinstance(outlet, Outlet)
    wrong = Wrong(20260101, daemon)
    assert wrong.outstanding, "somebody is asked something"
    state = core.state
    stands = (journal.last_event, journal.last_seq, dict(journal._notes), daemon._doors.locked, daemon._offer.terms)
    counted = _counted(daemon)
    said = failures = 0
    while said < count:
        batch = [wrong.next() for _ in range(BATCH)]
        for topic, payload in batch:
            daemon._broker_says(topic, payload, False)
        said += len(batch)
        await asyncio.wait_for(core.beat(), 30)
        await asyncio.sleep(0)
        while daemon._ledger._acks:
            await asyncio.sleep(0.001)
        assert core.state is state, list(read_events(journal.path))[stands[0] :]
        await _answered(batch, daemon, outlet)
    await asyncio.wait_for(_until(lambda: _counted(daemon) - counted >= said), 30)
    failures = int(core._metrics.registry.get_sample_value("kaijin_core_failures_total") or 0)
    assert failures == 0 and _counted(daemon) - counted == said
    assert core.state is state
    after = (journal.last_event, journal.last_seq, dict(journal._notes), daemon._doors.locked, daemon._offer.terms)
    assert after == stands
    assert min(wrong.kinds.values()) > count // 20 and wrong.right_by_chance < count // 2
    print(f"{said} payloads: {dict(wrong.kinds)}, {wrong.right_by_chance} right by chance left out")


async def _answered(batch: list[tuple[str, bytes]], daemon: Daemon, outlet: Outlet) -> None:
    """Whoever said a command with an id and a name of its own is answered."""
    asked = set()
    for topic, payload in batch:
        if "/command/" in topic:
            try:
                parse_command(payload, topic.rsplit("/", 1)[1], 0, daemon._publisher.epoch)
            except InputError as error:
                if error.id and error.client:
                    asked.add(error.id)
    await asyncio.wait_for(_until(lambda: asked <= outlet.answered), 30)
    outlet.answered.clear()


async def _until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.005)


def _counted(daemon: Daemon) -> int:
    metrics = daemon._core._metrics
    return sum(
        int(sample.value)
        for counter in (metrics.inputs, metrics.commands, metrics.ledger_acks)
        for metric in counter.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    )
