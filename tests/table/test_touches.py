"""Level none: how often a display is touched in a hand without flowers, by people who are simulated and by a page."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.table.harness import TABLE, WholeTable
from tests.table.screens import Screen, chromium, in_phase, open_screen
from tests.table.test_pages_none import seen
from tests.table.walls import wall_for

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]

MOST_BEFORE_PLAY = 3
"""Touches of a seat until play begins, if nobody holds flowers; a kong or a flower is one more each."""
BY_KEY = {"start", "lift", "pushed", "roll"}
"""What a key of the table does as well as a touch."""
BY_SILENCE = {("dice_check", "agree"), ("gold_check", "agree")}
"""What stands by itself after a while, as nobody objects."""
EACH_ONE = {"flower", "kong"}
OF_THE_BOOK = {"book", "entry", "agree"}
AFTER_PLAY = {"win": 1, "drawn": 1, "items": 1, "tiles": 1, "patterns": 1, "done": 1, "agree": 1}
"""What ends a hand, at most so often from one seat: the win, what the own hand holds, that this is all, consent."""


@pytest.mark.parametrize("dice", ["read", "unread"])
async def test_simulated_people_need_no_more_touches_than_allowed(tmp_path: Path, dice: str) -> None:
    """Three hands with tiles that have no flowers: every input of every seat is recorded on its way to the table. Dice
    that nobody reads are one touch a throw, and no seat needs more for it; the throw for the first dealer is one more.
    """
    said: list[tuple[int, str, str, str]] = []
    async with WholeTable(
        tmp_path, rules="basic-136", layout="zhitui", dice=dice, hands=3, seed=6, people="", patience=20,
        simulate=["--cocked", "0"],
    ) as table:  # fmt: skip
        recording = asyncio.create_task(record(table, said))
        table.start_people()
        await table.ended(300)
        assert recording.cancel(), recording.exception()
    for hand in (1, 2, 3):
        in_all = []
        for seat in "ESWN":
            touched = [(verb, action) for number, who, verb, action in said if (number, who) == (hand, seat)]
            before = [
                action
                for verb, action in touched
                if verb not in OF_THE_BOOK and action not in BY_KEY and (verb, action) not in BY_SILENCE
            ]
            after = Counter(action for verb, action in touched if verb in OF_THE_BOOK and action not in EACH_ONE)
            first = int(hand == 1 and dice == "unread")
            assert len(before) <= MOST_BEFORE_PLAY + first, (hand, seat, before)
            assert all(count <= AFTER_PLAY[action] for action, count in after.items()), (hand, seat, after)
            assert "agree" in after, (hand, seat, touched)
            in_all += before
        throws = (2 + (hand == 1)) * (dice == "unread")
        # Nobody is asked for flowers where there are none.
        wanted = Counter({"ok": 1, "face": 1, "dice": throws})
        assert Counter(in_all) == +wanted, (hand, in_all)


async def record(table: WholeTable, said: list[tuple[int, str, str, str]]) -> None:
    """Notes what every seat answers: hand, seat, and of which prompt which answer."""
    async with table.client(TABLE) as client:
        await client.subscribe([(table.topics.seat_input(seat), 1) for seat in "ESWN"])
        async for message in client.messages:
            body: dict[str, Any] = json.loads(bytes(message.payload or b"{}"))
            hand, _, want = body["want"].partition(".")
            said.append((int(hand), str(message.topic).split("/")[-2], want.partition("-")[0], body["action"]))


@pytest.mark.browser
@pytest.mark.parametrize("dice", ["read", "unread"])
async def test_a_person_at_a_page_touches_it_as_seldom(tmp_path: Path, dice: str) -> None:
    """East deals, lift and dice by their keys, and does all that anybody may do; where dice are not read East enters
    them, and South says that all have their tiles. South wins.
    """
    hand = wall_for(
        "new-xiamen-120",
        (5, 1),
        hands={
            "E": "134699m5m1299p14s7777s",
            "S": "123789m34567p4699s5z",
            "W": "234567m1128p125688s",
            "N": "112348m1579p225688s",
        },
        gold="3s",
        gold_roll=(2, 4),
        draws="5s6s4m",
        seed=2,
    )
    table = WholeTable(
        tmp_path, hands=1, speed="10", web=True, people="", patience=60, script=[hand], simulate=["--cocked", "0"],
        dice=dice, timing={"take_pace_ms": 60_000, "agree_ms": 600_000, "object_ms": 1000},
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        south = await open_screen(browser, table, "S", tmp_path)
        table.start_people()
        await the_opening_by_keys(table, east, south, dice == "unread")
        await east.asks("book")
        of_east, of_south = await east.touches(), await south.touches()
        # The throw for the first dealer is one more: it is made once a match.
        assert of_east <= MOST_BEFORE_PLAY + (dice == "unread"), of_east
        assert of_south == (2 if dice == "unread" else 0)
        await the_rest(table, east, south)
        # East: a kong, done, agreed. South: 胡, which way, on whose tile, done, agreed.
        assert await east.touches() <= of_east + 3
        assert await south.touches() <= of_south + 5


async def the_opening_by_keys(table: WholeTable, east: Screen, south: Screen, entered: bool) -> None:
    await east.asks("lift")
    await table.world_act("press", seat="E", key="lift")
    await east.asks("push_in")
    await seen(table, lambda sight: not sum(sight["felt"].values()))
    await table.world_act("press", seat="E", key="lift")
    watching = south if entered else east
    for done, dice in (("deal_roll", "5+4"), ("taking", "5+1")):
        await the_throw(table, east, dice if entered else "")
        await table.state(in_phase(done))
    await seen(table, lambda sight: sum(sight["counts"].values()) == 65)
    await watching.press("ok")
    await watching.asks("flowers")
    await watching.press("ok")
    await the_throw(table, east, "4+2" if entered else "")
    await east.asks("gold_face")
    await east.touch('[data-tile="3s"]')


async def the_throw(table: WholeTable, east: Screen, dice: str) -> None:
    """Thrown by the key; entered with one touch, which stands as nobody objects."""
    await east.asks("roll")
    await table.world_act("press", seat="E", key="dice")
    if dice:
        await east.asks("dice")
        await east.touch(f'[data-dice="{dice}"]')


async def the_rest(table: WholeTable, east: Screen, south: Screen) -> None:
    await seen(table, lambda sight: bool(sight["melds"]["E"]))
    await east.touch('[data-kong="concealed"]')
    await seen(table, lambda sight: {"W", "N"} <= sight["shown"].keys())
    await south.touch('[data-action="choose"]', "胡")
    await south.touch(".pick", "平胡")
    await south.touch(".seat-touch", "西家")
    await south.press("done")
    await east.press("done")
    await south.press("agree")
    await east.press("agree")
    await table.state(lambda data: data["result"] is not None)
