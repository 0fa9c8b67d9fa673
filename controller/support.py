"""The support bundle: what a repairer far away needs of a table, in one file, and nothing that is anybody's secret.

Never in it: passwords, keys, tokens, tiles of a hand in play, the wall. Every part is bounded; a part that cannot be
had is named in the manifest with the reason. `controller.support_parts` has the parts.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import re
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import structlog

from controller.clock import kernel_clock_state
from controller.commands import CommandFailed
from controller.metrics import Metrics
from controller.private_files import write_private
from controller.settings import Settings
from controller.support_parts import Parts, file_parts
from controller.support_secrets import Scrubber
from protocol.mqtt.models import Command

MANIFEST: Final = "manifest.json"
APART_S: Final = 10.0
"""The daemon writes one bundle in so long at most."""

_MADE: Final = re.compile(r"kaijin-support-[a-z0-9-]+-(\d{8}T\d{6}Z)-(\d{3})\.tar\.gz")


class Reports(Protocol):
    """The part of the reporter that is used here; read from another thread."""

    def health(self) -> tuple[bool, Mapping[str, Any]]: ...

    def collect(self) -> None: ...

    def links(self) -> list[dict[str, Any]]: ...


def bundled(settings: Settings, live: Parts, revealed: bool = False) -> dict[str, bytes]:
    """Every file of a bundle by its name, the manifest last. Reads files only; slow, so not for the event loop.

    `live` holds the parts that only the caller can tell: what a running daemon says, what doctor found. With `revealed`
    the events of the hand in play are told in full, in `revealed/`.
    """
    parts = file_parts(settings, revealed)
    parts.files.update(live.files)
    parts.missing.update(live.missing)
    scrub = Scrubber(settings)
    files = {name: scrub(content) for name, content in sorted(parts.files.items())}
    head = {
        "table": settings.table.id,
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "clock": kernel_clock_state(),
        "revealed": revealed,
        "missing": dict(sorted(parts.missing.items())),
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in files.items()
        },
    }
    return {**files, MANIFEST: (json.dumps(head, ensure_ascii=False, indent=1) + "\n").encode()}


def packed(files: Mapping[str, bytes], kind: str) -> bytes:
    """The files as one archive; `kind` is `.zip` or `.tar.gz`."""
    out = io.BytesIO()
    now = int(time.time())
    if kind == ".zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return out.getvalue()
    with gzip.GzipFile(fileobj=out, mode="wb") as squeezed, tarfile.open(fileobj=squeezed, mode="w") as bundle:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), now, 0o600
            bundle.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def kind_of(path: Path) -> str:
    """`.zip` or `.tar.gz`, as a file's name says; empty where it is neither."""
    name = path.name.lower()
    return ".zip" if name.endswith(".zip") else ".tar.gz" if name.endswith((".tar.gz", ".tgz")) else ""


class SupportDesk:
    """The command `support_bundle`: a bundle of the running table in a folder of its own; never reveals anything."""

    def __init__(self, settings: Settings, reports: Reports, metrics: Metrics, now: Callable[[], float]) -> None:
        self._settings = settings
        self._reports = reports
        self._metrics = metrics
        self._now = now
        self._busy = False
        self._last = -APART_S
        self._log = structlog.get_logger("support")

    async def command(self, command: Command) -> Mapping[str, Any]:
        """Write one; its name, folder, size and hash. CommandFailed `busy` or `disk`."""
        if self._busy or self._now() - self._last < APART_S:
            raise CommandFailed("busy", params={"what": "support_bundle"})
        self._busy = True
        try:
            made = await asyncio.to_thread(self._write)
        except OSError as error:
            self._log.error("no support bundle can be written", problem=str(error))
            raise CommandFailed("disk", str(error.strerror or error)) from None
        finally:
            self._busy, self._last = False, self._now()
        self._log.warning("a support bundle is written", who=command.who, **made)
        return made

    def _write(self) -> dict[str, Any]:
        folder = self._settings.support_directory
        content = packed(bundled(self._settings, self._live()), ".tar.gz")
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        kept = _kept(folder)
        number = next(n for n in range(1000) if all((stamp, n) != (at, other) for at, other, _ in kept))
        path = folder / f"kaijin-support-{self._settings.table.id}-{stamp}-{number:03}.tar.gz"
        write_private(path, content)
        # By when they were written: the time of day may have gone back since.
        for old in _oldest_first(_kept(folder), path)[: -self._settings.support.keep]:
            old.unlink(missing_ok=True)
        return {
            "name": path.name,
            "directory": str(folder),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    def _live(self) -> Parts:
        from prometheus_client.exposition import generate_latest

        from controller.checkup import check_clock, check_disk, check_match

        parts = Parts()
        well, body = self._reports.health()
        parts.json("health.json", {"ok": well, **body})
        self._reports.collect()
        parts.files["metrics.txt"] = generate_latest(self._metrics.registry)
        parts.json("links.json", {"links": self._reports.links()})
        settings = self._settings
        # The rest of doctor's checks asks the port and the broker, which this daemon holds: see health.json.
        found = (check_match(settings), check_disk(settings.journal.path.parent), check_clock())
        parts.findings(found)
        return parts


def _kept(folder: Path) -> list[tuple[str, int, Path]]:
    found = []
    for path in folder.glob("kaijin-support-*.tar.gz"):
        matched = _MADE.fullmatch(path.name)
        if matched is not None:
            found.append((matched[1], int(matched[2]), path))
    return found


def _oldest_first(kept: Iterable[tuple[str, int, Path]], newest: Path) -> list[Path]:
    def written(path: Path) -> tuple[bool, int]:
        try:
            return path == newest, path.stat().st_mtime_ns
        except OSError:
            return False, 0

    return sorted((path for _, _, path in kept), key=written)
