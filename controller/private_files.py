"""Files that only their owner may read, replaced in one step."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make the folder, and those above it, if need be; a folder made here is its owner's alone (0700)."""
    if folder.is_dir():
        return
    private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _give_to_owner_of(folder.parent, folder)


def write_private(path: Path, content: bytes) -> None:
    """Replace the file in one step, mode 0600; on the disk when this returns. Makes its folder with mode 0700."""
    private_folder(path.parent)
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        _give_to_owner_of(path.parent, scratch)
        os.replace(scratch, path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _give_to_owner_of(folder: Path, made: Path) -> None:
    """What root makes in the folder of a service belongs to that service."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.chown(made, owner.st_uid, owner.st_gid)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
