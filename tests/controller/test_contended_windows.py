"""Windows that several seats may lawfully claim, pressed in one and the same millisecond (R13, R15): each is decided
once and alike in whatever order the presses come, and every press is answered.

Each window is one of a whole daemon that starts in it, on a clock that stands still while anything is at work
(`clocked.py`). Every seat presses what it wants, what it may not, the same again under one id, and more under another;
what each of them presses keeps its order, as a broker keeps it, and is mixed with the others' by chance. Every set of
presses comes twice, in two orders.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controller.clock import Stamp
from controller.journal import NewEvent, open_journal, read_events
from controller.startup import fold_events
from engine import events as e
from engine.play import events as p
from engine.state import new_state
from engine.table import apply
from engine.tiles import SEATS, play_order
from tests.controller.clocked import BEGAN_MS, TOPICS, Act, Laid, run
from tests.controller.clocked import Table as Served
from tests.engine.tables import DEAL, DEALER, GOLD, HANDS, Table, claims_of, in_play

Press = tuple[str, Mapping[str, Any]]
Said = tuple[str, Press]
"""A press with its id."""

COUNT = pytest.mark.parametrize(
    "count",
    [
        pytest.param(100, marks=pytest.mark.timeout(300), id="short"),
        pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(3000)], id="long"),
    ],
)
CLAIMS, SILENT = 0.85, 0.3
"""How likely a seat takes a claim that it may make; how likely one that claims nothing says nothing either."""
UNLAWFUL: Sequence[Press] = (
    ("hu", {"way": "tianhu"}),
    ("hu", {"way": "no_such_way"}),
    ("chi", {"tiles": ["1z", "7z"]}),
    ("chi", {"tiles": "4m6m"}),
    ("pong", {}),
    ("kong_open", {}),
    ("riichi", {}),
)

CHI, PONG = HANDS["S"], HANDS["W"]
WAITS = {
    "S": "46m234p678p234s678s88s",
    "W": "55m99m111m333m777m222s",
    "N": "46m111p333p555p777p33s",
}
"""Hands that 5m completes; S may take it for a run as well, and W for a pong."""
ROBBED = {
    "E": "59m159p159s2468m2468p2s",
    "S": "234m234p678m678p13s88s",
    "W": PONG,
    "N": "111p333p555p777p99p34s",
}
"""W lays a pong of 2s that E discarded, and adds the fourth; S and N wait for it."""


def discarded(hands: Mapping[str, str], **options: Any) -> Table:
    """E has discarded 5m."""
    table = in_play({**HANDS, **hands}, options=options)
    claims_of(table, "5m")
    return table


def robbed(**options: Any) -> Table:
    """W adds the fourth 2s to its pong."""
    table = in_play(ROBBED, draws="6s7s7s2s", options=options)
    claims_of(table, "2s")
    table.passes("S", "N")
    table.press("W", "claim", "pong")
    table.lay("W")
    table.discard("W", "9m")
    table.passes()
    for _ in "NES":
        table.round()
    assert table.draw("W") == "2s"
    table.press("W", "turn", "kong_added", tile="2s")
    return table


CASES: Mapping[str, Callable[[], Table]] = {
    "a run against a pong or a kong": lambda: discarded({}),
    "a run, a pong and a win": lambda: discarded({"N": WAITS["N"]}),
    "a pong that would win, and a win": lambda: discarded({"W": WAITS["W"], "N": WAITS["N"]}),
    "three wins": lambda: discarded(WAITS),
    "three wins that all count": lambda: discarded(WAITS, several_winners=True),
    "a kong that two rob": robbed,
    "a kong that two rob who both win": lambda: robbed(several_winners=True),
}


@dataclass
class Window:
    """A window in which presses come: `lists` are each seat's, in its order; `merged` is how they arrive."""

    kept: Path
    source: str
    several: bool
    laid: Laid
    lists: dict[str, list[Said]] = field(default_factory=dict)
    chosen: dict[str, Press] = field(default_factory=dict)
    """What counts of each seat that says anything."""

    def serve(self, folder: Path, chance: random.Random) -> Decided:
        """A daemon that starts in this window, where all is pressed at once; what is pressed is chosen by the first."""
        pressed_at: list[int] = []

        async def play(table: Served) -> None:
            await asyncio.sleep(1)
            wants = {seat: claim(table, seat) for seat in SEATS if seat != self.source}
            if not self.lists:
                self.choose(wants, chance)
            pressed_at.append(round(table.now * 1000))
            for seat, (number, (action, params)) in merged(self.lists, chance):
                body = {"id": number, "epoch": 1, "want": wants[seat]["id"], "action": action, "params": dict(params)}
                table.do(Act(table.now, seat, json.dumps(body).encode()))
            await asyncio.sleep(4)  # whoever says nothing: the window's own time

        table = run(folder, self.laid, play, self.kept)
        return Decided(self, table, folder / "table.journal", *pressed_at)

    def choose(self, wants: Mapping[str, Mapping[str, Any]], chance: random.Random) -> None:
        """What everybody presses: at least two claims that may be made."""
        lawful = {seat: [as_press(one) for one in want["params"]["options"]] for seat, want in wants.items()}
        claims = {seat: [one for one in may if one[0] != "pass"] for seat, may in lawful.items()}
        assert sum(map(bool, claims.values())) >= 2, lawful
        claiming: dict[str, Press] = {}
        while len(claiming) < 2:
            claiming = {
                seat: by_name(may, chance) for seat, may in claims.items() if may and chance.random() < CLAIMS
            }
        for seat in lawful:
            if seat in claiming:
                self.chosen[seat] = claiming[seat]
            elif chance.random() >= SILENT:
                self.chosen[seat] = ("pass", {})
            self.lists[seat] = list(self.presses(seat, lawful[seat], chance))

    def presses(self, seat: str, lawful: Sequence[Press], chance: random.Random) -> Iterator[Said]:
        """A seat's presses in their order: unlawful ones, what it wants, the same again, and what comes too late."""
        said: list[Said] = []
        if chance.random() < 0.4:
            said.append((f"{seat}-unlawful", chance.choice([one for one in UNLAWFUL if one not in lawful])))
        if seat in self.chosen:
            said.append((f"{seat}-claim", self.chosen[seat]))
            if chance.random() < 0.4:
                said.append((f"{seat}-more", chance.choice([*lawful, *UNLAWFUL])))
        for at, one in enumerate(said):
            yield one
            if chance.random() < 0.6:
                yield chance.choice(said[: at + 1])
        if said and chance.random() < 0.6:
            yield chance.choice(said)

    def expected(self) -> tuple[list[str], list[tuple[str, str]]]:
        """R13, R15: who wins, or who lays what: a win before a kong or a pong before a run; the nearest win, or all."""
        order = [seat for seat in play_order(self.source)[1:] if seat in self.chosen]
        wins = [seat for seat in order if self.chosen[seat][0] == "hu"]
        if wins:
            return (wins if self.several else wins[:1]), []
        for names in (("kong_open", "pong"), ("chi",)):
            for seat in order:
                if self.chosen[seat][0] in names:
                    return [], [(seat, self.chosen[seat][0])]
        raise AssertionError("nobody claims")


