"""Finds the memories that a person should look at: disputed, over, old and unused.

What the index and the counters know is found at once. For near copies, secrets and
links to nothing every note has to be read: ``look_on`` does that in parts.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from hivemind_memory.errors import HivemindError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.memory.retrieve import find_similar
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.memories import ACTIVE, RELATED
from hivemind_memory.model.memory_types import find_type
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_header import is_done
from hivemind_memory.redaction import mask
from hivemind_memory.search.similarity import (
    NEAR_DUPLICATE,
    similar_texts,
    similarity,
    words_in,
)
from hivemind_memory.state.recall_log import RecallLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

SOON_DAYS = 14
STALE_DAYS = 90
MAX_STALE = 1_000
"""Of the oldest are looked up."""

PART_S = 0.4
"""How long a part of a close look takes: a person sees that it goes on."""

_BATCH = 50
_MIN_WORDS = 4
"""Of a text that is compared: shorter ones are alike by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A memory, and what it is in doubt with."""

    row: MemoryRow
    other: MemoryRow | None = None
    """The other side of a dispute, or the copy."""

    target: str = ""
    """What a link names that is not there."""

    kind: str = RELATED
    """Of that link."""


@dataclass(slots=True, kw_only=True)
class Doubts:
    """What is doubtful, by kind."""

    disputed: list[Doubt] = field(default_factory=list)
    expired: list[Doubt] = field(default_factory=list)
    soon: list[Doubt] = field(default_factory=list)
    """They expire within two weeks."""

    stale: list[Doubt] = field(default_factory=list)
    """Old, of a type that ages, and never recalled."""


@dataclass(slots=True, kw_only=True)
class CloseLook:
    """What was found in the texts so far."""

    rows: Sequence[MemoryRow]
    """The memories to read, newest first."""

    copies: list[Doubt] = field(default_factory=list)
    secrets: list[Doubt] = field(default_factory=list)
    dead_links: list[Doubt] = field(default_factory=list)
    looked_at: int = 0
    texts: list[tuple[MemoryRow, frozenset[str]]] = field(default_factory=list)
    """Of those that were read, with their words."""

    steps: Iterator[tuple[MemoryRow, MemoryRow] | None] | None = None
    """Of the comparison, once all are read."""

    compared: int = 0
    is_done: bool = False

    @property
    def total(self) -> int:
        """How many memories there are to read."""
        return len(self.rows)

    @property
    def share(self) -> float:
        """How much of the work is done, 0..1: reading, then comparing."""
        if self.is_done or not self.rows:
            return 1.0
        # Comparing takes about a third as long as reading.
        return (3 * self.looked_at + self.compared) / (4 * len(self.rows))


def find_doubts(memory: Memory) -> Doubts:
    """Return what the index and the counters know to be doubtful.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    today = memory.clocks.today()
    # What the index knows changes with the notes only, the counters at any time.
    found, old = memory.lists.kept(
        ("doubts", today), lambda: _find_in_index(memory, today)
    )
    counts = RecallLog(memory.state()).counts(
        [(row.scope, row.memory_id) for row in old]
    )
    unused = [row for row in old if (row.scope, row.memory_id) not in counts]
    return replaced(found, stale=[Doubt(row=row) for row in reversed(unused)])


def _find_in_index(memory: Memory, today: int) -> tuple[Doubts, list[MemoryRow]]:
    """Return what the index knows to be doubtful, and what is old, the oldest last."""
    rows = [
        row
        for row in memory.memories()
        if row.status == ACTIVE and row.type and not is_done(row.done_day, today=today)
    ]
    found = Doubts()
    for row in rows:
        if row.expires_day is not None and row.expires_day <= today + SOON_DAYS:
            is_over = row.expires_day <= today
            (found.expired if is_over else found.soon).append(Doubt(row=row))
    paths = {row.path: row for row in rows}
    found.disputed += [
        Doubt(row=paths[dispute.path], other=paths[dispute.other])
        for dispute in memory.lists.disputes()
        if dispute.path in paths and dispute.other in paths
    ]
    return found, _old_rows(memory, rows, today)


def _old_rows(memory: Memory, rows: Sequence[MemoryRow], today: int) -> list[MemoryRow]:
    """Return what is old and of a type that ages, the oldest last."""
    last = memory.clocks.local_iso((today - STALE_DAYS) * SECONDS_PER_DAY)[:10]
    ages: dict[str, bool] = {}
    for name in {row.type for row in rows}:
        kind = find_type(name, memory.types)
        ages[name] = kind is not None and kind.does_age
    return [
        row
        for row in rows
        if ages[row.type] and not row.is_pinned and row.created[:10] < last
    ][-MAX_STALE:]


def begin_look(memory: Memory) -> CloseLook:
    """Return what a close look at the active memories begins with.

    Raises:
        NotesMissingError: There is no notes folder.
    """
    return CloseLook(
        rows=[row for row in memory.memories() if row.status == ACTIVE and row.type]
    )


def look_on(memory: Memory, look: CloseLook, budget_s: float = PART_S) -> None:
    """Do a part of the close look: read memories, the newest first, then compare them.

    Args:
        memory: As its caller sees it.
        look: What was done before, and is gone on with.
        budget_s: When to stop; the rest is for the next part.
    """
    stopwatch = memory.clocks.stopwatch
    ends_s = stopwatch() + budget_s
    while look.looked_at < len(look.rows):
        _read_batch(memory, look)  # one at least, so that each part gets further
        if stopwatch() >= ends_s:
            return
    look.steps = look.steps or _compared(look.texts)
    for pair in look.steps:
        look.compared += pair is None
        if pair is not None and not _are_linked(memory, *pair):
            look.copies.append(Doubt(row=pair[0], other=pair[1]))
        if stopwatch() >= ends_s:
            return
    look.is_done = True


