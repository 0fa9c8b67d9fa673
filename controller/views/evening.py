"""The evening as everybody sees it: what is played, who sits where, how the match stands, how the last hand ended.

A booking speaks of the seats as they were; people look at the seats as they are. What is said of a booked hand follows
its players to where they sit now (R2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from controller.live import Live
from controller.views.play import melds_shown
from engine.match.seating import swap_rights
from engine.match.state import Booking, Match
from engine.match.statistics import figures, points
from engine.reasons import Transfer
from engine.ruleset import Ruleset
from engine.scoring import dealer_base, most_bid
from engine.state import Result, Setup, State
from engine.tiles import SEATS, format_tiles

_SHOWN_PHASE = {"centre_up": "lift", "centre_down": "push_in", "reading": "walls", "swapping": "seating"}


def evening(state: State, live: Live) -> dict[str, Any]:
    """What is played, and how far."""
    setup = _setup(state)
    return {
        "use": use(state, live.table.opened),
        "locked": live.table.locked,
        "rules": setup.rules.name if setup else live.table.rules,
        "layout": setup.layout if setup else live.table.layout or None,
        "options": dict(setup.options) if setup else {},
        "sensing": setup.sensing if setup else live.table.sensing,
        "dice_mode": setup.dice if setup else live.table.dice,
        "hand": match_hand(state),
        "hands": hands_agreed(state),
        "dealer": state.dealer or None,
        "streak": state.streak,
        "base": _base(setup.rules, state.session.steps) if setup else None,
        "bids": _bids(state),
        "phase": _SHOWN_PHASE.get(state.phase, state.phase),
    }


def _setup(state: State) -> Setup | None:
    """What the match is played with; None where none has been played this evening."""
    return None if state.phase == "idle" else state.setup


def _bids(state: State) -> dict[str, int] | None:
    """What the seats have bid on this hand (R36, P7), who has not spoken left out; None in rules without bids."""
    known = _setup(state) is not None and most_bid(state.match.rules, state.session.steps)
    return dict(state.play.bids) if known else None


def use(state: State, opened: bool = False) -> str:
    """What the table is in use for, as the parlor sees it; `opened`: by the parlor, for an evening."""
    if _setup(state) is None or state.phase == "ended":
        return "open" if opened else "free"
    if state.ending or state.parking:
        return "closing"
    return "paused" if state.parked or state.phase == "paused" else "playing"


def match_hand(state: State) -> int:
    """The number of the hand within its match, from 1; 0 without a match; the last hand's once the match ends."""
    if _setup(state) is None:
        return 0
    number = state.hand - state.first_hand + 1
    if state.ending and state.result is not None and state.result.hand == state.hand - 1:
        return number - 1
    return number


def hands_agreed(state: State) -> int:
    """How many hands the match has, 0 for no limit."""
    if state.session.agreement is not None:
        return state.session.agreement.hands
    setup = _setup(state)
    return setup.hands if setup else 0


def match(state: State) -> dict[str, Any] | None:
    """The match and how it stands; None before the first of an evening."""
    session = state.session
    agreed = session.agreement
    if agreed is None:
        return None
    sitting = {seat: session.seats[seat] for seat in SEATS if seat in session.seats}
    names = {player.id: player.name for player in session.players}
    cards = agreed.rules.chip_style == "cards"
    return {
        "number": session.match,
        "hand": session.hand,
        "hands": agreed.hands,
        "minutes": agreed.minutes,
        "left_min": max(0, agreed.minutes - state.minutes) if agreed.minutes else None,
        "stage": session.phase,
        "ended": session.ended or None,
        "players": {seat: {"id": player, "name": names[player][:40]} for seat, player in sitting.items()},
        "points": {seat: points(session, player) for seat, player in sitting.items()},
        "chips": {seat: session.chips[player] for seat, player in sitting.items()} or None,
        "deck": agreed.rules.chips if cards else 0,
        "bonus": {seat: session.bonus[player] for seat, player in sitting.items()},
        "evening": _of_all_matches(session, "points"),
        "evening_bonus": _of_all_matches(session, "bonus"),
        "swaps": {seat: list(rights) for seat, player in sitting.items() if (rights := swap_rights(session, player))},
        "steps": session.steps,
        "pausing": state.pausing,
    }


