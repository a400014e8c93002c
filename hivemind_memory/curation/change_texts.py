"""What changes are about, to tell them from one another: how texts begin, and links."""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.curation.changed_items import rows_of
from hivemind_memory.curation.refused_links import MODEL
from hivemind_memory.curation.row_target import read_row
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.changes import LINK
from hivemind_memory.model.curation import ENTRY
from hivemind_memory.model.display import shorten
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import FIELDS, targets
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.changes import Change, ChangedItem
    from hivemind_memory.model.ports import MemoryIndex

_SHOWN_CHARS = 80


def with_texts(
    context: CurationContext, changes: Iterable[Change]
) -> tuple[Change, ...]:
    """Return changes with the first line of the first text that each is about.

    Of a link it is what it goes to. As the note has it now, masked; of what was purged
    there is none. Only the owner gets that of what is forgotten.
    """
    texts = _Texts(context)
    return tuple(replaced(change, text=texts.of(change)) for change in changes)


class _Texts:
    """Finds texts; a note with many entries is read once."""

    def __init__(self, context: CurationContext) -> None:
        self._context = context
        self._index: MemoryIndex = context.index.fresh(is_lookup=True)
        self._entries: dict[str, dict[str, tuple[str, bool]]] = {}

    def of(self, change: Change) -> str:
        """Return what was linked, or how the first text that is still there begins."""
        if change.kind == LINK and (linked := self._links(change)):
            return linked
        for item in change.items:
            text, is_forgotten = self._now(item)
            if text and (not is_forgotten or self._context.caller.sees_secrets):
                return shorten(masked(text.strip()).partition("\n")[0], _SHOWN_CHARS)
        return ""

    def _links(self, change: Change) -> str:
        """Return what a link was made to, or taken from; empty: that is gone."""
        kind = next((kind for kind, field in FIELDS.items() if field == change.field))
        made = [item for item in change.after if item not in change.before]
        gone = [item for item in change.before if item not in change.after]
        by = ", by the language model" if change.actor.startswith(f"{MODEL}:") else ""
        names = self._names_of(change, made or gone)
        word = kind if made else f"no longer {kind}"
        return f"{word} {', '.join(names)}{by}" if names else ""

    def _names_of(self, change: Change, items: list[object]) -> list[str]:
        """Return the keys, or paths, of the memories that links refer to."""
        near = scope_of(change.items[0].path)
        scopes = self._context.caller.scopes
        found = (
            self._index.resolve_ref(target, scopes=scopes, near=near)
            for target in targets(items)
        )
        return [masked(row.key or row.path) for row in found if row is not None]

    def _now(self, item: ChangedItem) -> tuple[str, bool]:
        """Return a text as it is now, and whether it is forgotten; empty: gone."""
        scopes = self._context.caller.scopes
        if item.kind != ENTRY:
            for row in rows_of(self._index, item):
                is_seen = may_read(self._context.caller, row.path)
                target = read_row(self._context, row) if is_seen else None
                if target is not None:
                    return target.text, bool(target.forgotten)
            return "", False
        for path in (item.path, self._index.entry_path(item.id, scopes)):
            if path and may_read(self._context.caller, path):
                found = self._entries_of(path).get(item.id)
                if found:
                    return found
        return "", False

    def _entries_of(self, path: str) -> dict[str, tuple[str, bool]]:
        """Return id -> text of the entries in a note, and whether it is forgotten."""
        if path not in self._entries:
            try:
                data, _ = self._context.folder.read(NotePath(path))
            except HivemindError:
                data = b""
            self._entries[path] = {
                entry.provenance.id: (entry.content, entry.provenance.is_forgotten)
                for entry in entries_in(data)
            }
        return self._entries[path]
