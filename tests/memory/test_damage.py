"""A damaged index: questions are answered all the same, a rebuild heals, notes stay."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.index.sqlite.engine import SqliteEngine
from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths
from tests.support.tiers import mostly_thorough

NOTES = 12
PAGE = 4096
REBUILT = "the index was damaged and has been rebuilt from the notes"


@pytest.fixture
def sandbox(sandbox: Sandbox) -> Sandbox:
    for number in range(NOTES):
        body = "\n\n\n".join(f"part {n} of common text {number}" for n in range(20))
        sandbox.save(f"{number:02}.md", f"# Note {number}\n\n{body}\n")
    with sandbox.memory() as memory:
        memory.sync()
    return sandbox


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.md")}


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def cut_in_page(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2 + 100)


def zero_header(file: Path) -> None:
    with file.open("r+b") as raw:
        raw.write(b"\0" * 100)


def random_bytes(file: Path) -> None:
    file.write_bytes(random.Random(1).randbytes(50_000))


def overwrite_middle(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as raw:
        for at in range(2 * PAGE, size, 2 * PAGE):
            raw.seek(at)
            raw.write(b"\xff" * PAGE)


def empty(file: Path) -> None:
    file.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        truncate,
        cut_in_page,
        zero_header,
        random_bytes,
        overwrite_middle,
        empty,
    )
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_does_not_stop_a_question(
    sandbox: Sandbox, damage: Callable[[Path], None]
) -> None:
    """The search rebuilds it, answers rightly, and says so once."""
    before = contents(sandbox.notes)
    damage(sandbox.index_file)

    with sandbox.memory() as memory:
        answer = ask(memory, "common", max_results=1000, keeps_repetitions=True)
        listed = memory.list()

        assert len(answer.hits) == NOTES * 20
        assert answer.report.is_fresh
        assert len(listed) == NOTES
        assert {note.chunk_count for note in listed} == {20}
        if damage is not empty:  # to SQLite an empty file is a new one
            assert answer.report.warnings == (REBUILT,)
        assert ask(memory, "common").report.warnings == ()
        wrong = [one for one in memory.diagnose().findings if not one.is_ok]
        assert {one.name for one in wrong} <= {"privacy"}  # a test's folders are open
        assert difference_from_fresh(sandbox, memory, ("common",)) == []
    assert contents(sandbox.notes) == before


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_rebuild_heals(sandbox: Sandbox, damage: Callable[[Path], None]) -> None:
    """Also what cannot even be opened."""
    before = contents(sandbox.notes)
    damage(sandbox.index_file)

    with sandbox.memory() as memory:
        memory.rebuild()

        assert ask(memory, "common").report.warnings == ()
        assert difference_from_fresh(sandbox, memory, ("common",)) == []
    assert contents(sandbox.notes) == before


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_under_a_running_process_does_not_kill_it(
    sandbox: Sandbox, damage: Callable[[Path], None]
) -> None:
    """Its file is cut off or scribbled over while it has it open.

    In a process of its own: a memory map of a file that is cut off can kill.
    """
    pid = os.fork()
    if not pid:
        status = 1
        try:
            with sandbox.memory() as memory:
                assert (
                    len(
                        ask(
                            memory, "common", max_results=1000, keeps_repetitions=True
                        ).hits
                    )
                    == NOTES * 20
                )
                damage(sandbox.index_file)
                sandbox.save("new.md", "a new note\n")
                for _ in range(3):
                    answer = ask(memory, "new")
                    assert paths(answer) == ["new.md"]
                    assert answer.report.is_fresh or answer.report.warnings
                memory.write("remember this", file="entry.md")
                assert paths(ask(memory, "remember")) == ["entry.md"]
                memory.rebuild()
                assert (
                    len(
                        ask(
                            memory, "common", max_results=1000, keeps_repetitions=True
                        ).hits
                    )
                    == NOTES * 20
                )
            status = 0
        except BaseException:  # noqa: BLE001 - the parent is to hear of all
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    with sandbox.memory() as memory:
        assert difference_from_fresh(sandbox, memory, ("common", "remember")) == []


def test_a_process_with_a_stand_in_takes_the_file_once_it_is_sound(
    sandbox: Sandbox,
) -> None:
    """Healed by another process: nobody has to start this one again."""
    zero_header(sandbox.index_file)
    rebuild = KernelLock(f"{sandbox.places.rebuild_file}.lock")
    with sandbox.memory() as memory:
        assert rebuild.try_acquire()
        for _ in range(2):
            [warning] = ask(memory, "common").report.warnings
            assert "hm rebuild" in warning
        rebuild.release()

        with sandbox.memory() as other:
            other.rebuild()

        assert ask(memory, "common").report.warnings == ()
        memory.sync()
        assert difference_from_fresh(sandbox, memory) == []


def test_no_place_for_an_index_is_no_reason_to_answer_nothing(tmp_path: Path) -> None:
    """A read-only folder, a full disk: here a file where the folder should be."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("note.md", "the answer\n")
    Path(sandbox.places.index).write_text("in the way")

    with sandbox.memory() as memory:
        answer = ask(memory, "answer")
        written = memory.write("one more", file="note.md")

        assert paths(answer) == ["note.md"]
        assert "cannot be written" in answer.report.warnings[0]
        assert "one more" in (sandbox.notes / "note.md").read_text()
        assert paths(ask(memory, "more")) == ["note.md"]
        assert written.path == "note.md"

        Path(sandbox.places.index).unlink()
        assert ask(memory, "more").report.warnings == ()


