"""The soak: hours of play under faults of every kind come out right; and what is not right is found."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiomqtt
import pytest

from cli.soaking.book import Book, Wrong
from cli.soaking.disk import can_be_mounted
from cli.soaking.displays import IN_PLAY, PARLOR, Displays, Runs
from cli.soaking.faults import KINDS, UnknownFault, chosen
from cli.soaking.stage import Plan, Stage
from controller import views
from controller.broker_address import BrokerAddress, read_retained
from engine.state import State
from engine.tiles import SEATS, format_tiles, parse_tiles
from protocol.mqtt.envelope import Envelope, encode
from protocol.mqtt.topics import Topics
from simulators.witness import Truth, Witness

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]


def soaked(folder: Path, *words: str, seconds: float = 500) -> dict[str, Any]:
    """What a soak comes to; AssertionError with all that it said where something was wrong."""
    command = [sys.executable, "-m", "cli.main", "soak", "--keep", str(folder), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


@pytest.mark.parametrize(("sensing", "aid", "seed"), [("none", "present", 5), ("full", "guide", 6)])
def test_play_under_faults_comes_out_right(tmp_path: Path, sensing: str, aid: str, seed: int) -> None:
    words = ("--hours-of-play", "1", "--seed", str(seed), "--sensing", sensing, "--aid", aid)
    summary = soaked(tmp_path, *words, "--pause", "0.4")
    assert summary["ok"] and summary["hands"] >= 5
    assert summary["reckoned"] >= 4 and sum(summary["faults"].values()) >= 5
    assert summary["table"]["thrown_again"] == 0 and summary["table"]["throws"] >= 10
    assert (summary["table"]["presented"] > 0) == (aid == "present")
    assert summary["displays_checked"] == sum(summary["faults"].values()) + 1


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", [101, 102, 103])
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize(
    ("rules", "aid"), [("new-xiamen-120", "present"), ("classic-xiamen-144", "guide")], ids=["new", "classic"]
)
def test_days_of_play_under_faults_come_out_right(
    tmp_path: Path, sensing: str, seed: int, rules: str, aid: str
) -> None:
    words = ("--hours-of-play", "24", "--seed", str(seed), "--sensing", sensing, "--rules", rules, "--aid", aid)
    summary = soaked(tmp_path, *words, seconds=7000)
    assert {kind.name for kind in chosen("all", sensing, aid, can_be_mounted())} == set(summary["faults"])


# --- what is wrong is found -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of two hands at a table that reads its tiles, played in peace."""
    folder = tmp_path_factory.mktemp("soaked")
    summary = soaked(folder, "--hours-of-play", "0.2", "--seed", "7", "--sensing", "full", "--faults", "none")
    assert summary["hands"] >= 2 and summary["faults"] == {}
    journal = folder / "journal" / "table.journal"
    with closing(sqlite3.connect(journal)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return journal


def tampered(journal: Path, folder: Path, change: Callable[[sqlite3.Connection], Any]) -> Book:
    """A reader of a copy of the journal to which something was done."""
    copy = folder / "table.journal"
    shutil.copy(journal, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        change(connection)
    return Book(copy)


def read_all(book: Book) -> int:
    book.read()
    book.quick_check()
    return book.check(Witness())


def test_a_journal_as_it_was_written_is_right(played: Path, tmp_path: Path) -> None:
    assert read_all(tampered(played, tmp_path, lambda connection: None)) >= 2


def _first_booking(connection: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
    for n, body in connection.execute("SELECT n, body FROM events WHERE type = 'SessionSaid' ORDER BY n"):
        found = json.loads(body)
        if found["event"]["type"] == "HandBooked":
            return n, found
    raise AssertionError("nothing was booked")


def other_points(connection: sqlite3.Connection) -> None:
    """A point is booked to another player, so that the sum is still nothing."""
    n, body = _first_booking(connection)
    points = body["event"]["booking"]["points"]
    one, other = list(points)[:2]
    points[one] += 1
    points[other] -= 1
    connection.execute("UPDATE events SET body = ? WHERE n = ?", (json.dumps(body), n))


def a_point_too_many(connection: sqlite3.Connection) -> None:
    n, body = _first_booking(connection)
    body["event"]["booking"]["points"][next(iter(body["event"]["booking"]["points"]))] += 1
    connection.execute("UPDATE events SET body = ? WHERE n = ?", (json.dumps(body), n))


def booked_twice(connection: sqlite3.Connection) -> None:
    n, _ = _first_booking(connection)
    connection.execute("UPDATE events SET n = -n - 1 WHERE n > ?", (n,))
    connection.execute("UPDATE events SET n = -n WHERE n < 0")
    connection.execute(
        "INSERT INTO events (n, hand, epoch, ts, mono_ms, clock, type, body)"
        " SELECT n + 1, hand, epoch, ts, mono_ms, clock, type, body FROM events WHERE n = ?",
        (n,),
    )


def an_event_less(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM events WHERE n = 100")


def a_foreign_event(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE events SET type = 'CentreFell' WHERE n = 100")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_points, "was booked as net"),
        (a_point_too_many, "its points come to 1"),
        (booked_twice, "was settled twice"),
        (an_event_less, "the journal has no event 100"),
        (a_foreign_event, "event 100 \\(CentreFell\\) does not follow"),
    ],
)
def test_a_journal_that_is_wrong_is_found(
    played: Path, tmp_path: Path, change: Callable[[sqlite3.Connection], Any], words: str
) -> None:
    with pytest.raises(Wrong, match=words):
        read_all(tampered(played, tmp_path, change))


def test_a_hand_that_is_told_to_another_seat_is_found(played: Path, tmp_path: Path) -> None:
    book = tampered(played, tmp_path, lambda connection: None)
    book.read()
    hand = book.shoulders[1]
    secret = next(tiles for tiles in hand.held["S"] if len(tiles) >= 10 and tiles not in hand.held["E"])
    seq = next(
        seq for seq in range(1, book.last_seq() + 1) if book.shown(seq) is hand
    )  # fmt: skip
    displays = displays_of(Witness())
    for reader, right in (("E", False), ("", False), ("S", True)):
        displays.told = [Runs(reader, seq, "play", (secret,))]
        if right:
            displays.check_secrets(book, "full")
        else:
            with pytest.raises(Wrong, match="was told the hand of S"):
                displays.check_secrets(book, "full")
    row = tuple(hand.sides[0].split()[3:12])
    displays.told = [Runs("E", seq, "play", (row,))]
    with pytest.raises(Wrong, match="was told a row of the wall"):
        displays.check_secrets(book, "full")


def displays_of(witness: Witness) -> Displays:
    """Displays that nobody tells anything, beside somebody who looks over all shoulders."""
    broker: Any = None
    return Displays(broker, witness, "", "new-xiamen-120")


HAND = tuple(parse_tiles("1123m456p789s11z2f"))


def test_a_hand_that_nobody_has_read_is_found_at_another_seat_as_well(played: Path, tmp_path: Path) -> None:
    """Where the table reads no tiles, those count that lay there as somebody saw it."""
    book = tampered(played, tmp_path, lambda connection: None)
    book.read()
    first = next(seq for seq in range(1, book.last_seq() + 1) if book.wall_shown(seq) == 1)
    witness = Witness()
    witness.truths = [Truth()]
    witness.truths[0].ever["S"].add(HAND)
    displays = displays_of(witness)
    displays.told = [Runs("S", first, "play", (HAND,)), Runs("E", first, "settle", (HAND,))]
    displays.check_secrets(book, "none")
    mixed = HAND[5:] + HAND[:5]
    for reader in ("E", ""):
        displays.told = [Runs(reader, first, "taking", (mixed,))]
        with pytest.raises(Wrong, match="was told the hand of S"):
            displays.check_secrets(book, "none")
    later = next(seq for seq in range(first, book.last_seq() + 1) if book.wall_shown(seq) == 2)
    displays.told = [Runs("E", later, "play", (HAND,))]
    displays.check_secrets(book, "none")


def test_a_hand_among_the_public_facts_or_in_the_ledger_is_found(played: Path, tmp_path: Path) -> None:
    book = tampered(played, tmp_path, lambda connection: None)
    book.read()
    witness = Witness()
    witness.truths = [Truth(), Truth()]
    witness.truths[0].ever["S"].add(HAND)
    displays = displays_of(witness)
    numbers = [seq for seq in range(1, book.last_seq() + 1) if book.wall_shown(seq) == 1]
    during = next(seq for seq in numbers if book.phase_shown(seq) == "play")
    after = next(seq for seq in reversed(numbers) if book.phase_shown(seq) not in IN_PLAY)

    def hear(topic: str, seq: int, data: dict[str, Any]) -> None:
        kind: Any = "ledger" if topic.endswith("ledger") else "event"
        envelope = Envelope.model_construct(
            v=1, type=kind, table="demo", epoch=1, seq=seq, id=f"{seq:016x}", ts=1, clock="synced", mono_ms=1,
            cause=None, data=data,
        )  # fmt: skip
        displays._hear(PARLOR, topic, encode(envelope))

    topics = Topics("demo")
    params = {"tiles": format_tiles(HAND)}
    fact = {"stream": "game", "name": "drawn", "hand": 1, "seat": "S", "params": params}
    hear(topics.event("game"), after, fact)
    hear(topics.ledger, during, {"record": {"kind": "hand"}})
    displays.check_secrets(book, "none")
    hear(topics.event("game"), during, fact)
    with pytest.raises(Wrong, match="the parlor was told the hand of S"):
        displays.check_secrets(book, "none")
    hear(topics.ledger, after, {"record": {"kind": "hand", **params}})
    with pytest.raises(Wrong, match="the ledger holds tiles"):
        displays.check_secrets(book, "none")


# --- displays that do not follow, and a reckoner that reckons nothing -------------------------------------------------


def shown(displays: Displays, state: State) -> None:
    """Every display is told this state."""
    public = views.public_view(state, displays._live)
    for reader in ("", *SEATS):
        data = public | ({"me": views.own(state, reader, displays._live)} if reader else {})
        displays.last[reader] = Envelope.model_construct(epoch=1, seq=0, data=json.loads(json.dumps(data)))


@pytest.fixture
def stage(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A stage behind two hands, whose displays show what the journal holds; its processes are not there."""
    monkeypatch.setattr("cli.soaking.displays.CURRENT_S", 0.05)
    found = Stage(Plan("new-xiamen-120", "full", 2, 1, (), False), tmp_path / "stage", lambda line: None)
    book = tampered(played, tmp_path, lambda connection: None)
    book.read()
    found.book, found.displays = book, displays_of(Witness())
    shown(found.displays, book.state)

    async def order(verb: str, **words: Any) -> dict[str, Any]:
        return {"thrown_again": 0, "throws": 0, "unasked": 0}

    async def recovers() -> None: ...

    monkeypatch.setattr(found, "order", order)
    monkeypatch.setattr(found, "_recovers", recovers)
    monkeypatch.setattr(found, "signal", lambda name, number: None)
    yield found


async def nothing_happens(stage: Stage, chance: random.Random) -> str:
    return "nothing"


async def test_a_display_that_does_not_follow_is_found_after_a_fault_of_any_kind(stage: Stage) -> None:
    right, stopped = stage.book.state, replace(stage.book.state, stop="lid_open")
    for number, kind in enumerate({kind.group: kind for kind in KINDS}.values(), start=1):
        quiet = replace(kind, do=nothing_happens)
        shown(stage.displays, right)
        await stage._one_fault(quiet, random.Random(1), number)
        shown(stage.displays, stopped)
        with pytest.raises(Wrong, match="shows machine"):
            await stage._one_fault(quiet, random.Random(1), number)


def test_a_soak_that_has_reckoned_next_to_nothing_is_wrong(stage: Stage) -> None:
    stage.book.counts["HandEnded"] = 40
    stage.tally.reckoned = 34
    stage._check_reckoned()
    for few in (33, 0):
        stage.tally.reckoned = few
        with pytest.raises(Wrong, match=f"of 40 hands {few} were reckoned"):
            stage._check_reckoned()


async def test_a_soak_ends_with_the_count_of_what_it_has_reckoned(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ended(name: str, number: int) -> int:
        return 0

    parts: Any = SimpleNamespace(kill=ended, journal=stage.book.journal)
    stage.parts = parts
    monkeypatch.setattr(stage.book, "check", lambda witness: 0)
    stage.book.counts["HandEnded"] = 40
    with pytest.raises(Wrong, match="of 40 hands 0 were reckoned"):
        await stage._last_checks()


# --- a broker that does not want the table ----------------------------------------------------------------------------


async def test_the_broker_throws_the_table_off_refuses_it_silences_it_and_is_mute(tmp_path: Path) -> None:
    stage = Stage(Plan("new-xiamen-120", "none", 1, 1, (), False), tmp_path, lambda line: None)
    broker, chance = stage.broker, random.Random(1)
    user = broker.table
    topic = Topics(user).birth

    async def comes(most: float = 5.0) -> bool:
        """Whether the table can log in and keep something, within a time."""
        until = asyncio.get_running_loop().time() + most
        while asyncio.get_running_loop().time() < until:
            with contextlib.suppress(aiomqtt.MqttError):
                said = f"{chance.random()}".encode()
                async with table.client() as client:
                    await client.publish(topic, said, qos=1, retain=True)
                if await read_retained(table, topic) == said:
                    return True
            await asyncio.sleep(0.1)
        return False

    with broker:
        table = BrokerAddress(broker.host, broker.port, broker.socket, user, broker.credentials[user], keepalive=5)
        assert await comes()
        async with table.client() as client:
            await client.subscribe(topic)
            stage.broker_files(chance, "login")
            with pytest.raises(aiomqtt.MqttError):
                async with asyncio.timeout(5):
                    async for _ in client.messages:
                        pass
        assert not await comes(0.5)
        stage.broker_files(chance, "")
        assert await comes()
        stage.broker_files(chance, "writing")
        await asyncio.sleep(0.3)
        assert not await comes(0.5)
        stage.broker_files(chance, "")
        assert await comes()
        broker.kill()
        async with stage.nobody_answers():
            reader, writer = await (
                asyncio.open_unix_connection(broker.socket)
                if broker.socket is not None
                else asyncio.open_connection(broker.host, broker.port)
            )
            writer.write(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x05\x00\x00")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await reader.read(4)
            writer.close()
        broker.start()
        assert await comes()


# --- words ------------------------------------------------------------------------------------------------------------


def test_faults_are_chosen_by_name_and_by_group() -> None:
    assert chosen("none", "full") == ()
    assert {kind.name for kind in chosen("power,unplug", "none")} >= {"mains", "power_cut", "unplug"}
    usual = {kind.name for kind in KINDS if not kind.full and not kind.presents and kind.group != "disk"}
    assert {kind.name for kind in chosen("all", "none")} == usual
    assert {kind.name for kind in chosen("all,disk", "none")} == usual | {"disk_full"}
    assert {kind.name for kind in chosen("all", "none", "guide", True)} == usual | {"disk_full"}
    assert chosen("all", "full", "present", True) == KINDS
    with pytest.raises(UnknownFault, match="there is no fault 'earthquake'; expected all, none, a group"):
        chosen("unplug,earthquake", "none")


def test_the_kinds_are_of_every_sort() -> None:
    names = {kind.name for kind in KINDS}
    assert names >= {"fail_present", "stuck_sensor", "slow", "overheat", "broker_kick", "broker_mute", "broker_denies"}
    groups = {kind.group for kind in KINDS}
    assert groups == {"daemon", "broker", "power", "line", "protocol", "machine", "people", "readers", "disk"}
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 40
