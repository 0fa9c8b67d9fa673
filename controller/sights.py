"""What readers tell while a repairer has the table: kept back, the newest of each, and told once play goes on."""

from __future__ import annotations

from collections.abc import Callable

from engine import inputs

Sight = inputs.ZoneSeen | inputs.TileFlipped | inputs.RowLaid


class Sights:
    """Feeds what readers see. While they are held nothing is fed, and nothing that is still so is lost."""

    def __init__(self, feed: Callable[[inputs.Input], None]) -> None:
        self._feed = feed
        self._held = False
        self._kept: dict[tuple[str, ...], Sight] = {}

    def see(self, sight: Sight) -> None:
        """Readers tell something."""
        if not self._held:
            self._feed(sight)
            return
        key: tuple[str, ...]
        match sight:
            case inputs.ZoneSeen(seat=seat, zone=zone):
                key = ("zone", seat, zone)
            case inputs.TileFlipped(position=position):
                key = ("flip", position)
            case inputs.RowLaid(side=side):
                key = ("row", side)
        # The newest comes last: a tile that moved is told first where it has come to.
        self._kept.pop(key, None)
        self._kept[key] = sight

    def hold(self, held: bool) -> None:
        """Keep back from now on, or tell what was kept."""
        self._held = held
        if not held:
            kept, self._kept = self._kept, {}
            for sight in kept.values():
                self._feed(sight)
