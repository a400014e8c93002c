"""What ``hm doctor`` says of the section in the current folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.inject.conftest import make_home
from tests.inject.repos import make_repo

WELL = "ok\tsection here\tCLAUDE.md has one, and git does not see it\n"


def edit(home: Path, _worktree: Path) -> None:
    """Change what a quoted note says."""
    note = home / "memory" / "shop.md"
    note.write_text(note.read_text().replace("Tuesdays", "Fridays"))


def delete(home: Path, _worktree: Path) -> None:
    """Delete a quoted note."""
    (home / "memory" / "shop.md").unlink()


def expose(_home: Path, worktree: Path) -> None:
    """Remove what git is told of the file; the hooks stay."""
    (worktree / ".git" / "info" / "attributes").write_text("")


def unfilter(_home: Path, worktree: Path) -> None:
    """Remove the filter that git is to run."""
    config = worktree / ".git" / "config"
    config.write_text(config.read_text().replace('"hivemind"', '"gone"'))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit, "the section in CLAUDE.md is older than "),
        (delete, "the section in CLAUDE.md is older than "),
        (expose, "nothing keeps the section in CLAUDE.md out of commits\n"),
        (unfilter, "nothing keeps the section in CLAUDE.md out of commits\n"),
    ],
)
def test_doctor_names_what_is_wrong_with_the_section_here(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path, Path], None],
    said: str,
) -> None:
    """And ``hm inject`` mends it."""
    home, worktree = make_home(tmp_path / "home"), make_repo(tmp_path / "shop")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))
    monkeypatch.chdir(worktree)

    def hm(word: str) -> str:
        main.main([word])
        return capsys.readouterr().out

    assert "section here" not in hm("doctor")
    hm("inject")
    assert WELL in hm("doctor")

    change(home, worktree)

    found = hm("doctor")
    assert f"problem\tsection here\t{said}" in found
    assert ": shop.md\n" in found or "older" not in said
    assert "\thint\t`hm inject` writes it again.\n" in found
    hm("inject")
    assert WELL in hm("doctor")
