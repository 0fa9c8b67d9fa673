"""Pausing and turning off: what moves ends its cycle, the centre is closed, and the match is kept for later."""

from __future__ import annotations

from engine import events as e
from engine.deciding import Chain
from engine.match_wants import AFTER_SERVICE
from engine.state import State
from engine.wants import wants

_HELD: tuple[str, ...] = ("clear_stop",)
"""Operations that are not waited for: one that people ask for."""

FROM_AFAR = ("command", "power", "time")
"""Reasons to park that come from elsewhere than the table; those orders may be taken back from there."""


def at_rest(state: State) -> bool:
    """Whether nothing moves or is about to: the table can park. What has failed, or is held by the stop or an open lid,
    does not move; an open centre waits for its tiles.
    """
    if state.stop or any(fault.code == "lid_open" for fault in state.faults):
        return True
    if any(want.kind == "operation" and want.verb not in _HELD for want in wants(state)):
        return False
    return state.centre == "down" or any(problem.kind == "failed" for problem in state.problems)


def park(chain: Chain, reason: str) -> None:
    """The table is to be turned off."""
    if not chain.state.parking:
        chain.add(e.ParkWanted(reason))


def park_at_rest(chain: Chain) -> None:
    """Once nothing moves any more the table is parked."""
    if chain.state.parking and not chain.state.parked and at_rest(chain.state):
        chain.add(e.Parked())


def park_as_it_stands(chain: Chain) -> None:
    """A repairer has gone without the key: nobody knows whose hands are where, so nothing goes on, not even to rest."""
    if not chain.state.parked:
        chain.add(e.ParkWanted(AFTER_SERVICE))
        chain.add(e.Parked())


def unpark(chain: Chain, by: str) -> None:
    """The table goes on where it was."""
    if chain.state.parking:
        chain.add(e.Unparked(by))
