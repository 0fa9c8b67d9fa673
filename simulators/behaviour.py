"""What a board does beyond its program: nothing, where it is healthy. Whoever lets things go wrong overrides this.

The simulated table is built healthy. Everything that goes wrong at it by order (`simulators.scenario`) comes in through
this class and through a port around the port, so that the hardware's own code knows nothing of scenarios.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from protocol.serial.messages import Message

if TYPE_CHECKING:
    from simulators.mechanisms import Ending


class Behaviour:
    """A healthy board."""

    def saying(self, message: Message) -> Sequence[Message]:
        """The board is about to say a message; what it says in its place."""
        return (message,)

    async def begun(self, verb: str) -> None:
        """An operation has been accepted and is about to move."""

    async def ended(self, verb: str, ending: Ending) -> Ending:
        """A movement is over, and neither remembered nor answered yet; how it is to have ended."""
        return ending

    def slowness(self, movement: str) -> float:
        """By how much the time of the movement that begins now is multiplied."""
        return 1.0

    def sensors(self, true: dict[str, bool]) -> dict[str, bool]:
        """What the board's sensors show, given what is so."""
        return true

    def acted(self, act: str, request: Any) -> None:
        """A person has acted at the table."""
