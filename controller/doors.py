"""Who may begin at a table: the parlor locks it, opens it for an evening under certain rules, and closes it again.

A table without a parlor is never locked, and need not be opened: its first match takes it into use. Both outlive the
daemon.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from controller.offer import Offer

LOCKED: Final = "table_locked"
"""Refusal of whatever would begin something at a locked table, and the name under which the lock is noted."""

_OVER: Final = "evening_over"


class Notes(Protocol):
    """What outlives the daemon: the part of the journal that is used here."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


class Use(Protocol):
    """The part of the ledger that is used here: sessions of the table begin and end in it."""

    @property
    def in_use(self) -> str: ...

    async def open(self, cause: str) -> bool: ...

    async def close(self, cause: str) -> bool: ...


class Doors:
    """The lock and the evening."""

    def __init__(self, offer: Offer, ledger: Use, notes: Notes) -> None:
        self._offer = offer
        self._ledger = ledger
        self._notes = notes
        self._locked = bool(notes.meta(LOCKED))
        self._over = bool(notes.meta(_OVER))

    @property
    def locked(self) -> bool:
        """Nothing new begins here until somebody unlocks; what is played goes on."""
        return self._locked

    @property
    def opened(self) -> bool:
        """The parlor has opened the table, and has not closed it."""
        return self._ledger.in_use == "parlor"

    @property
    def over(self) -> bool:
        """The parlor has closed the table behind an evening: its displays say so, and nothing begins here until it
        opens the table, or as long as it offers a match.
        """
        return self._over and not self._offer.made

    @property
    def shut(self) -> bool:
        """Nothing may begin here."""
        return self._locked or self.over

    async def lock(self, on: bool) -> None:
        """Lock or unlock; as it was where it is so already."""
        self._locked = on
        await self._notes.note({LOCKED: "1" if on else None})

    async def open(self, args: Mapping[str, Any], cause: str) -> None:
        """Open the table for an evening: its matches are played by these rules, the usual ones where nothing is said,
        until it is closed. Opened again it goes on under the new ones. JournalUnwritable; OfferRefused, too late, for
        rules that nobody has looked at before (`Offer.usual`).
        """
        await self._ledger.open(cause)
        await self._offer.set_evening(args)
        await self.set_over(False)

    async def close(self, cause: str) -> bool:
        """End the session of an evening that is over (`set_over`); False where nobody had opened the table.
        JournalUnwritable.
        """
        if not self.opened:
            return False
        await self._ledger.close(cause)
        await self._offer.end_evening()
        return True

    async def set_over(self, on: bool) -> None:
        """The table is closed behind an evening, before anybody sees it idle; or somebody is to play here again."""
        if self._over != on:
            await self._notes.note({_OVER: "1" if on else None})
            self._over = on

    async def begun(self) -> None:
        """A match has begun: somebody plays here again, and what was for this match alone is done with."""
        await self.set_over(False)
        await self._offer.begun()
