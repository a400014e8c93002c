"""Finds the text of a memory in what git is about to push, in any form.

A hook of ``commit_check`` runs it, so it imports only what starts fast. It reads what
is new from standard input.

Letters alone are compared: tags, entities, escapes, quoting, numbers, case, punctuation
and line breaks are dropped from both sides, so a wrapped, quoted or highlighted copy is
the same text. A memory is known by keyed hashes of all its runs of ``RUN`` letters. Of
a new text every fourth run is looked up, so ``COPY`` letters in common are never
missed. Several runs of one memory in one file are a copy; one is a phrase. Copies of
two memories are a section that gets out; a copy of one may be a sentence that is in
both by chance.

What the repository had when a memory was first injected doesn't count: a memory may be
taken from its own files. Nor does what is in any commit that it has, for instance of a
colleague, see ``old_text``. What the same commit removes elsewhere is moved or edited.
A memory that was forgotten, replaced or purged, or has expired, is compared no more,
see ``active_notes``.
"""

from __future__ import annotations

import sys
from io import BytesIO

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.added_text import (
    Block,
    added_in,
    batches_of,
    blocks_of,
    forms_of,
)
from hivemind_memory.inject.letters import (
    HASH_BYTES,
    MIN_RUNS,
    STEP,
    hasher,
    letters,
    runs_of,
)
from hivemind_memory.inject.old_text import (
    committed,
    found_in,
    had_in_history,
    removed_lines,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hivemind_memory.inject.active_notes import ActiveTexts

    Found = list[tuple[int, Block, set[bytes]]]
    """The number of a memory, what is new, and the runs that both have."""

VERSION = "hivemind-words 4"
"""First line of the file of hashes."""

_FORMER_VERSIONS = ("hivemind-words 3", "hivemind-words 2")
"""In both, a memory has no note; one that is too short has four words."""

_MAX_TOLD = 5

_MAX_WORDS = 50
"""Of as many copies the history is searched; a commit that has more is a dump."""

_MAX_TREES = 20
"""Fetched commits of which all files are compared, and not only what they changed."""

_MAX_PREFIXED_BYTES = 4_000_000
"""In so much of one commit a word before every line is dropped; it costs 0.3 s."""


class KnownMemory:
    """What is known of a memory that was injected."""

    __slots__ = ("name", "notes", "path", "place", "runs")

    def __init__(
        self, place: int, name: str, runs: bytes, notes: str = "", path: str = ""
    ) -> None:
        self.place = place
        """In ``Known.commits``."""

        self.name = name
        """A hash of all of it."""

        self.runs = runs
        """The hashes of its runs, one after the other."""

        self.notes = notes
        """The notes folder; empty: an earlier version did not keep it."""

        self.path = path
        """Its note."""


class Known:
    """The hashes of the memories that the repository's worktrees were shown."""

    def __init__(self, text: str) -> None:
        """Parse the file.

        Raises:
            ValueError: It is of another version, or damaged.
        """
        head, *rest = text.split("\n")
        if head not in (VERSION, *_FORMER_VERSIONS):
            message = f"{head[:40]!r} is not {VERSION!r}"
            raise ValueError(message)
        self.key = b""
        self.commits: list[list[str]] = []
        """What each injection found committed: HEAD, then other branches."""
        self.memories: list[KnownMemory] = []
        self.has_hooks = False
        """The hooks were installed beside it."""

        folders = [""]
        for line in rest:
            kind, *words = line.split(" ")
            if kind == "key":
                self.key = bytes.fromhex(words[0])
            elif kind == "commits":
                self.commits.append(words)
            elif kind == "notes":
                folders.append(_text(words[0]))
            elif kind == "memory" and (head == VERSION or not any(words[3:])):
                at, name, runs = words[:3]
                memory = KnownMemory(int(at), name, bytes.fromhex(runs))
                if head == VERSION:
                    memory.notes, memory.path = folders[int(words[3])], _text(words[4])
                self.memories.append(memory)
        self.hash_of = hasher(self.key)


def _text(hexadecimal: str) -> str:
    """Return a path as it was before it was written as a word."""
    return bytes.fromhex(hexadecimal).decode("utf-8", "surrogateescape")


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
        self._runs = by_hash(memory.runs for memory in known.memories)
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
            for number in self.memories_with(run):
                hits.setdefault(number, set()).add(run)
        return hits

    def memories_with(self, run: bytes) -> Sequence[int]:
        """Return the numbers of the memories that have a run."""
        return self._runs.get(self._known.hash_of(run), ())

    def left(
        self,
        active: Callable[[KnownMemory, set[bytes]], set[bytes]],
        old: Callable[[Known, Found], Found],
        removed: Callable[[str], str],
    ) -> Found:
        """Return the copies that count.

        Args:
            active: A memory and some of its runs -> those that its note still has.
            old: Copies -> the same without what the repository had.
            removed: A commit -> the lines that it removes.
        """
        moved: dict[str, list[bytes]] = {"": []}
        found: Found = []
        for number, block, runs in self.found:
            some = runs
            if _is_copy(some):
                some = active(self._known.memories[number], some)
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
        return old(self._known, found) if found else []

    def count(self, found: Found) -> int:
        """Return how many different memories are copied.

        A newer text of a memory is another one only as far as it has other words.
        """
        hits = _by_memory(found)
        counted: set[int] = set()
        for number in sorted(hits, key=lambda number: -len(hits[number])):
            runs = hits[number]
            if _is_copy(
                {run for run in runs if counted.isdisjoint(self.memories_with(run))}
            ):
                counted.add(number)
        return len(counted)

    def places_of(self, found: Found) -> list[str]:
        """Return where there are copies, each file once, and of which notes."""
        runs: dict[Block, set[bytes]] = {}
        notes: dict[str, set[str]] = {}
        for number, block, some in found:
            runs.setdefault(block, set()).update(some)
            note = self._known.memories[number].path
            notes.setdefault(block.place, set()).update((note,) if note else ())
        told: dict[str, str] = {}
        for block, some in runs.items():
            if block.place not in told:
                named = f" ({', '.join(sorted(notes[block.place]))})"
                told[block.place] = block.where(some) + named.replace(" ()", "")
        return list(told.values())


def _by_memory(found: Found) -> dict[int, set[bytes]]:
    """Return memory -> its runs in all that is new."""
    hits: dict[int, set[bytes]] = {}
    for number, _, some in found:
        hits.setdefault(number, set()).update(some)
    return hits


def _is_copy(hits: set[bytes]) -> bool:
    """Return whether so much of a memory is a copy."""
    return len(hits) >= MIN_RUNS


def without_old_text(
    theirs: Sequence[str], reachable: str
) -> Callable[[Known, Found], Found]:
    """Return what removes the text that the repository had from some copies.

    Args:
        theirs: Commits that were fetched.
        reachable: What else it has, as options of git: ``--remotes`` for instance.
    """

    def find(known: Known, found: Found) -> Found:
        hits = _by_memory(found)
        for place in {known.memories[number].place for number in hits}:
            here = [number for number in hits if known.memories[number].place == place]
            wanted = set[bytes]().union(*(hits[number] for number in here))
            newest = theirs[-_MAX_TREES:]
            commits = list(dict.fromkeys((*known.commits[place], *newest)))
            had = found_in(wanted, committed(commits))
            found = [
                (number, block, runs - had if number in here else runs)
                for number, block, runs in found
            ]
        found = _copies_in(found)
        if found:
            wanted = set[bytes]().union(*(runs for _, _, runs in found))
            files = {block.place for _, block, _ in found if block.is_file}
            words = {block.longest_word(runs) for _, block, runs in found} - {""}
            sought = sorted(words, key=len)[-_MAX_WORDS:]
            had = had_in_history(
                wanted, [*reachable.split(), *theirs], sorted(files), sought
            )
            found = [(number, block, runs - had) for number, block, runs in found]
        return _copies_in(found)

    return find


def _copies_in(found: Found) -> Found:
    """Return what is still a copy."""
    return [copy for copy in found if _is_copy(copy[2])]


def active_runs() -> Callable[[KnownMemory, set[bytes]], set[bytes]]:
    """Return what finds the runs of a memory that its note still has.

    If the rest of the program can't be loaded, that is all of them.
    """
    texts: list[ActiveTexts] = []

    def find(memory: KnownMemory, runs: set[bytes]) -> set[bytes]:
        if not memory.notes:
            return runs
        if not texts:
            import site

            site.main()  # the hooks start Python without the libraries
            try:
                from hivemind_memory.inject.active_notes import ActiveTexts
            except ImportError:
                return runs
            texts.append(ActiveTexts(today=_today()))
        forms = texts[0].of_note(memory.notes, memory.path)
        if forms is None:
            return runs
        return {run for run in runs if any(run in form for form in forms)}

    return find


def _today() -> int:
    """Return the local day, in days since the epoch."""
    from time import localtime, time

    now_s = time()
    return int((now_s + localtime(now_s).tm_gmtoff) // 86_400)


def main(words_file: str) -> None:
    """Print where what is on standard input has the text of a memory.

    First an option of git that names the commits that don't count, and those that were
    fetched, a line each, then ``--``, then what is new.

    A place is printed after an equals sign if it is refused, after a question mark if
    it is only told.

    Args:
        words_file: The hashes.
    """
    stream = sys.stdin.buffer
    reachable, *theirs = [
        line.strip(b"^\n").decode() for line in iter(stream.readline, b"--\n")
    ]
    with open(
        words_file, encoding="utf-8", errors="surrogateescape", opener=open_regular
    ) as file:
        copies = Copies(Known(file.read()))
    for diff in batches_of(stream):
        copies.look(diff)
    old = without_old_text([commit for commit in theirs if commit], reachable)
    found = copies.left(active_runs(), old, removed_lines)
    places = copies.places_of(found)
    sign = "=" if copies.count(found) > 1 else "?"
    if sign == "?" and len(places) > _MAX_TOLD:
        places[_MAX_TOLD:] = [f"and in {len(places) - _MAX_TOLD} more"]
    text = "".join(f"{sign}    {place}\n" for place in places)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
