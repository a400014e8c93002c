"""Large notes of one project, and those who work in another on the same server."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.background_sync import BackgroundSync
from hivemind_memory.model.query import Query
from hivemind_memory.model.results import SyncResult

LARGE = "".join(
    f"- Heron {number} stands in field {number}.\n" for number in range(5000)
)


def test_a_search_does_not_wait_for_a_large_note_that_it_may_not_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search beside another project's import took a second for nothing."""
    waits: list[str] = []
    monkeypatch.setattr(BackgroundSync, "start", lambda _: None)
    with opening.open_memory(home=str(tmp_path)) as memory:
        callers = {name: Caller(project=f"projects/{name}") for name in ("one", "two")}
        one, two = map(memory.as_caller, callers.values())
        for name, text in (("one", LARGE), ("two", "Cranes dance.\n")):
            folder = tmp_path / "memory" / "projects" / name
            folder.mkdir(parents=True)
            (folder / "note.md").write_text(text, encoding="utf-8")

        def wait(*_: object) -> bool:
            waits.append("waited")
            return False

        monkeypatch.setattr(BackgroundSync, "wait", wait)

        answer = two.search(Query(text="cranes"))
        for_others = list(waits)
        own = one.search(Query(text="herons"))
        one.close()
        two.close()

    assert for_others == []
    assert answer.hits
    assert not any("large" in notice for notice in answer.report.warnings)
    assert waits == ["waited"]
    assert any("large" in notice for notice in own.report.warnings)


def test_projects_of_a_server_keep_what_was_read_of_notes_once(tmp_path: Path) -> None:
    """Each kept the same: with every project a server took as much memory again."""
    first = opening.open_memory(home=str(tmp_path))
    other = opening.open_memory(home=str(tmp_path / "other"))
    second = first.as_caller(Caller(project="projects/two"))

    readers = [one.syncer._indexer._blocks() for one in (first, second, other)]

    assert readers[0] is readers[1]
    assert readers[0] is not readers[2]


def test_projects_of_a_server_index_a_large_note_in_turn() -> None:
    """Each began for itself, and all others waited for as many threads that compute."""
    running: list[int] = []
    most: list[int] = []
    begun, may_end = threading.Event(), threading.Event()

    def sync_all(_: object) -> SyncResult:
        running.append(1)
        most.append(len(running))
        begun.set()
        may_end.wait()
        running.pop()
        return SyncResult()

    projects = [BackgroundSync("index.db", sync_all, float) for _ in range(3)]
    for project in projects:
        project.start()
    begun.wait()
    are_waiting = [project.wait(0.05) for project in projects]
    may_end.set()

    assert are_waiting == [False] * 3
    assert all(project.wait(60) for project in projects)
    assert most == [1, 1, 1]
