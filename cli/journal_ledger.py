"""`kaijin journal ledger`: the ledger of a table, for a parlor without a hub or one that lost its books."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from controller.ledger import StoredRow
    from engine.match.state import Booking

COLUMNS = (
    "journal", "number", "acknowledged", "time", "clock", "kind", "session", "match", "hand", "voids",
    "result", "dealer", "wins", "points", "bonus", "why", "duration_ms", "restarts",
)  # fmt: skip


def read(path: Path, only_waiting: bool) -> Sequence[StoredRow]:
    """The rows, oldest first; a click error where there is no journal."""
    from controller.journal import JournalError, read_ledger

    try:
        return read_ledger(path, only_waiting)
    except JournalError as error:
        raise click.ClickException(str(error)) from None


def as_json(rows: Sequence[StoredRow]) -> Iterator[str]:
    """One object a line: the row as it was said, and what is known of it since."""
    from controller.ledger import plain_row

    for row in rows:
        yield json.dumps(plain_row(row), ensure_ascii=False)


def as_csv(rows: Sequence[StoredRow]) -> str:
    """A sheet for people who keep books by hand; players' points as `1:+14 2:-6`."""
    out = io.StringIO()
    sheet = csv.DictWriter(out, COLUMNS, extrasaction="ignore", restval="")
    sheet.writeheader()
    for row in rows:
        sheet.writerow(_cells(row))
    return out.getvalue()


def as_text(rows: Sequence[StoredRow]) -> Iterator[str]:
    """One line a row."""
    for row in rows:
        cells = _cells(row)
        mark = " " if row.acked else "*"
        told = " ".join(f"{name}={cells[name]}" for name in COLUMNS[6:] if cells.get(name) not in (None, ""))
        yield f"{row.number:6}{mark} {cells['time']} {cells['kind']:<13} {told}".rstrip()


def disagreement(path: Path, book: Sequence[Booking]) -> str:
    """In what the whole ledger of a journal differs from the session's book: a row missing, double, or other points.

    Empty where a hub that reads it comes to the same hands and points.
    """
    expected: dict[str, int] = {}
    standing: dict[tuple[str, int], dict[str, Any]] = {}
    for row in read(path, False):
        if row.number != expected.get(row.journal, 1):
            return f"row {row.number} of {row.journal} where {expected.get(row.journal, 1)} was to come"
        expected[row.journal] = row.number + 1
        data = json.loads(row.envelope)["data"]
        standing[row.journal, row.number] = data["record"]
        voids = data["voids"]
        if voids is not None and standing.pop((voids["journal"], voids["number"]), None) is None:
            return f"row {row.number} takes back row {voids['number']}, which does not stand"
    told = [
        (record["match"], record["hand"], record["points"], record["bonus"])
        for record in standing.values()
        if record["kind"] == "hand"
    ]
    booked = [(one.match, one.hand, dict(one.points), dict(one.bonus)) for one in book if not one.voided]
    return "" if told == booked else f"the ledger says {told}, booked is {booked}"


def _cells(row: StoredRow) -> dict[str, Any]:
    data = json.loads(row.envelope)["data"]
    record = data["record"]
    moment = datetime.fromtimestamp(row.ts / 1000, UTC)
    voids = data["voids"]
    return {
        **record,
        "journal": row.journal,
        "number": row.number,
        "acknowledged": "yes" if row.acked else "no",
        "time": f"{moment:%Y-%m-%d %H:%M:%S}Z" + ("?" if row.clock == "unsynced" else ""),
        "clock": row.clock,
        "voids": "" if voids is None else voids["number"],
        "wins": " ".join(f"{win['seat']}:{win['way']}" for win in record.get("wins", ())),
        "points": _signed(record.get("points")),
        "bonus": _signed(record.get("bonus")),
    }


def _signed(points: dict[str, int] | None) -> str:
    return " ".join(f"{player}:{amount:+}" for player, amount in sorted((points or {}).items()))
