"""What was played at a table comes out of its exported records again, hand by hand and as whole matches."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.export import ExportError, hand_record, match_record, match_records, named_rules
from engine.match.state import Booking
from engine.record import Record, parse_record, write_record
from engine.record_declared import DeclaredRecord, replay_declared, unmet_declared
from engine.record_file import parse_any, write_any
from engine.record_match_replay import replay_match
from engine.record_replay import replay
from engine.record_wants import unmet
from engine.ruleset import EXAMPLES, load_ruleset, profiles
from engine.state import new_state
from engine.tiles import SEATS
from tests.engine.evenings import Evening
from tests.engine.test_records import RECORDS


def net_of(text: str) -> dict[str, int]:
    """The points of an exported hand, replayed by itself; all that it wants holds."""
    record = parse_any(text)
    assert write_any(record) == text
    if isinstance(record, DeclaredRecord):
        told = replay_declared(record)
        assert told.illegal is None and unmet_declared(told) == () and told.settlement is not None
        return told.settlement.net
    assert isinstance(record, Record)
    played = replay(record)
    assert played.illegal is None and unmet(played) == () and played.settlement is not None
    return played.settlement.net


def by_seat(booking: Booking) -> dict[str, int]:
    return {seat: booking.points[booking.seats[seat]] for seat in SEATS}


@pytest.mark.parametrize("sensing", ["full", "none"])
@pytest.mark.parametrize("rules", profiles())
def test_every_hand_and_the_match_come_to_the_points_that_were_booked(rules: str, sensing: str) -> None:
    evening = Evening(rules, sensing, seed=5, hands=3)
    book = evening.play(taking_back=True).session.book
    assert len(evening.texts) == len(book) >= 2 and book[0].voided
    for text, booking in zip(evening.texts, book, strict=True):
        assert net_of(text) == by_seat(booking)
    replayed = replay_match(match_records(evening.said, evening.texts)[1])
    assert replayed.illegal is None and replayed.unmet == ()
    assert replayed.match.book == book


def test_a_refereed_hand_is_played_and_one_taken_back_is_declared() -> None:
    evening = Evening("new-xiamen-120", "full", seed=2, hands=2)
    book = evening.play(taking_back=True).session.book
    found = [(one.voided, text.startswith("declared:")) for one, text in zip(book, evening.texts, strict=True)]
    assert found[:2] == [(True, False), (False, True)], "played and taken back, then as people told it"
    stood = Evening("new-xiamen-120", "full", seed=5, hands=2)
    stood.play()
    assert any(text.startswith("about: match 1, hand") for text in stood.texts), "a hand that stood as it was played"


def test_an_evening_of_two_matches_is_two_records() -> None:
    evening = Evening("classic-xiamen-144", "none", seed=3, hands=2, options={"chips": 300})
    evening.play()
    evening.play()
    records = match_records(evening.said, evening.texts)
    assert [*records] == [1, 2]
    text = match_record(evening.said, evening.texts)
    assert text.startswith("match: 2\nrules: classic-xiamen-144\noption: chips = 300\nplayer: 1\n")
    assert replay_match(records[2]).match.chips == evening.walker.state.session.chips


@pytest.mark.parametrize("name", [*profiles(), *EXAMPLES])
def test_rules_are_named_by_what_is_shipped_and_what_differs(name: str) -> None:
    rules = load_ruleset(name)
    assert named_rules(rules) == (name, ())
    house = rules.model_copy(update={"name": "our-house", "parent": name, "chips": 300})
    assert named_rules(house) == (name, (("chips", 300),) if rules.chips != 300 else ())
    with pytest.raises(ExportError, match="our-house is no ruleset that is shipped"):
        named_rules(house.model_copy(update={"parent": None}))


def test_nothing_booked_is_nothing_to_write() -> None:
    with pytest.raises(ExportError, match="no hand is booked"):
        hand_record(new_state())


@pytest.mark.parametrize("path", RECORDS[::12], ids=lambda path: path.stem)
def test_a_record_of_any_kind_is_read_by_its_headings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert parse_any(text) == parse_record(text)
    assert write_any(parse_record(text)) == write_record(parse_record(text))
