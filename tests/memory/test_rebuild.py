"""A rebuild starts from nothing, resumes, costs no money, and nobody notices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hivemind_memory.errors import IndexBusyError, IndexUnusableError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.reader import digest_of
from hivemind_memory.index.sqlite import engine
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths


class Killed(BaseException):
    """Nobody catches this."""


@pytest.fixture
def sandbox(sandbox: Sandbox) -> Sandbox:
    for number in range(12):
        sandbox.save(f"{number:02}.md", f"# Note {number}\n\nsomething common\n")
    return sandbox


def killed_after(notes: int) -> Callable[[str, int, int], None]:
    def progress(_: str, done: int, __: int) -> None:
        if done >= notes:
            raise Killed

    return progress


def test_a_rebuild_makes_what_a_new_index_would_be(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Also out of an index that says something else."""
    memory.sync()
    with memory.index_handle.opened().index.connection as raw:
        raw.execute("UPDATE chunks SET body = 'wrong', breadcrumbs = 'wrong'")
        raw.execute("UPDATE files SET day = 1")

    result = memory.rebuild()

    assert (result.added, result.skipped) == (12, ())
    assert difference_from_fresh(sandbox, memory, ("common", "wrong")) == []


def test_the_old_index_answers_while_a_rebuild_goes_on(
    sandbox: Sandbox, memory: Memory
) -> None:
    """The old index answers in another process, and in another thread of this one."""
    memory.sync()
    seen: list[int] = []

    with sandbox.memory() as other:
        memory.rebuild(
            lambda *_: seen.append(len(ask(other, "common", max_results=99).hits))
        )

    assert len(seen) >= 12
    assert set(seen) == {12}


def test_a_killed_rebuild_goes_on_where_it_stopped(
    sandbox: Sandbox, memory: Memory
) -> None:
    """And leaves the old index as it was."""
    memory.sync()
    with pytest.raises(Killed):
        memory.rebuild(killed_after(12))

    with sandbox.memory() as other:
        assert len(ask(other, "common", max_results=99).hits) == 12
        result = other.rebuild()

        assert result.unchanged > 0, "what was done is not done again"
        assert result.unchanged + result.added == 12
        assert not Path(sandbox.places.rebuild_file).exists()
        assert difference_from_fresh(sandbox, other, ("common",)) == []


def test_what_changes_during_a_rebuild_is_found_afterwards(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Written to the old index by another process, and then the new one takes over."""
    memory.sync()
    done = []

    def write_meanwhile(_: str, number: int, __: int) -> None:
        if number == 6 and not done:
            done.append(other.write("something meanwhile", file="00.md"))

    with sandbox.memory() as other:
        memory.rebuild(write_meanwhile)

        assert paths(ask(other, "meanwhile")) == ["00.md"]
    assert paths(ask(memory, "meanwhile")) == ["00.md"]
    assert difference_from_fresh(sandbox, memory) == []


def test_what_is_written_during_a_rebuild_is_in_the_new_index(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Else a command that has just looked at the notes would not find it there."""

    def progress(_: str, done: int, __: int) -> None:
        if done == 6:
            sandbox.save("00.md", "# Note 0\n\nchanged meanwhile\n")
            sandbox.save("new.md", "# New\n\nwritten meanwhile\n")

    result = memory.rebuild(progress)

    index = memory.index_handle.opened().index
    names = ("00.md", "new.md")
    indexed = index.notes_at([NotePath(name) for name in names])
    assert {path: note.digest for path, note in indexed.items()} == {
        name: digest_of((sandbox.notes / name).read_bytes()) for name in names
    }
    assert result.added == 13


def test_two_rebuilds_at_once_are_one_too_many(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second says who is at it."""
    monkeypatch.setattr(engine, "REBUILD_WAIT_S", 0.01)
    memory.sync()
    lock = KernelLock(f"{sandbox.places.rebuild_file}.lock")
    assert lock.try_acquire()

    with pytest.raises(IndexBusyError, match="rebuilding"):
        memory.rebuild()

    lock.release()
    assert memory.rebuild().added == 12


def test_no_rebuild_sends_a_text_that_was_paid_for(sandbox: Sandbox) -> None:
    """After 10 rebuilds and some crashes, each distinct text was sent once."""
    embedder = FakeEmbedder()
    sandbox.provider = FakeProvider(embedder)
    with sandbox.memory() as memory:
        memory.sync()
        memory.embed_pending()
        paid = len(embedder.documents)

        for number in range(10):
            try:
                memory.rebuild(killed_after(number) if number % 2 else None)
            except Killed:
                memory = sandbox.memory()  # noqa: PLW2901 - as the next process would
            memory.sync()
            assert memory.embed_pending().embedded == 0

        assert len(embedder.documents) == paid == len(set(embedder.documents))
        assert ask(memory, "common").report.mode == "hybrid"
        memory.close()


def test_vectors_stored_during_a_rebuild_are_not_lost(sandbox: Sandbox) -> None:
    """Another process embeds at the very moment: it waits, or is copied."""
    embedder = FakeEmbedder()
    sandbox.provider = FakeProvider(embedder)
    with sandbox.memory() as memory, sandbox.memory() as other:
        memory.sync()
        threads = [threading.Thread(target=other.embed_pending)]

        def embed_meanwhile(_: str, done: int, __: int) -> None:
            if done == 3 and not threads[0].ident:
                threads[0].start()

        memory.rebuild(embed_meanwhile)
        threads[0].join()
        memory.sync()
        memory.embed_pending()

        assert len(embedder.documents) == len(set(embedder.documents))
        assert memory.status().pending_vectors == 0
        assert difference_from_fresh(sandbox, memory) == []


def test_vectors_of_texts_handed_out_before_a_rebuild_are_kept(
    sandbox: Sandbox,
) -> None:
    """The new index listed no text yet, so they were dropped and paid for again."""
    embedder = FakeEmbedder()
    sandbox.provider = FakeProvider(embedder)
    with sandbox.memory() as memory, sandbox.memory() as other:
        memory.sync()
        embed = embedder.embed_documents

        def embed_during_a_rebuild(texts: Sequence[str]) -> list[bytes]:
            embedder.embed_documents = embed  # type: ignore[method-assign]
            memory.rebuild()
            return embed(texts)

        embedder.embed_documents = embed_during_a_rebuild  # type: ignore[method-assign]
        other.embed_pending()
        memory.embed_pending()

        assert len(embedder.documents) == len(set(embedder.documents))
        assert memory.status().pending_vectors == 0


def test_a_folder_that_cannot_be_written_is_named_with_the_reason(
    sandbox: Sandbox,
) -> None:
    """A rebuild on a read-only disk ended with the bare words of the system."""
    with sandbox.memory() as memory:
        memory.sync()
        Path(f"{sandbox.places.rebuild_file}.lock").mkdir()

        with pytest.raises(IndexUnusableError) as caught:
            memory.rebuild()
        answer = ask(memory, "common")

    said = (
        f"The folder {sandbox.places.index} cannot be written: rebuild.db.lock is a"
        " folder, not a file."
    )
    assert str(caught.value) == said
    assert "index_dir" in caught.value.hint
    assert answer.hits
