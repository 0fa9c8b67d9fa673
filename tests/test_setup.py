"""Set-up and packaging: the pins, the script `./kaijin`, what CI calls and what a built wheel holds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import hatch_build

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-test.txt", "requirements-node.txt")
# Joined here, so that this file does not hold what it forbids.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "com"),
        ("npmjs", "org"),
        ("deb", "debian", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
    )
]
MACHINE_PATH = re.compile(r"/(?:work|root)/|\.\./shared")


def tracked_files() -> list[Path]:
    """The files of the checkout that are, or would be, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


# --- pins ---------------------------------------------------------------------------------------------------------


def pinned(name: str) -> dict[str, str]:
    """Requirement -> its whole logical line, of one requirements file."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    return {line.split("==")[0].strip(): line for line in text.splitlines() if line.strip()}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    lines = pinned(name)
    assert lines
    for line in lines.values():
        assert re.match(r"[a-z0-9][a-z0-9._-]*==[^ ]+ ", line), line
        assert "--hash=sha256:" in line, line


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index|--extra-index|--find-links|--trusted)", text, re.MULTILINE)


def test_the_tests_requirements_hold_the_demos_unchanged() -> None:
    demo, tests = pinned("requirements.txt"), pinned("requirements-test.txt")
    assert {name: tests.get(name) for name in demo} == demo


def test_every_declared_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = {
        "requirements.txt": project["dependencies"] + extras["demo"] + extras["build"],
        "requirements-test.txt": project["dependencies"] + extras["dev"],
    }
    for file, requirements in wanted.items():
        names = {re.split(r"[<>=\[;, ]", requirement)[0] for requirement in requirements}
        assert names <= pinned(file).keys(), file


# --- the repository -----------------------------------------------------------------------------------------------


def test_no_registry_host_or_machine_path_is_committed() -> None:
    found = []
    for file in tracked_files():
        text = file.read_bytes().decode("utf-8", errors="replace")
        found += [f"{file.relative_to(ROOT)}: {host}" for host in HOSTS if host in text]
        found += [f"{file.relative_to(ROOT)}: {path}" for path in MACHINE_PATH.findall(text)]
    assert found == []


def test_ci_only_calls_the_test_command() -> None:
    lines = [line.strip() for line in (ROOT / ".ci/run").read_text().splitlines()]
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["exec ./kaijin test"]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_script_is_plain_shell() -> None:
    shells = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
    assert "sh" in shells
    for shell in shells:
        assert subprocess.run([shell, "-n", str(ROOT / "kaijin")], check=False).returncode == 0, shell


# --- packaging ----------------------------------------------------------------------------------------------------


def test_a_built_wheel_holds_all_that_runs_reads(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("kaijin-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        client = archive.read("displays/vendor/mqtt.esm.js")
    assert client == (ROOT / "displays/vendor/mqtt.esm.js").read_bytes()
    assert {"displays/vendor/mqtt.LICENSE.md", "displays/vendor/mqtt.esm.js.gz"} <= inside
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packages = tuple(f"{package}/" for package in build["targets"]["wheel"]["packages"])
    names = {str(file.relative_to(ROOT)) for file in tracked_files()}
    assert {name for name in names if name.startswith(packages)} <= inside
    assert any(re.fullmatch(r"engine/rulesets/.+\.toml", name) for name in inside)
    assert not any(name.startswith(("tests/", ".venv")) or "__pycache__" in name for name in inside)


def test_what_is_laid_stays_until_it_is_changed(tmp_path: Path) -> None:
    assert hatch_build.is_laid_here()
    pinned_integrity = (ROOT / "displays/vendor" / hatch_build.STAMP).read_text().splitlines()[0]
    vendor = Path(shutil.copytree(ROOT / "displays/vendor", tmp_path / "vendor"))
    assert hatch_build.is_laid(vendor, pinned_integrity)
    assert not hatch_build.is_laid(vendor, "sha512-of-another-version")
    with (vendor / "mqtt.esm.js").open("a") as client:
        client.write("\n")
    assert not hatch_build.is_laid(vendor, pinned_integrity)
    assert not hatch_build.is_laid(tmp_path / "nowhere", pinned_integrity)


def test_a_package_of_another_integrity_is_not_laid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "bin" / "npm"
    write_program(npm, 'while [ "$1" != --pack-destination ]; do shift; done; echo other >"$2/mqtt-5.16.0.tgz"')
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    with pytest.raises(hatch_build.VendorError, match=r"has integrity sha512-.* expected sha512-pinned"):
        hatch_build.lay(tmp_path / "vendor", "mqtt@5.16.0", "sha512-pinned")
    assert not (tmp_path / "vendor").exists()


# --- the script's set-up, with a Python that only records what is asked of it -------------------------------------

TOOLS = ("sh", "cat", "chmod", "cksum", "dirname", "env", "grep", "id", "mkdir", "readlink", "sleep", "uname")

# Stands for a Python 3.11: `-m venv` makes a .venv whose python is this very program, `pip install -e` what an
# editable install leaves. Everything else is the real Python's.
RECORDING_PYTHON = """
case "$*" in
"-m venv --clear "*)
    echo venv >>"$RECORD"
    mkdir -p "$4/bin"
    cat "$0" >"$4/bin/python"
    chmod 755 "$4/bin/python"
    ;;
