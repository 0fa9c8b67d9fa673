"""Scripts: what is done to a board, step by step, as TOML. The built-in ones lie in `scripts/`.

    [about]
    title = "Dice"
    says = "Throws them, and asks whether they are fair."

    [[step]]
    do = "dice"
    times = 1000

`do` names a kind of step, everything else is one of its words; `repeat` has steps of its own. A script is named as
`dice`, as `my.toml`, or with words in place of its own: `dice:times=200`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from hil.host.limits import HOST_FAULTS
from protocol.serial.vocabulary import SELF_TESTS, FaultCode, LampColour, Side


class ScriptError(ValueError):
    """A script that cannot be run: file and step, what is wrong, what was expected."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DiceStep(_Strict):
    """Throw the dice and judge them."""

    do: Literal["dice"]
    times: int = Field(1000, ge=1, le=1_000_000)


class SortStep(_Strict):
    """Sort a set again and again, for `seconds` or `cycles`, whichever is over first; set 0 is the one inside."""

    do: Literal["sort"]
    cycles: int = Field(0, ge=0, le=1_000_000)
    seconds: float = Field(0, ge=0, le=1_000_000)
    set: int = Field(0, ge=0, le=2)


class CentreStep(_Strict):
    """Raise and lower the centre."""

    do: Literal["centre"]
    times: int = Field(10, ge=1, le=1_000_000)


class WallsStep(_Strict):
    """Sort a set, raise its walls, and have the tiles pushed in again."""

    do: Literal["walls"]
    times: int = Field(3, ge=1, le=1_000_000)
    set: int = Field(0, ge=0, le=2)


class LampsStep(_Strict):
    """Light all stacks in each colour; somebody looks."""

    do: Literal["lamps"]
    colours: tuple[LampColour, ...] = ("E", "S", "W", "N", "gold", "white")
    stacks: int = Field(15, ge=1, le=40)


class KeysStep(_Strict):
    """Somebody presses each key."""

    do: Literal["keys"]
    keys: tuple[Literal["lift", "dice", "E", "S", "W", "N"], ...] = ("lift", "dice", "E", "S", "W", "N")


class FaultsStep(_Strict):
    """Somebody provokes each fault that the board claims to detect (`[claims]` of the limits), or these."""

    do: Literal["faults"]
    codes: tuple[FaultCode, ...] = ()
    sides: tuple[Side, ...] = ("E",)


class SelfTestStep(_Strict):
    """The board's own tests, in service mode."""

    do: Literal["selftest"]
    tests: tuple[str, ...] = SELF_TESTS[1:]


class RepeatStep(_Strict):
    """Do steps again and again, for `seconds` or `times`, whichever is over first."""

    do: Literal["repeat"]
    times: int = Field(0, ge=0, le=1_000_000)
    seconds: float = Field(0, ge=0, le=1_000_000)
    step: tuple[Step, ...] = Field(min_length=1, max_length=50)


Step = Annotated[
    DiceStep | SortStep | CentreStep | WallsStep | LampsStep | KeysStep | FaultsStep | SelfTestStep | RepeatStep,
    Field(discriminator="do"),
]

_STEPS: Final = TypeAdapter[Any](tuple[Step, ...])
_KINDS: Final = get_args(get_args(Step)[0])


class About(_Strict):
    """What a script is for."""

    title: str = Field(max_length=80)
    says: str = Field("", max_length=400)


class Script(_Strict):
    """One script. `name` is what it was called by."""

    name: str
    about: About
    steps: tuple[Step, ...] = Field(min_length=1, max_length=200)


def names() -> tuple[str, ...]:
    """The built-in scripts."""
    found = files("hil.host").joinpath("scripts").iterdir()
    return tuple(sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml")))


def find_script(told: str) -> Script:
    """A script by its name or file, with words in place of its own behind a colon; ScriptError."""
    name, colon, words = told.partition(":")
    if name in names():
        text = files("hil.host").joinpath("scripts", f"{name}.toml").read_text(encoding="utf-8")
    elif name.endswith(".toml") or "/" in name:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ScriptError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    else:
        raise ScriptError(f"no script {name!r}: expected one of {', '.join(names())}, or a file such as my.toml")
    return parse_script(text, told, _words(told, words) if colon else {})


def parse_script(text: str, name: str, words: Mapping[str, Any] | None = None) -> Script:
    """The script of a TOML text; `words` go to every step that knows them. ScriptError names step and word."""
    try:
        told = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"{name}: expected TOML: {error}") from None
    unknown = sorted(set(told) - {"about", "step"})
    if unknown:
        raise ScriptError(f"{name}: {unknown[0]}: expected [about] and [[step]]")
    steps = told.get("step")
    if not isinstance(steps, list) or not steps:
        raise ScriptError(f"{name}: expected at least one [[step]]")
    left = dict(words or {})
    _put(steps, dict(words or {}), left)
    if left:
        raise ScriptError(f"{name}: no step of it has the word {next(iter(left))!r}")
    try:
        script = Script(name=name, about=About.model_validate(told.get("about")), steps=_STEPS.validate_python(steps))
    except ValidationError as error:
        raise ScriptError(f"{name}: {_problem(error, steps)}") from None
    _check(script)
    return script


def every(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Every step, those within others too."""
    for step in steps:
        yield step
        if isinstance(step, RepeatStep):
            yield from every(step.step)


def _words(told: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        word, equals, value = part.partition("=")
        if not equals or not word.strip().isidentifier():
            raise ScriptError(f"{told}: {part!r}: expected WORD=VALUE, such as times=200")
        try:
            found[word.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[word.strip()] = value
    return found


def _put(steps: list[Any], words: Mapping[str, Any], left: dict[str, Any]) -> None:
    for step in steps:
        if not isinstance(step, dict):
            continue
        kind = next((one for one in _KINDS if step.get("do") in get_args(one.model_fields["do"].annotation)), None)
        known = set() if kind is None else set(kind.model_fields) - {"do", "step"}
        for word, value in words.items():
            if word in known:
                step[word] = value
                left.pop(word, None)
        inner = step.get("step")
        if isinstance(inner, list):
            _put(inner, words, left)


def _problem(error: ValidationError, steps: list[Any]) -> str:
    first = error.errors()[0]
    place = first["loc"]
    if not place or not isinstance(place[0], int):
        return f"about.{'.'.join(map(str, place))}: {first['msg']}"
    do = steps[place[0]].get("do") if isinstance(steps[place[0]], dict) else None
    word = ".".join(str(part) for part in place[1:] if part != do)
    return f"step {place[0] + 1}{f' ({do})' if do else ''}{f', {word}' if word else ''}: {first['msg']}"


def _check(script: Script) -> None:
    """ScriptError where a step asks for what no board can do."""
    for step in every(script.steps):
        match step:
            case FaultsStep(codes=codes) if HOST_FAULTS & set(codes):
                raise ScriptError(f"{script.name}: faults: {min(HOST_FAULTS & set(codes))} is found by the host")
            case SelfTestStep(tests=tests) if set(tests) - set(SELF_TESTS):
                wrong = min(set(tests) - set(SELF_TESTS))
                raise ScriptError(f"{script.name}: selftest: {wrong!r}: expected some of {', '.join(SELF_TESTS)}")
            case SortStep(cycles=0, seconds=0) | RepeatStep(times=0, seconds=0):
                raise ScriptError(f"{script.name}: {step.do}: how often? expected cycles, times or seconds")
