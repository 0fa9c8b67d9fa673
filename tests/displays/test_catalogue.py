"""One catalogue, three scripts: every key in all of them, every code of the contracts worded, every word in use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

import displays
from engine.book import asks
from engine.book.differing import _ending, _words
from engine.book.words import COUNTS, KONG_KINDS, LAST_TILES
from engine.melds import MELD_KINDS
from engine.play.actions import COVER_REASONS
from engine.reasons import CODES
from engine.ruleset import load_ruleset, profiles
from engine.ruleset_model import Pattern, Way
from engine.settlement import FAKED_WAYS
from protocol.mqtt.commands import ACTIONS
from protocol.mqtt.views import Layout, Phase, Purpose
from protocol.serial.vocabulary import FAULT_CODES
from tests.displays.scenes_match import VOTED, kept

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


def refusals() -> set[str]:
    """The codes with which the engine refuses, wherever it does."""
    texts = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "engine").rglob("*.py")]
    pattern = r'\b(?:Refused|No|Objection)\(\s*"([a-z_]+)"|_need\(match, "([a-z_]+)"'
    return {first or second for text in texts for first, second in re.findall(pattern, text)}


def test_every_refusal_of_engine_and_daemon_is_worded() -> None:
    codes = refusals() | {"bad_value", "missing", "unknown_action", "old_epoch", "too_large", "bad_json"}
    assert len(codes) > 90
    assert {f"refused.{code}" for code in codes} - CATALOGUE.keys() == set()


def test_every_reason_of_a_settlement_is_worded() -> None:
    assert {f"why.{code}" for code in CODES} - CATALOGUE.keys() == set()
    assert {key.removeprefix("why.") for key in CATALOGUE if key.startswith("why.")} - {"other"} == set(CODES)


def test_every_way_of_winning_is_worded() -> None:
    assert {f"way.{way}" for way in get_args(Way)} - CATALOGUE.keys() == set()


def test_every_word_of_the_book_and_of_play_is_worded() -> None:
    wanted = [f"foul.{kind}" for kind in FAKED_WAYS] + [f"covered.{reason}" for reason in COVER_REASONS]
    wanted += [f"meld.{kind}" for kind in MELD_KINDS] + [f"kong.{kind}" for kind in KONG_KINDS]
    wanted += [f"pattern.{name}" for name in get_args(Pattern)] + [f"tour.{level}" for level in (1, 2, 3)]
    wanted += [f"hardness.{name}" for name in ("soft", "hard", "double")]
    wanted += [f"item.{name}" for name in (*COUNTS, "bid")]
    wanted += [f"last_tile.{number}" for number in range(len(LAST_TILES))]
    wanted += [f"zone.{zone}" for zone in ("hand", "flowers", "discards", "melds")]
    wanted += [f"swap.{right}" for right in ("win", "half", "all")]
    wanted += [f"park.{reason}" for reason in ("command", "key", "power", "fault")]
    assert set(wanted) - CATALOGUE.keys() == set()


def test_every_difference_between_two_versions_is_worded() -> None:
    book = kept(*VOTED)
    (asked, *_) = [ask for ask in asks(book) if ask.seat == "N"]
    assert asked.params["differs"]
    whole = set(_ending(book.first)) | set(_words(book.first.seats["E"], True))
    whole |= {"tiles", "melds", "tile"} | {one["what"] for one in asked.params["differs"]}
    assert {f"differs.{what}" for what in whole} - CATALOGUE.keys() == set()


def test_every_prompt_and_action_of_the_contract_is_known_to_the_page() -> None:
    rooms = [path.read_text(encoding="utf-8") for path in PAGES.glob("prompts*.js")]
    besides = {"undo", "swap", "end", "taken", "call_off", "count_ruling"}
    answered = besides | {verb for room in rooms for verb in re.findall(r"^  (\w+): \(", room, re.M)}
    assert {verb for action in ACTIONS.values() for verb in action.prompts} <= answered
    # What is pressed is named in the rooms; that each press sends the right thing is tried in the browser.
    named = set(re.findall(r'"(\w+)"', SOURCES))
    assert set(ACTIONS) - named == set()


def test_every_key_that_the_page_says_is_in_the_catalogue() -> None:
    said = set(re.findall(r'\bsay\(\s*"([^"]+)"', SOURCES))
    said |= {key for pair in re.findall(r'\bsay\([^()"`]*\? "([^"]+)" : "([^"]+)"', SOURCES) for key in pair}
    assert len(said) > 80
    assert said - CATALOGUE.keys() == set()


def test_no_words_lie_unused() -> None:
    literal = set(re.findall(r'"([a-z_]+(?:\.[\w.]+)*)"', SOURCES))
    prefixes = {prefix for prefix in re.findall(r"`([a-z_.]+\.)\$\{", SOURCES)}
    prefixes |= {f"{group}." for group in re.findall(r'sayCode\(\s*"(\w+)"', SOURCES)}
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
