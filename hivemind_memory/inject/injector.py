"""Injects into a worktree, takes it back, and says why: what the doors call.

One at a time in a repository, by a lock in the home folder; the memory is asked before
the lock is taken. Whatever goes wrong is a ``NotInjectedError``: a launcher prints it
and starts the agent all the same.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from hivemind_memory.context.gather import project_identity
from hivemind_memory.errors import NotInjectedError, UsageError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.inject.files import (
    UnusableFileError,
    erase_section,
    open_file,
    write_section,
)
from hivemind_memory.inject.git import SWITCH, find_repository, worktree_state
from hivemind_memory.inject.marked_section import SECTION_MARKS, find_section
from hivemind_memory.inject.section import plan_section, section_body
from hivemind_memory.inject.targets import (
    AGENTS_FILE,
    KNOWN_FILES,
    TargetFile,
    choose_target,
)
from hivemind_memory.inject.zero_diff import GitSettings
from hivemind_memory.model.injection import EjectionResult, FileOutcome, InjectionResult
from hivemind_memory.state import injection_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.inject.git import Repository
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.injection import SectionPlan

_LOCK_TIMEOUT_S = 60.0
"""Two hundred launches at once stand in one queue."""

_CODEX_BYTES = 32 * 1024


class Injector:
    """Puts the memory's section into worktrees."""

    def __init__(
        self,
        memory: Memory,
        environ: Mapping[str, str],
        now_iso: Callable[[], str],
        caller_of: Callable[[str], Caller],
    ) -> None:
        self._memory = memory
        self._caller_of = caller_of
        """Tells from a project's identity what its agents may see."""
        self._environ = environ
        """For git: without the variables of a surrounding hook."""
        self._now_iso = now_iso

    def inject(
        self, worktree: str, *, agent: str = "", is_dry_run: bool = False
    ) -> InjectionResult:
        """Write the section into the file that *agent* reads; nothing if it is there.

        Raises:
            NotInjectedError: Nothing was written, and why.
            UsageError: There is no such folder, or the option names no file.
        """
        root, repository = self._root(worktree)
        exists = lambda name: os.path.lexists(os.path.join(root, *name.split("/")))  # noqa: E731
        target = choose_target(agent, self._memory.settings.inject_target, exists)
        done = InjectionResult(
            worktree=root, agent=agent, outcome="off", file=target.file
        )
        if repository is not None and not repository.switch():
            return done
        state = worktree_state(root, repository)
        with self._memory.as_caller(self._caller_of(project_identity(state))) as memory:
            room = _room_bytes(root, target.file, repository)
            planned = plan_section(memory, state, room_bytes=room)
        done = replace(done, planned=planned)
        if is_dry_run:
            return replace(done, outcome="planned")
        with self._lock(root, repository):
            if planned.body:
                done = _placed(done, _write_section(root, target, repository, planned))
            else:
                done = _emptied(done, root, target, repository)
        self._note(done)
        return done

    def eject(self, worktree: str) -> EjectionResult:
        """Give every file its own bytes back, and git its settings.

        The settings stay while another worktree of the repository has a section.

        Raises:
            NotInjectedError: There is something that cannot be used.
            UsageError: There is no such folder.
        """
        root, repository = self._root(worktree)
        files, warnings = [], []
        with self._lock(root, repository):
            for file in self._files(repository):
                try:
                    placed = erase_section(root, file, repository)
                except NotInjectedError as error:
                    if _may_hold_marks(root, file):
                        warnings.append(f"{file} was left as it is: {error}")
                    continue
                if placed is not None:
                    files.append(placed.file)
                    warnings += placed.warnings
            is_restored = self._restore(repository)
        return EjectionResult(
            worktree=root,
            files=tuple(files),
            is_git_restored=is_restored,
            warnings=tuple(warnings),
        )

    def switch(self, worktree: str, *, is_on: bool) -> EjectionResult | None:
        """Switch injection off or on for a repository; off takes the section away.

        Raises:
            NotInjectedError: The folder is in no git repository.
        """
        root, repository = self._root(worktree)
        if repository is None:
            message = f"{root} is in no git repository, so there is nothing to switch"
            raise NotInjectedError(message, hint="Just do not inject there.")
        with self._lock(root, repository):
            if is_on:
                repository.run("config", "--local", "--unset-all", SWITCH)
                return None
            repository.ask("config", "--local", SWITCH, "false")
        return self.eject(root)

    def sweep(self, worktree: str) -> None:
        """Take away the new files that a killed injection never gave their name.

        Raises:
            NotInjectedError: Somebody else is at work there and stays.
            OSError: A folder cannot be read.
        """
        root, repository = self._root(worktree)
        with self._lock(root, repository):  # so nobody is writing one now
            for folder in {root, repository.git_dir if repository else root}:
                for name in os.listdir(folder):
                    if name.startswith(".hm-") and name.endswith(".tmp"):
                        os.unlink(os.path.join(folder, name))

    def why(self, worktree: str) -> dict[str, Any] | None:
        """Return the ledger's newest record about a worktree, or None.

        Those about other files of it, which other agents read, are its ``others``.
        """
        root, _ = self._root(worktree)
        records = injection_log.last_records(self._memory.places.home, root)
        return {**records[0], "others": records[1:]} if records else None

    def _root(self, worktree: str) -> tuple[str, Repository | None]:
        """Return the worktree that a folder belongs to, and its repository."""
        folder = os.path.realpath(os.path.expanduser(worktree))
        if not os.path.isdir(folder):
            raise UsageError(f"{worktree} is no folder", hint="Name a worktree.")
        repository = find_repository(folder, self._environ)
        return (folder, None) if repository is None else (repository.top, repository)

    @contextmanager
    def _lock(self, root: str, repository: Repository | None) -> Iterator[None]:
        """Be the only one who injects into a repository."""
        subject = root if repository is None else repository.common_dir
        digest = sha256(os.fsencode(subject)).hexdigest()[:16]
        folder = os.path.join(self._memory.places.home, "locks")
        lock = KernelLock(os.path.join(folder, f"inject-{digest}.lock"))
        try:
            make_private_folder(folder)
            is_mine = lock.acquire(wait_s=_LOCK_TIMEOUT_S)
        except OSError as error:
            message = f"no lock could be had in {folder}: {error.strerror}"
            raise NotInjectedError(message) from error
        if not is_mine:
            raise NotInjectedError("another hm inject is at work there and stays")
        try:
            yield
        finally:
            lock.release()

    def _files(self, repository: Repository | None) -> list[str]:
        """Return every file that may hold a section of ours."""
        named = GitSettings(repository).files() if repository else []
        own = choose_target(
            "", self._memory.settings.inject_target, lambda _: True
        ).file
        return list(dict.fromkeys((*KNOWN_FILES, own, *named)))

    def _restore(self, repository: Repository | None) -> bool:
        """Give git its settings back, unless a worktree needs them."""
        if repository is None or not GitSettings(repository).are_there():
            return True
        for root in repository.worktrees():
            for file in self._files(repository):
                if _has_section(root, file, repository):
                    return False
        GitSettings(repository).remove()
        return True

    def _note(self, done: InjectionResult) -> None:
        """Write into the ledger; what cannot be written there stops nobody."""
        record = injection_log.record_of(done, self._now_iso())
        home = self._memory.places.home
        known = injection_log.last_records(home, done.worktree)
        is_known = any(one["file"] == done.file for one in known)
        if done.outcome == "unchanged" and is_known:
            kept = ("at", "worktree", "agent", "outcome", "file")
            record = {key: record[key] for key in kept}
        try:
            injection_log.append(home, record)
        except OSError:
            return


