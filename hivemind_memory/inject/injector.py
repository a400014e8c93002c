"""Injects a section into a worktree, removes it, and says why a memory was chosen.

One process at a time injects into a repository; it searches before it takes the lock. A
launcher prints any ``HivemindError`` and starts the agent all the same.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import HivemindError, NotInjectedError
from hivemind_memory.files.errors import no_folder
from hivemind_memory.files.locks import exclusive
from hivemind_memory.files.places import worktree_lock
from hivemind_memory.git.repository import find_repository
from hivemind_memory.git.worktree import project_state, worktree_state
from hivemind_memory.inject.active_notes import ActiveTexts, texts_today
from hivemind_memory.inject.agent_files import KNOWN_FILES, TargetFile, choose_target
from hivemind_memory.inject.commit_guard import CommitGuard, section_copies
from hivemind_memory.inject.git_settings import GitSettings
from hivemind_memory.inject.injection_record import (
    SCOPES,
    InjectionEntry,
    quotes_hold,
    readable_records,
    record_of,
)
from hivemind_memory.inject.kept_texts import texts_kept
from hivemind_memory.inject.place_section import place_section, target_in
from hivemind_memory.inject.section import plan_section
from hivemind_memory.inject.section_file import (
    correct_git_status,
    erase_section,
    free_bytes,
    may_hold_marks,
    may_hold_section,
)
from hivemind_memory.inject.word_file import remember_words
from hivemind_memory.inject.worktree_file import sweep_written
from hivemind_memory.model.injection import EjectionResult, InjectionResult
from hivemind_memory.model.injection_outcomes import (
    BEGUN,
    NOTHING,
    OFF,
    PLANNED,
    WITH_SECTION,
)
from hivemind_memory.model.value import replaced
from hivemind_memory.state.injection_log import InjectionLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.git.repository import Repository
    from hivemind_memory.git.worktree import WorktreeState
    from hivemind_memory.memory import Memory

_LOCK_TIMEOUT_S = 60.0
"""Two hundred simultaneous launches form one queue."""

_ATTEMPTS = 3
"""How often a section is planned because what it quotes is removed meanwhile."""


class Injector:
    """Puts the memory's section into worktrees."""

    def __init__(
        self,
        memory: Memory,
        environ: Mapping[str, str],
        now_iso: Callable[[], str],
        caller_of: Callable[[WorktreeState, bool], Caller],
        explicit_git: Mapping[str, str] | None = None,
        has_tools: Callable[[str, str], bool] = lambda _agent, _root: True,
    ) -> None:
        """Take everything that depends on the process.

        Args:
            memory: The memory.
            environ: For git: without the variables of a surrounding hook.
            now_iso: Returns the time, ISO 8601.
            caller_of: A worktree, and whether nothing may be recorded of it -> what its
                project's agents may see.
            explicit_git: See ``find_repository``.
            has_tools: An agent's name and its worktree -> whether it has our tools.
        """
        self._memory = memory
        self._environ = environ
        self._now_iso = now_iso
        self._caller_of = caller_of
        self._explicit_git = explicit_git
        self._has_tools = has_tools
        self._looked_at: dict[str, tuple[str, Repository | None]] = {}

    def inject(
        self, worktree: str, *, agent: str = "", is_dry_run: bool = False
    ) -> InjectionResult:
        """Write the section into the file that *agent* reads, unless it is up to date.

        A dry run writes nothing, not even which project the worktree belongs to.

        A purge that finds no record of it yet has removed its note by then: so what is
        quoted is looked for again once the record is there, before the section is.

        Raises:
            NotInjectedError: Nothing was written, and why.
            GitError: Git cannot be used there; nothing was written.
            UsageError: The folder does not exist, or the option names no file.
        """
        return self._tried(worktree, agent, is_dry_run=is_dry_run)

    def refresh(self, worktree: str, agent: str, file: str) -> InjectionResult:
        """Write the section of *file* again if it still has one; raises as ``inject``.

        It is never put where a person, git or ``hm eject`` has removed it.
        """
        return self._tried(worktree, agent, file=file)

    def _tried(
        self, worktree: str, agent: str, *, file: str = "", is_dry_run: bool = False
    ) -> InjectionResult:
        """Plan a section and write it, as often as that takes; see ``_inject``."""
        attempts = 1
        with texts_kept(self._memory):
            while not (
                done := self._inject(
                    worktree, agent, attempts, file=file, is_dry_run=is_dry_run
                )
            ):
                attempts += 1
        return done

    def _inject(
        self, worktree: str, agent: str, attempts: int, *, file: str, is_dry_run: bool
    ) -> InjectionResult | None:
        """Plan a section and write it; None: plan again.

        Args:
            worktree: A folder in it.
            agent: Who reads the section.
            attempts: Which one this is, from 1.
            file: The only one to write, and only if it has a section; empty: any.
            is_dry_run: Write nothing.
        """
        root, repository = self._find(worktree)
        target = target_in(root, agent, self._memory.settings.inject_target)
        if file not in ("", target.file):
            target = TargetFile(file=file)
        done = InjectionResult(
            worktree=root, agent=agent, outcome=OFF, file=target.file
        )
        guard = CommitGuard(repository) if repository else None
        if guard and not GitSettings(guard.repository).is_on(guard.options):
            return done
        state = worktree_state(root, repository, guard.options if guard else None)
        caller = self._caller_of(state, is_dry_run)
        with self._memory.as_caller(caller) as memory:
            planned = plan_section(
                memory,
                state,
                room_bytes=free_bytes(root, target.file, repository),
                has_tools=self._has_tools(agent, root),
                has_briefing=attempts < _ATTEMPTS,
            )
        done = replaced(done, planned=planned)
        had_guard = guard is None or guard.exists()
        if is_dry_run:
            is_first = not had_guard and bool(planned.body)
            return replaced(done, outcome=PLANNED, is_first=is_first)
        scopes = {SCOPES: sorted(caller.scopes or ())}
        log = InjectionLog(self._memory.state())
        entry = InjectionEntry(log, repository.common_dir if repository else "")
        excerpts = planned.choice.excerpts
        with self._lock(root, repository):
            sweep_written(root, repository, target.file)
            if file and not may_hold_section(root, file, repository):
                return replaced(done, outcome=NOTHING, file="")
            if planned.body:
                entry.begin({**record_of(done, self._now_iso()), **scopes})
                if attempts < _ATTEMPTS and not quotes_hold(self._memory, planned):
                    entry.cancel(root)
                    return None
            try:
                # Another process may have installed it while this one searched.
                had_guard = guard is None or guard.look_again().exists()
                if repository is not None:
                    texts = self.active_texts()
                    remember_words(repository, self.notes, excerpts, texts)
                done = place_section(done, target, repository, guard)
                is_first = not had_guard and done.outcome in WITH_SECTION
                done = replaced(done, is_first=is_first)
            except HivemindError:
                entry.fail(record_of(done, self._now_iso()))
                raise
            entry.finish({**record_of(done, self._now_iso()), **scopes})
        return done

    @property
    def notes(self) -> str:
        """The folder of the notes that are injected."""
        return self._memory.places.notes

    def root_of(self, worktree: str) -> str:
        """Return the worktree around a folder.

        Raises:
            GitError: Git cannot be used there.
            UsageError: The folder does not exist.
        """
        return self._find(worktree)[0]

    def repository_of(self, worktree: str) -> Repository | None:
        """Return the repository around a folder; raises as ``root_of`` does."""
        return self._find(worktree)[1]

    def caller_in(self, worktree: str, *, is_look: bool = False) -> Caller:
        """Return what the agents of a worktree may see; to look registers no project.

        Raises:
            HivemindError: It is no folder, or it is not known whose it is.
        """
        return self._caller_of(project_state(*self._find(worktree)), is_look)

    def target_of(self, worktree: str, agent: str) -> tuple[str, str]:
        """Return a worktree and the file that an agent reads; raises as ``root_of``."""
        root, _ = self._looked_at[worktree] = self._find(worktree)
        return root, target_in(root, agent, self._memory.settings.inject_target).file

    def eject(self, worktree: str) -> EjectionResult:
        """Restore every file byte for byte, and git's settings.

        The settings stay while another worktree of the repository has a section.

        Raises:
            NotInjectedError: The worktree cannot be used.
            GitError: Git cannot be used there.
            UsageError: The folder does not exist.
        """
        root, repository = self._find(worktree)
        files, warnings = [], []
        with self._lock(root, repository):
            sweep_written(root, repository)
            for file in self._files(root, repository):
                try:
                    placed = erase_section(root, file, repository)
                except NotInjectedError as error:
                    if may_hold_marks(root, file):
                        warnings.append(f"{file} was left unchanged: {error}")
                    continue
                if placed is None:
                    warnings += correct_git_status(root, file, repository)
                else:
                    files.append(placed.file)
                    warnings += placed.warnings
            from hivemind_memory.inject.leftovers import restore_git

            is_restored, leftovers = restore_git(repository, self._files)
        return EjectionResult(
            worktree=root,
            files=tuple(files),
            is_git_restored=is_restored,
            leftovers=leftovers,
            warnings=tuple(warnings),
        )

    def worktrees(self) -> list[str]:
        """Return the worktrees that were injected into and are still there.

        Raises:
            StateUnusableError: The injection log cannot be read.
        """
        records = InjectionLog(self._memory.state()).records()
        known = dict.fromkeys(str(record.get("worktree", "")) for record in records)
        return [worktree for worktree in known if os.path.isdir(worktree)]

    def switch(self, worktree: str, *, is_on: bool) -> EjectionResult | None:
        """Switch injection on or off for a repository; off removes the section.

        Raises:
            NotInjectedError: The folder is not in a git repository.
            GitError: Git cannot be used there.
        """
        root, repository = self._find(worktree)
        if repository is None:
            why = f"{root} is not in a git repository, so there is nothing to switch"
            raise NotInjectedError(why, hint="Run this in a git repository.")
        with self._lock(root, repository):
            GitSettings(repository).switch(is_on=is_on)
        return None if is_on else self.eject(root)

    def doubt_about(self, worktree: str) -> str:
        """Return why a person may not want a section in a folder; empty if they may.

        Where a section is already, they wanted it.

        Raises:
            GitError: Git cannot be used there.
            StateUnusableError: The injection log cannot be read.
            UsageError: The folder does not exist.
        """
        root, repository = self._looked_at[worktree] = self._find(worktree)
        home = self._environ.get("HOME", "")
        if home and root == os.path.realpath(home):
            doubt = "is your home folder, and agents read it in every folder below"
        elif repository is None:
            doubt = "is not in a git repository"
        else:
            return ""
        is_wanted = any(
            record.get("worktree") == root
            and record["outcome"] in WITH_SECTION
            and self._is_there(record, root, repository)
            for record in InjectionLog(self._memory.state()).records()
        )
        return "" if is_wanted else f"{root} {doubt}"

    def locked(self, worktree: str) -> AbstractContextManager[None]:
        """Be the only process that injects there; raises as ``root_of`` does."""
        return self._lock(*self._find(worktree))

    def sweep(self, worktree: str) -> None:
        """Delete the temporary files that a killed injection left behind.

        Raises:
            NotInjectedError: Another process is injecting there.
            GitError: Git cannot be used there.
        """
        root, repository = self._find(worktree)
        with self._lock(root, repository):  # so no other process is writing one now
            sweep_written(root, repository)

    def why(self, worktree: str) -> dict[str, Any] | None:
        """Return the newest record about a worktree, or None.

        What was injected for a caller that sees more than the one that asks is treated
        as missing: figures and reasons would tell of memories that it may not see. Its
        ``others`` are the records about files that other agents read.
        """
        root, repository = self._find(worktree)
        records = readable_records(
            InjectionLog(self._memory.state()),
            root,
            self._memory.caller,
            lambda record: self._is_there(record, root, repository),
        )
        return {**records[0], "others": records[1:]} if records else None

    def _is_there(
        self, record: dict[str, Any], root: str, repository: Repository | None
    ) -> bool:
        """Return whether the section of a record is still in its file.

        A section that was printed for an agent is in no file, and counts as there.
        """
        file = record["file"]
        if record["outcome"] not in WITH_SECTION | {BEGUN} or not file:
            return bool(record["memories"])
        return may_hold_section(root, file, repository)

    def _find(self, worktree: str) -> tuple[str, Repository | None]:
        """Return the worktree around a folder, and its repository."""
        if found := self._looked_at.pop(worktree, None):
            return found
        folder = os.path.realpath(os.path.expanduser(worktree))
        if not os.path.isdir(folder):
            raise no_folder(worktree)
        repository = find_repository(folder, self._environ, explicit=self._explicit_git)
        return (folder, None) if repository is None else (repository.top, repository)

    def _lock(
        self, root: str, repository: Repository | None
    ) -> AbstractContextManager[None]:
        """Be the only process that injects into a repository."""
        return self.lock_of(root if repository is None else repository.common_dir)

    def lock_of(self, subject: str) -> AbstractContextManager[None]:
        """Be the only process that injects into a folder or below a git folder."""
        return exclusive(
            worktree_lock(self._memory.places.locks, subject),
            wait_s=_LOCK_TIMEOUT_S,
            refused=lambda why, hint: NotInjectedError(why, hint=hint),
        )

    def _files(self, root: str, repository: Repository | None) -> list[str]:
        """Return every file of a worktree that may hold a section."""
        named = []
        if repository is not None:
            copies = section_copies(replaced(repository, top=root))
            named = [*GitSettings(repository).files(), *copies]
        own = choose_target("", self._memory.settings.inject_target, lambda _: True)
        return list(dict.fromkeys((*KNOWN_FILES, own.file, *named)))

    def active_texts(self) -> ActiveTexts:
        """Return what notes say today."""
        return texts_today(self._memory)
