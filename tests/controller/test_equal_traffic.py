"""What everybody but S receives does not depend on S's hidden tiles until S acts: payloads byte for byte, order, times.

A whole daemon works on a clock of its own (`clocked.py`). What its four people and its readers do is recorded once and
done again at the same moments at a table whose wall differs in some tiles that S holds, or draws, and in tiles deep in
the wall. Everything that comes out but S's own view must be the same: views, snapshots, events, availability,
heartbeats, lamps and operations. Each case is one in which S may do something else than before, as S's view must show.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from controller import views
from controller.publisher import EncodedViews, Publisher
from engine import play_wants
from engine.play import options
from engine.ruleset import load_ruleset
from engine.state import State
from engine.tiles import is_flower
from tests.controller.clocked import TOPICS, Act, Heard, Laid, Script, Table, run
from tests.controller.clocked_people import Idle, People, Plan, Press
from tests.engine.tables import DEAL, DEALER, GOLD, HANDS, laid_wall

SECRET = "S"
XIAMEN, CLASSIC, OFFLINE = "new-xiamen-120", "classic-xiamen-144", "xiamen-offline"


def discards(number: int) -> Callable[[Table], bool]:
    """Until so many tiles were discarded and the window after the last is over."""

    def reached(table: Table) -> bool:
        play = table.view.get("view", {}).get("play")
        return play is not None and play["number"] >= number and play["stage"] != "window"

    return reached


def waits(verb: str, number: int = -1) -> Callable[[Table], bool]:
    """Until S is asked this after so many discards."""

    def reached(table: Table) -> bool:
        view = table.view.get(SECRET)
        if view is None or (number >= 0 and (view["play"] is None or view["play"]["number"] < number)):
            return False
        return any(want["verb"] == verb for want in view["me"]["wants"])

    return reached


@dataclass(frozen=True)
class Case:
    """A table, what people do, the tiles that S has instead (`other`: face for face; `drawn`: instead of
    the first that it draws), and what S may then do in one of the two alone: verb, and action or way.
    """

    plan: Plan
    may: tuple[str, str]
    other: tuple[tuple[str, str], ...] = ()
    drawn: str = ""
    hands: Mapping[str, str] = field(default_factory=lambda: HANDS)
    gold: str = "9s"
    draws: str = "5s6s7s7s5s6s"
    tail: str = "4s4s"
    rules: str = XIAMEN
    options: Mapping[str, Any] = field(default_factory=dict)
    doubted: bool = False
    """S is asked about its readers in one of the two, which is a commit of the journal more."""

    def laid(self) -> Laid:
        book = load_ruleset(self.rules, dict(self.options))
        wall = laid_wall(book, self.hands, self.gold, self.draws, self.tail)
        return Laid(self.rules, wall, [DEALER, DEAL, GOLD], self.options)


def held(script: Script, seat: str) -> tuple[str, ...]:
    """The places whose tiles a seat was dealt."""
    return next(act.places for act in reversed(script) if (act.seat, act.zone, len(act.places)) == (seat, "hand", 16))


def lain_open(script: Script) -> set[str]:
    """Places whose tiles were discarded, laid out or turned."""
    return {place for act in script if act.zone != "hand" for place in act.places}


def touched(script: Script) -> set[str]:
    """Places whose tiles anybody ever held or laid."""
    return {place for act in script for place in act.places}


def changed(case: Case, laid: Laid, script: Script) -> Laid:
    """The other wall: S's tiles exchanged with tiles that nobody touches."""
    faces, moved = laid.faces, touched(script)
    dealt = [place for place in held(script, SECRET) if place not in lain_open(script)]
    aside = [place for place in faces if place not in moved]
    pairs: list[tuple[str, str]] = []
    for face, to in case.other:
        mine = next(place for place in dealt if faces[place] == face)
        pairs.append((mine, next(place for place in aside if faces[place] == to)))
        dealt.remove(mine)
        aside.remove(pairs[-1][1])
    if case.drawn:
        draw = next(act.places[-1] for act in script if (act.seat, act.zone, len(act.places)) == (SECRET, "hand", 17))
        pairs.append((draw, next(place for place in aside if faces[place] == case.drawn)))
    return laid.exchanged(*pairs)


