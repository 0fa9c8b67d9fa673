"""The support bundle: whole, bounded, without anybody's secret; a hand is revealed only once everybody was told."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from controller import reveals
from controller.journal import read_events
from controller.private_broker import PrivateBroker
from controller.redaction import PUBLIC_EVENTS
from controller.settings import Settings, load_settings
from controller.support import MANIFEST, bundled, kind_of, packed
from controller.support_parts import EVENTS, Parts
from controller.support_secrets import Scrubber
from engine.state import State
from protocol.serial.recorder import masked
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, command, say
from tests.controller.daemons import board as board
from tests.controller.daemons import broker as broker
from tests.controller.daemons import ear as ear
from tests.controller.daemons import running as running
from tests.controller.daemons import settings as settings
from tests.controller.written import written

PASSWORD = "kS3-cret_word-of-E"


def in_play(state: State) -> bool:
    """Tiles are held, and nothing is settled."""
    return state.hand == 2 and state.phase == "play"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a settled hand and of one in play."""
    path = tmp_path_factory.mktemp("played") / "table.journal"

    async def write() -> None:
        scribe = await written(path, until=in_play, sensing="full")
        await scribe.journal.close()

    asyncio.run(write())
    return path


@pytest.fixture
def kept(tmp_path: Path, played: Path) -> Settings:
    """A table with that journal, credentials, recordings and logs with what must not leave it."""
    shutil.copy(played, tmp_path / "table.journal")
    (tmp_path / "credentials.json").write_text(json.dumps({f"{TABLE}-E": PASSWORD}))
    (tmp_path / "table.toml").write_text(
        f"""
        [table]
        id = "{TABLE}"
        [serial]
        ports = ["port"]
        [broker]
        port = 1
        credentials = "credentials.json"
        [journal]
        path = "table.journal"
        [health]
        listen = ""
        [web]
        public_url = "http://someone:{PASSWORD}@10.0.0.1:80/"
        """
    )
    (tmp_path / "kaijin.log").write_text(
        f"hello\npassword={PASSWORD} token: abcdefgh1234\nGET /seat#seat=E&token=Zz9Zz9Zz9\n"
        "-----BEGIN PRIVATE KEY-----\nMIIEverysecret\n-----END PRIVATE KEY-----\nworld\n"
    )
    entries = [
        {"reason": "silent"},
        {"at": 1.0, "way": "in", "frame": "DATA", "message": "Zone", "fields": {"side": "E", "tiles": ["1m", "2m"]}},
    ]
    text = "\n".join(json.dumps(entry) for entry in entries)
    (tmp_path / "flight-port-000001-20260101T000000.jsonl").write_text(text)
    return load_settings(tmp_path / "table.toml", {})


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_a_bundle_is_whole_and_tells_what_is_missing(kept: Settings) -> None:
    files = bundled(kept, Parts())
    manifest = json.loads(files[MANIFEST])
    assert manifest["table"] == TABLE and manifest["revealed"] is False
    assert manifest["files"].keys() == files.keys() - {MANIFEST}
    for name, told in manifest["files"].items():
        assert told == {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
    expected = {"versions.json", "settings.json", "disk.json", "journal/meta.json", "journal/counts.json",
                "journal/events.jsonl", "faults.json", "times.json", "log/kaijin.log",
                "flight/flight-port-000001-20260101T000000.jsonl"}  # fmt: skip
    assert expected <= files.keys()
    assert not any(name.startswith("revealed/") for name in files)
    with tarfile.open(fileobj=io.BytesIO(packed(files, ".tar.gz"))) as archive:
        assert {member.name: archive.extractfile(member).read() for member in archive} == files  # type: ignore[union-attr]
    with zipfile.ZipFile(io.BytesIO(packed(files, ".zip"))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
    assert (kind_of(Path("a.zip")), kind_of(Path("a.tgz")), kind_of(Path("a.rar"))) == (".zip", ".tar.gz", "")


def test_a_journal_that_cannot_be_read_leaves_the_rest(kept: Settings) -> None:
    kept.journal.path.write_bytes(b"no journal at all" * 500)
    manifest = json.loads(bundled(kept, Parts())[MANIFEST])
    assert {"journal/meta.json", "journal/events.jsonl"} <= manifest["missing"].keys()
    assert "settings.json" in manifest["files"] and "log/kaijin.log" in manifest["files"]


def test_no_password_key_or_token_is_in_it(kept: Settings) -> None:
    everything = b"\n".join(bundled(kept, Parts()).values())
    for secret in (PASSWORD, "abcdefgh1234", "Zz9Zz9Zz9", "MIIEverysecret"):
        assert secret.encode() not in everything, secret
    assert b"hello" in everything and b"world" in everything and b"kaijin.log" in everything
    assert b"credentials.json" not in json.dumps(json.loads(bundled(kept, Parts())["settings.json"])).encode()


def test_no_tile_of_the_hand_in_play_is_in_it_before_it_is_settled(kept: Settings) -> None:
    stored = list(read_events(kept.journal.path))
    last = max(event.hand for event in stored)
    assert last == 2 and {event.type for event in stored if event.hand == 1} >= {"HandEnded", "WallRead"}
    told = {line["n"]: line for line in lines(bundled(kept, Parts())["journal/events.jsonl"])}
    assert len(told) == min(EVENTS, len(stored))
    hidden = 0
    for event in stored[-EVENTS:]:
        body = told[event.n]["body"]
        if event.hand == last and event.type not in PUBLIC_EVENTS:
            hidden += 1
            assert body != event.body and not re.search(r'"[1-9][mpsz]"', json.dumps(body)), event.type
        else:
            assert body == json.loads(json.dumps(event.body))
    assert hidden > 20
    files = bundled(kept, Parts(), revealed=True)
    assert [line["body"] for line in lines(files["revealed/events.jsonl"])] == [
        json.loads(json.dumps(event.body)) for event in stored[-EVENTS:] if event.hand == last
    ]
    assert json.loads(files[MANIFEST])["revealed"] is True


def test_recordings_are_masked_whoever_wrote_them(kept: Settings) -> None:
    told = lines(bundled(kept, Parts())["flight/flight-port-000001-20260101T000000.jsonl"])
    assert told[1]["fields"] == {"side": "E", "tiles": "hidden"}
    own = [
        {"message": "Zone", "fields": {"side": "E", "tiles": "13 hidden"}},
        {"message": "OpResult", "fields": {"op": "7", "values": "01 02"}},
        {"message": "DiceRoll", "fields": {"op": "8"}},
        {"message": "OpResult", "fields": {"op": "8", "values": "03 04"}},
        {"message": "Unheard", "fields": {"x": 1}},
    ]
    assert [entry["fields"] for entry in masked(own)] == [
        {"side": "E", "tiles": "13 hidden"},
        {"op": "7", "values": "hidden"},
        {"op": "8"},
        {"op": "8", "values": "03 04"},
        {"x": "hidden"},
    ]


def test_what_looks_like_a_secret_goes_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[table]\nid = "abc"\n[serial]\nports = ["p"]\n')
    scrub = Scrubber(load_settings(path, {}))
    assert scrub(b'{"password": "x y", "seat": "E"}') == b'{"password": "withheld", "seat": "E"}'
    assert scrub(b"Authorization: Bearer abc.def next") == b"Authorization: withheld next"
    assert scrub(b"mqtt://me:pw@host:1883 up") == b"mqtt://withheld@host:1883 up"
    assert scrub(b"tokens were counted, tile 1m, key held") == b"tokens were counted, tile 1m, key held"


# -- at a running table ------------------------------------------------------------------------------------------------


async def answer_of(ear: Ear, id: str) -> dict[str, Any]:
    response = f"{TOPICS.base}/response/hub-1"

    def ended(said: dict[str, Any]) -> bool:
        return bool(said["data"]["id"] == id and said["data"]["outcome"] != "accepted")

    return dict((await ear.until(response, ended))["data"])


async def test_the_command_writes_a_bundle_at_the_table_few_and_one_at_a_time(
    running: Running, ear: Ear, broker: PrivateBroker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")
    desk = running.daemon._support
    for round in range(settings.support.keep + 2):
        desk._last = -1e9
        await say(broker, "parlor", TOPICS.command("support_bundle"), command(f"b{round}"))
        answer = await answer_of(ear, f"b{round}")
        assert answer["outcome"] == "done", answer
        path = Path(answer["result"]["directory"]) / answer["result"]["name"]
        assert path.stat().st_size == answer["result"]["bytes"] and path.stat().st_mode & 0o777 == 0o600
        assert hashlib.sha256(path.read_bytes()).hexdigest() == answer["result"]["sha256"]
    assert len(list(settings.support_directory.iterdir())) == settings.support.keep
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
        assert {"health.json", "metrics.txt", "links.json", "doctor.jsonl", MANIFEST} <= names
        assert not any(name.startswith("revealed/") for name in names)
        everything = b"".join(archive.extractfile(name).read() for name in names)  # type: ignore[union-attr]
    assert not any(word.encode() in everything for word in broker.credentials.values())
    await say(broker, "parlor", TOPICS.command("support_bundle"), command("again", args={"reveal": True}))
    refused = await answer_of(ear, "again")
    assert (refused["outcome"], refused["code"]) == ("failed", "busy")


async def test_a_reveal_is_on_record_and_at_four_seats_before_its_word_is_taken(
    running: Running, ear: Ear, settings: Settings
) -> None:
    await ear.available("ready")
    word = reveals.announce(settings.journal.path, "root of the hall")
    assert word.stat().st_mode & 0o777 == 0o600 and reveals.daemon_runs(settings.journal.path)
    while word.exists():
        await asyncio.sleep(0.02)
    stored = [event for event in read_events(settings.journal.path) if event.type == "Audited"]
    assert stored[-1].body["by"] == "root of the hall" and stored[-1].body["act"] == "revealed"
    shown = {"code": "hand_revealed", "seat": "", "left_ms": None, "params": {"who": "root of the hall"}}
    for seat in "ESWN":
        await ear.until(TOPICS.seat(seat), lambda view: shown in view["data"]["notices"])
    audit = await ear.until(TOPICS.event("audit"), lambda said: said["data"]["name"] == "revealed")
    assert audit["data"]["params"]["by"] == "root of the hall"
    await running.end()
    again = await begin(settings)
    await ear.until(TOPICS.seat("N"), lambda view: view["epoch"] == 2 and shown in view["data"]["notices"])
    await again.end()


async def test_a_reveal_without_the_daemon_is_told_at_its_next_start(
    settings: Settings, board: Board, ear: Ear
) -> None:
    first = await begin(settings)
    await ear.available("ready")
    await first.end()
    assert not reveals.daemon_runs(settings.journal.path)
    word = reveals.announce(settings.journal.path, "night shift")
    spoilt = settings.journal.path.with_name(f"{settings.journal.path.name}.reveal-{'0' * 16}")
    spoilt.write_text("{")
    second = await begin(settings)
    for seat in "ESWN":
        await ear.until(TOPICS.seat(seat), lambda view: view["epoch"] == 2 and bool(view["data"]["notices"]))
    while word.exists() or spoilt.exists():
        await asyncio.sleep(0.02)
    await second.end()
    who = [event.body["by"] for event in read_events(settings.journal.path) if event.type == "Audited"]
    assert sorted(who) == ["?", "night shift"]


async def test_a_reveal_waits_while_no_display_can_be_reached(
    running: Running, ear: Ear, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")
    monkeypatch.setattr(type(running.daemon._session), "connected", property(lambda self: False))
    word = reveals.announce(settings.journal.path, "eve")
    while not any(event.type == "Audited" for event in read_events(settings.journal.path)):
        await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)
    assert word.exists(), "nobody can have seen it"
    monkeypatch.undo()
    while word.exists():
        await asyncio.sleep(0.02)
    assert [event.type for event in read_events(settings.journal.path)].count("Audited") == 1, "once, not at each look"


def _kaijin(*words: str) -> list[str]:
    return [sys.executable, "-m", "cli.main", "support-bundle", *words]


def test_the_command_line_writes_it_and_reveals_only_at_a_terminal(kept: Settings, tmp_path: Path) -> None:
    config, out = str(tmp_path / "table.toml"), tmp_path / "out.zip"

    def ran(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(_kaijin(*words), capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)

    made = ran("--config", config, "-o", str(out))
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(out) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        assert "doctor.jsonl" in archive.namelist() and "health.json" in manifest["missing"]
    assert ran("--config", config, "-o", str(tmp_path / "out.rar")).returncode == 2
    refused = ran("--config", config, "-o", str(tmp_path / "r.zip"), "--reveal")
    assert refused.returncode == 1 and b"only as root, at a terminal" in refused.stderr
    assert not (tmp_path / "r.zip").exists() and reveals.waiting(kept.journal.path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reveals")
@pytest.mark.parametrize("typed", ["no", TABLE])
def test_at_a_terminal_the_tables_id_must_be_typed(kept: Settings, tmp_path: Path, typed: str) -> None:
    out = tmp_path / "r.tar.gz"
    ours, theirs = pty.openpty()
    os.write(ours, f"{typed}\n".encode())
    words = _kaijin("--config", str(tmp_path / "table.toml"), "-o", str(out), "--reveal")
    done = subprocess.run(words, stdin=theirs, capture_output=True, timeout=60, check=False)
    os.close(ours)
    os.close(theirs)
    if typed == "no":
        assert done.returncode == 1 and not out.exists() and reveals.waiting(kept.journal.path) == []
        return
    assert done.returncode == 0, done.stderr
    with tarfile.open(out) as archive:
        assert "revealed/events.jsonl" in archive.getnames()
    assert len(reveals.waiting(kept.journal.path)) == 1 and b"next start tells the seats" in done.stderr
