"""Looks up a memory by its id, key or path, and reads it from its note."""

from __future__ import annotations

from hivemind_memory.curation.lookup_errors import (
    forgotten_entry,
    forgotten_memory,
    names_near,
    not_found,
)
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files.errors import no_such_line
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.citation import check_place, names_note, split_place
from hivemind_memory.model.curation import ENTRY, MEMORY, AffectedItem, StoredMemory
from hivemind_memory.model.keys import folded_key, near_key
from hivemind_memory.model.memories import (
    ACTIVE,
    CLAIM_FIELDS,
    FORGOTTEN,
    PROGRAM_FIELDS,
    STATUSES,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.tags import tags_in
from hivemind_memory.model.value import value
from hivemind_memory.notes.edge import targets
from hivemind_memory.notes.entry_edits import entries_in
from hivemind_memory.notes.memory_file import body_of
from hivemind_memory.notes.memory_header import (
    header_of,
    is_forgotten,
    status_unless_forgotten,
)
from hivemind_memory.notes.slug import rank_of_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.entry_edits import FoundEntry


def find_memory(
    context: CurationContext,
    index: MemoryIndex,
    ref: str,
    *,
    scope: str | None = None,
    near: str = "",
) -> MemoryRow:
    """Return the note that an id, a key or a path refers to.

    Args:
        context: Of the caller.
        index: Up to date.
        ref: An id, a key or a path.
        scope: Look only there; None: in every scope that the caller reads.
        near: The scope that is preferred when several have the key.

    Raises:
        ForgottenError: It is forgotten.
        MemoryNotFoundError: There is none, or the caller may not see it; the error does
            not say which.
        UsageError: There is none, and what follows a path are no lines.
    """
    scopes = context.caller.scopes
    if scope is not None:
        scopes = frozenset({scope}) if scopes is None else scopes & {scope}
    wanted = ref.strip()
    meant: tuple[str, ...] = ()
    # Visitors do not see whole notes.
    if wanted and context.caller.is_member and is_name(wanted):
        context.index.index_named(wanted)
        rows = rows_named(index, wanted, scopes)
        shown = [row for row in rows if row.status != FORGOTTEN]
        if len({row.scope for row in shown}) > 1:
            near = near or own_scope(context)
        if shown:
            teams = context.caller.teams
            return min(
                shown,
                key=lambda row: (
                    row.status,
                    (row.scope != near, row.scope not in teams, row.scope != ""),
                    row.scope,
                    context.folder.link_above(row.path) != "",
                    rank_of_name(row.path, row.key),
                    row.path,
                ),
            )
        # Of what is purged the index knows nothing.
        if rows:
            raise forgotten_memory(context, rows[0])
        if (error := forgotten_entry(context, wanted, scopes)) is not None:
            raise error
        known = index.memories(scopes=scopes)
        meant = names_near(wanted, (row for row in known if row.status != FORGOTTEN))
    check_place(wanted)
    raise not_found(ref, meant=meant)


def rows_named(
    index: MemoryIndex, name: str, scopes: frozenset[str] | None
) -> list[MemoryRow]:
    """Return the notes that a name refers to: by id, else by key, else by path.

    A path is the whole path below the notes folder, with or without ``.md`` and lines;
    a file of that name in another folder is never meant. With ``.md`` it comes before
    keys: so names are printed. Of keys, the one that is spelled so comes before equal
    ones.
    """
    path, start_line, _ = split_place(name)
    return (
        index.memories(memory_id=name, scopes=scopes)
        or (index.memories(path=path, scopes=scopes) if names_note(name) else [])
        or index.memories(key=name, scopes=scopes)
        or _rows_at(index, name, scopes)
        or (_rows_at(index, path, scopes) if start_line else [])
        or _rows_of_equal_key(index, name, scopes)
    )


def _rows_at(
    index: MemoryIndex, path: str, scopes: frozenset[str] | None
) -> list[MemoryRow]:
    """Return the note at a path, with or without ``.md``."""
    return index.memories(path=path, scopes=scopes) or index.memories(
        path=f"{path}.md", scopes=scopes
    )


def _rows_of_equal_key(
    index: MemoryIndex, name: str, scopes: frozenset[str] | None
) -> list[MemoryRow]:
    """Return the memories whose key is the same as *name*, spelled otherwise."""
    folded = folded_key(name)
    rows = [row for row in index.memories(scopes=scopes) if row.key]
    equal = [row for row in rows if folded_key(row.key) == folded]
    first = min(equal, key=lambda row: (row.status, row.key), default=None)
    return [row for row in equal if first is not None and row.key == first.key]


def known_key(index: MemoryIndex, scope: str, key: str) -> tuple[str, str]:
    """Return how a key is spelled in a scope, and an active key that is too near to it.

    Both are empty if there is none.
    """
    scopes = frozenset({scope})
    if index.memories(key=key, scopes=scopes):
        return key, ""
    equal = _rows_of_equal_key(index, key, scopes)
    if equal:
        return equal[0].key, ""
    near = near_key(key)
    rows = index.memories(scopes=scopes, statuses=frozenset({ACTIVE}))
    return "", next(
        (row.key for row in rows if row.key and near_key(row.key) == near), ""
    )


def entries_named(
    context: CurationContext,
    index: MemoryIndex,
    name: str,
    scopes: frozenset[str] | None,
) -> list[tuple[NotePath, FoundEntry]]:
    """Return the entry at a place such as ``2026-11-21.md:5-6``; else nothing.

    A memory whose note has no entry there is meant itself.

    Raises:
        LineNotFoundError: The note ends before the place.
        UsageError: Several entries are there, or none in a note of entries; or what
            follows the path are no lines.
    """
    path, start_line, end_line = split_place(name)
    if path == name:
        return []
    is_key = bool(index.memories(key=name, scopes=scopes))
    if is_key and not names_note(name):
        return []
    rows = _rows_at(index, path, scopes)[:1]
    if rows or not is_key:
        check_place(name)
    for row in rows:
        note = NotePath(row.path)
        try:
            limit = context.folder.max_note_bytes
            data, _ = context.folder.read(note, max_bytes=limit)
        except HivemindError:
            return []
        count = len(decode(data).removesuffix("\n").split("\n")) if data else 0
        if start_line > max(count, 1):
            raise no_such_line(note, start_line, count)
        entries = entries_in(data)
        found = [
            entry
            for entry in entries
            if entry.start_line <= end_line and start_line <= entry.end_line
        ]
        if len(found) > 1:
            ids = ", ".join(entry.provenance.id for entry in found)
            message = f"{len(found)} entries are in {name}."
            raise UsageError(message, hint=f"Name one by its id: {ids}.")
        if not found and entries and not row.type:
            lines = ", ".join(str(entry.start_line) for entry in entries[:10])
            message = f"No entry is at {name}."
            raise UsageError(message, hint=f"Entries of {note} begin at lines {lines}.")
        return [(note, entry) for entry in found]
    return []


def load_memory(context: CurationContext, path: str) -> StoredMemory | None:
    """Return a note as a memory; None if it is gone, too large or unreadable."""
    note, folder = NotePath(path), context.folder
    try:
        data, _ = folder.read(note, max_bytes=folder.max_note_bytes)
    except HivemindError:
        return None
    return parse_memory(note, decode(data), context)


def load_indexed(context: CurationContext, row: MemoryRow) -> StoredMemory | None:
    """Return the memory of a row; None: it is gone, or was forgotten since."""
    memory = load_memory(context, row.path)
    is_forgotten = memory is not None and memory.status == STATUSES[FORGOTTEN]
    return None if is_forgotten and row.status != FORGOTTEN else memory


def parse_memory(path: NotePath, text: str, context: CurationContext) -> StoredMemory:
    """Return the memory that the text of a note holds."""
    front = split_front_matter(text)
    header = header_of(path, front.values, custom=context.types)
    body, start_line = body_of(text, front)
    return StoredMemory(
        path=path,
        id=header.memory_id,
        key=header.key,
        type=header.type,
        scope=scope_of(path),
        status=STATUSES[header.status],
        text=body.replace("\r\n", "\n"),
        start_line=start_line,
        end_line=start_line + body.count("\n"),
        importance=0.5 if header.importance is None else header.importance,
        visibility=header.visibility,
        created=header.created,
        updated=text_of(front.values, "updated"),
        by=text_of(front.values, "by"),
        session=header.session,
        source=header.source,
        source_ref=text_of(front.values, "source_ref"),
        reason=text_of(front.values, "reason"),
        supersedes=targets(front.values.get("supersedes")),
        superseded_by=(*targets(front.values.get("superseded_by")), "")[0],
        is_pinned=header.is_pinned,
        expires=text_of(front.values, "expires"),
        done=text_of(front.values, "done"),
        tags=tags_in(front.values.get("tags")),
        claim=_texts_named(front.values, CLAIM_FIELDS),
        more=_texts_named(front.values, PROGRAM_FIELDS),
    )


def _texts_named(values: Mapping[str, object], names: Iterable[str]) -> dict[str, str]:
    """Return some texts of a front matter, those that are there."""
    found = {name: text_of(values, name) for name in names}
    return {name: text for name, text in found.items() if text}


def text_of(values: Mapping[str, object], key: str) -> str:
    """Return a text or number of a front matter as text; else nothing."""
    value = values.get(key)
    if isinstance(value, bool):
        return "true" if value else ""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def own_scope(context: CurationContext) -> str:
    """Return the narrowest scope of a caller; of a shell, that of its repository."""
    caller = context.caller
    if caller.is_owner:
        return context.find_scope("")
    return caller.workspace or caller.project or next(iter(caller.teams), "")


def is_name(text: str, limit_chars: int = 1_100) -> bool:
    """Return whether a text can be a name: short, and as SQLite takes it."""
    return len(text) <= limit_chars and text == text.encode("utf-8", "replace").decode()


@value
class CurationTarget:
    """A memory, an entry or a note to change, as it was when it was read."""

    kind: str
    path: NotePath
    id: str = ""
    key: str = ""
    start_line: int = 1
    end_line: int = 1
    text: str = ""
    """Its text without front matter or comment."""

    status: int = ACTIVE
    """Its status if it were not forgotten."""

    forgotten: str = ""
    """When it was forgotten, as in the note; empty: it is not."""

    created: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    why: str = "named"

    @property
    def scope(self) -> str:
        """Its scope."""
        return scope_of(self.path)

    def as_affected(self) -> AffectedItem:
        """Return it as results list it."""
        return AffectedItem(
            kind=self.kind,
            path=self.path,
            id=self.id,
            key=self.key,
            start_line=self.start_line,
            end_line=self.end_line,
            why=self.why,
        )


def read_target(
    context: CurationContext, path: str, kind: str, why: str = "named"
) -> CurationTarget | None:
    """Return a note as a target; None if it cannot be read."""
    note = NotePath(path)
    try:
        data, _ = context.folder.read(note)
    except HivemindError:
        return None
    text = decode(data)
    front = split_front_matter(text)
    values = front.values
    body, start_line = body_of(text, front)
    return CurationTarget(
        kind=kind,
        path=note,
        id=text_of(values, "id"),
        key=text_of(values, "key") if kind == MEMORY else "",
        start_line=start_line,
        end_line=start_line + body.count("\n"),
        text=body,
        status=status_unless_forgotten(path, values),
        forgotten=str(values["forgotten"]) if is_forgotten(values) else "",
        created=text_of(values, "created"),
        supersedes=targets(values.get("supersedes")),
        superseded_by=(*targets(values.get("superseded_by")), "")[0],
        why=why,
    )


def notes_in(
    context: CurationContext, scopes: frozenset[str] | None
) -> Iterator[tuple[NotePath, bytes]]:
    """Yield every note of some scopes with its bytes; None: of all."""
    for path in sorted(context.folder.signatures()):
        if scopes is not None and scope_of(path) not in scopes:
            continue
        try:
            yield path, context.folder.read(path)[0]
        except HivemindError:
            continue  # a purge names it, see ``purge_copies``


def entry_target(
    path: NotePath, entry: FoundEntry, why: str = "named"
) -> CurationTarget:
    """Return an entry as a target."""
    return CurationTarget(
        kind=ENTRY,
        path=path,
        id=entry.provenance.id,
        start_line=entry.start_line,
        end_line=entry.end_line,
        text=entry.content,
        forgotten="yes" if entry.provenance.is_forgotten else "",
        created=entry.provenance.at,
        why=why,
    )
