"""The active memory of a key is in the file that is named after the key."""

from __future__ import annotations

import os

import pytest

from hivemind_memory.curation.purge_injections import find_injections
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from tests.support.sandbox import Sandbox


class KilledError(Exception):
    """What stands for the end of a process between two calls to the system."""


def save(memory: Memory, content: str, reason: str = "", source: str = "agent") -> str:
    """Save a memory under the key ``k``; return its id."""
    new = NewMemory(key="k", content=content, reason=reason, source=source)
    return memory.save(new).id


def forget(memory: Memory) -> None:
    """Forget what is active under the key."""
    memory.curation.forget(MemorySelector(name="k"))


def files(sandbox: Sandbox) -> dict[str, str]:
    """Return name -> last line of every note, but of what was superseded."""
    return {
        one.name: ("-" if "\nforgotten: " in one.read_text() else "")
        + one.read_text().strip().rpartition("\n")[2]
        for one in sandbox.notes.glob("*.md")
    }


def test_a_memory_keeps_its_file_name_through_every_undo(
    memory: Memory, sandbox: Sandbox
) -> None:
    """It used to move to k-2.md, then to k-3.md."""
    save(memory, "one")
    two = save(memory, "two", reason="r")
    undone = memory.curation.undo("")

    assert files(sandbox) == {"k.md": "one", f"k--{two}.md": "-two"}
    three = save(memory, "three", reason="r")
    memory.curation.undo("")
    hidden = {f"k--{two}.md": "-two", f"k--{three}.md": "-three"}
    assert files(sandbox) == {"k.md": "one", **hidden}
    assert undone.reactivated[0].path == "k.md"
    assert undone.forgotten[0].path == "k.md"
    assert memory.curation.history("k").memories[0].text == "one"


def test_a_new_memory_of_a_forgotten_key_gets_its_file(
    memory: Memory, sandbox: Sandbox
) -> None:
    """And the forgotten one gets it back with each undo; a purge finds them all."""
    one = save(memory, "one")
    forget(memory)
    two = save(memory, "two")
    assert files(sandbox) == {"k.md": "two", f"k--{one}.md": "-one"}

    memory.curation.undo("")
    memory.curation.undo("")

    assert files(sandbox) == {"k.md": "one", f"k--{two}.md": "-two"}
    assert memory.curation.show("k").memory.id == one
    purged = memory.curation.purge(MemorySelector(name="k"))
    assert {item.id for item in purged.memories} == {one, two}
    assert files(sandbox) == {}


def test_an_accepted_claim_gets_the_file_of_its_key(
    memory: Memory, sandbox: Sandbox
) -> None:
    """As a save does."""
    one = save(memory, "one")
    forget(memory)
    save(memory, "two", source="external")

    memory.curation.accept("k")

    assert files(sandbox) == {"k.md": "two", f"k--{one}.md": "-one"}


def test_a_file_that_a_person_renamed_keeps_its_name(
    memory: Memory, sandbox: Sandbox
) -> None:
    """A memory is found by its front matter."""
    one = save(memory, "one")
    os.rename(sandbox.notes / "k.md", sandbox.notes / "mine.md")
    forget(memory)
    save(memory, "two")
    forget(memory)

    memory.curation.restore(MemorySelector(name=one))

    assert files(sandbox) == {"mine.md": "one", "k.md": "-two"}


@pytest.mark.parametrize("call", ["link", "unlink", "sync", "after"])
@pytest.mark.parametrize("is_undo", [False, True])
def test_a_kill_between_two_renames_loses_nothing(
    memory: Memory,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    is_undo: bool,
) -> None:
    """The next command finds every memory, and finishes what was begun."""
    one = save(memory, "one")
    forget(memory)
    save(memory, "two")
    forget(memory)
    change = memory.curation.changes()[2].id  # the forget of the first

    def run() -> None:
        memory.curation.undo(change) if is_undo else save(memory, "three")

    with monkeypatch.context() as patch:
        if call == "after":
            name = "hivemind_memory.files.folder.NotesFolder.replace"
            patch.setattr(name, killed)
        else:
            patch.setattr(OpenFolder, call, killed)
        with pytest.raises(KilledError):
            run()
    assert {"-one", "-two"} <= {*files(sandbox).values()}

    run()

    found = files(sandbox)
    assert found["k.md"] == ("one" if is_undo else "three")
    assert sorted(found.values()) == sorted(
        ["one", "-two"] if is_undo else ["-one", "-two", "three"]
    )
    assert memory.curation.show("k").memory.path == "k.md"
    assert memory.curation.show(one if is_undo else "k").memory.status == "active"


def test_a_second_name_that_a_kill_left_is_no_second_memory(
    memory: Memory, sandbox: Sandbox
) -> None:
    """Each is a memory of the same id, and a restore shows one of them."""
    one = save(memory, "one")
    forget(memory)
    os.link(sandbox.notes / "k.md", sandbox.notes / f"k--{one}.md")

    memory.curation.restore(MemorySelector(name="k"))

    assert files(sandbox) == {"k.md": "one"}


def test_a_purge_looks_for_sections_under_the_name_before(memory: Memory) -> None:
    """What gave way was injected as the file of its key."""
    asked: set[str] = set()

    class Log:
        """The log of injections."""

        def count_quoting(self, paths: set[str], ids: object) -> dict[str, int]:
            """Note which paths are asked for."""
            asked.update(paths)
            return {}

    moved = "k--01M80JBHRKPTRHKEJQQCVB56P4.md"
    find_injections(memory.curation._context, Log(), {moved})  # type: ignore[arg-type]

    assert asked == {"k.md", moved}


def killed(*_: object, **__: object) -> None:
    """End where a process is killed."""
    raise KilledError
