"""What a purge has to do: worked out from the notes before any of them is touched.

It is kept in ``state.db`` until it is done, without the texts, so that a purge that was
killed or refused somewhere can be finished when nothing is left to find in the notes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf

from hivemind_memory.curation.forget import older_ids
from hivemind_memory.curation.lookup import Target, entry_target, notes_in, read_target
from hivemind_memory.curation.select import find_targets
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.index.sqlite.vector_store import text_hash
from hivemind_memory.index.sqlite.vector_store import texts_of as texts_of_chunk
from hivemind_memory.markdown.chunker import parse_note
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, MEMORY, NOTE, Which
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.status import ACTIVE, SUPERSEDED, WAITING
from hivemind_memory.notes.tombstones import normal_form
from hivemind_memory.redaction.redact import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import Eraser
    from hivemind_memory.memory.sync import ChunkSettings
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex


_SETS = ("ids", "paths", "notes", "hashes")
_NEVER_S = 1e12
_DAY_S = 86_400
"""What a time without an offset may be wrong by."""


@dataclass(slots=True)
class Work:
    """What has to be reached apart from the notes themselves."""

    ids: set[str] = field(default_factory=set)
    """Of entries and memories."""

    paths: set[str] = field(default_factory=set)
    """Notes that go as a whole."""

    notes: set[str] = field(default_factory=set)
    """Notes that are touched."""

    hashes: set[str] = field(default_factory=set)
    """SHA-256 of every text that may have a vector."""

    since_s: float = inf
    """When the first of it was written: no version of it has an older vector."""

    def add(self, other: Work) -> None:
        """Take other work in."""
        self.ids |= other.ids
        self.paths |= other.paths
        self.notes |= other.notes
        self.hashes |= other.hashes
        self.since_s = min(self.since_s, other.since_s)

    def as_json(self) -> str:
        """Return it as it is kept."""
        kept = {name: sorted(getattr(self, name)) for name in _SETS}
        return json.dumps({**kept, "since_s": min(self.since_s, _NEVER_S)})

    @classmethod
    def from_json(cls, text: str) -> Work:
        """Return what was kept; nothing when it makes no sense."""
        try:
            kept = json.loads(text)
            sets = {name: set(kept[name]) for name in _SETS}
            return cls(**sets, since_s=float(kept["since_s"]))
        except (ValueError, TypeError, LookupError):
            return cls()


def targets_of_purge(eraser: Eraser, index: MemoryIndex, which: Which) -> list[Target]:
    """Return all that is to go: what is named, its older versions and its copies.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
    """
    targets = find_targets(eraser.desk, index, which, with_notes=True)
    if which.name and len(targets) == 1:
        targets += _chain(eraser, index, targets[0])
    known = {(one.path, one.id if one.kind == ENTRY else "") for one in targets}
    for copy in _copies(eraser, targets):
        place = (copy.path, copy.id if copy.kind == ENTRY else "")
        if place not in known and (copy.path, "") not in known:
            known.add(place)
            targets.append(copy)
    return targets


def work_of(eraser: Eraser, targets: list[Target], chunking: ChunkSettings) -> Work:
    """Return what else has to be reached for some targets."""
    work = Work(since_s=min((_written_s(one) for one in targets), default=inf))
    for path in sorted({target.path for target in targets}):
        here = [target for target in targets if target.path == path]
        try:
            data, _ = eraser.desk.folder.read(path)
        except HivemindError:
            continue
        is_whole = any(target.kind != ENTRY for target in here)
        ids = {target.id for target in here if target.id}
        if is_whole:
            work.paths.add(path)
            ids |= {entry.provenance.id for entry in entries_in(data)}
        work.ids |= ids
        work.notes.add(path)
        work.hashes |= hashes_in(path, data, None if is_whole else ids, chunking)
    return work


def _written_s(target: Target) -> float:
    """Return when a memory was written at the earliest; 0: nobody knows."""
    try:
        return datetime.fromisoformat(target.created).timestamp() - _DAY_S
    except (ValueError, OverflowError, OSError):
        return 0.0


def hashes_in(
    path: NotePath, data: bytes, entry_ids: set[str] | None, chunking: ChunkSettings
) -> set[str]:
    """Return the hashes under which a note's texts have their vectors.

    Args:
        path: Where it lies.
        data: Its bytes.
        entry_ids: Only of these entries; None: of all that is in it.
        chunking: How notes are cut.
    """
    note = parse_note(
        path,
        masked(data),
        limit_chars=chunking.limit_chars,
        overlap_chars=chunking.overlap_chars,
    )
    return {
        text_hash(text)
        for chunk in note.chunks
        if entry_ids is None
        or (chunk.provenance is not None and chunk.provenance.id in entry_ids)
        for text in texts_of_chunk(chunk.body)
    }


def texts_of(eraser: Eraser, targets: list[Target]) -> set[str]:
    """Return the texts that must not be learned again: entries in whole notes too."""
    texts = {target.text for target in targets}
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            data, _ = eraser.desk.folder.read(target.path)
        except HivemindError:
            continue
        texts |= {entry.content for entry in entries_in(data)}
    return {text for text in texts if text.strip()}


def refuse_whole_notes(targets: list[Target]) -> None:
    """Raise if notes of people would go as a whole.

    Raises:
        UsageError: That has to be insisted on.
    """
    notes = [target.path for target in targets if target.kind == NOTE]
    if notes:
        more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
        raise UsageError(
            f"Nothing was purged: {notes[0]}{more} would go as a whole, with what a "
            "person wrote there.",
            hint="A dry run lists them; insist, if that is what you want.",
        )


def _chain(eraser: Eraser, index: MemoryIndex, target: Target) -> Iterator[Target]:
    """Yield the older versions of a memory in force, and claims under its key."""
    if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
        return
    older = older_ids(eraser, index, target)
    for row in index.memories(key=target.key, scopes=frozenset({target.scope})):
        read = read_target(eraser.desk, row.path, MEMORY)
        if read is None or read.path == target.path:
            continue
        if read.standing == WAITING:
            yield _because(read, row.key, "inbox")
        elif read.standing == SUPERSEDED and (
            read.id in older or read.superseded_by == target.id
        ):
            yield _because(read, row.key, "older")


def _copies(eraser: Eraser, targets: list[Target]) -> Iterator[Target]:
    """Yield entries and memories that say the same, word for word."""
    texts = {normal_form(target.text) for target in targets} - {""}
    desk = eraser.desk
    for path, data in notes_in(desk, desk.caller.scopes) if texts else ():
        if not desk.writes(path):
            continue
        for entry in entries_in(data):
            if normal_form(entry.content) in texts:
                yield entry_target(path, entry, "copy")
        if data.startswith(b"---") and normal_form(_body(data)) in texts:
            copy = read_target(desk, path, MEMORY, "copy")
            if copy is not None:
                yield copy


def _body(data: bytes) -> str:
    """Return roughly what stands below a front matter, without parsing it."""
    head, fence, body = decode(data)[3:].partition("\n---")
    return body.partition("\n")[2] if fence else head


def _because(target: Target, key: str, why: str) -> Target:
    """Return a target with its key and why it goes too."""
    return replace(target, key=key, why=why)
