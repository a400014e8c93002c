"""Large notes: beyond ``max_note_mb`` never read, below it never waited for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from hivemind_memory import redaction
from hivemind_memory.access.rules import Caller
from hivemind_memory.cli import indexing, progress
from hivemind_memory.cli.main import main
from hivemind_memory.errors import NoteUnreadableError
from hivemind_memory.files import folder
from hivemind_memory.markdown import blocks
from hivemind_memory.memory import background_sync, note_indexer
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.open_index import IndexHandle
from hivemind_memory.model.note import Note
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.opening import open_memory
from tests.support.sandbox import Sandbox, ask, paths

LARGE = "The giraffe is tall.\n" * (note_indexer.LARGE_NOTE_BYTES // 10)


@contextmanager
def parser_at_rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let the parser wait on large notes until the block ends, or the event is set."""
    may_go_on = threading.Event()
    real = blocks.BlockReader.read_all

    def read_all(
        self: blocks.BlockReader, noted: Sequence[tuple[NotePath, bytes]]
    ) -> list[Note]:
        if any(len(data) > note_indexer.LARGE_NOTE_BYTES for _, data in noted):
            assert may_go_on.wait(60)
        return real(self, noted)

    monkeypatch.setattr(blocks.BlockReader, "read_all", read_all)
    monkeypatch.setattr(background_sync, "WAIT_S", 0.05)
    try:
        yield may_go_on
    finally:
        may_go_on.set()


def test_a_note_beyond_the_bound_is_named_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gigabyte of zeros kept every search from answering."""
    home, notes = tmp_path / "home", tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "zebra.md").write_text("The zebra is striped.\n")
    (notes / "grows.md").write_text("The giraffe is tall.\n")
    with (notes / "zeros.md").open("wb") as file:
        file.truncate(1 << 30)
    read: list[str] = []
    real = folder.NotesFolder.read

    def counted(self: folder.NotesFolder, path: NotePath, **more: int) -> object:
        read.append(path)
        return real(self, path, **more)

    monkeypatch.setattr(folder.NotesFolder, "read", counted)
    with open_memory(home=str(home), flags={"embedding_provider": "none"}) as memory:
        answer = ask(memory, "zebra")
        assert paths(answer) == ["zebra.md"]
        assert answer.report.skipped_notes == 1
        [skipped] = memory.status().skipped
        assert skipped.path == "zeros.md"
        assert "larger than 5 MB" in skipped.reason
        assert "max_note_mb" in skipped.reason
        assert "zeros.md" not in read

    flags = {"embedding_provider": "none", "max_note_mb": 1}
    with open_memory(home=str(home), flags=flags) as memory:
        # One that was indexed and grows is found no more.
        assert paths(ask(memory, "giraffe")) == ["grows.md"]
        with (notes / "grows.md").open("ab") as file:
            file.truncate(1_100_000)
        assert paths(ask(memory, "giraffe")) == []
        assert not memory.index_handle.index_note(NotePath("grows.md"))

    flags = {"embedding_provider": "none", "max_note_mb": 2}
    with open_memory(home=str(home), flags=flags) as memory:
        memory.sync()
        assert paths(ask(memory, "giraffe")) == ["grows.md"]


def test_a_search_answers_without_the_note_that_is_being_parsed(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hostile note of a few megabytes kept every search waiting."""
    sandbox.save("zebra.md", "The zebra is striped.\n")
    sandbox.save("large.md", LARGE)

    with parser_at_rest(monkeypatch):
        found = ask(memory, "zebra")
        assert paths(found) == ["zebra.md"]
        assert not found.report.is_fresh
        assert found.report.stale_notes == 1
        [warning] = found.report.warnings
        assert warning.startswith("large.md is large and not indexed yet")
        [passed] = memory.status().skipped
        assert (passed.path, "not indexed yet" in passed.reason) == ("large.md", True)
        # Another thread's search, and a second one, wait for nothing either.
        assert paths(ask(memory, "giraffe")) == []

    assert memory.index_handle.background_sync().sync().unchanged == 2
    after = ask(memory, "giraffe")
    assert set(paths(after)) == {"large.md"}
    assert after.report.is_fresh
    assert not after.report.warnings
    assert not memory.status().skipped


def test_a_large_note_that_is_parsed_in_time_is_in_the_answer(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search waits for it within its budget."""
    monkeypatch.setattr(background_sync, "WAIT_S", 60.0)
    sandbox.save("large.md", LARGE)

    found = ask(memory, "giraffe")

    assert set(paths(found)) == {"large.md"}
    assert found.report.is_fresh


def test_a_command_that_ends_leaves_a_large_note_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each search began again and none came to an end, until `hm sync` was run."""
    home = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(home))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "large.md").write_text(LARGE)

    with parser_at_rest(monkeypatch) as may_go_on:
        real = indexing.print_notices

        def print_notices(notices: list[str]) -> None:
            real(notices)
            may_go_on.set()

        monkeypatch.setattr(indexing, "print_notices", print_notices)
        assert main(["search", "giraffe"]) == 0
    first = capsys.readouterr()
    assert main(["search", "giraffe"]) == 0
    second = capsys.readouterr()

    assert "large.md is large and not indexed yet" in first.err
    assert first.err.endswith(
        "indexing them now, which takes 20 s at most\n"
        "indexed now: search again for an answer from all notes\n"
    )
    assert "The giraffe is tall." in second.out
    assert "indexed" not in second.err


