"""The small file beside the journal: which journal this is and how often the table has started.

It outlives a lost journal, and tells a journal from a copy of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EpochFile:
    """What the file says: the journal's id (16 hexadecimal digits) and its last epoch."""

    journal: str
    epoch: int


def epoch_path(journal: Path) -> Path:
    """Where the file of a journal lies."""
    return journal.with_name(journal.name + ".epoch")


def read_epoch_file(journal: Path) -> EpochFile | None:
    """The file's content; None where there is none or it cannot be understood."""
    try:
        fields = json.loads(epoch_path(journal).read_text(encoding="utf-8"))
        content = EpochFile(journal=fields["journal"], epoch=fields["epoch"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return content if isinstance(content.journal, str) and isinstance(content.epoch, int) else None


def write_epoch_file(journal: Path, content: EpochFile) -> None:
    """Replace the file in one step; on the disk when this returns."""
    target = epoch_path(journal)
    scratch = target.with_name(target.name + ".new")
    with scratch.open("w", encoding="utf-8") as out:
        json.dump(asdict(content), out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(scratch, target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def next_epoch(journal: int, beside: EpochFile | None, retained: int | None) -> int | None:
    """The epoch of this start: one more than the highest known; None when nothing at all is known."""
    known = [epoch for epoch in (journal, beside.epoch if beside else 0, retained or 0) if epoch > 0]
    return max(known) + 1 if known else None
