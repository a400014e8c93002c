"""Keeps hashes of the memories that a repository's worktrees were shown.

The hooks compare them with what is committed, see ``find_copies``. They are made with a
random key for each repository; whoever reads the file can check a guess, but cannot
read a memory. The file is private, in the folder of git that the worktrees share.
`hm eject` deletes it with the hooks.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace

from hivemind_memory.errors import GitError, NotInjectedError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.marked_section import remove_section
from hivemind_memory.inject.find_copies import VERSION, Known, had_in
from hivemind_memory.inject.letters import (
    COPY,
    HASH_BYTES,
    letters,
    readable,
    runs_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hivemind_memory.git.repository import Repository

WORDS_FILE = "info/hivemind-words"
"""In the git folder: the hashes, and what reads them."""

MAX_RUNS = 60_000
"""The newest are kept: a hook reads all of them in about 30 ms."""

_MAX_BRANCHES = 20
_MAX_WORKTREES = 20
_MAX_NEW_FILES = 1_000
_MAX_FILE_BYTES = 1 << 20
_KEY_BYTES = 16
_HOOKS_LINE = b"\nhooks installed\n"


def words_file(repository: Repository) -> str:
    """Return the path of the file."""
    return os.path.join(repository.common_dir, *WORDS_FILE.split("/"))


def remember_words(repository: Repository, texts: Collection[str]) -> bool:
    """Add what is about to be written into a worktree; return whether that worked.

    A text that is known already stays as it was when it first came: what the repository
    had then is not refused. That is what was committed, which the hook asks git for,
    and what stood in a file and was not committed yet, which is left out here.
    """
    try:
        known = _read(repository)
        before = {name for _, name, _ in known.memories}
        new = {}
        for text in texts:
            name = known.hash_of(letters(readable(text))).hex()
            if name not in before:
                new[name] = _runs(text)
        new = {name: runs for name, runs in new.items() if runs}
        if not new:
            return True
        wanted = set[bytes]().union(*new.values())
        had = had_in(wanted, _uncommitted(repository))
        commits = _commits(repository)
        if commits not in known.commits:
            known.commits.append(commits)
        place = known.commits.index(commits)
        for name, runs in new.items():
            hashes = b"".join(sorted(map(known.hash_of, runs - had)))
            known.memories.append((place, name, hashes))
        path = words_file(repository)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        has_hooks = had_hooks(repository)
        write_file(path, os.fsencode(_text_of(known)), mode=0o600)
        if has_hooks:
            note_hooks(repository)
    except (OSError, GitError):
        return False
    return True


def had_hooks(repository: Repository) -> bool:
    """Return whether ``note_hooks`` was called since the file was made."""
    try:
        with open(words_file(repository), "rb") as file:
            return _HOOKS_LINE in file.read()
    except OSError:
        return False


def note_hooks(repository: Repository) -> None:
    """Remember in the file, if there is one, that the hooks are installed."""
    path = words_file(repository)
    if not os.path.exists(path) or had_hooks(repository):
        return
    with suppress(OSError):
        with open(path, "rb") as file:
            data = file.read()
        write_file(path, data + _HOOKS_LINE[1:], mode=0o600)


def forget_words(repository: Repository) -> None:
    """Delete the file."""
    with suppress(OSError):
        os.unlink(words_file(repository))


def _runs(text: str) -> set[bytes]:
    """Return the runs of a memory; none of one that is too short to be a copy."""
    forms = [letters(readable(text)), letters(readable(text, has_tags=True))]
    if len(forms[0]) < COPY:
        return set()
    return {run for form in forms for run in runs_of(form)}


def _read(repository: Repository) -> Known:
    """Return what is known; nothing if there is no file, or none that can be read."""
    with (
        suppress(FileNotFoundError, ValueError),
        open(
            words_file(repository), encoding="utf-8", errors="surrogateescape"
        ) as file,
    ):
        return Known(file.read())
    return Known(f"{VERSION}\nkey {os.urandom(_KEY_BYTES).hex()}\n")


def _text_of(known: Known) -> str:
    """Return the file, with the newest memories within the limit."""
    kept, left = [], MAX_RUNS * HASH_BYTES
    for memory in reversed(known.memories):
        left -= len(memory[2])
        if left < 0:
            break
        kept.append(memory)
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    lines = [VERSION, f"python {sys.executable}", f"folder {folder}"]
    lines.append(f"key {known.key.hex()}")
    places = list(dict.fromkeys(memory[0] for memory in reversed(kept)))
    lines += [" ".join(("commits", *known.commits[place])) for place in places]
    lines += [
        f"memory {places.index(place)} {name} {runs.hex()}"
        for place, name, runs in reversed(kept)
    ]
    return "".join(f"{line}\n" for line in lines)


def _commits(repository: Repository) -> list[str]:
    """Return HEAD and the newest branches: what they hold is the repository's own."""
    head = repository.run("rev-parse", "-q", "--verify", "HEAD^{commit}").stdout
    newest = (f"--count={_MAX_BRANCHES}", "--sort=-committerdate")
    named = ("--format=%(objectname)", "refs/heads")
    branches = repository.run("for-each-ref", *newest, *named).stdout
    return list(dict.fromkeys((head + branches).decode().split()))


def _uncommitted(repository: Repository) -> Iterator[str]:
    """Yield what the worktrees hold that is not committed, without our sections."""
    tops = [repository.top, *map(os.path.realpath, repository.worktrees())]
    for top in list(dict.fromkeys(tops))[:_MAX_WORKTREES]:
        if not os.path.isdir(top):
            continue
        here = replace(repository, top=top)
        options = ("-U0", "--no-renames", "--no-ext-diff", "--no-textconv")
        done = here.run("diff", "HEAD", *options)
        changed = done.stdout if done.returncode == 0 else here.run("diff").stdout
        lines = [line[1:] for line in changed.split(b"\n") if line.startswith(b"+")]
        yield _without_sections(b"\n".join(lines))
        listed = here.run("ls-files", "-z", "--others", "--exclude-standard").stdout
        for name in os.fsdecode(listed).split("\0")[:_MAX_NEW_FILES]:
            path = os.path.join(top, name)
            if name and os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    yield _without_sections(file.read(_MAX_FILE_BYTES))


def _without_sections(data: bytes) -> str:
    """Return a text without the section that an injection wrote."""
    with suppress(NotInjectedError):
        return remove_section(data).decode("utf-8", "replace")
    return ""
