"""A home of its own for each check: notes, a repository, the server over both ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.real_clients.programs import Done, end_group, run
from benchmarks.real_clients.web_server import serving

ROOT = Path(__file__).parents[2]
NAME = "hivemind"
"""What the server is called in the clients' settings."""

PREFERENCE = "quartzline"
"""A word that stands in the note for every project, and so in the injected section."""

PORT = "54417"
"""What only a search finds out."""

_LAST_WRITES_S = 5.0

NOTES = {
    "global.md": f"The user edits everything with the {PREFERENCE} editor.\n",
    "projects/harbour.md": f"The harbour's tide gauge listens on port {PORT}.\n",
}
QUESTION = "On which port does the tide gauge of the harbour listen?"
REPOSITORY = {
    "README.md": "# Lighthouse\n",
    "CLAUDE.md": "# Rules\n\nKeep it short.\n",
    "AGENTS.md": "# Rules\n\nKeep it short.\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What holds for a whole run."""

    hm: tuple[str, ...]
    """The command, as words."""

    server: tuple[str, ...] = ()
    """What stands in the server's place, to see that checks fail; empty: ours."""

    is_mute: bool = False
    """Whether a web server that says `{}` to everything stands in for ours."""

    folders: tuple[Path, ...] = ()
    """Where clients are looked for before the path."""

    @property
    def path(self) -> str:
        """The search path that clients get."""
        return os.pathsep.join([*map(str, self.folders), os.environ.get("PATH", "")])

    def find(self, program: str) -> str | None:
        """Return where a program is."""
        return shutil.which(program, path=self.path)


@dataclass(slots=True)
class Scratch:
    """Folders that are gone afterwards, and ways to run programs in them."""

    root: Path
    setting: Setting
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The home folder that clients see."""
        return self.root / "home"

    @property
    def notes(self) -> Path:
        """The notes."""
        return self.root / "hive" / "memory"

    @property
    def hm(self) -> str:
        """The command as one word: clients drop the environment, so it sets its own."""
        return str(self.root / "bin" / "hm")

    @property
    def server(self) -> tuple[str, ...]:
        """The command that a client starts to have a server."""
        return self.setting.server or (self.hm, "mcp")

    def run(
        self,
        *command: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Done:
        """Run a client in this home, with some variables more."""
        return run(
            (self.setting.find(command[0]) or command[0], *command[1:]),
            env={**self.env, **(env or {})},
            cwd=cwd or self.root,
        )

    def put(self, name: str, text: str) -> Path:
        """Write a file in the home folder."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def worktree(self) -> Path:
        """Make a repository, and return a linked worktree of it."""
        repository, worktree = self.root / "lighthouse", self.root / "lamp"
        repository.mkdir()
        for name, text in REPOSITORY.items():
            (repository / name).write_text(text, encoding="utf-8")
        self.git(repository, "init", "--quiet", "--initial-branch=main")
        self.git(repository, "add", "--all")
        self.git(repository, "commit", "--quiet", "--message", "first")
        self.git(repository, "worktree", "add", "--quiet", "-b", "lamp", str(worktree))
        return worktree

    def git(self, folder: Path, *words: str) -> str:
        """Run git, and return what it printed."""
        return self.must("git", "-C", str(folder), *words)

    def must(self, *command: str, cwd: Path | None = None) -> str:
        """Run a command that a check needs, and return what it printed.

        Raises:
            RuntimeError: It failed.
        """
        done = self.run(*command, cwd=cwd)
        if done.code != 0:
            raise RuntimeError(f"{command[0]} {command[1:3]}: {done.text.strip()}")
        return done.out

    @contextmanager
    def http(self) -> Iterator[tuple[str, str]]:
        """Serve over HTTP; yield the address and the token.

        Raises:
            RuntimeError: The server did not start.
        """
        file = self.root / "token"
        if self.setting.is_mute:
            with serving(lambda _path, _body: ("application/json", b"{}")) as url:
                yield url, "any"
            return
        with subprocess.Popen(
            [*self.server, "--http", "--port", "0", "--token-file", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            start_new_session=True,
        ) as process:
            try:
                assert process.stderr is not None
                words = process.stderr.readline().split()
                if not words:
                    raise RuntimeError("the server did not start")
                process.stderr.readline()  # where the token is
                yield words[-1], file.read_text(encoding="utf-8").strip()
            finally:
                end_group(process.pid)


@contextmanager
def scratch(setting: Setting) -> Iterator[Scratch]:
    """Make a home with two notes; take all of it away at the end."""
    root = Path(tempfile.mkdtemp(prefix="clients-")).resolve()
    try:
        place = Scratch(root, setting)
        place.env = _environment(root, setting)
        _write_command(Path(place.hm), setting.hm, root / "hive")
        place.home.mkdir()
        for name, text in NOTES.items():
            file = place.notes / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield place
    finally:
        _take_away(root)


def _take_away(root: Path) -> None:
    """Delete a folder in which a program that was ended may still be writing."""
    until_s = time.monotonic() + _LAST_WRITES_S
    while root.exists() and time.monotonic() < until_s:
        shutil.rmtree(root, ignore_errors=True)
        time.sleep(0.05)


def _environment(root: Path, setting: Setting) -> dict[str, str]:
    """Return an environment without anybody's keys, settings or proxies."""
    kept = ("LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS")
    author = {"NAME": "Somebody", "EMAIL": "somebody@example.org"}
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in author.items()
    }
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        **who,
        "HOME": str(root / "home"),
        "HIVEMIND_HOME": str(root / "hive"),
        "PATH": setting.path,
        "TERM": "xterm-256color",
        "NO_PROXY": "127.0.0.1,localhost",
        "NO_COLOR": "1",
        "CI": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "TMPDIR": str(_made(root / "tmp")),
    }


def _write_command(file: Path, hm: tuple[str, ...], hive: Path) -> None:
    """Write a script that runs *hm* with the environment it needs."""
    words = " ".join(f"'{word}'" for word in hm)
    _made(file.parent)
    file.write_text(
        f"#!/bin/sh\nHIVEMIND_HOME='{hive}' HIVEMIND_EMBEDDING_PROVIDER=none"
        f' exec {words} "$@"\n',
        encoding="utf-8",
    )
    file.chmod(0o755)


def _made(folder: Path) -> Path:
    """Make a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def source_hm() -> tuple[str, ...]:
    """Return the command that runs the source tree beside this file."""
    python = (sys.executable, "-P", "-m", "hivemind_memory.cli")
    return ("env", f"PYTHONPATH={ROOT}", *python)
