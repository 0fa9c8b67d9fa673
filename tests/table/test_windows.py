"""Claims in the same millisecond: each window is decided once, each press is answered, and only one of a seat counts.

The four displays are in the hands of this test; the simulated people move the tiles. In every window all three others
press at once: claims that they may make and claims that they may not, some twice under one id, some under two.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from engine.play import events as p
from engine.tiles import SEATS, parse_tiles, play_order
from tests.table.evening import check_book, failures, steps
from tests.table.harness import WholeTable
from tests.table.seated import BY_ANYBODY, Display, seated

pytestmark = [pytest.mark.table, pytest.mark.timeout(900)]

MANY = pytest.mark.parametrize(
    "count",
    [
        pytest.param(100, id="short"),
        pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id="long"),
    ],
)
HU, CLAIM, KONG = 0.1, 0.8, 0.3
"""How likely a win, another claim, a kong of one's own is taken where it may be."""
ILLEGAL: Sequence[tuple[str, dict[str, Any]]] = (
    ("hu", {"way": "pinghu"}),
    ("pong", {}),
    ("kong_open", {}),
    ("chi", {"tiles": ["1z", "7z"]}),
    ("chi", {"tiles": ["1m"]}),
    ("hu", {"way": "no_such_way"}),
    ("chi", {"tiles": "23m"}),
    ("riichi", {}),
)

Press = tuple[str, dict[str, Any]]


