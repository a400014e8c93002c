"""Decides what a new version keeps of the old one, and writes the files of both.

The new memory keeps what describes the subject: type, visibility, importance, tags,
relations, a pin, and every key that this program does not know. It does not keep what
belongs to the old text: who wrote it and when, where it came from, when it expires. A
minor correction keeps these too, for it says the same thing better. No new text ends a
dispute by itself, so what the old text contradicts stays; more may be added.
An edit keeps all but the day; with the entries below, which have sources of their own.

No file is overwritten that is not the memory in question: neither a note of a person
nor a memory with another key.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.curation.edited import own_body, text_as_read, with_entries_below
from hivemind_memory.curation.read_version import versions_as_read
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NoteUnreadableError,
    NotSavedError,
)
from hivemind_memory.files.errors import changed_since_read, save_error
from hivemind_memory.files.paths import parse_note_path, path_in_scope
from hivemind_memory.markdown.front_matter import render_header, split_front_matter
from hivemind_memory.model.memories import ACTIVE, CONTRADICTS
from hivemind_memory.model.memory_types import DEFAULT_TYPE
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.model.trust import HUMAN, SOURCES, is_trusted
from hivemind_memory.notes.edge import FIELDS, targets
from hivemind_memory.notes.memory_file import (
    compose,
    may_be_broken_memory,
    read_memory_file,
    remove_note,
)
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.notes.slug import hash_of, name_with_id, names_of, rank_of_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.curation import NewMemory
    from hivemind_memory.model.memories import MemoryHeader
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.snapshot import FileSignature
    from hivemind_memory.notes.memory_file import MemoryFile


MINOR = "minor correction"
"""How the reason of a minor correction begins: typing errors, layout, wording."""

_STAYS = frozenset(
    {"visibility", "related", "contradicts", "pinned", "source_ref", "tags"}
)
_STAYS_WHEN_UPSERTED = frozenset({"related", "contradicts", "tags"})
_STAYS_WHEN_EDITED = frozenset({"expires", "done"})
_STAYS_WHEN_MINOR = _STAYS_WHEN_EDITED | {"created"}


def is_minor(reason: str) -> bool:
    """Return whether a reason is that of a minor correction.

    >>> is_minor("Minor correction: typo"), is_minor("it was the migration")
    (True, False)
    """
    return reason.casefold().startswith(MINOR)


def given_values(new: NewMemory, type_name: str) -> dict[str, object]:
    """Return the values that the caller gave, by their key in the front matter."""
    values = {
        "type": type_name,
        "importance": new.importance,
        "visibility": new.visibility,
        "related": list(new.related),
        "contradicts": list(new.contradicts),
        "source_ref": new.source_ref,
        "pinned": new.is_pinned or None,
        "expires": new.expires,
        "tags": list(new.tags),
    }
    given = {key: field for key, field in values.items() if field not in (None, "", [])}
    # An empty value in `more` clears that of the predecessor.
    return {**given, **new.more}


def check_version(old: MemoryFile | None, new: NewMemory) -> None:
    """Raise if the active memory is not the version that is to be replaced.

    Raises:
        VersionChangedError: It is another one, its text was edited, or there is none.
    """
    found = "" if old is None else str(old.front.values.get("id", ""))
    is_edited = (
        old is not None
        and new.replaces_text
        and new.replaces_text not in versions_as_read(text_as_read(old))
    )
    if found != new.replaces or is_edited:
        raise changed_since_read(new.key, "Nothing was saved")


def has_same_content(
    old: MemoryFile, new: NewMemory, types: Mapping[str, MemoryType]
) -> bool:
    """Return whether a memory already has the content and all values of a new one."""
    body = own_body(old) if new.is_edit else old.body
    if body != new.content or (new.is_vouched and not _is_trusted(old)):
        return False
    if new.type and new.type != header(old, types).type:
        return False
    given = given_values(new, "")
    wanted = split_front_matter(render_header(given)).values
    return all(old.front.values.get(key) == wanted.get(key) for key in given)


def type_of(
    new: NewMemory, old: MemoryFile | None, types: Mapping[str, MemoryType]
) -> str:
    """Return the given type, else that of the predecessor, else the default."""
    inherited = header(old, types).type if old else ""
    return new.type or inherited or DEFAULT_TYPE


def values_of(
    new: NewMemory,
    *,
    memory_id: str,
    at: str,
    old: MemoryFile | None,
    types: Mapping[str, MemoryType],
) -> tuple[dict[str, object], frozenset[str]]:
    """Return the values of the front matter, and the keys that stay as in *old*.

    Args:
        new: What to save; valid, its relations as ids.
        memory_id: Its id.
        at: The current time, ISO 8601.
        old: The memory that it replaces.
        types: Types defined in config.json.
    """
    values = given_values(new, type_of(new, old, types))
    values |= {
        "id": memory_id,
        "key": new.key,
        "created": at,
        "updated": at,
        "by": new.by,
        "session": new.session,
        "source": new.source,
        "reason": new.reason,
    }
    stays = set(_STAYS)
    if old is not None:
        values["supersedes"] = old.id
        values |= _with_disputes(new, old)
        if not new.type or new.type == header(old, types).type:
            stays.add("importance")
        if is_minor(new.reason):
            stays |= _STAYS_WHEN_MINOR
            if "created" in old.front.values:
                del values["created"]
        if new.is_edit:
            stays |= _STAYS_WHEN_EDITED
        if (is_minor(new.reason) or new.is_edit) and not new.is_vouched:
            values["source"] = _least_trusted(old, new.source)
    return values, frozenset(stays - values.keys())


def _with_disputes(new: NewMemory, old: MemoryFile) -> dict[str, object]:
    """Return what a new version contradicts: what the old one did, and more."""
    if not new.contradicts:
        return {}
    field = FIELDS[CONTRADICTS]
    value = old.front.values.get(field)
    items = value if isinstance(value, list) else [value]
    known = set(new.contradicts)
    kept = [item for item in items if targets(item) and known.isdisjoint(targets(item))]
    return {field: [*kept, *new.contradicts]}


def write_in_place(
    context: CurationContext, new: NewMemory, old: MemoryFile
) -> tuple[NotePath, str, int]:
    """Write a memory over the one that it replaces; it keeps the id and the day.

    What people or agents added to it stays: entries below, links and tags.

    Returns:
        The path, the id, and the line on which the content begins.

    Raises:
        NotSavedError: The disk refused; the old one is as it was.
    """
    values, _ = values_of(
        new, memory_id=old.id, at=context.now_iso(), old=None, types=context.types
    )
    values["created"] = old.front.values.get("created", values["created"])
    content = with_entries_below(new.content, old)
    kept = _STAYS_WHEN_UPSERTED - values.keys()
    text, start_line = compose(values, content, old=old, kept=kept)
    context.folder.replace(old.path, text.encode(), expected=old.signature)
    return old.path, old.id, start_line


def header(file: MemoryFile, types: Mapping[str, MemoryType]) -> MemoryHeader:
    """Return the header of a memory file."""
    return header_of(file.path, file.front.values, custom=types)


def _is_trusted(old: MemoryFile) -> bool:
    """Return whether the source of a memory is trusted."""
    return is_trusted(old.front.values.get("source"))


def _least_trusted(old: MemoryFile, source: str) -> object:
    """Return the less trusted source: a changed text has words of both."""
    before = old.front.values.get("source")
    if before is None:
        return source
    if not _is_trusted(old):
        return before
    known = before if before in SOURCES else HUMAN
    return max(str(known), source, key=SOURCES.index)


def find_active(
    context: CurationContext, index: MemoryIndex, scope: str, key: str
) -> tuple[MemoryFile | None, tuple[str, ...]]:
    """Return the active memory of a key, and the paths of others that claim the key.

    The index finds it under any file name; the file itself decides. Others are copies
    made by a person or a sync tool, and stay as they are. So does a memory behind a
    followed link, which leaves its key free.

    Raises:
        NotSavedError: Its file cannot be rewritten.
    """
    spelled = context.folder.spelled
    names = [spelled(path_in_scope(scope, name)) for name in names_of(key)]
    rows = index.memories(
        key=key, scopes=frozenset({scope}), statuses=frozenset({ACTIVE})
    )
    paths = [parse_note_path(row.path) for row in rows]
    linked = [path for path in paths if context.folder.link_above(path)]
    found = [path for path in paths if path not in linked]
    files = []
    # File names that this program gives first, conflict copies last; then the newest.
    for path in sorted(found, key=lambda other: rank_of_name(other, key)):
        with suppress(NoteNotFoundError):
            files.append(read_memory_file(context.folder, path))
    if not files:
        files += _in_names(context, names)
    files = [file for file in files if _is_active(context, file, key)]
    others = (*(file.path for file in files[1:]), *linked)
    return (files[0] if files else None), others


def create_note(
    folder: NotesFolder, paths: Iterable[NotePath], data: bytes
) -> NotePath:
    """Write a new file under the first free name; return its path.

    Raises:
        NotSavedError: The disk refused; nothing was written.
    """
    path = None
    for path in map(folder.spelled, paths):
        if not _is_free(folder, path):
            continue
        try:
            folder.replace(path, data, expected=None)
        except NotSavedError:
            # Another process, with a key of the same name, may have been faster.
            if _is_free(folder, path):
                raise
        else:
            return path
    message = f"{path} and its other names are taken."
    raise NotSavedError(message, effect="Nothing was saved")


def write_superseded_copy(
    folder: NotesFolder, old: MemoryFile, scope: str, key: str, data: bytes
) -> tuple[NotePath, FileSignature | None]:
    """Write the copy of a memory that is about to be replaced.

    A copy that a killed save left is overwritten if it has the same content.

    Returns:
        Its path, and its signature if it is a new file.

    Raises:
        NotSavedError: The disk refused; no copy is left.
    """
    name = name_with_id(key, old.id)
    path = folder.spelled(path_in_scope(scope, f"{SUPERSEDED_FOLDER}/{name}"))
    left = _leftover(folder, path, old)
    try:
        if left is not None:
            folder.replace(path, data, expected=left)
            return path, None
        if not _is_free(folder, path):
            other = name_with_id(key, f"{old.id}-{hash_of(old.text)[:12]}")
            path = path_in_scope(scope, f"{SUPERSEDED_FOLDER}/{other}")
            path = folder.spelled(path)
            left = _leftover(folder, path, old)
        return path, folder.replace(path, data, expected=left)
    except NotSavedError:
        raise
    except HivemindError as error:
        # It exists, but might not survive a power failure.
        signature = folder.signature(path)
        if left is None and signature is not None:
            remove_own_file(folder, path, signature)
        raise NotSavedError(
            error.problem, hint=error.hint, effect="Nothing was saved"
        ) from error


def remove_own_file(
    folder: NotesFolder, path: NotePath, signature: FileSignature
) -> None:
    """Remove a file that this program made and no longer needs; its folder if empty."""
    with suppress(HivemindError):
        remove_note(folder, path, expected=signature)
        folder.remove_made_folders([path.rpartition("/")[0]])


def _in_names(
    context: CurationContext, names: Iterable[NotePath]
) -> Iterator[MemoryFile]:
    """Yield the memory files of some names, in case the index does not know them."""
    for path in names:
        try:
            data, _ = context.folder.read(path)
        except NoteUnreadableError as error:
            raise _maybe_its_file(error) from error
        except HivemindError:
            continue
        try:
            yield read_memory_file(context.folder, path)
        except HivemindError:
            # A person's note has no front matter and is left alone. A memory whose
            # front matter broke must not get a second one beside it.
            if may_be_broken_memory(data):
                raise


def _maybe_its_file(error: NoteUnreadableError) -> NotSavedError:
    """Return the error for a file that may have the key and cannot be read."""
    return NotSavedError(error.problem, hint=error.hint, effect="Nothing was saved")


def _is_active(context: CurationContext, file: MemoryFile, key: str) -> bool:
    """Return whether a file is the active memory of a key."""
    found = header(file, context.types)
    return bool(found.type) and found.key == key and found.status == ACTIVE


def _leftover(
    folder: NotesFolder, path: NotePath, old: MemoryFile
) -> FileSignature | None:
    """Return the signature of an existing copy of *old* with the same content."""
    try:
        there = read_memory_file(folder, path)
    except HivemindError:
        return None
    is_same = there.id == old.id and there.body == old.body
    return there.signature if is_same else None


def _is_free(folder: NotesFolder, path: NotePath) -> bool:
    """Return whether no file, folder or link has a path."""
    try:
        with folder.open_parent(path) as parent:
            parent.status(path.rpartition("/")[2])
    except FileNotFoundError:
        return True
    except OSError as error:
        raise save_error(path, error) from error
    return False
