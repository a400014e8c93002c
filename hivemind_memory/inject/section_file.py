"""Writes a section into the file that an agent reads, so that git sees no change.

The settings come first, then a trial run with git, then the file, then the index: the
worktree never looks changed, and a process that is killed leaves at most settings,
which have no effect by themselves. The caller holds the lock.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import GitError, NotInjectedError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.marked_section import (
    SECTION_MARKS,
    body_of,
    find_section,
    put_section,
    remove_section,
)
from hivemind_memory.git.index_copy import INDEX_LOCK
from hivemind_memory.inject.agent_files import AGENTS_FILE, IMPORT, head_of
from hivemind_memory.inject.commit_guard import COPY_FILTER, CommitGuard
from hivemind_memory.inject.git_settings import FILTER, GitSettings
from hivemind_memory.inject.section import CREATED, SHORTEN_HINT
from hivemind_memory.inject.section_form import is_injected
from hivemind_memory.inject.worktree_file import (
    UnusableFileError,
    delete_file,
    read_file,
    write_file,
)
from hivemind_memory.model.injection import FileOutcome
from hivemind_memory.model.injection_outcomes import REMOVED, UNCHANGED, WRITTEN
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.git.repository import Repository
    from hivemind_memory.inject.agent_files import TargetFile
    from hivemind_memory.inject.worktree_file import WorktreeFile

_CODEX_BYTES = 32 * 1024
"""What Codex reads of all its ``AGENTS.md`` files together."""


def write_section(
    root: str,
    target: TargetFile,
    repository: Repository | None,
    body: Callable[[bool], str],
    guard: CommitGuard | None = None,
) -> FileOutcome:
    """Write a section into the target, or into its fallback where git would see it.

    Args:
        root: The worktree, links resolved.
        target: Where the section goes.
        repository: None: the folder is in no repository.
        body: Whether we created the file -> the lines between the marks.
        guard: Of the repository, with the options that it has read; None: a new one.

    Raises:
        NotInjectedError: Nothing was written. Settings may have been.
    """
    if guard is None and repository is not None:
        guard = CommitGuard(repository)
    try:
        done = _write_into(root, target.file, guard, body)
    except (NotInjectedError, GitError) as error:
        is_unusable = isinstance(error, UnusableFileError)
        if not is_unusable or repository is None or not target.fallback:
            raise _not_injected(str(error), error.hint, target.file) from error
        try:
            done = _write_into(root, target.fallback, guard, body)
        except (NotInjectedError, GitError) as other:
            both, hint = f"{error}, and {other}", other.hint or error.hint
            raise _not_injected(both, hint, target.file) from other
        warning = f"{error}: {target.fallback} is used instead"
        done = replaced(done, warnings=(warning, *done.warnings))
    size = os.path.getsize(os.path.join(root, *done.file.split("/")))
    if done.file == AGENTS_FILE and size > _CODEX_BYTES:
        warning = (
            f"{done.file} has {size:,} bytes, of which Codex reads {_CODEX_BYTES:,}:"
            f" {SHORTEN_HINT}"
        )
        done = replaced(done, warnings=(*done.warnings, warning))
    return _without_duplicates(done, root, target, repository)


def erase_section(
    root: str, file: str, repository: Repository | None
) -> FileOutcome | None:
    """Remove the section from *file*; None when it has none.

    Raises:
        NotInjectedError: Nothing was written.
    """
    old = _open(root, file, repository)
    if old.data is None:
        return None
    rest, is_ours = _split(old)
    if rest == old.data:
        return None
    warnings: tuple[str, ...] = ()
    if is_ours:
        delete_file(old)
    else:
        if repository is not None:
            _forget_size(repository, old)
        write_file(old, rest, beside=repository.git_dir if repository else "")
        if repository is not None:
            warnings = _refresh_index(repository, old.file, rest)
    return FileOutcome(
        file=old.file, outcome=REMOVED, is_ours=is_ours, warnings=warnings
    )


def erase_old_section(
    root: str, target: TargetFile, repository: Repository | None
) -> FileOutcome | None:
    """Remove an old section when there is nothing to inject any more.

    Raises:
        NotInjectedError: Nothing was written.
    """
    for file in (target.file, *target.siblings):
        done = erase_section(root, file, repository)
        if done is not None:
            return done
        correct_git_status(root, file, repository)
    return None


def correct_git_status(
    root: str, file: str, repository: Repository | None
) -> tuple[str, ...]:
    """Have git see that *file* is unchanged after something else took its section.

    An editor that saves an older version does that. No entry of the index can prevent
    it: whatever ``hm inject`` writes there, the next ``git status`` replaces it with
    the size that the file has with its section, and from then on calls any other size
    a change.

    Returns:
        What to tell the user; empty if git was right.

    Raises:
        NotInjectedError: The file cannot be read.
    """
    old = _open(root, file, repository)
    if repository is None or old.data is None or not repository.is_changed(old.file):
        return ()
    warnings = _refresh_index(repository, old.file, old.data)
    if warnings or repository.is_changed(old.file):
        return warnings  # with edits of the user's own
    return (f"git status showed {old.file} as changed; it no longer does",)


def without_section(
    root: str, file: str, repository: Repository | None
) -> bytes | None:
    """Return what ``erase_section`` would leave of a file; None: it can't."""
    try:
        return _split(_open(root, file, repository))[0]
    except NotInjectedError:
        return None