def _room_bytes(root: str, file: str, repository: Repository | None) -> int | None:
    """Return what a file may still take for its agent to read all of it; None: all."""
    if file != AGENTS_FILE:
        return None
    try:
        data = open_file(root, file, repository).data or b""
        span = find_section(data)
    except NotInjectedError:
        return None  # placing says what is wrong with it
    ours = 0 if span is None else span.stop - span.start
    return _CODEX_BYTES - (len(data) - ours)


def _write_section(
    root: str, target: TargetFile, repository: Repository | None, planned: SectionPlan
) -> FileOutcome:
    """Write a section into the target, or into the file that is its second best."""

    def body(is_ours: bool) -> str:  # noqa: FBT001 - it is called with nothing else
        return section_body(planned, is_ours=is_ours)

    try:
        placed = write_section(root, target.file, repository, body)
    except NotInjectedError as error:
        is_unfit = isinstance(error, UnusableFileError)
        if not is_unfit or repository is None or not target.fallback:
            raise _explained(error, target.file) from error
        try:
            placed = write_section(root, target.fallback, repository, body)
        except NotInjectedError as other:
            both = type(other)(f"{error}, and {other}", hint=other.hint or error.hint)
            raise _explained(both, target.file) from other
        warning = f"{error}: {target.fallback} is used instead"
        placed = replace(placed, warnings=(warning, *placed.warnings))
    size = os.path.getsize(os.path.join(root, *placed.file.split("/")))
    if placed.file == AGENTS_FILE and size > _CODEX_BYTES:
        warning = f"{placed.file} has {size} bytes, of which Codex reads {_CODEX_BYTES}"
        placed = replace(placed, warnings=(*placed.warnings, warning))
    return _without_second(placed, root, target, repository)


