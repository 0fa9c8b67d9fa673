"""Random whole matches: seats thrown for, hands refereed or told, some taken back, swaps; and the records of each."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from engine.chain import Refused
from engine.declared import declare, new_sheet
from engine.dice import Dice
from engine.match import Match, Player, apply, decide
from engine.match import events as e
from engine.match import inputs as i
from engine.match.seating import must_throw, swap_rights
from engine.play import Deal, begin, faults, hand_end, options, step
from engine.play.state import asked
from engine.record import Record, write_record
from engine.record_declared import DeclaredRecord, declared_of, write_declared
from engine.record_replay import Entry, record_of
from engine.ruleset import copies
from engine.tiles import SEATS, is_flower
from tests.engine.random_sheets import booked_somehow

PEOPLE = (Player("1", "Ann #1"), Player("2", "阿宝"), Player("3"), Player("4"))


class Evening:
    """A session that is played by chance; `events` and the hands' `texts` are what a journal would hold."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.match = Match()
        self.events: list[e.MatchEvent] = []
        self.texts: list[str] = []

    def do(self, asked_for: i.MatchInput) -> None:
        """One input and what it causes."""
        for event in decide(self.match, asked_for):
            self.match = apply(self.match, event)
            self.events.append(event)

    def play(self, rules: str, more: dict[str, Any], hands: int, played: float) -> None:
        """A match of so many hands; `played` is the share of hands that are refereed."""
        chance = self.chance
        self.do(i.StartMatch(PEOPLE, rules, more, hands, 0, chance.random() < 0.5))
        while self.match.phase == "seating":
            due = must_throw([player.id for player in PEOPLE], self.match.rolls)
            self.do(i.ThrowForSeat(due[0], self._dice()))
        self.do(i.ThrowForDealer("E", self._dice()))
        self._hands(rules, more, played)
        if self.match.phase == "playing":
            self._told(rules, more)
        if self.match.phase == "between":
            self.do(i.EndMatch())

    def _hands(self, rules: str, more: dict[str, Any], played: float) -> None:
        for _ in range(2 * self.match.agreement.hands if self.match.agreement else 0):
            if self.match.phase == "ended":
                return
            if self.match.phase == "between":
                self.do(i.BeginHand())
            book = self._played if self.chance.random() < played else self._told
            book(rules, more)
            self._between()

    def _between(self) -> None:
        for player in PEOPLE:
            for right in swap_rights(self.match, player.id) if self.chance.random() < 0.2 else ():
                self.do(i.Swap(player.id, right, self._dice()))
        if self.chance.random() < 0.2:
            self.do(i.TakeBack("not  so # at all"))

    def _played(self, rules: str, more: dict[str, Any]) -> None:
        match = self.match
        deal = some_deal(self.chance, match.rules, match.dealer)
        chips = tuple(match.chips_by_seat().items())
        record = Record(rules, deal, (), tuple(more.items()), match.steps, chips=chips)
        done = some_entries(self.chance, deal)
        state = begin(deal)
        for entry in done:
            assert entry is not None
            state = step(state, *entry)
        self.texts.append(write_record(record_of(record, done)))
        self.do(i.BookPlayed(hand_end(state, match.steps)))

    def _told(self, rules: str, more: dict[str, Any]) -> None:
        match = self.match
        begun = new_sheet(match.rules, match.dealer, "9p", match.steps)
        sheet = begun
        for said in booked_somehow(self.chance, match.rules, match.dealer, match.steps):
            sheet = declare(sheet, said)
        chips = tuple(match.chips_by_seat().items())
        record = declared_of(DeclaredRecord(rules, begun, (), tuple(more.items()), chips), sheet)
        self.texts.append(write_declared(record))
        self.do(i.BookDeclared(sheet))

    def _dice(self) -> Dice:
        return self.chance.randint(1, 6), self.chance.randint(1, 6)


def some_deal(chance: random.Random, rules: Any, dealer: str) -> Deal:
    """A random deal after 补花 and 开金."""
    tiles = list(copies(rules).elements())
    chance.shuffle(tiles)
    flipped = tiles.pop(next(index for index, face in enumerate(tiles) if not is_flower(face)))
    plain = [face for face in tiles if not is_flower(face)]
    flowers = [face for face in tiles if is_flower(face)]
    hands = {}
    for seat in SEATS:
        count = rules.hand + (seat == dealer)
        hands[seat], plain = tuple(plain[:count]), plain[count:]
    held = {seat: tuple(flowers[place:4:4]) for place, seat in enumerate(SEATS)}
    wall = [*plain, *flowers[4:]]
    chance.shuffle(wall)
    return Deal(rules, dealer, flipped, flipped, hands, held, tuple(wall))


def some_entries(chance: random.Random, deal: Deal, faulty: float = 0.001) -> list[Entry]:
    """What random players do until the hand is over."""
    state = begin(deal)
    done: list[Entry] = []
    while state.phase != "over":
        seat = chance.choice(asked(state))
        allowed = options(state, seat)
        if chance.random() < faulty and faults(state, seat):
            allowed = faults(state, seat)
        wins = [action for action in allowed if action.name == "hu"]
        action = chance.choice(wins if wins and chance.random() < 0.5 else allowed)
        try:
            state = step(state, seat, action)
        except Refused:
            continue
        done.append((seat, action))
    return done


def without_voids(events: list[e.MatchEvent]) -> list[e.MatchEvent]:
    """The events, every booking as if it had never been taken back."""
    return [
        replace(event, booking=replace(event.booking, voided=False)) if isinstance(event, e.HandBooked) else event
        for event in events
    ]
