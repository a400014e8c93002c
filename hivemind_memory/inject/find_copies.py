"""Finds the text of a memory in what git is about to keep, in any form.

The hooks of ``commit_check`` run it, so it imports only what starts fast. It reads what
is new from standard input.

Letters alone are compared: tags, entities, escapes, quoting, numbers, case, punctuation
and line breaks are dropped from both sides, so a wrapped, quoted or highlighted copy is
the same text. A memory is known by keyed hashes of all its runs of ``RUN`` letters. Of
a new text every fourth run is looked up, so ``COPY`` letters in common are never
missed. Several runs of one memory in one file are a copy; one is a phrase. Copies of
two memories are a section that gets out; a copy of one may be a sentence that is in
both by chance.

What the repository had when a memory was first injected doesn't count, nor does what it
fetched: a memory may be taken from the repository's own files. What the same commit
removes elsewhere doesn't count either: it is moved or edited.
"""

from __future__ import annotations

import sys
from io import BytesIO

from hivemind_memory.inject.added_text import (
    Block,
    added_in,
    batches_of,
    blocks_of,
    forms_of,
    named_sections,
    removed_in,
)
from hivemind_memory.inject.letters import (
    HASH_BYTES,
    MIN_RUNS,
    STEP,
    hasher,
    letters,
    readable,
    runs_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Sets = Mapping[int, set[bytes]]
    """Number of a memory -> some of its runs."""

    Found = list[tuple[int, Block, set[bytes]]]
    """The number of a memory, what is new, and the runs that both have."""

VERSION = "hivemind-words 3"
"""First line of the file of hashes."""

_FORMER_VERSION = "hivemind-words 2"
"""In it, a memory that is too short to be compared has a fourth word."""

_CHUNK_BYTES = 1 << 20
_OVERLAP_LINES = 20
_MAX_TOLD = 5

_MAX_PREFIXED_BYTES = 4_000_000
"""In so much of one commit a word before every line is dropped; it costs 0.3 s."""


class Known:
    """The hashes of the memories that the repository's worktrees were shown."""

    def __init__(self, text: str) -> None:
        """Parse the file.

        Raises:
            ValueError: It is of another version, or damaged.
        """
        head, *rest = text.split("\n")
        if head not in (VERSION, _FORMER_VERSION):
            message = f"{head[:40]!r} is not {VERSION!r}"
            raise ValueError(message)
        self.key = b""
        self.commits: list[list[str]] = []
        """What each injection found committed: HEAD, then other branches."""
        self.memories: list[tuple[int, str, bytes]] = []
        """Each: its place in ``commits``, a hash of it all, its runs."""
        for line in rest:
            kind, *words = line.split(" ")
            if kind == "key":
                self.key = bytes.fromhex(words[0])
            elif kind == "commits":
                self.commits.append(words)
            elif kind == "memory" and not any(words[3:]):
                at, name, runs, *_ = words
                self.memories.append((int(at), name, bytes.fromhex(runs)))
        self.hash_of = hasher(self.key)


def by_hash(hashes: Iterable[bytes]) -> dict[bytes, list[int]]:
    """Return hash -> numbers of the memories with it.

    Args:
        hashes: Of each memory, one after the other.
    """
    found: dict[bytes, list[int]] = {}
    for number, data in enumerate(hashes):
        for at in range(0, len(data), HASH_BYTES):
            found.setdefault(data[at : at + HASH_BYTES], []).append(number)
    return found


class Copies:
    """Which memories have runs in common with something new."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._runs = by_hash(memory[2] for memory in known.memories)
        self._left = _MAX_PREFIXED_BYTES
        self.found: Found = []

    def look(self, diff: bytes) -> None:
        """Compare what a diff adds with the memories: at once, then in detail."""
        added = added_in(diff)
        self._left -= len(added)
        forms = forms_of(added, may_have_prefixes=self._left > 0)
        if not any(map(self._hits, forms)):
            return
        for block in blocks_of(BytesIO(diff)):
            found: dict[int, set[bytes]] = {}
            for text in forms_of(b"".join(block.lines)):
                for number, hits in self._hits(text).items():
                    if len(hits) > len(found.get(number, ())):
                        found[number] = hits
            self.found += [(number, block, hits) for number, hits in found.items()]

    def _hits(self, text: str) -> dict[int, set[bytes]]:
        """Return memory -> its runs in a readable text."""
        hits: dict[int, set[bytes]] = {}
        for run in set(runs_of(letters(text), STEP)):
            for number in self._memories_with(run):
                hits.setdefault(number, set()).add(run)
        return hits

    def _memories_with(self, run: bytes) -> Sequence[int]:
        """Return the numbers of the memories that have a run."""
        return self._runs.get(self._known.hash_of(run), ())

    def left(
        self, old: Callable[[Known, Sets], Sets], removed: Callable[[str], str]
    ) -> Found:
        """Return the copies that count.

        Args:
            old: What was found of each memory -> what of that the repository had.
            removed: A commit -> the lines that it removes.
        """
        moved: dict[str, list[bytes]] = {"": []}
        found: Found = []
        for number, block, some in self.found:
            if not _is_copy(some):
                continue
            if block.commit not in moved:
                lines = removed(block.commit).encode("utf-8", "replace")
                is_small = len(lines) < _MAX_PREFIXED_BYTES
                forms = forms_of(lines, may_have_prefixes=is_small)
                moved[block.commit] = [letters(form) for form in forms]
            texts = moved[block.commit]
            kept = {run for run in some if not any(run in text for text in texts)}
            if _is_copy(kept):
                found.append((number, block, kept))
        hits = _by_memory(found)
        without = old(self._known, hits) if hits else {}
        less = [(at, block, some - without[at]) for at, block, some in found]
        return [(at, block, some) for at, block, some in less if _is_copy(some)]

    def count(self, found: Found) -> int:
        """Return how many different memories are copied.

        A newer text of a memory is another one only as far as it has other words.
        """
        hits = _by_memory(found)
        counted: set[int] = set()
        for number in sorted(hits, key=lambda number: -len(hits[number])):
            runs = hits[number]
            if _is_copy(
                {run for run in runs if counted.isdisjoint(self._memories_with(run))}
            ):
                counted.add(number)
        return len(counted)


def _by_memory(found: Found) -> dict[int, set[bytes]]:
    """Return memory -> its runs in all that is new."""
    hits: dict[int, set[bytes]] = {}
    for number, _, some in found:
        hits.setdefault(number, set()).update(some)
    return hits


def _is_copy(hits: set[bytes]) -> bool:
    """Return whether so much of a memory is a copy."""
    return len(hits) >= MIN_RUNS


def places_of(found: Found) -> list[str]:
    """Return where there are copies, each file once."""
    runs: dict[Block, set[bytes]] = {}
    for _, block, some in found:
        runs.setdefault(block, set()).update(some)
    told: dict[str, str] = {}
    for block, some in runs.items():
        if block.place not in told:
            told[block.place] = block.where(some)
    return list(told.values())


def old_text(theirs: Sequence[str]) -> Callable[[Known, Sets], Sets]:
    """Return what finds the text that the repository had before a memory.

    Args:
        theirs: Commits that were fetched.
    """

    def find(known: Known, hits: Sets) -> Sets:
        found: dict[int, set[bytes]] = {}
        for place in {known.memories[number][0] for number in hits}:
            here = [number for number in hits if known.memories[number][0] == place]
            wanted = set[bytes]().union(*(hits[number] for number in here))
            commits = list(dict.fromkeys((*known.commits[place], *theirs)))
            had = had_in(wanted, _committed(commits))
            found.update((number, hits[number] & had) for number in here)
        return found

    return find


def had_in(wanted: set[bytes], texts: Iterable[str]) -> set[bytes]:
    """Return which runs some texts have."""
    had: set[bytes] = set()
    for raw in texts:
        for has_tags in (False, True) if "<" in raw else (False,):
            text = letters(readable(raw, has_tags=has_tags))
            had.update(wanted.intersection(runs_of(text)))
    return had


def _committed(commits: Sequence[str]) -> Iterator[str]:
    """Yield what commits hold: all of the first, and what is different in others."""
    first = ""
    for commit in commits:
        if not first:
            words: tuple[str, ...] = ("grep", "-h", "-I", "-e", "", commit, "--", ":/")
        else:
            options = ("-r", "-p", "-U0", "--no-renames", "--no-ext-diff")
            words = ("diff-tree", *options, "--no-textconv", first, commit)
        is_empty = True
        for text in _printed(words):
            yield text
            is_empty = False
        first = first or ("" if is_empty else commit)


def removed_lines(commit: str) -> str:
    """Return the lines that a commit removes, from any of its parents."""
    options = ("-r", "-c", "-p", "-U0", "--no-renames", "--no-ext-diff")
    words = ("-c", "core.bigFileThreshold=8m", "diff-tree", *options)
    return "".join(map(removed_in, _printed((*words, "--no-textconv", commit))))


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


def main(words_file: str, *, results: int) -> None:
    """Write where what is on standard input has the text of a memory.

    First the commits that were fetched, a line each, then ``--``, then what is new. The
    lines that name files, and sections in them, are given back.

    A place is written after an equals sign if it is refused, after a question mark if
    it is only told.

    Args:
        words_file: The hashes.
        results: Number of the open file for the places.
    """
    stream, given_back = sys.stdin.buffer, sys.stdout.buffer
    theirs = [line.strip(b"^\n").decode() for line in iter(stream.readline, b"--\n")]
    with open(words_file, encoding="utf-8", errors="surrogateescape") as file:
        copies = Copies(Known(file.read()))
    for diff in batches_of(stream):
        given_back.write(named_sections(diff))
        copies.look(diff)
    found = copies.left(
        old_text([commit for commit in theirs if commit]), removed_lines
    )
    places = places_of(found)
    sign = "=" if copies.count(found) > 1 else "?"
    if sign == "?" and len(places) > _MAX_TOLD:
        places[_MAX_TOLD:] = [f"and in {len(places) - _MAX_TOLD} more"]
    text = "".join(f"{sign}    {place}\n" for place in places)
    with open(results, "wb") as written:
        written.write(text.encode("utf-8", "replace"))