def _without_second(
    placed: FileOutcome, root: str, target: TargetFile, repository: Repository | None
) -> FileOutcome:
    """Take the section out of the other files that the same agent reads."""
    for file in (target.file, *target.siblings):
        try:
            other = open_file(root, file, repository)
            if other.file != placed.file:
                erase_section(root, file, repository)
        except NotInjectedError as error:
            if file != target.file:
                warning = f"{file} was left as it is: {error}"
                placed = replace(placed, warnings=(*placed.warnings, warning))
    return placed


def _emptied(
    done: InjectionResult, root: str, target: TargetFile, repository: Repository | None
) -> InjectionResult:
    """Take an old section away when there is nothing to inject any more."""
    for file in (target.file, *target.siblings):
        placed = erase_section(root, file, repository)
        if placed is not None:
            return _placed(done, placed)
    return replace(done, outcome="nothing", file="")


def _placed(done: InjectionResult, placed: FileOutcome) -> InjectionResult:
    """Return an injection with what became of its file."""
    return replace(
        done,
        outcome=placed.outcome,
        file=placed.file,
        is_ours=placed.is_ours,
        warnings=placed.warnings,
    )


def _has_section(root: str, file: str, repository: Repository) -> bool:
    """Whether a file holds marks of ours, sound or damaged."""
    try:
        data = open_file(os.path.realpath(root), file, repository).data
        return data is not None and find_section(data) is not None
    except NotInjectedError:
        return _may_hold_marks(root, file)


def _may_hold_marks(root: str, file: str) -> bool:
    """Whether a file that cannot be edited may hold a mark of ours all the same."""
    path = os.path.join(root, *file.split("/"))
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as opened:
            data = opened.read()
    except OSError:
        return True  # nobody can tell, so nothing is taken from it
    return any(one in data for one in SECTION_MARKS.lookalikes)


def _explained(error: NotInjectedError, file: str) -> NotInjectedError:
    """Return an error that names the file and the way out."""
    text = str(error)
    message = text if file in text else f"{file}: {text}"
    hint = error.hint or "`hm config set inject_target` chooses another file."
    return type(error)(f"Nothing was injected: {message}.", hint=hint)
