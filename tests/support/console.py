"""Plays the terminals that documents show: every command, and what it printed.

A block marked ``console`` holds commands after ``$ `` (going on after ``> ``) and below
each what it prints, standard error included. What differs from run to run (times,
sizes, ids, the day, the home folder) is made equal on both sides before comparing; a
line that is ``…`` stands for any lines.

By hand: ``python -m tests.support.console docs/tour.md`` prints what is different, and
``--write`` puts what was printed into the document.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.embedding_server import EmbeddingServer
from tests.support.waiting import HANG_S

ROOT = Path(__file__).parents[2]
HOME_IN_DOCS = "/home/you"
DAY_IN_DOCS = "2026-11-21"
ANY_LINES = "…"

_TOOLS = ".local/bin"
# As pip makes it; it needs nothing from the environment.
_HM = """\
#!{python}
import sys
sys.path.insert(0, {root!r})
from hivemind_memory.cli.main import run
run()
"""
_AGENTS = {
    "@anthropic-ai/claude-code": "claude",
    "@google/gemini-cli": "gemini",
    "@openai/codex": "codex",
    "@qwen-code/qwen-code": "qwen",
    "opencode-ai": "opencode",
}
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MEANWHILE = re.compile(r"<!-- meanwhile: (.*) -->\n\Z")
_ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_DIFFERS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d\b"), "TIME"),
    (re.compile(r"^\d\d:\d\d:\d\d\b"), "TIME"),
    (_ID, "ID"),
    # Pages show what a person sees at a terminal; a test reads a pipe.
    (re.compile(r"\bsource=(?:human|agent)\b"), "SOURCE"),
    (re.compile(r"\(\d+\.\d\d s\)|\(\d+ ms\)"), "(TOOK)"),
    (re.compile(r"\(\d+\.\d [kM]B\)"), "(SIZE)"),
    (re.compile(r"^id: [0-9a-f]{48}$"), "id: PLACE"),
    (re.compile(r'\\?"[0-9a-f]{20}\\?"'), '"VERSION"'),
    (re.compile(r"^(\s*)id: \d+$"), r"\1id: NUMBER"),
    (re.compile(r"\bhm_[\w-]{43}"), "hm_TOKEN"),
)
_SAMPLE = re.compile(
    r"(^```sh\n.*?\.venv/bin/(hm search .*?)\n```\n.*?^```text\n)(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# But not the port of hm's own server.
_SERVED = "127.0.0.1:8737"
_LOCAL = re.compile(r"127\.0\.0\.1:(?!8737\b)\d+")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a document."""

    command: str
    shown: tuple[str, ...]
    """The lines that the document says it prints."""

    first: int
    """Index of the first of them in the document's lines."""

    meanwhile: str = ""
    """What to run meanwhile, in another shell: for ``hm watch``."""


