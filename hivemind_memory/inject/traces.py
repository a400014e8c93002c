"""What a purge must reach of injection: sections that show a memory, and the log.

The injection log contains no text, but it contains the paths of memories, and those are
made from keys. They are overwritten in place with the same length, because a launch may
append at the same time.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files import descriptors
from hivemind_memory.state.injection_log import INJECTION_LOG_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from hivemind_memory.inject.injector import Injector


_KINDS = ("memories", "left_out")
_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class InjectionTraces:
    """The injection log and the sections it lists; implements ``InjectionRecords``."""

    def __init__(self, home: str, injector: Injector) -> None:
        self._home = home
        self._injector = injector
        self._agents: dict[str, dict[str, None]] = {}

    def count_quoting(self, paths: Collection[str]) -> tuple[int, tuple[str, ...]]:
        """Return how many records name the notes, and for which worktrees."""
        count = 0
        quoting: dict[str, None] = {}
        for record in self._records():
            worktree = str(record.get("worktree", ""))
            agents = self._agents.setdefault(worktree, {})
            agents[str(record.get("agent", ""))] = None
            if not any(
                listed.get("path") in paths for listed in _memory_records(record)
            ):
                continue
            count += 1
            if os.path.isdir(worktree):
                quoting[worktree] = None
        return count, tuple(quoting)

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

    def rename(self, names: Mapping[str, str]) -> int:
        """Rename notes in the records; return how many records changed."""
        return sum(_rename_in(path, names) for path in self._files())

    def _records(self) -> Iterator[dict[str, Any]]:
        """Yield every record, oldest first."""
        for path in self._files():
            with open(path, "rb") as lines:
                for line in lines:
                    record = _parsed(line)
                    if record is not None:
                        yield record

    def _files(self) -> list[str]:
        """Return the files of the injection log that exist."""
        path = os.path.join(self._home, INJECTION_LOG_FILE)
        return [one for one in (f"{path}.old", path) if os.path.isfile(one)]


def renamed(record: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with notes renamed, each name as long as before in JSON."""
    changed = dict(record)
    for kind in _KINDS:
        listed = record.get(kind)
        if isinstance(listed, list):
            changed[kind] = [
                {
                    key: _filler(value, names[one["path"]])
                    if key in ("path", "key") and isinstance(value, str)
                    else value
                    for key, value in one.items()
                }
                if isinstance(one, dict) and one.get("path") in names
                else one
                for one in listed
            ]
    return changed


def _rename_in(path: str, names: Mapping[str, str]) -> int:
    """Rename notes in one file of the log, in place; return the records changed."""
    try:
        fd = os.open(path, _FLAGS)
    except FileNotFoundError:
        return 0  # a launch has just rotated the log
    count = 0
    try:
        data = descriptors.read_at(fd, 0, os.fstat(fd).st_size)
        at = 0
        for line in data.splitlines(keepends=True):
            record = _parsed(line)
            if record is not None and line.endswith(b"\n"):
                new = _as_line(renamed(record, names))
                if new != line and len(new) == len(line):
                    os.lseek(fd, at, os.SEEK_SET)
                    descriptors.write_all(fd, new)
                    count += 1
            at += len(line)
        descriptors.sync_file(fd)
    finally:
        os.close(fd)
    return count


def _filler(value: str, name: str) -> str:
    """Return as many plain characters as a value takes in JSON."""
    size = len(json.dumps(value)) - 2
    return f"forgotten-{name}"[:size].ljust(size, "-")


def _as_line(record: dict[str, Any]) -> bytes:
    """Return a record as ``injection_log.append`` writes it."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the record in a line; None if the line is torn."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _memory_records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each memory of a record."""
    for kind in _KINDS:
        listed = record.get(kind)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict):
                yield one
