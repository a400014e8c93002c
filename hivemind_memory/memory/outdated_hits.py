"""Handles hits of notes that were indexed by older rules than the current ones.

A new rule finds secrets that an older index still holds. To read thousands of notes
again takes longer than an answer may, so hits come from the old rows meanwhile. Nothing
of these rows is shown: the lines are read from the note and masked by the current
rules, together with what stands around them.
"""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.markdown.text import decode
from hivemind_memory.memory.read import blank_forgotten, mask_lines
from hivemind_memory.memory.same_text import shown_text
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.query import Hit, SearchAnswer
    from hivemind_memory.model.snapshot import FileSignature


MAX_GROWTH = 4
"""A hit whose lines are now more than this many times as long as its snippet is left
out: they aren't the indexed lines, or the chunk was part of one long line."""

CHANGED = "the notes found have changed, and the index is not up to date yet; try again"


def replace_outdated_text(
    answer: SearchAnswer, index: Index, syncer: Syncer, *, has_outdated_rows: bool
) -> SearchAnswer:
    """Return an answer in which no text comes from an outdated row.

    A hit whose lines can't be read as they were indexed is left out.

    Args:
        answer: Of one state of the index.
        index: That state.
        syncer: Knows the current rules, and the notes.
        has_outdated_rows: It is known that some rows are outdated.
    """
    is_current = syncer.has_current_chunking(index)
    old = index.hit_source().signatures(
        {hit.path for hit in answer.hits}, only_outdated=is_current
    )
    if is_current and not old and not has_outdated_rows:
        return answer
    hits = []
    for hit in answer.hits:
        shown: Hit | None = hit
        if hit.path in old:
            shown = _masked_hit(hit, syncer.folder, old[hit.path])
        if shown is not None:
            hits.append(shown)
    # Words like those of the query come from anywhere in the index.
    report = replaced(answer.report, suggestions=())
    if answer.hits and not hits:
        report = replaced(report, why_empty=CHANGED)
    return replaced(answer, hits=tuple(hits), report=report)


def changed_notes(
    answer: SearchAnswer, index: Index, folder: NotesFolder
) -> frozenset[str]:
    """Return the notes of an answer that are gone or aren't as they were indexed.

    Args:
        answer: Of one state of the index that was not compared with the notes.
        index: That state.
        folder: The notes.
    """
    paths = {hit.path for hit in answer.hits}
    indexed = index.hit_source().signatures(paths, only_outdated=False)
    return frozenset(
        path
        for path in paths
        if path not in indexed or _signature(path, folder) != indexed[path]
    )


def _signature(path: str, folder: NotesFolder) -> FileSignature | None:
    """Return the signature of a note; None: it is gone or cannot be read."""
    try:
        return folder.signature(NotePath(path))
    except HivemindError:
        return None


def without_unsaid(
    answer: SearchAnswer, stale: Collection[str], folder: NotesFolder
) -> SearchAnswer:
    """Return an answer without the hits that their notes no longer say.

    Forgetting counts for every reader at once, also for one that cannot update the
    index.

    Args:
        answer: Of an index that is behind the notes.
        stale: Paths of the notes that have changed.
        folder: The notes.
    """
    visible = {path: _visible_text(path, folder) for path in stale}
    hits = [
        hit
        for hit in answer.hits
        if hit.path not in visible or hit.snippet.strip() in visible[hit.path]
    ]
    if len(hits) == len(answer.hits):
        return answer
    # What they would have pointed to may be forgotten, too.
    report = replaced(answer.report, suggestions=())
    if not hits:
        report = replaced(report, why_empty=CHANGED)
    return replaced(answer, hits=tuple(hits), report=report)


def _visible_text(path: str, folder: NotesFolder) -> str:
    """Return what a note says without what is forgotten; empty: it cannot be read."""
    try:
        data, _ = folder.read(NotePath(path), max_bytes=folder.max_note_bytes)
        return shown_text(blank_forgotten(NotePath(path), decode(data)))
    except HivemindError:
        return ""


def _masked_hit(hit: Hit, folder: NotesFolder, indexed: FileSignature) -> Hit | None:
    """Return a hit with the lines of its note; None if the note has changed."""
    try:
        data, signature = folder.read(
            NotePath(hit.path), max_bytes=folder.max_note_bytes
        )
    except HivemindError:
        return None
    if signature != indexed:
        return None
    lines = mask_lines(decode(data).split("\n"), hit.start_line - 1, hit.end_line)
    text = shown_text("\n".join(lines))
    if len(text) > MAX_GROWTH * len(hit.snippet):
        return None
    return replaced(
        hit,
        snippet=text,
        headings=_masked_headings(hit.headings, text),
        key=mask(hit.key),
        reason=mask(hit.reason),
        source_ref=mask(hit.source_ref),
        claim={name: mask(value) for name, value in hit.claim.items()},
    )


def _masked_headings(headings: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return headings, masked together with the text below them."""
    above = [f"# {heading}" for heading in headings]
    lines = mask("\n".join([*above, text])).split("\n")
    return tuple(line.removeprefix("# ") for line in lines[: len(above)])
