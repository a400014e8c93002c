"""A leader with its helper, and commands that are run by it or by themselves."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hivemind_memory.files.home import helper_socket
from tests.support.waiting import HANG_S, wait_until

ROOT = Path(__file__).parents[2]

# Counts who does the work, and waits for the helper however busy the machine is.
_PROGRAM = """\
import os, sys
from hivemind_memory.cli import start
from hivemind_memory.cli.asking import client
client.HELLO_S = float(os.environ.pop("WAIT_S"))
ask = client.ask
def counted(path, **given):
    log = os.environ.pop("ASKED_LOG")
    code = ask(path, **given)
    with open(log, "w") as file:
        file.write("here" if code is None else "helper")
    return code
client.ask = counted
start.run()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command did."""

    code: int
    out: bytes
    err: bytes
    by: str
    """``helper``, ``here``, or nothing: nobody was asked."""


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder, an environment for commands, and where they run."""

    folder: Path
    around: Path
    variables: dict[str, str] = field(default_factory=dict)

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a command."""
        kept = ("PATH", "PYTHONPYCACHEPREFIX", "TMPDIR")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.around),
            "HIVEMIND_HOME": str(self.folder),
            "HIVEMIND_EMBEDDING_PROVIDER": "none",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.variables,
            **(more or {}),
        }

    def start(
        self,
        words: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        by_itself: bool = False,
        log: Path | None = None,
        **more: object,
    ) -> subprocess.Popen[bytes]:
        """Start a command; who did it stands in *log* at its end."""
        given = self.environ(environ)
        given.setdefault("WAIT_S", str(HANG_S))
        given["ASKED_LOG"] = str(log or os.devnull)
        if by_itself:
            given["HIVEMIND_ASK_LEADER"] = "false"
        more = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.around,
            **more,
        }
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            [sys.executable, "-c", _PROGRAM, *words], env=given, **more
        )

    def run(
        self,
        *words: str,
        data: bytes | None = None,
        environ: Mapping[str, str] | None = None,
        by_itself: bool = False,
        **more: object,
    ) -> Done:
        """Run a command to its end."""
        log = self.around / f"asked-{os.urandom(6).hex()}"
        if data is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(
            words, environ=environ, by_itself=by_itself, log=log, **more
        )
        out, err = process.communicate(data, HANG_S)
        by = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        return Done(code=process.returncode, out=out, err=err, by=by)

    @property
    def socket(self) -> Path:
        """Where its helper answers."""
        return Path(helper_socket(str(self.folder)))

    @contextlib.contextmanager
    def leader(
        self, environ: Mapping[str, str] | None = None, *, waits: bool = True
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Keep a leader, and wait for its helper."""
        config = self.folder / "config.json"
        if not config.exists() or "ask_leader" not in config.read_text():
            self.run("config", "set", "ask_leader", "true", by_itself=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "hivemind_memory.cli", "watch"],
            env=self.environ(environ),
            cwd=self.around,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if waits:
                wait_until(self.socket.exists, "no helper answered")
            yield process
        finally:
            process.terminate()
            process.wait(HANG_S)

    def copy(self, folder: Path) -> Home:
        """Return a home with the same files, elsewhere."""
        # A leader may run in this one, and a socket can't be copied.
        left_out = shutil.ignore_patterns("locks")
        shutil.copytree(self.around, folder, symlinks=True, ignore=left_out)
        return Home(folder / self.folder.relative_to(self.around), folder)


def helper_of(home: Home) -> int:
    """Return the process that answers at the socket of a home."""
    return int(Path(f"{home.socket}.lock").read_text().split()[1])
