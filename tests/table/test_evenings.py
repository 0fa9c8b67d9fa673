"""Whole matches: their limits, the next match, pause, extension, parking, taking back, and the floor's decision."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from engine.match import events as m
from tests.table.evening import bookings, check_book, standing, steps, voids
from tests.table.harness import WholeTable
from tests.table.seated import seated
from tests.table.test_mechanics import sessions

pytestmark = [pytest.mark.table, pytest.mark.timeout(400)]


def ended(table: WholeTable) -> list[str]:
    """Why the matches of the evening ended."""
    said = (event.event for _, event, _, _ in steps(table.journal) if isinstance(event, e.SessionSaid))
    return [event.why for event in said if isinstance(event, m.MatchOver)]


async def test_a_match_ends_with_its_hands_and_the_next_one_begins(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, matches=2, seats="dice", seed=11) as table:
        await table.stored("MatchEnded", 2, 150)
        last = await table.state(lambda data: data["phase"] == "ended")
    assert ended(table) == ["hands", "hands"]
    assert [(one.match, one.hand) for one in bookings(table.journal)] == [(1, 1), (2, 1)]
    assert last["match"]["number"] == 2 and last["match"]["stage"] == "ended"
    assert last["match"]["points"] == standing(table.journal)[-1]["net"]
    check_book(table.journal)


async def test_empty_chips_end_a_match(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, seed=21, rules="classic-xiamen-144") as table:
        await table.stored("MatchEnded", 1, 150)
        last = await table.state(lambda data: data["phase"] == "ended")
    assert ended(table) == ["empty"] and min(last["match"]["chips"].values()) == 0
    assert sum(last["match"]["chips"].values()) == 400
    check_book(table.journal)


async def test_a_match_is_extended_and_ended_by_the_floor(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, seed=11, speed="20", people="") as table:
        await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        await table.command("extend", hands=5)
        table.start_people()
        await table.stored("HandEnded", 1, 120)
        await table.command("end")
        await table.stored("MatchEnded", 1, 150)
    assert ended(table) == ["agreed"] and len(bookings(table.journal)) in (1, 2)
    check_book(table.journal)


async def test_the_next_evening_finds_nothing_of_the_last(tmp_path: Path) -> None:
    """Opened, played and closed by the parlor, and opened again for others: theirs is the only match that counts."""
    async with WholeTable(tmp_path, hands=1, seed=11, people="", autostart=False) as table:
        await table.command("open", names={"E": "阿明"})
        table.start_people()
        await table.stored("MatchEnded", 1, 150)
        first = await table.ended()
        assert first["match"]["players"]["E"]["name"] == "阿明"
        await table.command("end")
        over = await table.state(lambda data: data["phase"] == "idle")
        assert (over["match"], over["result"], over["use"]) == (None, None, "free")
        await emptied(table)
        await table.command("open")
        await table.stored("MatchEnded", 2, 150)
        last = await table.state(lambda data: data["phase"] == "ended" and data["match"]["number"] == 2)
        assert {player["name"] for player in last["match"]["players"].values()} == {""}
        assert last["match"]["evening"] == {}
        assert "阿明" in (await table.command("export", match=1, whole=True))["text"], "its record is kept"
    assert [(one.match, one.hand) for one in bookings(table.journal)] == [(2, 1)]
    assert table.count("EveningEnded") == 1


async def emptied(table: WholeTable) -> None:
    """Nothing is kept of any seat: who looks now is told only that there is nothing."""
    async with asyncio.timeout(30):
        for seat in "ESWN":
            async with table.client(seat) as client:
                await client.subscribe(table.topics.seat(seat), qos=1)
                assert not (await anext(aiter(client.messages))).payload


@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_a_pause_between_hands_in_which_a_booking_is_taken_back(tmp_path: Path, sensing: str) -> None:
    """Two seats take it back, the hand is agreed on again and booked as it was; the floor lets the match go on."""
    async with WholeTable(tmp_path, hands=2, sensing=sensing, seed=11, people="") as table:
        await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        await table.command("pause")
        table.start_people()
        paused = await table.state(lambda data: data["phase"] == "paused", 120)
        assert paused["use"] == "paused"
        for seat in "ES":
            await table.answer(seat, "undo", "undo")
        await table.stored("HandRebooked", 1, 90)
        assert (await table.state(lambda data: data["phase"] == "paused"))["result"]["open"]
        await table.command("pause", on=False)
        await table.ended(120)
    first, again, second = bookings(table.journal)
    assert (first.voided, again.voided, second.voided) == (True, False, False) and voids(table.journal) == 1
    assert first.hand == again.hand == 1 and second.hand == 2
    assert first.points == again.points
    check_book(table.journal)


@pytest.mark.parametrize("how", ["command", "key"])
async def test_a_table_parked_in_a_hand_is_turned_off_and_goes_on_later(tmp_path: Path, how: str) -> None:
    async with WholeTable(tmp_path / "right", hands=1, sensing="full", seed=25) as right:
        await right.ended(120)
    async with WholeTable(tmp_path / "parked", hands=1, sensing="full", seed=25, speed="20") as table:
        await table.stored("SeatPlayed", 12, 120)
        await park(table, how, True)
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "parked", 60)
        before = await table.state(lambda data: data["use"] in ("paused", "closing"))
        assert await asyncio.to_thread(table.kill, "daemon", signal.SIGTERM) == 0
        table.start_daemon()
        await sessions(table, 1)
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "parked", 60)
        await park(table, how, False)
        after = await table.state(lambda data: data["use"] == "playing")
        assert after["hand"] == before["hand"] == 1
        await table.ended(120)
    assert standing(table.journal) == standing(right.journal)
    check_book(table.journal)


async def park(table: WholeTable, how: str, on: bool) -> None:
    """By the parlor, and on by a press at a seat; or by the service key held long."""
    if how == "command" and on:
        await table.command("park")
    elif how == "command":
        await table.answer("W", "parked", "unpark")
    else:
        await table.world_act("press", seat="E", key="service", held_ms=6000)


@pytest.mark.parametrize("choice", [1, 2])
async def test_the_floor_decides_an_objection(tmp_path: Path, choice: int) -> None:
    """S objects to a right settlement and gives the winner a flower more; before anybody votes the floor decides."""
    async with (
        WholeTable(tmp_path, hands=1, sensing="none", seed=11, people="", timing={"agree_ms": 60_000}) as table,
        seated(table, "S") as displays,
    ):
        south = displays["S"]
        table.start_people()
        while (agree := south.want("agree")) is None:
            for want in south.wants:
                if want["verb"] in ("flowers", "tail", "book", "entry"):
                    await touch(table, south, want)
            seen = south.view
            await south.until(lambda seen=seen: south.view is not seen, "the agreement", 60)  # type: ignore[misc]
        await asyncio.to_thread(table.kill, "people", signal.SIGTERM)
        first = agree["params"]["settlement"]["net"]
        assert (await south.answered(await south.press(agree, "object")))["ok"]
        await south.until(lambda: south.want("object_entry") is not None, "the objection")
        want = south.want("object_entry")
        assert want is not None
        winner = want["params"]["winners"][0]["seat"]
        lying = [face for told in want["params"]["seats"].values() for face in told["said"]["flowers"]]
        free = next(face for face in (f"{n}f" for n in range(1, 9)) if face not in lying)
        assert (await south.answered(await south.press(want, "flower", tile=free, seat=winner)))["ok"]
        await south.until(lambda: "propose" in (south.want("object_entry") or {"actions": ()})["actions"], "propose")
        again = south.want("object_entry")
        assert again is not None
        assert (await south.answered(await south.press(again, "propose")))["ok"]
        await south.until(lambda: south.want("vote") is not None, "the vote")
        book = (await table.state(lambda data: data["book"] is not None and data["book"]["stage"] == "vote"))["book"]
        await table.command("decide", choice=choice, want=book["id"])
        await table.stored("HandEnded", 1, 60)
    (found,) = standing(table.journal)
    assert (found["net"] == first) == (choice == 1)
    assert found["net"] == (book["settlement"] if choice == 1 else book["second"])["net"]
    check_book(table.journal)


async def touch(table: WholeTable, south: Any, want: dict[str, Any]) -> None:
    """S touches its flowers, and is done with its entry."""
    sight = await table.sight()
    known = {*want["params"].get("taken", {}), *want["params"].get("said", {}).get("flowers", ())}
    for face in sight["flowers"]["S"]:
        if face not in known:
            await south.answered(await south.press(want, "flower", tile=face))
            return
    needed = want["verb"] == "entry" and want["params"]["needed"] and not want["params"]["done"].get("S")
    if needed:
        await south.answered(await south.press(want, "done"))
