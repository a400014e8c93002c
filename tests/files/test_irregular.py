"""A pipe, a socket, a device or a folder where a file belongs stops nothing."""

from __future__ import annotations

import ast
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.files.descriptors import IrregularFileError, open_regular
from tests.support.code_tree import walk
from tests.support.forked import HM, finish
from tests.support.ran import Ran
from tests.support.tree import ROOT
from tests.support.waiting import HANG_S

PACKAGE = ROOT / "hivemind_memory"
"""A command that waits for the other end of a pipe waits for ever."""


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path may have about a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


KINDS: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize(
    "flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_CREAT]
)
@pytest.mark.parametrize("kind", KINDS)
def test_only_a_file_is_opened(kind: str, flags: int, tmp_path: Path) -> None:
    """And the error says what is there instead."""
    path = tmp_path / "here"
    KINDS[kind](path)

    with pytest.raises(IrregularFileError, match=f"it is {kind}, not a file") as raised:
        open_regular(str(path), flags)

    assert raised.value.filename == str(path)


def test_every_file_is_opened_by_one_rule() -> None:
    """``open`` takes ``open_regular``; ``os.open`` stands where no person's file is."""
    may_open = {
        *(
            "files/descriptors.py",
            "connect/settings_file.py",
            "inject/worktree_file.py",
        ),
        "files/atomic.py",  # these three read with READ, which never waits
        *("cli/output.py", "environment.py", "mcp_server/streams.py"),  # devices
        "cli/asking/client.py",  # the current folder
        "cli/kept_modules.py",  # beside the byte code
        *("git/index_copy.py", "backup/one_restore.py"),  # a folder, to be locked
    }
    of_the_system = {
        *("files/mounts.py", "environment.py", "memory/shared_comparison.py"),  # /proc
        *("cli/asking/rights.py", "cli/dashboard_server.py"),  # /proc
        "sqlite/lock_holder.py",  # /proc
        *("mcp_server/handshake.py", "mcp_server/upgrade.py"),  # of this package
        *("patterns/pattern_file.py", "cli/kept_modules.py"),  # beside the byte code
        *("redaction/tokens/rules.py", "mcp_server/port_holder.py"),  # the latter /proc
        *("state/open.py", "backup/write.py"),  # a file that was made a line above
    }
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for call in _calls(file):
            called = ast.unparse(call.func)
            if called == "open" and name not in of_the_system:
                opener = [word.value for word in call.keywords if word.arg == "opener"]
                if [ast.unparse(one) for one in opener] != ["open_regular"]:
                    wrong.append(f"{name}:{call.lineno}")
            if called == "os.open" and name not in may_open:
                wrong.append(f"{name}:{call.lineno}")

    assert wrong == []


def _calls(file: Path) -> Iterator[ast.Call]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return (node for node in walk(tree) if isinstance(node, ast.Call))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which each file has been made."""
    home = tmp_path_factory.mktemp("made") / "home"
    save = ("save", "-g", "deploy", "We deploy on any day.")
    for words in (("init",), save, ("write", "-g", "The tea is green.")):
        assert run_hm(home, *words).code == 0
    assert run_hm(home, "config", "set", "min_score", "0.1").code == 0
    return home


def run_hm(home: Path, *words: str) -> Ran:
    """Run a command as a process of its own, which is stopped if it waits."""
    environ = {
        **os.environ,
        "HOME": str(home.parent),
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
    }
    done = finish((*HM, *words), timeout=HANG_S, cwd=home.parent, env=environ)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


WRITE = ("write", "-g", "The harbour is blue.")
CASES = [
    ("config.json", ("search", "deploy"), "config.json cannot be read: it is {}, not"),
    ("config.json", WRITE, "Nothing was saved"),
    ("project-move.json", WRITE, "project-move.json cannot be read: it is {}, not"),
    ("journal/entries.jsonl", WRITE, "entries.jsonl is {}, not a file"),
    ("journal/entries.jsonl", ("doctor",), ""),
    ("journal/entries.jsonl", ("forget", "deploy", "--purge", "--yes"), ""),
    ("journal/lock", WRITE, "lock"),
    ("state.db", WRITE, "state.db cannot be used: it is {}, not a file"),
    ("state.db-journal", WRITE, "state.db-journal cannot be used: it is {}, not"),
    ("memory/.index/memory.db", ("search", "deploy"), "answer was made from the notes"),
    ("memory/.index/memory.db-journal", ("search", "deploy"), "it is {}, not a file"),
    ("memory/.index/compared", ("search", "deploy"), ""),
    ("memory/.index/cookie", ("search", "deploy"), ""),
    ("memory/.index/memory.db.writer.lock", ("sync",), ""),
    ("memory/deploy.md", ("search", "deploy"), ""),
    ("mcp-token", ("mcp", "--http", "--port", "0"), "mcp-token: it is {}, not a file"),
]


@pytest.mark.parametrize(
    ("kind", "file", "words", "says"),
    [
        *(("a named pipe", *case) for case in CASES),
        *(("a device", *case) for case in CASES[:3]),  # which has no end
        ("a socket", *CASES[0]),
        ("a folder", *CASES[0]),
    ],
)
def test_no_command_waits_for_what_is_no_file(
    made: Path,
    tmp_path: Path,
    *,
    kind: str,
    file: str,
    words: tuple[str, ...],
    says: str,
) -> None:
    """A pipe in place of the options or the journal hung every command."""
    home = tmp_path / "home"
    shutil.copytree(made, home)
    (home / file).unlink(missing_ok=True)
    KINDS[kind](home / file)

    ran = run_hm(home, *words)

    said = ran.out + ran.err
    assert ran.code in {0, 1, 2}, said
    assert says.format(kind) in said
    assert "Traceback" not in said