def free_bytes(root: str, file: str, repository: Repository | None) -> int | None:
    """Return how many bytes a section may take in *file*; None: no limit."""
    if file != AGENTS_FILE:
        return None
    try:
        data = _open(root, file, repository).data or b""
        span = find_section(data)
    except NotInjectedError:
        return None  # writing the section reports what is wrong
    section_bytes = 0 if span is None else span.stop - span.start
    return _CODEX_BYTES - (len(data) - section_bytes)


def has_section(root: str, file: str, repository: Repository | None = None) -> bool:
    """Return whether a file contains a sound section."""
    try:
        return _holds_section(_open(os.path.realpath(root), file, repository))
    except NotInjectedError:
        return False


def may_hold_section(root: str, file: str, repository: Repository | None) -> bool:
    """Return whether a file contains a section, sound or damaged."""
    try:
        return _holds_section(_open(os.path.realpath(root), file, repository))
    except NotInjectedError:
        return may_hold_marks(root, file)


def _holds_section(old: WorktreeFile) -> bool:
    """Return whether a file contains a section that we wrote; raises if damaged."""
    if old.data is None or find_section(old.data) is None:
        return False
    return is_injected(body_of(old.data))


def may_hold_marks(root: str, file: str) -> bool:
    """Return whether a file that cannot be edited may contain a mark all the same."""
    path = os.path.join(root, *file.split("/"))
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb", opener=open_regular) as opened:
            data = opened.read()
    except OSError:
        return True  # unknown, so the settings stay
    return any(lookalike in data for lookalike in SECTION_MARKS.lookalikes)


def _write_into(
    root: str,
    file: str,
    guard: CommitGuard | None,
    body: Callable[[bool], str],
) -> FileOutcome:
    """Write a section into one file unless it is there already, byte for byte.

    Raises:
        UnusableFileError: This file cannot hold a section.
        NotInjectedError: Nothing was written. Settings may have been.
    """
    repository = guard.repository if guard else None
    old = _open(root, file, repository)
    rest, is_ours = _split(old)
    if is_ours:
        rest = head_of(
            old.file, lambda name: os.path.lexists(os.path.join(root, *name.split("/")))
        )
    new = put_section(rest if is_ours else old.data or b"", body(is_ours))
    warnings: tuple[str, ...] = ()
    if guard is not None:
        warnings = _prepare_git(guard, old, new, is_ours=is_ours)
    outcome = UNCHANGED
    if new != old.data:
        outcome = WRITTEN
        if repository is not None:
            _forget_size(repository, old)
        write_file(old, new, beside=repository.git_dir if repository else "")
    if repository is not None and not is_ours:
        warnings += _refresh_index(repository, old.file, new)
    return FileOutcome(
        file=old.file, outcome=outcome, is_ours=is_ours, warnings=warnings
    )


def _open(root: str, file: str, repository: Repository | None) -> WorktreeFile:
    """Return a file of the worktree, never one inside the git folder."""
    forbidden = (repository.git_dir, repository.common_dir) if repository else ()
    return read_file(root, file, forbidden=forbidden)


def _split(old: WorktreeFile) -> tuple[bytes, bool]:
    """Return a file without its section, and whether we created the file."""
    if old.data is None:
        return b"", True
    rest = remove_section(old.data)
    if rest != old.data and not is_injected(body_of(old.data)):
        message = (
            f"{old.file} has text of yours between hivemind:begin and hivemind:end"
        )
        hint = "Put these marks in quotes or backticks, or delete them."
        raise UnusableFileError(message, hint=hint)
    is_ours = body_of(old.data).startswith(CREATED) and rest in (b"", IMPORT)
    return rest, is_ours


