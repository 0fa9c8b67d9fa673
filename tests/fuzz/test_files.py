"""Malformed files: settings, rulesets, scenarios, records, journals. A clear error that says where, never a traceback.

Each is a right file with something wrong; the ones that are right by chance are read like any other.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from controller.journal import (
    JournalError,
    open_journal,
    read_events,
    read_ledger,
    read_meta,
    read_records,
    read_session,
    read_state,
)
from controller.settings import SettingsError, load_settings
from controller.startup import fold_events, thaw
from engine.record_file import parse_any
from engine.record_header import RecordError
from engine.ruleset import RulesetError, load_ruleset_file, profiles
from simulators.scenario.library import names, text_of
from simulators.scenario.reading import ScenarioError, parse_scenario
from tests.controller.written import written

ROOT = Path(__file__).parent.parent.parent
BITS = (
    "[", "]", "{", "}", '"', "'", "=", "\n", "\x00", "\ufeff", "\u2028", "é", "１", "nan", "inf", "-1", "1e999",
    "9" * 5000, "[" * 3000, "[[", "1979-99-99",
    "true", "\\u", "\\ud800", "#", ",", ".", ":", " ", "E", "99z", "0x", "1_", '"""',
)  # fmt: skip


def counts(few: int, many: int) -> list[Any]:
    """A few by default, many in the long run."""
    return [few, pytest.param(many, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]


def spoilt(text: str, chance: random.Random) -> bytes:
    """A text with one to three things wrong: in its letters, its lines or its bytes."""
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text) + 1)
        match chance.randrange(7):
            case 0:
                text = text[:place] + chance.choice(BITS) + text[place:]
            case 1:
                text = text[:place] + text[place + chance.randint(1, 12) :]
            case 2:
                text = text[:place]
            case 3:
                lines = text.splitlines(keepends=True) or [""]
                lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
                text = "".join(lines)
            case 4:
                lines = text.splitlines(keepends=True) or [""]
                lines.pop(chance.randrange(len(lines)))
                text = "".join(lines)
            case 5:
                words = text.split(" ")
                words[chance.randrange(len(words))] = chance.choice(BITS)
                text = " ".join(words)
            case _:
                lines = text.splitlines(keepends=True) or [""]
                chance.shuffle(lines)
                text = "".join(lines)
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    if raw and chance.random() < 0.2:
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return bytes(raw)


def tried(count: int, texts: list[str], read: Callable[[bytes], None], error: type[Exception]) -> int:
    """How many were refused, each with words; anything but `error` is a failure that names the text."""
    chance = random.Random(20260102)
    refused = 0
    for number in range(count):
        raw = spoilt(chance.choice(texts), chance)
        try:
            read(raw)
        except error as told:
            refused += 1
            assert str(told).strip(), number
        except Exception as crash:
            raise AssertionError(f"text {number} of seed 20260102 ends in {crash!r}: {raw[:2000]!r}") from crash
    return refused


@pytest.mark.parametrize("count", counts(400, 20_000))
def test_settings(tmp_path: Path, count: int) -> None:
    path = tmp_path / "table.toml"

    def read(raw: bytes) -> None:
        path.write_bytes(raw)
        load_settings(path, {})

    shipped = (ROOT / "deploy" / "table.toml").read_text(encoding="utf-8")
    assert tried(count, [shipped], read, SettingsError) > count // 3


@pytest.mark.parametrize("count", counts(400, 20_000))
def test_settings_in_the_environment(tmp_path: Path, count: int) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[table]\nid = "abc"\n[serial]\nports = ["p"]\n')
    keys = ["BROKER__PORT", "MATCH__OPTIONS", "SERIAL__PORTS", "HEALTH__LISTEN", "TIMING__SPEED", "NO__SUCH", "__"]

    def read(raw: bytes) -> None:
        name, _, value = raw.decode("utf-8", "surrogateescape").partition("=")
        load_settings(path, {f"KAIJIN_{name}": value})

    texts = [f"{name}={value}" for name in keys for value in ("1883", '["a", "b"]', "{a = 1}", '"x"')]
    assert tried(count, texts, read, SettingsError) > count // 4


@pytest.mark.parametrize("count", counts(150, 5_000))
def test_rulesets(tmp_path: Path, count: int) -> None:
    path = tmp_path / "own.toml"
    texts = [f'parent = "{name}"\ntitle = "x"\n' for name in profiles()]
    texts += [one.read_text(encoding="utf-8") for one in sorted((ROOT / "engine").rglob("*.toml"))]

    def read(raw: bytes) -> None:
        path.write_bytes(raw)
        load_ruleset_file(path)

    assert tried(count, texts, read, RulesetError) > count // 4


@pytest.mark.parametrize("count", counts(400, 20_000))
def test_scenarios(count: int) -> None:
    def read(raw: bytes) -> None:
        parse_scenario(raw.decode("utf-8", "replace"), "spoilt.toml")

    assert tried(count, [text_of(name) for name in names()], read, ScenarioError) > count // 4