def _of_all_matches(session: Match, account: Literal["points", "bonus"]) -> dict[str, int]:
    """What each player won or lost in all matches of the evening; empty in the first, and where no 课外 is played."""
    if session.match - session.before < 2:
        return {}
    sums = {player.id: getattr(figures(session, player.id), account) for player in session.players}
    return sums if any(sums.values()) or account == "points" else {}


def result(state: State) -> dict[str, Any] | None:
    """How the last hand ended, what it brought, and while people look at it the hands that lie open."""
    last = state.result
    if last is None or _taken_back(state):
        return None
    one = last.booking
    if one is None:
        return {
            "hand": last.hand - state.first_hand + 1,
            "winner": last.winner or None,
            "way": last.way or None,
            "dealer": last.dealer or None,
        }
    now = seats_now(state.session, one)
    first = one.wins[0] if one.wins else None
    return {
        "hand": one.hand,
        "match": one.match,
        "kind": one.kind,
        "winner": now[first["seat"]] if first else None,
        "way": first["way"] if first else None,
        "dealer": now[one.dealer],
        "wins": [
            {
                "seat": now[win["seat"]],
                "way": win["way"],
                "source": now[one.source] if one.source else None,
                "tile": win.get("tile") or None,
            }
            for win in one.wins
        ],
        "foul": now[one.foul] if one.foul else None,
        "net": {now[seat]: one.points[player] for seat, player in one.seats.items()},
        "bonus": {now[seat]: one.bonus[player] for seat, player in one.seats.items()},
        "next_dealer": now[one.next_dealer],
        **_open_hands(state, last, now),
        "open": state.undoable is not None,
    }


def lines(state: State, seat: str) -> list[dict[str, Any]]:
    """What a seat's player paid and got in the last hand, and why, while people look at it."""
    one = state.result.booking if state.result is not None else None
    if one is None or not _looked_at(state) or _taken_back(state):
        return []
    now = seats_now(state.session, one)
    moved = (_moved(transfer, now) for transfer in one.transfers)
    return [line for line in moved if seat in (line["payer"], line["receiver"])]


def own_points(state: State, seat: str) -> int | None:
    """What the seat's player has won or lost in this match; None before anybody sits."""
    session = state.session
    return points(session, session.seats[seat]) if session.agreement is not None and seat in session.seats else None


def seats_now(session: Match, one: Booking) -> dict[str, str]:
    """Where the players sit now, by the seats that they had when a hand was booked."""
    sitting = {player: seat for seat, player in session.seats.items()}
    return {seat: sitting.get(player, seat) for seat, player in one.seats.items()}


def _looked_at(state: State) -> bool:
    """Until the next deal is thrown, the hand behind is what people look at."""
    return state.undoable is not None


def _taken_back(state: State) -> bool:
    """Whether the last booking has been taken back and its hand is open again."""
    return state.phase == "settle" and state.undoable is not None


def _open_hands(state: State, last: Result, now: Mapping[str, str]) -> dict[str, Any]:
    if not _looked_at(state):
        return {"tiles": {}, "melds": {}}
    return {
        "tiles": {now[seat]: format_tiles(held.concealed) for seat, held in last.held.items() if held.concealed},
        "melds": {now[seat]: melds_shown(held.melds) for seat, held in last.held.items() if held.melds},
    }


def _moved(transfer: Transfer, now: Mapping[str, str]) -> dict[str, Any]:
    """A payment between the seats of now; a reason's parameters may name one too."""
    plain = transfer.plain()
    for reason in plain["why"]:
        if "seat" in reason["params"]:
            reason["params"]["seat"] = now[reason["params"]["seat"]]
    return {**plain, "payer": now[transfer.payer], "receiver": now[transfer.receiver]}


def _base(rules: Ruleset, steps: int) -> int | None:
    """The dealer's 底 in his present turn (R31, R36), None in rules without one."""
    return None if rules.base_series is None and rules.base_dealer is None else dealer_base(rules, steps)
