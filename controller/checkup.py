"""What `kaijin doctor` looks at: each part of a table's set-up, what was found, and what to do about it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import aiomqtt

from controller.adapters import opener_of
from controller.broker_address import BrokerAddress
from controller.clock import kernel_clock_state
from controller.credentials import CredentialsError, load_credentials, user_of
from controller.journal import JournalError, read_meta, read_state
from controller.lines import host_name
from controller.probe import ProbeError, probe
from controller.recording.port import Opener
from controller.serial_port import SerialPortError, open_port
from controller.settings import Settings
from controller.startup import StartError, broker_address, check_rules, fold_events, kaijin_version, thaw
from protocol.mqtt.topics import Topics

Level = Literal["OK", "WARN", "FAIL"]

DISK_WARN_MB: Final = 200
DISK_FAIL_MB: Final = 20
LISTEN_S: Final = 0.5
"""How long a look at a broker waits for messages that must, or must not, come."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and what to do where it is not right."""

    level: Level
    what: str
    found: str
    do: str = ""


async def check_all(settings: Settings) -> AsyncIterator[Finding]:
    """Every check in order, each finding as soon as it is there. Moves nothing and changes nothing."""
    yield check_match(settings)
    for number, port in enumerate(settings.serial.ports, 1):
        yield await check_port(port, settings.serial.baud, opener_of(settings, number))
    async for finding in check_broker(settings):
        yield finding
    yield await asyncio.to_thread(check_journal, settings.journal.path)
    yield check_disk(settings.journal.path.parent)
    yield check_clock()


def check_match(settings: Settings) -> Finding:
    """Whether the match of the settings can be played."""
    try:
        check_rules(settings)
    except StartError as error:
        return Finding("FAIL", "rules", str(error), "see `kaijin rules list` and `kaijin rules show`")
    return Finding(
        "OK", "rules", f"{settings.match.rules}{' ' + settings.match.layout if settings.match.layout else ''}"
    )


async def check_port(port: str, baud: int, opener: Opener = open_port) -> Finding:
    """Whether the board at a port answers; a port that the daemon holds is no fault."""
    what = f"port {port}"
    try:
        probed = await probe(port, baud, host_name(kaijin_version()), opener=opener)
    except SerialPortError as error:
        if error.code == "busy":
            return Finding("OK", what, "held by another program: the running daemon, if there is one")
        return Finding("FAIL", what, str(error), _PORT_ADVICE.get(error.code, "look at the cable and `dmesg`"))
    except (ProbeError, TimeoutError) as error:
        return Finding("FAIL", what, str(error) or "the board answers too slowly", "check power, wiring and baud rate")
    board = probed.identity
    if probed.refusal:
        return Finding("FAIL", what, probed.refusal, "bring both sides to the same protocol")
    found = f"{board.model}, firmware {board.firmware}, serial number {board.serial_number}"
    if board.stop_reason:
        return Finding("WARN", what, f"{found}; stop latched: {board.stop_reason}", "release the stop at the table")
    if re.fullmatch(r"/dev/tty(USB|ACM)\d+", port):
        return Finding("WARN", what, f"{found}; this name changes when the adapter is plugged in again", _UDEV)
    return Finding("OK", what, found)


