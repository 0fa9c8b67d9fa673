"""The demo as a person starts it: whole hands of every game at both sensing levels; records; Ctrl-C; nonsense."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS
from tests.table.harness import alive, children, wait_for

pytestmark = [pytest.mark.table, pytest.mark.timeout(300)]

GAMES = [(name, layout) for name in profiles() for layout in load_ruleset(name).layouts]
HANDS = 2
"""Of each game at each level in every run: enough for a second dealer; the long form plays many."""
MANY = 200


def demo(*arguments: str, seconds: float = 280) -> subprocess.CompletedProcess[str]:
    """The demo run to its end."""
    return command("demo", *arguments, seconds=seconds)


def command(*arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """A command run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(("name", "layout"), GAMES)
def test_hands_settle_alike_in_every_game_at_both_sensing_levels(name: str, layout: str) -> None:
    """A table that reads everything and one that reads nothing: the same tiles, the same play, the same points."""
    told = {}
    for sensing, dice in (("full", "read"), ("none", "unread")):
        told[sensing] = found = summary(
            demo("--headless", "--hands", str(HANDS), "--speed", "max", "--seed", "7", "--json", "--rules", name,
                 "--layout", layout, "--sensing", sensing, "--dice", dice)
        )  # fmt: skip
        assert (found["rules"], found["layout"], found["sensing"], found["dice"]) == (name, layout, sensing, dice)
        counts = found["counts"]
        assert found["hands"] == found["settled"] == counts["hand_ended"] == HANDS
        assert found["replayed"] and sum(found["points"].values()) == sum(found["bonus"].values()) == 0
        assert sum(found["wins"].values()) + found["draws"] + found["fouls"] == HANDS
        assert found["table"]["walls"] >= HANDS
        shown = [gold for gold in found["gold"] if gold is not None]
        assert len(shown) + found["wins"].get("shuanghuagang", 0) >= HANDS
        assert set(found["dealer"]) <= set(SEATS)
    for same in ("gold", "dealer", "wins", "points", "bonus", "matches"):
        assert told["full"][same] == told["none"][same], same


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "layout"), GAMES)
def test_many_hands_settle_alike_at_both_sensing_levels(name: str, layout: str) -> None:
    """Over many hands, and matches that empty chips end: nothing hangs, every hand sums to nothing and replays."""
    told = {
        sensing: summary(
            demo("--headless", "--hands", str(MANY), "--speed", "max", "--seed", "11", "--json", "--rules", name,
                 "--layout", layout, "--sensing", sensing, seconds=1800)
        )
        for sensing in ("none", "full")
    }  # fmt: skip
    for sensing, found in told.items():
        assert (found["rules"], found["layout"], found["sensing"]) == (name, layout, sensing)
        assert found["hands"] == found["settled"] == MANY and found["replayed"]
        assert sum(found["points"].values()) == sum(found["bonus"].values()) == 0
    for same in ("gold", "dealer", "wins", "points", "bonus", "matches", "digest"):
        assert told["full"][same] == told["none"][same], same


def test_the_same_seed_gives_the_same_hands_and_another_seed_others() -> None:
    runs = [
        summary(demo("--headless", "--hands", "2", "--speed", "max", "--seed", seed, "--json", "--sensing", sensing))
        for seed, sensing in (("5", "full"), ("5", "full"), ("5", "none"), ("6", "full"))
    ]
    assert runs[0]["digest"] == runs[1]["digest"] == runs[2]["digest"]
    assert runs[0]["points"] == runs[2]["points"]
    assert runs[0]["digest"] != runs[3]["digest"]


def test_the_records_of_a_demo_are_exported_by_the_command_too(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = summary(demo("--headless", "--hands", "2", "--speed", "max", "--json", "--keep", str(kept)))
    journal = str(kept / "journal" / "table.journal")
    match = command("journal", "export", journal, "--match", "1")
    assert match.returncode == 0, match.stderr
    (tmp_path / "match.txt").write_text(match.stdout, encoding="utf-8")
    played = command("rules", "play", str(tmp_path / "match.txt"), "--json")
    assert played.returncode == 0, played.stdout[-2000:]
    first = [hand["points"] for hand in json.loads(played.stdout)["hands"] if not hand["voided"]][:2]
    assert {seat: sum(points[seat] for points in first) for seat in SEATS} == told["points"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_of_it_within_five_seconds(tmp_path: Path, number: int) -> None:
    out = tmp_path / "out"
    with out.open("wb") as written:
        running = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "demo", "--speed", "10", "--http-port", str(unused_port())],
            stdout=written,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    wait_for(lambda: "throws" in out.read_text("utf-8"), "a throw", 60)
    family = children(running.pid)
    assert len(family) >= 5, "broker, hardware, daemon, pages and people"
    began = time.monotonic()
    running.send_signal(number)
    running.wait(10)
    assert time.monotonic() - began < 5
    assert not [pid for pid in family if alive(pid)]
    assert "Traceback" not in out.read_text("utf-8")


def test_a_killed_demo_leaves_nothing_running(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as written:
        running = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "demo", "--headless", "--hands", "500", "--speed", "10"],
            stdout=written,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    wait_for(lambda: "throws" in out.read_text("utf-8"), "a throw", 60)
    family = children(running.pid)
    running.kill()
    running.wait(10)
    wait_for(lambda: not any(alive(pid) for pid in family), "all its processes ended", 10)


def test_each_seat_gets_an_address_with_its_own_token(tmp_path: Path) -> None:
    port = unused_port()
    done = demo("--hands", "1", "--speed", "max", "--http-port", str(port), "--json", seconds=120)
    assert summary(done)["hands"] == 1
    tokens = [
        word.rpartition("token=")[2]
        for line in done.stdout.splitlines()
        for word in line.split()
        if word.startswith(f"http://127.0.0.1:{port}/") and "token=" in word
    ]
    assert len(tokens) == len(set(tokens)) == 5, "four seats and the wall view"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--rules", "xiamen"), "xiamen"),
        (("--rules", "basic-136", "--layout", "bagua"), "bagua"),
        (("--layout", "straight"), "zhitui"),
        (("--hands", "-1"), "hands"),
        (("--speed", "7"), "speed"),
        (("--seed", "x"), "seed"),
        (("--mistakes", "object"), "object"),
        (("--headless", "--http-port", "8080"), "http-port"),
    ],
)
def test_nonsense_is_refused_in_one_clear_line(arguments: tuple[str, ...], word: str) -> None:
    done = demo(*arguments, seconds=60)
    assert done.returncode != 0
    assert word in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = demo("--http-port", str(port), "--hands", "1", seconds=60)
    assert done.returncode != 0 and str(port) in done.stderr


def unused_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
