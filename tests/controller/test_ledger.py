"""The ledger: every hand, match and session once, in order, in the transaction that books it, until the hub has it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from controller import hub as hubs
from controller.epoch import epoch_path
from controller.journal import read_ledger
from controller.ledger import BOOK, SAID
from controller.mending import NOTED
from controller.publisher import Step
from engine.events import SessionSaid
from engine.match.events import HandBooked
from tests.controller.hubs import HubBook, Kept, TestClock, ack, kept, until
from tests.controller.test_records import an_evening

Taken = list[list[Step]]
TILES = re.compile(r'"[1-9]+[mpszf]|"[1-9][mps]|[1-7]z"|[1-8]f"|concealed|melds|tile')


@pytest.fixture(scope="module")
def evening() -> tuple[Any, Taken]:
    """A match of four hands told by people, with bookings taken back."""
    return an_evening(hands=4)


async def play(one: Kept, taken: Taken, ms_each: int = 10) -> None:
    for steps in taken:
        one.clock.ms += ms_each
        await one.store(steps)


def book_of(path: Path) -> HubBook:
    book = HubBook()
    for row in read_ledger(path):
        book.take(row.envelope.encode())
    return book


@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_a_hub_that_reads_the_ledger_alone_has_the_book_of_the_evening(tmp_path: Path, sensing: str) -> None:
    evening, taken = an_evening(seed=7, sensing=sensing, hands=2)
    async with kept(tmp_path / "t.journal") as one:
        await play(one, taken)
    book = book_of(tmp_path / "t.journal")
    session = evening.walker.state.session
    hands = [record for record in book.standing if record["kind"] == "hand"]
    for booked, row in zip([one for one in session.book if not one.voided], hands, strict=True):
        assert row["points"] == dict(booked.points) and row["bonus"] == dict(booked.bonus)
        assert (row["hand"], row["dealer"], row["next_dealer"]) == (booked.hand, booked.dealer, booked.next_dealer)
        assert row["result"] == booked.kind and row["seats"] == dict(booked.seats)
        assert [(win["seat"], win["way"]) for win in row["wins"]] == [(w["seat"], w["way"]) for w in booked.wins]
    kinds = book.kinds()
    assert kinds[:2] == ["session_begun", "match_begun"] and kinds[-2:] == ["match_ended", "session_ended"]
    assert set(kinds[2:-2]) == {"hand"}
    ended = next(record for record in book.standing if record["kind"] == "match_ended")
    assert ended["points"] == book.points(session.match) and sum(ended["points"].values()) == 0
    assert ended["hands"] == len(hands) and ended["why"] == session.ended
    assert ended["chips"] == dict(session.chips)
    taken_back = [row for row in book.records if row["record"]["kind"] == "void"]
    assert sum(row["record"]["what"] == "hand" for row in taken_back) == sum(one.voided for one in session.book) > 0
    assert all(row["voids"] for row in taken_back)
    for row in book.records:
        assert TILES.search(json.dumps(row["record"])) is None, "no row names a tile"


async def test_the_last_hand_taken_back_opens_match_and_session_again(tmp_path: Path) -> None:
    """What the booking had ended stands no more, each by a row that names it; all of it is said anew afterwards."""
    _, taken = an_evening(2, hands=3)
    async with kept(tmp_path / "t.journal") as one:
        await play(one, taken)
    rows = book_of(tmp_path / "t.journal").records
    whats = [row["record"]["what"] for row in rows if row["record"]["kind"] == "void"]
    assert whats[-3:] == ["session_ended", "match_ended", "hand"]
    by_number = {row["number"]: row["record"]["kind"] for row in rows}
    for row in rows:
        if row["voids"]:
            assert by_number[row["voids"]["number"]] == row["record"]["what"]
    assert [row["record"]["kind"] for row in rows[-3:]] == ["hand", "match_ended", "session_ended"]


async def test_rows_are_stored_with_their_booking_or_not_at_all(tmp_path: Path, evening: tuple[Any, Taken]) -> None:
    """At every transaction the ledger tells of as many hands as the session's events do."""
    _, taken = evening
    async with kept(tmp_path / "t.journal") as one:
        said: list[tuple[str, int]] = []
        for steps in taken:
            await one.store(steps)
            names = [type(getattr(step.event, "event", None)).__name__ for step in steps]
            kinds = [row.record.kind for row in map(HubBook().take, stored(tmp_path / "t.journal"))]
            said += [(name, 0) for name in names]
            assert kinds.count("hand") == sum(name == "HandBooked" for name, _ in said)
            assert kinds.count("match_ended") == sum(name == "MatchOver" for name, _ in said)


