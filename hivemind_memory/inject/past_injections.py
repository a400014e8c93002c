"""Removes memories from past injections: from sections and from the injection log.

The injection log contains no text, but it contains the paths of memories, and those are
made from keys, so they are replaced by hashes. Earlier versions kept the subjects of
commits and the names of branches and files, so these go, too.
"""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import remove_free_partial_files
from hivemind_memory.files.marked_section import SECTION_MARKS
from hivemind_memory.inject.agent_files import CLAUDE_FILES
from hivemind_memory.inject.commit_guard import files_with, section_copies
from hivemind_memory.inject.injection_record import GIT_FOLDER, without_text
from hivemind_memory.inject.section_file import (
    erase_section,
    may_hold_section,
    without_section,
)
from hivemind_memory.inject.word_file import count_words, prune_words, words_file
from hivemind_memory.inject.worktree_file import git_folders_written
from hivemind_memory.model.injection_outcomes import OFF
from hivemind_memory.model.ports import INDEX, WORKTREE
from hivemind_memory.state.injection_log import MEMORY_LISTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from hivemind_memory.git.repository import Repository
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.state.injection_log import InjectionLog

_IGNORED_TOO = "--no-exclude-standard"


class InjectionTraces:
    """The injection log and the sections it lists; implements ``InjectionRecords``."""

    def __init__(self, log: InjectionLog, injector: Injector) -> None:
        self._log = log
        self._injector = injector
        self._agents: dict[str, dict[str, set[str]]] = {}
        """Worktree -> agent -> the files into which its sections went."""

    def count_quoting(
        self, paths: Collection[str], ids: Collection[str] = ()
    ) -> Mapping[str, int]:
        """Return worktree -> how many of its records name the notes, or the ids.

        A record has the path that a note had then; it may have moved since.
        """
        quoting: dict[str, int] = {}
        for record in self._log.records():
            worktree = str(record.get("worktree", ""))
            agents = self._agents.setdefault(worktree, {})
            files = agents.setdefault(str(record.get("agent", "")), set())
            files.add(str(record.get("file", "")))
            if any(
                listed.get("path") in paths or listed.get("id") in ids
                for listed in _memory_records(record)
            ):
                quoting[worktree] = quoting.get(worktree, 0) + 1
        return quoting

    def is_within(self, worktree: str, scopes: frozenset[str]) -> bool:
        """Return whether the agents of a worktree see none but some scopes."""
        try:
            seen = self._injector.caller_in(worktree, is_look=True).scopes
        except (HivemindError, OSError):
            return False  # it is gone, or it is not known whose it is
        return seen is not None and seen <= scopes

    def refresh_section(self, worktree: str) -> str:
        """Rewrite the sections that a worktree still has.

        One that is gone stays gone, whether by ``hm eject``, a person or git. One that
        was written since then with the notes of another folder stays as it is.

        Returns:
            Why that failed; empty if it did not.
        """
        problems = []
        others = self._log.files_of_others(worktree, counts_begun=True)
        for agent, files in self._agents.get(worktree, {}).items():
            # One of Claude Code's files may stand in for another.
            own = set() if files.isdisjoint(CLAUDE_FILES) else {*CLAUDE_FILES}
            for file in sorted((files | own) - {""} - others):
                try:
                    self._refresh(worktree, agent, file)
                except (HivemindError, OSError) as error:
                    problems.append(str(error))
        with suppress(OSError, HivemindError):
            self._injector.sweep(worktree)
        return "; ".join(dict.fromkeys(problems))

    def _refresh(self, worktree: str, agent: str, file: str) -> None:
        """Rewrite the section of a file, if it has one.

        Raises:
            HivemindError: It has one still, as it was.
        """
        root = self._injector.root_of(worktree)
        repository = self._injector.repository_of(worktree)
        if not may_hold_section(root, file, repository):
            return
        if self._injector.refresh(worktree, agent, file).outcome == OFF:
            self._injector.eject(worktree)

    def git_folders(self) -> Mapping[str, Collection[str]]:
        """Return folder of git -> the worktrees that were injected into."""
        found: dict[str, set[str]] = {}
        named = {
            (str(record.get("worktree", "")), str(record.get(GIT_FOLDER) or ""))
            for record in self._log.records()
        }
        for worktree, folder in named:
            git_folder = folder
            if not git_folder and os.path.isdir(worktree):
                with suppress(HivemindError, OSError):  # of an earlier version
                    repository = self._injector.repository_of(worktree)
                    git_folder = repository.common_dir if repository else ""
            if git_folder and os.path.isdir(git_folder):
                found.setdefault(git_folder, set()).add(worktree)
        return found

    def count_hashed(
        self, git_folder: str, paths: Collection[str], texts: Collection[str]
    ) -> int:
        """Return of how many memories of some notes hashes are kept."""
        try:
            return count_words(git_folder, self._injector.notes, paths, texts)
        except OSError:
            return 0  # removing them says why

    def prune_hashed(self, git_folder: str) -> str:
        """Remove the hashes of what no note says now; return why that failed."""
        try:
            with self._injector.lock_of(git_folder):
                remove_free_partial_files(git_folders_written(git_folder))
                if not os.path.exists(words_file(git_folder)):
                    return ""
                prune_words(git_folder, self._injector.active_texts())
        except (HivemindError, OSError) as error:
            return str(error)
        return ""

    def count_copies(self, worktree: str) -> int:
        """Return how many copies of a section ``erase_copies`` would remove."""
        try:
            repository = self._injector.repository_of(worktree)
            return len(self._copies(worktree, repository)) if repository else 0
        except (HivemindError, OSError):
            return 0

    def erase_copies(self, worktree: str) -> tuple[int, Mapping[str, str]]:
        """Remove the copies of a section from a worktree, between our marks only.

        Returns:
            How many files were changed, and file -> why it could not be.
        """
        erased, failed = 0, dict[str, str]()
        try:
            repository = self._injector.repository_of(worktree)
            copies = self._copies(worktree, repository) if repository else ()
            if repository is None or not copies:
                return 0, {}
            with self._injector.locked(worktree):
                for file in copies:
                    try:
                        done = erase_section(repository.top, file, repository)
                    except (HivemindError, OSError) as error:
                        failed[os.path.join(worktree, *file.split("/"))] = str(error)
                    else:
                        erased += done is not None
        except (HivemindError, OSError) as error:
            failed[worktree] = str(error)
        return erased, failed

    def find_copies(
        self, worktree: str, texts: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return place -> files in a worktree and in its index that hold the text.

        A section that can be removed or written again does not count: so a purge and
        its dry run find the same.
        """
        try:
            repository = self._injector.repository_of(worktree)
            if repository is None:
                return {}
            sections = section_copies(repository, _IGNORED_TOO)
            held = {*files_with(repository, texts, "--untracked", _IGNORED_TOO)}
            return {
                WORKTREE: {
                    file
                    for file in held.union(sections)
                    if _is_left(repository, file, texts, sections)
                },
                INDEX: {
                    *files_with(repository, texts, "--cached"),
                    *files_with(repository, [SECTION_MARKS.begin.decode()], "--cached"),
                },
            }
        except (HivemindError, OSError):
            return {}

    def _copies(self, worktree: str, repository: Repository) -> list[str]:
        """Return the files with a section that can be removed and is no agent's."""
        own = self._log.files_of_others(worktree, counts_begun=True)
        own = own.union(*self._agents.get(worktree, {}).values())
        return [
            file
            for file in section_copies(repository, _IGNORED_TOO)
            if file not in own
            and without_section(repository.top, file, repository) is not None
        ]

    def rename(
        self,
        names: Mapping[str, str],
        *,
        ids: Collection[str] = (),
        kept: Collection[str] = (),
    ) -> int:
        """Rename notes in the records, but not of *kept* worktrees; return how many.

        The *ids* go from them, and the text of what was searched for from all records.
        """

        def changed(record: dict[str, Any]) -> dict[str, Any]:
            cleaned = without_text(record)
            if record.get("worktree") in kept:
                return cleaned
            return renamed(cleaned, names, ids)

        return self._log.rewrite(changed)


def _is_left(
    repository: Repository,
    file: str,
    texts: Collection[str],
    sections: Collection[str],
) -> bool:
    """Return whether a file holds a text, or a section, that no purge removes."""
    if file not in sections:
        return True
    rest = without_section(repository.top, file, repository)
    return rest is None or any(text.encode() in rest for text in texts)


def renamed(
    record: dict[str, Any], names: Mapping[str, str], ids: Collection[str] = ()
) -> dict[str, Any]:
    """Return a record in which notes have other names, and their keys as well.

    What has one of some *ids* has none in it.
    """
    changed = dict(record)
    for kind in MEMORY_LISTS:
        listed = record.get(kind)
        if isinstance(listed, list):
            changed[kind] = [
                _renamed_memory(memory, names, ids)
                if isinstance(memory, dict)
                else memory
                for memory in listed
            ]
    return changed


def _renamed_memory(
    memory: dict[str, Any], names: Mapping[str, str], ids: Collection[str]
) -> dict[str, Any]:
    """Return a memory of a record, renamed; see ``renamed``."""
    changed = dict(memory)
    if memory.get("path") in names:
        name = f"forgotten-{names[memory['path']]}"
        changed |= {key: name for key in ("path", "key") if key in memory}
    if memory.get("id") in ids:
        changed["id"] = ""
    return changed


def _memory_records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each memory of a record."""
    for kind in MEMORY_LISTS:
        listed = record.get(kind)
        for memory in listed if isinstance(listed, list) else ():
            if isinstance(memory, dict):
                yield memory
