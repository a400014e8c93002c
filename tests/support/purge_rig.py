"""A memory to forget and purge in, and its raw bytes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.access.scope_names import scope_named
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.curation.forget import forget, restore
from hivemind_memory.curation.purge import purge
from hivemind_memory.curation.save import save
from hivemind_memory.curation.worktrees import SkillSurroundings, Worktrees
from hivemind_memory.index.sqlite.vector_blocks import quantize
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import (
    ForgetResult,
    MemorySelector,
    NewMemory,
    PurgeResult,
    RestoreResult,
    SaveResult,
)
from hivemind_memory.model.ports import InjectionRecords
from hivemind_memory.state.state_file import StateFile
from tests.support.sandbox import Sandbox, ask, paths

_WORD = re.compile(r"\w{9,}")


@dataclass
class Bench:
    """A home, a memory in it, and short names for what a caller does."""

    sandbox: Sandbox
    memory: Memory
    injected: InjectionRecords | None = None
    state: StateFile = field(init=False)

    def __post_init__(self) -> None:
        self.state = StateFile(self.sandbox.places.state_file)

    def context(self, caller: Caller = OWNER) -> CurationContext:
        return CurationContext(
            places=self.sandbox.places,
            folder=self.memory.folder,
            clocks=self.memory.clocks,
            caller=caller,
            chunking=self.memory.chunking,
            index=self.memory.index_handle,
            find_scope=lambda name: scope_named(caller, name) if name else "",
            state=lambda: self.state,
            find_worktrees=self._worktrees,
        )

    def _worktrees(self) -> Worktrees | None:
        if self.injected is None:
            return None

        def surroundings() -> SkillSurroundings:
            raise NotImplementedError

        return Worktrees(injected=self.injected, around=surroundings)

    def save(self, key: str, content: str, **more: object) -> SaveResult:
        return save(self.context(), NewMemory(key=key, content=content, **more))  # type: ignore[arg-type]

    def forget(
        self, name: str = "", caller: Caller = OWNER, **selector: str
    ) -> ForgetResult:
        return forget(self.context(caller), MemorySelector(name=name, **selector))

    def restore(
        self, name: str = "", caller: Caller = OWNER, **selector: str
    ) -> RestoreResult:
        return restore(self.context(caller), MemorySelector(name=name, **selector))

    def purge(
        self,
        name: str = "",
        caller: Caller = OWNER,
        *,
        is_dry_run: bool = False,
        is_forced: bool = False,
        **selector: str,
    ) -> PurgeResult:
        return purge(
            self.context(caller),
            MemorySelector(name=name, **selector),
            is_dry_run=is_dry_run,
            is_forced=is_forced,
        )

    def found(self, question: str) -> list[str]:
        """Return the notes that a search finds."""
        return paths(ask(self.memory, question))

    def read(self, path: str) -> str:
        return (self.sandbox.notes / path).read_text()

    def there(self) -> list[str]:
        """Return the names of all notes."""
        notes = self.sandbox.notes
        return sorted(one.relative_to(notes).as_posix() for one in notes.rglob("*.md"))


def stems_of(text: str) -> set[str]:
    """Return what the full-text index makes of a text's longer words."""
    connection = apsw.Connection(":memory:")
    tokenize = connection.fts5_tokenizer("porter", ["unicode61"])
    tokens = tokenize(
        text.encode(),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return {str(token) for token in tokens if len(str(token)) >= 8}


@dataclass
class Vectors:
    """The vectors of some chunks, in the forms in which the index stores them."""

    whole: set[bytes] = field(default_factory=set)
    """As float32."""

    halves: set[bytes] = field(default_factory=set)
    """Those as int8 in two parts: the page of a database may end within one."""

    in_blocks: set[bytes] = field(default_factory=set)
    """Halves of those that are in a block now; the last ones that came are in none."""


def vectors_of(index: Path, words: Collection[str]) -> Vectors:
    """Return the vectors of the chunks that hold a word."""
    sql = """
    SELECT embedding, slot FROM chunks_vec
    JOIN embedding_cache ON embedding_cache.id = vector_id
    JOIN chunks ON chunks.id = chunk_id WHERE instr(chunks.text, ?)
    """
    connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(10_000)
    found = Vectors()
    for word in words:
        for vector, slot in connection.execute(sql, (word,)):
            found.whole.add(bytes(vector))
            code = quantize(bytes(vector), len(vector) // 4)
            halves = {code[: len(code) // 2], code[len(code) // 2 :]}
            found.halves |= halves
            if slot is not None:
                found.in_blocks |= halves
    connection.close()
    return found


def traces(
    home: Path, words: Collection[str], index: Path, vectors: Collection[bytes] = ()
) -> list[str]:
    """Return the places below *home* that still hold a word, in any form, or a vector.

    Words as written, in either case and as a stem, in UTF-8 and UTF-16, in the raw
    bytes of every file; and the end of a stem alone, for postings are stored without
    the beginning that they share with the one before.

    A process of its own looks: whoever closes a database file that it has read loses
    the locks that its own connections hold on it.
    """
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        told = "error: the search for traces ended early"
        try:
            found = [
                *_in_raw_bytes(home, words, vectors),
                *_in_vocabulary(index, words),
            ]
            told = json.dumps(found)
        except BaseException as error:  # noqa: BLE001 - the parent is to hear of all
            told = f"error: {error!r}"
        finally:
            with os.fdopen(send, "w") as pipe:
                pipe.write(told)
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    assert not told.startswith("error"), told
    return list(json.loads(told))


def _in_raw_bytes(
    home: Path, words: Collection[str], vectors: Collection[bytes]
) -> list[str]:
    """Return the files that hold a form of a word, or a vector."""
    forms = set(vectors)
    for word in words:
        for form in {word, word.lower(), word.upper(), *stems_of(word)}:
            for part in {form, form[len(form) // 3 :]}:
                forms |= {part.encode(), part.encode("utf-16-le")}
    found = []
    for file in files_below(home):
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            continue  # another process has removed it meanwhile
        found += [f"{file}: {form!r}" for form in sorted(forms) if form in data]
    return found


def _in_vocabulary(index: Path, words: Collection[str]) -> list[str]:
    """Return the stems of words that the full-text index has."""
    connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(10_000)
    tokens = {
        str(term) for (term,) in connection.execute("SELECT term FROM vocabulary")
    }
    connection.close()
    stems = {stem for word in words for stem in stems_of(word)}
    return [f"vocabulary: {stem}" for stem in sorted(stems & tokens)]


def files_below(home: Path) -> Iterator[Path]:
    """Yield every file."""
    for parent, _, names in os.walk(home):
        for name in names:
            yield Path(parent) / name


def words_of(text: str) -> set[str]:
    """Return the words of a text that occur nowhere by chance."""
    return set(_WORD.findall(text))
