"""What was sent to which start of which board, and the notes that keep it over a start of the daemon. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from protocol.serial import messages as serial

ONCE: Final = {"dice_roll": "throw", "present_group": "sent"}
"""Verbs that a board which forgot them must not carry out again, with the word that begins their notes' names."""


@dataclass(frozen=True, slots=True)
class BoardStart:
    """One start of one board: what it was asked then it knows for as long as it runs, or for good."""

    boot: str
    serial_number: str

    @classmethod
    def of(cls, identity: serial.Identity) -> BoardStart:
        """The start that a board tells of at the handshake."""
        return cls(str(identity.boot_id), identity.serial_number)

    def remembered_by(self, identity: serial.Identity) -> bool:
        """Whether the board that says this still answers the ids it was asked under this start."""
        now = BoardStart.of(identity)
        if self.boot == now.boot:
            return True
        same_board = bool(self.serial_number) and self.serial_number == now.serial_number
        return same_board and identity.capabilities.memory == "nonvolatile"


@dataclass(frozen=True, slots=True)
class Once:
    """The note of an operation that runs once at most: written before it is sent, kept until its outcome is known.

    `lay` are the faces that lay there before a throw, `?` where the board reads none, empty for other operations.
    `spoilt`: there is a note that nobody can read, so the operation may have been sent to anybody.
    """

    journal_id: int
    start: BoardStart
    lay: str = ""
    spoilt: bool = False

    def __str__(self) -> str:
        return f"{self.journal_id:016x}:{self.start.boot} {self.lay} {self.start.serial_number}"

    @classmethod
    def parse(cls, text: str) -> Once | None:
        """The note as `str` wrote it, spoilt where it is none, or None where nothing was noted."""
        if not text:
            return None
        found = _NOTE.fullmatch(text)
        if found is None:
            return cls(0, BoardStart("", ""), spoilt=True)
        return cls(int(found[1], 16), BoardStart(found[2], found[4] or ""), found[3])


_NOTE: Final = re.compile(r"([0-9a-f]{1,16}):(\S*) (\d,\d|\?|)(?: (.*))?", re.DOTALL)


def once_key(verb: str, name: str) -> str:
    """Under which name an operation of this want is noted."""
    return f"{ONCE[verb]}:{name}"


def faces(lie: serial.DiceFaces) -> str:
    """The faces as a note keeps them, `?` where the board does not read them."""
    return f"{lie.dice[0]},{lie.dice[1]}" if lie.known else "?"
