"""What other processes save, rename and write while a purge is at work.

The purged text is gone under whatever name it got meanwhile, and nothing else is: each
receipt names all that was removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.curation import (
    forget,
    purge,
    purge_choice,
    purge_notes,
    purge_stores,
)
from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.model.curation import (
    MemorySelector,
    NewMemory,
    PurgeResult,
    SaveResult,
    UnfinishedPurge,
)
from hivemind_memory.notes.writer import NoteWriter
from hivemind_memory.projects.move_lock import moves_lock
from hivemind_memory.state.change_log import ChangeLog
from tests.support.after_first import after_first
from tests.support.purge_rig import Bench, traces, words_of
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
NEW = "A quokka sleeps under the old jetty."
HAND_WRITTEN = f"---\ntype: fact\nkey: vault\n---\n\n{SECRET}\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    sandbox = Sandbox(tmp_path / "home")
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory)


def chosen(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Let something happen right after a purge has chosen what to remove."""
    real, todo = purge.plan_purge, [work]

    def plan(*args: Any) -> Any:
        if todo:
            todo.pop()()
        return real(*args)

    monkeypatch.setattr(purge, "plan_purge", plan)


def is_clean(bench: Bench, receipt: PurgeResult) -> bool:
    """Return whether a receipt is complete and nothing holds the text any more."""
    left = traces(bench.sandbox.home, words_of(SECRET), bench.sandbox.index_file)
    assert left == []
    return receipt.is_complete


def save_new(bench: Bench) -> SaveResult:
    return bench.save("vault", NEW, reason="it changed")


def removed(receipt: PurgeResult) -> list[str]:
    return sorted(one.path for one in receipt.memories)


def test_a_save_of_the_same_key_beside_a_purge(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The purge deleted the new text, and left the old one in ``superseded/``."""
    old = bench.save("vault", SECRET)
    chosen(monkeypatch, lambda: save_new(bench))

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)
    assert removed(receipt) == [f"superseded/vault--{old.id}.md"]
    assert NEW in bench.read("vault.md")
    assert bench.found("quokka") == ["vault.md"]


def test_the_new_memory_does_not_refer_to_the_purged_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was saved after the references had been removed."""
    old = bench.save("vault", SECRET)
    references = purge_notes.remove_references
    monkeypatch.setattr(
        purge_notes,
        "remove_references",
        after_first(references, lambda: save_new(bench)),
    )

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)
    assert NEW in bench.read("vault.md")
    assert old.id not in bench.read("vault.md")