def test_a_command_that_gives_up_a_large_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stayed for 20 s without a word, and ended without one."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (tmp_path / "home/memory").mkdir(parents=True)
    (tmp_path / "home/memory/large.md").write_text(LARGE)
    monkeypatch.setattr(indexing, "MAX_REST_S", 0)

    with parser_at_rest(monkeypatch):
        assert main(["search", "giraffe"]) == 0

    assert capsys.readouterr().err.endswith(
        "indexing them now, which takes 0 s at most\n"
        "not finished: `hm sync` indexes the rest\n"
    )


def test_a_person_who_waits_gets_one_whole_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal, too, the first search said no more than to search again."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (tmp_path / "home/memory").mkdir(parents=True)
    (tmp_path / "home/memory/large.md").write_text(LARGE)
    monkeypatch.setattr(background_sync, "WAIT_S", 0.0)
    for module in (indexing, progress):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)

    assert main(["search", "giraffe"]) == 0

    printed = capsys.readouterr()
    assert "The giraffe is tall." in printed.out
    assert "search again" not in printed.err


def test_a_person_who_stops_waiting_hears_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ended the first search without a word."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    (tmp_path / "home/memory").mkdir(parents=True)
    monkeypatch.setattr(indexing, "is_terminal", lambda _: True)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(IndexHandle, "sync", interrupted)

    assert main(["search", "giraffe"]) == 130

    assert "what was indexed so far is kept" in capsys.readouterr().err


def test_a_write_to_a_large_note_does_not_keep_searches_waiting(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write held the memory's lock while the whole note was parsed."""
    sandbox.save("large.md", LARGE)
    with parser_at_rest(monkeypatch):
        written = memory.write("The okapi hides.", file="large.md")
        assert not written.is_indexed
        [warning] = written.warnings
        assert warning.endswith("not indexed yet; the next search indexes it")
        assert paths(ask(memory, "okapi")) == []

    memory.sync()

    assert "large.md" in paths(ask(memory, "okapi"))


def test_a_write_to_a_large_note_that_is_known_is_found_at_once(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note of a busy day went to the background with each entry, and waited."""
    for number in range(40):
        memory.write(f"The okapi hides. {number} " + "It is shy. " * 300, file="day.md")
    monkeypatch.setattr(
        background_sync.BackgroundSync, "start", lambda _: pytest.fail("waited")
    )

    written = memory.write("The quagga is gone.", file="day.md")

    day = Path(sandbox.places.notes) / "day.md"
    assert day.stat().st_size > note_indexer.LARGE_NOTE_BYTES
    assert written.is_indexed
    assert paths(ask(memory, "quagga")) == ["day.md"]


def test_a_watcher_that_indexes_a_large_note_does_not_keep_searches_waiting(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server's watcher syncs the memory that its tools search."""
    sandbox.save("zebra.md", "The zebra is striped.\n")
    sandbox.save("large.md", LARGE)
    syncing = threading.Thread(target=memory.sync)

    with parser_at_rest(monkeypatch):
        syncing.start()
        assert paths(ask(memory, "zebra")) == ["zebra.md"]

    syncing.join(60)
    assert set(paths(ask(memory, "giraffe"))) == {"large.md"}


def test_a_sync_counts_large_notes_like_others(
    sandbox: Sandbox, memory: Memory
) -> None:
    """They are indexed in a second step, after the others."""
    sandbox.save("zebra.md", "The zebra is striped.\n")
    sandbox.save("large.md", LARGE)

    first = memory.sync()
    sandbox.save("large.md", LARGE + "The okapi hides.\n")
    second = memory.sync()

    assert (first.added, first.updated, first.unchanged) == (2, 0, 0)
    assert (second.added, second.updated, second.unchanged) == (0, 1, 1)
    assert second.chunks


def test_an_index_in_memory_takes_large_notes_while_the_budget_lasts(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the search itself can fill it."""
    sandbox.save("large.md", LARGE)
    sandbox.save("zebra.md", "The zebra is striped.\n")
    (sandbox.notes / ".index").mkdir()
    sandbox.index_file.write_bytes(b"no database" * 1000)
    monkeypatch.setattr(background_sync, "WAIT_S", -1.0)

    found = ask(memory, "zebra")

    assert paths(found) == ["zebra.md"]
    assert any("large.md is large" in one for one in found.report.warnings)


def test_lines_of_a_huge_note_are_refused_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gigabyte was read, split and masked to show two lines of it."""
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    with (notes / "huge.md").open("wb") as file:
        file.truncate(1 << 30)
    monkeypatch.setattr(folder, "_read_whole", None)

    with open_memory(home=str(tmp_path / "home")) as memory:
        for reader in (memory, memory.as_caller(Caller())):
            with reader, pytest.raises(NoteUnreadableError) as caught:
                reader.read("huge.md", start_line=1, line_count=2)

            said = (
                "huge.md was not read: it is larger than 5 MB;"
                " `hm config set max_note_mb` allows more."
            )
            assert str(caught.value) == said


def test_only_the_text_around_shown_lines_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masking a whole note takes seconds; yet every line of a key is masked."""
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    body = "".join(f"{'Zm9vYmFyYmF6cXV4' * 4}\n" for _ in range(200))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n"
    filler = "The giraffe is tall.\n" * 20_000
    (notes / "large.md").write_text(filler + key + filler)
    sizes: list[int] = []
    real = redaction.mask

    def counted(text: str) -> str:
        sizes.append(len(text))
        return real(text)

    monkeypatch.setattr(redaction, "mask", counted)
    home = str(tmp_path / "home")
    with open_memory(home=home) as memory, memory.as_caller(Caller()) as agent:
        shown = agent.read("large.md", start_line=20_100, line_count=2)

    assert "Zm9v" not in shown.text
    assert (shown.start_line, shown.end_line) == (20_100, 20_101)
    assert max(sizes) < 200_000