# --- comparing --------------------------------------------------------------------------------------------------------


def to_others(table: Table, until_ms: int | None = None) -> list[Heard]:
    """Everything that comes out but to S, in its order."""
    return [
        one
        for one in table.heard
        if one.topic != TOPICS.seat(SECRET) and (until_ms is None or one.at_ms < until_ms)
    ]


def difference(one: list[Heard], other: list[Heard]) -> str:
    """The first thing in which they differ, in words; empty when they are the same byte for byte."""
    for first, second in zip(one, other, strict=False):
        if first != second:
            return f"{said(first)}\n--- but ---\n{said(second)}\n{where(first.payload, second.payload)}"
    if len(one) == len(other):
        return ""
    return f"more is said: {said(max(one, other, key=len)[min(len(one), len(other))])}"


def opened(table: Table, act: Act, number: int) -> bool:
    """Whether the window after so many discards was open when something was done."""
    before = [one for one in table.heard if one.topic == TOPICS.state and one.at_ms <= act.at * 1000]
    play = json.loads(before[-1].payload)["data"]["play"]
    return play is not None and (play["number"], play["stage"]) == (number, "window")


def said(one: Heard) -> str:
    return f"{one.at_ms} ms, {one.topic}, {one.how}, {len(one.payload)} bytes"


def where(one: bytes, other: bytes, path: str = "") -> str:
    """Where two payloads differ."""
    try:
        return "; ".join(_where(json.loads(one), json.loads(other), path)) or "in the order of fields"
    except ValueError:
        return f"{one[:80]!r} {other[:80]!r}"


