"""The generated C and the vectors: up to date, and the same to gcc, clang and Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from protocol.serial import c_code, vectors
from protocol.serial.exchanges import words_of
from protocol.serial.frame_vectors import told
from protocol.serial.frames import FrameDecoder
from protocol.serial.link import Link
from protocol.serial.messages import CATALOGUE, MessageError, decode_message, encode_message
from tests.protocol.c.building import SANITIZED, SOURCES, VECTORS, build, folder, run

CHECK = tuple(str(SOURCES / "check" / name) for name in ("json.c", "vectors.c"))


def of(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((VECTORS / name).read_text("utf-8"))["vectors"]
    return found


# --- what is committed is what the catalogue says ---------------------------------------------------------------------


def test_generated_c_is_up_to_date() -> None:
    assert c_code.main(["--check"]) == 0


def test_vectors_are_up_to_date() -> None:
    assert vectors.main(["--check"]) == 0


@pytest.mark.parametrize(("make", "name"), [(c_code, "table_link.h"), (vectors, "messages.json")])
def test_drift_is_refused(make: Any, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make.main([str(tmp_path)]) == 0
    assert make.main(["--check", str(tmp_path)]) == 0
    path = tmp_path / name
    path.write_text(path.read_text("utf-8").replace("1", "2", 1), encoding="utf-8")
    capsys.readouterr()
    assert make.main(["--check", str(tmp_path)]) == 1
    assert name in capsys.readouterr().err


# --- vectors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_the_c_reference_agrees_with_every_vector(cc: str) -> None:
    runner = build("vectors", cc, CHECK, SANITIZED)
    done = run([str(runner), str(VECTORS)])
    count = sum(len(of(name)) for name in vectors.FILES)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{count} vectors, 0 disagreements"), done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("name", "vector", "field", "value"),
    [
        ("frames.json", "DATA of the host", "finds", ["host DATA 1 97c73135 5 251 020300"]),
        ("frames.json", "bad check", "finds", ["error cobs"]),
        ("messages.json", "Ping: typical", "error", "range"),
        ("messages.json", "Lamp: side code 4", "error", None),
        ("exchanges.json", "silence", "numbers", ["00000007"]),
    ],
)
def test_the_runner_tells_a_disagreement(
    name: str, vector: str, field: str, value: Any, tmp_path: Path
) -> None:
    for file in vectors.FILES:
        shutil.copy(VECTORS / file, tmp_path / file)
    lines = (tmp_path / name).read_text("utf-8").splitlines()
    (at,) = (at for at, line in enumerate(lines) if f'"name": "{vector}"' in line)
    changed = json.loads(lines[at].rstrip(","))
    changed[field] = value
    lines[at] = json.dumps(changed) + ("," if lines[at].endswith(",") else "")
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    done = run([str(build("vectors", "gcc", CHECK, SANITIZED)), str(tmp_path)])
    assert done.returncode == 1
    assert f"{name}: {vector}: expected" in done.stdout


def test_python_agrees_with_every_frame() -> None:
    for vector in of("frames.json"):
        found = [told(item) for item in FrameDecoder().scan(bytes.fromhex(vector["hex"]))]
        assert found == vector["finds"], vector["name"]


def test_python_agrees_with_every_message() -> None:
    for vector in of("messages.json"):
        data = bytes.fromhex(vector["hex"])
        if vector["error"] is None:
            message = decode_message(data)
            assert type(message).__name__ == vector["message"]
            assert encode_message(message) == data
            assert {name: vectors.plain(getattr(message, name)) for name in vector["fields"]} == vector["fields"]
        else:
            with pytest.raises(MessageError) as caught:
                decode_message(data)
            assert vectors.error_of(caught.value) == vector["error"], vector["name"]
            assert vector["field"] in (None, caught.value.field), vector["name"]


def test_python_agrees_with_every_exchange() -> None:
    for vector in of("exchanges.json"):
        drawn = iter([1, *(int(number, 16) for number in vector["numbers"])])
        link = Link("mcu", lambda drawn=drawn: next(drawn))
        for step in vector["steps"]:
            now = step["at"] / 1000
            data = bytes.fromhex(step.get("receive", ""))
            events = link.receive(data, now) if "receive" in step else link.tick(now)
            if "send" in step:
                link.send(decode_message(bytes.fromhex(step["send"])))
            assert [words_of(event) for event in events] == step["events"], (vector["name"], step)
            assert link.outgoing(now).hex() == step["out"], (vector["name"], step)


def test_every_message_has_its_vectors() -> None:
    """Least, greatest, usual, too short, too long; and each field whose values have a bound is tried beyond it."""
    by_name: dict[str, list[dict[str, Any]]] = {spec.name: [] for spec in CATALOGUE}
    for vector in of("messages.json"):
        if vector["message"]:
            by_name[vector["message"]].append(vector)
    for spec in CATALOGUE:
        errors = [vector["error"] for vector in by_name[spec.name]]
        assert errors.count(None) == 3
        assert errors.count("long") >= 2
        assert ("short" in errors) == bool(spec.fields)
        told_of = {vector["field"].split(".")[0].split("[")[0] for vector in by_name[spec.name] if vector["field"]}
        bounded = {field.name for field in spec.fields if list(vectors.wrongs(field.wire, field.name))}
        assert bounded <= told_of


# --- structs ----------------------------------------------------------------------------------------------------------


def test_every_field_lies_where_its_name_says() -> None:
    """A program that sets the members of every struct by name encodes what Python does; its state is small."""
    lines = ['#include "tl_board.h"', "#include <stdio.h>", "#include <string.h>", "static tl_message m;"]
    lines += ["static int bad;", "static void put(const char *name, const char *expected) {"]
    lines += ["uint8_t data[230]; char hex[461] = {0}; size_t n; (void)tl_encode(&m, data, sizeof data, &n);"]
    lines += ['for (size_t at = 0; at < n; at++) { (void)sprintf(&hex[2 * at], "%02x", data[at]); }']
    lines += ['if (strcmp(hex, expected) != 0) { bad = 1; printf("%s %s %s\\n", name, expected, hex); } }']
    lines += ["int main(void) {"]
    for spec in CATALOGUE:
        values = {field.name: vectors.usual(field.wire) for field in spec.fields}
        struct = c_code.snake(spec.name)
        lines += ["memset(&m, 0, sizeof m);", f"m.type = TL_TYPE_{struct.upper()};"]
        for field in spec.fields:
            lines += assignments(f"m.as.{struct}.{field.name}", field.wire, values[field.name])
        lines.append(f'put("{spec.name}", "{encode_message(spec.cls(*values.values())).hex()}");')
    lines += ['printf("state %u\\n", (unsigned)sizeof(tl_board)); return bad; }']
    source = folder() / "fields.c"
    source.write_text("\n".join(lines), encoding="utf-8")
    done = run([str(build("fields", "gcc", (str(source),), ("-Wno-conversion", "-Wno-sign-conversion")))])
    assert done.returncode == 0, done.stdout
    # Two kilobytes beside the buffers, by a compiler whose pointers are twice as long as a small board's.
    assert 1000 < int(done.stdout.removeprefix("state ")) <= 2048


def assignments(member: str, wire: Any, value: Any) -> list[str]:
    """C statements that give a member its value."""
    match type(wire).__name__:
        case "Record":
            parts = ((name, kind, getattr(value, name)) for name, kind in wire.fields)
            return [line for name, kind, part in parts for line in assignments(f"{member}.{name}", kind, part)]
        case "Several":
            pairs = enumerate(value)
            return [line for at, one in pairs for line in assignments(f"{member}[{at}]", wire.kind, one)]
        case "Optional":
            return [f"{member}.present = 1;", *assignments(f"{member}.value", wire.kind, value)]
        case "Text" | "Blob" | "Tiles":
            data = wire.put("x", value)
            sets = [f"{member}.bytes[{at}] = {byte}u;" for at, byte in enumerate(data[1:])]
            return [f"{member}.length = {data[0]}u;", *sets]
        case "Number":
            return [f"{member} = {value}{'' if wire.low < 0 else 'ULL'};"]
    return [f"{member} = {wire.put('x', value)[0]}u;"]

