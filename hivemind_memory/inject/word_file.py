"""Keeps the letters of the memories that a repository's worktrees were shown.

The hooks compare them with what is committed, see ``word_check``. The file is private,
in the folder of git that the worktrees share. ``hm eject`` deletes it with the hooks. A
purge starts it anew, because nothing of a purged text may stay.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

from hivemind_memory.files.atomic import write_file
from hivemind_memory.inject.word_check import END_OF_TEXT, RUN, TO_LETTERS, WORDS_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.git.repository import Repository

MAX_LETTERS = 60_000
"""The newest are kept: a hook reads all of them in about 30 ms."""

_NO_COMMIT = "-"
_TIMEOUT_S = 10.0


def words_file(repository: Repository) -> str:
    """Return the path of the file."""
    return os.path.join(repository.common_dir, *WORDS_FILE.split("/"))


def remember_words(repository: Repository, texts: Collection[str]) -> bool:
    """Add what is about to be written into a worktree; return whether that worked.

    A text that is known already keeps its line, and so the commit that was current when
    it first came: what the repository had then is not refused.
    """
    try:
        lines = _read(repository)
        known = {letters for _, letters in lines}
        found = [letters for letters in letters_of(texts) if len(letters) >= RUN]
        new = [letters for letters in dict.fromkeys(found) if letters not in known]
        if not new:
            return True
        head = repository.run("rev-parse", "-q", "--verify", "HEAD^{commit}")
        commit = head.stdout.decode().strip() or _NO_COMMIT
        kept = _newest([*lines, *((commit, letters) for letters in new)])
        path = words_file(repository)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = "".join(f"{commit} {letters}\n" for commit, letters in kept)
        write_file(path, data.encode("utf-8", "surrogateescape"), mode=0o600)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def forget_words(repository: Repository) -> None:
    """Delete the file."""
    with suppress(OSError):
        os.unlink(words_file(repository))


def letters_of(texts: Collection[str]) -> list[str]:
    """Return the letters of each text, as the hooks compare them.

    Raises:
        OSError: There is no awk.
        SubprocessError: It failed.
    """
    wanted = "".join(f"{text}\n{END_OF_TEXT}\n" for text in texts)
    done = subprocess.run(
        ["awk", TO_LETTERS],
        input=wanted.encode("utf-8", "surrogateescape"),
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        check=True,
        timeout=_TIMEOUT_S,
    )
    return done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]


def _read(repository: Repository) -> list[tuple[str, str]]:
    """Return the commit and the letters of each memory, the oldest first."""
    try:
        with open(words_file(repository), "rb") as file:
            data = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    lines = [line.partition(" ") for line in data.split("\n")]
    return [(commit, letters) for commit, _, letters in lines if letters]


def _newest(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the last lines, within the limit."""
    left = MAX_LETTERS
    kept = []
    for commit, letters in reversed(lines):
        left -= len(letters)
        if left < 0:
            break
        kept.append((commit, letters))
    return kept[::-1]
