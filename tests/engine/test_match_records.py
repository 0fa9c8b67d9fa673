"""Whole matches as text records: every hand settled anew with the chips of that moment, and what cannot be named."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.export import ExportError, match_record, match_records
from engine.record import RecordError
from engine.record_match import HandOf, parse_match, write_match
from engine.record_match_replay import MatchReplay, replay_match
from engine.tiles import SEATS
from tests.engine.random_hands import ALL_RULES, some_options
from tests.engine.random_matches import Evening

RECORDS = sorted((Path(__file__).resolve().parents[1] / "records" / "matches").glob("*.txt"))
HEAD = """match: 1
rules: classic-xiamen-144
player: 1 阿明 #1
player: 2
player: 3
player: 4
hands: 4
"""
DECLARED = """declared:
dealer: {dealer}
steps: {steps}
gold: 9p
{seat} golds 0
{seat} won zimo
"""


def hand(number: int, dealer: str, seat: str, steps: int = 0, more: str = "") -> str:
    return f"hand {number}\n{DECLARED.format(dealer=dealer, seat=seat, steps=steps)}{more}end\n"


def told(text: str) -> MatchReplay:
    return replay_match(parse_match(text))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_published_match_comes_out_as_it_says(path: Path) -> None:
    record = parse_match(path.read_text(encoding="utf-8"))
    replayed = replay_match(record)
    assert replayed.illegal is None and replayed.unmet == ()
    assert replayed.match.phase == "ended" and sum(replayed.points.values()) == 0
    assert parse_match(write_match(record)) == record
    assert {type(line).__name__ for line in record.lines} >= {"ThrownForSeat", "HandOf", "TakenBack", "Swapped"}


def test_hands_follow_each_other_and_a_void_one_counts_nothing() -> None:
    text = (
        f"{HEAD}\ndealer E 4+1\n{hand(1, 'E', 'E', more='want: net E 96 S -32 W -32 N -32' + chr(10))}"
        f"want: chips 1 196 2 68 3 68 4 68\nwant: next E 1\nvoid a wrong entry\n{hand(1, 'E', 'S')}"
        f"want: next S 0\n{hand(2, 'S', 'S')}want: seats E 1 S 2 W 3 N 4\nstop agreed\nwant: over agreed\n"
    )
    replayed = told(text)
    assert replayed.illegal is None and replayed.unmet == ()
    assert [one.booking.voided for one in replayed.hands if one.booking] == [True, False, False]
    assert sum(replayed.points.values()) == 0 and replayed.points["2"] > 0
    assert replayed.by_seat == dict(zip(SEATS, replayed.points.values(), strict=True))
    assert write_match(parse_match(text)) == write_match(replayed.record)


def test_who_throws_for_seats_and_swaps_is_asked_as_the_rules_say() -> None:
    text = (
        f"{HEAD.replace('hands: 4', 'seats: dice')}throw 1 1+1\nthrow 2 6+6\nthrow 3 2+2\nthrow 4 4+4\n"
        f"want: seats E 2 S 4 W 3 N 1\ndealer E 1+4\n{hand(1, 'E', 'N')}"
    )
    replayed = told(text)
    assert replayed.illegal is None and replayed.unmet == () and replayed.points["1"] > 0
    twice = told(text.replace("throw 2 6+6", "throw 1 6+6"))
    assert twice.illegal and (twice.illegal.line, twice.illegal.code) == (9, "not_your_throw")


@pytest.mark.parametrize(
    ("lines", "line", "code"),
    [
        ("dealer S 4+1", 8, "not_your_throw"),
        (f"dealer E 4+1\n{hand(2, 'E', 'S')}", 9, "other_hand"),
        (f"dealer E 4+1\n{hand(1, 'S', 'S')}", 9, "other_deal"),
        (f"dealer E 4+1\n{hand(1, 'E', 'S', steps=1)}", 9, "other_deal"),
        (f"dealer E 4+1\n{hand(1, 'E', 'S').replace('gold:', 'chips: E 1 S 1 W 1 N 1' + chr(10) + 'gold:')}",
         9, "other_chips"),
        (f"dealer E 4+1\n{hand(1, 'E', 'S').replace('golds 0', 'golds 9')}", 14, "bad_number"),
        (f"dealer E 4+1\n{hand(1, 'E', 'S').replace('S won zimo', '')}", 14, "no_end_declared"),
        (f"dealer E 4+1\nvoid\n{hand(1, 'E', 'S')}", 9, "cannot_undo"),
        ("dealer E 4+1\nswap 1 win 3+4", 9, "no_swap"),
        ("dealer E 4+1\nswap 9 win 3+4", 9, "no_swap"),
        ("dealer E 4+1\nstop time\nstop agreed", 10, "no_match"),
        (f"dealer E 4+1\nstop time\n{hand(1, 'E', 'S')}", 10, "not_between_hands"),
        ("dealer E 4+1\nextend 0 30", 9, "no_limit"),
        ("throw 1 3+4", 8, "not_asked"),
    ],
)  # fmt: skip
def test_the_first_line_that_cannot_be_is_named(lines: str, line: int, code: str) -> None:
    replayed = told(f"{HEAD}{lines}")
    assert replayed.illegal is not None
    assert (replayed.illegal.line, replayed.illegal.code) == (line, code)
    assert re.fullmatch(r"[RP]\d+", replayed.illegal.rule)


def test_what_is_wanted_and_not_so_is_told() -> None:
    text = (
        f"{HEAD}dealer E 4+1\n{hand(1, 'E', 'S', more='want: net S 1' + chr(10))}want: points 2 1\nwant: chips 1 1\n"
        "want: next W 0\nwant: over hands\nwant: bonus 1 5\nwant: points 9 0\nwant: seats E 2 S 1 W 3 N 4"
    )
    assert [(one.want.kind, one.want.line) for one in told(text).unmet] == [
        ("net", 16), ("points", 18), ("chips", 19), ("next", 20), ("over", 21), ("bonus", 22), ("points", 23),
        ("seats", 24),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (HEAD.replace("match: 1", "match: 0"), 1, "the number of the match, from 1"),
        (HEAD.replace("player: 4\n", ""), 5, "four lines `player: ID [NAME]`"),
        (HEAD.replace("player: 4", "player: 3"), 6, "four lines `player: ID [NAME]`"),
        (HEAD.replace("player: 4", "player:"), 6, "an id without blanks"),
        (HEAD.replace("hands: 4", "seats: yes"), 7, "free or dice"),
        (HEAD.replace("rules: classic", "rules: classical"), 2, "a ruleset that can be"),
        (f"{HEAD}throw 1 3+7", 8, "two dice such as 3+4"),
        (f"{HEAD}dealer X 3+4", 8, "`dealer SEAT DICE`"),
        (f"{HEAD}swap 1 luck 3+4", 8, "`swap PLAYER win|half|all DICE`"),
        (f"{HEAD}stop", 8, "`stop time|agreed`"),
        (f"{HEAD}extend 1", 8, "`extend HANDS MINUTES`"),
        (f"{HEAD}luck", 8, "one of throw, dealer"),
        (f"{HEAD}want: net E 3", 8, "one of points, bonus, chips"),
        (f"{HEAD}want: points 1", 8, "`want: points PLAYER NUMBER ...`"),
        (f"{HEAD}hand one", 8, "`hand NUMBER`"),
        (f"{HEAD}hand 1\n{DECLARED.format(dealer='E', seat='S', steps=0)}", 14, "a line `end` after hand 1"),
        (f"{HEAD}{hand(1, 'E', 'S').replace('gold: 9p', 'gold: x')}", 12, "a tile such as 3m"),
        (f"{HEAD}{hand(1, 'E', 'S').replace('gold: 9p', 'rules: basic-136' + chr(10) + 'gold: 9p')}",
         12, "the rules of the match, or none"),
        (f"{HEAD}hand 1\ndealer: E\nend", 10, "a line `gold: ...` before the end"),
    ],
)  # fmt: skip
def test_a_bad_text_is_told_by_line_and_what_was_expected(text: str, line: int, what: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_match(text)
    assert caught.value.line == line
    assert what in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(ALL_RULES), seed=st.integers(0, 2**32))
def test_an_exported_evening_replays_to_the_same_points(name: str, seed: int) -> None:
    """Two matches of chance, hands refereed and told, taken back and booked anew, seats thrown for and swapped."""
    chance = random.Random(seed)
    evening = Evening(chance)
    more = some_options(chance, name)
    for played in (0.0, 0.6):
        evening.play(name, {**more, "debt": played == 0.0}, chance.randint(1, 4), played)
    records = match_records(evening.events, evening.texts)
    assert [*records] == [1, 2]
    for number, record in records.items():
        text = match_record(evening.events, evening.texts, number)
        assert parse_match(text) == record and write_match(parse_match(text)) == text
        replayed = replay_match(parse_match(text))
        assert replayed.illegal is None and replayed.unmet == ()
        assert replayed.match.book == tuple(one for one in evening.match.book if one.match == number)
    last = replay_match(records[2])
    assert (last.match.chips, last.match.bonus) == (evening.match.chips, evening.match.bonus)
    assert (last.match.seats, last.match.deal) == (evening.match.seats, evening.match.deal)
    assert (last.match.phase, last.match.ended) == (evening.match.phase, evening.match.ended)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_spoilt_record_is_told_and_never_breaks(data: st.DataObject) -> None:
    """Lines gone, doubled, moved or with a word of another: one clear line or a referee's answer, nothing else."""
    lines = RECORDS[0].read_text(encoding="utf-8").splitlines()
    words = sorted({word for line in lines for word in line.split()} | {"extend", "stop", "time", "half"})
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        parts = lines[place].split() or [""]
        match data.draw(st.sampled_from(("drop", "double", "move", "word"))):
            case "drop":
                lines[place] = ""
            case "double":
                lines.insert(place, lines[place])
            case "move":
                lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(place))
            case _:
                parts[data.draw(st.integers(0, len(parts) - 1))] = data.draw(st.sampled_from(words))
                lines[place] = " ".join(parts)
    try:
        record = parse_match("\n".join(lines))
    except RecordError as error:
        assert 1 <= error.line <= len(lines)
        return
    assert parse_match(write_match(record)) == record
    replayed = replay_match(record)
    assert replayed.illegal is None or re.fullmatch(r"[RP]\d+", replayed.illegal.rule)
    assert sum(replayed.points.values()) == 0


