"""What seats are asked for around the hands: the book, seats, swaps, taking a booking back, the pause and the end."""

from __future__ import annotations

from dataclasses import replace

from engine.asking import Want, prompt, timer
from engine.book import asks, clock, decidable, restarts
from engine.play_wants import ruling_id
from engine.readings import told_doubts
from engine.sessions import may_undo, seats_before, sits_back, swap_offers, throw_is_new, waits_for_seats
from engine.state import State, WantId
from engine.tiles import SEATS

MINUTE_MS = 60_000
PARK_WAIT_MS = 30_000
"""How long a table that is to park waits for tiles to be pushed into its open centre."""

AFTER_SERVICE = "service"
"""The reason of a table that is parked because its repairer has left it without the key."""


def book_wants(state: State) -> list[Want]:
    """What the open book asks every seat; silence agrees after a while, and who has gone away holds up nobody."""
    book = state.book
    if book is None:
        return []
    found = [
        Want(WantId(state.hand, ask.verb, state.book_turn), "prompt", ask.verb, ask.seat, ask.params, ask.actions)
        for ask in asks(book)
    ]
    if book.stage == "agreement" and state.play.doubted_end:
        doubted = list(state.play.doubted_end)
        found = [replace(want, params={**want.params, "doubted": doubted}) for want in found]
    times = clock(book)
    if times:
        step = "agree_clock" if book.stage == "agreement" else "entry_clock"
        wanted = WantId(state.hand, step, state.book_turn, 1 if book.stage == "agreement" else restarts(book) + 1)
        found.append(timer(wanted, times * state.match.agree_ms, people=True))
    return found


def to_decide(state: State) -> str:
    """The id that the floor's decision names: of the vote, objection or entry that is open, or of the zone whose seat
    does not answer (P8); empty where none is.
    """
    book = state.book
    if state.phase in ("opening", "play") and state.reads_tiles:
        return next((str(ruling_id(state, *told)) for told in told_doubts(state)), "")
    if book is None or state.phase != "settle" or not decidable(book):
        return ""
    return str(WantId(state.hand, book.stage, state.book_turn))


def seats_wants(state: State) -> list[Want]:
    """R2, P5: everybody is to sit where the draw or the swap has put him, or where he sat in the hand that was taken
    back; any one says that it is done.
    """
    if not waits_for_seats(state) or throw_is_new(state):
        return []
    times = state.undoable.times if sits_back(state) and state.undoable is not None else 0
    wanted = WantId(state.hand, "seats", len(state.play.rolls), 1 + times)
    return prompt(wanted, "seats", SEATS, ("ok",), seats=dict(state.session.seats), before=seats_before(state))


def between_wants(state: State) -> list[Want]:
    """What may be done between hands: the last booking taken back, seats swapped."""
    found: list[Want] = []
    undoable = state.undoable
    if undoable is not None and may_undo(state):
        wanted = WantId(undoable.hand, "undo", undoable.times)
        for seat in SEATS:
            actions = ("keep",) if seat in undoable.asked_by else ("undo", "keep") if undoable.asked_by else ("undo",)
            asked_by = list(undoable.asked_by)
            hand = undoable.hand - state.first_hand + 1
            found += prompt(wanted, "undo", (seat,), actions, hand=hand, asked_by=asked_by)
    for seat, rights in swap_offers(state).items():
        found += prompt(WantId(state.hand, "swap", SEATS.index(seat)), "swap", (seat,), ("swap",), rights=list(rights))
    return found


def end_wants(state: State) -> list[Want]:
    """A match ends by the word of two seats, after the hand in play, where no parlor ends it."""
    session = state.session
    if session.phase not in ("dealer", "between", "playing") or session.ending or state.ending:
        return []
    wanted = WantId(state.first_hand, "end", state.end_times)
    found: list[Want] = []
    for seat in SEATS:
        actions = ("keep",) if seat in state.end_asked else ("end", "keep") if state.end_asked else ("end",)
        found += prompt(wanted, "end", (seat,), actions, asked_by=list(state.end_asked))
    return found


def paused_wants(state: State) -> list[Want]:
    """The floor has paused the match."""
    return prompt(WantId(state.hand, "paused"), "paused", SEATS, ())


def clock_wants(state: State) -> list[Want]:
    """The clock of a match that was agreed for a time, and the one that closes the centre of a table that parks."""
    found = []
    agreement = state.session.agreement
    running = state.session.phase in ("dealer", "between", "playing") and not state.session.ending
    if agreement is not None and agreement.minutes and running:
        found.append(timer(WantId(state.first_hand, "minute", state.minutes), MINUTE_MS))
    if state.parking and state.phase == "push_in":
        found.append(timer(WantId(state.hand, "park_wait", 0, state.parks + 1), PARK_WAIT_MS, people=True))
    return found


def waits_for_hands_off(state: State) -> bool:
    """A repairer has gone without the key: what was wanted still is, and none of it begins before a person says so."""
    return state.parked and state.parking == AFTER_SERVICE


def parked_wants(state: State) -> list[Want]:
    """The table is parked: any seat may let it go on."""
    wanted = WantId(state.hand, "parked", 0, state.parks + 1)
    return prompt(wanted, "parked", SEATS, ("unpark",), reason=state.parking)
