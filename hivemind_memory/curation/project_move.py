"""Renames a project, or merges it into another: moves its notes, updates references.

The move is announced in a file first, so that one that is killed halfway is finished by
the next command. References by path are rewritten in all notes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from hivemind_memory.access.rules import check_owner
from hivemind_memory.curation.own_changes import record_moved
from hivemind_memory.curation.project_checks import (
    check_keys,
    check_names,
    check_options,
    check_records,
)
from hivemind_memory.curation.project_followers import Renaming, check_state, follow
from hivemind_memory.curation.renamed_references import rename_references
from hivemind_memory.errors import (
    HivemindError,
    NotSavedError,
    StateUnusableError,
)
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    OpenFolder,
    make_private_folder,
    open_regular,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import FOLDERS, make_scope
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_file import edit_note
from hivemind_memory.projects.known_project import (
    IDENTITY_FILE,
    listed_projects,
    project_folder,
    record_path,
)
from hivemind_memory.projects.move_lock import moves_lock, records_lock
from hivemind_memory.projects.record_changes import merged
from hivemind_memory.projects.record_file import read_record, write_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.files.places import Places
    from hivemind_memory.projects.identity import ProjectRecord

_ABOVE = FOLDERS["project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMove:
    """Notes that go from one project to another."""

    source: str
    target: str
    moves: tuple[tuple[str, str], ...]
    """Path below the notes folder -> its new path."""

    references: tuple[str, ...] = ()
    """Notes whose references were rewritten."""

    left: tuple[str, ...] = ()
    """Notes whose references could not be rewritten."""

    is_dry_run: bool = False


def move_project(
    context: CurationContext,
    source: str,
    target: str,
    *,
    is_merge: bool,
    is_dry_run: bool = False,
) -> ProjectMove:
    """Give a project another name, or move its notes into another project.

    References by path are rewritten in all notes. The caller holds ``moves_lock``.

    Args:
        context: Of the owner.
        source: Name of the project.
        target: Its new name; with *is_merge* that of another project.
        is_merge: The target is there already.
        is_dry_run: Only say what would be done.

    Raises:
        ScopeError: A name cannot be that of a project.
        UsageError: There is no such project, or both have active memories of one key.
        NotSavedError: The disk refused, or another move is under way.
    """
    check_owner(context.caller, "hm project")
    for name in (source, target):
        make_scope("project", name)
    check_options(context.projects, source, target)
    finish_move(context.places, context.folder)
    names = listed_projects(os.path.join(context.places.notes, _ABOVE))
    check_names(names, source, target, is_merge=is_merge)
    if is_merge:
        check_records(os.path.join(context.places.notes, _ABOVE), source, target)
        check_keys(context, source, target)
    move = ProjectMove(
        source=source,
        target=target,
        moves=tuple(_planned(context.places.notes, source, target)),
        is_dry_run=is_dry_run,
    )
    if is_dry_run:
        return _with_references(context.folder, move)
    check_state(context.places)
    _announce(context.places, move)
    done = _finish(context.places, context.folder, move)
    record_moved(context, source, target, is_merge=is_merge)
    return done


def finish_move(places: Places, folder: NotesFolder) -> ProjectMove | None:
    """Finish a move that was killed halfway; the lock is held.

    Raises:
        NotSavedError: The disk refused.
    """
    plan = places.project_move
    try:
        with open(plan, encoding="utf-8", opener=open_regular) as file:
            plan_data = json.load(file)
        if plan_data.get("notes", places.notes) != places.notes:
            return None
        move = ProjectMove(
            source=str(plan_data["source"]),
            target=str(plan_data["target"]),
            moves=tuple((str(old), str(new)) for old, new in plan_data["moves"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error
        raise NotSavedError(
            f"{plan} cannot be read: {reason}.",
            hint="Remove it, then look at `hm project list`.",
        ) from error
    return _finish(places, folder, move)


def resume_move(places: Places) -> None:
    """Finish a move that was killed halfway, once who may be at it is done.

    If that fails, a warning is logged: reads answer, and the next command tries again.
    """
    try:
        with moves_lock(places.shared_locks):
            finish_move(places, NotesFolder(places.notes))
    except NotSavedError as error:
        from logging import getLogger

        getLogger(__name__).warning("%s %s", error, error.hint)


def save_record(above: str, record: ProjectRecord) -> None:
    """Write down what a project knows.

    Raises:
        NotSavedError: The disk refused.
    """
    if not write_record(above, record):
        raise NotSavedError(
            f"{record_path(above, record.slug)} cannot be written.",
            effect="Nothing was changed",
        )


def _planned(notes: str, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield each file of a project and where it goes."""
    above = os.path.join(notes, _ABOVE)
    taken = set()
    top = project_folder(above, source)
    source = os.path.basename(top)
    for parent, folders, files in os.walk(top):
        folders.sort()
        inner = os.path.relpath(parent, top)
        inner = "" if inner == os.curdir else inner.replace(os.sep, "/") + "/"
        for name in sorted(files):
            if not inner and name == IDENTITY_FILE:
                continue
            new, stem = name, name.removesuffix(".md")
            number = 1
            while f"{inner}{new}" in taken or os.path.lexists(
                os.path.join(project_folder(above, target), inner, new)
            ):
                suffix = "" if number == 1 else f"-{number}"
                new = f"{stem}-{source}{suffix}{name[len(stem) :]}"
                number += 1
            taken.add(f"{inner}{new}")
            yield (
                f"{_ABOVE}/{source}/{inner}{name}",
                f"{_ABOVE}/{target}/{inner}{new}",
            )


