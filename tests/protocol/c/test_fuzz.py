"""Coverage-guided fuzzing of the C board: frames, messages, link, operation memory, in any order of events."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from protocol.serial.messages import CATALOGUE, encode_message
from protocol.serial.vectors import usual
from tests.protocol.c.building import CORE, SOURCES, STRICT, build, compiler, folder, run

FUZZED = ("-g", "-O2", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
MET = bytes((8, 8, 1, 1))
SEEDS = {"met": MET, "worked": MET + bytes((11, 0, 76))}
"""A session; after it thirty-eight operations in a row; and every message of the catalogue."""
for _spec in CATALOGUE:
    _data = encode_message(_spec.cls(*(usual(field.wire) for field in _spec.fields)))
    SEEDS[_spec.name] = MET + bytes((6, len(_data))) + _data
LONG = 1_000_000


def fuzzer() -> Path:
    return build("fuzz", "clang", (str(SOURCES / "check" / "fuzz.c"),), FUZZED)


def fuzz(program: Path, corpus: Path, *arguments: str, seconds: float = 120) -> tuple[int, int, str]:
    """Exit code, inputs tried, and what the fuzzer said; it begins with the seeds."""
    corpus.mkdir()
    for name, data in SEEDS.items():
        (corpus / name).write_bytes(data)
    done = run([str(program), f"-artifact_prefix={corpus}/", *arguments, str(corpus)], seconds)
    tried = re.search(r"Done (\d+) runs", done.stderr)
    return done.returncode, int(tried[1]) if tried else 0, done.stderr[-4000:]


def test_a_few_seconds_of_any_bytes_find_nothing(tmp_path: Path) -> None:
    code, tried, words = fuzz(fuzzer(), tmp_path / "corpus", "-max_total_time=3", "-max_len=300", "-seed=1")
    assert code == 0, words
    assert tried > 200, words
    assert len(list((tmp_path / "corpus").iterdir())) > 50  # it gets on: inputs that reached something new were kept


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_million_inputs_find_nothing(tmp_path: Path) -> None:
    code, tried, words = fuzz(fuzzer(), tmp_path / "corpus", f"-runs={LONG}", "-max_len=120", "-seed=2", seconds=7000)
    assert code == 0, words
    assert tried >= LONG


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "good", "bad"),
    [
        ("tl_operations.c", "!is_later(op, &memory->forgotten[mark])) || is_followed", "0) || is_followed"),
        ("tl_link.c", ">= TL_HOST_SILENCE_MS", ">= 2u * TL_HOST_SILENCE_MS"),
        ("tl_frame.c", "if (length < TL_ENCODED_LIMIT)", "if (length <= TL_ENCODED_LIMIT)"),
        ("tl_codec.c", "if ((from->length - from->at) < length) {", "if (from->at > from->length) {"),
        ("tl_board.c", "} else if (board->stop_reason.length > 0u) {", "} else if (board->stop_held > 1u) {"),
    ],
)
def test_it_finds_what_is_wrong(file: str, good: str, bad: str, tmp_path: Path) -> None:
    """The core with one mistake: forgotten ids begin again, silence is taken for life, a buffer is overrun, …"""
    for source in SOURCES.glob("*.[ch]"):
        shutil.copy(source, tmp_path / source.name)
    shutil.copytree(SOURCES / "check", tmp_path / "check")
    text = (tmp_path / file).read_text("utf-8")
    assert text.count(good) == 1
    (tmp_path / file).write_text(text.replace(good, bad), encoding="utf-8")
    sources = [str(tmp_path / Path(source).name) for source in CORE]
    made = folder() / f"fuzz-{Path(file).stem}"
    command = [compiler("clang"), *STRICT[:1], *FUZZED, "-o", str(made), *sources, str(tmp_path / "check" / "fuzz.c")]
    done = run(command)
    assert done.returncode == 0, done.stderr
    code, _, words = fuzz(made, tmp_path / "corpus", "-max_total_time=90", "-max_len=600", "-seed=3", seconds=200)
    assert code != 0, words
