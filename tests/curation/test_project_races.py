"""One project is moved at a time, whichever processes move them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hivemind_memory.curation import project_move
from hivemind_memory.curation.project_move import resume_move
from hivemind_memory.errors import NotSavedError
from hivemind_memory.files import atomic
from hivemind_memory.memory.memory import Memory
from hivemind_memory.projects.identity import SeenRepository
from tests.support.sandbox import Sandbox

_MOVE = """
import os, sys
from hivemind_memory import opening
home, source, target = sys.argv[1:]
real = os.rename
def rename(old, new, **names):
    if os.path.basename(old) == source:
        print("moving", flush=True)
        sys.stdin.readline()
    real(old, new, **names)
with opening.open_memory(home=home, flags={"embedding_provider": "none"}) as memory:
    os.rename = rename
    memory.curation.projects.move(source, target, is_merge=False)
"""
"""Renames a project; in the middle of that it waits for a line."""


@pytest.fixture
def projects(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Three projects with a note each, and little patience for a lock."""
    for name in ("one", "two", "three"):
        sandbox.save(f"projects/{name}/{name}.md", f"Of {name}.\n")
    monkeypatch.setattr("hivemind_memory.projects.move_lock.LOCK_WAIT_S", 0.01)
    return sandbox


@contextmanager
def moving(sandbox: Sandbox, source: str, target: str) -> Iterator[None]:
    """Rename a project in another process, which is in the middle of it meanwhile."""
    command = [sys.executable, "-c", _MOVE, str(sandbox.home), source, target]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=sandbox.home,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "moving\n"
            yield
        finally:
            _, errors = process.communicate("\n")
        assert (process.returncode, errors) == (0, "")


def files(sandbox: Sandbox) -> dict[str, bytes]:
    """Return the notes and the records of all projects."""
    above = sandbox.notes / "projects"
    return {
        file.relative_to(above).as_posix(): file.read_bytes()
        for file in sorted(above.rglob("*"))
        if file.is_file()
    }


def _rename(memory: Memory) -> None:
    memory.curation.projects.move("two", "four", is_merge=False)


def _merge(memory: Memory) -> None:
    memory.curation.projects.move("two", "three", is_merge=True)


def _adopt(memory: Memory) -> None:
    seen = SeenRepository(folder="/src/two", git_folder="/src/two/.git", mark="7")
    memory.curation.projects.adopt(seen, "three", "two")


@pytest.mark.parametrize("change", [_rename, _merge, _adopt])
def test_while_one_process_moves_a_project_no_other_changes_any(
    projects: Sandbox, memory: Memory, change: Callable[[Memory], None]
) -> None:
    """It says who is at it; once that one is done, it goes through."""
    before = files(projects)

    with moving(projects, "one", "first"):
        with pytest.raises(NotSavedError, match=r"pid \d+ has held the lock"):
            change(memory)
        assert files(projects) == before

    moved = files(projects)
    assert "first/one.md" in moved
    change(memory)
    assert files(projects) != moved


def test_a_move_that_another_process_is_at_is_not_finished_for_it(
    projects: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Its plan lies there as that of a killed one does."""
    before = files(projects)

    with moving(projects, "one", "first"):
        resume_move(projects.places)

        assert "has held the lock" in caplog.text
        assert Path(projects.places.project_move).exists()
        assert files(projects) == before
    assert set(files(projects)) == {"first/one.md", "three/three.md", "two/two.md"}


def test_the_plan_of_a_move_in_another_notes_folder_is_not_overwritten(
    projects: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both saw none, for each notes folder has a lock of its own."""
    plan, before = Path(projects.places.project_move), files(projects)

    def write_file(path: str, data: bytes, **how: bool) -> bool:
        plan.write_text('{"notes": "/elsewhere"}')
        return atomic.write_file(path, data, **how)

    monkeypatch.setattr(project_move, "write_file", write_file)

    with pytest.raises(NotSavedError, match="in another notes folder"):
        _rename(memory)

    assert plan.read_text() == '{"notes": "/elsewhere"}'
    assert files(projects) == before
