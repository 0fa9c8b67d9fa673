"""Presses that say what has happened by the time they arrive: nobody is wrong, and nothing is left to do (P1).

A hand draws while its display is told that it has, two people press the same key at once. Such a press is taken and
changes nothing. Only words that carry nothing but the fact are here: whatever names a value, chooses or claims is late.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from engine.play.state import PlayState
from engine.readings import doubts, unlaid
from engine.state import PHASES, Roll, State, WantId
from engine.tiles import SEATS, play_order

_ID = re.compile(r"(\d{1,9})\.([a-z_]{1,32})-(\d{1,9})\.(\d{1,9})")
_ZONES = ("hand", "flowers", "melds", "discards")


def is_so_already(state: State, seat: str, wanted: str, action: str) -> bool:
    """Whether what a seat answers to a want that is outstanding no more, or for that seat no more, has come about."""
    found = _ID.fullmatch(wanted)
    if found is None:
        return False
    want = WantId(int(found[1]), found[2], int(found[3]), int(found[4]))
    check = _SAID.get((want.step, action))
    return check is not None and want.hand == state.hand and check(state, seat, want)


def _behind(*phases: str) -> Callable[[State, str, WantId], bool]:
    """Whether a hand has gone beyond a phase, the phase by the index of the want where there are several."""

    def check(state: State, seat: str, want: WantId) -> bool:
        phase = phases[want.index] if want.index < len(phases) else ""
        return bool(phase) and PHASES.index(phase) < PHASES.index(state.phase) <= PHASES.index("play")

    return check


def _take(state: State, seat: str, want: WantId) -> bool:
    """A take of a table that reads is known by its number, the taking of one that does not by the phase."""
    if not state.reads_tiles:
        return _behind("taking", "door")(state, seat, want)
    takes = state.play.takes
    return 1 <= want.index <= state.play.takes_done and takes[want.index - 1][0] == seat


def _flowers(state: State, seat: str, want: WantId) -> bool:
    """R7: a seat's turn of a round is over."""
    round_, place = divmod(want.index, len(SEATS))
    if place >= len(SEATS) or not state.dealer or play_order(state.dealer)[place] != seat:
        return False
    turn = state.play.flower_turn
    return _behind("flowers")(state, seat, WantId(want.hand, want.step)) or (
        turn is not None and turn > (round_, place)
    )


def _drawn(state: State, seat: str, want: WantId) -> bool:
    """The last draw was this seat's, and it was made behind the one that was asked for."""
    game = state.play.game
    return game is not None and game.last_drawer == seat and want.index < state.play.beat


def _laid(state: State, seat: str, want: WantId) -> bool:
    """The last meld of this seat lies there, or what it had to put away is put away (`engine.play_wants`)."""
    game = state.play.game
    if game is None or want.index % len(SEATS) != SEATS.index(seat):
        return False
    return want.index // len(SEATS) in _last_laid(game, seat) and not unlaid(state, seat)


def _last_laid(game: PlayState, seat: str) -> tuple[int, int]:
    own = game.seats[seat]
    return len(own.melds), 16 + len(own.aside)


def _dice(state: State, seat: str, want: WantId) -> bool:
    """The very entry that was looked at stands, or this seat has agreed to it already."""
    roll = state.play.roll
    return (
        roll is not None
        and _entry(roll) == (want.index, want.attempt)
        and (roll.stage == "done" or (roll.stage == "checking" and seat in roll.agreed))
    )


def _entry(roll: Roll) -> tuple[int, int]:
    return roll.index, roll.attempt * 256 + roll.entry


def _gold(state: State, seat: str, want: WantId) -> bool:
    gold = state.play.gold
    return (
        gold is not None
        and gold.flips * 256 + gold.entry == want.attempt
        and (gold.stage == "opened" or (gold.stage == "checking" and seat in gold.agreed))
    )


def _zone_right(state: State, seat: str, want: WantId) -> bool:
    """The zone that was asked about shows what it should."""
    owner, zone = divmod(want.index, len(_ZONES))
    known = state.play.game is not None and owner == SEATS.index(seat)
    return known and not any((doubt.seat, doubt.zone) == (seat, _ZONES[zone]) for doubt in doubts(state))


_SAID: Mapping[tuple[str, str], Callable[[State, str, WantId], bool]] = {
    ("lift", "lift"): _behind("lift"),
    ("push_in", "pushed"): _behind("push_in"),
    ("row", "ok"): lambda state, _, __: state.play.rows_laid,
    ("take", "ok"): _take,
    ("take", "by_hand"): _take,
    ("taken", "not_yet"): lambda state, _, __: state.phase in ("taking", "door"),
    ("flowers", "ok"): _behind("flowers"),
    ("flowers", "by_hand"): _flowers,
    ("draw", "by_hand"): _drawn,
    ("replace", "by_hand"): _drawn,
    ("lay", "by_hand"): _laid,
    ("dice_check", "agree"): _dice,
    ("gold_check", "agree"): _gold,
    ("count_wrong", "ok"): _zone_right,
    ("reader_check", "believed"): _zone_right,
    ("parked", "unpark"): lambda state, _, __: not state.parking,
    ("stopped", "clear"): lambda state, _, __: not state.stop,
}
"""Step of a want and answer → whether the answer is so already."""
