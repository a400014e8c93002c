"""New rules for secrets, or other settings: thousands of notes have to be read again.

No search, list or save waits for that. They answer from what the old rules indexed, and
show nothing that the current rules hide.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from hivemind_memory.errors import HivemindError, IndexUnusableError, KeyTakenError
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.markdown import blocks
from hivemind_memory.memory import background_sync, note_indexer, sync
from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.memory.freshness_result import Freshness
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.outdated_hits import _masked_headings
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.note import Note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.query import Query, SearchAnswer
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction import redact
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths
from tests.support.waiting import HANG_S, wait_until

COUNT = 20
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
# Of a chunk in the middle nothing tells that it belongs to a key.
KEY_LINES = "\n".join(["ZebraStripe" * 5] * 40)
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINES}\n-----END RSA PRIVATE KEY-----"
QUESTIONS = ("giraffe", "token", "zebra")


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Notes that were indexed by rules which knew no secret, a day ago."""
    for module in (sync, note_indexer):
        monkeypatch.setattr(module, "BATCH_NOTES", 5)
    sandbox = Sandbox(tmp_path / "home")
    for number in range(COUNT):
        sandbox.save(f"{number:02}.md", f"# Note {number}\n\nThe giraffe is tall.\n")
    sandbox.save("token.md", f"# The {TOKEN}\n\nThe token is {TOKEN} for now.\n")
    sandbox.save("key.md", f"# Key\n\n{KEY}\n\nThe end.\n")
    for note in sandbox.notes.glob("*.md"):
        sandbox.age(note.name, 86_400)
    sandbox.ahead_s = 30  # a change time cannot be set: every note is settled
    with monkeypatch.context() as patch:
        patch.setattr(redact, "mask", lambda text: text)
        with sandbox.memory() as memory:
            memory.sync()
            assert TOKEN in text_of(ask(memory, "token"))
    monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of tomorrow")
    return sandbox


@pytest.fixture
def memory(sandbox: Sandbox) -> Iterator[Memory]:
    with sandbox.memory() as memory:
        yield memory


@contextmanager
def reading_at_rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nobody read several notes until the block ends."""
    may_go_on = threading.Event()
    real = blocks.BlockReader.read_all

    def read_all(
        self: blocks.BlockReader, noted: Sequence[tuple[NotePath, bytes]]
    ) -> list[Note]:
        if len(noted) > 1:
            assert may_go_on.wait(HANG_S)
        return real(self, noted)

    monkeypatch.setattr(blocks.BlockReader, "read_all", read_all)
    monkeypatch.setattr(background_sync, "WAIT_S", 0.0)
    try:
        yield
    finally:
        may_go_on.set()


def text_of(answer: SearchAnswer) -> str:
    """Return everything that an answer tells."""
    return repr(answer)


def is_done(memory: Memory) -> bool:
    """Whether nothing is left to be read again."""
    return not ask(memory, "giraffe").report.warnings


def test_a_search_does_not_wait_until_all_notes_are_read_again(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how many are left, and the index is that of today soon afterwards."""
    with reading_at_rest(monkeypatch):
        answer = ask(memory, "giraffe", max_results=100)

        assert len(paths(answer)) == COUNT
        assert answer.report.is_fresh
        [warning] = answer.report.warnings
        assert warning == (
            f"{COUNT + 2} notes are being indexed again because the rules or settings"
            " have changed, so the answer may lack a hit; `hm sync` finishes it"
        )

    wait_until(lambda: is_done(memory), "notes are still outdated")
    assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


