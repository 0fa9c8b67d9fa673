"""`kaijin rules`: list, show and eval as a person or a pipe meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from engine.ruleset import EXAMPLES, profiles


def _run(*arguments: str, text: str | bytes | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(kaijin, ["rules", *arguments], input=text)
    return result.exit_code, result.output


def test_list_has_a_line_for_each_ruleset() -> None:
    code, output = _run("list")
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()] == [*profiles(), *EXAMPLES]


@pytest.mark.parametrize("name", (*profiles(), *EXAMPLES))
def test_show_tells_every_field_of_the_game(name: str) -> None:
    code, output = _run("show", name)
    assert code == 0
    assert name in output
    for part in ("Tiles and walls", "The gold 金", "Openings", "Points"):
        assert part in output
    fields = {line[2:].split()[0] for line in output.splitlines() if line[2:3].isalpha()}
    assert {"tiles", "layouts", "ways", "scoring"} <= fields
    assert ("fan_cap" in fields) == (name == "basic-136")
    assert ("youjin_base" in fields) == (name in ("new-xiamen-120", "xiamen-offline"))


def test_show_marks_what_differs_from_the_parent() -> None:
    _, output = _run("show", "zhangzhou")
    marked = [line.split()[1] for line in output.splitlines() if line.startswith("* ") and "=" not in line]
    assert marked == ["differs", "dealer_after_win", "dealer_after_draw", "payers"]


def test_show_as_json() -> None:
    code, output = _run("show", "xiamen-offline", "--json")
    told = json.loads(output)
    assert code == 0
    assert (told["tiles"], told["stacks"], told["row"], told["parent"]) == (120, 15, 14, "new-xiamen-120")
    assert "tour_discard" in told["differs"] and "tiles" not in told["differs"]


def test_show_reads_the_file_of_a_house(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('name = "house"\ntitle = "x"\nparent = "basic-136"\nbase = 5\n', encoding="utf-8")
    code, output = _run("show", str(path))
    assert code == 0
    assert [line.split()[1] for line in output.splitlines() if line.startswith("* ")] == ["differs", "base"]


@pytest.mark.parametrize("name", ["nobody", "nobody.toml"])
def test_show_says_what_is_wrong_in_one_line(name: str) -> None:
    code, output = _run("show", name)
    assert code == 1
    assert output.startswith(f"Error: {name}: rules: ") and len(output.splitlines()) == 1


def test_eval_answers_every_line_in_order_and_goes_on_after_a_bad_one() -> None:
    lines = [
        '{"op": "point", "roller": "E", "dice": [5, 1], "id": 1}',
        "nonsense",
        "",
        '{"op": "point", "roller": "E", "dice": [5, 8], "id": 2}',
        '{"op": "point", "roller": "W", "dice": [6, 6], "id": 3}',
    ]
    code, output = _run("eval", text="\n".join(lines))
    answers = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert answers[0] == {"id": 1, "seat": "S"} and answers[4] == {"id": 3, "seat": "S"}
    assert all("error" in one for one in answers[1:4]) and answers[3]["id"] == 2


def test_eval_reads_a_file_and_survives_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b'\xff\xfe\r\n{"op": "point", "roller": "N", "dice": [1, 1]}\r\n')
    code, output = _run("eval", "--file", str(path))
    answers = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert "UTF-8" in answers[0]["error"] and answers[1] == {"seat": "E"}
