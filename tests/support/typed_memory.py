"""A curation context over a test home, with an index that reads the files."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.access.scope_names import scope_named
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.curation.lookup import parse_memory
from hivemind_memory.curation.save import save
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.memory.index_fallback import open_index
from hivemind_memory.memory.note_indexer import ChunkSettings
from hivemind_memory.memory.sync import Syncer
from hivemind_memory.model.clocks import Clocks
from hivemind_memory.model.curation import NewMemory, SaveResult, StoredMemory
from hivemind_memory.model.memories import ACTIVE, FORGOTTEN, EdgeRow, MemoryRow
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.ports import MemoryIndex
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.state.state_file import StateFile
from tests.support.sandbox import Sandbox, utc_clocks

START_S = 1_795_255_391.0


@dataclass
class Ticking:
    """A clock that advances by a second with each call."""

    now_s: float = START_S

    def now(self) -> float:
        self.now_s += 1
        return self.now_s

    def clocks(self) -> Clocks:
        return utc_clocks(self.now, time.perf_counter)


@dataclass
class ScannedIndex:
    """An index that reads every note for each answer."""

    notes: Path
    kept: list[MemoryRow] | None = None
    """Rows of a moment; None: read them each time."""

    def frozen(self) -> ScannedIndex:
        """Return a copy that reads the disk no more."""
        return ScannedIndex(self.notes, self._rows())

    def has_strong_edges(self) -> bool:
        """Return False: it reads no links."""
        return False

    def memories(
        self,
        *,
        key: str | None = None,
        memory_id: str | None = None,
        path: str | None = None,
        scopes: frozenset[str] | None = None,
        statuses: Collection[int] | None = None,
    ) -> list[MemoryRow]:
        return [
            row
            for row in self._rows()
            if (key is None or row.key == key)
            and (memory_id is None or row.memory_id == memory_id)
            and (path is None or row.path == path)
            and (scopes is None or row.scope in scopes)
            and (statuses is None or row.status in statuses)
        ]

    def resolve_ref(
        self, target: str, *, scopes: frozenset[str] | None, near: str = ""
    ) -> MemoryRow | None:
        rows = [row for row in self._rows() if row.status != FORGOTTEN]
        rows = [row for row in rows if scopes is None or row.scope in scopes]
        for name in ("memory_id", "key", "path"):
            found = [row for row in rows if getattr(row, name) == target]
            if found:
                return min(
                    found, key=lambda row: (row.status, row.scope != near, row.path)
                )
        return None

    def edges_of(self, path: str, *, scopes: frozenset[str] | None) -> list[EdgeRow]:
        found = []
        for file in sorted(self.notes.rglob("*.md")):
            own = file.relative_to(self.notes).as_posix()
            if scopes is not None and scope_of(own) not in scopes:
                continue
            front = split_front_matter(decode(file.read_bytes())).values
            header = header_of(own, front)
            for kind, target, weight in header.edges:
                end = self.resolve_ref(target, scopes=scopes, near=scope_of(own))
                ends = (end.path, end.memory_id) if end else ("", target)
                if path in (own, ends[0]):
                    found.append(EdgeRow(kind, weight, own, header.memory_id, *ends))
        return found

    def entry_path(self, entry_id: str, scopes: frozenset[str] | None) -> str:
        for file in sorted(self.notes.rglob("*.md")):
            path = file.relative_to(self.notes).as_posix()
            is_seen = scopes is None or scope_of(path) in scopes
            if is_seen and f"hm id={entry_id} " in file.read_text(errors="replace"):
                return path
        return ""

    def scopes_with(self, own_id: str) -> set[str]:
        found = {row.scope for row in self._rows() if row.memory_id == own_id}
        for file in self.notes.rglob("*.md"):
            if f"hm id={own_id} " in file.read_text(errors="replace"):
                found.add(scope_of(file.relative_to(self.notes).as_posix()))
        return found

    def _rows(self) -> list[MemoryRow]:
        if self.kept is not None:
            return self.kept
        rows = []
        for file in self.notes.rglob("*.md"):
            path = file.relative_to(self.notes).as_posix()
            said = header_of(path, split_front_matter(decode(file.read_bytes())).values)
            rows.append(
                MemoryRow(
                    path,
                    scope_of(path),
                    said.memory_id,
                    said.type,
                    said.key,
                    said.status,
                    said.importance or 0.5,
                    said.created,
                    said.source,
                    said.session,
                    said.is_pinned,
                    said.expires_day,
                    said.done_day,
                )
            )
        return sorted(rows, key=lambda row: (row.created, row.path), reverse=True)


@dataclass
class ShelfHandle:
    """The handle of an index that needs no opening."""

    fresh: Callable[..., MemoryIndex]
    lock: RLock = field(default_factory=RLock)
    left: tuple[str, ...] = ()
    kept_replaced: tuple[object, object] | None = None

    def index_named(self, _: str) -> None:
        pass

    def known(self, *, is_lookup: bool) -> tuple[MemoryIndex, str]:
        """Return the index, which is never behind."""
        return self.fresh(is_lookup=is_lookup), ""

    def run_whole(self, _: object) -> None:
        pass

    def index_note(self, _: str) -> bool:
        return True


@dataclass
class Shelf:
    """Typed memories in a home, with short ways to save and read them."""

    home: Path
    caller: Caller = OWNER
    clock: Ticking = field(default_factory=Ticking)
    is_scanned: bool = True
    """The files answer, not the real index."""

    def __post_init__(self) -> None:
        self.sandbox = Sandbox(self.home)
        self.notes = self.sandbox.notes
        self._look: Callable[[], MemoryIndex] | None = None

    def context(self, **changes: object) -> CurationContext:
        places = self.sandbox.places
        parts = {
            "places": places,
            "folder": NotesFolder(str(self.notes)),
            "clocks": self.clock.clocks(),
            "caller": self.caller,
            "chunking": ChunkSettings(limit_chars=800, overlap_chars=0),
            "index": ShelfHandle(self.look),
            "find_scope": lambda name: scope_named(self.caller, name) if name else "",
            "state": lambda: StateFile(places.state_file),
            **changes,
        }
        return CurationContext(**parts)  # type: ignore[arg-type]

    def look(self, **_: bool) -> MemoryIndex:
        if self.is_scanned:
            return ScannedIndex(self.notes)
        if self._look is None:
            self._look = self._open()
        return self._look()

    def save(
        self, key: str, content: str, reason: str = "", **more: object
    ) -> SaveResult:
        changes = {name: more.pop(name) for name in ("near",) if name in more}
        wanted = NewMemory(key=key, content=content, reason=reason, **more)  # type: ignore[arg-type]
        return save(self.context(), wanted, **changes)  # type: ignore[arg-type]

    def put(self, path: str, text: str | bytes) -> Path:
        """Save a note as a person does."""
        return self.sandbox.save(path, text)

    def text(self, path: str) -> str:
        return (self.notes / path).read_text(encoding="utf-8")

    def said(self, path: str) -> StoredMemory:
        return parse_memory(NotePath(path), self.text(path), self.context())

    def values(self, path: str) -> dict[str, object]:
        return dict(split_front_matter(self.text(path)).values)

    def files(self) -> list[str]:
        found = (file.relative_to(self.notes) for file in self.notes.rglob("*.md"))
        return sorted(file.as_posix() for file in found)

    def tree(self) -> dict[str, bytes | None]:
        """Every file below the notes with its bytes, every folder with None."""
        return {
            path.relative_to(self.notes).as_posix(): (
                path.read_bytes() if path.is_file() else None
            )
            for path in sorted(self.notes.rglob("*"))
            if ".index" not in path.parts
        }

    def active(self, key: str) -> list[str]:
        rows = ScannedIndex(self.notes).memories(key=key, statuses=(ACTIVE,))
        return sorted(row.path for row in rows)

    def _open(self) -> Callable[[], MemoryIndex]:
        places, clocks = self.sandbox.places, self.clock.clocks()
        chunking = ChunkSettings(limit_chars=800, overlap_chars=0)
        folder = NotesFolder(places.notes)
        syncer = Syncer(folder, places.journal, chunking, time.time)
        opened = open_index(places, time.time)
        freshness_check = FreshnessCheck(
            syncer, places, clocks.stopwatch, index_rest=lambda: None
        )

        def look() -> MemoryIndex:
            assert not freshness_check.ensure_fresh(opened.index).stale
            return opened.index

        return look
