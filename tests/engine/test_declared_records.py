"""Declared hands as text records: they settle as the engine says, and text ↔ record ↔ sheet is exact (R18-R40)."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.chain import Refused
from engine.declared import Sheet, declare, settle_declared
from engine.record_declared import (
    DeclaredRecord,
    declared_of,
    parse_declared,
    replay_declared,
    unmet_declared,
    write_declared,
)
from engine.record_header import RecordError
from engine.record_lines import Want
from engine.record_said import Said, said_of
from engine.record_wants import wants_illegal
from engine.ruleset import load_ruleset
from tests.engine.random_hands import ALL_RULES, some_options
from tests.engine.random_sheets import some_sheet

RECORDS = sorted((Path(__file__).resolve().parents[1] / "records" / "declared").glob("*.txt"))
HEAD = """declared:
about: 003, four 番 # told by its tiles
rules: classic-xiamen-144
dealer: E
gold: 9p
"""
SHOWN = f"""{HEAD}
S flowers 1f
S shows 111234m567888p9s9p111s
S won zimo 9p
want: net E -42 S 94 W -26 N -26
want: pays E S 42
want: why E S water_triplet 1
want: end win
want: win S zimo 9p
want: next S 0
"""


def settled(text: str) -> dict[str, int]:
    """The points of a declared record that can be settled, whose wants hold."""
    replayed = replay_declared(parse_declared(text))
    assert replayed.illegal is None and replayed.settlement is not None
    assert unmet_declared(replayed) == ()
    return replayed.settlement.net


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_published_hand_comes_out_as_it_says(path: Path) -> None:
    record = parse_declared(path.read_text(encoding="utf-8"))
    replayed = replay_declared(record)
    assert unmet_declared(replayed) == () and any(isinstance(line, Want) for line in record.lines)
    assert (replayed.illegal is not None) == wants_illegal(record.lines)
    assert parse_declared(write_declared(record)) == record


def test_a_hand_by_tiles_by_items_and_by_what_counts() -> None:
    assert settled(SHOWN) == {"E": -42, "S": 94, "W": -26, "N": -26}
    by_items = "S water flowers 1 golds 1 triplet 1 triplet 1 triplet 1\nS won zimo\nwant: net E -42 S 94 W -26 N -26"
    assert settled(f"{HEAD}{by_items}") == settled(f"{HEAD}S water water 5\nS won zimo") == settled(SHOWN)
    by_parts = "S flowers 1f\nS golds 1\nS triplets 1m8p1s\nS won zimo"
    assert settled(f"{HEAD}{by_parts}") == settled(SHOWN)


def test_every_verb_is_carried_out() -> None:
    foul = settled(f"{HEAD}N water water 2\nS false zhahu ready N\nwant: foul S zhahu N\nwant: end foul")
    assert foul == {"E": 0, "S": -152, "W": 0, "N": 152}
    covered = f"{HEAD}S golds 0\nN covered\nN uncovered\nW covered\npays_all N\nS won zimo\nwant: pays_all N"
    assert settled(covered)["W"] == 0
    drawn = HEAD.replace("classic-xiamen-144", "bijin-xiamen-144")
    assert settled(f"{drawn}drawn N\nwant: end draw\nwant: next N 0") == dict.fromkeys("ESWN", 0)
    offline = HEAD.replace("classic-xiamen-144", "xiamen-offline")
    assert settled(f"{offline}followed 2 no_flowers\ndrawn\nwant: followed 2")["E"] == -12
    basic = HEAD.replace("classic-xiamen-144", "basic-136").replace("gold: 9p", "gold: -")
    two = "S patterns menqing pengpenghu\nN patterns -\nS won pinghu 3m from W and N pinghu 3m from W"
    assert settled(f"{basic}{two}")["W"] < 0
    seed = HEAD.replace("classic-xiamen-144", "quanzhou-seed").replace("gold", "steps: 1\nbuy: 5\ntop: S 3\ngold")
    assert settled(f"{seed}N golds 2\nhardness hard\nS won zimo") == {"E": -58, "S": 94, "W": -22, "N": -14}


def test_chips_limit_what_is_paid() -> None:
    short = HEAD.replace("gold: 9p", "chips: E 5 S 100 W 100 N 100\ngold: 9p")
    assert settled(f"{short}S golds 0\nS won zimo\nwant: why E S cap 5")["E"] == -5


def test_a_want_is_looked_at_where_it_stands() -> None:
    early = replay_declared(parse_declared(f"{HEAD}want: net S 5\nS golds 0\nS won zimo\nwant: net S 5"))
    assert next((one.want.line, one.found) for one in unmet_declared(early)) == (6, "the end of the hand is not told")
    assert len(unmet_declared(early)) == 2
    before = replay_declared(parse_declared(f"{HEAD}S won youjin\nwant: net S 5\nS golds 1"))
    assert [one.found for one in unmet_declared(before)] == ["refused by R22, water_missing"]
    assert before.settlement is not None


@pytest.mark.parametrize(
    ("lines", "line", "code", "rule"),
    [
        ("S flowers 1m", 6, "not_a_flower", "R7"),
        ("S flowers 1f\nW flowers 1f\nwant: illegal R7", 7, "flower_twice", "R7"),
        ("S golds 5\nS won zimo", 6, "bad_number", "R11"),
        ("S golds 0\nS won youjin", 7, "golds_missing", "R22"),
        ("S won zimo\n\n# nothing of what he holds", 6, "water_missing", "R32"),
        ("", 0, "no_end_declared", "R18"),
    ],
)
def test_the_first_line_that_cannot_be_is_named(lines: str, line: int, code: str, rule: str) -> None:
    replayed = replay_declared(parse_declared(HEAD + lines))
    assert replayed.illegal is not None and replayed.settlement is None
    assert (replayed.illegal.line, replayed.illegal.code, replayed.illegal.rule) == (line, code, rule)
    assert unmet_declared(replayed) == ()


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("declared:\nrules: x", 2, "a line `dealer: ...`"),
        (HEAD.replace("declared:", "declared: yes"), 1, "nothing behind `declared:`"),
        (HEAD.replace("gold: 9p", "gold: 1f"), 5, "a hand that can be: unknown_face (R8)"),
        (HEAD.replace("gold", "hand E: 1m\ngold"), 5, "a seat E, S, W or N, drawn, hardness"),
        (HEAD.replace("gold", "top: S 3\ngold"), 5, "no `top:` in rules without"),
        (HEAD + "S flower 1f", 6, "one of flowers, melds, golds"),
        (HEAD + "S flowers", 6, "`S flowers TILES`"),
        (HEAD + "S flowers 1x", 6, "tiles such as 123m5z"),
        (HEAD + "S melds pong", 6, "`S melds KIND TILES ...`"),
        (HEAD + "S melds pair 11m", 6, "one of chi, pong, kong_open"),
        (HEAD + "S golds x", 6, "a whole number, not 'x'"),
        (HEAD + "S golds 1 2", 6, "`S golds NUMBER`"),
        (HEAD + "S water luck 2", 6, "one of flowers, golds, pong"),
        (HEAD + "S water golds", 6, "`S water ITEM NUMBER ...`"),
        (HEAD + "S patterns luck", 6, "one of menqing"),
        (HEAD + "S won", 6, "`S won WAY [TILE]"),
        (HEAD + "S won luck", 6, "a way of winning such as"),
        (HEAD + "S won pinghu 9p of W", 6, "`S won WAY [TILE]"),
        (HEAD + "S won pinghu 9p from W and", 6, "`S won WAY [TILE]"),
        (HEAD + "S false luck", 6, "one of zhahu"),
        (HEAD + "S false zhahu ready", 6, "`S false KIND [ready SEAT ...]`"),
        (HEAD + "S covered badly", 6, "`S covered`"),
        (HEAD + "drawn by S", 6, "`drawn [SEAT]`"),
        (HEAD + "hardness iron", 6, "`hardness soft|hard|double`"),
        (HEAD + "pays_all", 6, "`pays_all SEAT`"),
        (HEAD + "followed", 6, "`followed NUMBER [no_flowers]`"),
        (HEAD + "want: phase turn", 6, "one of end, win, foul"),
        (HEAD + "drawn\ndealer: E", 7, "a seat E, S, W or N, drawn"),
    ],
)
def test_a_bad_text_is_told_by_line_and_what_was_expected(text: str, line: int, told: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_declared(text)
    assert caught.value.line == line
    assert told in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(ALL_RULES), seed=st.integers(0, 2**32))
def test_a_random_sheet_goes_through_its_record_exactly(name: str, seed: int) -> None:
    chance = random.Random(seed)
    options = some_options(chance, name)
    begun, said = some_sheet(chance, load_ruleset(name, options))
    chips = tuple((seat, chance.randint(0, 200)) for seat in "ESWN") if chance.random() < 0.5 else ()
    lines = tuple(Said(one) for one in said)
    record = DeclaredRecord(name, begun, lines, tuple(options.items()), chips, ("of chance, # no comment",))
    text = write_declared(record)
    assert parse_declared(text) == record
    assert write_declared(parse_declared(text)) == text
    replayed = replay_declared(parse_declared(text))
    short = declared_of(record, replayed.last)
    again = replay_declared(parse_declared(write_declared(short)))
    assert again.last == replayed.last
    assert (again.settlement, again.illegal is None) == (replayed.settlement, replayed.illegal is None)
    assert [*said_of(again.last)] == [one.said for one in short.lines if isinstance(one, Said)]
    assert _settles(replayed.last, dict(chips)) == (replayed.settlement and replayed.settlement.net)


def _settles(sheet: Sheet, chips: dict[str, int]) -> dict[str, int] | None:
    try:
        return settle_declared(sheet, chips or None).net
    except Refused:
        return None


def test_random_sheets_settle_often_enough_to_mean_something() -> None:
    chance = random.Random("sheets")
    ends = []
    for turn in range(200):
        begun, said = some_sheet(chance, load_ruleset(ALL_RULES[turn % len(ALL_RULES)]))
        sheet = begun
        for one in said:
            sheet = declare(sheet, one)
        ends.append(_settles(sheet, {}))
    assert sum(end is not None for end in ends) > 25


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_spoilt_record_is_told_and_never_breaks(data: st.DataObject) -> None:
    """Lines gone, doubled, moved or with a word of another: one clear line or a referee's answer, nothing else."""
    lines = f"{SHOWN}\nW melds pong 555z\nN water golds 1\nfollowed 1\npays_all N\nE covered\ndrawn".splitlines()
    words = sorted({word for line in lines for word in line.split()} | {"-", "ready", "and", "from", "9", "-3"})
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        parts = lines[place].split() or [""]
        match data.draw(st.sampled_from(("drop", "double", "move", "word", "more"))):
            case "drop":
                lines[place] = ""
            case "double":
                lines.insert(place, lines[place])
            case "move":
                lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(place))
            case "word":
                parts[data.draw(st.integers(0, len(parts) - 1))] = data.draw(st.sampled_from(words))
                lines[place] = " ".join(parts)
            case _:
                lines[place] = f"{lines[place]} {data.draw(st.sampled_from(words))}"
    try:
        record = parse_declared("\n".join(lines))
    except RecordError as error:
        assert 1 <= error.line <= len(lines)
        return
    assert parse_declared(write_declared(record)) == record
    replayed = replay_declared(record)
    unmet_declared(replayed)
    assert replayed.illegal is None or re.fullmatch(r"R\d+", replayed.illegal.rule)


def test_a_wrong_want_is_told() -> None:
    record = parse_declared(f"{HEAD}S golds 0\nS won zimo\nwant: net S 1\nwant: next E 0\nwant: pays E S 1")
    assert [one.want.line for one in unmet_declared(replay_declared(record))] == [8, 9, 10]
    assert all(isinstance(line, Said | Want) for line in record.lines)
