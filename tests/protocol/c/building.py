"""Builds the C reference for tests: each form once a session, in a folder of the session's own."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "protocol" / "c"
VECTORS = ROOT / "protocol" / "vectors"
CORE = tuple(sorted(str(path) for path in SOURCES.glob("*.c")))
HERE = Path(__file__).resolve().parent
STRICT = (
    *("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual"),
    "-Werror",
)
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")


@functools.cache
def folder() -> Path:
    """Where this session builds; gone with it."""
    keeper = tempfile.TemporaryDirectory(prefix="kaijin-c-")
    _KEPT.append(keeper)
    return Path(keeper.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def compiler(name: str) -> str:
    """The path of `gcc` or `clang`; the test is skipped in words where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here (apt-get install {name})")
    return found


@functools.cache
def build(name: str, cc: str, sources: tuple[str, ...], flags: tuple[str, ...] = ()) -> Path:
    """A program or library of the core and these sources; AssertionError with the compiler's words."""
    made = folder() / f"{name}-{cc}"
    done = run([compiler(cc), *STRICT, *flags, f"-I{SOURCES}", "-o", str(made), *CORE, *sources])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return made


def library(cc: str = "gcc") -> Path:
    """The core behind `shim.c` as a shared library."""
    return build("shim.so", cc, (str(HERE / "shim.c"),), ("-O2", "-g", "-shared", "-fPIC"))


def board(cc: str = "gcc", flags: tuple[str, ...] = ("-O2", "-g")) -> Path:
    """The host port: the board's side as a program."""
    name = "board" if "-O2" in flags else "board-checked"
    sources = tuple(sorted(str(path) for path in (SOURCES / "host").glob("*.c")))
    return build(name, cc, sources, flags)


def run(command: list[str], seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
