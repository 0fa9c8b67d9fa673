"""One catalogue, three scripts: every key in all of them, every code of the contracts worded, every word in use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

import displays
from engine.reasons import CODES
from engine.ruleset import load_ruleset, profiles
from engine.ruleset_model import Way
from protocol.mqtt.commands import ACTIONS
from protocol.mqtt.views import Layout, Phase, Purpose
from protocol.serial.vocabulary import FAULT_CODES

PAGES = Path(displays.__file__).parent
REPOSITORY = PAGES.parent
CATALOGUE: dict[str, list[str]] = json.loads((PAGES / "catalogue.json").read_text(encoding="utf-8"))
SCRIPTS = ("zh-Hans", "zh-Hant", "en")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.js")))
WAYS = ("tianhu", "sanjindao", "qiangjin", "qiangshuangyou", "shuanghuagang")
OPERATIONS = ("sort", "centre_raise", "centre_lower", "walls_raise", "dice_roll", "read_wall", "present_group")
# Common characters that the two scripts write differently, in the same order.
SIMPLIFIED = "东开门张庄从补掷请输对错过还来个这们机边数点颜听说话时间进边认话号码红发条万兰几"
TRADITIONAL = "東開門張莊從補擲請輸對錯過還來個這們機邊數點顏聽說話時間進邊認話號碼紅發條萬蘭幾"
FACES = [f"{n}z" for n in range(1, 8)] + [f"{n}f" for n in range(1, 9)]


def placeholders(words: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", words))


def test_no_key_stands_twice() -> None:
    keys = re.findall(r'^"([^"]+)":', (PAGES / "catalogue.json").read_text(encoding="utf-8"), re.M)
    assert sorted(keys) == sorted(CATALOGUE)


def test_every_key_has_all_scripts_and_the_same_placeholders() -> None:
    for key, words in CATALOGUE.items():
        assert len(words) == len(SCRIPTS), key
        assert all(isinstance(one, str) and one.strip() for one in words), key
        assert placeholders(words[0]) == placeholders(words[1]) == placeholders(words[2]), key


def test_scripts_are_not_mixed() -> None:
    for key, (simplified, traditional, _) in CATALOGUE.items():
        assert not set(TRADITIONAL) & set(simplified), key
        assert not set(SIMPLIFIED) & set(traditional), key


def test_english_is_english() -> None:
    chinese = re.compile(r"[㐀-鿿]")
    kept = re.compile(r"^(glyph|mark)\.")  # what stands on tiles, badges and the table is the same for everybody
    assert [key for key, words in CATALOGUE.items() if chinese.search(words[2]) and not kept.match(key)] == []


@pytest.mark.parametrize("code", FAULT_CODES)
def test_every_fault_is_worded_with_what_to_do_and_what_to_repair(code: str) -> None:
    assert {f"fault.{code}", f"fault.{code}.do", f"fault.{code}.repair"} <= CATALOGUE.keys()


def test_phases_purposes_layouts_and_profiles_are_worded() -> None:
    wanted = [f"phase.{phase}" for phase in get_args(Phase)]
    wanted += [f"purpose.{purpose}" for purpose in get_args(Purpose)]
    wanted += [f"layout.{layout}" for layout in get_args(Layout)]
    wanted += [f"rules.{name}" for name in profiles()]
    wanted += [f"way.{way}" for way in WAYS] + [f"op.{verb}" for verb in OPERATIONS]
    wanted += [f"tile.{face}" for face in FACES]
    assert set(wanted) - CATALOGUE.keys() == set()


def test_every_opening_way_of_every_profile_is_worded() -> None:
    ways = {way.partition("@")[0] for name in profiles() for way in load_ruleset(name).opening_priority}
    assert {f"way.{way}" for way in ways} - CATALOGUE.keys() == set()


def test_every_refusal_of_engine_and_daemon_is_worded() -> None:
    engine = (REPOSITORY / "engine" / "table.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'Refused\("(\w+)"', engine))
    codes |= {"bad_value", "missing", "unknown_action", "old_epoch", "too_large", "bad_json"}
    assert codes
    assert {f"refused.{code}" for code in codes} - CATALOGUE.keys() == set()


def test_every_reason_of_a_settlement_is_worded() -> None:
    assert {f"why.{code}" for code in CODES} - CATALOGUE.keys() == set()
    assert {key.removeprefix("why.") for key in CATALOGUE if key.startswith("why.")} - {"other"} == set(CODES)


def test_every_way_of_winning_is_worded() -> None:
    assert {f"way.{way}" for way in get_args(Way)} - CATALOGUE.keys() == set()


def test_every_refusal_of_a_declared_hand_and_of_a_match_is_worded() -> None:
    rooms = [*(REPOSITORY / "engine").glob("declared*.py"), *(REPOSITORY / "engine" / "match").glob("*.py")]
    codes = {code for room in rooms for code in re.findall(r'Refused\("(\w+)"', room.read_text(encoding="utf-8"))}
    codes |= set(re.findall(r'_need\(match, "(\w+)"', (REPOSITORY / "engine/match/deciding.py").read_text("utf-8")))
    codes |= set(re.findall(r'Objection\("(\w+)"', (REPOSITORY / "engine/win_checks.py").read_text("utf-8")))
    assert len(codes) > 50
    assert {f"refused.{code}" for code in codes} - CATALOGUE.keys() == set()


def test_every_prompt_and_action_of_the_contract_is_known_to_the_page() -> None:
    prompts = (PAGES / "prompts.js").read_text(encoding="utf-8")
    answered = set(re.findall(r"^  (\w+): \(", prompts, re.M))
    assert {verb for action in ACTIONS.values() for verb in action.prompts} <= answered
    sent = set(re.findall(r'press\([^"]*?"(\w+)"', SOURCES)) | set(re.findall(r'action: "(\w+)"', SOURCES))
    sent |= set(re.findall(r'action: own \? "(\w+)" : "(\w+)"', SOURCES)[0])
    assert set(ACTIONS) - sent == set()


def test_every_key_that_the_page_says_is_in_the_catalogue() -> None:
    said = set(re.findall(r'\bsay\(\s*"([^"]+)"', SOURCES))
    said |= {key for pair in re.findall(r'\bsay\([^()"`]*\? "([^"]+)" : "([^"]+)"', SOURCES) for key in pair}
    assert len(said) > 80
    assert said - CATALOGUE.keys() == set()


def test_no_words_lie_unused() -> None:
    literal = set(re.findall(r'"([a-z_]+(?:\.[\w.]+)*)"', SOURCES))
    prefixes = {prefix for prefix in re.findall(r"`([a-z_.]+\.)\$\{", SOURCES)}
    prefixes |= {f"{group}." for group in re.findall(r'sayCode\(\s*"(\w+)"', SOURCES)}
    prefixes |= {"over.", "result."}  # waiting.js words a result by group
    prefixes |= {"why.", "way."}  # reasons of a settlement and ways of winning travel as codes
    unused = [key for key in CATALOGUE if key not in literal and not any(key.startswith(one) for one in prefixes)]
    assert unused == []


def test_pages_fetch_nothing_from_outside_and_write_no_markup() -> None:
    for path in [*PAGES.glob("*.js"), *PAGES.glob("*.html"), *PAGES.glob("css/*.css")]:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert not re.search(r"https?://", text), path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path.name
        if path.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=|<style", text), path.name
