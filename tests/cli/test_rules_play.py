"""`kaijin rules play`: a record replayed and refereed, told to people and to programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import kaijin, run_command
from engine.reasons import CODES

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests" / "records"
UNWORDED = re.compile(rf"\b({'|'.join(CODES)}) \[\1\]")
"""A reason told by its code, in English and Chinese alike."""


def _play(*arguments: str, text: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(kaijin, ["rules", "play", *arguments], input=text)
    return done.exit_code, done.output


def _record(name: str) -> str:
    return str(RECORDS / f"{name}.txt")


def test_the_settlement_with_its_reasons() -> None:
    code, output = _play(_record("r31-r32-classic-zimo"))
    assert code == 0
    lines = output.splitlines()
    assert lines[:2] == ["3 events; the hand is won", "S wins: Zimo (self-draw) 自摸 with 9p"]
    place = lines.index("E pays S 50")
    assert [line.split() for line in lines[place + 1 : place + 4]] == [
        ["+16", "base", "16", "(dealer)", "[底", "16（庄）]"],
        ["+9", "flowers", "9", "[花", "9", "水]"],
        ["×", "2", "Zimo", "(self-draw)", "×", "2", "[自摸", "×", "2]"],
    ]
    assert lines[-2:] == ["points: E -50  S +118  W -34  N -34", "next dealer S"]


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_published_record_is_told_in_words(path: Path) -> None:
    """Its own wants hold, and no code or place for a value is left unworded."""
    code, output = _play(str(path), "--verbose")
    assert code == 0, output
    assert "{" not in output
    assert not [line for line in output.splitlines() if UNWORDED.search(line)]


def test_the_state_after_an_event() -> None:
    code, output = _play(_record("r23-shuangyou"), "--at", "11")
    assert code == 0
    assert output.splitlines()[:2] == [
        "after event 11: S tours 9s",
        "phase lap, turn W, tour of S at level 2; gold 9s; 48 tiles left",
    ]
    assert "S  123456789m123456p9s" in output
    assert "discards 8s 9s(tour)" in output
    assert "pays" not in output
    assert _play(_record("r23-shuangyou"), "--at", "0")[1].startswith("after event 0, the deal\nphase opening; gold 9s")


def test_a_state_that_is_not_reached_is_told() -> None:
    code, output = _play(_record("r25-tianhu"), "--at", "2")
    assert code == 1
    assert "there are 1 events; --at 2 is behind them" in output
    assert output.count("\n") == 1


def test_every_event_when_asked() -> None:
    _, output = _play(_record("r15-qianggang"), "--verbose")
    lines = [line.strip() for line in output.splitlines()]
    assert "1  E discards 5s   (the window closes first)" in lines
    assert "→ KongShown seat=W tile=5s" in lines
    assert "→ HandWon seat=S way=qianggang tile=5s source=W" in lines


def test_the_first_illegal_step_and_its_rule(tmp_path: Path) -> None:
    text = (RECORDS / "illegal-follow.txt").read_text(encoding="utf-8")
    file = tmp_path / "hand.txt"
    file.write_text("\n".join(line for line in text.splitlines() if not line.startswith("want:")), encoding="utf-8")
    code, output = _play(str(file))
    assert code == 1
    number = file.read_text(encoding="utf-8").splitlines().index("S discards 9m") + 1
    told = "refused by R16: an honour that was discarded must follow [follow] (tiles 1z)"
    assert output == f"line {number}: S discards 9m: {told}\n"


def test_an_illegal_step_that_the_record_wants_is_no_fault_of_it() -> None:
    code, output = _play(_record("illegal-follow"))
    assert code == 0
    assert "refused by R16" in output


def test_what_is_not_as_wanted_is_told() -> None:
    text = (RECORDS / "r13-r30-pinghu.txt").read_text(encoding="utf-8").replace("want: pays E S 4", "want: pays E S 5")
    code, output = _play("-", text=text)
    assert code == 1
    number = text.splitlines().index("want: pays E S 5") + 1
    assert output.splitlines()[-1] == f"line {number}: wanted pays E S 5; found E S 4"


def test_as_json() -> None:
    code, output = _play(_record("r27-unseen-discard"), "--json")
    told = json.loads(output)
    assert code == 0
    assert (told["rules"], told["illegal"], told["unmet"]) == ("new-xiamen-120", None, [])
    assert told["settlement"]["net"] == {"E": 0, "S": 0, "W": 12, "N": -12}
    assert told["state"]["outcome"]["pays_all"] == "N"
    assert "steps" not in told
    code, output = _play(_record("illegal-follow"), "--json", "--verbose")
    told = json.loads(output)
    assert (told["illegal"]["rule"], told["illegal"]["code"], told["settlement"]) == ("R16", "follow", None)
    assert [one["text"] for one in told["steps"]] == ["E discards 1z", "S draws 1s"]
    assert told["state"]["seats"]["E"]["discards"] == ["1z"]


def test_a_hand_that_goes_on_is_shown_as_it_stands() -> None:
    text = (RECORDS / "r13-r30-pinghu.txt").read_text(encoding="utf-8").partition("\n\n")[0]
    code, output = _play("-", text=f"{text}\n\nE discards 9p\nopen\n")
    assert code == 0
    assert output.splitlines()[:2] == [
        "2 events; the hand goes on",
        "phase window, 9p of E may be claimed; gold 9s; 51 tiles left",
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"rules: new-xiamen-120\n", "line 1: expected a line `dealer: ...` before the end"),
        (b"\xff\xfe", "expected a text in UTF-8: invalid start byte at byte 0"),
        (b"{}", "line 1: expected a seat E, S, W or N, close, open or want:; got '{}'"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "hand.txt"
    file.write_bytes(content)
    code, output = _play(str(file))
    assert code == 1
    assert output == f"Error: {file}: {told}\n"


def test_no_file_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(kaijin, ["rules", "play", str(tmp_path / "none.txt")]) == 1
    assert capsys.readouterr().err == f"Error: {tmp_path / 'none.txt'}: No such file or directory\n"


def test_the_rules_of_a_house_beside_the_record(tmp_path: Path) -> None:
    house = 'name = "our-house"\ntitle = "x"\nparent = "new-xiamen-120"\nyoujin_base = 8\n'
    (tmp_path / "our-house.toml").write_text(house, encoding="utf-8")
    text = (RECORDS / "r25-tianhu.txt").read_text(encoding="utf-8").replace("new-xiamen-120", "our-house")
    (tmp_path / "hand.txt").write_text(text.partition("want:")[0] + "E hu tianhu\nwant: net E 24 S -8 W -8 N -8\n")
    code, output = _play(str(tmp_path / "hand.txt"))
    assert (code, output.splitlines()[-2]) == (0, "points: E +24  S -8  W -8  N -8")


def test_a_declared_hand_is_told_with_its_reasons() -> None:
    code, output = _play(str(RECORDS / "declared" / "r37-offsets.txt"))
    assert code == 0
    assert output.splitlines()[:3] == [
        "the hand is won, as declared",
        "E wins: Zimo (self-draw) 自摸",
        "S pays E 32",
    ]
    assert "points: E +96  S -31  W -31  N -34" in output
    code, output = _play(str(RECORDS / "declared" / "r37-offsets.txt"), "--json")
    told = json.loads(output)
    assert code == 0 and told["declared"] and told["settlement"]["net"]["S"] == -31 and told["unmet"] == []
    assert told["outcome"]["winners"][0] == {
        "seat": "E",
        "way": "zimo",
        "tile": None,
        "from": None,
        "after_kong": False,
    }


def test_a_declared_hand_that_cannot_be_names_its_line() -> None:
    text = (RECORDS / "declared" / "illegal-golds.txt").read_text(encoding="utf-8")
    assert _play("-", text=text)[0] == 0
    code, output = _play("-", "--verbose", text=text.replace("want: illegal R22", "want: net S 3"))
    assert code == 1
    assert output.splitlines()[-2:] == [
        "line 8: the end of the hand: refused by R22: there are too few golds for this win [golds_missing] "
        "(way youjin, golds 1)",
        "line 9: wanted net S 3; found refused by R22, golds_missing",
    ]
    assert "    7  S water flowers 3" in output


def test_a_whole_match_is_replayed_to_its_table() -> None:
    path = RECORDS / "matches" / "r02-r41-whole.txt"
    code, output = _play(str(path))
    assert code == 0
    lines = output.splitlines()
    assert lines[0] == "match 1: bijin-xiamen-144; 3 hands"
    assert [line.endswith("(taken back)") for line in lines[1:6]] == [True, False, False, False, False]
    assert lines[6] == "the match is over: all hands agreed on are played; 4 hands booked"
    assert lines[8].split() == ["E", "2", "Ann", "+16", "116"]
    told = json.loads(_play(str(path), "--json", "--verbose")[1])
    assert told["points"] == {"1": 16, "2": 16, "3": -36, "4": 4}
    assert told["by_seat"] == {"E": 16, "S": 16, "W": -36, "N": 4} and told["over"] == "hands"
    assert [hand["voided"] for hand in told["hands"]] == [True, False, False, False, False]
    assert told["hands"][2]["declared"] is False and told["hands"][2]["transfers"]
    assert "E pays S 3" in _play(str(path), "--verbose")[1]


def test_a_match_that_does_not_follow_is_refused_at_its_line(tmp_path: Path) -> None:
    text = (RECORDS / "matches" / "r02-r41-whole.txt").read_text(encoding="utf-8")
    place = text[: text.index("hand 3")].count("\n") + 1
    code, output = _play("-", text=text.replace("dealer: S", "dealer: W"))
    assert code == 1
    refused = next(line for line in output.splitlines() if line.startswith(f"line {place}: hand 3"))
    assert refused.endswith("somebody else deals, or his base has grown otherwise [other_deal] (seat S, steps 0)")
    code, output = _play("-", "--json", text=text.replace("want: chips 1 116", "want: chips 1 117"))
    (missed,) = json.loads(output)["unmet"]
    assert code == 1 and missed["found"] == "1 116 2 116 3 64 4 104"
    code, output = _play("-", "--at", "3", text=text)
    assert code == 2 and "--at is for the record of a hand that was played tile by tile" in output