@pytest.mark.parametrize("count", counts(250, 10_000))
def test_records(count: int) -> None:
    def read(raw: bytes) -> None:
        parse_any(raw.decode("utf-8", "replace"))

    assert tried(count, records(), read, RecordError) > count // 4


@pytest.mark.parametrize("count", counts(40, 2_000))
def test_rules_play_of_a_spoilt_record(tmp_path: Path, count: int) -> None:
    """Read, replayed and refereed: 0 or 1 with what was found, never a traceback."""
    chance = random.Random(20260103)
    path = tmp_path / "record.txt"
    for number in range(count):
        raw = spoilt(chance.choice(records()), chance)
        path.write_bytes(raw)
        done = CliRunner().invoke(kaijin, ["rules", "play", str(path)])
        ended = done.exception is None or isinstance(done.exception, SystemExit)
        assert ended, f"text {number} ends in {done.exception!r}: {raw[:2000]!r}"
        assert done.exit_code == 0 or done.output.strip()


def records() -> list[str]:
    """The records that the tests keep, of every kind."""
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "records").rglob("*.txt"))]


# -- journals ----------------------------------------------------------------------------------------------------------

READERS: tuple[Callable[[Path], Any], ...] = (
    lambda path: list(read_events(path)), read_meta, read_records, read_ledger, read_session,
    lambda path: read_state(path, fold_events, thaw),
)  # fmt: skip


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "table.journal"

    async def write() -> None:
        scribe = await written(path, hands=1, sensing="none")
        await scribe.journal.close()

    asyncio.run(write())
    return path


def spoilt_rows(path: Path, chance: random.Random) -> str:
    """Change, lose or swap something in one row of one table; what was done."""
    connection = sqlite3.connect(path)
    try:
        table = chance.choice(("events", "events", "events", "meta", "records", "published", "snapshots"))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        keys = [row[0] for row in connection.execute(f"SELECT {columns[0]} FROM {table}")]
        if not keys:
            return ""
        key, column = chance.choice(keys), chance.choice(columns[1:])
        if chance.random() < 0.2:
            connection.execute(f"DELETE FROM {table} WHERE {columns[0]} = ?", (key,))
            what = f"DELETE {table} {key}"
        else:
            (old,) = connection.execute(f"SELECT {column} FROM {table} WHERE {columns[0]} = ?", (key,)).fetchone()
            new = _other(old, chance)
            connection.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {columns[0]} = ?", (new, key))
            what = f"UPDATE {table} {key}: {column} = {new!r}"[:600]
        connection.commit()
        return what
    except sqlite3.IntegrityError:
        return ""
    finally:
        connection.close()


def _other(old: Any, chance: random.Random) -> Any:
    if isinstance(old, str) and old[:1] in "{[" and chance.random() < 0.7:
        try:
            body = json.loads(old)
        except ValueError:
            body = {}
        keys = list(body) if isinstance(body, dict) else []
        if keys:
            others: list[Any] = [None, -1, 10**30, "", "9z", [], {}, [[1]], {"type": "Nothing"}, True]
            body[chance.choice(keys)] = chance.choice(others)
            return json.dumps(body)
    if isinstance(old, str) and old:
        return spoilt(old, chance).decode("utf-8", "replace")
    return chance.choice([0, -1, 2**62, "", "x", b"\x00\xff", "{}", "[]", 1.5])


@pytest.mark.parametrize("count", counts(40, 1_500))
def test_journals_with_spoilt_rows(journal: Path, tmp_path: Path, count: int) -> None:
    """Readers say what is wrong; the daemon's own opening starts from what is good, and never loses the old file."""
    chance = random.Random(20260104)
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / journal.name
        for file in journal.parent.iterdir():
            shutil.copy(file, folder)
        done = "; ".join(spoilt_rows(path, chance) for _ in range(chance.randint(1, 2)))
        for problem in _problems(path, number):
            raise AssertionError(f"journal {number} of seed 20260104 ({done}): {problem!r}") from problem
        shutil.rmtree(folder)


def _problems(path: Path, number: int) -> Iterator[Exception]:
    """What readers, the command line and the daemon's opening fail on, beside what they say in words."""
    for read in READERS:
        try:
            read(path)
        except JournalError as told:
            assert path.name in str(told) or "event" in str(told)
        except Exception as crash:
            yield crash
    if number % 4 == 0:
        where = str(path)
        for words in (["show", where], ["export", where, "--out", str(path.parent / "out")], ["ledger", where]):
            done = CliRunner().invoke(kaijin, ["journal", *words])
            if done.exception is not None and not isinstance(done.exception, SystemExit | OSError):
                yield Exception(f"journal {words[0]}: {done.exception!r}")
    try:
        asyncio.run(_opened(path))
    except JournalError:
        pass
    except Exception as crash:
        yield crash


async def _opened(path: Path) -> None:
    found, _ = open_journal(path, fold_events, thaw)
    await found.close()