def _prepare_git(
    guard: CommitGuard, old: WorktreeFile, new: bytes, *, is_ours: bool
) -> tuple[str, ...]:
    """Make the settings and verify that they work; return the warnings.

    Raises:
        UnusableFileError: Git would see the section.
        NotInjectedError: The section is committed already.
    """
    repository = guard.repository
    file, settings = old.file, GitSettings(repository)
    bare = remove_section(old.data or b"")
    begin, had_section = SECTION_MARKS.begin, old.data != bare
    if had_section and not is_ours:
        entry, content = repository.indexed(file)
    else:
        entry, content = repository.entry(file), b""
    if begin in content or (had_section and is_ours and repository.holds(entry, begin)):
        # Committed by a program that runs no filters. Without the section git, and the
        # user, would see a change.
        message = f"{file} has a section that is committed"
        hint = f"`hm eject` removes it from {file}; commit that."
        raise NotInjectedError(message, hint=hint)
    if is_ours and entry.is_tracked:
        message = f"{file} is tracked by git but deleted"
        raise UnusableFileError(message, hint=f"`git restore {file}` brings it back.")
    # A file that is there is ignored if git lists it neither as tracked nor as new.
    is_seen = entry.is_new or (old.data is None and not repository.is_ignored(file))
    if is_ours and is_seen:
        settings.exclude(file)
        if not repository.is_ignored(file):
            raise UnusableFileError(f"{file} cannot be hidden from git status")
    other = repository.filter_of(file)
    if other not in ("", FILTER, COPY_FILTER):
        if is_ours:
            return ()  # it is hidden, and the user's own filter stays
        raise UnusableFileError(f"{file} has a filter of its own: {other}")
    if not is_ours and bare == old.data and bare and not bare.endswith(b"\n"):
        # The filter cannot remove the newline that the section needs before it.
        raise UnusableFileError(
            f"{file} has no newline at its end, so git would see a change"
        )
    is_new = settings.add_filter(file, guard.options)
    warnings = guard.install()
    if is_ours or new == old.data:
        return warnings
    # What git would store must be the same with the section as without it.
    if repository.stored_id(file, new) != repository.stored_id(file, bare):
        if is_new:
            settings.remove_filter(file)
        raise UnusableFileError(f"git would see a change in {file}: the filter fails")
    is_hidden = not entry.is_tracked and settings.is_excluding(file)
    ignored = f"git ignores {file}; `git add -f {file}` tracks it"
    return (*warnings, ignored) if is_hidden else warnings


def _forget_size(repository: Repository, old: WorktreeFile) -> None:
    """Have git compare what the file holds, not how long it is, until it is refreshed.

    Else a process that is killed between writing and refreshing leaves a file that
    ``git status`` calls modified.
    """
    entry = repository.entry(old.file)
    if not entry.object_id or not entry.is_compared:
        return
    if repository.stored_id(old.file, old.data or b"") == entry.object_id:
        known = f"{entry.mode},{entry.object_id},{old.file}"
        repository.update_index("--cacheinfo", known)


def _refresh_index(repository: Repository, file: str, data: bytes) -> tuple[str, ...]:
    """Update the file's size in the index if the stored content stays the same.

    Otherwise git goes by the size and reports a change that ``git diff`` denies.
    """
    words = ("diff-files", "--raw", "-z", "--", f":(literal){file}")
    difference = repository.ask(*words)
    if not difference:
        return ()  # not tracked, or as git knows it
    entry = repository.entry(file)
    if not entry.object_id or repository.stored_id(file, data) != entry.object_id:
        return ()  # with edits of the user's own, which stay visible
    old_mode, new_mode = difference.removeprefix(":").split(" ")[:2]
    if old_mode == new_mode:
        is_done = repository.update_index("--", file)
    else:
        # An update would stage the user's `chmod`.
        known = f"{entry.mode},{entry.object_id},{file}"
        is_done = repository.update_index("--cacheinfo", known)
    if is_done:
        return ()
    lock = os.path.join(repository.git_dir, INDEX_LOCK)
    remedy = f"`git add {file}` fixes that"
    if os.path.lexists(lock):
        remedy = f"if no git is running, delete {lock} and inject again"
    return (f"git status may show {file} as changed; {remedy}",)


def _without_duplicates(
    done: FileOutcome, root: str, target: TargetFile, repository: Repository | None
) -> FileOutcome:
    """Remove the section from the other files that the same agent reads."""
    for file in (target.file, *target.siblings):
        try:
            other = _open(root, file, repository)
            if (
                other.file != done.file
                and erase_section(root, file, repository) is None
            ):
                correct_git_status(root, file, repository)
        except NotInjectedError as error:
            if file != target.file:
                warning = f"{file} was left unchanged: {error}"
                done = replaced(done, warnings=(*done.warnings, warning))
    return done


def _not_injected(problem: str, hint: str, file: str) -> NotInjectedError:
    """Return an error that names the file and the way out."""
    message = problem if file in problem else f"{file}: {problem}"
    hint = hint or "`hm config set inject_target FILE` chooses another file."
    return NotInjectedError(message, hint=hint, effect="Nothing was injected")
