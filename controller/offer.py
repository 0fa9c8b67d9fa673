"""What the next match is played by: the settings, what the parlor has set in their place, or a match it has offered.

The rules that the parlor set hold for every match from then on, those under which it opened the table until it closes
it; an offer is for one match, and a press at the table starts it. All are kept over a start of the daemon.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Protocol

from controller.settings import MatchSettings
from engine.ruleset import Ruleset, RulesetError, load_ruleset

_OFFER: Final = "offer"
_HOUSE: Final = "house_rules"
_EVENING: Final = "evening_rules"


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


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match is played by; `seats` is `free` or `dice`, `names` are the players' by seat, for one match."""

    rules: str
    layout: str
    options: Mapping[str, Any] = field(default_factory=dict)
    hands: int = 0
    minutes: int = 0
    seats: str = "free"
    names: Mapping[str, str] = field(default_factory=dict)

    def ruleset(self) -> Ruleset:
        """The rules themselves; RulesetError where they cannot be."""
        return load_ruleset(self.rules, self.options)

    def changed(self, args: Mapping[str, Any]) -> Terms:
        """These terms but for what is said; another profile comes with its own options and layout. OfferRefused."""
        name = args.get("rules") or self.rules
        own = name == self.rules
        options = args.get("options", self.options if own else {})
        try:
            rules = load_ruleset(name, options)
        except RulesetError as error:
            raise OfferRefused("options" if error.field.startswith("options") else "rules", str(error)) from None
        layout = args.get("layout") or (self.layout if own else rules.layouts[0])
        if layout not in rules.layouts:
            raise OfferRefused("layout", " or ".join(rules.layouts))
        numbers = {name: args.get(name, getattr(self, name)) for name in ("hands", "minutes", "seats", "names")}
        return Terms(name, layout, options, **numbers)


class Offer:
    """The terms of the next match."""

    def __init__(self, match: MatchSettings, notes: Notes) -> None:
        usual = load_ruleset(match.rules, match.options).layouts[0]
        self._settings = Terms(
            match.rules, match.layout or usual, match.options, match.hands, match.minutes, match.seats
        )
        self._notes = notes
        self._house = self._stored(_HOUSE)
        self._evening = self._stored(_EVENING)
        self._made = self._stored(_OFFER)

    @property
    def made(self) -> bool:
        """The parlor has put a match on the table that nobody has started yet."""
        return self._made is not None

    @property
    def terms(self) -> Terms:
        """What is played next unless a seat says otherwise."""
        return self._made or self._usual

    @property
    def _usual(self) -> Terms:
        return self._evening or self._house or self._settings

    async def make(self, args: Mapping[str, Any]) -> None:
        """Offer a match of these terms, the usual ones where nothing is said; OfferRefused."""
        self._made = self._usual.changed(args)
        await self._note(_OFFER, self._made)

    async def withdraw(self) -> None:
        """The offer is off."""
        self._made = None
        await self._note(_OFFER, None)

    @property
    def waits(self) -> bool:
        """Something of the terms is for the next match alone."""
        return self.made or bool(self._evening and self._evening.names)

    async def begun(self) -> None:
        """A match has begun: what was for it alone is done with. Its players keep their names by themselves."""
        if self.made:
            await self.withdraw()
        if self._evening and self._evening.names:
            self._evening = replace(self._evening, names={})
            await self._note(_EVENING, self._evening)

    async def set_rules(self, args: Mapping[str, Any]) -> None:
        """Play by these rules from the next match on; the settings' again where nothing is said. OfferRefused."""
        self._house = self._settings.changed(args) if args else None
        await self._note(_HOUSE, self._house)

    async def set_evening(self, args: Mapping[str, Any]) -> None:
        """Play by these rules until the evening ends; the usual ones where nothing is said. OfferRefused."""
        self._evening = self.usual(args) if args else None
        await self._note(_EVENING, self._evening)

    def usual(self, args: Mapping[str, Any]) -> Terms:
        """What is played on an evening opened so. OfferRefused."""
        return (self._house or self._settings).changed(args)

    async def end_evening(self) -> None:
        """The usual rules hold again."""
        self._evening = None
        await self._note(_EVENING, None)

    async def _note(self, key: str, terms: Terms | None) -> None:
        await self._notes.note({key: None if terms is None else json.dumps(asdict(terms), ensure_ascii=False)})

    def _stored(self, key: str) -> Terms | None:
        """The terms of an earlier run, where they can still be played."""
        text = self._notes.meta(key)
        if not text:
            return None
        try:
            terms = Terms(**json.loads(text))
            playable = terms.layout in terms.ruleset().layouts
        except (RulesetError, ValueError, TypeError):
            return None
        return terms if playable else None
