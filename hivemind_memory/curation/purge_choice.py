"""Chooses what a purge removes: what is selected, its older versions and its copies.

Other processes may save, rename and move notes meanwhile. So the choice also says how
the notes were right before it, and what is in a note that has changed since is looked
at again; see ``purge_moved``.
"""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.lookup import (
    CurationTarget,
    entry_target,
    notes_in,
    read_target,
)
from hivemind_memory.curation.reactivate import older_ids
from hivemind_memory.curation.row_target import read_row
from hivemind_memory.curation.selection import find_targets
from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, MEMORY, NOTE
from hivemind_memory.model.display import first_few
from hivemind_memory.model.keys import operand
from hivemind_memory.model.memories import ACTIVE, PENDING, SUPERSEDED
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.memory_file import body_of
from hivemind_memory.notes.tombstones import normal_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import MemorySelector
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.snapshot import FileSignature


_ATTEMPTS = 5
"""How often is chosen again because notes changed meanwhile."""


class PurgeChoice(NamedTuple):
    """What to remove, as it was when it was read."""

    targets: list[CurationTarget]
    linked: set[NotePath]
    """Notes among what was chosen that lie behind followed links: they stay."""

    before: Mapping[NotePath, FileSignature]
    """All notes as they were right before the choice."""


def choose_targets(context: CurationContext, selector: MemorySelector) -> PurgeChoice:
    """Return what to remove: what is selected, its older versions and its copies.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches.
        NotePathError: All that is selected lies behind followed links.
    """
    folder = context.folder
    targets, before = _select(context, selector)
    if all(folder.link_above(target.path) for target in targets):
        raise folder.behind_link_error(targets[0].path, "Nothing was purged")
    known = {
        (target.path, target.id if target.kind == ENTRY else "") for target in targets
    }
    for copy in _copies(context, targets):
        place = (copy.path, copy.id if copy.kind == ENTRY else "")
        if place not in known and (copy.path, "") not in known:
            known.add(place)
            targets.append(copy)
    linked = {target.path for target in targets if folder.link_above(target.path)}
    chosen = [target for target in targets if target.path not in linked]
    return PurgeChoice(chosen, linked, before)


def _select(
    context: CurationContext, selector: MemorySelector
) -> tuple[list[CurationTarget], Mapping[NotePath, FileSignature]]:
    """Return what is selected, with older versions, and the notes right before.

    What the index says of a note and what the note says belong together only if no
    note has changed in between; else it is selected again.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches.
    """
    for attempt in range(_ATTEMPTS):
        before = context.folder.signatures()
        index = context.index.fresh()
        targets: list[CurationTarget] = []
        problem: MemoryNotFoundError | None = None
        try:
            targets += find_targets(context, index, selector, with_notes=True)
            if selector.name and len(targets) == 1:
                targets += _chain(context, index, targets[0])
        except MemoryNotFoundError as error:
            problem = error
        now = context.folder.signatures()
        is_steady = all(now.get(path) == before[path] for path in before)
        if is_steady or attempt == _ATTEMPTS - 1:
            break
    if problem is not None:
        raise problem
    return targets, before


def refuse_whole_notes(targets: list[CurationTarget]) -> None:
    """Raise if whole notes that a person wrote would be removed.

    Raises:
        UsageError: They would, and the caller did not force it.
    """
    notes = [target.path for target in targets if target.kind == NOTE]
    if notes:
        raise UsageError(
            f"{first_few(notes, 1)} would be removed as a whole, with "
            "what a person wrote in it.",
            hint="Name the note by its path, as in"
            f" `hm forget --purge {operand(notes[0])}`.",
            effect="Nothing was purged",
        )


def _chain(
    context: CurationContext, index: MemoryIndex, target: CurationTarget
) -> Iterator[CurationTarget]:
    """Yield the older versions of an active memory, and pending claims of its key."""
    if target.kind != MEMORY or target.status != ACTIVE or not target.key:
        return
    older = older_ids(context, index, target)
    for row in index.memories(key=target.key, scopes=frozenset({target.scope})):
        read = read_row(context, row)
        if read is None or read.path == target.path:
            continue
        if read.status == PENDING:
            yield replaced(read, key=row.key, why="inbox")
        elif read.status == SUPERSEDED and (
            read.id in older or read.superseded_by == target.id
        ):
            yield replaced(read, key=row.key, why="older")


def _copies(
    context: CurationContext, targets: list[CurationTarget]
) -> Iterator[CurationTarget]:
    """Yield entries and memories with the same text, word for word."""
    texts = {normal_form(target.text) for target in targets} - {""}
    for path, data in notes_in(context, context.caller.scopes) if texts else ():
        if not may_write(context.caller, path):
            continue
        for entry in entries_in(data):
            if normal_form(entry.content) in texts:
                yield entry_target(path, entry, "copy")
        text = decode(data)
        front = split_front_matter(text)
        if front.line_count and normal_form(body_of(text, front)[0]) in texts:
            copy = read_target(context, path, MEMORY, "copy")
            if copy is not None:
                yield copy
