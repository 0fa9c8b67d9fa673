"""What a test is given: sessions with the board, what the board claims, hands, operation ids, the slack of the line."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from hil.conform.endpoint import Tap
from hil.conform.hands import Hands
from hil.conform.raw import RawSession
from hil.conform.requirement import Deed, Failed, Profile, Skipped
from hil.conform.talk import Talk
from protocol.serial.messages import (
    CentreLower,
    DiceRoll,
    GearSet,
    Identity,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    SetGear,
    SortStop,
    Status,
)

USUAL_GEARS: Final[dict[int, tuple[int, int, int, int]]] = {
    108: (14, 13, 14, 13),
    112: (14, 14, 14, 14),
    120: (15, 15, 15, 15),
    136: (17, 17, 17, 17),
    144: (18, 18, 18, 18),
    148: (19, 18, 19, 18),
    152: (19, 19, 19, 19),
}
"""Tiles → stacks of E, S, W, N (section 8)."""

Gear = tuple[int, tuple[int, int, int, int]]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Claim:
    """What the board says of itself. `mechanisms`: it has more than dice, as it takes a SortStop."""

    identity: Identity
    status: Status
    mechanisms: bool

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles that follow from what it claims."""
        can = self.identity.capabilities
        found: list[Profile] = ["core", "dice"]
        if self.mechanisms:
            found.append("deal")
        if can.lamps:
            found.append("lamps")
        if can.readers or can.sensing == "full":
            found.append("readers")
        return (*found, "service")


class Bench:
    """Everything that a test needs. `slack`: seconds that line and this machine may add to any time."""

    def __init__(self, tap: Tap, hands: Hands, slack: float, gear: Gear | None) -> None:
        self.tap = tap
        self.hands = hands
        self.slack = slack
        self.gear = gear
        self.moves = False
        self.notes: list[str] = []
        self.stopped = False
        """The test asked for a stop."""
        self._claim: Claim | None = None
        self._journal = secrets.randbits(64)
        self._step = 0
        self._open: list[RawSession | Talk] = []
        self._undo: list[Deed] = []

    # --- the board --------------------------------------------------------------------------------------------------

    @property
    def claim(self) -> Claim:
        """What the board claims; Skipped where it has not been able to say it."""
        if self._claim is None:
            raise Skipped("the board has not said what it is")
        return self._claim

    async def ask_claim(self) -> Claim:
        """Ask the board what it is; Failed where it does not say it."""
        talk = await self.talk()
        status = await talk.status()
        answer = await talk.begin(SortStop(self.new_op()))
        self._claim = Claim(talk.identity, status, not isinstance(answer, OpRefused) or answer.reason != "unsupported")
        told = talk.identity
        if self.gear is None and told.gear_tiles:
            self.gear = (told.gear_tiles, told.stacks)
        return self._claim

    async def raw(self, window: int = 8, identify: bool = True) -> RawSession:
        """A new session, frame by frame."""
        return await self.unopened(window).open(identify)

    def unopened(self, window: int = 8) -> RawSession:
        """A host that has said nothing yet."""
        session = RawSession(self.tap, window, self.slack)
        self._open.append(session)
        return session

    async def talk(self) -> Talk:
        """A new session by the real link."""
        self.end()
        talk = Talk(self.tap)
        self._open.append(talk)
        return await talk.open()

    def end(self, goodbye: bool = True) -> None:
        """End every session that is open."""
        for session in self._open:
            session.end(goodbye)
            self.stopped = self.stopped or (isinstance(session, Talk) and session.stopped)
        self._open.clear()

    async def answers(self) -> bool:
        """Whether the board still shakes hands and answers."""
        self.end()
        try:
            await (await self.talk()).status()
        except Failed:
            return False
        finally:
            self.end()
        return True

    # --- operations -------------------------------------------------------------------------------------------------

    def new_op(self, journal: int | None = None) -> OpId:
        """An id that was never used, later than all before it in its journal."""
        self._step += 1
        return OpId(self._journal if journal is None else journal, 1, self._step, 0)

    def new_journal(self) -> int:
        """The number of a journal of which the board knows nothing."""
        return secrets.randbits(64)

    def harmless(self, op: OpId) -> Operation:
        """An operation that every board takes at any time: SortStop; a throw at a board that has only dice."""
        if self.claim.mechanisms:
            return SortStop(op)
        self._dice_alone()
        return DiceRoll(op)

    def mild(self, op: OpId) -> Operation:
        """An operation that moves, and harms nobody: a throw, or closing the centre that is closed."""
        return DiceRoll(op) if self.throws else CentreLower(op)

    @property
    def throws(self) -> bool:
        """The board has dice to throw."""
        return self.claim.identity.capabilities.dice in ("read", "unread")

    def _dice_alone(self) -> None:
        if not self.throws:
            raise Skipped("the board takes no operation that could be tried")
        if not self.moves:
            raise Skipped("a board of dice alone has only throws to try: --moves is not given")

    # --- hands and times ----------------------------------------------------------------------------------------------

    async def do(self, deed: Deed) -> None:
        """Let hands do something; what must be undone is undone after the test, whatever happens in it."""
        await self.hands.do(deed)
        undo = _UNDO.get(deed)
        if undo is not None:
            self._undo.append(undo)
        elif deed in self._undo:
            self._undo.remove(deed)

    async def undo(self) -> None:
        """Let go of what hands still hold."""
        while self._undo:
            deed = self._undo.pop()
            try:
                await self.hands.do(deed)
            except Skipped as skipped:
                self.note(f"could not be undone ({deed.replace('_', ' ')}): {skipped}")

    def note(self, words: str) -> None:
        """Something measured, for the report."""
        self.notes.append(words)

    def now(self) -> float:
        """Monotonic seconds."""
        return self.tap.now()

    async def until(self, look: Callable[[], Awaitable[_Value]], so: Callable[[_Value], bool], within: float) -> _Value:
        """Look again and again until it is so, or the time is over; what was seen last."""
        until = self.now() + within
        while True:
            seen = await look()
            if so(seen) or self.now() > until:
                return seen
            await asyncio.sleep(0.1)

    async def set_gear(self, talk: Talk) -> Gear:
        """Set the gear that is tried with; Skipped where nobody has said which tiles lie in the table."""
        if self.gear is None:
            raise Skipped("no gear is set, and nobody said which tiles lie in the table: --gear TILES")
        tiles, stacks = self.gear
        answer = await talk.ask(lambda req: SetGear(req, tiles, stacks), GearSet)
        if not answer.accepted:
            raise Failed(f"the gear {tiles} {stacks} to be set", f"refused: {answer.reason}")
        return self.gear


_UNDO: Final[dict[Deed, Deed]] = {
    "open_lid": "close_lid",
    "press_stop": "release_stop",
    "hold_key": "release_key",
    "hide_centre": "show_centre",
}


def ended_too_soon(first: object) -> bool:
    """An operation that was over before anything could be tried while it ran."""
    return isinstance(first, OpResult)
