"""The assumed times and fault rates of `assumptions.toml`, checked and typed."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Duration(_Strict):
    """A usual time in seconds at speed 1 and its spread as a share of it (0-1)."""

    seconds: float = Field(ge=0)
    spread: float = Field(ge=0, le=1)

    def sample(self, chance: random.Random) -> float:
        """One time, seconds, evenly within the spread."""
        return self.seconds * (1 + self.spread * chance.uniform(-1, 1))


class SortTimes(_Strict):
    """How long sorting and stacking takes, seconds at speed 1."""

    shortest: float = Field(gt=0)
    median: float = Field(gt=0)
    longest: float = Field(gt=0)
    warn: float = Field(gt=0)
    fault: float = Field(gt=0)
    stragglers: int = Field(ge=0)
    straggler: float = Field(ge=0)
    progress_every: float = Field(gt=0)
    progress_least: int = Field(ge=1)

    def sample(self, chance: random.Random) -> float:
        """One sort: around the median, with the long tail of the last tiles, up to `warn`."""
        body = chance.triangular(self.shortest, self.longest, self.median) - self.stragglers * self.straggler / 2
        tail = sum(chance.expovariate(1 / self.straggler) for _ in range(chance.randint(0, self.stragglers)))
        return min(max(self.shortest, body + tail), self.warn)

    def slow(self, chance: random.Random) -> float:
        """One sort whose last tiles lie badly: longer than `warn`, shorter than `fault`."""
        return chance.uniform(self.warn, self.fault)


class People(_Strict):
    """How long people need, seconds at speed 1."""

    reaction: Duration
    push: Duration
    take: Duration
    lay: Duration
    row: Duration
    flip: Duration
    draw: Duration
    think: Duration
    claim: Duration
    entry: Duration
    forgotten: Duration
    impatience: float = Field(gt=0)
    absence: float = Field(gt=0)


class Play(_Strict):
    """How long whole things take at a table of people."""

    minutes_a_hand: float = Field(gt=0)


class Rates(_Strict):
    """Chances of small mishaps, 0-1."""

    cocked: float = Field(ge=0, le=1)


class FaultRates(_Strict):
    """How often what goes wrong, in 1,000 cycles."""

    slow_tail: float = Field(ge=0, le=1000)
    sort_timeout: float = Field(ge=0, le=1000)
    stuck_last_tile: float = Field(ge=0, le=1000)
    head_jam: float = Field(ge=0, le=1000)
    eye_dirty: float = Field(ge=0, le=1000)
    single_tile_push: float = Field(ge=0, le=1000)
    wall_not_home: float = Field(ge=0, le=1000)
    centre_limit_missing: float = Field(ge=0, le=1000)
    motor_overheat: float = Field(ge=0, le=1000)


class Quirks(_Strict):
    """What sets a measured board apart: how long its program takes to come to a message, real seconds."""

    answer: Duration = Duration(seconds=0.0, spread=0.0)


class Assumptions(_Strict):
    """Everything of the simulators that is assumed, in one place."""

    movements: Mapping[str, Duration]
    sort: SortTimes
    motors: Mapping[str, int]
    people: People
    play: Play
    rates: Rates
    faults_per_1000_cycles: FaultRates
    quirks: Quirks = Quirks()


class AssumptionsError(ValueError):
    """The file of assumptions does not hold what it should; the message names the key."""


def parse_assumptions(text: str) -> Assumptions:
    """The assumptions of a TOML text; AssumptionsError names the first wrong key and what was expected."""
    try:
        return Assumptions.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise AssumptionsError(f"assumptions: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise AssumptionsError(f"assumptions: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def measured_assumptions(text: str) -> Assumptions:
    """The assumptions that come with Kaijin with what a profile (TOML) says in their place; AssumptionsError as above.

    `kaijin replay profile` writes such profiles.
    """
    tree = tomllib.loads(_shipped())
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AssumptionsError(f"assumptions: {error}") from None
    for section, values in told.items():
        if not isinstance(values, dict):
            raise AssumptionsError(f"assumptions: {section}: expected a section, got {values!r:.40}")
        unknown = values.keys() - tree[section].keys() if section in tree and section != "quirks" else set()
        if unknown:
            raise AssumptionsError(
                f"assumptions: {section}.{min(unknown)}: unknown; expected one of {', '.join(tree[section])}"
            )
        tree[section] = {**tree.get(section, {}), **values}
    try:
        return Assumptions.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        raise AssumptionsError(f"assumptions: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _shipped() -> str:
    return files("simulators").joinpath("assumptions.toml").read_text(encoding="utf-8")


@cache
def default_assumptions() -> Assumptions:
    """The assumptions that come with Kaijin."""
    return parse_assumptions(_shipped())