async def check_broker(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the broker is there, knows us, lets the table speak, and keeps seats apart."""
    where = str(settings.broker.socket or f"{settings.broker.host}:{settings.broker.port}")
    what = f"broker {where}"
    try:
        address = broker_address(settings, settings.broker_user)
    except CredentialsError as error:
        yield Finding(
            "FAIL", "credentials", str(error), "make them: kaijin pair --config table.toml --broker-files DIR"
        )
        return
    try:
        heard = await _own_voice(address, Topics(settings.table.id))
    except (aiomqtt.MqttError, OSError, TimeoutError) as error:
        yield Finding(
            "FAIL", what, _words(error), "is mosquitto running with deploy/mosquitto/kaijin.conf and its passwd?"
        )
        return
    yield Finding("OK", what, f"answers user {settings.broker_user}" if address.user else "answers")
    if not heard:
        yield Finding("FAIL", "access list", "the table cannot hear its own words", _ACL)
    else:
        yield await _isolation(settings, address)


async def _isolation(settings: Settings, address: BrokerAddress) -> Finding:
    """Nobody without a name, and no seat, may read more than its own."""
    topics = Topics(settings.table.id)
    if settings.broker.credentials is None:
        return Finding(
            "WARN", "access list", "no credentials are set: whoever reaches the broker reads every seat", _ACL
        )
    users = load_credentials(settings.broker.credentials, settings.table.id)
    seat = user_of(settings.table.id, "E")
    allowed = {"": {topics.availability}, seat: {topics.availability, topics.seat("E")}}
    for user, may in allowed.items():
        try:
            read = await _reads(_as_user(address, user, users.get(user)))
        except (aiomqtt.MqttError, OSError, TimeoutError) as error:
            if user:
                return Finding("FAIL", "access list", f"user {user}: {_words(error)}", _ACL)
            continue
        if read - may:
            who = user or "a client without a name"
            return Finding("FAIL", "access list", f"{who} reads {', '.join(sorted(read - may)[:3])}", _ACL)
    return Finding("OK", "access list", "the table is heard, and seats are kept apart")


def check_journal(path: Path) -> Finding:
    """Whether the journal is whole and its events fold."""
    what = f"journal {path}"
    if not path.exists():
        if not os.access(_existing(path.parent), os.W_OK):
            return Finding(
                "FAIL", what, "none yet, and its folder cannot be written", f"give {path.parent} to this user"
            )
        return Finding("OK", what, "none yet; it is begun at the first start")
    try:
        meta = read_meta(path)
        state, count = read_state(path, fold_events, thaw)
    except JournalError as error:
        return Finding("FAIL", what, str(error), "keep a copy; the daemon puts it aside and begins a new one")
    return Finding("OK", what, f"{count} events, epoch {meta.get('epoch', '0')}, hand {state.hand} {state.phase}")


def check_disk(folder: Path) -> Finding:
    """Whether the journal has room."""
    free = shutil.disk_usage(_existing(folder)).free // 1_000_000
    level: Level = "FAIL" if free < DISK_FAIL_MB else "WARN" if free < DISK_WARN_MB else "OK"
    return Finding(level, f"disk {folder}", f"{free} MB free", "" if level == "OK" else "make room: without it no play")


def check_clock() -> Finding:
    """Whether the time of day can be believed."""
    if kernel_clock_state() == "synced":
        return Finding("OK", "clock", "synchronised")
    return Finding(
        "WARN", "clock", "time of day is not synchronised; play goes on, times are marked", "timedatectl set-ntp 1"
    )


_UDEV: Final = "install deploy/udev/70-kaijin.rules and use /dev/kaijin-table"
_ACL: Final = "write passwd and acl with `kaijin pair --broker-files` and restart the broker"
_PORT_ADVICE: Final = {
    "missing": "plug the board in; `ls -l /dev/serial/by-id` shows what is there",
    "permission": "add this user to the group dialout, or install deploy/udev/70-kaijin.rules",
    "not_serial": "set [serial] ports to the board's device",
}


async def _own_voice(address: BrokerAddress, topics: Topics) -> bool:
    """Whether the table user hears what it says. An empty, unretained seat input is ignored by everybody."""
    topic = topics.seat_input("E")
    async with asyncio.timeout(5), address.client() as client:
        await client.subscribe(topic, qos=1)
        await client.publish(topic, b"", qos=1)
        return any([message.topic.value == topic async for message in _for_a_while(client)])


async def _reads(address: BrokerAddress) -> set[str]:
    """The topics whose messages a user is given on asking for everything."""
    async with asyncio.timeout(5), address.client() as client:
        await client.subscribe("#", qos=0)
        return {message.topic.value async for message in _for_a_while(client)}


async def _for_a_while(client: aiomqtt.Client) -> AsyncIterator[aiomqtt.Message]:
    deadline = asyncio.get_running_loop().time() + LISTEN_S
    messages = aiter(client.messages)
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                message = await anext(messages)
        except TimeoutError:
            return
        yield message


def _as_user(address: BrokerAddress, user: str, password: str | None) -> BrokerAddress:
    return BrokerAddress(address.host, address.port, address.socket, user or None, password, address.keepalive)


def _existing(folder: Path) -> Path:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