def test_a_save_beside_the_purge_of_a_memory_without_an_id(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version that was replaced gets an id that the purge has never seen."""
    bench.sandbox.save("vault.md", HAND_WRITTEN)
    chosen(monkeypatch, lambda: save_new(bench))

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)
    assert NEW in bench.read("vault.md")


def test_a_save_while_a_purge_chooses(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index knew the old version, the note was the new one already."""
    bench.save("vault", SECRET)
    bench.memory.sync()
    find = purge_choice.find_targets
    saves = iter([lambda: save_new(bench)])

    def find_later(*args: object, **more: object) -> object:
        next(saves, lambda: None)()
        return find(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(purge_choice, "find_targets", find_later)

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)


@pytest.mark.parametrize("new_path", ["moved.md", "projects/shop/vault.md"])
@pytest.mark.parametrize("text", [f"{SECRET}\n", HAND_WRITTEN])
def test_a_note_that_is_renamed_beside_a_purge(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, new_path: str, text: str
) -> None:
    bench.sandbox.save("vault.md", text)

    def rename() -> None:
        new = bench.sandbox.notes / new_path
        new.parent.mkdir(parents=True, exist_ok=True)
        (bench.sandbox.notes / "vault.md").rename(new)

    chosen(monkeypatch, rename)

    receipt = bench.purge("vault.md", is_forced=True)

    assert is_clean(bench, receipt)
    assert new_path in removed(receipt)


def test_a_memory_that_is_renamed_beside_a_purge(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id it is found even if its text has changed as well."""
    bench.save("vault", SECRET)

    def rename() -> None:
        old = bench.sandbox.notes / "vault.md"
        old.write_text(f"{old.read_text()}\nMore of it.\n")
        old.rename(bench.sandbox.notes / "moved.md")

    chosen(monkeypatch, rename)

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)
    assert removed(receipt) == ["moved.md"]


def test_a_note_with_entries_that_is_renamed_beside_a_purge(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the entry goes; the rest of the note stays."""
    bench.memory.write(NEW, file="log.md")
    entry = bench.memory.write(SECRET, file="log.md")
    notes = bench.sandbox.notes
    chosen(monkeypatch, lambda: (notes / "log.md").rename(notes / "moved.md"))

    receipt = bench.purge(entry.id)

    assert is_clean(bench, receipt)
    assert NEW in bench.read("moved.md")


def test_the_same_text_saved_elsewhere_beside_a_purge_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.save("vault", SECRET)
    chosen(monkeypatch, lambda: bench.save("other", SECRET))

    receipt = bench.purge("vault")

    assert is_clean(bench, receipt)
    assert removed(receipt) == ["other.md", "vault.md"]


def test_an_entry_written_to_a_note_beside_its_purge_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note goes as a whole, and the writer was told that it is saved."""
    bench.memory.write(SECRET, file="log.md")
    late = []
    chosen(monkeypatch, lambda: late.append(bench.memory.write(NEW, file="log.md").id))

    receipt = bench.purge("log.md", is_forced=True)

    assert is_clean(bench, receipt)
    assert late[0] in {one.id for one in receipt.memories}


def test_an_entry_that_waited_while_its_text_was_purged_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had asked what was purged, and then waited for its turn to write."""
    bench.save("vault", SECRET)
    real, todo = NoteWriter.append, [lambda: bench.purge("vault")]
    receipts = []

    def append(writer: NoteWriter, *args: Any, **more: Any) -> Any:
        if todo:
            receipts.append(todo.pop()())
        return real(writer, *args, **more)

    monkeypatch.setattr(NoteWriter, "append", append)

    with pytest.raises(UsageError, match="was purged"):
        bench.memory.write(SECRET, file="log.md")

    assert is_clean(bench, receipts[0])
    assert not (bench.sandbox.notes / "log.md").exists()
    bench.memory.write(SECRET, file="log.md", is_forced=True)


@pytest.mark.parametrize("kind", ["save", "forget", "link", "entry"])
def test_a_change_that_is_recorded_after_its_purge_is_in_no_log(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The log of changes named its key, though the purge had looked through it."""
    name, selected = "zanzibarquux", "zanzibarquux"
    wanted = NewMemory(key=name, content=SECRET)
    if kind == "entry":
        file = f"{name}.md"
        name = selected = bench.memory.write(SECRET, file=file).id
    elif kind != "save":
        bench.memory.save(wanted)
        bench.memory.save(NewMemory(key="other", content=NEW))
    change = {
        "save": lambda: bench.memory.save(wanted),
        "link": lambda: bench.memory.curation.link(name, "other", "related_to"),
    }.get(kind, lambda: bench.memory.forget(MemorySelector(name=name)))
    real, todo = ChangeLog.add, [lambda: bench.purge(selected)]
    receipts = []

    def add(log: ChangeLog, *args: Any, **more: Any) -> None:
        if todo:
            receipts.append(todo.pop()())
        real(log, *args, **more)

    monkeypatch.setattr(ChangeLog, "add", add)

    change()

    assert receipts[0].is_complete
    left = traces(bench.sandbox.home, words_of(SECRET), bench.sandbox.index_file)
    assert left == []
    kinds = {made.kind for made in ChangeLog(bench.memory.state()).newest()}
    assert kinds <= {"save"}


def test_a_purge_that_waits_for_a_capture_keeps_no_project_from_being_moved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move kept the capture from saving: all three waited until one gave up."""
    bench.save("vault", SECRET)
    monkeypatch.setattr("hivemind_memory.projects.move_lock.LOCK_WAIT_S", 0.01)
    real, waited = purge.capture_lock, []

    def capture_lock(*given: str) -> Any:
        with moves_lock(bench.memory.places.shared_locks):
            waited.append(True)
        return real(*given)

    monkeypatch.setattr(purge, "capture_lock", capture_lock)

    receipt = bench.memory.curation.purge(MemorySelector(name="vault"))

    assert waited
    assert is_clean(bench, receipt)


def test_what_is_written_last_makes_the_receipt_incomplete(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes themselves are looked at, not only the index."""
    bench.save("vault", SECRET)
    text = bench.read("vault.md")
    last = purge_stores.STORES[-1]
    clean = after_first(last.clean, lambda: bench.sandbox.save("back.md", text))
    monkeypatch.setattr(
        purge, "STORES", (*purge_stores.STORES[:-1], last._replace(clean=clean))
    )

    receipt = bench.purge("vault")
    again = bench.purge("vault")

    assert [one.what for one in receipt.left] == ["back.md"]
    assert is_clean(bench, again)
    assert removed(again) == ["back.md"]


def test_a_purge_that_is_finished_later_finds_what_was_replaced_since(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was killed before it removed anything, and the key was saved again."""
    bench.save("vault", SECRET)
    with monkeypatch.context() as patch:
        patch.setattr(purge, "STORES", ())
        patch.setattr(bench.state.__class__, "finish", lambda *_: None)
        bench.purge("vault")
    save_new(bench)
    [unfinished] = bench.state.unfinished()

    receipt = purge.purge(bench.context(), UnfinishedPurge.of_hash(unfinished))

    assert is_clean(bench, receipt)
    assert NEW in bench.read("vault.md")


def test_a_memory_saved_while_its_session_is_purged_is_not_hidden(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was hidden, and the receipt did not name it."""
    bench.save("vault", SECRET, session="5e55")
    chosen(monkeypatch, lambda: bench.save("other", NEW, session="5e55"))

    receipt = bench.purge(session="5e55")

    assert is_clean(bench, receipt)
    assert removed(receipt) == ["vault.md"]
    assert bench.found("quokka") == ["other.md"]


def test_a_memory_saved_beside_forgetting_one_without_an_id_is_not_hidden(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new one has the path of the old one, and is another memory."""
    bench.sandbox.save("vault.md", HAND_WRITTEN)
    find = after_first(forget.find_targets, lambda: save_new(bench))
    monkeypatch.setattr(forget, "find_targets", find)

    with pytest.raises(MemoryNotFoundError):
        bench.forget("vault")

    assert bench.found("quokka") == ["vault.md"]