def _read_batch(memory: Memory, look: CloseLook) -> None:
    """Read the next memories."""
    batch = look.rows[look.looked_at : look.looked_at + _BATCH]
    look.dead_links += _dead_links(memory, batch)
    for row in batch:
        body = body_of(memory, row)
        if not body:
            continue
        if _has_secret(body):
            look.secrets.append(Doubt(row=row))
        look.texts.append((row, words_in(body)))
    look.looked_at += len(batch)


def without_settled(memory: Memory, look: CloseLook, most: int) -> CloseLook:
    """Return a close look without what was put right since it was found.

    Args:
        memory: As its caller sees it.
        look: What was found.
        most: Of each kind, that many are looked at again; the others stay.
    """
    dead = {
        (doubt.row.path, doubt.target, doubt.kind)
        for doubt in _dead_links(memory, {doubt.row for doubt in look.dead_links})
    }
    return replaced(
        look,
        copies=[
            doubt
            for at, doubt in enumerate(look.copies)
            if at >= most or _is_copy(memory, doubt)
        ],
        secrets=[
            doubt
            for at, doubt in enumerate(look.secrets)
            if at >= most or _has_secret(body_of(memory, doubt.row))
        ],
        dead_links=[
            doubt
            for doubt in look.dead_links
            if (doubt.row.path, doubt.target, doubt.kind) in dead
        ],
    )


def _is_copy(memory: Memory, doubt: Doubt) -> bool:
    """Return whether two memories still say nearly the same."""
    if doubt.other is None:
        return False
    one, other = (words_in(body_of(memory, row)) for row in (doubt.row, doubt.other))
    is_alike = similarity(one, other) >= NEAR_DUPLICATE
    return is_alike and not _are_linked(memory, doubt.row, doubt.other)


def _are_linked(memory: Memory, one: MemoryRow, other: MemoryRow) -> bool:
    """Return whether a link says how one of two memories relates to the other."""
    edges = memory.index_handle.run_fresh(
        lambda index: index.edges_of(one.path, scopes=memory.access.scopes)
    )
    return any(other.path in (edge.from_path, edge.to_path) for edge in edges)


def _has_secret(body: str) -> bool:
    """Return whether a text holds what looks like a secret."""
    return mask(body) != body


def body_of(memory: Memory, row: MemoryRow) -> str:
    """Return the text of a memory, without its front matter; empty: it is not there."""
    try:
        text = memory.read(row.path).text
    except HivemindError:
        return ""
    return "\n".join(text.split("\n")[split_front_matter(text).line_count :])


def copies_of_text(memory: Memory, path: str, text: str) -> list[tuple[str, float]]:
    """Return the notes that say nearly the same as one, and how much of it: 0..1."""
    access, today = memory.access, memory.clocks.today()
    candidates = memory.index_handle.run_fresh(
        lambda index: find_similar(index, text, access=access, today=today)
    )
    found = {
        candidate.path: share
        for candidate, share in similar_texts(text, candidates)
        if candidate.path != path
    }
    return list(found.items())


def _dead_links(memory: Memory, rows: Collection[MemoryRow]) -> list[Doubt]:
    """Return the links of some memories that lead to nothing in any scope.

    What was forgotten may be restored. Only who sees every scope is told: to others, a
    link to what they may not see would look like a link to nothing, or its absence from
    this list would tell that it is there.
    """
    if memory.caller.scopes is not None:
        return []
    return memory.index_handle.run_fresh(
        lambda index: [
            Doubt(row=row, target=edge.to_id, kind=edge.kind)
            for row in rows
            for edge in index.edges_of(row.path, scopes=None)
            if edge.from_path == row.path
            and not edge.to_path
            and not _is_named(index, edge.to_id)
        ]
    )


def _is_named(index: MemoryIndex, name: str) -> bool:
    """Return whether a note has an id, a key or a path, in any scope and status."""
    return bool(
        index.memories(memory_id=name)
        or index.memories(key=name)
        or index.memories(path=name)
    )


def near_copies(
    texts: Sequence[tuple[MemoryRow, frozenset[str]]],
) -> Iterator[tuple[MemoryRow, MemoryRow]]:
    """Yield the pairs that say nearly the same, each older memory once."""
    return (pair for pair in _compared(texts) if pair is not None)


def _compared(
    texts: Sequence[tuple[MemoryRow, frozenset[str]]],
) -> Iterator[tuple[MemoryRow, MemoryRow] | None]:
    """Yield the pairs that say nearly the same, and None after each text.

    Texts as alike as that share one of their rarest words, so only such pairs are
    compared.

    Source:
        Chaudhuri, Ganti, Kaushik: A primitive operator for similarity joins, ICDE 2006.
    """
    known = Counter(word for _, words in texts for word in words)
    by_word: dict[str, list[int]] = {}
    for at, (row, words) in enumerate(texts):
        yield None
        if len(words) < _MIN_WORDS:
            continue
        rare = sorted(words, key=lambda word: (known[word], word))
        first = rare[: len(words) - math.ceil(NEAR_DUPLICATE * len(words)) + 1]
        near = dict.fromkeys(other for word in first for other in by_word.get(word, ()))
        for other in near:
            there, theirs = texts[other]
            if similarity(words, theirs) >= NEAR_DUPLICATE and row.scope == there.scope:
                yield there, row
                break
        for word in first:
            by_word.setdefault(word, []).append(at)