def _where(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one | other:
            yield from _where(one.get(key), other.get(key), f"{path}.{key}")
    elif one != other:
        yield f"{path}: {one} / {other}"


def may(table: Table) -> set[tuple[str, str]]:
    """What S was ever offered: its prompts, their actions and ways."""
    found: set[tuple[str, str]] = set()
    for one in table.heard:
        if one.topic == TOPICS.seat(SECRET) and one.payload:
            for want in json.loads(one.payload)["data"]["me"]["wants"]:
                params = want["params"]
                found.add((want["verb"], ""))
                found |= {(want["verb"], option["name"]) for option in params.get("options", ())}
                found |= {(want["verb"], option["way"]) for option in params.get("options", ()) if "way" in option}
                found |= {(want["verb"], "follow") for _ in params.get("follow", ())}
                found |= {(want["verb"], f"{len(params['tiles'])}") for _ in [0] if want["verb"] == "flowers"}
    return found


def counted(table: Table) -> list[str]:
    """What `/metrics` says, but for how long commits take and when counters were made, which is real time."""
    lines = [line for line in table.figures.splitlines() if not line.startswith("#")]
    return [line for line in lines if not any(name in line for name in ("_seconds_bucket", "_seconds_sum", "_created"))]


def recorded(folder: Path, laid: Laid, plan: Plan) -> tuple[Script, float, Table]:
    """What people do at a table, how long it took, and the table."""
    table = run(folder, laid, lambda table: People(table, plan).play())
    return tuple(table.acts), table.heard[-1].at_ms / 1000, table


def done_again(folder: Path, laid: Laid, script: Script, seconds: float) -> Table:
    """The same at a table with another wall."""

    async def play(table: Table) -> None:
        await table.follow((*script, Act(seconds, "", zone="end")))

    return run(folder, laid, play)


# --- cases ------------------------------------------------------------------------------------------------------------


def silent(seat: str, number: int) -> Press | None:
    """S answers in no window, everybody else passes."""
    return None if seat == SECRET else ("pass", {})


def answering(seat: str, number: int) -> Press | None:
    """Everybody passes in every window."""
    return "pass", {}


def idle(seat: str, *verbs: str) -> Idle:
    """A seat does not do what these prompts ask, nor draws at the tail."""
    return lambda who, want, number: who == seat and (want["verb"] in verbs or want["params"].get("end") == "tail")


def flower_laid(table: Table) -> bool:
    """Until a flower lies before S."""
    return bool(table.view.get("view", {}).get("flowers", {}).get(SECRET))


def asked(seat: str, verb: str) -> Callable[[Table], bool]:
    """Until a seat is asked this."""
    return lambda table: any(want["verb"] == verb for want in table.view.get(seat, {}).get("me", {}).get("wants", ()))


def put_away(table: Table) -> bool:
    """Until S has put a tile away."""
    play = table.view.get("view", {}).get("play")
    return play is not None and bool(play["aside"].get(SECRET))


GOLDS = {**HANDS, "E": "159m159p157s2468m2468p", "S": "234m234p234s678m67p99s"}
GRABS = {**HANDS, "S": "234m234p234s678m78p55s"}
PONGS = {**HANDS, "W": "111m333m555m777m88s22s"}
KONGS = {**HANDS, "E": "259m159p159s2468m2468p"}
ROBBED = {**HANDS, "E": "159m159p2468m2468p88s2s", "S": "234m234p234s678m79s66p"}
TOURING = {**HANDS, "E": "159m159p158s2468m2468p", "W": "111m333m555m777m222s9s", "N": "111p333p555p777p99p13s"}
FOLLOWS = {**HANDS, "E": "1z59m159p159s2468m2468p"}
FLOWERS = {**HANDS, "E": "1f59m159p159s2468m2468p", "S": "234m234p234s678m678p2f"}
READY = {**HANDS, "S": "234m234p234s678m678p9s"}

CASES: dict[str, Case] = {
    "may pong": Case(Plan(discards(6), {"E": ("2p",)}), ("claim", "pong"), (("8s", "2p"),)),
    "may kong": Case(Plan(discards(6), {"E": ("2p",)}), ("claim", "kong_open"), (("8s", "2p"), ("8p", "2p"))),
    "may chi": Case(Plan(discards(3), {"E": ("9m",)}), ("claim", "chi"), (("7m", "1s"),)),
    "may win a discard": Case(Plan(discards(6)), ("claim", "pinghu"), (("8s", "6s"),), draws="5s8s7s7s5s6s"),
    "may win what another takes": Case(
        Plan(discards(6), claims={("W", 4): ("pong", {})}, passes=silent), ("claim", "pinghu"), (("8s", "1s"),),
        hands=PONGS, draws="5s6s8s7s5s6s",
    ),
    "may rob a kong": Case(
        Plan(
            discards(9), {"E": ("1m", "9m")}, {("E", 7): ("kong_added", {"tile": "8s"})},
            {("E", 3): ("pong", {})}, passes=answering,
        ),
        ("claim", "qianggang"), (("7s", "6s"),), hands=ROBBED, gold="1s", draws="5s8s6s9m4s8s6s", tail="4s4s",
    ),
    "may win what it draws": Case(Plan(discards(6)), ("turn", "zimo"), (("8s", "6s"),), draws="8s5s7s7s5s6s"),
    "youjin-ready": Case(Plan(discards(9)), ("turn", "youjin"), (("8s", "9s"),)),
    "youjin-ready while others have flowers and kongs": Case(
        Plan(discards(9), presses={("W", 2): ("kong_concealed", {"tile": "1m"})}), ("turn", "youjin"), (("8s", "9s"),),
        hands=KONGS, draws="5s1m6s1f7s6s5s7s",
    ),
    "may win in the lap of another's tour": Case(
        Plan(put_away, {"W": ("", "9s")}), ("lap", "hu"), (("8s", "5s"),), hands=TOURING,
        draws="5s6s7s7s6s9s1s1s8s6s",
    ),
    "four of a kind": Case(
        Plan(discards(6)), ("turn", "kong_concealed"), (("8s", "4s"), ("8p", "4s"), ("7p", "4s")), tail="8s8s"
    ),
    "must follow": Case(
        Plan(waits("turn", 1), {"E": ("1z",)}, idle=idle(SECRET, "turn", "replace")), ("turn", "follow"),
        (("8s", "1z"),), hands=FOLLOWS, rules=CLASSIC,
    ),
    "a flower that may win": Case(
        Plan(flower_laid, idle=idle(SECRET, "flower")), ("flower", "youjin"), (("9s", "6m"),),
        hands=READY, draws="5s6s7s7s1f6s", rules=OFFLINE,
    ),
    "draws on after a flower that may win": Case(
        Plan(waits("turn", 5), idle=lambda seat, want, number: number == 5 and want["verb"] == "turn"),
        ("flower", "youjin"), (("8s", "9s"),), draws="5s6s7s7s1f6s", rules=OFFLINE, doubted=True,
    ),
    "draws a flower": Case(Plan(waits("turn", 1), idle=idle(SECRET, "turn", "replace")), ("replace", ""), drawn="1f"),
    "three golds": Case(Plan(discards(3), passes=silent), ("opening", "sanjindao"), (("7p", "9s"),), hands=GOLDS),
    "takes the gold": Case(
        Plan(discards(3)), ("opening", "qiangjin"), (("7p", "6s"),), hands=GRABS, gold="6p", draws="7s6s7s7s3s6s"
    ),
    "one flower more": Case(
        Plan(waits("flowers"), idle=idle(SECRET, "flowers")), ("flowers", "2"), (("8p", "3f"),), hands=FLOWERS
    ),
    "its flowers before its turn": Case(
        Plan(asked("E", "flowers"), idle=idle("E", "flowers")), ("", ""), (("8p", "3f"),), hands=FLOWERS
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_that_others_receive_depends_on_hidden_tiles(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    laid = case.laid()
    script, seconds, first = recorded(tmp_path / "recorded", laid, case.plan)
    again = done_again(tmp_path / "again", laid, script, seconds)
    assert may(first) == may(again) and len(again.acts) == len(script) + 1
    other = done_again(tmp_path / "other", changed(case, laid, script), script, seconds)
    if case.may != ("", ""):
        assert case.may in may(again) ^ may(other), (may(again), may(other))
    assert again.view[SECRET]["me"]["tiles"] != other.view[SECRET]["me"]["tiles"]
    assert difference(to_others(again), to_others(other)) == ""
    assert counted(again) == counted(other) or case.doubted


Done = tuple[Laid, Script, float, Table]
"""A wall, what was done there, how long it took, and what came out when it was done again."""


def _done(folder: Path, case: Case) -> Done:
    laid = case.laid()
    script, seconds, _ = recorded(folder / "recorded", laid, case.plan)
    return laid, script, seconds, done_again(folder / "again", laid, script, seconds)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All four play, and draw flowers and kongs."""
    plan = Plan(discards(12), {"E": ("2p", "9m")}, {("W", 2): ("kong_concealed", {"tile": "1m"})})
    case = Case(plan, ("", ""), hands=KONGS, draws="5s1m6s1f7s6s5s7s4s6s7s")
    return _done(tmp_path_factory.mktemp("busy"), case)


SEEDS = (*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 100)))


@pytest.mark.parametrize("seed", SEEDS)
def test_nor_on_any_others_that_it_holds(tmp_path: Path, busy: Done, seed: int) -> None:
    """Any of S's tiles exchanged with any that nobody touches."""
    laid, script, seconds, again = busy
    chance = random.Random(seed)
    faces, kept = laid.faces, set(held(script, SECRET)) - lain_open(script)
    aside = [place for place in faces if place not in touched(script) and not is_flower(faces[place])]
    count = chance.randint(1, 8)
    pairs = zip(chance.sample(sorted(kept), count), chance.sample(aside, count), strict=True)
    other = done_again(tmp_path / "other", laid.exchanged(*pairs), script, seconds)
    assert difference(to_others(again), to_others(other)) == ""


# --- what S presses in secret -----------------------------------------------------------------------------------------


def press(act: Act, action: str, id: str = "", later: float = 0.0, **params: Any) -> Act:
    """The same press with another action, at another time."""
    body = json.loads(act.payload)
    body |= {"id": id or body["id"], "action": action, "params": params}
    return replace(act, at=act.at + later, payload=json.dumps(body).encode())


ANSWERS: dict[str, Callable[[Act], list[Act]]] = {
    "a win": lambda act: [press(act, "hu", way="pinghu")],
    "a win, later": lambda act: [press(act, "hu", later=0.3, way="pinghu")],
    "a pass, later": lambda act: [replace(act, at=act.at + 0.3)],
    "nothing": lambda act: [],
    "three times the same": lambda act: [act, act, replace(act, at=act.at + 0.1)],
    "what is refused, then a pass": lambda act: [press(act, "kong_open", "other"), replace(act, at=act.at + 0.1)],
    "nonsense, then a pass": lambda act: [replace(act, payload=b"{"), press(act, "dance", "other"), act],
    "a flood": lambda act: [press(act, "pong", f"other-{number}") for number in range(60)],
}


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The third discard could be won by S, who passes; the last of the others answers after S."""
    case = Case(Plan(discards(4), passes=answering), ("", ""), draws="5s8s7s7s5s6s")
    return _done(tmp_path_factory.mktemp("window"), case)


@pytest.mark.parametrize("name", ANSWERS)
def test_until_a_window_closes_nobody_knows_what_another_has_answered_or_when(
    tmp_path: Path, window: Done, name: str
) -> None:
    """R13."""
    laid, script, seconds, again = window
    at = next(at for at, act in enumerate(script) if act.seat == SECRET and act.payload and opened(again, act, 3))
    pressed_ms = script[at].at * 1000
    said_so = (*script[:at], *ANSWERS[name](script[at]), *script[at + 1 :])
    other = done_again(tmp_path / "other", laid, tuple(sorted(said_so, key=lambda act: act.at)), seconds)
    closed = (one.at_ms for one in again.heard if one.at_ms > pressed_ms and b'"window_closed"' in one.payload)
    closes = next(closed)
    assert closes >= pressed_ms + 400
    assert difference(to_others(again, closes), to_others(other, closes)) == ""
    if name not in ("a win", "a win, later", "nothing", "a flood"):
        assert difference(to_others(again), to_others(other)) == ""
    else:
        assert difference(to_others(again), to_others(other)) != ""


# --- the comparison ---------------------------------------------------------------------------------------------------


def _in_the_view(patched: pytest.MonkeyPatch) -> None:
    """A field of the public view."""
    honest = views.public_view
    patched.setattr(views, "public_view", lambda state, live: {**honest(state, live), "x": _may_pong(state)})


def _in_time(patched: pytest.MonkeyPatch) -> None:
    """The window is open a millisecond longer."""
    honest = play_wants._window
    patched.setitem(
        play_wants._ASKS,
        "window",
        lambda state, game: (replace(want, after_ms=want.after_ms + _may_pong(state)) for want in honest(state, game)),
    )


def _in_count(patched: pytest.MonkeyPatch) -> None:
    """West is told the same once more."""
    honest = Publisher.say_seats

    def say(self: Publisher, encoded: EncodedViews, *given: Any, **more: Any) -> None:
        honest(self, encoded, *given, **more)
        if b'"name":"pong"' in encoded.mine[SECRET]:
            honest(self, replace(encoded, mine={**encoded.mine}), only_changed=False, first="W")

    patched.setattr(Publisher, "say_seats", say)


def _may_pong(state: State) -> bool:
    game = state.play.game
    return game is not None and SECRET in game.asked and any(one.name == "pong" for one in options(game, SECRET))


@pytest.mark.parametrize("plant", [_in_the_view, _in_time, _in_count])
def test_what_is_planted_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Any) -> None:
    case = replace(CASES["may pong"], plan=Plan(discards(2), {"E": ("2p",)}, passes=silent))
    laid = case.laid()
    script, seconds, _ = recorded(tmp_path / "recorded", laid, case.plan)
    plant(monkeypatch)
    again = done_again(tmp_path / "again", laid, script, seconds)
    other = done_again(tmp_path / "other", changed(case, laid, script), script, seconds)
    assert difference(to_others(again), to_others(other)) != ""
