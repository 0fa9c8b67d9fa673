"""A match that the parlor puts on the table: the seats see it, and a press at the table starts it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from controller.settings import MatchSettings
from engine.ruleset import RulesetError, load_ruleset

_KEY: Final = "offer"


class Notes(Protocol):
    """What outlives the daemon: the part of the journal that is used here."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


class OfferRefused(ValueError):
    """No match can be played so: the argument at fault, and what was expected."""

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: expected {expected}")
        self.field = field
        self.expected = expected


class Offer:
    """The rules and layout of the next match: the settings', or those last offered. Kept over a start of the daemon."""

    def __init__(self, match: MatchSettings, notes: Notes) -> None:
        self._match = match
        self._notes = notes
        usual = load_ruleset(match.rules, match.options).layouts[0]
        self._settings = (match.rules, match.layout or usual)
        self._made = self._stored()

    @property
    def made(self) -> bool:
        """The parlor has put a match on the table that nobody has started yet."""
        return self._made is not None

    @property
    def rules(self) -> str:
        """The rule profile offered."""
        return (self._made or self._settings)[0]

    @property
    def layout(self) -> str:
        """The layout offered."""
        return (self._made or self._settings)[1]

    async def make(self, args: Mapping[str, Any]) -> None:
        """Offer a match of these rules and layout, the settings' where nothing is said; OfferRefused."""
        name = args.get("rules") or self._match.rules
        own = name == self._match.rules
        try:
            rules = load_ruleset(name, self._match.options if own else {})
        except RulesetError as error:
            raise OfferRefused("rules", str(error)) from None
        layout = args.get("layout") or (self._settings[1] if own else rules.layouts[0])
        if layout not in rules.layouts:
            raise OfferRefused("layout", " or ".join(rules.layouts))
        self._made = (name, layout)
        await self._notes.note({_KEY: json.dumps(self._made)})

    async def withdraw(self) -> None:
        """The offer is off: the parlor has ended it, or the match has begun."""
        self._made = None
        await self._notes.note({_KEY: None})

    def _stored(self) -> tuple[str, str] | None:
        """The offer of an earlier run, where it can still be played."""
        text = self._notes.meta(_KEY)
        if not text:
            return None
        name, layout = json.loads(text)
        try:
            playable = layout in load_ruleset(name).layouts
        except RulesetError:
            return None
        return (name, layout) if playable else None