def _announce(places: Places, move: ProjectMove) -> None:
    """Write down what is about to be moved.

    Raises:
        NotSavedError: The disk refused, or a move in another notes folder is not
            complete; nothing is moved.
    """
    plan = places.project_move
    plan_data = {
        "notes": places.notes,
        "source": move.source,
        "target": move.target,
        "moves": move.moves,
    }
    try:
        # In one step: those who move in another notes folder hold another lock.
        is_first = write_file(plan, json.dumps(plan_data).encode(), is_new=True)
    except OSError as error:
        raise NotSavedError(f"{error}", effect="Nothing was moved") from error
    if not is_first:
        raise NotSavedError(
            "A move in another notes folder is not complete.",
            hint=f"{plan} names it; the next command with that folder finishes it.",
            effect="Nothing was moved",
        )


def _finish(places: Places, folder: NotesFolder, move: ProjectMove) -> ProjectMove:
    """Move what is not moved yet, rewrite the references, and forget the plan."""
    above = os.path.join(folder.root, _ABOVE)
    old, new = project_folder(above, move.source), project_folder(above, move.target)
    try:
        if os.path.isdir(old) and not os.path.lexists(new):
            os.rename(old, new)
        elif os.path.isdir(old):
            with records_lock(above):
                record = read_record(above, move.target)
                save_record(above, merged(record, read_record(above, move.source)))
            for source, target in move.moves:
                _move_file(folder.root, source, target)
            remove_folders(old)
        _sync(above)
        done = _with_references(folder, move)
        follow(
            Renaming(
                places=places,
                source=move.source,
                target=move.target,
                moves=dict(move.moves),
            )
        )
        os.unlink(places.project_move)
    except (OSError, NotSavedError, StateUnusableError) as error:
        raise NotSavedError(
            f"the move of {move.source} to {move.target} is not complete: {error}",
            hint="The next command tries again.",
        ) from error
    return done


def _move_file(root: str, source: str, target: str) -> None:
    """Move a file, unless that is done."""
    old, new = os.path.join(root, source), os.path.join(root, target)
    if os.path.lexists(old) and not os.path.lexists(new):
        make_private_folder(os.path.dirname(new))
        os.rename(old, new)
        _sync(os.path.dirname(new))


def remove_folders(top: str) -> None:
    """Remove a project's folder if nothing but its identity is left in it."""
    for parent, _, _ in os.walk(top, topdown=False):
        if os.listdir(parent) == [IDENTITY_FILE] and parent == top:
            os.unlink(os.path.join(top, IDENTITY_FILE))
        try:
            os.rmdir(parent)
        except OSError:
            # Something was written there meanwhile: it stays, and is listed.
            continue


def _sync(path: str) -> None:
    """Wait until the names in a folder are on the disk."""
    with OpenFolder.at(path) as folder:
        folder.sync()


def _with_references(folder: NotesFolder, move: ProjectMove) -> ProjectMove:
    """Rewrite the references to moved notes, or only count them."""
    names = dict(move.moves)
    for old, new in move.moves:
        names[old.removesuffix(".md")] = new.removesuffix(".md")
    mark = f"{_ABOVE}/{move.source}/".encode()
    changed, left = [], []
    for path in sorted(folder.signatures()):
        try:
            data, _ = folder.read(path)
            if mark not in data or rename_references(data, names) == data:
                continue
            if not move.is_dry_run:
                edit_note(
                    folder, NotePath(path), lambda now: rename_references(now, names)
                )
            changed.append(str(path))
        except (HivemindError, ValueError):
            left.append(str(path))
    return replaced(move, references=tuple(changed), left=tuple(left))
