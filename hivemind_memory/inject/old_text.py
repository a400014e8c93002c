"""Finds text that a repository had before it is committed again, or pushed.

The hooks load this file, so it imports only what starts fast.
"""

from __future__ import annotations

from io import BytesIO

from hivemind_memory.inject.added_text import removed_in
from hivemind_memory.inject.letters import letters, readable, runs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_COMMITS = 1_000
"""Newest commits that are searched for a text; those of its own file all are."""

_CHUNK_BYTES = 1 << 20
_OVERLAP_LINES = 20
_DIFF = ("-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv")
_SMALL = ("-c", "core.bigFileThreshold=8m")


def had_in(wanted: set[bytes], texts: Iterable[str]) -> set[bytes]:
    """Return which hashes or runs some texts have."""
    had: set[bytes] = set()
    for raw in texts:
        for has_tags in (False, True) if "<" in raw else (False,):
            text = letters(readable(raw, has_tags=has_tags))
            had.update(wanted.intersection(runs_of(text)))
    return had


def found_in(wanted: set[bytes], texts: Iterable[str]) -> set[bytes]:
    """Return the same for a few runs, which is faster; it ends when all are found."""
    left = set(wanted)
    for text in texts:
        for form in {readable(text), readable(text, has_tags=True)}:
            data = letters(form)
            left -= {run for run in left if run in data}
        if not left:
            break
    return wanted - left


def committed(commits: Sequence[str]) -> Iterator[str]:
    """Yield what commits hold: all of the first, and what is different in others."""
    first = ""
    for commit in commits:
        if not first:
            words: tuple[str, ...] = ("grep", "-h", "-I", "-e", "", commit, "--", ":/")
        else:
            words = ("diff-tree", "-r", *_DIFF, first, commit)
        is_empty = True
        for text in _printed(words):
            yield text
            is_empty = False
        first = first or ("" if is_empty else commit)


def had_in_history(
    wanted: set[bytes],
    commits: Sequence[str],
    files: Iterable[str],
    likely: Iterable[str],
) -> set[bytes]:
    """Return which runs are in what some commits, or those before them, changed.

    What was deleted since counts, and so do messages: whoever reverts, picks or rebases
    a commit writes no new text.

    Args:
        wanted: The runs.
        commits: As ``git log`` takes them, ``--all`` for instance.
        files: Where the text is found now; all of their history is searched first.
        likely: Words of the text; git shows only what has one of them.
    """
    newest = f"-n{MAX_COMMITS}"
    searches: list[tuple[str, ...]] = [("log", newest, "--format=%B", *commits, "--")]
    pattern = "|".join(likely)
    if pattern:
        shown = ("--format=", "--full-history", "-c", *_DIFF)
        log = (*_SMALL, "log", *shown, "-i", f"-G{pattern}", *commits)
        paths = [f":(top,literal){file}" for file in files]
        searches += [(*log, "--", *paths)] if paths else []
        searches.append((*log, newest, "--"))
    return found_in(wanted, (text for words in searches for text in _printed(words)))


def removed_lines(commit: str) -> str:
    """Return the lines that a commit removes, from any of its parents."""
    words = (*_SMALL, "diff-tree", "-r", "-c", *_DIFF, commit)
    return "".join(map(removed_in, _printed(words)))


def _printed(words: Sequence[str]) -> Iterator[str]:
    """Yield what git prints, by whole lines, and the last of them twice."""
    from subprocess import DEVNULL, PIPE, Popen

    command = ("git", "--no-replace-objects", *words)
    above = b""
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as process:
        printed = process.stdout or BytesIO()
        while lines := printed.readlines(_CHUNK_BYTES):
            yield (above + b"".join(lines)).decode("utf-8", "replace")
            above = b"".join(lines[-_OVERLAP_LINES:])
