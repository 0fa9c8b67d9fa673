"""Faults and what waits for people as everybody sees them: code, side, sensors, first aid, whom to send."""

from __future__ import annotations

from typing import Any

from controller.remedies import mechanism_of, named
from engine.state import Problem, State, attempt


def faults(state: State) -> list[dict[str, Any]]:
    """The faults that stand."""
    return [
        {
            "code": fault.code,
            "severity": fault.severity,
            "mechanism": mechanism_of(fault.code, fault.mechanism),
            "side": fault.side,
            **named(fault.code, fault.side),
        }
        for fault in state.faults
    ]


def problem(state: State) -> dict[str, Any] | None:
    """What stopped the machine and waits for a person; the oldest of several."""
    if not state.problems:
        return None
    found = state.problems[0]
    if found.kind == "count":
        sides = [{"side": side, "counted": counted, "expected": wanted} for side, counted, wanted in found.sides]
        return {"kind": "count", "set": found.set, "sides": sides}
    told = {"kind": "failed", "operation": found.verb, "fault": found.fault, "side": found.side}
    return {**told, **named(found.fault, found.side, tries_of(state, found))}


def tries_of(state: State, found: Problem) -> int:
    """How often an operation has failed by now."""
    if found.verb == "sort":
        return 1 if state.sort is None else state.sort.attempt
    return attempt(state, found.key)
