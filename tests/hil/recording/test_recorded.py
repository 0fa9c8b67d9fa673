"""Recordings of whole tables under faults: replayed to the same journal, redacted, measured, made small.

The long form records every shipped scenario (`./kaijin test -m long tests/hil/recording`).
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.tmpdir import TempPathFactory

from controller.recording.format import RecordingError, read_recording, recordings_in
from controller.recording.redact import redact
from controller.support_parts import Parts, recorded_parts
from engine.tiles import ALL_FACES
from hil.recording.meaning import NOTHING
from hil.recording.profile import as_toml, measure
from hil.recording.replay import replay
from hil.recording.shrink import shrink_difference, shrink_while
from hil.recording.story import Item, Story, read_story
from hil.recording.writing import write_story
from protocol.serial import messages as serial
from protocol.serial.frames import FrameDecoder
from protocol.serial.messages import UNKNOWN_TILE, decode_message
from protocol.serial.parts import DiceOutcome, WallOutcome
from simulators.assumptions import AssumptionsError, measured_assumptions
from simulators.scenario import library
from tests.hil.recording.tables import Recorded, changed, environment, inserted, places, record
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(200)]

LONG = [(name, "full" if name == "erring_readers" else "none") for name in library.names()]
LONG += [("power_cut_in_throw", "full"), ("noisy_line", "full")]
MISTAKES = {"careless_people": "away=0.02,double_press=0.1,forget_flower=0.5,object=0.3"}

Keeper = Callable[[str, str], Recorded]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: TempPathFactory) -> Keeper:
    """Each table is recorded once for all tests of this file."""
    kept: dict[tuple[str, str], Recorded] = {}

    def of(scenario: str, sensing: str = "none") -> Recorded:
        if (scenario, sensing) not in kept:
            kept[scenario, sensing] = record(tmp_path_factory.mktemp("table"), scenario, sensing)
        return kept[scenario, sensing]

    return of


def check(table: Recorded) -> None:
    """The recording holds the journal, and a replay comes to the same."""
    story = table.story
    told = [json.loads(json.dumps(event)) for item in story.items if item.kind == "events" for event in item.events]
    assert told == json.loads(json.dumps(table.journaled())) and len(told) > 50
    report = replay(story)
    assert not report.differences, "\n".join(map(str, report.differences))
    assert report.counts["journal"] >= len(told)
    assert sum(count for name, count in report.counts.items() if name.startswith("line 1")) > 10


@pytest.mark.parametrize(("scenario", "sensing"), [("power_cut_in_throw", "none"), ("loose_plug", "full")])
def test_a_table_under_faults_is_replayed_to_the_same_journal(recorded: Keeper, scenario: str, sensing: str) -> None:
    table = recorded(scenario, sensing)
    assert len(places(table.story, "session")) > 1, "the scenario has done nothing to the line"
    check(table)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("scenario", "sensing"), LONG)
def test_every_scenario_is_replayed_to_the_same_journal(tmp_path: Path, scenario: str, sensing: str) -> None:
    hands = 1 if sensing == "full" else 2
    check(record(tmp_path, scenario, sensing, hands, mistakes=MISTAKES.get(scenario, "")))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_two_boards_are_replayed_to_the_same_journal(tmp_path: Path) -> None:
    table = record(tmp_path, "noisy_line", dice_unit=True)
    assert table.story.lines == 2
    check(table)


@pytest.mark.long
def test_a_start_in_the_midst_of_a_hand_is_replayed_from_its_state(tmp_path: Path) -> None:
    """The daemon is killed in a hand and started again: two recordings, the second from the state it found."""
    table = WholeTable(tmp_path, hands=1, seed=4, sensing="full")

    async def play() -> None:
        async with table:
            await table.stored("GoldOpened", 1, 60)
            await asyncio.to_thread(table.kill, "daemon")
            table.start_daemon()
            await table.ended(120)
            await asyncio.to_thread(table.kill, "daemon", 15)

    with environment(KAIJIN_SERIAL__RECORD=str(tmp_path / "recordings")):
        asyncio.run(play())
    folders = recordings_in(tmp_path / "recordings")
    stories = [read_story(read_recording(folder)) for folder in folders]
    assert [story.items[-1].kind == "end" for story in stories] == [False, True]
    assert stories[1].core["state"]["state"]["hand"] == 1
    for story in stories:
        report = replay(story)
        assert not report.differences, "\n".join(map(str, report.differences))
        assert report.counts["journal"] > 10


# --- differences ------------------------------------------------------------------------------------------------------


def other_dice(story: Story) -> Story:
    """The board's first throw lies otherwise than the journal has it."""
    place = next(
        place
        for place in places(story, "said", serial.OpResult)
        if getattr(story.items[place].message, "values", b"")[:1] == b"\x01"
        and len(getattr(story.items[place].message, "values", b"")) == 6
    )
    result = story.items[place].message
    assert isinstance(result, serial.OpResult)
    lay = DiceOutcome.unpack(result.values)
    assert lay.dice is not None
    dice = (lay.dice[0] % 6 + 1, lay.dice[1])
    return changed(story, place, message=replace(result, values=replace(lay, dice=dice).pack()))


