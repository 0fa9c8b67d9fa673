"""What boards in the field speak that do not keep the serial contract, and how a dialect of theirs is described. Pure.

Such a board takes orders without answering them and tells by itself what its few sensors show. A `Dialect` turns orders
into bytes and bytes into what was told; everything else (ids, sessions, what may move when, what people are asked) is
the adapter's (`controller.adapters`), the same for every dialect. `example` is a documented one: docs/dialects.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

from protocol.serial.vocabulary import KeyName, Seat

Verb = Literal["centre_raise", "centre_lower", "walls_raise", "sort", "dice_roll", "stop", "gear"]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)


@dataclass(frozen=True, slots=True)
class Order:
    """What a host wants of a board. `arg`: the set of `walls_raise` and `sort`, the tiles of `gear`, 0 for others."""

    verb: Verb
    arg: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What the board's sensors show: told at each change and repeated, so that one that is lost is soon made good.

    `closed`: the lower switch of the centre; `home`: the switch of the walls' lifts; `button`: the stop button is in;
    `stacked`: sets that lie stacked inside; `out`: the set pushed out last, 0 where the board does not know;
    `busy`: a motor runs, the dice' aside.
    """

    closed: bool
    home: bool
    button: bool = False
    stacked: frozenset[int] = frozenset()
    out: int = 0
    busy: bool = False


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key at the table was pressed; told once, and lost where its bytes are."""

    key: KeyName
    seat: Seat = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The board has come up anew: whatever it was doing it does no more."""


Told = Shown | Pressed | Started


class Ear(Protocol):
    """Takes the bytes of one line; keeps half of what has come half."""

    @property
    def junk(self) -> int:
        """Bytes so far that belonged to nothing."""

    def feed(self, data: bytes) -> list[Told]:
        """What these bytes complete. Bytes that mean nothing are passed over and counted, never an error."""


class Dialect(Protocol):
    """One way of speaking. `repeats_s`: how often the board says `Shown` though nothing has changed, in seconds."""

    name: str
    model: str
    repeats_s: float

    def order(self, order: Order) -> bytes:
        """The bytes of an order."""

    def ear(self) -> Ear:
        """A new reader for one opening of the line."""


class UnknownDialect(ValueError):
    """No dialect of this name; the message names those there are."""


def dialect(name: str) -> Dialect:
    """The dialect of a name; UnknownDialect."""
    from protocol.dialects.example import ExampleDialect

    if name != ExampleDialect.name:
        raise UnknownDialect(f"dialect {name!r}: expected {' or '.join(NAMES)}")
    return ExampleDialect()


NAMES: Final[tuple[str, ...]] = ("example",)
"""Every dialect that comes with Kaijin."""
