"""Plans a purge: what to remove, worked out before any note is changed.

The plan is kept in ``state.db`` until the purge is complete, without the texts, so that
a purge that was interrupted can be finished when the notes no longer hold anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.lookup import (
    CurationTarget,
    entry_target,
    notes_in,
    read_target,
    text_of,
)
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotePathError,
)
from hivemind_memory.markdown.addresses import without_addresses
from hivemind_memory.markdown.blocks import BlockReader
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.subchunks import embedding_texts, text_hash
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.curation import (
    ENTRY,
    MEMORY,
    NOTE,
    FailedItem,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scoped_id
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.memory_file import body_of
from hivemind_memory.notes.tombstones import normal_form
from hivemind_memory.redaction.redact import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.scope import ScopedId


_SETS = ("ids", "paths", "notes", "hashes")
_NEVER_S = 1e12
"""A time without an offset may be off by this much."""


@dataclass(slots=True)
class PurgePlan:
    """What to remove from the stores other than the notes."""

    ids: set[str] = field(default_factory=set)
    """Ids of entries and memories."""

    refs: set[ScopedId] = field(default_factory=set)
    """The same with the scopes of their notes."""

    paths: set[str] = field(default_factory=set)
    """Notes that are removed as a whole."""

    notes: set[str] = field(default_factory=set)
    """Notes that are changed or removed."""

    hashes: set[str] = field(default_factory=set)
    """SHA-256 of every text that may have a vector."""

    sessions: set[str] = field(default_factory=set)
    """Sessions of which all activity is removed."""

    scopes: set[str] | None = None
    """The scopes of who asked; None: the owner, who sees all, and finishes it alone."""

    since_s: float = inf
    """When the oldest part was written: no version of it has an older vector."""

    def merge(self, other: PurgePlan) -> None:
        """Merge another plan into this one."""
        self.ids |= other.ids
        self.refs |= other.refs
        self.paths |= other.paths
        self.notes |= other.notes
        self.hashes |= other.hashes
        self.sessions |= other.sessions
        self.since_s = min(self.since_s, other.since_s)

    def as_json(self) -> str:
        """Return the plan as JSON."""
        kept: dict[str, object] = {name: sorted(getattr(self, name)) for name in _SETS}
        scopes = None if self.scopes is None else sorted(self.scopes)
        since_s = min(self.since_s, _NEVER_S)
        kept |= {"refs": sorted(self.refs), "sessions": sorted(self.sessions)}
        return json.dumps({**kept, "scopes": scopes, "since_s": since_s})

    @classmethod
    def from_json(cls, text: str) -> PurgePlan:
        """Return the plan from JSON; an empty one if it is not valid."""
        try:
            kept = json.loads(text)
            sets = {name: set(kept[name]) for name in _SETS}
            # Earlier versions did not keep the scopes.
            scopes = None if kept.get("scopes") is None else set(kept["scopes"])
            refs = {(str(scope), str(own_id)) for scope, own_id in kept.get("refs", ())}
            refs = refs or {  # of an earlier version
                scoped_id(path, own_id)
                for path in sets["paths"] | sets["notes"]
                for own_id in sets["ids"]
            }
            sets["sessions"] = set(kept.get("sessions", ()))
            since_s = float(kept["since_s"])
            return cls(**sets, refs=refs, scopes=scopes, since_s=since_s)
        except (ValueError, TypeError, LookupError):
            return cls()


def targets_left(
    context: CurationContext, plan: PurgePlan
) -> tuple[list[CurationTarget], list[FailedItem]]:
    """Return what an earlier purge was to remove and did not, and what stays for now.

    A note that was written anew at the path of a purged one is not touched: the plan
    is changed to name it no longer.
    """
    targets: list[CurationTarget] = []
    left: list[FailedItem] = []
    for path in sorted(map(NotePath, plan.paths | plan.notes)):
        if context.folder.link_above(path):
            continue
        try:
            data, _ = context.folder.read(path)
        except (NoteNotFoundError, NotePathError):
            continue
        except HivemindError as error:
            left.append(FailedItem(what=path, why=str(error)))
            continue
        entries = [
            note_entry
            for note_entry in entries_in(data)
            if note_entry.provenance.id in plan.ids
        ]
        hashes = _body_hashes(context, path, data)
        has_front = split_front_matter(decode(data)).line_count > 0
        whole = read_target(context, path, MEMORY if has_front else NOTE)
        if path in plan.paths and whole is not None and _is_newer(context, plan, whole):
            plan.paths.remove(path)
            continue
        if path not in plan.paths or whole is None:
            targets += [entry_target(path, entry) for entry in entries]
        elif whole.id in plan.ids or (hashes and hashes <= plan.hashes):
            targets.append(whole)
        elif entries or _holds_text(plan, data, hashes):
            why = (
                "it was changed and still holds part of the text; purge it by its path"
            )
            left.append(FailedItem(what=path, why=why))
    targets += _moved_since(context, plan)
    return targets, left


def _moved_since(context: CurationContext, plan: PurgePlan) -> Iterator[CurationTarget]:
    """Yield what a plan names by its id and is in another note than when it was made.

    A save or a person may have moved it since the purge was interrupted.
    """
    for path, data in notes_in(context, context.caller.scopes):
        if path in plan.paths | plan.notes or context.folder.link_above(path):
            continue
        if not may_write(context.caller, path):
            continue
        own_id = text_of(split_front_matter(decode(data)).values, "id")
        if own_id and scoped_id(path, own_id) in plan.refs:
            whole = read_target(context, path, MEMORY)
            if whole is not None:
                yield whole
            continue
        for entry in entries_in(data):
            if scoped_id(path, entry.provenance.id) in plan.refs:
                yield entry_target(path, entry)


def _is_newer(context: CurationContext, plan: PurgePlan, whole: CurationTarget) -> bool:
    """Return whether a memory at the path of a purged one is another one.

    One with the purged text is so only if a person has allowed that text again.
    """
    if not whole.id or whole.id in plan.ids:
        return False
    return not context.state().has_tombstone(whole.text, whole.scope)


def linked_copies(context: CurationContext, plan: PurgePlan) -> set[NotePath]:
    """Return the notes behind followed links that hold a text of a plan."""
    if not context.folder.links:
        return set()
    return {
        path
        for path, data in notes_in(context, context.caller.scopes)
        if context.folder.link_above(path)
        and _holds_text(plan, data, _body_hashes(context, path, data))
    }


def _holds_text(plan: PurgePlan, data: bytes, hashes: set[str]) -> bool:
    """Return whether a chunk, a paragraph or a line of a note is a text of a plan."""
    text = decode(data)
    text, _ = body_of(text, split_front_matter(text))
    parts = [*text.split("\n"), *text.split("\n\n")]
    hashes = hashes | {text_hash(part.strip()) for part in parts if part.strip()}
    return not plan.hashes.isdisjoint(hashes)


def _body_hashes(context: CurationContext, path: NotePath, data: bytes) -> set[str]:
    """Return the hashes of the texts of a note without its front matter."""
    text = decode(data)
    body, _ = body_of(text, split_front_matter(text))
    return hashes_in(context, path, body.encode(), None)


def plan_purge(context: CurationContext, targets: list[CurationTarget]) -> PurgePlan:
    """Return the plan for some targets."""
    plan = PurgePlan(
        since_s=min((_written_s(target) for target in targets), default=inf)
    )
    for path in sorted({target.path for target in targets}):
        here = [target for target in targets if target.path == path]
        is_whole = any(target.kind != ENTRY for target in here)
        ids = {target.id for target in here if target.id}
        plan.notes.add(path)
        try:
            data, _ = context.folder.read(path)
        except HivemindError:
            data = b""
        if is_whole and any(is_same_note(target, data) for target in here):
            plan.paths.add(path)
            ids |= {entry.provenance.id for entry in entries_in(data)}
            plan.hashes |= hashes_in(context, path, data, None)
        elif not is_whole:
            plan.hashes |= hashes_in(context, path, data, ids)
        plan.ids |= ids
        plan.refs |= {scoped_id(path, own_id) for own_id in ids}
    return plan


def is_same_note(target: CurationTarget, data: bytes) -> bool:
    """Return whether the bytes at the path of a memory or a whole note are still it.

    Another memory may have taken the path since the target was read.
    """
    if target.kind == ENTRY:
        return False
    text = decode(data)
    front = split_front_matter(text)
    own_id = text_of(front.values, "id")
    if own_id == target.id:
        return True
    if own_id and target.id:
        return False
    return normal_form(body_of(text, front)[0]) == normal_form(target.text)


def _written_s(target: CurationTarget) -> float:
    """Return the earliest time a memory may have been written; 0 if unknown."""
    try:
        return datetime.fromisoformat(target.created).timestamp() - SECONDS_PER_DAY
    except (ValueError, OverflowError, OSError):
        return 0.0


def hashes_in(
    context: CurationContext, path: NotePath, data: bytes, entry_ids: set[str] | None
) -> set[str]:
    """Return the hashes under which the texts of a note have vectors.

    Args:
        context: Of the caller.
        path: The note.
        data: Its bytes.
        entry_ids: Of these entries only; None: of the whole note.
    """
    reader = BlockReader(
        mask,
        limit_chars=context.chunking.limit_chars,
        overlap_chars=context.chunking.overlap_chars,
    )
    return {
        text_hash(text)
        for chunk in reader.read(path, data).chunks
        if entry_ids is None
        or (chunk.provenance is not None and chunk.provenance.id in entry_ids)
        # Indexes of before had vectors of the text with its addresses.
        for body in {chunk.body, without_addresses(chunk.body)[0]}
        for text in embedding_texts(body)
    }


def texts_of(context: CurationContext, targets: list[CurationTarget]) -> set[str]:
    """Return the texts of targets, and of all entries in notes that are removed."""
    texts = {target.text for target in targets}
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            data, _ = context.folder.read(target.path)
        except HivemindError:
            continue
        texts |= {entry.content for entry in entries_in(data)}
    return {text for text in texts if text.strip()}
