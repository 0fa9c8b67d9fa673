"""Hands as text records: the published ones come out as they say, and record → state → record is exact (R13-R42)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.melds import MELD_KINDS
from engine.play import COVER_REASONS, Deal, begin, everything, faults, options, step
from engine.play.state import asked
from engine.record import HEADINGS, Record, RecordError, parse_record, write_record
from engine.record_declared import DECLARED_HEADINGS, parse_declared, replay_declared, unmet_declared
from engine.record_lines import FOUL_KINDS, KONG_VERBS, VERBS, WANT_SHAPES, Clock, Drawn, Move, Want
from engine.record_match import MATCH_HEADINGS, MATCH_VERBS, MATCH_WANTS, OVERS, RIGHTS, STOPS, parse_match
from engine.record_match_replay import replay_match
from engine.record_replay import WINDOWS, Entry, Replay, entries, record_of, replay
from engine.record_said import ITEMS, SAID_VERBS, TOLD_PATTERNS
from engine.record_wants import unmet, wants_illegal
from engine.ruleset import EXAMPLES, copies, load_ruleset, profiles
from engine.tally import HARDNESS
from engine.tiles import SEATS, is_flower

RECORDS = sorted((Path(__file__).resolve().parents[1] / "records").glob("*.txt"))
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "records.md"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = [path.stem for path in RECORDS]
RULES_OF_PLAY = [f"R{number}" for number in (*range(13, 19), *range(22, 30), 38, 39, 40)]
OPTIONS_OF_PLAY: Mapping[str, tuple[object, ...]] = {
    "white_mode": ("always", "off"),
    "gold_in_pair": ("any", "both_or_none"),
    "seven_pairs": (False, True),
    "sanjindao": ("off", "opening", "any_time"),
    "qiangjin": ("off", "opening", "in_play"),
    "qiangjin_window": ("dealer_discard", "own_discard"),
    "opening_order": ("way", "seat"),
    "rob_kong": (False, True),
    "several_winners": (False, True),
    "special_first": (False, True),
    "eight_flowers": ("wins", "water", "off"),
    "sanhuayou": ("chain", "gold_flips", "off"),
    "kong_after_claim": (False, True),
    "missed_tiles": (False, True),
    "follow": ("off", "enforce", "remind", "fault"),
    "gold_discard": ("lock", "fault", "illegal"),
    "tour_guard": (False, True),
    "tour_discard": ("an", "ming"),
    "direct_shuangyou": (False, True),
    "sanyou_interrupt": ("self_draw", "kong_only", "none"),
    "tour_last_tile": (False, True),
    "kong_youjin": (False, True),
    "last_tiles_no_youjin": (0, 4),
    "last_tiles_seen_only": (0, 8),
    "false_win": ("refuse", "foul"),
    "dealer_followed": (False, True),
    "payers": ("all", "discarder"),
    "debt": (False, True),
}
"""Every option of play and its values; each is played in some published hand."""

ENDS_OF_A_HAND = (
    *("pinghu", "zimo", "qianggang", "youjin", "shuangyou", "sanyou", "qiangjin", "qiangshuangyou", "sanjindao"),
    *("sanjindao_late", "tianhu", "dihu", "shuanghuagang", "sanhuayou", "zhahu", "zhayou", "zhashuangyou", "draw"),
)


@cache
def _text(name: str) -> str:
    return (RECORDS[0].parent / f"{name}.txt").read_text(encoding="utf-8")


@cache
def _replayed(name: str) -> Replay:
    return replay(parse_record(_text(name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_published_hand_comes_out_as_it_says(name: str) -> None:
    replayed = _replayed(name)
    assert any(isinstance(line, Want) for line in replayed.record.lines)
    assert not [f"line {one.want.line}: {one.want.words}: found {one.found}" for one in unmet(replayed)]
    assert (replayed.illegal is not None) == wants_illegal(replayed.record.lines)
    assert replayed.illegal is not None or replayed.settlement is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_published_hand_is_written_back_exactly(name: str) -> None:
    record = _replayed(name).record
    text = write_record(record)
    assert parse_record(text) == record
    assert write_record(parse_record(text)) == text
    assert [line for line in text.splitlines() if line.startswith("about: ")] == [
        line for line in _text(name).splitlines() if line.startswith("about: ")
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("illegal")])
def test_a_published_hand_told_in_full_comes_to_the_same(name: str) -> None:
    replayed = _replayed(name)
    full = record_of(replayed.record, entries(replayed))
    again = replay(parse_record(write_record(full)))
    assert again.last == replayed.last
    assert again.settlement == replayed.settlement
    assert record_of(full, entries(again)) == full


@pytest.mark.parametrize("name", NAMES)
def test_no_tile_is_lost_in_a_published_hand(name: str) -> None:
    replayed = _replayed(name)
    tiles = copies(replayed.first.deal.rules)
    for state in (replayed.first, *(told.state for told in replayed.steps)):
        assert +everything(state) == tiles
    if replayed.settlement is not None:
        assert sum(replayed.settlement.net.values()) == 0
        assert sum(replayed.settlement.bonus.values()) == 0


@pytest.mark.parametrize("name", [name for name in NAMES if "want: net" in _text(name)])
def test_a_wrong_want_is_told(name: str) -> None:
    """One point more for E than is paid is noticed, at its line."""
    record = _replayed(name).record
    wanted = next(line for line in record.lines if isinstance(line, Want) and line.kind == "net")
    settlement = _replayed(name).settlement
    assert settlement is not None
    wrong = replace(wanted, words=("E", str(settlement.net["E"] + 1)))
    lines = tuple(wrong if line is wanted else line for line in record.lines)
    told = unmet(replay(replace(record, lines=lines)))
    assert [one.want.line for one in told] == [wanted.line]


def test_there_is_a_record_for_every_rule_of_play_and_every_ending() -> None:
    about = "\n".join(line for name in NAMES for line in _text(name).splitlines() if line.startswith("about:"))
    assert set(RULES_OF_PLAY) <= set(re.findall(r"R\d+", about))
    wanted = {word for name in NAMES for line in _text(name).splitlines() if "want:" in line for word in line.split()}
    assert set(ENDS_OF_A_HAND) <= wanted
    assert {*profiles(), *EXAMPLES} == {_replayed(name).record.rules for name in NAMES}
    for option, values in OPTIONS_OF_PLAY.items():
        played = {getattr(_replayed(name).record.deal.rules, option) for name in NAMES}
        assert set(values) <= played, option
    assert len(NAMES) >= 40


DEAL = _text("r13-r30-pinghu").partition("\n\n")[0]
BIDS = _text("r36-soft")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("", 1, "`rules: ...`"),
        (DEAL.replace("rules: new-xiamen-120", "rules: old-xiamen"), 2, "there is no ruleset 'old-xiamen'"),
        (DEAL.replace("dealer: E", "option: youjin_base = 9\ndealer: E"), 3, "youjin_base"),
        (DEAL.replace("dealer: E", "option: youjin_base\ndealer: E"), 3, "`option: FIELD = VALUE`"),
        (DEAL.replace("dealer: E", "dealer: X"), 3, "E, S, W or N; got 'X'"),
        (DEAL.replace("gold: 9s", "gold: 9x"), 4, "a tile such as 3m"),
        (DEAL.replace("gold: 9s", "gold: 9s\ngold: 9s"), 5, "`gold:` once; it stands in line 4 already"),
        (DEAL.replace("hand S: 1", "hand S: "), 6, "15 tiles; expected 16"),
        (DEAL.replace("hand E", "hand Q"), 5, "a heading such as"),
        (DEAL.replace("wall: ...", "wall: 1m 2m"), 11, "the rest of the set in the wall; nowhere are"),
        (DEAL.replace("wall: ...", "wall: 9s 9s 9s 9s ..."), 11, "9s is there 5 times; the set has 4"),
        (DEAL.replace("wall: ...", "wall: ... ..."), 11, "... once in the wall"),
        (f"{DEAL}\ntail: 1-3", 12, "every place of the wall once"),
        (f"{DEAL}\ntail: 1-", 12, "places of the wall from 1"),
        (f"{DEAL}\nsteps: -1", 12, "a whole number from 0"),
        (f"{DEAL}\ntop: S x", 12, "seats and numbers"),
        (f"{DEAL}\nbuy: 3", 12, "no `buy:` in rules without 买底"),
        (f"{DEAL}\nchips: E 100 S 100", 12, "the chips of all four seats"),
        (BIDS.replace("buy: 5", "buy: 31"), 5, "no more than this hand's base, 30 (R36)"),
        (BIDS.replace("top: S 3", "top: S -3"), 6, "no more than this hand's base, 30 (R36)"),
        (f"{DEAL}\nopening: S lucky", 12, "`passed`, or a seat and a way"),
        (f"{DEAL}\n\nE discard 9p", 13, "one of draws, discards"),
        (f"{DEAL}\n\nX discards 9p", 13, "a seat E, S, W or N, close, open or want:"),
        (f"{DEAL}\n\nE discards 9p 9p", 13, "`E discards TILE [down]`"),
        (f"{DEAL}\n\nE discards 9z", 13, "a tile such as 3m, 5z or 2f, not '9z'"),
        (f"{DEAL}\n\nE draws", 13, "a tile and nothing else"),
        (f"{DEAL}\n\nS chi 3m 24m", 13, "`S chi TILE with OWN-TWO`"),
        (f"{DEAL}\n\nS chi 3m with 2m", 13, "`S chi TILE with OWN-TWO`"),
        (f"{DEAL}\n\nS kong 3m", 13, "`S kong TILE open|added|concealed`"),
        (f"{DEAL}\n\nS hu luck", 13, "a way of winning after hu: pinghu"),
        (f"{DEAL}\n\nS pass now", 13, "`S pass`"),
        (f"{DEAL}\n\nS false hu", 13, "one of zhahu, zhayou, zhashuangyou"),
        (f"{DEAL}\n\nS covered badly", 13, "one of wrong_count"),
        (f"{DEAL}\n\nwant: luck", 13, "one of phase, turn"),
        (f"{DEAL}\n\nwant: net E", 13, "`want: net SEAT NUMBER ...`"),
        (f"{DEAL}\n\nwant: win S pinghu 9p from", 13, "`want: win SEAT WAY"),
        (f"{DEAL}\n\nwant: refused S pong 3m", 13, "`want: refused RULE MOVE`"),
        (f"{DEAL}\n\nwant: hand S 9", 13, "tiles such as 123m5z"),
        (f"{DEAL}\n\nE discards 9p\ndealer: E", 14, "a seat E, S, W or N"),
    ],
)
def test_a_bad_text_is_told_by_line_and_what_was_expected(text: str, line: int, told: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    assert caught.value.line == line
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_document_tells_all_of_the_notation() -> None:
    book = FENCED.sub("", DOCUMENT.read_text(encoding="utf-8"))
    told = {word for code in re.findall(r"`([^`]+)`", book) for word in re.split(r"[ :]+", code)}
    assert {*HEADINGS, *VERBS, *WANT_SHAPES, *KONG_VERBS, *FOUL_KINDS, *COVER_REASONS, "close", "open"} <= told
    assert {*DECLARED_HEADINGS, *SAID_VERBS, *ITEMS, *TOLD_PATTERNS, *MELD_KINDS, *HARDNESS} <= told
    assert {*MATCH_HEADINGS, *MATCH_VERBS, *MATCH_WANTS, *RIGHTS, *STOPS, *OVERS} <= told


def test_the_example_of_the_document_comes_out_as_it_says() -> None:
    blocks = FENCED.findall(DOCUMENT.read_text(encoding="utf-8"))
    (example,) = (text for language, text in blocks if not language)
    replayed = replay(parse_record(example))
    assert replayed.settlement is not None
    assert unmet(replayed) == ()


def test_the_declared_hand_and_the_match_of_the_document_come_out_as_they_say() -> None:
    declared, match = (text for language, text in FENCED.findall(DOCUMENT.read_text("utf-8")) if language == "text")
    hand = replay_declared(parse_declared(declared))
    assert hand.settlement is not None and unmet_declared(hand) == ()
    whole = replay_match(parse_match(match))
    assert whole.illegal is None and whole.unmet == () and len(whole.hands) == 2


def test_what_surrounds_a_line_does_not_matter() -> None:
    plain = parse_record(f"{DEAL}\n\nE discards 9p\nS hu pinghu\n")
    spaced = parse_record(f"# a hand\n\n{DEAL}\n\n\n  E discards 9p   # 九饼\n\nS hu pinghu")
    assert spaced == plain
    assert [line.line for line in spaced.lines] == [16, 18]


def test_an_open_window_closes_at_the_end_unless_the_record_says_open() -> None:
    played = parse_record(f"{DEAL}\n\nE discards 9p\n")
    assert replay(played).last.phase == "turn"
    held = replay(replace(played, lines=(*played.lines, Clock("open"))))
    assert (held.last.phase, held.last.tile) == ("window", "9p")


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("E discards 9p", "S draws 1m tail"), "draw_differs"),
        (("E discards 9p", "W draws 1m"), "draw_differs"),
        (("E discards 9p", "S pass", "W pong 8p"), "other_tile"),
        (("E discards 9p", "S draws 1m", "S draws 1m"), "no_draw"),
        (("E discards 9p", "S draws 1m", "close"), "no_window"),
        (("E discards 9p", "S draws 1m", "open"), "no_window"),
        (("E discards 9p", "S hu pinghu", "close", "W pass"), "hand_over"),
    ],
)
def test_the_first_line_that_cannot_be_is_named(lines: tuple[str, ...], code: str) -> None:
    header = DEAL.replace("wall: ...", "wall: 1m ...")
    found = replay(parse_record("\n".join((header, "", *lines)))).illegal
    assert found is not None
    assert (found.line.line, found.code) == (13 + len(lines) - 1, code)
    assert re.fullmatch(r"R\d+", found.rule)


def _dealt(rules_name: str, chance: random.Random) -> Record:
    """A random deal, the tail in an order of its own every other time."""
    rules = load_ruleset(rules_name)
    tiles = list(copies(rules).elements())
    chance.shuffle(tiles)
    gold = next(index for index, face in enumerate(tiles) if not is_flower(face))
    flipped = tiles.pop(gold)
    plain = [face for face in tiles if not is_flower(face)]
    flowers = [face for face in tiles if is_flower(face)]
    dealer = chance.choice(SEATS)
    hands = {}
    for seat in SEATS:
        count = rules.hand + (seat == dealer)
        hands[seat], plain = tuple(plain[:count]), plain[count:]
    dealt = chance.randrange(len(flowers) + 1)
    held = {seat: tuple(flowers[place:dealt:4]) for place, seat in enumerate(SEATS)}
    wall = [*plain, *flowers[dealt:]]
    chance.shuffle(wall)
    tail = list(range(len(wall) - 1, -1, -1))
    if chance.random() < 0.5:
        tail = [place ^ 1 if place ^ 1 < len(wall) else place for place in tail]
    deal = Deal(rules, dealer, flipped, flipped, hands, held, tuple(wall), tuple(tail))
    return Record(rules_name, deal, steps=chance.randrange(3), about=("a hand of chance, # not a comment",))


def _played(record: Record, chance: random.Random, most: int, faulty: float = 0.002) -> list[Entry]:
    """What random players do, faults now and then, until the hand is over or so much was done."""
    state = begin(record.deal)
    done: list[Entry] = []
    while state.phase != "over" and len(done) < most:
        seat = chance.choice(asked(state))
        allowed = options(state, seat)
        if chance.random() < faulty and faults(state, seat):
            allowed = faults(state, seat)
        wins = [action for action in allowed if action.name == "hu"]
        action = chance.choice(wins if wins and chance.random() < 0.5 else allowed)
        done.append((seat, action))
        state = step(state, seat, action)
    return done


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from((*profiles(), *EXAMPLES)),
    seed=st.integers(0, 2**32),
    most=st.sampled_from((0, 1, 7, 60, 2000)),
)
def test_a_random_hand_goes_through_its_record_exactly(name: str, seed: int, most: int) -> None:
    chance = random.Random(seed)
    dealt = _dealt(name, chance)
    done = _played(dealt, chance, most)
    record = record_of(dealt, done)
    read = parse_record(write_record(record))
    assert read == record
    replayed = replay(read)
    assert replayed.illegal is None
    assert [*entries(replayed)] == done
    assert record_of(read, entries(replayed)) == record
    state = begin(dealt.deal)
    for entry in done:
        assert entry is not None
        state = step(state, *entry)
    assert replayed.last == state
    drawn = sum(isinstance(line, Drawn) for line in record.lines)
    assert len(state.left) == len(dealt.deal.wall) - drawn


@pytest.mark.parametrize("seed", range(4))
def test_a_record_without_its_draws_and_passes_comes_to_the_same(seed: int) -> None:
    """Terse and full are one hand: the wall implies the draws, and a line behind a window that the others passed."""
    chance = random.Random(seed)
    dealt = _dealt("classic-xiamen-144", chance)
    record = record_of(dealt, _played(dealt, chance, 2000, faulty=0))
    full = replay(record)
    terse, before = [], full.first
    for told in full.steps:
        passes = isinstance(told.line, Move) and told.line.action.name == "pass" and before.phase in WINDOWS
        if not passes and not isinstance(told.line, Drawn):
            terse.append(told.line)
        before = told.state
    assert len(terse) < len(record.lines) / 2
    assert replay(replace(record, lines=tuple(terse))).last == full.last


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(NAMES), data=st.data())
def test_a_spoilt_record_is_told_and_never_breaks(name: str, data: st.DataObject) -> None:
    """Lines gone, doubled, moved or with a word of another: one clear line or a referee's answer, nothing else."""
    lines = _text(name).splitlines()
    words = sorted({word for line in lines for word in line.split()})
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        parts = lines[place].split() or [""]
        match data.draw(st.sampled_from(("drop", "double", "move", "word", "cut"))):
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
                lines[place] = lines[place][: data.draw(st.integers(0, len(lines[place])))]
    try:
        record = parse_record("\n".join(lines))
    except RecordError as error:
        assert 1 <= error.line <= len(lines)
        return
    assert parse_record(write_record(record)) == record
    replayed = replay(record)
    unmet(replayed)
    assert replayed.illegal is None or re.fullmatch(r"R\d+", replayed.illegal.rule)
    assert +everything(replayed.last) == copies(record.deal.rules)