def test_a_changed_amount_is_noticed() -> None:
    """One flower more in the 水 of a winner, and the match no longer comes to the points it tells."""
    evening = Evening(random.Random(4))
    evening.play("classic-xiamen-144", {"debt": True}, 4, 0.0)
    text = match_record(evening.events, evening.texts)
    won = next(line for line in text.splitlines() if " won " in line)[0]
    place = text.index(" won ")
    water = text.rindex(f"{won} water water ", 0, place) + len(f"{won} water water ")
    changed = text[:water] + str(int(text[water]) + 1) + text[water + 1 :]
    replayed = replay_match(parse_match(changed))
    assert replayed.unmet or replayed.illegal


def test_what_is_not_there_cannot_be_exported() -> None:
    evening = Evening(random.Random(1))
    evening.play("new-xiamen-120", {}, 2, 0.0)
    with pytest.raises(ExportError, match="hand 2 of match 1 has no record"):
        match_record(evening.events, evening.texts[:1])
    with pytest.raises(ExportError, match="no match 7; there are: 1"):
        match_record(evening.events, evening.texts, 7)
    with pytest.raises(ExportError, match="no match; there are: none"):
        match_record([], [])


def test_a_hand_of_a_match_needs_no_rules_of_its_own() -> None:
    evening = Evening(random.Random(2))
    evening.play("basic-136", {"base": 2}, 2, 0.5)
    record = match_records(evening.events, evening.texts)[1]
    assert write_match(record).count("rules: ") == 1
    assert all(one.hand.options == (("base", 2),) for one in record.lines if isinstance(one, HandOf))
