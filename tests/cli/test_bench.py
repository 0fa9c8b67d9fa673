"""`kaijin bench`: what it prints, what it does without a broker, and that what it measures really happens."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import cli.bench
from cli.bench import BENCHMARKS
from cli.benchmarks import hands
from cli.benchmarks.memory import ENDLESS, flatness
from cli.benchmarks.mqtt import connect_packet, whole_packet
from cli.benchmarks.people import People, Player, by_brain, by_chance
from cli.benchmarks.rows import Goal, Row, in_turn, percentile, written
from cli.main import kaijin
from engine.tiles import SEATS


def run(*arguments: str) -> Result:
    return CliRunner().invoke(kaijin, ["bench", *arguments])


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], list[Row]]], None]:
    """Put something else in place of every benchmark."""

    def put(program: Callable[[], list[Row]]) -> None:
        monkeypatch.setattr(cli.bench, "_program", lambda name, samples, folder, events: program)

    return put


def test_a_goal_is_reached_from_its_own_side() -> None:
    assert Goal("at most", 3.5).met(3.5)
    assert not Goal("at most", 3.5).met(3.51)
    assert Goal("at least", 10).met(10)
    assert not Goal("at least", 10).met(9.9)
    assert str(Goal("at most", 60, "MB")) == "≤ 60 MB"
    assert str(Goal("at least", 25)) == "≥ 25×"


@pytest.mark.parametrize(
    ("number", "text"), [(0.3712, "0.371"), (12.44, "12.4"), (118.2, "118"), (61_234.0, "61,000"), (3.5, "3.5")]
)
def test_numbers_are_written_with_three_figures(number: float, text: str) -> None:
    assert written(number) == text


def test_two_things_are_done_in_turn() -> None:
    done: list[str] = []
    times = in_turn(lambda: done.append("ours"), lambda: done.append("theirs"), 3)
    assert done == ["ours", "theirs"] * 4
    assert times.ratio == times.ours / times.theirs


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(10, 0, -1)]
    assert percentile(values, 0.9) == 10
    assert percentile(values, 0.5) == 6
    assert percentile([4.0], 0.9) == 4


def test_a_missed_goal_is_marked_and_no_error(instead: Callable[[Callable[[], list[Row]]], None]) -> None:
    rows = [
        Row("link", "too slow", "something", 4.0, Goal("at most", 3.5), detail="7 ms against 2 ms"),
        Row("link", "quick enough", "something", 3.0, Goal("at most", 3.5)),
    ]
    instead(lambda: rows)
    result = run("--only", "link")
    assert result.exit_code == 0
    slow, under, quick = [
        line for line in result.stdout.splitlines() if "slow" in line or "quick" in line or "ms" in line
    ]
    assert slow.split()[-4:] == ["4×", "≤", "3.5×", "MISSED"]
    assert under.strip() == "against something; 7 ms against 2 ms"
    assert quick.split()[-3:] == ["3×", "≤", "3.5×"]
    assert "reached: 1, missed: 1; not measured: 0" in result.stdout


def test_a_benchmark_that_breaks_hides_no_other_and_is_no_error(
    instead: Callable[[Callable[[], list[Row]]], None],
) -> None:
    def broken() -> list[Row]:
        raise ValueError("a hand of 18 tiles")

    instead(broken)
    result = run("--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)["rows"]
    assert [row["name"] for row in rows] == list(BENCHMARKS)
    assert {row["detail"] for row in rows} == {"broke: ValueError: a hand of 18 tiles"}
    assert {row["value"] for row in rows} == {None}


def test_without_mosquitto_the_chain_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from controller import private_broker

    def nowhere() -> str:
        raise private_broker.BrokerError("mosquitto is not installed: `apt-get install mosquitto`")

    monkeypatch.setattr(private_broker, "find_mosquitto", nowhere)
    result = run("--only", "chain", "--folder", str(tmp_path))
    assert result.exit_code == 0
    assert "apt-get install mosquitto" in result.stdout
    assert "not measured: 1" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_benchmark_is_refused_with_the_known_ones() -> None:
    result = run("--only", "chains")
    assert result.exit_code == 2
    assert "chain" in result.output and "opening" in result.output


def test_frames_are_measured_as_json() -> None:
    result = run("--only", "frames", "--json")
    assert result.exit_code == 0
    encoded, decoded = json.loads(result.stdout)["rows"]
    assert encoded["unit"] == decoded["unit"] == "/s"
    assert encoded["value"] > 0 and decoded["value"] > 0
    assert encoded["goal"] is None and encoded["met"] is None


def test_mixed_hands_are_hands() -> None:
    dealt = hands.mixed_hands(random.Random(1), 30)
    assert len(dealt) == 90
    for tiles in dealt:
        assert len(tiles) == 17
        assert max(Counter(tiles).values()) <= 4


@pytest.mark.parametrize("rules", ["new-xiamen-120", "classic-xiamen-144", "bijin-xiamen-144", "basic-136"])
@pytest.mark.parametrize("player", [by_chance, by_brain])
def test_people_play_whole_hands(rules: str, player: Player) -> None:
    people = People(rules, hands=2, seed=3, player=player)
    people.play(lambda state: state.play.game is not None)
    play, dealer = people.state.play, people.state.dealer
    hand = people.state.match.rules.hand
    held = {seat: len(play.seen[seat, "hand"]) for seat in SEATS}
    assert held == {seat: hand + (seat == dealer) for seat in SEATS}
    people.play(lambda state: state.phase == "ended")
    book = people.state.session.book
    assert [booking.hand for booking in book] == [1, 2]
    assert all(sum(booking.points.values()) == 0 for booking in book)
    assert people.inputs > people.chosen > 50


def test_the_same_seed_plays_the_same_hands() -> None:
    one, other = (People("new-xiamen-120", hands=1, seed=5, player=by_brain) for _ in range(2))
    for people in (one, other):
        people.play(lambda state: state.phase == "ended")
    assert one.state == other.state and one.inputs == other.inputs


@pytest.mark.parametrize("name", ["opening", "table"])
def test_the_hands_of_the_engine_are_measured(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.benchmarks.opening.HANDS", 2)
    monkeypatch.setattr("cli.benchmarks.table.HANDS", 1)
    rows = json.loads(run("--only", name, "--json").stdout)["rows"]
    assert rows and all(row["value"] is not None and row["value"] > 0 for row in rows), rows


def test_packets_are_cut_out_of_whatever_has_arrived() -> None:
    packet = connect_packet("table-E", "p" * 200)
    assert whole_packet(bytearray(packet)) == (3, len(packet))
    for length in range(len(packet)):
        assert whole_packet(bytearray(packet[:length])) is None
    assert whole_packet(bytearray(packet + packet)) == (3, len(packet))


@pytest.mark.table
def test_the_chain_runs_through_a_real_daemon_and_leaves_nothing(tmp_path: Path) -> None:
    result = run("--only", "chain", "--samples", "20", "--json", "--folder", str(tmp_path))
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout)["rows"]
    assert row["value"] is not None, row["detail"]
    assert row["value"] > 0
    assert "20 throws" in row["detail"]
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in _command_lines()


@pytest.mark.table
def test_memory_and_start_are_those_of_real_processes(tmp_path: Path) -> None:
    result = run("--only", "start", "--only", "web", "--json", "--folder", str(tmp_path))
    rows = {row["what"]: row for row in json.loads(result.stdout)["rows"]}
    assert set(rows) == {"daemon started → ready", "memory of the daemon", "memory of the page server"}
    for row in rows.values():
        assert row["value"] is not None, row["detail"]
    assert rows["memory of the daemon"]["value"] > 10
    assert rows["memory of the page server"]["value"] > 10
    assert str(tmp_path) not in _command_lines()


LEAK = """
from controller.core import Core
kept, plain = [], Core._settle
def settle(self):
    kept.append(bytearray(60_000))
    plain(self)
