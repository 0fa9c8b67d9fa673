"""Play after the opening: who may do what, and what comes of it (R13-R18, R21-R29, R39, R40)."""

from engine.play.actions import ACTIONS, COVER_REASONS, Action, Choice
from engine.play.deal import Deal, DealError
from engine.play.ends import hand_end, held
from engine.play.events import PLAY_EVENTS, PlayEvent, decode_play_event, encode_play_event
from engine.play.folding import apply
from engine.play.hand import (
    begin,
    begin_events,
    decide,
    decide_clock,
    faults,
    fold,
    legal,
    options,
    step,
)
from engine.play.state import PHASES, Discard, PlaySeat, PlayState, Tour, asked, everything, to_draw, visible

__all__ = [
    "ACTIONS",
    "COVER_REASONS",
    "PHASES",
    "PLAY_EVENTS",
    "Action",
    "Choice",
    "Deal",
    "DealError",
    "Discard",
    "PlayEvent",
    "PlaySeat",
    "PlayState",
    "Tour",
    "apply",
    "asked",
    "begin",
    "begin_events",
    "decide",
    "decide_clock",
    "decode_play_event",
    "encode_play_event",
    "everything",
    "faults",
    "fold",
    "hand_end",
    "held",
    "legal",
    "options",
    "step",
    "to_draw",
    "visible",
]
