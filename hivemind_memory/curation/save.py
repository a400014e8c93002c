"""Saves a memory under a key: it is active until another one replaces it.

The steps are ordered so that a process may be killed between any two of them. The
memory that is replaced is first copied to ``superseded/``; then the new one takes its
file name in one step. A copy whose second step never came has the id of a memory that
is still active: ``history.without_leftovers`` skips it, and the next save overwrites
it.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_person, check_source, check_writable
from hivemind_memory.curation.copies import copy_notice, similar_notice
from hivemind_memory.curation.edited import kept_updates, with_entries_below
from hivemind_memory.curation.lookup import known_key, parse_memory
from hivemind_memory.curation.lookup_one import find_one
from hivemind_memory.curation.own_name import free_own_name
from hivemind_memory.curation.save_hints import hints_of
from hivemind_memory.curation.supersede import (
    check_version,
    create_note,
    find_active,
    has_same_content,
    is_minor,
    remove_own_file,
    type_of,
    values_of,
    write_in_place,
    write_superseded_copy,
)
from hivemind_memory.curation.validate import validate_memory
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    NotSavedError,
    UsageError,
    is_out_of_files,
)
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.errors import save_error
from hivemind_memory.files.paths import parse_note_path, path_in_scope
from hivemind_memory.markdown.entry import new_ulid
from hivemind_memory.model.citation import names_note
from hivemind_memory.model.curation import SaveResult, SimilarMemory
from hivemind_memory.model.keys import operand
from hivemind_memory.model.memories import (
    ACTIVE,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
)
from hivemind_memory.model.scope import INBOX
from hivemind_memory.model.trust import is_trusted, needs_person
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_file import compose, read_memory_file, superseded_text
from hivemind_memory.notes.memory_header import day_of_iso
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


_SHOWN_CHARS = 300


def _fresh(context: CurationContext) -> MemoryIndex:
    """Return the index as fresh as a lookup needs it; nothing is saved without it."""
    try:
        return context.index.fresh(is_lookup=True)
    except HivemindError as error:
        if error.effect or not is_out_of_files(error):
            raise
        raise NotSavedError(
            error.problem, hint=error.hint, effect="Nothing was saved"
        ) from error


def save(
    context: CurationContext,
    wanted: NewMemory,
    *,
    near: Callable[[str], Iterable[TextCandidate]] | None = None,
) -> SaveResult:
    """Save a memory; it is on disk, synced, when this returns.

    Args:
        context: Of the caller.
        wanted: What to save; its scope is a folder that the caller may write to.
        near: Returns texts that may say the same, among those that the caller sees.

    Raises:
        KeyTakenError: An active memory has the key, and no reason was given.
        MemoryNotFoundError: A relation names nothing that the caller sees.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It cannot be saved as it is; nothing was written, as in all cases.
    """
    check_source(context.caller, wanted.source)
    if wanted.is_vouched:
        check_person(context.caller, "Vouching for a text")
    new = validate_memory(wanted, limit_chars=context.limit_chars, types=context.types)
    usual_path = path_in_scope(new.scope, next(names_of(new.key)))
    check_writable(context.caller, usual_path)
    try:
        make_private_folder(context.folder.root)
    except OSError as error:
        raise save_error(usual_path, error) from error
    with context.key_lock(new.scope, new.key, "Nothing was saved"):
        index = _fresh(context)
        candidates = tuple(near(new.content)) if near else ()
        new = replaced(new, key=_spelled(index, new))
        old, others = find_active(context, index, new.scope, new.key)
        if new.replaces:
            check_version(old, new)
        new = replaced(
            new,
            related=_resolve(context, index, new, new.related, old),
            contradicts=_resolve(context, index, new, new.contradicts, old),
        )
        saved = _write(context, index, new, old)
        similar = similar_memories(context, index, new, candidates)
    return replaced(
        saved,
        near=similar,
        hints=(
            *saved.hints,
            *hints_of(index, new, saved),
        ),
        warnings=(*_warnings(context, new, others), *map(similar_notice, similar)),
    )


def similar_memories(
    context: CurationContext,
    index: MemoryIndex,
    new: NewMemory,
    candidates: tuple[TextCandidate, ...],
) -> tuple[SimilarMemory, ...]:
    """Return the memories of other keys that say nearly the same."""
    from hivemind_memory.redaction import mask

    found: dict[str, SimilarMemory] = {}
    for candidate, share in similar_texts(new.content, candidates):
        rows = index.memories(path=candidate.path, scopes=context.caller.scopes)
        is_own = any(row.key == new.key and row.scope == new.scope for row in rows)
        is_past = any(row.status in (SUPERSEDED, FORGOTTEN) for row in rows)
        if rows and not is_own and not is_past and candidate.path not in found:
            found[candidate.path] = SimilarMemory(
                path=candidate.path,
                start_line=candidate.start_line,
                end_line=candidate.end_line,
                key=mask(rows[0].key),
                similarity=share,
            )
    return tuple(found.values())


def _spelled(index: MemoryIndex, new: NewMemory) -> str:
    """Return the key as it is spelled in the scope already, else as it was given.

    Raises:
        UsageError: Another key is too near to be a different one, or the key would be
            taken for a note.
    """
    known, near = known_key(index, new.scope, new.key)
    if not known and names_note(new.key):
        raise UsageError(
            f"The key {new.key!r} could be taken for the path of a note.",
            hint="Choose one that does not end in .md, or in .md and lines.",
            effect="Nothing was saved",
        )
    if near and not needs_person(new.source, is_proposal=new.is_proposal):
        raise UsageError(
            f"The key {new.key!r} and {near!r} differ only in accents or punctuation.",
            hint=f"Save it under {near!r}, or choose a key that differs more.",
            effect="Nothing was saved",
        )
    return known or new.key


def _resolve(
    context: CurationContext,
    index: MemoryIndex,
    new: NewMemory,
    refs: tuple[str, ...],
    old: MemoryFile | None,
) -> tuple[str, ...]:
    """Return the ids of the memories that some names mean; paths of those without.

    Raises:
        MemoryNotFoundError: A name means nothing that the caller sees.
        UsageError: A name means the memory itself.
    """
    ends = []
    for ref in refs:
        row = find_one(context, index, ref, near=new.scope, effect="Nothing was saved")
        if old is not None and row.path == old.path:
            raise UsageError(
                "a memory cannot be related to itself.",
                hint="The version that it replaces is kept in its history anyway.",
                effect="Nothing was saved",
            )
        ends.append(row.memory_id or row.path)
    return tuple(dict.fromkeys(ends))


def _write(
    context: CurationContext, index: MemoryIndex, new: NewMemory, old: MemoryFile | None
) -> SaveResult:
    """Write the files that the save needs, if any."""
    if old is not None and new.is_upsert:
        return _saved(context, new, *write_in_place(context, new, old))
    if old is not None and has_same_content(old, new, context.types):
        return _unchanged(context, new, old)
    if needs_person(new.source, is_proposal=new.is_proposal):
        return _save_pending(context, index, new)
    if old is not None:
        if not new.reason:
            raise _key_taken(context, new, old)
        return _supersede(context, index, new, old)
    memory_id, data, start_line = _compose(context, new)
    moved = free_own_name(context.folder, new.scope, new.key)
    names = (*names_of(new.key), name_with_id(new.key, memory_id))
    paths = (path_in_scope(new.scope, name) for name in names)
    path = create_note(context.folder, paths, data)
    saved = _saved(context, new, path, memory_id, start_line)
    return replaced(saved, changed_paths=(path, *moved[1:]))


def _save_pending(
    context: CurationContext, index: MemoryIndex, new: NewMemory
) -> SaveResult:
    """Write a claim of an untrusted source to the inbox; the active memory stays."""
    rows = index.memories(
        key=new.key, scopes=frozenset({new.scope}), statuses=frozenset({PENDING})
    )
    for row in rows:
        try:
            there = read_memory_file(context.folder, parse_note_path(row.path))
        except HivemindError:
            continue
        if has_same_content(there, new, context.types):
            return replaced(
                _unchanged(context, new, there, status=PENDING),
                hints=(_pending_hint(there.path, new),),
            )
    memory_id, data, start_line = _compose(context, new)
    name = f"{INBOX}/{name_with_id(new.key, memory_id)}"
    path = create_note(context.folder, [path_in_scope(new.scope, name)], data)
    return replaced(
        _saved(context, new, path, memory_id, start_line),
        status=STATUSES[PENDING],
        hints=(_pending_hint(path, new),),
    )


def _pending_hint(path: NotePath, new: NewMemory) -> str:
    """Return how a claim that waits in the inbox becomes a memory."""
    why = (
        "it is a proposal" if is_trusted(new.source) else f"its source is {new.source}"
    )
    return (
        f"it waits in {path} for a person to accept it, because"
        f" {why}: `hm inbox accept {operand(new.key)}`; searches leave it out"
    )


def _supersede(
    context: CurationContext, index: MemoryIndex, new: NewMemory, old: MemoryFile
) -> SaveResult:
    """Replace the old memory by the new one, and keep a copy of the old one."""
    updates = kept_updates(index, new, old) if new.is_edit else []
    memory_id, data, start_line = _compose(context, new, old, updates)
    copy = superseded_text(old, new.key, by=memory_id, at=context.now_iso())
    copy_path, made = write_superseded_copy(
        context.folder, old, new.scope, new.key, copy
    )
    try:
        context.folder.replace(old.path, data, expected=old.signature)
    except BaseException:
        # Unless the new one is in place already, the old one needs no copy.
        if made is not None and context.folder.signature(old.path) == old.signature:
            remove_own_file(context.folder, copy_path, made)
        raise
    return replaced(
        _saved(context, new, old.path, memory_id, start_line),
        type=type_of(new, old, context.types),
        superseded=old.id,
        superseded_path=copy_path,
        is_minor=is_minor(new.reason),
        changed_paths=(old.path, copy_path),
    )


def _compose(
    context: CurationContext,
    new: NewMemory,
    old: MemoryFile | None = None,
    updates: list[object] | None = None,
) -> tuple[str, bytes, int]:
    """Return a new id, the bytes of the file, and the first line of its content.

    Args:
        context: Of the caller.
        new: What to save.
        old: The memory that it replaces.
        updates: What else it updates, as the front matter has it.
    """
    now = context.clocks.now()
    memory_id = new_ulid(now, context.clocks.randomness())
    values, kept = values_of(
        new,
        memory_id=memory_id,
        at=context.clocks.local_iso(now),
        old=old,
        types=context.types,
    )
    if updates and old is not None:
        values["supersedes"] = [old.id, *updates]
    content = with_entries_below(new.content, old)
    text, start_line = compose(values, content, old=old, kept=kept)
    return memory_id, text.encode(), start_line


def _saved(
    context: CurationContext,
    new: NewMemory,
    path: NotePath,
    memory_id: str,
    start_line: int,
) -> SaveResult:
    """Return the result of a save that wrote one new file."""
    return SaveResult(
        path=path,
        id=memory_id,
        key=new.key,
        type=type_of(new, None, context.types),
        scope=new.scope,
        status=STATUSES[ACTIVE],
        is_new=True,
        start_line=start_line,
        end_line=start_line + new.content.count("\n"),
        changed_paths=(path,),
    )


def _unchanged(
    context: CurationContext, new: NewMemory, old: MemoryFile, *, status: int = ACTIVE
) -> SaveResult:
    """Return the result of a save that had nothing to write."""
    stored = parse_memory(old.path, old.text, context)
    return SaveResult(
        path=old.path,
        id=stored.id,
        key=new.key,
        type=stored.type,
        scope=new.scope,
        status=STATUSES[status],
        is_new=False,
        start_line=stored.start_line,
        end_line=stored.end_line,
        hints=(f"nothing was written: {old.path} already says exactly this",),
    )


def _key_taken(
    context: CurationContext, new: NewMemory, old: MemoryFile
) -> KeyTakenError:
    """Return the error for a key that an active memory has."""
    from hivemind_memory.redaction import mask_short

    current = parse_memory(old.path, old.text, context)
    shown = mask_short(current.text, _SHOWN_CHARS)
    return KeyTakenError(
        f'Active entry exists for key "{new.key}", supersede_reason required',
        hint=f"Nothing was saved. {old.path} says: {shown}",
        current=current,
    )


def _warnings(
    context: CurationContext, new: NewMemory, others: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what a person should look at."""
    found = list(map(copy_notice, others))
    expires = day_of_iso(new.expires)
    if expires is not None and expires <= context.clocks.today():
        found.append(f"it expires on {new.expires[:10]}, so searches do not show it")
    return tuple(found)