@pytest.mark.parametrize("question", ["token", "zebra", "giraffe token", "zebr"])
def test_nothing_that_the_new_rules_hide_is_shown(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Also where the rest of a key lies in another chunk, and in headings."""
    with reading_at_rest(monkeypatch):
        answer = ask(memory, question, max_results=100)
        as_is = memory.search(Query(text=question, min_score=0.0), is_fresh=False)

    for one in (answer, as_is):
        assert TOKEN not in text_of(one)
        assert "ZebraStripe" not in text_of(one)
        assert one.report.suggestions == ()
    assert not as_is.report.is_fresh


def test_the_lines_of_a_hit_are_those_of_its_note(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masked, and otherwise as they stand there."""
    with reading_at_rest(monkeypatch):
        [hit] = [hit for hit in ask(memory, "token").hits if hit.path == "token.md"]
    wait_until(lambda: is_done(memory), "notes are still outdated")

    [later] = [hit for hit in ask(memory, "token").hits if hit.path == "token.md"]
    assert hit.snippet == later.snippet
    assert hit.headings == later.headings


def test_a_list_shows_no_old_title_while_the_index_cannot_be_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Freshness(warning="another process keeps it locked")
    monkeypatch.setattr(FreshnessCheck, "ensure_fresh", lambda *_, **__: busy)

    listed = memory.list()

    assert len(listed) == COUNT + 2
    assert TOKEN not in repr(listed)


def test_headings_are_masked_as_they_stand_above_each_other() -> None:
    """The lower is a secret only below the upper."""
    headings = _masked_headings(("Password:", "Tr0ub4dor&3x"), "Some words.")

    assert headings[0] == "Password:"
    assert "Tr0ub4dor" not in headings[1]


def test_what_has_changed_is_found_at_once_all_the_same(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit, a new note and one that is gone are in the first answer."""
    sandbox.save_over("03.md", "The elephant is grey.\n")
    sandbox.save("new.md", "The elephant is large.\n")
    (sandbox.notes / "04.md").unlink()

    for word in ("elephant", "giraffe"):
        with reading_at_rest(monkeypatch):
            # One note is read at a time, as a search does for a few.
            monkeypatch.setattr(note_indexer, "BATCH_BYTES", 1)
            answer = ask(memory, word, max_results=100)
            monkeypatch.setattr(note_indexer, "BATCH_BYTES", 500_000)

        found = set(paths(answer))
        assert answer.report.is_fresh
        if word == "elephant":
            assert found == {"03.md", "new.md"}
        else:
            assert len(found) == COUNT - 2


def test_a_young_note_is_read_before_the_answer(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its signature proves nothing: it may have changed within one tick."""
    file = sandbox.save("05.md", "The panther is dark.\n")
    with apsw.Connection(str(sandbox.index_file)) as connection:
        stat = file.stat()
        connection.execute(
            """
            UPDATE files SET is_settled = 0, mtime = ?, ctime = ?, size = ?, inode = ?
            WHERE path = '05.md'
            """,
            (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino),
        )

    with sandbox.memory() as other, reading_at_rest(monkeypatch):
        assert paths(ask(other, "panther")) == ["05.md"]


def test_an_index_that_cannot_be_written_shows_no_old_text_either(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be marked there; all of it is from before."""

    def refuse(self: SqliteIndex, holding: object = None) -> None:
        raise IndexUnusableError("the disk is read-only", hint="")

    monkeypatch.setattr(SqliteIndex, "mark_stale", refuse)

    answer = ask(memory, "token")

    assert paths(answer) == ["token.md"]
    assert TOKEN not in text_of(answer)
    assert answer.report.warnings


def test_a_hit_whose_note_changes_meanwhile_is_left_out(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other lines stand there by now; the next search finds them."""
    real: Callable[..., object] = SqliteIndex.view

    def view(self: SqliteIndex, *given: object) -> object:
        sandbox.save("token.md", "Something else.\n\n\n\n")
        return real(self, *given)

    with reading_at_rest(monkeypatch):
        monkeypatch.setattr(SqliteIndex, "view", view)
        assert paths(ask(memory, "token")) == []


def test_lists_wait_for_what_they_tell(sandbox: Sandbox, memory: Memory) -> None:
    """They show names and claims of all notes, so they read them first."""
    memory.memories()

    assert is_done(memory)
    assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


def test_a_sync_reads_all_again_and_says_how_many(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Also after a search that left them."""
    result = memory.sync()

    assert (result.updated, result.added, result.unchanged) == (COUNT + 2, 0, 0)
    assert is_done(memory)
    assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


def test_what_works_in_the_background_makes_way_for_an_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then it waits until nobody holds the lock of the index."""
    monkeypatch.setattr(background_sync, "NOTES_PER_PAUSE", 2)
    monkeypatch.setattr(background_sync, "MAX_PAUSE_S", HANG_S)
    told: list[int] = []
    handle = memory.index_handle
    with handle.lock:
        handle.opened()
        work = background_sync.polite(
            handle.lock, lambda phase, done, total: told.append(done)
        )
        thread = threading.Thread(target=lambda: [work("x", n, 3) for n in range(3)])
        thread.start()
        assert ask(memory, "giraffe").hits
        assert told == []

    thread.join()
    assert told == [0, 1, 2]


def test_searches_of_short_lived_processes_finish_it_step_by_step(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends in the midst of its work; what it has read stays read."""
    monkeypatch.setattr(background_sync, "WAIT_S", 0.05)
    left = []
    for _ in range(500):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            with sandbox.memory() as memory:
                warnings = ask(memory, "giraffe").report.warnings
                os.write(writer, warnings[0].encode() if warnings else b"0 done")
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader) as told:
            left.append(int(told.read().split()[0]))
        if not left[-1]:
            break

    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    with sandbox.memory() as memory:
        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


def test_an_empty_answer_says_that_what_was_found_has_changed(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason was an empty text: something had been found, and was left out."""

    def refuse(self: SqliteIndex, holding: object = None) -> None:
        raise IndexUnusableError("the index is locked", hint="")

    monkeypatch.setattr(SqliteIndex, "mark_stale", refuse)
    sandbox.save("token.md", "Something else.\n\n\n\n")

    answer = ask(memory, "token")

    assert answer.hits == ()
    assert answer.report.why_empty == (
        "the notes found have changed, and the index is not up to date yet; try again"
    )


def new_memory(key: str) -> NewMemory:
    """Return a memory to save."""
    return NewMemory(key=key, content="The lion roars at night.", type="decision")


def test_lists_and_saves_do_not_wait_until_all_notes_are_read_again(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows tell where a memory is; what it says is read from its note."""
    with reading_at_rest(monkeypatch):
        listed = memory.list()
        saved = memory.save(new_memory("lion"))
        [found] = memory.curation.list_memories(MemoryFilter())
        place = memory.curation.locate("lion")
        newer = memory.save(replaced(new_memory("lion"), content="x", reason="new"))
        assert not is_done(memory)

    assert TOKEN not in repr(listed)
    assert (found.path, place[0]) == (saved.path, saved.path)
    assert newer.path == saved.path
    wait_until(lambda: is_done(memory), "notes are still outdated")
    assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


def test_a_save_finds_the_memory_of_its_key_in_the_rows_of_earlier_rules(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two memories of one key would be active."""
    with sandbox.memory() as memory:
        memory.save(new_memory("lion"))
    monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of next week")

    with sandbox.memory() as memory, reading_at_rest(monkeypatch):
        memory.index_handle.sync(None, is_whole=False)
        with pytest.raises(KeyTakenError):
            memory.save(replaced(new_memory("lion"), content="The lion sleeps."))


@pytest.mark.parametrize("is_second_change", [False, True])
def test_a_save_waits_if_a_memory_may_have_become_another_type(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, *, is_second_change: bool
) -> None:
    """Of a type that was unknown, a row has no key."""
    sandbox.save("seen.md", "---\ntype: sighting\nkey: lion\n---\n\nThe lion roars.\n")
    sandbox.age("seen.md", 86_400)
    monkeypatch.setattr(background_sync.BackgroundSync, "start", lambda _: None)
    types = {"types": {"sighting": {"injected": "search"}}}
    with sandbox.memory() as memory:
        memory.sync()
    if is_second_change:
        with sandbox.memory(**types) as memory:
            ask(memory, "giraffe")
            monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of next week")

    with sandbox.memory(**types) as memory, pytest.raises(KeyTakenError):
        memory.save(NewMemory(key="lion", content="The lion sleeps.", type="sighting"))


def test_no_name_that_was_probably_meant_shows_what_the_new_rules_hide(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key may be a secret that the rules of its row did not know."""
    sandbox.save("t.md", f"---\ntype: decision\nkey: {TOKEN}\n---\n\nWords.\n")
    with sandbox.memory() as memory, monkeypatch.context() as patch:
        patch.setattr(redact, "mask", lambda text: text)
        memory.sync()
    monkeypatch.setattr(sync, "REDACTION_VERSION", "secrets of next week")

    with sandbox.memory() as memory, reading_at_rest(monkeypatch):
        with pytest.raises(HivemindError) as raised:
            memory.curation.locate(f"{TOKEN[:-1]}X")
        assert TOKEN not in f"{raised.value} {raised.value.hint}"
