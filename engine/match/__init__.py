"""A session of matches as a pure state machine: players, seats, dealer, chips and the book of hands (R2, R3, R41)."""

from engine.match.deciding import decide, fold
from engine.match.folding import apply
from engine.match.state import Match, Player

__all__ = ["Match", "Player", "apply", "decide", "fold"]