@pytest.mark.parametrize("seed", mostly_thorough(range(12), every=4))
def test_random_damage_is_survived_and_healed(sandbox: Sandbox, seed: int) -> None:
    """Whatever the bytes are. benchmarks/damage_index.py tries many more."""
    before = contents(sandbox.notes)

    damage_at_random(sandbox, random.Random(seed))

    with sandbox.memory() as memory:
        survive(memory)
        memory.rebuild()
        assert difference_from_fresh(sandbox, memory, ("common",)) == []
    assert contents(sandbox.notes) == before


def damage_at_random(sandbox: Sandbox, rng: random.Random) -> None:
    """Turn bytes, cut off, or leave a log that does not fit."""
    file = sandbox.index_file
    size = file.stat().st_size
    kind = rng.randrange(4)
    if kind == 0:
        os.truncate(file, rng.randrange(size))
        return
    if kind == 1:
        shutil.copyfile(file, f"{file}-wal")
    with file.open("r+b") as raw:
        for _ in range(rng.choice((1, 20, 2000))):
            raw.seek(rng.randrange(size))
            raw.write(rng.randbytes(rng.choice((1, 4, 64))))


def survive(memory: Memory) -> None:
    """Do what people do with a memory whose index may say anything."""
    ask(memory, "common text 7")
    ask(memory, "nothing of that")
    memory.list()
    memory.status()
    memory.diagnose()
    memory.write("an entry", file="entries/today.md")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_status_names_the_index_file_and_an_answer_says_what_to_run(
    sandbox: Sandbox, damage: Callable[[Path], None]
) -> None:
    """The index in memory that stands in for it is not the state of the memory."""
    damage(sandbox.index_file)
    damaged = sandbox.index_file.read_bytes()

    with sandbox.memory() as memory:
        before = memory.status()
        assert sandbox.index_file.read_bytes() == damaged or damage is empty
        ask(memory, "common text")
        after = memory.status()

    assert before.index_file == after.index_file == str(sandbox.index_file)
    if before.chunks == 0:
        assert before.notes == (0 if damage is empty else NOTES)
        assert before.stale_notes == NOTES
        reasons = [one.reason for one in before.skipped]
        assert damage is empty or any("hm rebuild" in why for why in reasons)
    assert (after.notes, after.stale_notes, after.skipped) == (NOTES, 0, ())
    assert after.index_bytes > 0


def test_counting_claims_after_the_status_leaves_a_damaged_index(
    sandbox: Sandbox,
) -> None:
    """``hm status`` does both; it once rebuilt the index that it had just shown."""
    zero_header(sandbox.index_file)
    damaged = sandbox.index_file.read_bytes()

    with sandbox.memory() as memory:
        [skipped] = memory.status().skipped
        with pytest.raises(IndexUnusableError):
            memory.count_pending(is_fresh=True)

        assert sandbox.index_file.read_bytes() == damaged
        assert skipped.reason.endswith(
            "the next search or `hm rebuild` rebuilds it from the notes"
        )
        assert REBUILT in ask(memory, "common text").report.warnings


def test_a_damaged_index_that_cannot_be_rebuilt_is_answered_from_memory(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, say; the same file is not tried again for each question."""
    zero_header(sandbox.index_file)
    tries: list[object] = []

    def refuse(*_: object, **__: object) -> None:
        tries.append(1)
        raise IndexUnusableError("the disk is full")

    monkeypatch.setattr(SqliteEngine, "rebuild", refuse)
    with sandbox.memory() as memory:
        for _ in range(3):
            answer = ask(memory, "common", max_results=1000, keeps_repetitions=True)
            assert len(answer.hits) == NOTES * 20
            [warning] = answer.report.warnings
            assert "hm rebuild" in warning

    assert len(tries) == 1
