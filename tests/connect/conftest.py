"""A machine of the test's own: programs on a path, a home, and ``hm`` as installed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import HM, finish
from tests.support.ran import Ran
from tests.support.waiting import HANG_S

ROOT = Path(__file__).parents[2]
PROGRAMS = ("claude", "codex", "gemini", "opencode", "qwen", "vscode")
FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "opencode": ".config/opencode/opencode.jsonc",
    "qwen": ".qwen/settings.json",
    "vscode": ".config/Code/User/mcp.json",
}
SETTINGS = ".claude/settings.json"

# As pip makes it.
_HM = """\
#!{python}
import sys
sys.path.insert(0, {root!r})
from hivemind_memory.cli.main import run
sys.exit(run())
"""
_FAKE = """\
#!/bin/sh
echo "$0 $*" >> {calls}
"""


@dataclass
class Machine:
    """Somebody's machine."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def programs(self) -> Path:
        return self.root / "bin"

    @property
    def hm(self) -> Path:
        """The command, in a folder with a space in its name."""
        return self.root / "own tools" / "hm"

    @property
    def calls(self) -> list[str]:
        """How agents' programs were called."""
        file = self.root / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def install(self, *names: str) -> None:
        """Put programs on the path; Cursor is a folder."""
        for name in names:
            if name == "cursor":
                (self.home / ".cursor").mkdir()
                continue
            file = self.programs / {"vscode": "code"}.get(name, name)
            file.write_text(_FAKE.format(calls=self.root / "calls"))
            file.chmod(0o755)

    def put(self, name: str, text: str | bytes) -> Path:
        """Write a file in the home folder."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def snapshot(self) -> dict[str, Any]:
        """Every file of the home but ours, with its bytes, mode and link."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = path.relative_to(self.home).as_posix()
            if name.split("/")[0] == ".hivemind":
                continue
            link = os.readlink(path) if path.is_symlink() else ""
            data = path.read_bytes() if path.is_file() else None
            found[name] = (data, path.lstat().st_mode, link)
        return found

    def run(
        self, *words: str, stdin: str | bytes = b"", cwd: Path | None = None, **env: str
    ) -> Ran:
        """Run ``hm`` as a process, without a terminal."""
        done = finish(
            [*HM, *words],
            stdin.encode() if isinstance(stdin, str) else stdin,
            HANG_S,
            program=str(self.hm),
            cwd=cwd or self.root,
            env=self.env | env,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ask(self, *words: str, answer: str) -> Ran:
        """Run ``hm`` in a terminal and type an answer when it asks."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [str(self.hm), *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self.env,
            close_fds=True,
            start_new_session=True,
        ) as process:
            os.close(theirs)
            text, is_asked = b"", False
            deadline = time.monotonic() + HANG_S
            while time.monotonic() < deadline:
                if not select.select([ours], [], [], 0.1)[0]:
                    continue
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other end is closed: it has ended
                    break
                if not part:
                    break
                text += part
                if not is_asked and b"[y/N]" in text:
                    os.write(ours, answer.encode())
                    is_asked = True
            process.kill()
        os.close(ours)
        return Ran(process.returncode, text.decode().replace("\r\n", "\n"), "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any agent."""
    machine = Machine(tmp_path.resolve())
    for folder in (machine.home, machine.programs, machine.hm.parent):
        folder.mkdir()
    machine.hm.write_text(_HM.format(python=sys.executable, root=str(ROOT)))
    machine.hm.chmod(0o755)
    machine.env = {
        "HIVEMIND_EMBEDDING_PROVIDER": "none",  # so init offers no model
        "HOME": str(machine.home),
        "PATH": f"{machine.programs}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return machine
