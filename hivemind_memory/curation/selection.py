"""Selects the memories, entries and notes to forget, restore or purge.

Typed memories are looked up in the index, which is up to date; entries in the notes
themselves, for the index does not know forgotten ones. What the caller may not see is
treated as missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.ambiguous_names import several_scopes
from hivemind_memory.curation.lookup import (
    CurationTarget,
    entries_named,
    entry_target,
    is_name,
    notes_in,
    read_target,
    rows_named,
    text_of,
)
from hivemind_memory.curation.lookup_errors import names_near, not_found
from hivemind_memory.curation.own_day import with_own_day
from hivemind_memory.curation.row_target import read_row
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import (
    MemoryNotFoundError,
    NotWritableError,
    UsageError,
)
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.citation import check_place
from hivemind_memory.model.clocks import in_zone
from hivemind_memory.model.curation import ENTRY, MEMORY, NOTE, MemorySelector
from hivemind_memory.model.keys import folded_key
from hivemind_memory.model.memories import PENDING, SUPERSEDED
from hivemind_memory.model.own_forms import is_ulid
from hivemind_memory.model.trust import shown_source, untrusted_source
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex


_NO_REASONS: Mapping[int, str] = {}


def find_targets(
    context: CurationContext,
    index: MemoryIndex,
    selector: MemorySelector,
    *,
    with_notes: bool = False,
) -> list[CurationTarget]:
    """Return the selected targets, each once, typed memories first.

    Args:
        context: Of the caller.
        index: Up to date.
        selector: What the caller selects.
        with_notes: Whole notes that a person wrote may be selected, too.

    Raises:
        MemoryNotFoundError: Nothing the caller sees matches.
        NotSavedError: The caller may read it but not change it.
        ScopeError: The selector names a scope that the caller does not have.
        UsageError: The selector is empty, or its key is in several scopes.
    """
    if _is_empty(selector):
        message = (
            "Nothing is selected: give an id, a key, a session, a source or a day."
        )
        hint = "`hm list --memories` shows keys, `hm list --forgotten` what is hidden."
        raise UsageError(message, hint=hint)
    if not context.caller.is_member:
        raise _absent(selector)
    found = _TargetSearch(context, index, selector, with_notes=with_notes)
    targets = list(found.by_name() if selector.name else found.of_set())
    allowed = [target for target in targets if may_write(context.caller, target.path)]
    if targets and not allowed:
        where = targets[0].scope or "the global memory"
        raise NotWritableError(
            f"you cannot write to {where} from here.",
            hint="Ask the owner of the memory.",
            effect="Nothing was changed",
        )
    if not allowed:
        check_place(selector.name)
        # The owner's alone: what is hidden from others is not to be guessed at.
        known = index.memories(scopes=None) if context.caller.is_owner else ()
        raise _absent(selector, names_near(selector.name, known))
    return allowed


def entry_ids(targets: Iterable[CurationTarget]) -> dict[NotePath, set[str]]:
    """Return the ids of the entries among some targets, by note."""
    ids: dict[NotePath, set[str]] = {}
    for target in targets:
        if target.kind == ENTRY:
            ids.setdefault(target.path, set()).add(target.id)
    return ids


def set_scope(
    caller: Caller, selector: MemorySelector, find_scope: Callable[[str], str]
) -> str:
    """Return the scope that a set of memories is looked for in, if it names none.

    In a person's shell it is that of a write without a scope: the project of the
    repository. Empty: everything that the caller sees, or nothing is selected at all.
    """
    is_open = selector.is_set and not selector.scope and not selector.is_everywhere
    if _is_empty(selector) or not (is_open and caller.is_owner):
        return ""
    return find_scope("")


def _is_empty(selector: MemorySelector) -> bool:
    """Whether nothing is meant; where to look everywhere is no memory yet."""
    return replaced(selector, is_everywhere=False) == MemorySelector()


class _TargetSearch:
    """One search for the targets of a selector."""

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
        where = context.find_scope(selector.scope) if selector.scope else ""
        where = where or set_scope(context.caller, selector, context.find_scope)
        if selector.scope or where:
            self._scopes = frozenset({where})

    def by_name(self) -> Iterator[CurationTarget]:
        """Yield what a name refers to: an id, else a key, else a path."""
        name = with_own_day(self._context, self._selector.name.strip())
        if not is_name(name):
            return
        placed = entries_named(self._context, self._index, name, self._scopes)
        if placed:
            yield from (entry_target(path, entry) for path, entry in placed)
            return
        rows = rows_named(self._index, name, self._scopes)
        is_id = bool(rows) and rows[0].memory_id == name
        entries = []
        if not is_id and is_ulid(name):
            entries = list(self._entries(name))
        if entries:
            yield from entries
        elif is_id:
            yield from self._of_rows(rows)
        elif rows and folded_key(rows[0].key) == folded_key(name):
            yield from self._of_key(rows)
        elif rows:
            yield from self._of_path(rows[0])

    def of_set(self) -> Iterator[CurationTarget]:
        """Yield everything that matches session, source, day and scope."""
        selector, seen = self._selector, set()
        for row in self._index.memories(scopes=self._scopes):
            if self._matches(row.session, row.source, row.created):
                seen.add(row.path)
                yield from self._of_rows([row])
        for path, data in notes_in(self._context, self._scopes):
            if path in seen:
                continue
            if self._matches_as_note(data):
                target = read_target(self._context, path, MEMORY)
            elif selector.is_whole_scope and self._with_notes:
                target = read_target(self._context, path, NOTE)
            else:
                target = None
            if target is not None:
                yield target
                continue
            around = _source_of(data) if selector.source else ""
            for entry in entries_in(data):
                written = entry.provenance
                source = shown_source(around, written.source)
                if self._matches(written.session, source, written.at):
                    yield entry_target(path, entry)

    def _matches(self, session: str, source: str, at: str) -> bool:
        """Return whether provenance matches the selector."""
        selector = self._selector
        return (
            selector.session in ("", session)
            and selector.source in ("", shown_source(source))
            and selector.day in ("", in_zone(at, self._context.clocks.local_iso)[:10])
        )

    def _matches_as_note(self, data: bytes) -> bool:
        """Return whether the front matter of a note without type or id matches."""
        selector = self._selector
        if not (selector.session or selector.source):
            return False
        if selector.session.encode() not in data:
            return False
        values = split_front_matter(decode(data)).values
        session, created = text_of(values, "session"), text_of(values, "created")
        return self._matches(session, _source_of(data), created)

    def _entries(self, entry_id: str) -> Iterator[CurationTarget]:
        """Yield the entry of an id, and copies of it in other notes."""
        for path, data in notes_in(self._context, self._scopes):
            if entry_id.encode() in data:
                for entry in entries_in(data):
                    if entry.provenance.id == entry_id:
                        yield entry_target(path, entry)

    def _of_key(self, rows: list[MemoryRow]) -> Iterator[CurationTarget]:
        """Yield the memories of a key, whatever their status, if in one scope."""
        scopes = {row.scope for row in rows}
        if len(scopes) > 1:
            raise several_scopes(rows[0].key, rows)
        link_above = self._context.folder.link_above
        # What lies behind a followed link is meant only if nothing else is.
        own = [row for row in rows if not link_above(row.path)] or rows
        yield from self._of_rows(own, {SUPERSEDED: "older", PENDING: "inbox"})

    def _of_path(self, row: MemoryRow) -> Iterator[CurationTarget]:
        """Yield the note at a path."""
        if row.type or row.memory_id:
            yield from self._of_rows([row])
            return
        if not self._with_notes:
            raise UsageError(
                f"{row.path} is a whole note, and only memories and entries can be"
                " hidden.",
                hint="Name an entry in it by its lines or id, or delete the file.",
            )
        target = read_target(self._context, row.path, NOTE)
        if target is not None:
            yield target

    def _of_rows(
        self, rows: list[MemoryRow], reasons: Mapping[int, str] = _NO_REASONS
    ) -> Iterator[CurationTarget]:
        """Yield the notes of some rows, each with the reason why it is selected."""
        for row in rows:
            target = read_row(self._context, row)
            if target is not None:
                why = "named" if len(rows) == 1 else reasons.get(target.status, "named")
                # Only the index knows a key that comes from the file name.
                yield replaced(target, key=masked(row.key), why=why)


def _source_of(data: bytes) -> str:
    """Return the source that the front matter of a note names; empty: none."""
    values = split_front_matter(decode(data)).values
    return untrusted_source(values.get("source")) or text_of(values, "source")


def _absent(
    selector: MemorySelector, meant: tuple[str, ...] = ()
) -> MemoryNotFoundError:
    """Return the error for a selector that matches nothing the caller sees."""
    if selector.name:
        return not_found(selector.name, meant=meant)
    parts = {
        "of session": selector.session,
        "of source": selector.source,
        "of": selector.day,
        "in": selector.scope,
    }
    named = " ".join(f"{word} {value!r}" for word, value in parts.items() if value)
    message = f"There is no memory {named}."
    return MemoryNotFoundError(message, hint="`hm search` shows what there is.")
