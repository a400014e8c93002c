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
from hivemind_memory.curation.lookup import (
    CurationTarget,
    entry_target,
    notes_in,
    read_target,
)
from hivemind_memory.curation.select import find_targets
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.markdown.chunker import parse_note
from hivemind_memory.markdown.embedding_texts import embedding_texts, text_hash
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, MEMORY, NOTE, MemorySelector
from hivemind_memory.model.memories import ACTIVE, PENDING, SUPERSEDED
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.tombstones import normal_form
from hivemind_memory.redaction.redact import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import ForgetContext
    from hivemind_memory.memory.sync import ChunkSettings
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex


_SETS = ("ids", "paths", "notes", "hashes")
_NEVER_S = 1e12
_DAY_S = 86_400
"""What a time without an offset may be wrong by."""


@dataclass(slots=True)
class PurgePlan:
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

    def add(self, other: PurgePlan) -> None:
        """Merge another plan into this one."""
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
    def from_json(cls, text: str) -> PurgePlan:
        """Return what was kept; nothing when it makes no sense."""
        try:
            kept = json.loads(text)
            sets = {name: set(kept[name]) for name in _SETS}
            return cls(**sets, since_s=float(kept["since_s"]))
        except (ValueError, TypeError, LookupError):
            return cls()


def targets_of_purge(
    forget_context: ForgetContext, index: MemoryIndex, selector: MemorySelector
) -> list[CurationTarget]:
    """Return all that is to go: what is named, its older versions and its copies.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
    """
    targets = find_targets(forget_context.context, index, selector, with_notes=True)
    if selector.name and len(targets) == 1:
        targets += _chain(forget_context, index, targets[0])
    known = {(one.path, one.id if one.kind == ENTRY else "") for one in targets}
    for copy in _copies(forget_context, targets):
        place = (copy.path, copy.id if copy.kind == ENTRY else "")
        if place not in known and (copy.path, "") not in known:
            known.add(place)
            targets.append(copy)
    return targets


def plan_purge(
    forget_context: ForgetContext,
    targets: list[CurationTarget],
    chunking: ChunkSettings,
) -> PurgePlan:
    """Return what else has to be reached for some targets."""
    plan = PurgePlan(since_s=min((_written_s(one) for one in targets), default=inf))
    for path in sorted({target.path for target in targets}):
        here = [target for target in targets if target.path == path]
        try:
            data, _ = forget_context.context.folder.read(path)
        except HivemindError:
            continue
        is_whole = any(target.kind != ENTRY for target in here)
        ids = {target.id for target in here if target.id}
        if is_whole:
            plan.paths.add(path)
            ids |= {entry.provenance.id for entry in entries_in(data)}
        plan.ids |= ids
        plan.notes.add(path)
        plan.hashes |= hashes_in(path, data, None if is_whole else ids, chunking)
    return plan


def _written_s(target: CurationTarget) -> float:
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
        for text in embedding_texts(chunk.body)
    }


def texts_of(forget_context: ForgetContext, targets: list[CurationTarget]) -> set[str]:
    """Return the texts that must not be learned again: entries in whole notes too."""
    texts = {target.text for target in targets}
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            data, _ = forget_context.context.folder.read(target.path)
        except HivemindError:
            continue
        texts |= {entry.content for entry in entries_in(data)}
    return {text for text in texts if text.strip()}


def refuse_whole_notes(targets: list[CurationTarget]) -> None:
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


def _chain(
    forget_context: ForgetContext, index: MemoryIndex, target: CurationTarget
) -> Iterator[CurationTarget]:
    """Yield the older versions of a memory in force, and claims under its key."""
    if target.kind != MEMORY or target.standing != ACTIVE or not target.key:
        return
    older = older_ids(forget_context, index, target)
    for row in index.memories(key=target.key, scopes=frozenset({target.scope})):
        read = read_target(forget_context.context, row.path, MEMORY)
        if read is None or read.path == target.path:
            continue
        if read.standing == PENDING:
            yield _because(read, row.key, "inbox")
        elif read.standing == SUPERSEDED and (
            read.id in older or read.superseded_by == target.id
        ):
            yield _because(read, row.key, "older")


def _copies(
    forget_context: ForgetContext, targets: list[CurationTarget]
) -> Iterator[CurationTarget]:
    """Yield entries and memories that say the same, word for word."""
    texts = {normal_form(target.text) for target in targets} - {""}
    context = forget_context.context
    for path, data in notes_in(context, context.caller.scopes) if texts else ():
        if not context.may_write(path):
            continue
        for entry in entries_in(data):
            if normal_form(entry.content) in texts:
                yield entry_target(path, entry, "copy")
        if data.startswith(b"---") and normal_form(_body(data)) in texts:
            copy = read_target(context, path, MEMORY, "copy")
            if copy is not None:
                yield copy


def _body(data: bytes) -> str:
    """Return roughly what stands below a front matter, without parsing it."""
    head, fence, body = decode(data)[3:].partition("\n---")
    return body.partition("\n")[2] if fence else head


def _because(target: CurationTarget, key: str, why: str) -> CurationTarget:
    """Return a target with its key and why it goes too."""
    return replace(target, key=key, why=why)
