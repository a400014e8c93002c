"""One save: a memory under a key, in force until another one replaces it.

The order of its steps makes every moment a good one to be killed in. The replaced text
is first written whole to ``superseded/``; then the new one takes the name in one step.
A copy whose second step never came bears the id of the memory that is still in force:
who counts passes it over (``recounting.without_leftovers``), and the next save writes
over it.

What a save says: what it did, what it refused, what a person might look at.
"""

from __future__ import annotations

from dataclasses import replace

from hivemind_memory.access.check import check_writable
from hivemind_memory.curation.lookup import find_memory, not_found, parse_memory
from hivemind_memory.curation.supersede import (
    create_note,
    find_active,
    has_same_content,
    is_minor,
    path_in_scope,
    remove_own_file,
    type_of,
    values_of,
    write_superseded_copy,
)
from hivemind_memory.curation.validate import type_hint, validate_memory
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    UsageError,
)
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.errors import save_error
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.curation import SaveResult, SimilarMemory
from hivemind_memory.model.memories import (
    ACTIVE,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
)
from hivemind_memory.model.memory_types import BUILT_IN, DEFAULT_TYPE
from hivemind_memory.model.scope import INBOX
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.dates import day_of_iso
from hivemind_memory.notes.entry import new_ulid
from hivemind_memory.notes.memory_file import compose, read_memory_file, superseded_text
from hivemind_memory.notes.slug import name_with_id, names_of
from hivemind_memory.search.similarity import similar_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import NewMemory, TextCandidate
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.memory_file import MemoryFile


def save(
    context: CurationContext,
    wanted: NewMemory,
    *,
    near: Callable[[str], Iterable[TextCandidate]] | None = None,
) -> SaveResult:
    """Save a memory; it is on the disk, synced, when this returns.

    Args:
        context: Of the caller.
        wanted: What is saved; its scope is one that the caller has.
        near: Finds texts that may say the same, among those that the caller sees.
            Called before any lock is taken, so it may ask a provider.

    Raises:
        KeyTakenError: An active memory has the key, and no reason was given.
        MemoryNotFoundError: A relation names nothing that the caller sees.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It cannot be saved; nothing was written, as in all other cases.
    """
    new = validate_memory(wanted, limit_chars=context.limit_chars, types=context.types)
    check_writable(context.caller, path_in_scope(new.scope, next(names_of(new.key))))
    candidates = tuple(near(new.content)) if near else ()
    try:
        make_private_folder(context.folder.root)
    except OSError as error:
        raise save_error(path_in_scope("", next(names_of(new.key))), error) from error
    with context.key_lock(new.scope, new.key):
        index = context.fresh_index()
        old, others = find_active(context, index, new.scope, new.key)
        new = replace(
            new,
            related=_ends(context, index, new, new.related, old),
            contradicts=_ends(context, index, new, new.contradicts, old),
        )
        saved = _saved(context, index, new, old)
        nearly = similar_memories(context, index, new, candidates)
    return replace(
        saved,
        near=nearly,
        hints=(*saved.hints, *type_hints(new, saved)),
        warnings=(*warnings_of(context, new, others), *map(near_text, nearly)),
    )


def _saved(
    context: CurationContext, index: MemoryIndex, new: NewMemory, old: MemoryFile | None
) -> SaveResult:
    """Write what has to be written."""
    if old is not None and has_same_content(old, new, context.types):
        return unchanged_result(context, new, old)
    if not is_trusted(new.source):
        return _save_pending(context, index, new)
    if old is None:
        memory_id, data, at_line = _compose_file(context, new, None)
        names = (*names_of(new.key), name_with_id(new.key, memory_id))
        path = create_note(
            context.folder, (path_in_scope(new.scope, name) for name in names), data
        )
        return save_result(context, new, path, memory_id, at_line)
    if not new.reason:
        raise key_taken_error(context, new, old)
    return _supersede(context, new, old)


def _supersede(context: CurationContext, new: NewMemory, old: MemoryFile) -> SaveResult:
    """Put the new memory in the place of the old one, which is kept."""
    memory_id, data, at_line = _compose_file(context, new, old)
    copy = superseded_text(old, new.key, by=memory_id, at=context.now_iso())
    copy_path, made = write_superseded_copy(
        context.folder, old, new.scope, new.key, copy
    )
    try:
        context.folder.replace(old.path, data, expected=old.stamp)
    except BaseException:
        # Unless the new one is in place already, the old one needs no copy.
        if made is not None and context.folder.stamp(old.path) == old.stamp:
            remove_own_file(context.folder, copy_path, made)
        raise
    return replace(
        save_result(context, new, old.path, memory_id, at_line),
        type=type_of(new, old, context.types),
        superseded=old.id,
        superseded_path=copy_path,
        is_minor=is_minor(new.reason),
        changed_paths=(old.path, copy_path),
    )


def _save_pending(
    context: CurationContext, index: MemoryIndex, new: NewMemory
) -> SaveResult:
    """Put an untrusted claim into the inbox; what is in force stays as it is."""
    rows = index.memories(
        key=new.key, scopes=frozenset({new.scope}), statuses=frozenset({PENDING})
    )
    for row in rows:
        try:
            there = read_memory_file(context.folder, parse_note_path(row.path))
        except HivemindError:
            continue
        if has_same_content(there, new, context.types):
            return unchanged_result(context, new, there, standing=PENDING)
    memory_id, data, at_line = _compose_file(context, new, None)
    name = f"{INBOX}/{name_with_id(new.key, memory_id)}"
    path = create_note(context.folder, [path_in_scope(new.scope, name)], data)
    hint = (
        f"it waits in {path}, for its source is {new.source}; a person who moves it"
        f" up one folder puts it in force"
    )
    return replace(
        save_result(context, new, path, memory_id, at_line),
        standing=STATUSES[PENDING],
        hints=(hint,),
    )


