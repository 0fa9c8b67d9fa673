"""`kaijin journal export`: what a journal holds comes out as records that `kaijin rules play` replays."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.journal import journal
from cli.rules_play import play
from controller.clock import Stamp
from controller.journal import NewEvent, open_journal
from controller.records import NewRecord
from engine import events as e
from engine.events import encode_event
from engine.export import hand_record
from engine.folding import apply
from engine.match.events import BookingVoided
from engine.state import State
from engine.tiles import SEATS
from tests.engine.evenings import play_taking_back
from tests.engine.walker import Walker


class Kept:
    """A walk whose events and records lie in a journal, as the daemon would keep them."""

    def __init__(self, path: Path, *matches: tuple[str, str, int], taking_back: bool = False) -> None:
        self.path = path
        self._events: list[NewEvent] = []
        self._records: list[tuple[int, NewRecord]] = []
        self.points: list[dict[str, int]] = []
        for rules, sensing, seed in matches:
            walker = Walker(rules=rules, sensing=sensing, seed=seed, hands=2, watch=self._see)
            if self.points:
                walker.state = self.last
            if taking_back:
                play_taking_back(walker)
            else:
                walker.run()
            self.last = walker.state
            self.points.append(by_seat(walker.state))
        asyncio.run(self._store())

    def _see(self, before: State, events: tuple[e.Event, ...], after: State) -> None:
        state = before
        for event in events:
            booking = state.session.last_booking()
            match event:
                case e.SessionSaid(event=BookingVoided(hand=hand)):
                    self._records.append((len(self._events), NewRecord(state.session.match, hand, None)))
                case e.HandEnded() | e.HandRebooked() if booking is not None:
                    record = NewRecord(booking.match, booking.hand, hand_record(state))
                    self._records.append((len(self._events), record))
            body = encode_event(event)
            self._events.append(NewEvent(state.hand, body.pop("type"), body))
            state = apply(state, event)

    async def _store(self) -> None:
        kept, _ = open_journal(self.path, lambda events, *since: sum(1 for _ in events))
        kept.begin_epoch(1)
        stamp = Stamp(1_700_000_000_000, 0, "synced")
        await kept.append(self._events, stamp, 1, (), [record for _, record in self._records])
        await kept.close()


def by_seat(state: State) -> dict[str, int]:
    """Points of the match by seat, whoever sat there."""
    found = dict.fromkeys(SEATS, 0)
    for booking in state.session.book:
        if booking.match == state.session.match and not booking.voided:
            for seat, player in booking.seats.items():
                found[seat] += booking.points[player]
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(journal, ["export", *arguments])


def replayed(text: str) -> dict[str, object]:
    """What `kaijin rules play` says of a record that it finds right."""
    result = CliRunner().invoke(play, ["-", "--json"], input=text)
    assert result.exit_code == 0, result.output
    told: dict[str, object] = json.loads(result.output)
    return told


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Two matches, in each of them a hand taken back."""
    path = tmp_path_factory.mktemp("evening") / "table.journal"
    return Kept(path, ("new-xiamen-120", "full", 3), ("classic-xiamen-144", "none", 4), taking_back=True)


def test_a_match_is_exported_and_replays_to_its_points(evening: Kept) -> None:
    for number in (1, 2):
        result = run(str(evening.path), "--match", str(number))
        assert result.exit_code == 0
        told = replayed(result.stdout)
        assert told["match"] == number and told["by_seat"] == evening.points[number - 1]


def test_one_hand_is_exported_as_it_stands(evening: Kept) -> None:
    result = run(str(evening.path), "--match", "1", "--hand", "2")
    assert result.exit_code == 0 and "about: match 1, hand 2" in result.stdout
    assert replayed(result.stdout)["unmet"] == []


def test_all_of_it_as_files(evening: Kept, tmp_path: Path) -> None:
    result = run(str(evening.path), "--out", str(tmp_path / "out"))
    assert result.exit_code == 0
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert sorted(Path(line).name for line in result.stdout.splitlines()) == files
    assert {"match-1.txt", "match-2.txt", "match-1-hand-001.txt", "match-2-hand-002.txt"} <= set(files)
    for name in files:
        replayed((tmp_path / "out" / name).read_text(encoding="utf-8"))


def test_all_of_it_as_json(evening: Kept) -> None:
    lines = [json.loads(line) for line in run(str(evening.path), "--json").stdout.splitlines()]
    assert [line["match"] for line in lines if "hand" not in line] == [1, 2]
    standing = [(line["match"], line["hand"]) for line in lines if "hand" in line and not line["voided"]]
    assert standing == sorted(set(standing)) and {(1, 1), (1, 2), (2, 1), (2, 2)} <= set(standing)
    only = [json.loads(line) for line in run(str(evening.path), "--match", "2", "--json").stdout.splitlines()]
    assert {line["match"] for line in only} == {2}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "there are matches 1, 2: say which with --match"),
        (("--match", "3"), 1, "there is no match 3; there are: 1, 2"),
        (("--match", "1", "--hand", "9"), 1, "no hand 9 of match 1 is booked; there are match 1: hands 1 to 2"),
        (("--hand", "1"), 2, "matches 1, 2 have such a hand: say which with --match"),
        (("--match", "0"), 2, "0 is not in the range"),
        (("--out", "/proc/nowhere", "--match", "1"), 1, "/proc/nowhere"),
    ],
)
def test_what_is_not_there_is_told(evening: Kept, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(str(evening.path), *arguments)
    assert result.exit_code == code and words in result.output and "Traceback" not in result.output


def test_a_journal_that_is_none_or_empty(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no journal")
    for name, words in (("text", "no journal of a table"), ("none", "no journal there")):
        result = run(str(tmp_path / name))
        assert result.exit_code == 1 and words in result.output
    empty = Kept(tmp_path / "empty.journal")
    assert "no match has begun" in run(str(empty.path)).output
    assert "no hand is booked" in run(str(empty.path), "--hand", "1").output
    assert run().exit_code == 2


def test_a_record_that_could_not_be_written_is_named(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "one.journal", ("new-xiamen-120", "none", 5))
    text = run(str(kept.path), "--hand", "1").stdout
    with sqlite3.connect(kept.path) as connection:
        connection.execute("UPDATE records SET body = '' WHERE hand = 1")
    connection.close()
    assert text and "hand 1 of match 1 has no record" in run(str(kept.path)).output
    assert run(str(kept.path), "--hand", "2").exit_code == 0