def a_fault_more(story: Story) -> Story:
    """A board tells of a fault of which the journal knows nothing."""
    place = places(story, "said", serial.OpResult)[3]
    fault = serial.FaultRaised("head_jam", "fault", "sort", "S")
    return inserted(story, place, Item(0, story.items[place].at, "said", 1, fault))


def test_what_differs_is_named_with_its_time(recorded: Keeper) -> None:
    story = recorded("power_cut_in_throw", "none").story
    found = replay(other_dice(story)).differences[0]
    assert found.where == "inputs" and found.expected.startswith("OperationDone") and found.got != found.expected
    assert re.search(r'"dice": \[\d, \d\]', found.got) and 0 < found.at < story.items[-1].at
    found = replay(a_fault_more(story)).differences[0]
    assert (found.where, found.expected) == ("journal", NOTHING) and "head_jam" in found.got


def test_an_operation_that_is_not_sent_is_a_difference(recorded: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    story = recorded("power_cut_in_throw", "none").story
    monkeypatch.setattr("controller.hardware.request_for", lambda want, op: serial.CentreLower(op))
    differences = replay(story).differences
    assert any("SortStart" in one.expected for one in differences)
    assert any("CentreLower" in one.got for one in differences)


def test_the_command_ends_with_one_where_something_differs(recorded: Keeper, tmp_path: Path) -> None:
    table = recorded("power_cut_in_throw", "none")
    write_story(other_dice(table.story), tmp_path / "other")
    for folder, code in ((table.recording, 0), (tmp_path / "other", 1)):
        command = [sys.executable, "-m", "cli.main", "replay", str(folder), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == code, done.stderr
        told = json.loads(done.stdout)
        assert told["same"] is (code == 0) and bool(told["differences"]) is (code == 1)


def test_a_story_that_is_written_again_is_the_same_story(recorded: Keeper, tmp_path: Path) -> None:
    story = recorded("loose_plug", "full").story
    write_story(story, tmp_path / "again")
    again = read_story(read_recording(tmp_path / "again"))

    def plain(items: tuple[Item, ...]) -> list[Item]:
        return [replace(item, n=0) for item in items if item.kind not in ("end", "closed", "reset")]

    assert plain(again.items) == plain(story.items)
    assert replay(again).same


# --- shrinking --------------------------------------------------------------------------------------------------------


def test_a_planted_failure_shrinks_to_a_handful_of_messages(recorded: Keeper, tmp_path: Path) -> None:
    story = a_fault_more(recorded("power_cut_in_throw", "none").story)
    small = shrink_difference(story)
    assert small.before > 60 and small.after <= 5
    write_story(small.story, tmp_path / "small")
    (found,) = replay(read_story(read_recording(tmp_path / "small"))).differences
    assert found.expected == NOTHING and "head_jam" in found.got


@pytest.mark.long
def test_what_leads_to_a_throw_shrinks_to_what_a_throw_needs(recorded: Keeper, tmp_path: Path) -> None:
    small = shrink_difference(other_dice(recorded("power_cut_in_throw", "none").story))
    assert small.after < small.before / 3
    write_story(small.story, tmp_path / "small")
    (found,) = replay(read_story(read_recording(tmp_path / "small"))).differences
    assert found.expected.startswith("OperationDone") and found.got.startswith("OperationDone")


def test_what_a_command_wants_is_kept(recorded: Keeper, tmp_path: Path) -> None:
    story = recorded("power_cut_in_throw", "none").story
    small = shrink_while(story, ["grep", "-rq", '"action": "roll"', "{}"])
    assert small.after == 1
    with pytest.raises(RecordingError, match="does not fail as it stands"):
        shrink_while(story, ["false"])
    with pytest.raises(RecordingError, match="replays as it was"):
        shrink_difference(story)


# --- secrets ----------------------------------------------------------------------------------------------------------


def messages_in(folder: Path) -> list[serial.Message]:
    found = []
    for stream in read_recording(folder).lines:
        decoders = {"in": FrameDecoder(), "out": FrameDecoder()}
        for row in stream.entries:
            if "way" in row:
                frames = decoders[row["way"]].feed(bytes.fromhex(row["hex"]))
                found += [decode_message(frame.payload) for frame in frames if frame.kind.name == "DATA"]
    return found


def tiles_told(message: serial.Message) -> list[str]:
    """Every tile that a message tells."""
    match message:
        case serial.Zone(tiles=tiles):
            return list(tiles)
        case serial.TileFlipped(tile=tile):
            return [tile]
        case serial.OpResult(values=values) if len(values) > 20:
            return list(WallOutcome.unpack(values).tiles)
    return []


def test_no_tile_of_any_hand_is_left_in_a_redacted_recording(recorded: Keeper, tmp_path: Path) -> None:
    table = recorded("loose_plug", "full")
    before = messages_in(table.recording)
    assert sum(tile != UNKNOWN_TILE for one in before for tile in tiles_told(one)) > 300, "nothing to take out"
    redact(table.recording, tmp_path / "out")
    after = messages_in(tmp_path / "out")
    assert [type(one) for one in after] == [type(one) for one in before]
    assert {tile for one in after for tile in tiles_told(one)} == {UNKNOWN_TILE}
    assert [len(tiles_told(one)) for one in after] == [len(tiles_told(one)) for one in before]
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "out").glob("core*"))
    assert not re.findall(r'"(?:[1-9]+[mpszf])+"', text)
    assert not [face for face in ALL_FACES if f'"{face}' in text]
    said = [row["in"] for row in map(json.loads, text.splitlines()) if "in" in row]
    pressed = [one for one in said if one["type"] == "SeatAction"]
    assert len(pressed) > 10 and {word for one in pressed for key, word in one.items() if key != "type"} == {"withheld"}
    assert "SIM-0001" not in "".join(str(one) for one in after) and "SIM-0001" in str(before)
    hosts = {one.host for one in after if isinstance(one, serial.Identify)}
    assert hosts == {"host"}
    with pytest.raises(RecordingError, match="redacted"):
        replay(read_story(read_recording(tmp_path / "out")))
    assert as_toml(measure([read_story(read_recording(tmp_path / "out"))])) == as_toml(measure([table.story]))


