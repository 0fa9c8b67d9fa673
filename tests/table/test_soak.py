"""The soak: hours of play under faults of every kind come out right; and what is not right is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli.soaking.book import Book, Wrong
from cli.soaking.displays import Displays, Runs
from cli.soaking.faults import KINDS, UnknownFault, chosen
from simulators.witness import Witness

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]


def soaked(folder: Path, *words: str, seconds: float = 500) -> dict[str, Any]:
    """What a soak comes to; AssertionError with all that it said where something was wrong."""
    command = [sys.executable, "-m", "cli.main", "soak", "--keep", str(folder), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


@pytest.mark.parametrize(("sensing", "seed"), [("none", 5), ("full", 6)])
def test_play_under_faults_comes_out_right(tmp_path: Path, sensing: str, seed: int) -> None:
    summary = soaked(
        tmp_path, "--hours-of-play", "1", "--seed", str(seed), "--sensing", sensing, "--pause", "0.4"
    )
    assert summary["ok"] and summary["hands"] >= 5
    assert summary["reckoned"] >= 4 and sum(summary["faults"].values()) >= 5
    assert summary["table"]["thrown_again"] == 0 and summary["table"]["throws"] >= 10


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", [101, 102, 103])
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("rules", ["new-xiamen-120", "classic-xiamen-144"])
def test_days_of_play_under_faults_come_out_right(tmp_path: Path, sensing: str, seed: int, rules: str) -> None:
    words = ("--hours-of-play", "24", "--seed", str(seed), "--sensing", sensing, "--rules", rules)
    summary = soaked(tmp_path, *words, seconds=7000)
    assert {kind.name for kind in chosen("all", sensing)} == set(summary["faults"])


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
    for reader, right in (("E", False), ("", False), ("S", True)):
        displays = Displays.__new__(Displays)
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


# --- words ------------------------------------------------------------------------------------------------------------


def test_faults_are_chosen_by_name_and_by_group() -> None:
    assert chosen("none", "full") == ()
    assert {kind.name for kind in chosen("power,unplug", "none")} >= {"mains", "power_cut", "unplug"}
    usual = {kind.name for kind in KINDS if not kind.full and kind.group != "disk"}
    assert {kind.name for kind in chosen("all", "none")} == usual
    assert {kind.name for kind in chosen("all,disk", "none")} == usual | {"disk_full"}
    with pytest.raises(UnknownFault, match="there is no fault 'earthquake'; expected all, none, a group"):
        chosen("unplug,earthquake", "none")


def test_the_kinds_are_of_every_sort() -> None:
    groups = {kind.group for kind in KINDS}
    assert groups == {"daemon", "broker", "power", "line", "protocol", "machine", "people", "readers", "disk"}
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 40
