"""The scenarios that come with Kaijin, by name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from simulators.scenario.model import Scenario
from simulators.scenario.reading import ScenarioError, parse_scenario, read_scenario


@cache
def names() -> tuple[str, ...]:
    """The names of all shipped scenarios, sorted."""
    found = files("simulators").joinpath("scenarios").iterdir()
    return tuple(sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml")))


def text_of(name: str) -> str:
    """The file of a shipped scenario; ScenarioError where there is none of the name."""
    if name not in names():
        raise ScenarioError(f"there is no scenario {name!r}; expected one of {', '.join(names())}")
    return files("simulators").joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")


def shipped(name: str) -> Scenario:
    """A shipped scenario; ScenarioError where there is none of the name."""
    return parse_scenario(text_of(name), name)


def find_scenario(where: str) -> Scenario:
    """A shipped scenario by its name, or that of a file by its path (with a `/` or `.toml`)."""
    if "/" in where or where.endswith(".toml"):
        return read_scenario(Path(where))
    return shipped(where)
