"""Removes memories from past injections: from sections and from the injection log.

The injection log contains no text, but it contains the paths of memories, and those are
made from keys, so they are replaced by hashes.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.marked_section import SECTION_MARKS
from hivemind_memory.inject.commit_guard import files_with, section_copies
from hivemind_memory.model.ports import INDEX, WORKTREE
from hivemind_memory.state.injection_log import MEMORY_LISTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.state.injection_log import InjectionLog


class InjectionTraces:
    """The injection log and the sections it lists; implements ``InjectionRecords``."""

    def __init__(self, log: InjectionLog, injector: Injector) -> None:
        self._log = log
        self._injector = injector
        self._agents: dict[str, dict[str, None]] = {}
        self._files: dict[str, dict[str, None]] = {}

    def count_quoting(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return worktree -> how many of its records name the notes."""
        quoting: dict[str, int] = {}
        for record in self._log.records():
            worktree = str(record.get("worktree", ""))
            agents = self._agents.setdefault(worktree, {})
            agents[str(record.get("agent", ""))] = None
            files = self._files.setdefault(worktree, {})
            files[str(record.get("file", ""))] = None
            if any(listed.get("path") in paths for listed in _memory_records(record)):
                quoting[worktree] = quoting.get(worktree, 0) + 1
        return quoting

    def is_within(self, worktree: str, scopes: frozenset[str]) -> bool:
        """Return whether the agents of a worktree see none but some scopes."""
        try:
            seen = self._injector.caller_in(worktree).scopes
        except (HivemindError, OSError):
            return False  # it is gone, or it is not known whose it is
        return seen is not None and seen <= scopes

    def refresh_section(self, worktree: str) -> str:
        """Rewrite a worktree's sections, one for each agent that was started there.

        Returns:
            Why that failed; empty if it did not.
        """
        problems = []
        for agent in self._agents.get(worktree) or {"": None}:
            try:
                done = self._injector.inject(worktree, agent=agent)
                if done.outcome == "off":
                    self._injector.eject(worktree)
            except (HivemindError, OSError) as error:
                problems.append(str(error))
        with suppress(OSError, HivemindError):
            self._injector.sweep(worktree)
        return "; ".join(dict.fromkeys(problems))

    def find_copies(
        self, worktree: str, texts: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return place -> files in a worktree and in its index that hold the text."""
        try:
            repository = self._injector.repository_of(worktree)
            if repository is None:
                return {}
            return {
                WORKTREE: {
                    *files_with(repository, texts, "--untracked"),
                    *(set(section_copies(repository)) - self._files[worktree].keys()),
                },
                INDEX: {
                    *files_with(repository, texts, "--cached"),
                    *files_with(repository, [SECTION_MARKS.begin.decode()], "--cached"),
                },
            }
        except (HivemindError, OSError):
            return {}

    def rename(self, names: Mapping[str, str], *, kept: Collection[str] = ()) -> int:
        """Rename notes in the records, but not of *kept* worktrees; return how many."""
        return self._log.rewrite(
            lambda record: (
                record if record.get("worktree") in kept else renamed(record, names)
            )
        )


def renamed(record: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record in which notes have other names, and their keys as well."""
    changed = dict(record)
    for kind in MEMORY_LISTS:
        listed = record.get(kind)
        if isinstance(listed, list):
            changed[kind] = [
                {
                    key: f"forgotten-{names[memory['path']]}"
                    if key in ("path", "key")
                    else value
                    for key, value in memory.items()
                }
                if isinstance(memory, dict) and memory.get("path") in names
                else memory
                for memory in listed
            ]
    return changed


def _memory_records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each memory of a record."""
    for kind in MEMORY_LISTS:
        listed = record.get(kind)
        for memory in listed if isinstance(listed, list) else ():
            if isinstance(memory, dict):
                yield memory