def stored(path: Path) -> list[bytes]:
    return [row.envelope.encode() for row in read_ledger(path)]


async def test_durations_are_those_of_the_monotonic_clock_whatever_the_time_of_day_does(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """F14: unsynced at 1970, set to now in mid-hand, stepped back an hour: a hand lasts what it lasted."""
    _, taken = evening
    clock = TestClock(offset=0, clock="unsynced")
    begun: dict[int, int] = {}
    lasted: list[int] = []
    async with kept(tmp_path / "t.journal", clock=clock) as one:
        for number, steps in enumerate(taken):
            clock.ms += 37
            if number == len(taken) // 3:
                clock.offset, clock.clock = 1_800_000_000_000, "synced"
            if number == len(taken) // 2:
                clock.offset -= 3_600_000
            await one.store(steps)
            for step in steps:
                name = type(getattr(step.event, "event", None)).__name__
                if name == "HandBegun":
                    begun[step.after.session.hand] = clock.ms
                elif name == "HandBooked":
                    lasted.append(clock.ms - begun[step.after.session.hand])
        total = clock.ms
    rows = book_of(tmp_path / "t.journal").records
    assert [row["record"]["duration_ms"] for row in rows if row["record"]["kind"] == "hand"] == lasted
    assert all(0 < row["record"].get("duration_ms", 1) < total for row in rows)


async def test_time_without_power_counts_for_no_hand_and_restarts_are_told(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    _, taken = evening
    path, hands = tmp_path / "t.journal", 0
    cut = next(
        number for number, steps in enumerate(taken) for step in steps
        if type(getattr(step.event, "event", None)).__name__ == "HandBegun"
    ) + 5  # fmt: skip
    end = next(
        number for number, steps in enumerate(taken) for step in steps
        if type(getattr(step.event, "event", None)).__name__ == "HandBooked"
    )  # fmt: skip
    assert cut < end
    async with kept(path) as one:
        await play(one, taken[:cut], 100)
    async with kept(path, epoch=2) as one:
        # The daemon is on for a while before anything happens; that counts.
        one.clock.ms = 5_000
        await play(one, taken[cut : end + 1], 100)
        hands = len(taken[cut : end + 1])
    record = next(row["record"] for row in book_of(path).records if row["record"]["kind"] == "hand")
    assert (record["duration_ms"], record["restarts"]) == (4 * 100 + 5_000 + hands * 100, 1)


async def test_f12_only_the_hub_frees_what_was_said(tmp_path: Path, evening: tuple[Any, Taken]) -> None:
    """F12: so many rows are under way at once, and the next is said when the hub has acknowledged the oldest."""
    _, taken = evening
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("controller.hub.AT_ONCE", 3)
        async with kept(tmp_path / "t.journal") as one:
            await play(one, taken)
            await one.quiet()
            count = len(stored(tmp_path / "t.journal"))
            assert len(await one.said(3)) == 3 < count
            assert one.ledger.heartbeat()["ledger_waiting"] == count
            one.ledger.hear(ack(one.id, 2))
            assert len(await one.said(5)) == 5
            await one.quiet()
            assert one.ledger.heartbeat()["ledger_waiting"] == count - 2
            book = HubBook()
            for number in range(5, count + 1):
                one.ledger.hear(ack(one.id, min(number, len(one.outlet.said))))
                await until(lambda number=number: len(one.outlet.said) >= min(number + 3, count))  # type: ignore[misc]
            one.ledger.hear(ack(one.id, count))
            await until(lambda: one.ledger.heartbeat()["ledger_waiting"] == 0)
            for payload in one.outlet.said:
                book.take(payload)
            assert book.complete(one.id) == count and book.repeated == 0
            assert one.ledger.heartbeat()["oldest_unacknowledged_s"] is None


async def test_f11_after_each_connection_everything_unacknowledged_is_said_again_in_order_as_it_was_born(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """F11: what was said into a line that was already dead is said again; what happened without a line too."""
    _, taken = evening
    path = tmp_path / "t.journal"
    async with kept(path) as one:
        await play(one, taken[: len(taken) // 2])
        first = list(await one.said(2))
        one.outlet.connected = False
        await play(one, taken[len(taken) // 2 :])
        await one.quiet()
        assert one.outlet.said == first, "nothing is said without a connection"
        one.outlet.said.clear()
        one.outlet.connected = True
        one.ledger.connected()
        assert await one.said(len(stored(path))) == stored(path)
        one.ledger.hear(ack(one.id, 4))
        await one.quiet()
    async with kept(path, epoch=2) as one:
        one.ledger.connected()
        assert await one.said(1) and await settled(one) == stored(path)[4:]


async def settled(one: Kept) -> list[bytes]:
    await one.quiet()
    return one.outlet.said


async def test_acknowledgements_that_make_no_sense_change_nothing_are_counted_and_told_once(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    _, taken = evening
    with pytest.MonkeyPatch.context() as patch, capture_logs() as logs:
        patch.setattr("controller.hub.AT_ONCE", 4)
        async with kept(tmp_path / "t.journal") as one:
            await play(one, taken)
            await one.said(4)
            count = len(stored(tmp_path / "t.journal"))
            one.ledger.hear(ack(one.id, 2))
            await one.said(6)
            nonsense = [
                b"", b"{", b"[]", b"\xff", b"2", b'{"number": 3}', b"x" * 5_000,
                json.dumps({"journal": one.id, "number": "3"}).encode(),
                json.dumps({"journal": one.id, "number": 3.0}).encode(),
                json.dumps({"journal": one.id, "number": True}).encode(),
                json.dumps({"journal": one.id, "number": -1}).encode(),
                json.dumps({"journal": one.id, "number": 1 << 64}).encode(),
                ack("0" * 16, 3), ack(one.id, 1), ack(one.id, 0), ack(one.id, 7), ack(one.id, count),
            ]  # fmt: skip
            for payload in nonsense * 3:
                one.ledger.hear(payload)
                await one.quiet()
            assert one.ledger.heartbeat()["ledger_waiting"] == count - 2
            assert len(one.outlet.said) == 6
            told = [entry["why"] for entry in logs if entry["log_level"] == "warning"]
            assert sorted(told) == sorted({"ill_typed", "too_large", "other_journal", "backwards", "beyond"})
            assert one.ledger.heartbeat()["acks_refused"] == 2 * 3 * len(nonsense), "and as many that `quiet` sent"
            one.ledger.hear(ack(one.id, 6))
            await until(lambda: one.ledger.heartbeat()["ledger_waiting"] == count - 6)


async def test_a_hub_that_says_what_it_has_is_told_what_follows_but_not_as_often_as_it_likes(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    _, taken = evening
    async with kept(tmp_path / "t.journal") as one:
        await play(one, taken)
        count = len(await one.said(len(stored(tmp_path / "t.journal"))))
        for _ in range(20):
            one.ledger.hear(ack(one.id, 0))
            await one.quiet()
        assert len(one.outlet.said) == 2 * count
        assert one.outlet.said[count:] == one.outlet.said[:count]


async def test_without_a_word_of_the_hub_rows_are_said_again_ever_more_seldom(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """A hub that came later, or a broker that lost what it had acknowledged."""
    _, taken = evening
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("controller.hub.AGAIN_S", 0.05)
        patch.setattr("controller.hub.LONGEST_AGAIN_S", 0.4)
        async with kept(tmp_path / "t.journal") as one:
            await play(one, taken)
            count = len(stored(tmp_path / "t.journal"))
            await one.said(4 * count)
            assert one.ledger._again_s == 0.4
            one.ledger.hear(ack(one.id, count))
            await until(lambda: one.ledger.heartbeat()["ledger_waiting"] == 0)
            said = len(one.outlet.said)
            await until(lambda: one.ledger._again_s == 0.4)
            assert len(one.outlet.said) == said


async def test_f14_rows_said_before_the_clock_was_set_get_their_true_time_by_a_row_of_their_own(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """F14: the envelope stays as it was born; the hub and the export learn when it really was."""
    _, taken = evening
    path, clock = tmp_path / "t.journal", TestClock(offset=1_000, clock="unsynced")
    true_zero = 1_800_000_000_000
    async with kept(path, clock=clock) as one:
        await play(one, taken)
        before = stored(path)
        assert all(json.loads(payload)["clock"] == "unsynced" for payload in before)
        clock.offset, clock.clock = true_zero, "synced"
        await one.journal.note({NOTED: json.dumps({"1": ["boot", 0, true_zero]})})
        await one.quiet()
        await one.said(len(before) + 1)
    after = stored(path)
    assert after[:-1] == before
    told = json.loads(after[-1])
    record = told["data"]["record"]
    assert told["clock"] == "synced" and record["kind"] == "clock"
    assert (record["first"], record["last"], record["epoch"]) == (1, len(before), 1)
    for row, payload in zip(read_ledger(path)[:-1], before, strict=True):
        assert row.clock == "mended"
        assert row.ts == record["zero_ts"] + json.loads(payload)["mono_ms"] == true_zero + row.mono_ms
    async with kept(path, epoch=2) as one:
        await one.quiet()
    assert stored(path) == after, "it is told once"


async def test_old_rows_leave_when_the_hub_has_them_and_never_before(
    tmp_path: Path, evening: tuple[Any, Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, taken = evening
    monkeypatch.setattr("controller.clock.AGES_AFTER_MS", 0)
    path, day = tmp_path / "t.journal", 86_400_000
    async with kept(path) as one:
        await play(one, taken)
        count = len(stored(path))
    later = TestClock(offset=1_800_000_000_000 + 500 * day)
    async with kept(path, epoch=2, clock=later, days=600) as one:
        await one.said(count)
        one.ledger.hear(ack(one.id, 3))
        await until(lambda: one.ledger.heartbeat()["ledger_waiting"] == count - 3)
    assert len(stored(path)) == count
    async with kept(path, epoch=3, clock=later) as one:
        await one.quiet()
        await one.quiet()
    assert len(stored(path)) == count - 3, "a hub is there: what it has not is kept for ever"
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'ledger_hub'")
    async with kept(path, epoch=4, clock=TestClock(offset=1_000, clock="unsynced")) as one:
        await one.quiet()
    assert len(stored(path)) == count - 3, "who does not know the time lets nothing go"
    async with kept(path, epoch=5, clock=later) as one:
        await one.quiet()
        await one.quiet()
        assert one.ledger.keeper.state.last == count, "numbers go on all the same"
    assert len(stored(path)) == 1


async def test_a_copy_of_the_journal_counts_anew_and_both_books_are_told_apart(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """A backup put back: what it had not delivered goes out under the old name, what happens now under the new one."""
    _, taken = evening
    path = tmp_path / "t.journal"
    half = len(taken) // 2
    async with kept(path) as one:
        await play(one, taken[:half])
        old, before = one.id, stored(path)
    shutil.copy(path, tmp_path / "copy.journal")
    assert not epoch_path(tmp_path / "copy.journal").exists()
    path = tmp_path / "copy.journal"
    async with kept(path, epoch=2) as one:
        assert one.id != old
        await play(one, taken[half:])
        said = await one.said(len(stored(path)))
        book = HubBook()
        for payload in said:
            book.take(payload)
        assert book.complete(old) == len(before) and book.complete(one.id) == len(stored(path)) - len(before) > 0
        one.ledger.hear(ack(one.id, 1))
        await one.quiet()
        # The hub had more of the old book than this copy knows of.
        one.ledger.hear(ack(old, len(before) + 9))
        await until(lambda: one.ledger.heartbeat()["ledger_waiting"] == len(stored(path)) - len(before) - 1)


async def test_a_match_that_began_before_there_was_a_ledger_begins_in_it_with_its_next_hand(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    _, taken = evening
    first = next(
        number for number, steps in enumerate(taken)
        if any(type(getattr(step.event, "event", None)).__name__ == "HandBegun" for step in steps)
    )  # fmt: skip
    async with kept(tmp_path / "t.journal") as one:
        await play(one, taken[first:])
    assert book_of(tmp_path / "t.journal").kinds()[:3] == ["session_begun", "match_begun", "hand"]


def test_the_window_and_the_pauses_are_bounded() -> None:
    assert hubs.AT_ONCE <= 64 and hubs.LONGEST_AGAIN_S >= hubs.AGAIN_S >= 10


async def waits(one: Kept, count: int) -> None:
    """Until so many rows wait for the hub."""
    await until(lambda: one.ledger.waiting == count)


SPOILT = ["{", "[]", "null", '{"last": "many"}', '{"session": 1, "booked": 7}', '{"journal": "x", "mark": null}', ""]


@pytest.mark.parametrize("note", SPOILT)
async def test_a_spoilt_note_of_the_ledger_is_made_anew_from_its_rows(
    tmp_path: Path, evening: tuple[Any, Taken], note: str
) -> None:
    """At every place of the evening: numbers go on without gaps, and what may be voided is known."""
    _, taken = evening
    for place in (len(taken) // 3, len(taken) // 2, len(taken)):
        path = tmp_path / f"{place}.journal"
        async with kept(path) as one:
            await play(one, taken[:place])
            before, id = one.ledger.keeper.state, one.id
            await one.journal.note({BOOK: note, SAID: f"{id} x{note}"})
        with capture_logs() as logs:
            async with kept(path, epoch=2) as one:
                after = one.ledger.keeper.state
                for name in ("journal", "last", "session", "opened", "match", "matches", "booked", "ended", "closed"):
                    assert getattr(after, name) == getattr(before, name), (place, name)
                one.ledger.connected()
                await one.said(min(before.last, 32))
                one.ledger.hear(ack(one.id, min(before.last, 32)))
                await waits(one, max(0, before.last - 32))
                await play(one, taken[place:])
        assert {entry["note"] for entry in logs if entry["log_level"] == "critical"} == {BOOK, SAID}
        numbers = [row.number for row in read_ledger(path)]
        assert numbers == list(range(1, len(numbers) + 1))


def spoilt_win(steps: list[Step]) -> list[Step]:
    """The same, where a hand is booked with a win that says nothing of how it was won."""
    found = []
    for step in steps:
        match step.event:
            case SessionSaid(event=HandBooked(booking=booking) as event):
                spoilt = replace(event, booking=replace(booking, wins=({"seat": "E"},)))
                found.append(replace(step, event=replace(step.event, event=spoilt)))
            case _:
                found.append(step)
    return found


async def test_a_hand_whose_row_cannot_be_written_whole_is_told_with_its_points(
    tmp_path: Path, evening: tuple[Any, Taken]
) -> None:
    """Who won or lost how much reaches the parlor; numbers have no gap, and what is taken back is named as ever."""
    walked, taken = evening
    with capture_logs() as logs:
        async with kept(tmp_path / "t.journal") as one:
            await play(one, [spoilt_win(steps) for steps in taken])
            assert one.metrics.failures._value.get() > 0
    assert any(entry["log_level"] == "critical" and "says the least" in entry["event"] for entry in logs)
    book, session = book_of(tmp_path / "t.journal"), walked.walker.state.session
    standing = [dict(booked.points) for booked in session.book if not booked.voided]
    assert [record["points"] for record in book.standing if record["kind"] == "hand"] == standing
    assert any(book.points(1).values()) and book.complete(one.id) == len(book.rows)
    told = [row["record"] for row in book.records if row["record"]["kind"] == "hand"]
    assert told and all("wins" not in record and record["points"] for record in told)


async def test_a_booking_that_no_row_can_tell_is_not_stored(
    tmp_path: Path, evening: tuple[Any, Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is booked behind the parlor's back; what is stored afterwards has the number that was free again."""
    _, taken = evening
    path = tmp_path / "t.journal"
    booked = next(place for place, steps in enumerate(taken) if spoilt_win(steps) != steps)
    async with kept(path) as one:
        await play(one, taken[:booked])
        before = one.journal.last_event, one.ledger.keeper.state
        with monkeypatch.context() as patch:
            patch.setattr("controller.hub.encode", lambda envelope: 1 // 0)
            with pytest.raises(hubs.LedgerError):
                await one.store(taken[booked])
        assert (one.journal.last_event, one.ledger.keeper.state) == before
        await one.store(taken[booked])
    assert book_of(path).kinds()[-1] == "hand"
