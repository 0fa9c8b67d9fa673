"""Which process holds a serial port, as far as the kernel tells it to this user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def holder_of(name: str) -> str:
    """`kaijin (process 1234)` for the process that has locked or opened a device; empty where that is not known."""
    try:
        device = os.stat(name)
    except OSError:
        return ""
    pid = _locking(device) or _opening(device)
    if pid == os.getpid():
        return "this very process"
    return f"{_name(pid)} (process {pid})" if pid else ""


def _locking(device: os.stat_result) -> int:
    """Who has locked it; everybody may read that."""
    place = f"{os.major(device.st_dev):02x}:{os.minor(device.st_dev):02x}:{device.st_ino}"
    try:
        lines = (_PROC / "locks").read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[5] == place and words[4].isdigit():
            return int(words[4])
    return 0


def _opening(device: os.stat_result) -> int:
    """Who else has opened it, of the processes whose files this user may see."""
    for entry in os.listdir(_PROC):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            descriptors = os.listdir(_PROC / entry / "fd")
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                found = os.stat(_PROC / entry / "fd" / descriptor)
            except OSError:
                continue
            if found.st_rdev == device.st_rdev and found.st_ino == device.st_ino:
                return int(entry)
    return 0


def _name(pid: int) -> str:
    """`kaijin`, `minicom`: the program, without its arguments."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        name = os.path.basename(words[0])
        if name.startswith("python") and len(words) > 2:
            script = words[2] if words[1] == "-m" else words[1]
            name = name if script.startswith("-") else os.path.basename(script)
        return name or (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "a process"
