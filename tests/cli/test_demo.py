"""The demo: what it tells, what it refuses, and one real run that leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.demo import demo
from cli.demo_lines import _LINES
from cli.demo_parts import DemoOptions, Parts
from cli.demo_story import Felt, Story, sorting_line
from cli.simulate import simulate
from controller.private_broker import PrivateBroker
from controller.settings import load_settings
from simulators.sight import public_sight
from simulators.world import World

KAIJIN = [sys.executable, "-c", "from cli.main import main; main()"]


def test_the_story_counts_tells_and_remembers_each_hand() -> None:
    story = Story()
    lines = [
        story.tell("walls_up", {"set": 1}),
        story.tell("rolled", {"purpose": "deal", "by": "E", "dice": [5, 1], "how": "read"}),
        story.tell("taken", {"seat": "E", "positions": ["S2t", "S2b", "S3t", "S3b"]}),
        story.tell("flowers_replaced", {"round": 1, "seat": "S", "flowers": ["3f"], "positions": ["W1t"]}),
        story.tell("gold_passed", {"position": "W10b", "tile": "2f", "why": "flower", "to": "E"}),
        story.tell("gold", {"position": "W9t", "tile": "7s", "face": "7s", "white": "7s"}),
        story.tell("something_new", {}),
        story.tell("hand_ended", {"hand": 1, "dealer": "E", "winner": "S", "way": "qiangjin"}),
    ]
    assert lines[1] == "东 E throws 5+1 for the deal (read by the table)"
    assert lines[2] == "东 E takes S2t S2b S3t S3b"
    assert lines[5] == "开金 at W9t: 7s is flipped, the gold is 7s, 白 stands for 7s"
    assert lines[6] is None
    assert lines[7] == "hand 1 is over, dealer 东 E: 南 S wins with 抢金"
    assert story.counts["events"] == 8 and story.ways == {"qiangjin": 1}
    (hand,) = story.hands
    assert hand["gold"] == "7s" and hand["flowers"] == {"S": ["3f"]} and hand["passed"] == [["W10b", "2f"]]


def test_play_is_told_with_the_discards_of_a_round_in_one_line() -> None:
    story = Story()
    seats = ("E", "S", "W", "N")
    lines = [story.tell("discarded", {"seat": seat, "tile": "3m"}) for seat in seats]
    assert lines == [None, None, None, "discards: 东 E 3m  南 S 3m  西 W 3m  北 N 3m"]
    assert story.tell("discarded", {"seat": "E", "tile": "", "down": True}) is None
    assert story.tell("drawn", {"seat": "S", "end": "head"}) is None
    claim = story.tell("melded", {"seat": "S", "kind": "chi", "tiles": "345m", "source": "E"})
    assert claim == "discards: 东 E 暗\n南 S 吃 345m of 东 E"
    assert story.tell("kong", {"seat": "S", "kind": "kong_open"}) == "南 S 明杠"
    assert story.tell("tour", {"seat": "S", "level": 2}) == "南 S is on tour: 双游"
    assert story.tell("won", {"seat": "S", "way": "zimo", "tile": "4m"}) == "南 S 胡: 自摸 with 4m"
    net = {"E": -5, "S": 15, "W": -5, "N": -5}
    booked = {"match": 1, "number": 1, "kind": "win", "net": net, "bonus": dict.fromkeys(seats, 0)}
    booked |= {"wins": [{"seat": "S", "way": "zimo"}], "next_dealer": "S"}
    assert story.tell("booked", booked) == "settled: 东 E -5  南 S +15  西 W -5  北 N -5; next dealer 南 S"
    ended = story.tell("hand_ended", {"hand": 1, "dealer": "E", "winner": "S", "way": "zimo"})
    assert ended == "hand 1 is over, dealer 东 E: 南 S wins with 自摸"
    assert story.hands[0]["net"] == net and story.points == net


def test_a_hand_taken_back_has_no_points() -> None:
    story = Story()
    for number, amount in ((1, 3), (2, 4), (2, 5)):
        net = {"E": 3 * amount, "S": -amount, "W": -amount, "N": -amount}
        bonus = {"E": -50, "S": 50, "W": 0, "N": 0}
        line = story.tell("booked", {"match": 1, "number": number, "kind": "foul", "foul": "E", "net": net,
                                     "bonus": bonus, "next_dealer": "E"})  # fmt: skip
        assert line is not None and "(诈胡 of 东 E)" in line and "课外 E -50  S +50" in line
        if amount == 4:
            assert story.tell("booking_voided", {"match": 1, "number": 2}) == "the booking of hand 2 is taken back"
    told = story.settled()
    assert told == {
        "settled": 2, "draws": 0, "fouls": 2, "voided": 1, "matches": 1,
        "points": {"E": 24, "S": -8, "W": -8, "N": -8}, "bonus": {"E": -100, "S": 100, "W": 0, "N": 0},
    }  # fmt: skip


def test_every_line_can_be_told_of_an_event_with_nothing_in_it() -> None:
    """A daemon of another version may say less: no event breaks the demo."""
    story = Story()
    for name in _LINES:
        story.tell(name, {})


def test_the_digest_is_that_of_the_hands() -> None:
    stories = [Story(), Story(), Story()]
    for story, face in zip(stories, ("7s", "7s", "8s"), strict=True):
        story.tell("gold", {"position": "W9t", "face": face})
        story.tell("hand_ended", {"dealer": "E"})
    assert stories[0].digest == stories[1].digest != stories[2].digest


def test_sorting_shows_tiles_per_side_and_seconds() -> None:
    assert sorting_line({"sorting": None}) is None
    shown = sorting_line({"sorting": {"set": 2, "tiles": {"E": 12, "S": 3}, "seconds": 9}})
    assert shown == "sorting set 2: E 12  S  3  (9 s)"


def test_what_lies_on_the_felt_is_told_once() -> None:
    world = World(faces={"1m": 60, "1f": 60}, seed=1)
    felt = Felt(dice=True, tiles=True)
    assert felt.news(public_sight(world)) == ""
    throw = world.settle()
    assert f"throw 1 shows {throw.dice[0]}+{throw.dice[1]}" in felt.news(public_sight(world))
    assert felt.news(public_sight(world)) == ""
    assert Felt(dice=False, tiles=True).news(public_sight(world)) == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rules", "no-such"], "no-such"),
        (["--rules", "basic-136", "--layout", "bagua"], "basic-136 has no layout bagua: expected zhitui"),
        (["--headless", "--http-port", "8000"], "--headless has no pages"),
        (["--speed", "7"], "'7' is not one of"),
        (["--seed", "-1"], "-1 is not in the range"),
        (["--mistakes", "luck=1"], "mistake 'luck': expected one of all"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(demo, arguments)
    assert result.exit_code != 0 and words in result.output and "Traceback" not in result.output


def test_a_folder_that_is_kept_must_be_empty(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("")
    result = CliRunner().invoke(demo, ["--headless", "--keep", str(tmp_path)])
    assert result.exit_code != 0 and "expected an empty folder" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table", "--world", "/w"], "one of --link PATH and --tcp HOST:PORT is needed"),
        (["table", "--world", "/w", "--tcp", "x:1", "--link", "y"], "one of --link PATH and --tcp HOST:PORT is needed"),
        (["table", "--world", "w", "--tcp", "127.0.0.1:0"], "expected HOST:PORT or the path of a socket"),
        (["table", "--world", "/w", "--tcp", "127.0.0.1:0", "--fail", "dance:1"], "expected OP:K"),
        (["table", "--world", "/w", "--tcp", "127.0.0.1:0", "--script", "/nowhere"], "script /nowhere"),
        (["players", "--world", "/w", "--credentials", "/nowhere"], "credentials /nowhere: No such file"),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(simulate, arguments)
    assert result.exit_code != 0 and words in result.output and "Traceback" not in result.output


def test_a_headless_demo_plays_its_hands_the_same_each_time(tmp_path: Path) -> None:
    digests = []
    for run in ("one", "two"):
        done = subprocess.run(
            [*KAIJIN, "demo", "--headless", "--hands", "2", "--speed", "max", "--seed", "7", "--json",
             "--sensing", "full" if run == "one" else "none", "--keep", str(tmp_path / run)],
            capture_output=True, text=True, timeout=90, check=True,
        )  # fmt: skip
        summary = json.loads(done.stdout.splitlines()[-1])
        assert summary["hands"] == 2 and len(summary["gold"]) == 2 and summary["counts"]["hand_ended"] == 2
        assert summary["table"]["refused"] == 0 and summary["players"].get("refused", 0) == 0
        assert summary["settled"] == 2 and summary["replayed"] and sum(summary["points"].values()) == 0
        digests.append((summary["digest"], summary["points"]))
    assert digests[0] == digests[1]


def test_an_interrupted_demo_ends_within_5_seconds_and_leaves_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    running = subprocess.Popen(
        [*KAIJIN, "demo", "--speed", "max", "--hands", "0", "--keep", str(kept)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        assert any(line.startswith("hand 1 is over") for line in running.stdout)
        assert len(_running(kept)) >= 4
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=10)
        assert running.returncode == 0 and time.monotonic() - began < 5
        assert not _running(kept)
    finally:
        running.kill()
        running.communicate()


def _running(folder: Path) -> list[str]:
    """Command lines of processes that were started with a path in this folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in words and " demo " not in words:
                found.append(words)
    return found


@pytest.mark.parametrize(("speed", "timers"), [("1", 1.0), ("10", 10.0), ("max", 20.0)])
@pytest.mark.parametrize("port", [8480, None])
def test_whoever_sits_at_a_page_has_the_time_of_a_real_table(
    tmp_path: Path, speed: str, timers: float, port: int | None
) -> None:
    """`--speed` hurries the machine and simulated people, and windows and objections only where there are no pages."""
    broker = PrivateBroker(tmp_path / "broker", "demo", unix=True)
    options = DemoOptions("new-xiamen-120", "zhitui", "full", "read", 1, speed, 1, port)
    parts = Parts(tmp_path, options, broker)
    parts.config.write_text(parts._settings(), encoding="utf-8")
    timing = load_settings(parts.config, {}).timing
    assert timing.speed == timers
    people, object_s = timing.people_speed, timing.object_ms / timing.speed / 1000
    if port is not None:
        assert people == 1.0 and 3.0 <= object_s <= 4.0
    else:
        assert people == (1.0 if speed == "max" else timers) and object_s == 4.0 / timers
