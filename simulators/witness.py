"""Somebody who looks over all four shoulders: every hand as it lay on the table, whatever anybody was told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.match.state import Booking
from engine.melds import Meld
from engine.outcome import Foul, HandEnd, Held, Outcome, Win
from engine.tiles import SEATS
from simulators.sight import Sight


@dataclass
class Truth:
    """One hand as it lay on the table: by seat the last hand held, melds, flowers, all hands there were; its end."""

    hands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    melds: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = field(default_factory=dict)
    flowers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ever: dict[str, set[tuple[str, ...]]] = field(default_factory=lambda: {seat: set() for seat in SEATS})
    over: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def end(self, booking: Booking, gold: str | None) -> HandEnd:
        """The end as its people refereed it (sensing none), with the true tiles of all four."""
        assert self.over.keys() == set(SEATS), f"the end of a hand was seen by {sorted(self.over)} alone"
        over = self.over["E"]
        foul = over["foul"]
        outcome = Outcome(
            kind=over["kind"],
            winners=tuple(
                Win(win["seat"], win["way"], win["tile"] or None, win["source"] or None, win["after_kong"])
                for win in over["winners"]
            ),
            covered=tuple(over["covered"]),
            pays_all=over["pays_all"] or None,
            last_drawer=over["last_drawer"] or None,
            foul=None if foul is None else Foul(foul["seat"], foul["kind"], tuple(foul["ready"])),
            no_flowers=over["no_flowers"],
            followed=over["followed"],
        )
        held = {seat: _held(self.over[seat]["held"]) for seat in SEATS}
        return HandEnd(booking.dealer, gold, outcome, held, booking.steps)


class Witness:
    """Somebody who looks over all four shoulders: `truths` are the hands played so far, oldest first."""

    def __init__(self) -> None:
        self.truths: list[Truth] = []
        self._sets: dict[str, int] = dict.fromkeys(SEATS, 0)
        self._hands: dict[str, int] = dict.fromkeys(SEATS, -1)

    def saw(self, seat: str, sight: Sight) -> None:
        """What the person at a seat sees now."""
        if sight.set_up and sight.set_up != self._sets[seat]:
            self._sets[seat] = sight.set_up
            self._hands[seat] += 1
        number = self._hands[seat]
        if number < 0 or sight.centre != "down" or not (sight.hand or sight.melds[seat]):
            return
        while len(self.truths) <= number:
            self.truths.append(Truth())
        truth = self.truths[number]
        truth.hands[seat] = sight.hand
        truth.melds[seat] = tuple((meld.kind, meld.tiles) for meld in sight.melds[seat])
        truth.flowers[seat] = sight.flowers[seat]
        truth.ever[seat].add(sight.hand)
        if sight.round is not None and sight.round.over is not None:
            truth.over[seat] = sight.round.over


def _held(told: Mapping[str, Any]) -> Held:
    melds = tuple(Meld(meld["kind"], tuple(meld["tiles"])) for meld in told["melds"])
    return Held(tuple(told["concealed"]), melds, tuple(told["flowers"]))
