"""Records of booked hands: written with the booking, voided with it, read by others, and shown page by page."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic_core import to_json

from controller.clock import Stamp
from controller.core import Core, Speeds
from controller.journal import JournalError, NewEvent, open_journal, read_meta, read_records, schema
from controller.live import TableFacts
from controller.matches import Matches, parts
from controller.metrics import Metrics
from controller.publisher import Step
from controller.records import NewRecord
from controller.sheets import Sheets
from engine import events as e
from engine.events import encode_event
from engine.export import match_record
from engine.match.state import Match
from engine.record_match import HandOf, parse_match
from engine.state import State
from engine.table import apply
from protocol.mqtt.hands import Sheet
from tests.controller.undoing import walk
from tests.engine.evenings import Evening

STAMP = Stamp(1_700_000_000_000, 12, "unsynced")
FACTS = TableFacts("new-xiamen-120", "zhitui", "full", "read", "guide", 2, 0)


def a_core(state: State) -> Core:
    """A core of which only the records are asked."""
    nothing = cast(Any, None)
    return Core(state, nothing, nothing, nothing, nothing, Metrics(), Speeds(), lambda: FACTS, lambda live, state: live)


def an_evening(seed: int = 5, sensing: str = "none", hands: int = 4) -> tuple[Evening, list[list[Step]]]:
    """A match with bookings taken back, and its steps input by input."""
    evening = Evening("new-xiamen-120", sensing, seed, hands=hands)
    taken: list[list[Step]] = []
    see = evening.walker.watch
    assert see is not None

    def watch(before: State, events: tuple[e.Event, ...], after: State) -> None:
        see(before, events, after)
        steps, state = [], before
        for event in events:
            steps.append(Step(event, state, apply(state, event)))
            state = steps[-1].after
        taken.append(steps)

    evening.walker.watch = watch
    walk(evening.walker)
    return evening, taken


async def test_every_booking_has_its_record_in_the_same_transaction_and_what_is_taken_back_is_marked(
    tmp_path: Path,
) -> None:
    evening, taken = an_evening()
    core = a_core(taken[0][0].before)
    journal, _ = open_journal(tmp_path / "t.journal", lambda events, *since: list(events))
    for steps in taken:
        stored = [NewEvent(step.before.hand, type(step.event).__name__, {}) for step in steps]
        await journal.append(stored, STAMP, 1, records=core._records(steps))
    await journal.close()
    records = read_records(tmp_path / "t.journal")
    book = evening.walker.state.session.book
    assert [record.text for record in records] == evening.texts
    assert [(one.match, one.hand, one.voided) for one in records] == [(b.match, b.hand, b.voided) for b in book]
    assert any(record.voided for record in records) and not all(record.voided for record in records)
    assert [record.number for record in records] == list(range(1, len(records) + 1))


def test_a_record_that_cannot_be_written_costs_the_text_and_never_the_booking(monkeypatch: pytest.MonkeyPatch) -> None:
    _, taken = an_evening(hands=1)

    def broken(state: State) -> str:
        raise KeyError("a mistake")

    monkeypatch.setattr("controller.core.hand_record", broken)
    core = a_core(taken[0][0].before)
    found = [record for steps in taken for record in core._records(steps)]
    assert {record.text for record in found} <= {"", None} and [record for record in found if record.text == ""]


async def test_a_journal_of_before_is_taken_further_and_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    connection = sqlite3.connect(path)
    connection.executescript(f"{schema.MIGRATIONS[0]} PRAGMA user_version = 1;")
    connection.execute("INSERT INTO events VALUES (1, 1, 1, 1, 1, 'synced', 'TakeShown', '{\"n\": 1}')")
    connection.commit()
    connection.close()
    assert read_records(path) == []
    journal, stored = open_journal(path, lambda events, *since: list(events))
    assert [event.body for event in stored] == [{"n": 1}]
    await journal.append([], STAMP, 1, records=[NewRecord(1, 1, "text")])
    assert [(one.number, one.text) for one in await journal.records()] == [(1, "text")]
    await journal.close()
    assert read_meta(path)["schema"] == str(len(schema.MIGRATIONS))


def test_what_is_no_journal_has_no_records(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no journal there"):
        read_records(tmp_path / "nothing")
    (tmp_path / "text").write_text("no database")
    with pytest.raises(JournalError, match="no journal of a table"):
        read_records(tmp_path / "text")


# -- sheets ------------------------------------------------------------------------------------------------------------


async def no_match(session: Match, number: int) -> str:
    """No record of any match."""
    return ""


class Shelf:
    """Records as the journal gives them."""

    def __init__(self, texts: dict[tuple[int, int], str]) -> None:
        self.texts = texts

    async def __call__(self, match: int, hand: int) -> list[Any]:
        text = self.texts.get((match, hand))
        return [] if text is None else [type("Record", (), {"text": text})()]


def shown(sheets: Sheets, session: Match, seat: str = "E") -> dict[str, Any]:
    """The sheet as it travels, which keeps the contract and leaves a view its room."""
    sheet = json.loads(to_json(sheets.shown(session)[seat]))
    Sheet.model_validate(sheet, extra="forbid")
    assert len(to_json(sheet)) < 3_000
    return cast(dict[str, Any], sheet)


@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_history_and_statistics_say_what_the_book_says(sensing: str) -> None:
    evening, _ = an_evening(seed=8, sensing=sensing, hands=10)
    session = evening.walker.state.session
    sheets = Sheets(Shelf({}), no_match)
    await sheets.look("E", {"what": "history"}, session)
    first = shown(sheets, session)
    rows = list(first["rows"])
    for page in range(1, first["pages"]):
        await sheets.look("E", {"what": "history", "page": page}, session)
        rows += shown(sheets, session)["rows"]
    assert [(row["match"], row["hand"], row["voided"]) for row in rows] == [
        (one.match, one.hand, one.voided) for one in reversed(session.book)
    ]
    assert all(sum(row["net"].values()) == 0 for row in rows)
    await sheets.look("E", {"what": "statistics"}, session)
    players = shown(sheets, session)["players"]
    for player in session.players:
        standing = [one.points[player.id] for one in session.book if not one.voided]
        assert players[player.id]["points"] == sum(standing) and players[player.id]["hands"] == len(standing)


async def test_a_hand_shows_what_the_player_paid_in_it_whichever_chair_he_has_now() -> None:
    evenings = (an_evening(seed=seed, hands=4)[0].walker.state.session for seed in range(20))
    session = next(one for one in evenings if any(booking.transfers and not booking.voided for booking in one.book))
    sheets = Sheets(Shelf({}), no_match)
    one = [booking for booking in session.book if not booking.voided and booking.transfers][-1]
    await sheets.look("S", {"what": "hand", "hand": one.hand}, session)
    sheet = shown(sheets, session, "S")
    then = next(seat for seat, player in one.seats.items() if player == session.seats["S"])
    net = 0
    for line in sheet["lines"]:
        assert then in (line["payer"], line["receiver"])
        net += (line["receiver"] == then) * line["amount"] - (line["payer"] == then) * line["amount"]
    paid = one.points[session.seats["S"]] + one.bonus[session.seats["S"]]
    assert net == paid and sheet["rows"][0]["hand"] == one.hand
    sheets.close("S")
    assert sheets.shown(session) == {}


async def test_the_text_of_a_record_comes_whole_by_pages() -> None:
    evening, _ = an_evening(seed=8, sensing="full", hands=2)
    session = evening.walker.state.session
    last = [one for one in session.book if not one.voided][-1]
    text = evening.texts[-1]
    sheets = Sheets(Shelf({(last.match, last.hand): text}), no_match)
    await sheets.look("E", {"what": "record"}, session)
    first = shown(sheets, session)
    assert (first["match"], first["hand"]) == (last.match, last.hand) and first["pages"] > 1
    parts = []
    for page in range(first["pages"]):
        await sheets.look("E", {"what": "record", "page": page}, session)
        parts.append(shown(sheets, session)["text"])
    assert "".join(parts) == text
    await sheets.look("E", {"what": "record", "page": 99}, session)
    assert shown(sheets, session)["page"] == first["pages"] - 1


@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_the_text_of_a_match_comes_whole_by_pages_from_the_journal(tmp_path: Path, sensing: str) -> None:
    """With the hands taken back in it, as `kaijin rules play` replays it; kept until the session goes on."""
    evening, taken = an_evening(seed=8, sensing=sensing, hands=3)
    session = evening.walker.state.session
    core = a_core(taken[0][0].before)
    journal, _ = open_journal(tmp_path / "t.journal", lambda events, *since: list(events))
    for steps in taken:
        stored = []
        for step in steps:
            body = encode_event(step.event)
            stored.append(NewEvent(step.before.hand, body.pop("type"), body))
        await journal.append(stored, STAMP, 1, records=core._records(steps))
    sheets = Sheets(Shelf({}), Matches(journal.path).text)
    await sheets.look("E", {"what": "match"}, session)
    first = shown(sheets, session)
    assert first["what"] == "match" and first["match"] == session.match
    assert first["pages"] > 1 or sensing == "none"
    texts = []
    for page in range(first["pages"]):
        await sheets.look("E", {"what": "match", "match": session.match, "page": page}, session)
        texts.append(shown(sheets, session)["text"])
    said = [step.event.event for steps in taken for step in steps if isinstance(step.event, e.SessionSaid)]
    assert "".join(texts) == match_record(said, evening.texts)
    record = parse_match("".join(texts))
    assert sum(isinstance(line, HandOf) for line in record.lines) == len(session.book)
    await sheets.look("E", {"what": "match", "match": 9}, session)
    assert shown(sheets, session)["missing"] == "no_record"
    await sheets.look("E", {"what": "match"}, Match())
    assert shown(sheets, session)["missing"] == "no_record"
    await journal.close()


def test_the_parts_of_a_text_are_whole_lines_of_so_many_bytes() -> None:
    text = "".join(f"{'牌' * n}\n" for n in range(60)) + "x" * 400 + "\nend"
    found = parts(text, 300)
    assert "".join(found) == text and all(part.endswith("\n") for part in found[:-1])
    assert all(len(to_json(part)) <= 300 or part.count("\n") == 1 for part in found)
    assert len(found) < 30 and parts("", 300) == ()