class Decided:
    """What became of a window: `outcome` is the same however the presses came."""

    def __init__(self, window: Window, table: Served, journal: Path, pressed_at: int) -> None:
        before = sum(1 for _ in read_events(window.kept))
        after = [one for one in read_events(journal) if one.n > before]
        happened = [(one.stamp.mono_ms, e.decode_event({**one.body, "type": one.type})) for one in after]
        play = [(at, event.event) for at, event in happened if isinstance(event, e.Played)]
        heard = [(at, one) for at, one in play if isinstance(one, p.ClaimAnswered)]
        self.answered = [(one.seat, one.name, one.way, one.tiles) for _, one in heard]
        self.same_ms = {at for at, _ in heard} == {pressed_at}
        self.decisions = sum(isinstance(one, p.WindowClosed | p.PlayEnded) for _, one in play)
        self.winners = [one.seat for _, one in play if isinstance(one, p.HandWon)]
        self.melds = [(one.seat, one.kind) for _, one in play if isinstance(one, p.MeldLaid)]
        self.result = [event for _, event in happened if isinstance(event, e.HandEnded)]
        self.answers = answers(table)

    @property
    def outcome(self) -> Any:
        return sorted(self.answered), self.winners, self.melds, self.result


def claim(table: Served, seat: str) -> Mapping[str, Any]:
    """A seat's prompt of the window."""
    (found,) = [want for want in table.view[seat]["me"]["wants"] if want["verb"] == "claim"]
    return dict(found)