def test_a_support_bundle_has_the_newest_recording_without_secrets(recorded: Keeper) -> None:
    table = recorded("loose_plug", "full")
    parts = Parts()
    recorded_parts(parts, table.recording.parent)
    assert {Path(name).name for name in parts.files} == {"core-0001.jsonl", "line-1-0001.jsonl"}
    assert all(b'"redacted": true' in content for content in parts.files.values())
    text = b"".join(parts.files.values()).decode()
    assert not re.findall(r'"(?:[1-9]+[mpszf])+"', text)


# --- a table like it --------------------------------------------------------------------------------------------------


def test_a_profile_is_assumed_by_a_simulated_table(recorded: Keeper) -> None:
    found = measure([recorded("power_cut_in_throw", "none").story])
    found.times = {"centre_up": [1.9, 2.0, 2.1, 2.0, 2.0], "sort": [20.0, 22.0, 31.0], "dice": [3.0]}
    profile = as_toml(found)
    assumed = measured_assumptions(profile)
    assert assumed.movements["centre_up"].seconds == pytest.approx(2.0)
    assert 0.04 < assumed.movements["centre_up"].spread < 0.08
    assert assumed.movements["walls_up"].seconds == 2.0, "what was not measured is assumed"
    assert (assumed.sort.shortest, assumed.sort.median, assumed.sort.longest) == (20.0, 22.0, 31.0)
    assert assumed.quirks.answer.seconds > 0
    assert assumed.faults_per_1000_cycles.sort_timeout == 0
    with pytest.raises(AssumptionsError, match=r"movements.*unknown"):
        measured_assumptions("[movements]\ncenter_up = { seconds = 1, spread = 0 }")
