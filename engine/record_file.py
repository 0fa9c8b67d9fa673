"""A record of any kind: a hand played, a hand declared, or a match."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from engine.record import Record, parse_record, write_record
from engine.record_declared import DECLARED, DeclaredRecord, parse_declared, write_declared
from engine.record_header import heading_of, numbered
from engine.record_match import MATCH, MatchRecord, parse_match, write_match

AnyRecord: TypeAlias = Record | DeclaredRecord | MatchRecord


def parse_any(text: str, search: Sequence[Path] = ()) -> AnyRecord:
    """The record of a text, of the kind that its headings say; RecordError names the line."""
    headings = {heading_of(line) for _, line in numbered(text)}
    if MATCH in headings:
        return parse_match(text, search)
    return parse_declared(text, search) if DECLARED in headings else parse_record(text, search)


def write_any(record: AnyRecord) -> str:
    """The text of a record: `parse_any` gives the same record."""
    if isinstance(record, MatchRecord):
        return write_match(record)
    return write_record(record) if isinstance(record, Record) else write_declared(record)
