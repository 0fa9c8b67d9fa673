"""Around the hands: a match is begun, seats are taken and swapped, the next hand is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.tiles import SEATS
from protocol.mqtt.views import SeatView, Want
from simulators.minds.person import Answering, Intention, Person, by_anybody, texts
from simulators.sight import Sight

SWAPS = 0.2
"""How likely somebody with a right to swap seats uses it between two hands (R2)."""


def _start(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """East begins the match, and the next when one has ended, as far as these people play on."""
    played = view.match.number if view.match is not None else 0
    if view.phase in ("idle", "ended") and not 0 < person.matches <= played:
        yield by_anybody(person, "E", want, "start")


def _seats(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """All have sat down where they belong; any one says so."""
    yield by_anybody(person, "E", want, "ok")


def _swap(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    # Who is first changes who sits where when the next one asks: by seat, not by who is quicker.
    rights = texts(want, "rights")
    if rights and swappers(person.seed, view)[:1] == (person.seat,):
        yield Intention("swap", {"right": rights[0]}, want=want.id)


def _stopped(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """Whoever pushed the red button turns it out again; somebody clears the stop, again where it was still in."""
    yield by_anybody(person, view.dealer, want, "clear")


def wants_to_swap(seed: int, hand: int, seat: str) -> bool:
    """Whether the person of a seat would use a right to swap now; it says so, and the others wait for it."""
    return Person(seat, seed).chance("swap", hand).random() < SWAPS


def swappers(seed: int, view: SeatView) -> tuple[str, ...]:
    """The seats whose people have said that they will swap before the centre is lifted, in the order of the seats."""
    swaps = view.match.swaps if view.match is not None else {}
    found = (seat for seat, rights in swaps.items() if rights and wants_to_swap(seed, view.hand, seat))
    return tuple(sorted(found, key=SEATS.index))


WANTS: Mapping[str, Answering] = {"start": _start, "seats": _seats, "swap": _swap, "stopped": _stopped}
