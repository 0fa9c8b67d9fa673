"""A frozen record with some fields changed, without the price of `dataclasses.replace`: a hand has thousands."""

from __future__ import annotations

from typing import Any, TypeVar

Record = TypeVar("Record")


def replace(record: Record, **changes: Any) -> Record:
    """The record with some fields changed; a record without slots, whose fields these are."""
    changed = object.__new__(type(record))
    fields = changed.__dict__
    fields.update(record.__dict__)
    fields.update(changes)
    return changed
