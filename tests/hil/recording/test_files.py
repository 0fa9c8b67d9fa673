"""The files of a recording: bounded, private, whole; and what is said of those that are not."""

from __future__ import annotations

import json
import random
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from controller.recording.core import decode_input, encode_input
from controller.recording.format import FORMAT, RecordingError, parts_in, read_recording, recordings_in
from controller.recording.redact import redact
from controller.recording.writer import LEAST_PART, Recorder
from engine import inputs as i
from engine.events import FaultNoted
from hil.recording.replay import replay
from hil.recording.story import read_story
from protocol.serial.frames import Frame, FrameKind, encode_frame
from protocol.serial.messages import Key, Zone, encode_message
from tests.hil.recording.tables import own, places, tap, words


def frame(message: Any, seq: int, tag: int = 3) -> bytes:
    return b"\x00" + encode_frame(Frame("mcu", FrameKind.DATA, tag, seq, payload=encode_message(message)))


def session(line: Any) -> None:
    """The handshake of session 1 ^ 2."""
    hello = Frame("host", FrameKind.HELLO, 1, payload=b"\x08")
    line.put({"note": "opened"})
    line.put({"way": "out", "hex": encode_frame(hello).hex()})
    answer = Frame("mcu", FrameKind.HELLO_ACK, 1, payload=(2).to_bytes(4, "little") + b"\x08")
    line.put({"way": "in", "hex": encode_frame(answer).hex()})


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    with own(tmp_path) as (recorder, line, core):
        session(line)
        line.put({"way": "in", "hex": frame(Key("lift", "", 120), 0).hex()})
        core_tap = tap(core)
        core_tap.fed(i.KeyPressed("lift"), "", "", False)
        core_tap.decided([FaultNoted("brown_out", "fault", "supply", "")])
        core_tap.refused(i.KeyPressed("lift"), "late")
        folder = recorder.folder
    recording = read_recording(folder)
    assert [row["n"] for stream in recording.streams.values() for row in stream.entries] == [5, 6, 7, 9, 1, 2, 3, 4, 8]
    assert words(recording.lines[0].entries) == ["opened", "out", "in", "in"]
    story = read_story(recording)
    assert [item.kind for item in story.items] == ["opened", "session", "said", "input", "events", "refused", "end"]
    assert story.items[2].message == Key("lift", "", 120) and story.items[3].happened == i.KeyPressed("lift")


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    with own(tmp_path / "recordings") as (recorder, line, _):
        line.put({"note": "opened"})
        folder = recorder.folder
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder)] == [0o700, 0o700]
    files = [path for files in parts_in(folder).values() for _, path in files]
    assert files and {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_all_recordings_together_stay_within_the_bound(tmp_path: Path) -> None:
    bound = LEAST_PART * 8
    for _ in range(3):
        with own(tmp_path, bound) as (_, line, core):
            for _ in range(1_000):
                line.put({"way": "in", "hex": "00" * 60})
                core.put({"in": encode_input(i.KeyPressed("lift"))})
    used = sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl"))
    assert bound / 3 < used <= bound
    newest = read_recording(recordings_in(tmp_path)[-1])
    line = newest.lines[0]
    assert line.first_part > 1 and line.entries[-1]["note"] == "end", "the newest stays, the oldest went"
    with pytest.raises(RecordingError, match="lost its beginning"):
        replay(read_story(newest))


def test_a_part_says_that_it_goes_on(tmp_path: Path) -> None:
    with own(tmp_path, LEAST_PART * 64) as (recorder, line, _):
        for _ in range(1_000):
            line.put({"way": "in", "hex": "00" * 60})
        folder = recorder.folder
    assert len(parts_in(folder)["line-1"]) > 1
    recording = read_recording(folder)
    assert recording.lines[0].first_part == 1 and len(recording.lines[0].entries) == 1_001


def test_a_disk_that_takes_nothing_ends_the_recording_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("controller.recording.writer._private", full)
    with own(tmp_path) as (recorder, line, _):
        line.put({"note": "opened"})
        until = time.monotonic() + 10
        while not recorder.failed and time.monotonic() < until:
            time.sleep(0.01)
        assert recorder.failed
        line.put({"note": "opened"})


def test_what_the_disk_is_too_slow_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.recording.writer.MOST_WAITING", 5)
    with own(tmp_path) as (recorder, line, _):
        goes_on = threading.Event()
        line.put(lambda: {"note": "opened", "waited": goes_on.wait(20)})
        for _ in range(50):
            line.put({"way": "in", "hex": "00"})
        goes_on.set()
        until = time.monotonic() + 10
        while recorder.waiting and time.monotonic() < until:
            time.sleep(0.01)
        line.put({"way": "in", "hex": "00"})
        folder = recorder.folder
    recording = read_recording(folder)
    (gap,) = [row for row in recording.lines[0].entries if row.get("note") == "gap"]
    told = len([row for row in recording.lines[0].entries if "way" in row])
    assert gap["entries"] + told == 51 and gap["entries"] > 30


@pytest.mark.parametrize(
    "happened",
    [
        i.SeatAction("E", "1.roll-0.1", "entry", {"tiles": ["1m", "2m"], "n": 0, "ok": False, "who": None}),
        i.StartMatch("new-xiamen-120", {"flowers": True}, sets=("felt", "inside"), hands=2),
        i.ZoneSeen("S", "hand", ("1m", "5z"), 99),
        i.DiceUnasked((3, 4)),
        i.DiceUnasked(None),
        i.OperationDone("1.sort-0.1", {"tiles": {"E": 30}}),
        i.Unpark("", True),
        i.Service(False, "me"),
    ],
)
def test_every_input_comes_back_as_it_was(happened: i.Input) -> None:
    assert decode_input(json.loads(json.dumps(encode_input(happened)))) == happened


def test_bytes_that_are_no_frame_are_redacted_to_as_many_that_are_none(tmp_path: Path) -> None:
    hidden = frame(Zone("E", "hand", ("1m", "2m"), 90), 1)
    broken = hidden[:-3] + b"\x07\x08\x00"
    with own(tmp_path / "a") as (recorder, line, _):
        session(line)
        line.put({"way": "in", "hex": frame(Key("lift", "", 1), 0)[:9].hex()})
        line.put({"way": "in", "hex": (frame(Key("lift", "", 1), 0)[9:] + broken).hex()})
        line.put({"way": "in", "hex": hidden.hex()})
        folder = recorder.folder
    redact(folder, tmp_path / "b")
    text = (tmp_path / "b" / "line-1-0001.jsonl").read_text("utf-8")
    assert broken[2:-3].hex() not in text and "ff" * (len(broken) - 2) in text
    story = read_story(read_recording(tmp_path / "b"))
    assert [item.message for item in story.items if item.message is not None] == [
        Key("lift", "", 1), Zone("E", "hand", ("??", "??"), 90),
    ]  # fmt: skip
    assert story.counts[0].bad == 1
    with pytest.raises(FileExistsError):
        redact(folder, tmp_path / "b")


# --- files that are none ----------------------------------------------------------------------------------------------


def good(folder: Path) -> Path:
    with own(folder) as (recorder, line, core):
        session(line)
        core.put({"in": encode_input(i.KeyPressed("lift"))})
        made = recorder.folder
    return made


def edit(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        path = folder / name
        path.write_text(change(path.read_text("utf-8")), encoding="utf-8")

    return do


def later_version(text: str) -> str:
    return text.replace(f'"kaijin_recording":{FORMAT}', '"kaijin_recording":99')


LINE, CORE = "line-1-0001.jsonl", "core-0001.jsonl"
BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "another version": (edit(LINE, later_version), r"line-1-0001.jsonl:1: a recording of version 99; .* reads"),
    "no recording": (edit(LINE, lambda text: '{"a": 1}\n' + text), r"line-1-0001.jsonl:1: no recording"),
    "no json": (edit(LINE, lambda text: text.replace('{"n":2', "nonsense")), r"line-1-0001.jsonl:3: no JSON"),
    "a list": (edit(LINE, lambda text: text + "[1]\n"), r"line-1-0001.jsonl:6: expected an object, got list"),
    "no hex": (edit(LINE, lambda text: text.replace('"hex":"', '"hex":"zz')), r":3: hex: expected bytes"),
    "no way": (edit(LINE, lambda text: text.replace('"way":"out"', '"way":"up"')), r':3: way: expected "in" or "out"'),
    "n goes back": (edit(LINE, lambda text: text.replace('"n":3', '"n":1')), r":4: n 1 behind 2"),
    "no time": (edit(LINE, lambda text: text.replace('"at":', '"on":')), r":2: at: expected seconds from 0, got None"),
    "empty": (edit(LINE, lambda text: ""), r"line-1-0001.jsonl: empty; expected the head"),
    "head cut off": (edit(LINE, lambda text: text[:40]), r"line-1-0001.jsonl:1: the head is cut off"),
    "head of another": (edit(LINE, lambda text: text.replace('"stream":"line-1"', '"stream":"core"')), "under the na"),
    "head without": (edit(CORE, lambda text: text.replace('"journal_id"', '"id"')), r":1: journal_id: missing"),
    "another start": (
        edit(CORE, lambda text: text.replace('"start":"', '"start":"x')),
        r"its files are of different recordings",
    ),
    "no input": (edit(CORE, lambda text: text.replace("KeyPressed", "Nobody")), r"n 4: unknown input 'Nobody'"),
    "a bad input": (edit(CORE, lambda text: text.replace('"key":"lift"', '"key":[1]')), r"KeyPressed: key"),
    "kinds mixed": (edit(CORE, lambda text: text + '{"n":99,"at":1,"way":"in","hex":"00"}\n'), "the entry of a serial"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str) -> None:
    do, words = BAD[name]
    folder = good(tmp_path)
    do(folder)
    with pytest.raises(RecordingError, match=words):
        read_story(read_recording(folder))
    done = CliRunner().invoke(kaijin, ["replay", "show", str(folder)])
    assert done.exit_code == 1 and done.output.startswith("Error: ") and done.output.count("\n") == 1


def test_a_missing_part_is_said(tmp_path: Path) -> None:
    with own(tmp_path, LEAST_PART * 64) as (recorder, line, _):
        for _ in range(1_500):
            line.put({"way": "in", "hex": "00" * 60})
        folder = recorder.folder
    (folder / "line-1-0002.jsonl").unlink()
    with pytest.raises(RecordingError, match=r"line-1-0003.jsonl: the part before it, line-1-0002.jsonl, is missing"):
        read_recording(folder)


def test_a_last_line_that_a_power_cut_has_halved_costs_itself_alone(tmp_path: Path) -> None:
    folder = good(tmp_path)
    edit(LINE, lambda text: text[:-4])(folder)
    recording = read_recording(folder)
    assert recording.lines[0].cut and len(recording.lines[0].entries) == 3
    assert len(places(read_story(recording), "session")) == 1


@pytest.mark.parametrize("name", ["nothing", "a file", "an empty folder", "only lines"])
def test_what_is_no_recording_is_said(tmp_path: Path, name: str) -> None:
    target, expected = tmp_path / "here", {
        "nothing": "no such folder", "a file": "is a file", "an empty folder": "no recording in it",
        "only lines": "only serial lines were recorded",
    }[name]  # fmt: skip
    if name == "a file":
        target.write_text("x")
    elif name == "an empty folder":
        target.mkdir()
    elif name == "only lines":
        target = good(tmp_path)
        (target / CORE).unlink()
    done = CliRunner().invoke(kaijin, ["replay", str(target)])
    assert done.exit_code in (1, 2) and expected in done.output, done.output
    assert "Traceback" not in done.output


def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):
        Recorder(tmp_path / "file" / "in", "t", 1, lambda: 0.0, "0")


def test_whatever_stands_in_a_file_is_read_or_refused(tmp_path: Path) -> None:
    folder = good(tmp_path)
    whole = {name: (folder / name).read_bytes() for name in (LINE, CORE)}
    chance, refused = random.Random(7), 0
    for _ in range(400):
        name = chance.choice((LINE, CORE))
        content = bytearray(whole[name])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(content))
            some = chance.choices(b'0{}[]",:\n\xff\x00a9-', k=chance.randint(0, 3))
            content[at : at + chance.randint(0, 3)] = bytes(some)
        (folder / name).write_bytes(content)
        try:
            read_story(read_recording(folder))
        except RecordingError:
            refused += 1
        (folder / name).write_bytes(whole[name])
    assert 100 < refused < 400