@dataclass
class Four:
    """Everybody at the table, pressing at once."""

    table: WholeTable
    displays: Mapping[str, Display]
    chance: random.Random
    windows: int = 0
    pressed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Every press in a window: its id → the prompt and the seat."""
    done: set[tuple[str, str]] = field(default_factory=set)

    async def play(self, count: int) -> None:
        """Until so many windows have been pressed in."""
        while self.windows < count:
            if not await self.step():
                await self.changed()

    async def changed(self) -> None:
        """Wait for another view at any display."""
        seen = {seat: display.view for seat, display in self.displays.items()}
        waiting = [
            asyncio.create_task(display.until(lambda d=display, v=seen[seat]: d.view is not v, "a view", 60))  # type: ignore[misc]
            for seat, display in self.displays.items()
        ]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def step(self) -> bool:
        """Do what is asked now; whether anything was."""
        window = self.open_window()
        if window is not None:
            await self.press_all(window)
            return True
        for seat, display in self.displays.items():
            for want in display.wants:
                if (want["id"], seat) in self.done:
                    continue
                said = await self.answer(display, want)
                if said is not None:
                    self.done |= {(want["id"], one) for one in (SEATS if want["verb"] in BY_ANYBODY else (seat,))}
                    await display.press(want, said[0], **said[1])
                    return True
        return False

    def open_window(self) -> dict[str, Mapping[str, Any]] | None:
        """The prompts of a window that nobody has pressed in, once all three others show it."""
        found = {seat: want for seat, display in self.displays.items() if (want := display.want("claim")) is not None}
        ids = {want["id"] for want in found.values()}
        if len(found) != 3 or len(ids) != 1 or any((want["id"], seat) in self.done for seat, want in found.items()):
            return None
        return found

    async def press_all(self, window: Mapping[str, Mapping[str, Any]]) -> None:
        """All three press in the same moment; who was refused passes afterwards."""
        self.windows += 1
        salvo: list[tuple[Display, Mapping[str, Any], str, Press]] = []
        for seat, want in window.items():
            self.done.add((want["id"], seat))
            for number, press in self.presses(want, f"{seat}-{self.windows}"):
                salvo.append((self.displays[seat], want, number, press))
                self.pressed[number] = (want["id"], seat)
        self.chance.shuffle(salvo)
        await asyncio.gather(*(display.press(want, one[0], number, **one[1]) for display, want, number, one in salvo))
        for display, _, number, _ in salvo:
            await display.answered(number)
        for seat, want in window.items():
            display = self.displays[seat]
            mine = [number for number, (asked, whose) in self.pressed.items() if (asked, whose) == (want["id"], seat)]
            if not any(display.answers[number][0]["ok"] for number in mine):
                number = await display.press(want, "pass", f"{seat}-{self.windows}-pass")
                self.pressed[number] = (want["id"], seat)
                assert (await display.answered(number))["ok"], display.answers[number]

    def presses(self, want: Mapping[str, Any], name: str) -> Iterator[tuple[str, Press]]:
        """What a seat presses in a window, each with its id; the same id may come twice."""
        chance = self.chance
        legal = [option for option in want["params"]["options"] if option["name"] != "pass"]
        wins = [option for option in legal if option["name"] == "hu"]
        claims = [option for option in legal if option["name"] != "hu"]
        said: list[Press] = []
        if wins and chance.random() < HU:
            said.append(as_press(chance.choice(wins)))
        elif claims and chance.random() < CLAIM:
            said.append(as_press(chance.choice(claims)))
        if not said or chance.random() < 0.3:
            said.insert(0, chance.choice(ILLEGAL))
        for at, press in enumerate(said):
            yield f"{name}-{at}", press
            if chance.random() < 0.5:
                yield f"{name}-{at}", press
        if chance.random() < 0.5:
            yield f"{name}-again", chance.choice([*said, ("pass", {})])

    async def answer(self, display: Display, want: Mapping[str, Any]) -> Press | None:
        """What is pressed outside of windows; None where hands do it, or nothing is to be done yet."""
        verb, params = want["verb"], want["params"]
        if verb == "turn":
            kongs = [option for option in params["options"] if option["name"].startswith("kong")]
            if kongs and self.chance.random() < KONG:
                return as_press(self.chance.choice(kongs))
            wanted = Counter({tile: self.wanted(display.seat, tile) for tile in params["discards"]})
            most = [tile for tile, count in wanted.items() if count == max(wanted.values())]
            return "discard", {"tile": self.chance.choice(most)}
        if verb in ("opening", "lap", "flower"):
            return "pass", {}
        if verb == "push_in":
            sight = await self.table.sight()
            clear = sight["centre"] == "up" and not any(sight["felt"].values()) and not any(sight["counts"].values())
            return ("pushed", {}) if clear else None
        assert verb not in ("count_wrong", "reader_check", "wrong_discard", "retry", "stopped"), want
        return (BY_ANYBODY[verb], {}) if verb in BY_ANYBODY else None


    def wanted(self, seat: str, tile: str) -> int:
        """How many of the others can claim a tile."""
        following = play_order(seat)[1:]
        hands = {other: Counter(parse_tiles(self.displays[other].view["me"]["tiles"] or "")) for other in following}
        pongs = sum(hand[tile] >= 2 for hand in hands.values())
        number, suit = int(tile[0]), tile[1]
        beside = [[f"{number + step}{suit}" for step in steps] for steps in ((-2, -1), (-1, 1), (1, 2))]
        return pongs + any(all(hands[following[0]][face] for face in faces) for faces in beside if suit != "z")


def as_press(option: Mapping[str, Any]) -> Press:
    """An option as it is pressed."""
    return str(option["name"]), {name: value for name, value in option.items() if name != "name"}


@MANY
async def test_presses_in_the_same_millisecond(tmp_path: Path, count: int) -> None:
    table = WholeTable(
        tmp_path, sensing="full", hands=0, matches=0, people="", patience=60, options={"claim_window_ms": 60_000}
    )
    async with table, seated(table) as displays:
        table.start_people()
        four = Four(table, displays, random.Random("windows"))
        await four.play(count)
        answers = {number: displays[seat].answers[number] for number, (_, seat) in four.pressed.items()}

    # Every press is answered, once, a repeated one as it was.
    assert all(len(said) == 1 for said in answers.values()), [said for said in answers.values() if len(said) != 1]
    codes = Counter(said[0]["code"] for said in answers.values())
    assert codes[""] >= 3 * count and len(codes) >= 6, codes
    assert all(said[0]["ok"] or said[0]["code"] for said in answers.values())
    # One press of a seat counts in a window.
    accepted = Counter(four.pressed[number] for number, said in answers.items() if said[0]["ok"])
    assert set(accepted.values()) == {1} and len(accepted) == 3 * count

    check_windows(table, count)
    if table.count("HandEnded"):
        check_book(table.journal)
    assert failures(table) == []


def check_windows(table: WholeTable, count: int) -> None:
    """In the journal each window is closed once, by what was answered there: each seat once, the strongest claim."""
    closed = robbed = contended = 0
    answered: dict[str, p.ClaimAnswered] = {}
    source = ""
    for _, event, before, _ in steps(table.journal):
        if not isinstance(event, e.Played):
            assert not isinstance(event, e.WindowTimeUp), "a window ran out"
            continue
        happened = event.event
        match happened:
            case p.TileDiscarded(seat=seat) | p.KongShown(seat=seat):
                source, answered = seat, {}
                robbed += isinstance(happened, p.KongShown)
            case p.ClaimAnswered(seat=seat) if source:
                assert seat != source and seat not in answered, "a seat was heard twice"
                answered[seat] = happened
            case p.WindowClosed() if source:
                closed += 1
                assert answered.keys() == set(SEATS) - {source}
                assert not any(one.name == "hu" for one in answered.values())
                source = ""
            case p.MeldLaid(kind="chi" | "pong" | "kong_open"):
                names = {one.seat: one.name for one in answered.values() if one.name != "pass"}
                contended += len(names) > 1
                first = min(names, key=lambda seat: names[seat] == "chi")
                assert (happened.seat, happened.kind) == (first, names[first]), (happened, names)
            case p.HandWon() if source and before.play.game is not None and before.play.game.phase in ("window", "rob"):
                closed += 1
                said = [seat for seat in play_order(source)[1:] if answered[seat].name == "hu"]
                assert happened.seat == said[0]
                source = ""
    assert closed >= count and contended >= count // 50, (closed, robbed, contended)
