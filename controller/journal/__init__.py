"""The journal of one table: SQLite in WAL mode, every commit on the disk before anything acts on it, one writer thread.

Events carry the number `n` (1, 2, 3 …); published facts carry `seq`, gapless too. Both are given in the transaction
that stores them. At each hand boundary the state itself is stored (`snapshots`), so that a start reads only what
followed, and old hands may leave (`pruning`). Beside the file lies its twin, which can tell everything since again. The
journal's id is random, new when a journal is begun anew, from a copy, or from a salvage that may lack something; it is
kept when the same file is opened again. A file that cannot be trusted is set aside under a dated name, never
overwritten.
"""

from controller.journal.loading import Fold, Thaw
from controller.journal.opening import open_journal, set_aside
from controller.journal.reading import (
    StoredSession,
    first_event_kept,
    read_events,
    read_ledger,
    read_meta,
    read_records,
    read_session,
    read_state,
)
from controller.journal.rows import (
    DISK_REASONS,
    JournalDamaged,
    JournalError,
    JournalNotFollowed,
    JournalTaken,
    JournalUnwritable,
    Keeping,
    NewEvent,
    NewPublished,
    Opening,
    StoredEvent,
    StoredPublished,
)
from controller.journal.store import Journal

__all__ = [
    "DISK_REASONS",
    "Fold",
    "Journal",
    "JournalDamaged",
    "JournalError",
    "JournalNotFollowed",
    "JournalTaken",
    "JournalUnwritable",
    "Keeping",
    "NewEvent",
    "NewPublished",
    "Opening",
    "StoredEvent",
    "StoredPublished",
    "StoredSession",
    "Thaw",
    "first_event_kept",
    "open_journal",
    "read_events",
    "read_ledger",
    "read_meta",
    "read_records",
    "read_session",
    "read_state",
    "set_aside",
]
