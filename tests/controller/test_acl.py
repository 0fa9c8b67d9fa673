"""Who may say and hear what: every user on every topic, against a real broker with the shipped access list."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import aiomqtt
import pytest

from controller.private_broker import PrivateBroker
from protocol.mqtt.topics import SEATS, STREAMS, Topics

TABLE = "hall-7"
TOPICS = Topics(TABLE)
NOBODY = ""
SERVICE = f"{TABLE}-service"
ROLES = (TABLE, *(f"{TABLE}-{seat}" for seat in SEATS), f"{TABLE}-view", f"{TABLE}-web", SERVICE, "parlor", NOBODY)
SEAT_ROLES = {f"{TABLE}-{seat}": seat for seat in SEATS}

EVERY_TOPIC = (
    TOPICS.availability,
    TOPICS.birth,
    TOPICS.state,
    TOPICS.heartbeat,
    TOPICS.ledger,
    TOPICS.ledger_ack,
    TOPICS.config_desired,
    TOPICS.config_reported,
    *(TOPICS.seat(seat) for seat in SEATS),
    *(TOPICS.seat_input(seat) for seat in SEATS),
    *(TOPICS.event(stream) for stream in STREAMS),
    TOPICS.service,
    TOPICS.command("park"),
    TOPICS.command("service"),
    TOPICS.command("status"),
    TOPICS.command("restart"),
    TOPICS.response("counter"),
    TOPICS.response("service"),
    *(TOPICS.pairing(step) for step in ("request", "grant", "refused", "release", "state")),
    f"{TOPICS.base}/seat/E/secret",
    f"{TOPICS.base}/unknown",
    "kaijin/1/other-table/availability",
    "kaijin/1/other-table/state",
    f"kaijin/2/{TABLE}/state",
    "elsewhere",
)

# Written by hand from the contract, not from the template.
PUBLIC = {TOPICS.availability, TOPICS.birth, TOPICS.state}
PAIRING_OF_TABLE = {TOPICS.pairing("grant"), TOPICS.pairing("release")}
PAIRING_OF_WEB = {TOPICS.pairing("request"), TOPICS.pairing("refused"), TOPICS.pairing("state")}
FROM_TABLE = {
    *PUBLIC,
    *(TOPICS.seat(seat) for seat in SEATS),
    *(TOPICS.event(stream) for stream in STREAMS),
    TOPICS.heartbeat,
    TOPICS.ledger,
    TOPICS.config_reported,
    TOPICS.response("counter"),
    TOPICS.response("service"),
    TOPICS.service,
}
SERVICE_COMMANDS = {TOPICS.command("service"), TOPICS.command("status"), TOPICS.command("restart")}
COMMANDS = {TOPICS.command("park"), *SERVICE_COMMANDS}
FROM_PARLOR = {*COMMANDS, TOPICS.config_desired, TOPICS.ledger_ack}
INPUTS = {TOPICS.seat_input(seat) for seat in SEATS}
OWN_RETAINED = {*PUBLIC, TOPICS.config_reported, *(TOPICS.seat(seat) for seat in SEATS)}


def payload_of(message: aiomqtt.Message) -> bytes:
    assert isinstance(message.payload, bytes)
    return message.payload


def may_hear(role: str) -> set[str]:
    if role == TABLE:
        return {*OWN_RETAINED, *INPUTS, *FROM_PARLOR, *PAIRING_OF_WEB}
    if role in SEAT_ROLES:
        return {TOPICS.availability, TOPICS.seat(SEAT_ROLES[role])}
    return {
        f"{TABLE}-view": PUBLIC,
        f"{TABLE}-web": {TOPICS.availability, *PAIRING_OF_TABLE, TOPICS.pairing("state")},
        SERVICE: {TOPICS.availability, TOPICS.service, TOPICS.response("service")},
        "parlor": FROM_TABLE - {TOPICS.seat(seat) for seat in SEATS} - {TOPICS.service},
        NOBODY: {TOPICS.availability},
    }[role]


def may_say(role: str) -> set[str]:
    if role == TABLE:
        # It empties what should never have been retained: inputs, commands, acknowledgements, pairing requests.
        cleared = {*INPUTS, *COMMANDS, TOPICS.ledger_ack, TOPICS.pairing("request"), TOPICS.pairing("refused")}
        return {*FROM_TABLE, *PAIRING_OF_TABLE, *cleared}
    if role in SEAT_ROLES:
        return {TOPICS.seat_input(SEAT_ROLES[role])}
    return {
        f"{TABLE}-view": set(),
        f"{TABLE}-web": PAIRING_OF_WEB,
        SERVICE: SERVICE_COMMANDS,
        "parlor": FROM_PARLOR,
        NOBODY: set(),
    }[role]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path_factory.mktemp("acl") / "broker", TABLE) as running:
        yield running


@contextlib.asynccontextmanager
async def connected(broker: PrivateBroker, role: str) -> AsyncIterator[aiomqtt.Client]:
    password = broker.credentials[role] if role else None
    async with aiomqtt.Client(broker.host, broker.port, username=role or None, password=password, timeout=3) as client:
        yield client


async def test_every_user_on_every_topic(broker: PrivateBroker) -> None:
    heard: dict[str, set[tuple[str, str]]] = {}
    async with contextlib.AsyncExitStack() as stack:
        clients = {role: await stack.enter_async_context(connected(broker, role)) for role in ROLES}
        for client in clients.values():
            await client.subscribe([("#", 1), ("$SYS/#", 1), (f"{TOPICS.base}/seat/+/#", 1)])
        for role, client in clients.items():
            for topic in EVERY_TOPIC:
                await client.publish(topic, f"from {role}", qos=1)
        await clients[TABLE].publish(TOPICS.availability, "end", qos=1)
        for role, client in clients.items():
            heard[role] = await _until_the_end(client)
    expected = {
        reader: {
            (topic, f"from {writer}") for topic in may_hear(reader) for writer in ROLES if topic in may_say(writer)
        }
        for reader in ROLES
    }
    for role in ROLES:
        assert heard[role] == expected[role], role or "nobody"


async def _until_the_end(client: aiomqtt.Client) -> set[tuple[str, str]]:
    heard = set()
    async with asyncio.timeout(5):
        async for message in client.messages:
            payload = payload_of(message).decode()
            if payload == "end":
                return heard
            heard.add((message.topic.value, payload))
    raise AssertionError("the connection ended")


@pytest.mark.parametrize("role", ROLES)
async def test_what_is_retained_reaches_a_late_subscriber_only_where_allowed(broker: PrivateBroker, role: str) -> None:
    async with connected(broker, TABLE) as table:
        for topic in sorted(OWN_RETAINED):
            await table.publish(topic, "retained", qos=1, retain=True)
        async with connected(broker, role) as late:
            await late.subscribe("#", qos=1)
            await table.publish(TOPICS.availability, "end", qos=1)
            heard = {topic for topic, payload in await _until_the_end(late) if payload == "retained"}
    assert heard == may_hear(role) & OWN_RETAINED


@pytest.mark.parametrize(
    ("user", "password"),
    [
        (TABLE, "wrong"),
        (TABLE, ""),
        (TABLE, None),
        (f"{TABLE}-E", "wrong"),
        (f"{TABLE}-E", None),
        ("somebody", "x"),
        ("somebody", None),
        (f"{TABLE}-e", "x"),
    ],
)
async def test_a_wrong_password_or_user_is_refused(broker: PrivateBroker, user: str, password: str | None) -> None:
    with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori"):
        async with aiomqtt.Client(broker.host, broker.port, username=user, password=password, timeout=3):
            pass


async def test_a_seat_with_the_password_of_another_is_refused(broker: PrivateBroker) -> None:
    password = broker.credentials[f"{TABLE}-S"]
    with pytest.raises(aiomqtt.MqttError):
        async with aiomqtt.Client(broker.host, broker.port, username=f"{TABLE}-E", password=password, timeout=3):
            pass


async def test_a_forbidden_will_is_never_heard(broker: PrivateBroker) -> None:
    will = aiomqtt.Will(TOPICS.seat("W"), b"forged", qos=1)
    async with connected(broker, f"{TABLE}-W") as victim:
        await victim.subscribe("#", qos=1)
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        user, password = f"{TABLE}-E", broker.credentials[f"{TABLE}-E"]
        fields = ("", will.topic, "forged", user, password)
        body = b"\x00\x04MQTT\x04\xce\x00\x3c" + b"".join(
            len(text).to_bytes(2, "big") + text.encode() for text in fields
        )
        assert len(body) < 256
        length = bytes((len(body),)) if len(body) < 128 else bytes((len(body) & 0x7F | 0x80, len(body) >> 7))
        writer.write(b"\x10" + length + body)
        assert (await reader.readexactly(4))[3] == 0
        writer.close()
        await writer.wait_closed()
        async with connected(broker, TABLE) as table:
            await table.publish(TOPICS.availability, "end", qos=1)
        assert await _until_the_end(victim) <= {(TOPICS.seat("W"), "retained"), (TOPICS.availability, "retained")}
