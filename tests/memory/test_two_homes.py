"""Two homes whose notes folder is the same: they share its locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.errors import NotSavedError
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.notes.journal import Journal
from hivemind_memory.opening import open_memory

PROCESSES = 32
ENTRIES = 3


def work(home: Path, notes: Path, number: int, start: int) -> int:
    """Write and save as one process of a home; return its exit status."""
    os.read(start, 1)
    flags = {"embedding_provider": "none"}
    with open_memory(memory_dir=str(notes), home=str(home), flags=flags) as memory:
        for entry in range(ENTRIES):
            memory.write(f"entry {number}-{entry}.", file="shared.md")
        memory.save(NewMemory(key=f"own-{number}", content=f"Own {number}."))
        memory.save(
            NewMemory(key="common", content=f"Version {number}.", reason="newer")
        )
    return 0


@pytest.mark.thorough
def test_processes_of_two_homes_lose_and_double_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each home had locks of its own, so a key got two active memories."""
    monkeypatch.chdir(tmp_path)  # no project's scope
    notes = tmp_path / "one" / "memory"
    notes.mkdir(parents=True, mode=0o700)
    (tmp_path / "link").symlink_to(notes)
    homes = [(tmp_path / "one", notes), (tmp_path / "two", tmp_path / "link")]
    start, go = os.pipe()
    children = []
    for number in range(PROCESSES):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                status = work(*homes[number % 2], number, start)
            finally:
                os._exit(status)
        children.append(pid)
    os.write(go, b"." * PROCESSES)

    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]

    assert ends == [0] * PROCESSES
    lines = (notes / "shared.md").read_text().split("\n")
    for number in range(PROCESSES):
        for entry in range(ENTRIES):
            assert lines.count(f"entry {number}-{entry}.") == 1
    with open_memory(
        memory_dir=str(notes),
        home=str(homes[0][0]),
        flags={"embedding_provider": "none"},
    ) as memory:
        active = memory.curation.list_memories(MemoryFilter())
    keys = sorted(one.key for one in active)
    assert keys == sorted(["common", *(f"own-{n}" for n in range(PROCESSES))])
    versions = [
        path
        for path in notes.rglob("*.md")
        if any(f"\nVersion {n}." in path.read_text() for n in range(PROCESSES))
    ]
    assert len(versions) == PROCESSES
    assert not (notes / "recovered.md").exists()


def test_a_journal_waits_for_that_of_another_home(tmp_path: Path) -> None:
    """Whoever writes to a note holds the lock that lies with the notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    one = Journal(str(tmp_path / "one"), str(notes))
    two = Journal(str(tmp_path / "two"), str(notes))

    with one.session():
        refused = ""
        try:
            with two.session(wait_s=0):
                pass
        except NotSavedError as error:
            refused = str(error)

    assert "has held the lock" in refused
    with two.session(wait_s=0):
        pass
    assert (notes / ".index" / ".gitignore").read_text() == "*\n"