def as_press(option: Mapping[str, Any]) -> Press:
    """An option as it is pressed."""
    return str(option["name"]), {name: value for name, value in option.items() if name != "name"}


def by_name(may: Sequence[Press], chance: random.Random) -> Press:
    """One of the claims, each kind as likely."""
    name = chance.choice(sorted({one[0] for one in may}))
    return chance.choice([one for one in may if one[0] == name])


def merged(lists: Mapping[str, Sequence[Said]], chance: random.Random) -> list[tuple[str, Said]]:
    """All presses as they arrive: any order that keeps each seat's."""
    turns = [seat for seat, said in lists.items() for _ in said]
    chance.shuffle(turns)
    left = {seat: iter(said) for seat, said in lists.items()}
    return [(seat, next(left[seat])) for seat in turns]


def answers(table: Served) -> dict[str, set[str]]:
    """What each press was ever answered, in all views of its seat."""
    found: dict[str, set[str]] = {}
    for one in table.heard:
        if one.payload and one.topic in {TOPICS.seat(seat) for seat in SEATS}:
            for answer in json.loads(one.payload)["data"]["me"]["answers"]:
                found.setdefault(answer["id"], set()).add(json.dumps(answer, sort_keys=True))
    return found


async def keep(path: Path, events: Sequence[e.Event]) -> None:
    """A journal in which this has happened."""
    journal, _ = open_journal(path, fold_events)
    journal.begin_epoch(1)
    state, new = new_state(), []
    for event in events:
        body = e.encode_event(event)
        new.append(NewEvent(state.hand, body.pop("type"), body))
        state = apply(state, event)
    await journal.append(new, Stamp(BEGAN_MS, 0, "synced"), 1, ())
    await journal.close()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Table]]:
    """A journal of each case, which ends with its window open."""
    folder = tmp_path_factory.mktemp("kept")
    found = {}
    for number, (name, make) in enumerate(CASES.items()):
        table = make()
        path = folder / str(number) / "table.journal"
        path.parent.mkdir()
        asyncio.run(keep(path, table.events))
        found[name] = (path, table)
    return found


@COUNT
def test_contended_windows_are_decided_once_and_alike_in_any_order(
    tmp_path: Path, kept: Mapping[str, tuple[Path, Table]], count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random("contended windows")
    names = list(CASES)
    contended, pressed, repeated, kinds = 0, 0, 0, Counter[tuple[str, ...]]()
    for number in range(count // 2):
        path, table = kept[names[number % len(names)]]
        laid = Laid(table.rules, table.wall, [DEALER, DEAL, GOLD], table.options)
        window = Window(path, table.game.source, "several_winners" in table.options, laid)
        both = [window.serve(tmp_path / f"{number}-{order}", chance) for order in "ab"]
        for decided in both:
            check(window, decided)
        assert both[0].outcome == both[1].outcome, window
        wanted = sorted(name for name, _ in window.chosen.values() if name != "pass")
        contended += len(both) * (len(wanted) >= 2)
        kinds[tuple(wanted)] += len(both)
        said = [number for numbers in window.lists.values() for number, _ in numbers]
        pressed += len(both) * len(said)
        repeated += len(both) * (len(said) - len(set(said)))
    with capsys.disabled():
        told = ", ".join(f"{'+'.join(wanted)} {times}" for wanted, times in sorted(kinds.items()))
        print(f"\n{contended} windows with two lawful claims or more, {pressed} presses, {repeated} repeated: {told}")
    assert contended == count
    assert repeated >= count and len(kinds) >= 6, kinds


def check(window: Window, decided: Decided) -> None:
    """Decided once, by R13, on what each seat said first that it may; all answered, once, in one millisecond."""
    assert decided.same_ms
    assert decided.decisions == 1, window
    assert (decided.winners, decided.melds) == window.expected(), window
    heard = {seat: (name, way, list(tiles)) for seat, name, way, tiles in decided.answered}
    assert len(heard) == len(decided.answered) == len(window.chosen), window
    for seat, (name, params) in window.chosen.items():
        assert heard[seat] == (name, params.get("way", ""), list(params.get("tiles", ()))), window
    said = {number for numbers in window.lists.values() for number, _ in numbers}
    assert decided.answers.keys() == said, window
    for number, told in decided.answers.items():
        assert len(told) == 1, (number, told)
        (answer,) = map(json.loads, told)
        assert answer["ok"] == number.endswith("-claim") and bool(answer["code"]) != answer["ok"], answer