class Player:
    """Runs the commands of a page in an empty home folder."""

    def __init__(self, home: Path, root: Path, *, ollama_url: str) -> None:
        self.home = home
        self._ollama_url = ollama_url
        self._environ = _environ(home, root)
        self._server: subprocess.Popen[str] | None = None
        self._port = ""
        """Where ``hm serve`` runs; pages show its usual port."""

    def play(self, step: Step) -> list[str]:
        """Run a step; return what it printed, with the names that pages use."""
        command = step.command.replace(DAY_IN_DOCS, _today())
        if command.startswith("ollama pull "):
            # From here on the server answers; what ollama prints is not compared.
            self._environ["HIVEMIND_OLLAMA_URL"] = self._ollama_url
            return [""]
        if command.startswith("npm install --global "):
            self._install(command)
            return [""]
        if self._port:
            command = command.replace(_SERVED, f"127.0.0.1:{self._port}")
        if command == "hm serve":
            printed = self._serve(step)
        elif command == "hm watch":
            printed = self._watch(step)
        else:
            printed = self._shell(command)
        if self._port:
            printed = printed.replace(f"127.0.0.1:{self._port}", _SERVED)
        text = printed.replace(str(self.home), HOME_IN_DOCS)
        text = _LOCAL.sub("localhost:11434", text)
        return text.replace(_today(), DAY_IN_DOCS).rstrip("\n").split("\n")

    def leave(self) -> None:
        """End the sessions and the server that were started."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
        self._shell("tmux kill-server")

    def _install(self, command: str) -> None:
        """Create programs with the names of agents, which do nothing."""
        for package, program in _AGENTS.items():
            if package in command:
                file = self.home / _TOOLS / program
                file.write_text("#!/bin/sh\n")
                file.chmod(0o755)

    def _shell(self, command: str) -> str:
        """Return what a command prints; how it ends is part of what it prints."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=HANG_S,
            check=False,
        ).stdout

    def _serve(self, step: Step) -> str:
        """Start ``hm serve`` on a free port; return what it prints at its start."""
        self._server = subprocess.Popen(
            ["bash", "-c", "exec hm serve --port 0"],
            cwd=self.home,
            env=self._environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self._server.stderr is not None
        lines = [self._server.stderr.readline() for _ in step.shown]
        self._port = lines[0].strip().rpartition(":")[2]
        return "".join(lines)

    def _watch(self, step: Step) -> str:
        """Run ``hm watch`` until it has printed what it should, then end it."""
        lines: list[str] = []
        with subprocess.Popen(
            ["bash", "-c", "exec hm watch"],
            cwd=self.home,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        ) as watching:
            assert watching.stdout is not None
            # A watcher that prints less than it should must not block the test.
            timer = threading.Timer(HANG_S, watching.kill)
            timer.start()
            for line in watching.stdout:
                lines.append(line)
                if len(lines) == len(step.shown) - 1 and step.meanwhile:
                    self._shell(step.meanwhile.replace(DAY_IN_DOCS, _today()))
                if len(lines) == len(step.shown):
                    break
            timer.cancel()
            watching.terminate()
        return "".join(lines)


def steps_of(document: str) -> Iterator[Step]:
    """Yield the commands of a document, in order."""
    for block in _BLOCK.finditer(document):
        at = document.count("\n", 0, block.start(1))
        meanwhile = _MEANWHILE.search(document, 0, block.start())
        lines = block[1].splitlines()
        starts = [n for n, line in enumerate(lines) if line.startswith("$ ")]
        for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
            command = [lines[start][2:]]
            first = start + 1
            while first < stop and lines[first].startswith("> "):
                command.append(lines[first][2:])
                first += 1
            yield Step(
                "\n".join(command),
                tuple(lines[first:stop]),
                at + first,
                meanwhile[1] if meanwhile else "",
            )


def is_as_shown(printed: list[str], shown: tuple[str, ...]) -> bool:
    """Return whether a command printed what its page shows."""
    parts = [re.escape(line) for line in map(_alike, shown)]
    pattern = "\n".join(r".*" if part == ANY_LINES else part for part in parts)
    text = "\n".join(map(_alike, printed))
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def pair_ids(printed: list[str], shown: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return each id that a page shows with the one that was printed there, in order.

    An id of a page means one thing if these pairs are one to one.
    """
    parts = []
    for line in shown:
        pieces = map(re.escape, _ID.split(_alike(line, are_ids_alike=False)))
        parts.append(f"({_ID.pattern})".join(pieces))
    pattern = "\n".join(".*" if part == ANY_LINES else part for part in parts)
    text = "\n".join(_alike(line, are_ids_alike=False) for line in printed)
    found = re.fullmatch(pattern, text, re.DOTALL)
    return list(zip(ids_in(shown), found.groups(), strict=True)) if found else []


def are_one_to_one(pairs: Collection[tuple[str, str]]) -> bool:
    """Return whether no id of the one side goes with two of the other."""
    sides = [set(side) for side in zip(*pairs, strict=True)]
    return all(len(side) == len(set(pairs)) for side in sides)


def ids_in(lines: Iterable[str]) -> list[str]:
    """Return the ids in some lines, in order."""
    return _ID.findall("\n".join(lines))


@contextmanager
def player(root: Path = ROOT) -> Iterator[Player]:
    """Yield a player with an empty home, and an embedding server to use."""
    with tempfile.TemporaryDirectory() as home, EmbeddingServer() as server:
        person = Player(Path(home).resolve(), root, ollama_url=server.url)
        try:
            yield person
        finally:
            person.leave()


def replayed(document: str) -> str:
    """Return a document with what its commands print now, where that is different."""
    lines = document.split("\n")
    changes, paired = [], []
    sample = sample_of(document)
    with player() as person:
        for step in [*steps_of(document), *([sample] if sample else [])]:
            printed = person.play(step)
            paired.append((step, pair_ids(printed, step.shown)))
            if not is_as_shown(printed, step.shown):
                changes.append((step, printed))
    if not are_one_to_one([pair for _, pairs in paired for pair in pairs]):
        for step, pairs in paired:
            printed_ids = iter([printed_id for _, printed_id in pairs])
            for at in range(step.first, step.first + len(step.shown)):
                if pairs:
                    lines[at] = _ID.sub(lambda _, ids=printed_ids: next(ids), lines[at])
    for step, printed in reversed(changes):
        stop = step.first + len(step.shown)
        lines[step.first : stop] = [line for line in printed if printed != [""]]
    return "\n".join(lines)


def sample_of(document: str) -> Step | None:
    """Return the search over the notes of ``fixtures``, if a document shows one.

    Its command is preceded by an installation that is not done here.
    """
    found = _SAMPLE.search(document)
    if found is None:
        return None
    first = document.count("\n", 0, found.start(3))
    # A copy, as young as a fresh clone: age counts.
    command = f"cp -r {shlex.quote(str(ROOT / 'fixtures'))} . && {found[2]}"
    return Step(command, tuple(found[3].splitlines()), first)


def _alike(line: str, *, are_ids_alike: bool = True) -> str:
    """Return a line without what differs from run to run."""
    for pattern, name in _DIFFERS:
        if are_ids_alike or pattern is not _ID:
            line = pattern.sub(name, line)
    return line.rstrip()


def _today() -> str:
    """Return the day that ``hm`` puts into names."""
    return dt.date.today().isoformat()


def _environ(home: Path, root: Path) -> dict[str, str]:
    """Return the environment of a user without options."""
    tools = home / _TOOLS
    tools.mkdir(parents=True)
    command = tools / "hm"
    command.write_text(_HM.format(python=sys.executable, root=str(root)))
    command.chmod(0o755)
    who = "[user]\nname = You\nemail = you@example.com\n[init]\ndefaultBranch = main\n"
    (home / ".gitconfig").write_text(who)
    return {
        "HOME": str(home),
        "TMUX_TMPDIR": str(home),  # a server of their own
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "LANG": "C.UTF-8",
        "HIVEMIND_OLLAMA_URL": "http://127.0.0.1:9",  # a port that is closed
    }


def main() -> int:
    """Play documents; print or write what is different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    is_different = False
    for path in options.documents:
        document = path.read_text(encoding="utf-8")
        now = replayed(document)
        if now == document:
            continue
        is_different = True
        if options.write:
            path.write_text(now, encoding="utf-8")
        print(path, "was written" if options.write else "shows something else")
    return 1 if is_different and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