def _compose_file(
    context: CurationContext, new: NewMemory, old: MemoryFile | None
) -> tuple[str, bytes, int]:
    """Return the new memory's id, its file's bytes, and where its content begins."""
    now = context.clocks.now()
    memory_id = new_ulid(now, context.clocks.randomness())
    values, kept = values_of(
        new,
        memory_id=memory_id,
        at=context.clocks.local_iso(now),
        old=old,
        types=context.types,
    )
    text, at_line = compose(values, new.content, old=old, kept=kept)
    return memory_id, text.encode(), at_line


def _ends(
    context: CurationContext,
    index: MemoryIndex,
    new: NewMemory,
    refs: tuple[str, ...],
    old: MemoryFile | None,
) -> tuple[str, ...]:
    """Return the ids of the memories that some names mean; a path where there is none.

    Raises:
        MemoryNotFoundError: One of them means nothing that the caller sees.
        UsageError: One of them means the memory itself.
    """
    ends = []
    for ref in refs:
        try:
            row = find_memory(context, index, ref, near=new.scope)
        except MemoryNotFoundError as error:
            raise not_found(ref, " to relate to; nothing was saved") from error
        if old is not None and row.path == old.path:
            raise UsageError(
                "Nothing was saved: a memory cannot be related to itself.",
                hint="What it replaces is kept in its history anyway.",
            )
        ends.append(row.memory_id or row.path)
    return tuple(dict.fromkeys(ends))


_SHOWN_CHARS = 300


def key_taken_error(
    context: CurationContext, new: NewMemory, old: MemoryFile
) -> KeyTakenError:
    """Return the error for a key that a memory has already."""
    current = parse_memory(old.path, old.text, context)
    text = current.text
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return KeyTakenError(
        f'Active entry exists for key "{new.key}", supersede_reason required',
        hint=f"Nothing was saved. {old.path} says: {shown}",
        current=current,
    )


def save_result(
    context: CurationContext,
    new: NewMemory,
    path: NotePath,
    memory_id: str,
    at_line: int,
) -> SaveResult:
    """Return what a save did that wrote one new file."""
    return SaveResult(
        path=path,
        id=memory_id,
        key=new.key,
        type=type_of(new, None, context.types),
        scope=new.scope,
        standing=STATUSES[ACTIVE],
        is_new=True,
        start_line=at_line,
        end_line=at_line + new.content.count("\n"),
        changed_paths=(path,),
    )


def unchanged_result(
    context: CurationContext, new: NewMemory, old: MemoryFile, *, standing: int = ACTIVE
) -> SaveResult:
    """Return what a save did that had nothing to do."""
    said = parse_memory(old.path, old.text, context)
    return SaveResult(
        path=old.path,
        id=said.id,
        key=new.key,
        type=said.type,
        scope=new.scope,
        standing=STATUSES[standing],
        is_new=False,
        start_line=said.start_line,
        end_line=said.end_line,
        hints=(f"nothing was written: {old.path} says exactly this already",),
    )


def similar_memories(
    context: CurationContext,
    index: MemoryIndex,
    new: NewMemory,
    candidates: tuple[TextCandidate, ...],
) -> tuple[SimilarMemory, ...]:
    """Return the memories that say nearly the same, other than those of the key."""
    found: dict[str, SimilarMemory] = {}
    for candidate, share in similar_texts(new.content, candidates):
        rows = index.memories(path=candidate.path, scopes=context.caller.scopes)
        is_own = any(row.key == new.key and row.scope == new.scope for row in rows)
        is_past = any(row.standing in (SUPERSEDED, FORGOTTEN) for row in rows)
        if rows and not is_own and not is_past and candidate.path not in found:
            found[candidate.path] = SimilarMemory(
                path=candidate.path,
                start_line=candidate.start_line,
                end_line=candidate.end_line,
                key=rows[0].key,
                similarity=share,
            )
    return tuple(found.values())


def near_text(near: SimilarMemory) -> str:
    """Return in words that something says nearly the same."""
    named = f'"{near.key}"' if near.key else "a note"
    lines = f"{near.start_line}-{near.end_line}"
    return f"this is nearly {named}, in {near.path}:{lines}"


def type_hints(new: NewMemory, saved: SaveResult) -> tuple[str, ...]:
    """Return what the text reads like, if that is another type than it has."""
    is_inherited = bool(saved.superseded) and not new.type
    is_custom = saved.type not in BUILT_IN
    if not saved.is_new or is_inherited or is_custom or new.more:
        return ()
    hint = type_hint(new.content, chosen=new.type, default=DEFAULT_TYPE)
    if hint is None:
        return ()
    return (f'it reads like type {hint.type} ("{hint.words}"), not {saved.type}',)


def warnings_of(
    context: CurationContext, new: NewMemory, others: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what a person should look at."""
    found = [
        f"{path} is another active memory with this key: give it a key of its own"
        for path in others
    ]
    expires = day_of_iso(new.expires)
    if expires is not None and expires <= context.clocks.today():
        found.append(f"it expires on {new.expires[:10]}, so no search shows it")
    return tuple(found)
