"""The worked examples of CONTRIBUTING.md are applied to a copy and run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.console import is_as_shown, player, steps_of
from tests.support.tree import copy_project, project_files

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

_CHANGE = re.compile(
    r"<!-- (file|edit): (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_ROOM = re.compile(r"^\| ((?:`[\w./]+`(?:, )?)+) \|", re.MULTILINE)


def edited(text: str, diff: str) -> str:
    """Return *text* with the lines of a diff without line numbers changed."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"not there, or there twice:\n{old}"
    return text.replace(old, new)


@pytest.mark.thorough
def test_the_worked_examples_work(tmp_path: Path) -> None:
    """Whoever follows one gets what the page shows."""
    copy = copy_project(tmp_path / "copy")
    changes = _CHANGE.findall(PAGE)
    assert len(changes) == 7

    for kind, name, body in changes:
        file = copy / name
        assert file.exists() == (kind == "edit"), name
        is_new = kind == "file"
        text = body if is_new else edited(file.read_text(encoding="utf-8"), body)
        file.write_text(text, encoding="utf-8")

    with player(copy) as person:
        for step in steps_of(PAGE):
            printed = person.play(step)

            assert is_as_shown(printed, step.shown), "\n".join([step.command, *printed])
    tools = [sys.executable, "-m"]
    for check in (["ruff", "check"], ["mypy"]):
        ran = subprocess.run(
            [*tools, *check], cwd=copy, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_table_of_folders_is_complete() -> None:
    """A newcomer looks up where a change goes."""
    named = {
        room.rstrip("/")
        for cell in _ROOM.findall(PAGE)
        for room in re.findall(r"`([\w./]+)`", cell)
    }
    rooms = {
        name.parts[1]
        for name in project_files()
        if name.parts[0] == "hivemind_memory" and name.suffix == ".py"
    } - {"__init__.py", "version.py", "testing.py"}

    assert named == rooms
