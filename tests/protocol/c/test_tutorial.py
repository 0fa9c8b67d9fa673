"""Every command of "your first firmware on a host", word for word, in the order of the page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_docs import end, environment, marked, split_block, start
from tests.protocol.c.building import ROOT, compiler
from tests.table.harness import wait_for

PAGE = ROOT / "docs" / "c-reference.md"
BLOCKS = [block.text for block in marked(PAGE, "first")]


@pytest.mark.table
@pytest.mark.timeout(400)
def test_the_first_firmware_is_built_tried_and_played_with(tmp_path: Path) -> None:
    compiler("gcc")
    kaijin = tmp_path / "kaijin"
    kaijin.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "from cli.main import main; main()" "$@"\n')
    kaijin.chmod(0o755)
    (tmp_path / "protocol").symlink_to(ROOT / "protocol")
    said, running = "", []
    try:
        for text in BLOCKS:
            for line in text.splitlines():
                together, background = split_block(line)
                for command in background:
                    running.append(start(tmp_path, command))
                    link = re.search(r"--link (\S+)", command)
                    assert link is not None
                    wait_for((tmp_path / link[1]).is_symlink, link[1])
                if together:
                    done = subprocess.run(
                        ["bash", "-euo", "pipefail", "-c", together], cwd=tmp_path, env=environment(),
                        capture_output=True, text=True, check=False, timeout=200,
                    )  # fmt: skip
                    assert done.returncode == 0, f"{together}\n{done.stdout}{done.stderr}"
                    said += done.stdout
    finally:
        codes = [end(process) for process in reversed(running)]
    assert codes == [0, 0]
    assert "vectors, 0 disagreements" in said
    assert "C-0001" in said and "MINE-1" in said
    assert "dice roll: done" in said
    assert "1 hand played" in said


def test_the_page_has_the_commands() -> None:
    assert len(BLOCKS) == 6
    assert sum("my-board" in text for text in BLOCKS) >= 4
