"""From what somebody names to what is to be forgotten, restored or purged.

Typed memories come from the index, which is in step with the folder; entries from the
notes themselves, for the index does not know those that are forgotten already. What a
caller may not see is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hivemind_memory.access.rules import scope_named
from hivemind_memory.curation.lookup import (
    CurationTarget,
    entry_target,
    not_found,
    notes_in,
    read_target,
    text_of,
)
from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import MEMORY, NOTE, MemorySelector
from hivemind_memory.model.memories import PENDING, SUPERSEDED
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex


_ULID = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}")
_NO_MARKS: Mapping[int, str] = {}


def find_targets(
    context: CurationContext,
    index: MemoryIndex,
    selector: MemorySelector,
    *,
    with_notes: bool = False,
) -> list[CurationTarget]:
    """Return what is meant, each once, typed memories first.

    Args:
        context: Of the caller.
        index: In step with the folder.
        selector: What the caller names.
        with_notes: Whole notes of people may be meant too.

    Raises:
        MemoryNotFoundError: There is nothing like that, or not for this caller.
        NotSavedError: The caller may read it and not change it.
        ScopeError: It names a scope that the caller does not have.
        UsageError: It names nothing, or more than one by the same key.
    """
    if selector == MemorySelector():
        message = "Nothing was named: give an id, a key, a session, a source or a day."
        raise UsageError(message, hint="`hm search` shows keys and ids.")
    if not context.caller.is_member:
        raise _absent(selector)
    found = _TargetSearch(context, index, selector, with_notes=with_notes)
    targets = list(found.by_name() if selector.name else found.of_set())
    allowed = [target for target in targets if context.may_write(target.path)]
    if targets and not allowed:
        where = targets[0].scope or "the global memory"
        message = f"Nothing was changed: this door does not write to {where}."
        raise NotSavedError(message, hint="Ask the person whose memory it is.")
    if not allowed:
        raise _absent(selector)
    return allowed


class _TargetSearch:
    """One search for what is meant."""

    def __init__(
        self,
        context: CurationContext,
        index: MemoryIndex,
        selector: MemorySelector,
        *,
        with_notes: bool,
    ) -> None:
        self._context = context
        self._index = index
        self._selector = selector
        self._with_notes = with_notes
        self._scopes = context.caller.scopes
        if selector.scope:
            scope = scope_named(context.caller, selector.scope)
            self._scopes = frozenset({scope})

    def by_name(self) -> Iterator[CurationTarget]:
        """Yield what a name means: an id, else a key, else a path."""
        name = self._selector.name.strip()
        # A lone surrogate stands in no note, and no question can hold it.
        if name != name.encode("utf-8", "replace").decode():
            return
        rows = self._index.memories(memory_id=name, scopes=self._scopes)
        entries = [] if rows or not _ULID.fullmatch(name) else list(self._entries(name))
        yield from self._of_rows(rows)
        yield from entries
        if rows or entries:
            return
        keyed = self._index.memories(key=name, scopes=self._scopes)
        if keyed:
            yield from self._of_key(keyed)
            return
        for path in (name, f"{name}.md"):
            rows = self._index.memories(path=path, scopes=self._scopes)
            if rows:
                yield from self._of_path(rows[0])
                return

    def of_set(self) -> Iterator[CurationTarget]:
        """Yield all that fits session, source, day and scope."""
        selector, seen = self._selector, set()
        for row in self._index.memories(scopes=self._scopes):
            if self._fits(row.session, row.source, row.created):
                seen.add(row.path)
                yield from self._of_rows([row])
        for path, data in notes_in(self._context, self._scopes):
            if path in seen:
                continue
            if self._is_meant_whole(data):
                target = read_target(self._context, path, MEMORY)
            elif selector.is_whole_scope and self._with_notes:
                target = read_target(self._context, path, NOTE)
            else:
                target = None
            if target is not None:
                yield target
                continue
            for entry in entries_in(data):
                told = entry.provenance
                if self._fits(told.session, told.source, told.at):
                    yield entry_target(path, entry)

    def _fits(self, session: str, source: str, at: str) -> bool:
        """Return whether what is told of a memory fits all that is asked."""
        selector = self._selector
        return (
            selector.session in ("", session)
            and selector.source in ("", source)
            and selector.day in ("", at[:10])
        )

    def _is_meant_whole(self, data: bytes) -> bool:
        """Return whether a note without type or id says that it is from there."""
        selector = self._selector
        wanted = selector.session or selector.source
        if not wanted or not data.startswith(b"---") or wanted.encode() not in data:
            return False
        values = split_front_matter(decode(data)).values
        told = (text_of(values, name) for name in ("session", "source", "created"))
        return self._fits(*told)

    def _entries(self, entry_id: str) -> Iterator[CurationTarget]:
        """Yield the entry of an id, and what copies of it there are."""
        for path, data in notes_in(self._context, self._scopes):
            if entry_id.encode() in data:
                for entry in entries_in(data):
                    if entry.provenance.id == entry_id:
                        yield entry_target(path, entry)

    def _of_key(self, rows: list[MemoryRow]) -> Iterator[CurationTarget]:
        """Yield a key's memories of all standings, if they are of one scope."""
        scopes = sorted({row.scope for row in rows})
        if len(scopes) > 1:
            named = ", ".join(scope or "global" for scope in scopes)
            raise UsageError(
                f"The key {rows[0].key!r} is in several scopes: {named}.",
                hint="Name the memory by its id or its path, or name the scope.",
            )
        yield from self._of_rows(rows, {SUPERSEDED: "older", PENDING: "inbox"})

    def _of_path(self, row: MemoryRow) -> Iterator[CurationTarget]:
        """Yield the note at a path."""
        if row.type or row.memory_id:
            yield from self._of_rows([row])
            return
        if not self._with_notes:
            raise UsageError(
                f"{row.path} is a person's note: nothing in it can be hidden.",
                hint="Delete the file or edit it; entries in it have ids of their own.",
            )
        target = read_target(self._context, row.path, NOTE)
        if target is not None:
            yield target

    def _of_rows(
        self, rows: list[MemoryRow], marks: Mapping[int, str] = _NO_MARKS
    ) -> Iterator[CurationTarget]:
        """Yield the notes of some rows, each with why it is meant by its standing."""
        for row in rows:
            target = read_target(self._context, row.path, MEMORY)
            if target is not None:
                why = "named" if len(rows) == 1 else marks.get(target.standing, "named")
                # The index alone knows a key that only the file's name tells.
                yield replace(target, key=row.key, why=why)


def _absent(selector: MemorySelector) -> MemoryNotFoundError:
    """Return the error for what is not there, or not for the caller."""
    if selector.name:
        return not_found(selector.name)
    parts = {
        "of session": selector.session,
        "of source": selector.source,
        "of": selector.day,
        "in": selector.scope,
    }
    named = " ".join(f"{word} {value!r}" for word, value in parts.items() if value)
    message = f"There is no memory {named}."
    return MemoryNotFoundError(message, hint="`hm search` shows what there is.")
