"""Ctrl-C before a command has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["parse", "table", "main"])
def test_ctrl_c_during_the_imports_prints_no_traceback(
    tmp_path: Path, module: str
) -> None:
    """The first tenth of a second is imports, and no command is there to catch it."""
    broken = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'hivemind_memory.cli.{module}':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from hivemind_memory.cli.main import run\n"
        "run()\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", broken],
        cwd=tmp_path,
        env={**os.environ, "HIVEMIND_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, "", "")
