"""What is good enough: a TOML file, checked. What it leaves out is as the default has it.

The default follows from `simulators/assumptions.toml`, that is, from guesses about an ordinary table until somebody has
measured one. `kaijin simulate host --show-limits` writes it out.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from protocol.serial.vocabulary import FAULT_CODES, FaultCode
from simulators.assumptions import Assumptions, Duration, default_assumptions

HOST_FAULTS: Final = frozenset({"link_lost", "firmware_mismatch"})
"""Faults that the host finds: no board claims them."""

OWN_FAULTS: Final[tuple[FaultCode, ...]] = tuple(code for code in FAULT_CODES if code not in HOST_FAULTS)


class LimitsError(ValueError):
    """Limits that cannot be used; the message names file and key, and what was expected."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Between(_Strict):
    """Bounds, both inclusive; one that is left out does not bind."""

    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Between:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max")
        return self

    def holds(self, value: float) -> bool:
        """Whether a value is within."""
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


class Fairness(_Strict):
    """How sure a verdict on dice must be."""

    confidence: float = Field(gt=0.5, lt=1, description="of chi-square; 0.99: one fair board in a hundred fails")
    alpha_bits: int = Field(ge=8, le=60, description="the repetition and proportion tests alarm by chance once in 2^n")


class Dice(_Strict):
    """Throws."""

    spin: Between = Field(description="seconds that the board says they spun")
    cocked: float = Field(ge=0, le=1, description="share of throws that lean, at most")
    ambiguous: float = Field(ge=0, le=1, description="share of throws that cannot be told, at most")
    failed: float = Field(ge=0, le=1, description="share of throws that end with a fault, at most")


class Seconds(_Strict):
    """From the order of a movement to its result, at a table's own speed."""

    centre_raise: Between
    centre_lower: Between
    walls_raise: Between
    sort: Between
    sort_median: Between


class Sorts(_Strict):
    """Sorted sets."""

    failed: float = Field(ge=0, le=1, description="share of sorts that end with a fault, at most")
    miscounted: float = Field(ge=0, le=1, description="share of sorts with a side short or long, at most")


class Line(_Strict):
    """The serial line, over the whole run."""

    losses: int = Field(ge=0, description="sessions lost, at most")
    retransmits: float = Field(ge=0, le=1, description="share of frames sent again, at most")
    boots: int = Field(ge=0, description="times that the board may start anew where nobody made it")


class Waits(_Strict):
    """How long is waited for people and boards, in seconds."""

    operator: float = Field(gt=0, le=3600, description="for a person to do what was asked")
    fault: Between = Field(description="from what is provoked to its fault, and from its end to the clearing")


class Gear(_Strict):
    """The gear that is set."""

    tiles: int = Field(ge=2, le=255)
    stacks: tuple[int, int, int, int]

    @model_validator(mode="after")
    def _fits(self) -> Gear:
        if 2 * sum(self.stacks) != self.tiles:
            raise ValueError("two tiles a stack must give the tiles")
        return self


class Claims(_Strict):
    """What the board is said to detect."""

    faults: tuple[FaultCode, ...]

    @model_validator(mode="after")
    def _own(self) -> Claims:
        wrong = [code for code in self.faults if code in HOST_FAULTS]
        if wrong:
            raise ValueError(f"{wrong[0]} is found by the host, no board claims it")
        return self


class Limits(_Strict):
    """Everything that a board is held against."""

    fairness: Fairness
    dice: Dice
    seconds: Seconds
    sorts: Sorts
    line: Line
    waits: Waits
    gear: Gear
    claims: Claims


def default_limits(assumptions: Assumptions | None = None) -> Limits:
    """The limits that follow from the assumed times: half of the quickest, a quarter above the slowest."""
    assumed = assumptions or default_assumptions()
    moves, sort = assumed.movements, assumed.sort
    return Limits(
        fairness=Fairness(confidence=0.99, alpha_bits=20),
        dice=Dice(spin=_around(moves["dice"]), cocked=2 * assumed.rates.cocked, ambiguous=0.01, failed=0.002),
        seconds=Seconds(
            centre_raise=_around(moves["centre_up"]),
            centre_lower=_around(moves["centre_down"]),
            # The lifts come home within the operation.
            walls_raise=_around(moves["walls_up"], moves["walls_down"]),
            sort=Between(min=round(0.9 * sort.shortest, 2), max=sort.fault),
            sort_median=Between(max=sort.longest),
        ),
        sorts=Sorts(failed=0.02, miscounted=0.02),
        line=Line(losses=0, retransmits=0.01, boots=0),
        waits=Waits(operator=60.0, fault=Between(max=5.0)),
        gear=Gear(tiles=120, stacks=(15, 15, 15, 15)),
        claims=Claims(faults=OWN_FAULTS),
    )


def load_limits(path: Path | None) -> Limits:
    """The default with what a file says in its place; LimitsError."""
    default = default_limits()
    if path is None:
        return default
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise LimitsError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except (ValueError, RecursionError) as error:
        raise LimitsError(f"{path}: expected TOML: {error}") from None
    return limits_of(told, str(path))


def limits_of(told: dict[str, Any], where: str = "limits") -> Limits:
    """The default with these values in its place; LimitsError names `where` and the key."""
    merged = default_limits().model_dump()
    for section, values in told.items():
        if section not in merged:
            raise LimitsError(f"{where}: there is no [{section}]; expected one of {', '.join(merged)}")
        if not isinstance(values, dict):
            raise LimitsError(f"{where}: {section}: expected a section, got {values!r:.40}")
        merged[section] = {**merged[section], **values}
    try:
        return Limits.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        raise LimitsError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def limits_toml(limits: Limits) -> str:
    """Limits as a file that `load_limits` reads, with what each means."""
    lines = ["# Limits of an end-of-line test. Times are seconds at a table's own speed.", ""]
    for name, field in Limits.model_fields.items():
        section = getattr(limits, name)
        assert field.annotation is not None
        lines += [f"[{name}] # {(type(section).__doc__ or '').strip()}"]
        for key, entry in type(section).model_fields.items():
            said = f"{key} = {_toml(getattr(section, key))}"
            lines.append(said + (f" # {entry.description}" if entry.description else ""))
        lines.append("")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, Between):
        bounds = (f"{name} = {bound}" for name, bound in value.model_dump().items() if bound is not None)
        return "{ " + ", ".join(bounds) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _around(*durations: Duration) -> Between:
    quickest = sum(one.seconds * (1 - one.spread) for one in durations)
    slowest = sum(one.seconds * (1 + one.spread) for one in durations)
    return Between(min=round(0.5 * quickest, 2), max=round(1.25 * slowest, 2))
