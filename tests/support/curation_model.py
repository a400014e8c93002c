"""Random histories of curated memories, compared with the smallest possible model.

The model knows files: what each says, its status, what it replaced. Which name a new
file gets is up to the memory; everything else is predicted.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from hivemind_memory.access.rules import OWNER, Caller, may_read, may_write
from hivemind_memory.curation.learn import claim_key
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    NotSavedError,
)
from hivemind_memory.files.paths import path_in_scope
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import (
    ForgetResult,
    MemorySelector,
    NewMemory,
    SaveResult,
)
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.memories import (
    ACTIVE,
    CONTRADICTS,
    FORGOTTEN,
    PENDING,
    RELATED,
    STATUSES,
    SUPERSEDED,
    UPDATES,
)
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import place_in_scope, scope_of
from hivemind_memory.notes.slug import name_with_id
from tests.support.sandbox import Sandbox, difference_from_fresh

CALLERS = (
    OWNER,
    Caller(),
    Caller(project="projects/a"),
    Caller(project="projects/b", teams=("teams/red",)),
    Caller(workspace="workspaces/leaf", is_root=False),
)
SCOPES = ("", "projects/a", "projects/b", "teams/red", "workspaces/leaf")
KEYS = ("Who am I?", "日記/a")
SESSIONS = ("s1", "s2")
KINDS = (RELATED, UPDATES, CONTRADICTS)

# What is refused tells less than what is done.
callers = st.sampled_from((OWNER, OWNER, OWNER, *CALLERS))
scopes = st.sampled_from(("", "", "projects/a", "projects/a", *SCOPES))
keys = st.sampled_from(KEYS)
numbers = st.integers(0, 1000)

_TABLES = {
    "files": """
        SELECT path, scope, status, ages, importance, type, key, memory_id,
          visibility, source, session, created, expires_day, done_day, is_pinned
        FROM files WHERE state = 0 ORDER BY path
    """,
    "edges": """
        SELECT path, kind, target, weight FROM edges
        JOIN files ON files.id = file_id ORDER BY path, kind, target
    """,
}


@dataclass
class File:
    """What the model knows of one memory."""

    scope: str
    key: str
    word: str
    status: int = ACTIVE
    id: str = ""
    session: str = ""
    claim: str = ""
    is_forgotten: bool = False
    is_by_hand: bool = False
    edges: dict[tuple[str, str], None] = field(default_factory=dict)
    """(kind, id) of what it names."""

    @property
    def told(self) -> int:
        return FORGOTTEN if self.is_forgotten else self.status


class TypedMemoryMachine(RuleBasedStateMachine):
    """One home, several callers, a person who edits by hand."""

    steps = 0
    """Of all histories so far."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.sandbox = Sandbox(Path(self.folder.name) / "home")
        owner = self.sandbox.memory()
        self.memories: dict[Caller, Memory] = {OWNER: owner}
        for caller in CALLERS[1:]:
            self.memories[caller] = owner.as_caller(caller)
        self.files: dict[str, File] = {}
        self.fresh: set[str] = set()
        self.count = 0

    def teardown(self) -> None:
        try:
            for file in self.files.values():
                self.fresh.add(file.word)
            self.answers_are_those_of_the_model()
            self.the_index_equals_a_rebuild()
        finally:
            for memory in self.memories.values():
                memory.close()
            self.folder.cleanup()

    @initialize(
        wanted=st.lists(
            st.tuples(scopes, keys, st.sampled_from(SESSIONS)), min_size=4, max_size=9
        )
    )
    def begin(self, wanted: list[tuple[str, str, str]]) -> None:
        """Start with memories that replaced others."""
        for scope, key, session in wanted:
            self.save(OWNER, scope, key, "it changed", "agent", session)

    # -- what callers do -------------------------------------------------------------

    @rule(
        caller=callers,
        scope=scopes,
        key=keys,
        reason=st.sampled_from(("", "it changed", "minor correction: a slip")),
        source=st.sampled_from(("agent", "agent", "agent", "human", "external")),
        session=st.sampled_from(SESSIONS),
    )
    def save(
        self,
        caller: Caller,
        scope: str,
        key: str,
        reason: str,
        source: str,
        session: str,
    ) -> None:
        """Save a text that is new."""
        word = self._word()
        new = NewMemory(
            key=key,
            content=f"It is {word}.",
            reason=reason,
            scope=named(scope),
            source=source,
            session=session,
        )
        self._save(caller, scope, new, word)

    def _save(self, caller: Caller, scope: str, new: NewMemory, word: str) -> None:
        """Save, and predict the result."""
        old = self._active_of(scope, new.key)
        curation = self.memories[caller].curation
        refusal: type[HivemindError] | None = None
        if not may_read(caller, f"{scope}/x.md" if scope else "x.md"):
            refusal = HivemindError
        elif not may_write(caller, f"{scope}/x.md" if scope else "x.md"):
            refusal = NotSavedError
        elif old and not new.reason and new.source != "external":
            refusal = KeyTakenError
        if refusal is not None:
            self._refused(refusal, lambda: curation.save(new))
            return
        self._saved(curation.save(new), new, old, word)

    def _saved(
        self,
        saved: SaveResult,
        new: NewMemory,
        old: list[str],
        word: str,
        claim: str = "",
    ) -> None:
        """Apply a save to the model."""
        assert saved.is_new
        assert saved.is_indexed
        file = File(
            scope=saved.scope,
            key=saved.key,
            word=word,
            id=saved.id,
            session=new.session,
            claim=claim,
        )
        if new.source == "external":
            assert saved.status == "pending"
            file.status = PENDING
        elif old:
            assert saved.path in old
            before = self.files.pop(saved.path)
            file.claim = file.claim or before.claim  # its key is still the claim's
            before.status = SUPERSEDED
            before.id = before.id or saved.superseded
            assert before.id == saved.superseded
            self.files[saved.superseded_path] = before
            file.edges[UPDATES, before.id] = None
            # What it says of the subject goes over: see memory/succeeding.py.
            stays = (RELATED, CONTRADICTS) if saved.is_minor else (RELATED,)
            for kind, end in before.edges:
                if kind in stays:
                    file.edges[kind, end] = None
        else:
            assert not saved.superseded
            self._give_way(saved.path)
        assert saved.path not in self.files
        self.files[saved.path] = file
        self.fresh |= {
            file.word,
            *(self.files[one].word for one in old if one in self.files),
        }

    @rule(
        caller=callers,
        scope=scopes,
        claim=st.sampled_from(("one", "two")),
        confidence=st.sampled_from(("high", "low")),
    )
    def learn(self, caller: Caller, scope: str, claim: str, confidence: str) -> None:
        """Learn a claim; it replaces whatever is active under its key."""
        text = f"claim{claim}{3 * spelled(SCOPES.index(scope))} is so"
        same = [
            path
            for path, file in self.files.items()
            if file.key == claim_key("t", text)
            and file.scope == scope
            and file.told == ACTIVE
        ]
        path = f"{scope}/x.md" if scope else "x.md"
        new = NewMemory(key="", content=text, scope=named(scope), session="s1")
        curation = self.memories[caller].curation
        call = lambda: curation.learn(new, topic="t", confidence=confidence)  # noqa: E731
        if not may_write(caller, path):
            self._refused(HivemindError, call)
            return
        saved = call()
        if saved.is_new:
            self._saved(saved, new, same, text.split(maxsplit=1)[0], claim)
        else:
            assert saved.path in same

    @rule(caller=callers, number=numbers, by_key=st.booleans())
    @precondition(lambda self: self.files)
    def forget(self, caller: Caller, number: int, by_key: bool) -> None:
        """Forget one memory by its id, or all of a key."""
        _, file = self._any(number)
        name = file.key if by_key or not file.id else file.id
        meant = self._meant(caller, name)

        def call() -> ForgetResult:
            curation = self.memories[caller].curation
            return curation.forget(MemorySelector(name=name))

        if not self._may_change(meant, caller):
            self._refused(HivemindError, call)
            return
        done = call()
        fresh = {one for one in meant or () if not self.files[one].is_forgotten}
        assert {one.path for one in done.memories} == fresh
        assert (done.failed, done.reactivated) == ((), ())
        self._hide(fresh)

    @rule(caller=callers, number=numbers, session=st.sampled_from(SESSIONS))
    @precondition(lambda self: self.files)
    def save_over(self, caller: Caller, number: int, session: str) -> None:
        """Replace one of the memories."""
        _, file = self._any(number)
        self.save(caller, file.scope, file.key, "it changed", "agent", session)

    @rule(caller=callers, session=st.sampled_from(SESSIONS))
    @precondition(lambda self: self.files)
    def forget_session(self, caller: Caller, session: str) -> None:
        """Undo a session: what it had replaced is active again."""
        meant = [
            path
            for path, file in self.files.items()
            if file.session == session and may_write(caller, path)
        ]

        def call() -> Any:
            selector = MemorySelector(session=session)
            return self.memories[caller].curation.forget(selector)

        if not meant:
            self._refused(HivemindError, call)
            return
        done = call()
        fresh = {one for one in meant or () if not self.files[one].is_forgotten}
        assert {one.path for one in done.memories} == fresh
        assert done.failed == ()
        self._hide(fresh)
        expected = self._reactivated(fresh)
        assert {one.id for one in done.reactivated} == set(expected)
        for memory in done.reactivated:
            file = self.files.pop(expected[memory.id])
            file.status = ACTIVE
            self._give_way(memory.path)
            self.files[memory.path] = file
            self.fresh.add(file.word)

    def _reactivated(self, hidden: set[str]) -> dict[str, str]:
        """Return id -> path of what becomes active again when some files are hidden."""
        found: dict[str, str] = {}
        gone = {self.files[path].id for path in hidden}
        # In the order in which they are looked at: the newest first.
        for path in sorted(hidden, key=lambda one: self.files[one].id, reverse=True):
            file = self.files[path]
            taken = {
                (self.files[one].scope, self.files[one].key) for one in found.values()
            }
            is_free = not self._active_of(file.scope, file.key)
            if file.status != ACTIVE or not is_free:
                continue
            if (file.scope, file.key) in taken:
                continue
            for older in self._older(path):
                before = self.files[older]
                if before.is_forgotten or before.id in gone:
                    continue
                if before.status == SUPERSEDED:
                    found[before.id] = older
                break
        return found

    def _older(self, path: str) -> list[str]:
        """Return the files of a key that one came after, newest first."""
        start = self.files[path]
        found: list[str] = []
        waiting = [end for kind, end in start.edges if kind == UPDATES]
        seen = {start.id}
        while waiting:
            end = waiting.pop(0)
            if end in seen:
                continue
            seen.add(end)
            for other, file in self.files.items():
                if (file.id, file.scope, file.key) == (end, start.scope, start.key):
                    found.append(other)
                    waiting += [one for kind, one in file.edges if kind == UPDATES]
                    break
        return found

    @rule(caller=callers, number=numbers, by_key=st.booleans())
    @precondition(lambda self: any(one.is_forgotten for one in self.files.values()))
    def restore(self, caller: Caller, number: int, by_key: bool) -> None:
        """Bring one memory back, or what was forgotten of a key."""
        _, file = self._any(number)
        name = file.key if by_key or not file.id else file.id
        meant = self._meant(caller, name)
        hidden = {one for one in meant or () if self.files[one].is_forgotten}
        call = lambda: self.memories[caller].curation.restore(MemorySelector(name=name))  # noqa: E731
        if not self._may_change(meant, caller):
            self._refused(HivemindError, call)
            return
        try:
            done = call()
        except KeyTakenError:
            assert any(
                self.files[one].status == ACTIVE
                and self._active_of(self.files[one].scope, self.files[one].key)
                for one in hidden
            )
            return
        shown = self._restored(done, hidden)
        assert bool(shown) == bool(hidden)

    @rule(caller=callers, session=st.sampled_from(SESSIONS))
    @precondition(lambda self: any(one.is_forgotten for one in self.files.values()))
    def restore_session(self, caller: Caller, session: str) -> None:
        """Bring a session back: what was reactivated meanwhile is replaced again."""
        meant = [
            path
            for path, file in self.files.items()
            if file.session == session and may_write(caller, path)
        ]
        hidden = {one for one in meant if self.files[one].is_forgotten}

        def call() -> Any:
            selector = MemorySelector(session=session)
            return self.memories[caller].curation.restore(selector)

        if not meant:
            self._refused(HivemindError, call)
            return
        try:
            done = call()
        except KeyTakenError:
            assert hidden
            return
        shown = self._restored(done, hidden)
        # Each restore undoes one forget; those of the others stay hidden.
        count = len(shown) + len(done.failed)
        assert count <= len(hidden) if done.left else count == len(hidden)

    def _restored(self, done: Any, hidden: set[str]) -> set[str]:
        """Record what a restore showed again, and what it superseded again."""
        for memory in done.superseded:
            [path] = [
                path
                for path, file in self.files.items()
                if (file.id, file.told) == (memory.id, ACTIVE)
            ]
            file = self.files.pop(path)
            file.status = SUPERSEDED
            self.files[memory.path] = file
            self.fresh.add(file.word)
        ids = {self.files[path].id or path: path for path in hidden}
        for memory in done.memories:
            path = ids[memory.id or memory.path]
            file = self.files.pop(path)
            self._give_way(memory.path)
            self.files[memory.path] = file
            file.is_forgotten = False
            self.fresh.add(file.word)
        return {memory.path for memory in done.memories}

    def _give_way(self, path: str) -> None:
        """Record that what is hidden gave its file to what is active now."""
        if path in self.files:
            file = self.files.pop(path)
            assert file.told != ACTIVE
            aside = name_with_id(file.key, file.id)
            self.files[path_in_scope(file.scope, aside)] = file

    @rule(
        caller=callers,
        first=numbers,
        second=numbers,
        kind=st.sampled_from(KINDS),
        is_ended=st.booleans(),
    )
    @precondition(lambda self: self.files)
    def link(
        self,
        caller: Caller,
        first: int,
        second: int,
        kind: str,
        is_ended: bool,
    ) -> None:
        """Link two memories, or remove the link."""
        (path, start), (_, end) = self._any(first), self._any(second)
        if not (start.id and end.id):
            return
        curation = self.memories[caller].curation
        act = curation.unlink if is_ended else curation.link
        call = lambda: act(start.id, end.id, kind)  # noqa: E731
        sees = [self._sees(caller, one) for one in (start, end)]
        is_kept = place_in_scope(path) == "superseded" and not caller.is_owner
        is_refused = not sees[0] or not may_write(caller, path) or is_kept
        if not is_ended:
            is_refused = is_refused or not sees[1] or start is end
            is_circle = kind == UPDATES and self._reaches(caller, end, start)
            is_refused = is_refused or is_circle
        if is_refused:
            self._refused(HivemindError, call)
            return
        assert call().is_changed == (((kind, end.id) in start.edges) == is_ended)
        if is_ended:
            start.edges.pop((kind, end.id), None)
        else:
            start.edges[kind, end.id] = None
        self.fresh |= {start.word, end.word}

    def _reaches(self, caller: Caller, start: File, goal: File) -> bool:
        """Whether one memory updates another, as far as a caller sees."""
        waiting, seen = [start.id], set()
        while waiting:
            name = waiting.pop()
            if name == goal.id:
                return True
            if name in seen:
                continue
            seen.add(name)
            for file in self.files.values():
                if file.id == name and self._sees(caller, file):
                    waiting += [end for kind, end in file.edges if kind == UPDATES]
        return False

    # -- what a person does ----------------------------------------------------------

    @rule(number=numbers)
    @precondition(lambda self: self.files)
    def edit(self, number: int) -> None:
        """Change the text of a memory; its header stays."""
        path, file = self._any(number)
        note, word = self.sandbox.notes / path, self._word()
        text = note.read_text(encoding="utf-8")
        self.sandbox.save_over(path, text.replace(file.word, word))
        self.fresh |= {file.word, word}
        file.word = word

    @rule(number=numbers)
    @precondition(lambda self: self.files)
    def rename(self, number: int) -> None:
        """Give a file another name in its folder."""
        path, file = self._any(number)
        self.count += 1
        folder = path.rpartition("/")[0]
        new = (
            f"{folder}/renamed-{self.count}.md"
            if folder
            else f"renamed-{self.count}.md"
        )
        (self.sandbox.notes / path).rename(self.sandbox.notes / new)
        self.files[new] = self.files.pop(path)
        self.fresh.add(file.word)

    @rule(number=numbers)
    @precondition(lambda self: self.files)
    def delete(self, number: int) -> None:
        """Delete a file."""
        path, file = self._any(number)
        (self.sandbox.notes / path).unlink()
        del self.files[path]
        self.fresh.add(file.word)

    @rule(scope=scopes, key=keys)
    def write_a_second(self, scope: str, key: str) -> None:
        """Write a memory by hand, even if its key is taken."""
        word = self._word()
        name = f"hand-{self.count}.md"
        path = f"{scope}/{name}" if scope else name
        text = f"---\ntype: fact\nkey: '{key}'\n---\nIt is {word}.\n"
        self.sandbox.save(path, text)
        self.files[path] = File(scope=scope, key=key, word=word, is_by_hand=True)
        self.fresh.add(word)

    @rule(number=numbers)
    def believe(self, number: int) -> None:
        """Move a claim out of the inbox."""
        waiting = sorted(
            path for path, file in self.files.items() if file.status == PENDING
        )
        if not waiting:
            return
        path = waiting[number % len(waiting)]
        new = path.replace("inbox/", "", 1)
        (self.sandbox.notes / path).rename(self.sandbox.notes / new)
        file = self.files[new] = self.files.pop(path)
        file.status, file.is_by_hand = ACTIVE, True
        self.fresh.add(file.word)

    @rule(caller=callers)
    def rebuild(self, caller: Caller) -> None:
        """Rebuild the index."""
        self.memories[caller].rebuild()
        self.the_index_equals_a_rebuild()

    # -- what must be true ----------------------------------------------------------

    @invariant()
    def answers_are_those_of_the_model(self) -> None:
        """Search by a word, list, history and show say what the model says."""
        type(self).steps += 1
        words, self.fresh = self.fresh, set()
        for caller, memory in self.memories.items():
            seen = {
                path: file
                for path, file in self.files.items()
                if may_read(caller, path)
            }
            alive = {path for path, file in seen.items() if not file.is_forgotten}
            assert {note.path for note in memory.list()} == alive
            rows = {row.path: row.status for row in memory.memories()}
            assert rows == {path: file.told for path, file in seen.items()}
            for word in words:
                self._check_search(memory, word, {one: seen[one] for one in alive})
        self._check_one_active()
        for word in words:
            for path, file in self.files.items():
                if file.word == word:
                    self._check_chain(path, file)

    def _check_search(self, memory: Memory, word: str, seen: dict[str, File]) -> None:
        """Compare what a search for a word finds."""
        search_filter = SearchFilter(has_pending=True, has_expired=True)
        query = Query(
            text=word, min_score=0.0, max_results=50, search_filter=search_filter
        )
        found = {(hit.path, hit.status) for hit in memory.search(query).hits}
        expected = {
            (path, STATUSES[file.status])
            for path, file in seen.items()
            if file.word == word
        }
        if len(expected) < 2:
            assert found == expected
        else:  # a claim that says the same again: the newest stands for all
            assert found <= expected
            assert found

    def _check_one_active(self) -> None:
        """At most one memory of a key is active, unless a person made a second."""
        for scope in SCOPES:
            for key in KEYS:
                own = [
                    path
                    for path in self._active_of(scope, key)
                    if not self.files[path].is_by_hand
                ]
                assert len(own) <= 1

    def _check_chain(self, path: str, file: File) -> None:
        """Read a memory as each caller: no loop in its chain, no edge without ends."""
        for caller, memory in self.memories.items():
            ref = file.id or path
            if not self._sees(caller, file):
                self._refused(
                    MemoryNotFoundError, lambda r=ref, m=memory: m.curation.show(r)
                )  # type: ignore[misc]
                continue
            shown = memory.curation.show(ref)
            assert shown.memory.path == path
            assert file.word in shown.memory.text
            for edge in shown.edges:
                if edge.path:
                    end = self.files[edge.path]
                    assert self._sees(caller, end)
                    assert not end.is_forgotten
            chain = [one.path for one in memory.curation.history(ref).memories]
            assert path in chain
            assert len(set(chain)) == len(chain)
            for name in chain:
                assert self._sees(caller, self.files[name])
                for kind, end in self.files[name].edges:
                    for older in chain:
                        if kind == UPDATES and self.files[older].id == end:
                            assert chain.index(name) < chain.index(older)
            same = {
                other
                for other, one in self.files.items()
                if (one.scope, one.key) == (file.scope, file.key)
                and one.told in (ACTIVE, SUPERSEDED)
            }
            if file.status != PENDING:
                assert same <= set(chain)

    def the_index_equals_a_rebuild(self) -> None:
        """Chunks, postings, rows of files and edges are those of a rebuild."""
        owner = self.memories[OWNER]
        owner.sync()
        assert difference_from_fresh(self.sandbox, owner) == []
        with self.sandbox.fresh() as fresh:
            mine, theirs = (_rows(one.places.index_file) for one in (owner, fresh))
        assert mine == theirs

    # -- the model's own -----------------------------------------------------------

    def _word(self) -> str:
        """Return a word that occurs nowhere else, and is no slip away from another."""
        self.count += 1
        return f"zo{3 * spelled(self.count)}"

    def _any(self, number: int) -> tuple[str, File]:
        """Return one of the files."""
        path = sorted(self.files)[number % len(self.files)]
        return path, self.files[path]

    def _active_of(self, scope: str, key: str) -> list[str]:
        """Return the files active under a key."""
        return [
            path
            for path, file in self.files.items()
            if (file.scope, file.key, file.told) == (scope, key, ACTIVE)
        ]

    def _sees(self, caller: Caller, file: File) -> bool:
        """Whether a memory is there for a caller."""
        scopes = caller.scopes
        return not file.is_forgotten and (scopes is None or file.scope in scopes)

    def _meant(self, caller: Caller, name: str) -> list[str] | None:
        """Return what a name means to the caller; None: it is in several scopes."""
        seen = {one: file for one, file in self.files.items() if may_read(caller, one)}
        found = [one for one, file in seen.items() if file.id == name]
        if not found:
            found = [one for one, file in seen.items() if file.key == name]
            if len({scope_of(one) for one in found}) > 1:
                return None
        return found

    def _may_change(self, meant: list[str] | None, caller: Caller) -> bool:
        """Whether there is something that a caller may change."""
        return bool(meant) and all(may_write(caller, one) for one in meant or ())

    def _hide(self, paths: set[str]) -> None:
        """Forget some files in the model."""
        for path in paths:
            self.files[path].is_forgotten = True
            self.fresh.add(self.files[path].word)

    def _refused(self, kind: type[HivemindError], call: object) -> None:
        """Make a call that must fail and change nothing."""
        before = {
            str(path): path.read_bytes() for path in self.sandbox.notes.rglob("*.md")
        }
        try:
            call()  # type: ignore[operator]
        except kind:
            pass
        else:
            message = f"{kind.__name__} was not raised"
            raise AssertionError(message)
        after = {
            str(path): path.read_bytes() for path in self.sandbox.notes.rglob("*.md")
        }
        assert before == after


def spelled(number: int) -> str:
    """Return a number in letters that no stemmer touches and that are not split."""
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, 6)
        letters += "bdfgkp"[digit]
    return f"{letters}o"


def named(scope: str) -> str:
    """Return a scope as callers name it."""
    return scope or "global"


def _rows(index_file: str) -> dict[str, list[tuple[object, ...]]]:
    """Return what an index says of memories and edges."""
    connection = apsw.Connection(index_file, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return {name: list(connection.execute(sql)) for name, sql in _TABLES.items()}
    finally:
        connection.close()
