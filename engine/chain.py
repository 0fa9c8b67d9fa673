"""The refusal of an input, by whichever part of the engine decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """An input that the table does not carry out: a code that displays word, the rule's number, parameters."""

    def __init__(self, code: str, rule: str = "", params: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, rule, params)
        self.code = code
        self.rule = rule
        self.params = {} if params is None else params
