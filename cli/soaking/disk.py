"""A small disk of the soak's own for the journal, so that it can run full: a tmpfs, which root alone can mount."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

SIZE_MB = 96
CHUNK = 64 * 1024


class DiskError(RuntimeError):
    """The disk cannot be mounted; the message says why."""


def can_be_mounted() -> bool:
    """Whether this machine lets us mount one: tried with an empty one."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory(prefix="kaijin-disk-") as place:
        disk = SmallDisk(Path(place) / "disk")
        try:
            disk.mount()
        except DiskError:
            return False
        disk.close()
    return True


class SmallDisk:
    """Mounted over a folder while it is open; afterwards what lay on it lies in the folder itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mounted = False

    def mount(self) -> None:
        """Mount it; DiskError where this machine does not allow it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        options = f"size={SIZE_MB}m,mode=700"
        try:
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "kaijin-soak", str(self.folder)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError as error:
            raise DiskError(f"no small disk for the journal: {error}") from None
        if done.returncode:
            raise DiskError(f"no small disk for the journal: {done.stderr.strip()} (only root can mount one)")
        self._mounted = True

    def close(self) -> None:
        """Unmount it and keep what lay there."""
        if not self._mounted:
            return
        aside = self.folder.with_name(f".{self.folder.name}")
        shutil.copytree(self.folder, aside)
        subprocess.run(["umount", "-l", str(self.folder)], check=True, capture_output=True)
        self._mounted = False
        self.folder.rmdir()
        aside.rename(self.folder)

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """While the block runs no byte is left."""
        filler = self.folder / "filler"
        try:
            with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(CHUNK))
            yield
        finally:
            filler.unlink(missing_ok=True)
