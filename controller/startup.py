"""From settings to what the daemon works with: journal folded, epoch decided, broker address, table facts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import aiomqtt
import structlog

from controller import refusal
from controller.broker_address import BrokerAddress, read_retained
from controller.credentials import load_credentials
from controller.epoch import EpochFile, next_epoch, read_epoch_file
from controller.journal import Journal, JournalDamaged, JournalError, Keeping, StoredEvent, open_journal
from controller.settings import Settings
from engine import snapshots
from engine.events import EventError, decode_event
from engine.ruleset import RulesetError, load_ruleset
from engine.state import State, new_state
from engine.table import apply
from protocol.mqtt.envelope import EnvelopeError, decode
from protocol.mqtt.topics import Topics

BIRTH_WAIT_S = 1.0

Boot = Literal["cold", "restart", "recovered", "adopted"]

_log = structlog.get_logger("start")


class StartError(Exception):
    """The daemon cannot start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the daemon starts from. `epoch` is None where a person must adopt the table first."""

    journal: Journal
    state: State
    epoch: int | None
    boot: Boot


def kaijin_version() -> str:
    """The version of this installation."""
    try:
        return version("kaijin")
    except PackageNotFoundError:
        return "0"


def broker_address(settings: Settings, user: str) -> BrokerAddress:
    """Where the broker is and as whom this process connects; CredentialsError names a file that cannot be used."""
    broker = settings.broker
    password = None
    if broker.credentials is not None:
        password = load_credentials(broker.credentials, settings.table.id).get(user)
    return BrokerAddress(
        host=broker.host,
        port=broker.port,
        socket=broker.socket,
        user=user if password is not None else None,
        password=password,
        keepalive=broker.keepalive,
    )


def check_rules(settings: Settings) -> None:
    """StartError when the settings' match cannot be played: it names profile, option or layout."""
    match = settings.match
    try:
        rules = load_ruleset(match.rules, match.options)
    except RulesetError as error:
        raise StartError(f"[match] rules: {error}") from None
    if match.layout and match.layout not in rules.layouts:
        raise StartError(
            f"[match] layout: {match.rules} is not played as {match.layout}; expected {' or '.join(rules.layouts)}"
        )


async def start(settings: Settings, address: BrokerAddress, adopt: bool) -> Start:
    """Fold the journal and begin an epoch: the highest of journal, the file beside it and the broker, plus one."""
    keep = settings.journal
    beside = await asyncio.to_thread(read_epoch_file, keep.path)
    retained = asyncio.create_task(_retained_epoch(address, Topics(settings.table.id).birth))
    opened: list[Journal] = []
    try:
        keeping = Keeping(keep.keep_days, keep.keep_mb, keep.on_error == "go_on")
        journal, state = await asyncio.to_thread(open_journal, keep.path, fold_events, thaw, keeping)
        opened.append(journal)
        known = await retained
        notice_older_state(journal, beside, known)
        _tell_opening(journal)
        return _begin(journal, state, beside, known, adopt)
    except (JournalError, OSError) as error:
        if reason := refusal.why(error, keep.path):
            await refusal.say(address, settings.table.id, (beside, await retained), reason)
        for journal in opened:
            with contextlib.suppress(Exception):
                await journal.close()
        raise StartError(str(error)) from None
    finally:
        retained.cancel()


def thaw(body: Mapping[str, Any]) -> State:
    """The state of a snapshot; ValueError when it is none of this engine."""
    return snapshots.decode(body)


def fold_events(events: Iterator[StoredEvent], since: State | None = None) -> State:
    """The state that the events lead to, from an empty table unless given; JournalDamaged when one does not fit."""
    state = new_state() if since is None else since
    for stored in events:
        try:
            state = apply(state, decode_event({**stored.body, "type": stored.type}))
        except EventError as error:
            raise JournalDamaged(f"event {stored.n}: {error}") from None
        except Exception as error:
            # Whatever the engine fails on here, these events cannot be what it once decided.
            raise JournalDamaged(f"event {stored.n} ({stored.type}) does not follow: {type(error).__name__}") from None
    return state


def notice_older_state(journal: Journal, beside: EpochFile | None, retained: int | None) -> None:
    """The broker knows a later start than the journal and the file beside it, which were never behind it: the whole
    folder is an older state, put back. What it gave out since under its id is not known, so it goes on under another.
    """
    opening = journal.opening
    known = max(journal.epoch, beside.epoch if beside is not None else 0)
    new_already = opening.fresh or opening.copied or opening.salvaged in ("part", "none")
    if retained is not None and retained > known and not new_already:
        journal.take_new_id()


def _begin(journal: Journal, state: State, beside: EpochFile | None, retained: int | None, adopt: bool) -> Start:
    opening = journal.opening
    epoch = next_epoch(journal.epoch, beside, retained)
    boot: Boot = "recovered" if opening.lost or opening.damaged else "restart"
    # A first start that was cut off has left a journal in which nothing has happened.
    unused = opening.fresh or not (journal.epoch or journal.last_event)
    if epoch is None and opening.damaged is None and unused:
        epoch, boot = 1, "cold"
    elif epoch is None and adopt:
        epoch, boot = 1, "adopted"
    if epoch is not None:
        journal.begin_epoch(epoch)
    return Start(journal, state, epoch, boot)


_FOUND: Mapping[str, str] = {
    "whole": "the journal was damaged and is kept aside; nothing is lost, the hand goes on",
    "part": "the journal was damaged and is kept aside; play goes on from the last good record, people are asked",
    "none": "the journal was damaged and is kept aside; nothing of it can be read, the hand in play is lost",
    "": "the journal of this table is gone; a new one is begun, the hand in play is lost",
}


def _tell_opening(journal: Journal) -> None:
    opening = journal.opening
    path = str(journal.path)
    if opening.damaged is not None or opening.lost:
        _log.critical(
            _FOUND[opening.salvaged],
            journal=path,
            kept=str(opening.damaged) if opening.damaged is not None else "",
            problem=opening.reason or "the file is gone",
            from_its_twin=opening.told_by_twin,
        )
    elif opening.copied:
        _log.warning("this journal is a copy or an older state; it goes on under a new id", journal=path)


async def _retained_epoch(address: BrokerAddress, topic: str) -> int | None:
    """The epoch of the birth that the broker retains; None when it has none or cannot be asked quickly."""
    try:
        async with asyncio.timeout(BIRTH_WAIT_S):
            payload = await read_retained(address, topic)
    except (aiomqtt.MqttError, OSError, TimeoutError):
        return None
    if payload is None:
        return None
    try:
        return decode(payload).epoch
    except EnvelopeError:
        return None
