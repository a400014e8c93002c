"""Runs ``hm`` in this process, over a home folder of the test's own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory import environment
from hivemind_memory.cli import main
from tests.support.built_once import build_once
from tests.support.ran import Ran

Hm = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that is not there yet, and an environment without settings."""
    for name in list(main.os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")) or name in (
            "NO_COLOR",
            "VISUAL",
            "EDITOR",
        ):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    # Nobody listens here: a developer's own Ollama must not take part in a test.
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    # Nor does the terminal that the tests are run in.
    monkeypatch.setattr(environment, "terminal_session", str)
    # In no repository: there a write goes to its project.
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def hm(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Hm:
    """Return a function that runs ``hm`` with words and bytes on standard input."""

    def run(*words: str, stdin: bytes = b"") -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main.main(words)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def notes(home: Path, hm: Hm) -> Path:
    """A notes folder with three notes in it."""
    build_once("cli notes", home, lambda: _make_notes(home / "memory", hm))
    return home / "memory"


def _make_notes(folder: Path, hm: Hm) -> None:
    """Write the first of them."""
    assert hm("init").code == 0
    (folder / "deploy.md").write_text(
        "# Deploying\n\nWe deploy on Tuesdays only.\n\n"
        "## Rollback\n\nRun the rollback script, then tell the channel.\n",
        encoding="utf-8",
    )
    (folder / "cafés.md").write_text(
        "# Cafés\n\nLe café près de la gare ferme à midi.\n", encoding="utf-8"
    )
    (folder / "projects").mkdir()
    (folder / "projects" / "site.md").write_text(
        "The staging database runs on port 5433.\n", encoding="utf-8"
    )