Core._settle = settle
"""


@pytest.mark.table
@pytest.mark.long
def test_the_memory_of_one_daemon_is_watched_over_as_many_events_as_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--only", "memory", "--events", "1200", "--strict", "--json", "--folder", str(tmp_path))
    flat = run(*words)
    (row,) = json.loads(flat.stdout)["rows"]
    assert flat.exit_code == 0 and row["met"], row
    assert "for each 100,000 events of the second half" in row["detail"] and " hands" in row["detail"]
    monkeypatch.setattr("cli.benchmarks.memory.ENDLESS", LEAK + ENDLESS)
    leaking = run(*words)
    (row,) = json.loads(leaking.stdout)["rows"]
    assert leaking.exit_code == 1 and row["met"] is False and row["value"] > 1.1, row
    monkeypatch.setattr("cli.benchmarks.memory.ENDLESS", "import sys; sys.exit('out of order')")
    broken = run(*words)
    (row,) = json.loads(broken.stdout)["rows"]
    assert broken.exit_code == 1 and row["value"] is None and "out of order" in row["detail"], row
    assert list(tmp_path.iterdir()) == []


def test_memory_that_climbs_is_not_flat() -> None:
    flat = flatness("memory", [(n, 60.0) for n in range(0, 400_000, 1000)], "nothing")
    assert flat.met and flat.value == 1.0 and "+0.00 MB for each 100,000 events" in flat.detail
    climbing = flatness("memory", [(n, 60.0 + n / 10_000) for n in range(0, 400_000, 1000)], "nothing")
    assert climbing.met is False and "+10.00 MB for each 100,000 events" in climbing.detail


def test_a_missed_goal_is_an_error_where_that_is_asked_for(instead: Callable[[Callable[[], list[Row]]], None]) -> None:
    instead(lambda: [Row("opening", "something", "", 2.0, Goal("at most", 1.0))])
    assert run("--only", "opening").exit_code == 0
    for more in ((), ("--json",)):
        assert run("--only", "opening", "--strict", *more).exit_code == 1
    instead(lambda: [Row("opening", "something", "", 1.0, Goal("at most", 1.0))])
    assert run("--only", "opening", "--strict").exit_code == 0


@pytest.mark.table
@pytest.mark.long
def test_durability_tells_median_and_p99_of_the_journal_and_of_the_whole_way(tmp_path: Path) -> None:
    result = run("--only", "durability", "--samples", "20", "--json", "--folder", str(tmp_path))
    rows = json.loads(result.stdout)["rows"]
    assert len(rows) == 2
    for row in rows:
        assert re.search(r"median [\d.]+ ms against [\d.]+ ms, p99 [\d.]+ ms against [\d.]+ ms", row["detail"]), row


def test_people_agree_to_a_hand_that_the_table_has_doubted() -> None:
    """Hand 14 ends in a settlement that all four are asked of."""
    people = People("new-xiamen-120", hands=16, seed=7, player=by_brain)
    people.play(lambda state: state.hand == 15)
    assert [one.hand for one in people.state.session.book] == list(range(1, 15))


def _command_lines() -> str:
    """What every process of this machine was started with."""
    lines = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            lines.append(Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended since
    return "\n".join(lines)