"-m pip "*" -e "*)
    echo editable >>"$RECORD"
    mkdir -p "$CHECKOUT/displays/vendor"
    echo laid >"$CHECKOUT/displays/vendor/mqtt.esm.js"
    printf '#!/bin/sh\\necho ran "$@"\\n' >"$CHECKOUT/.venv/bin/kaijin"
    chmod 755 "$CHECKOUT/.venv/bin/kaijin"
    ;;
"-m pip "*) echo pip >>"$RECORD" ;;
*) exec "$REAL_PYTHON" "$@" ;;
esac
"""


class Checkout:
    """A checkout with the script and what it reads, on a PATH that holds few programs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "check out"
        self.bin = folder / "bin"
        self.record = folder / "record"
        self.root.mkdir()
        self.bin.mkdir()
        for name in ("kaijin", "pyproject.toml", "hatch_build.py", *REQUIREMENTS):
            shutil.copy(ROOT / name, self.root / name)
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None, tool
            (self.bin / tool).symlink_to(found)
        self.environment: Mapping[str, str] = {
            "PATH": str(self.bin),
            "KAIJIN_APT": "no",
            "CHECKOUT": str(self.root),
            "RECORD": str(self.record),
            "REAL_PYTHON": sys.executable,
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.root / "kaijin"), *arguments],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, error = process.communicate(timeout=60)
        return process.returncode, out, error

    def recorded(self) -> list[str]:
        return self.record.read_text().split() if self.record.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def write_program(file: Path, body: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def test_without_python_the_script_says_which_is_needed(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", "echo 'version not installed' >&2; exit 127")
    code, out, error = checkout.run("rules", "list")
    assert (code, out) == (1, "")
    assert error == "kaijin: Python 3.11 or newer is needed, and none was found on the PATH\n"


@pytest.mark.parametrize("lacks_ensurepip", [False, True])
def test_what_only_root_can_install_is_named_at_once_before_any_download(
    checkout: Checkout, lacks_ensurepip: bool
) -> None:
    guard = 'case "$*" in *ensurepip*) exit 1 ;; esac\n' if lacks_ensurepip else ""
    write_program(checkout.bin / "python3", guard + RECORDING_PYTHON)
    code, out, error = checkout.run("test")
    assert (code, out) == (1, "")
    assert error.count("\n") == 1
    named = error.partition("apt-get update && apt-get install -y --no-install-recommends ")[2].split()
    assert {"chromium", "fonts-wqy-microhei", "fontconfig"} <= set(named)
    assert (f"python{sys.version_info.major}.{sys.version_info.minor}-venv" in named) == lacks_ensurepip
    assert checkout.recorded() == []
    assert not (checkout.root / ".venv").exists()


def test_the_first_start_sets_up_and_the_second_only_runs(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    write_program(checkout.bin / "npm", "exit 1")
    assert checkout.run("rules", "list")[:2] == (0, "ran rules list\n")
    assert checkout.recorded() == ["venv", "pip", "editable"]
    assert checkout.run("rules", "show", "a b") == (0, "ran rules show a b\n", "")
    assert checkout.recorded() == ["venv", "pip", "editable"]


def test_what_the_tests_need_serves_the_demo_too(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    write_program(checkout.bin / "npm", "exit 1")
    assert checkout.run("bench", "--quick")[:2] == (0, "ran bench --quick\n")
    assert checkout.run("demo", "--json")[:2] == (0, "ran demo --json\n")
    assert checkout.recorded() == ["venv", "pip", "editable"]


def test_changed_pins_are_installed_into_the_same_environment(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    write_program(checkout.bin / "npm", "exit 1")
    checkout.run("rules")
    with (checkout.root / "requirements.txt").open("a") as pins:
        pins.write("# changed\n")
    assert checkout.run("rules")[0] == 0
    assert checkout.recorded() == ["venv", "pip", "editable", "pip", "editable"]


def test_without_npm_one_is_fetched_and_removed_again(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    assert checkout.run("rules")[0] == 0
    assert checkout.recorded() == ["venv", "pip", "pip", "editable", "pip"]


def test_a_half_made_environment_is_made_anew(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    write_program(checkout.bin / "npm", "exit 1")
    write_program(checkout.root / ".venv/bin/python", "exit 1")
    assert checkout.run("rules")[0] == 0
    assert checkout.recorded() == ["venv", "pip", "editable"]


def test_two_first_starts_at_once_set_up_once(checkout: Checkout) -> None:
    write_program(checkout.bin / "python3", RECORDING_PYTHON)
    write_program(checkout.bin / "npm", "exit 1")
    starts = [checkout.start("rules", str(nth)) for nth in range(3)]
    outputs = [start.communicate(timeout=60)[0] for start in starts]
    assert outputs == [f"ran rules {nth}\n" for nth in range(3)]
    assert checkout.recorded() == ["venv", "pip", "editable"]


def test_a_failing_download_is_told_and_leaves_no_stamp(checkout: Checkout) -> None:
    failing = RECORDING_PYTHON.replace('"-m pip "*) echo pip', '"-m pip "*) exit 1; echo pip')
    write_program(checkout.bin / "python3", failing)
    code, out, error = checkout.run("demo")
    assert (code, out) == (1, "")
    assert "pip could not install the packages of requirements.txt" in error
    assert not (checkout.root / ".venv" / "kaijin.requirements.txt").exists()
