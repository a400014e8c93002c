"""With too few descriptors a command fails, but never after it has saved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.support.forked import HM, finish

TEXT = "The staging cluster is rebuilt every night."
NOTHING = b"Nothing was saved"
FEWEST, ENOUGH = 8, 16


@pytest.mark.parametrize("words", [("write", TEXT), ("save", "nightly", TEXT)])
def test_an_error_for_want_of_descriptors_means_that_nothing_was_saved(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Who is told of an error writes the same again."""
    codes = set()
    for number in range(FEWEST, ENOUGH):
        home = tmp_path / f"{number}"
        (home / "memory").mkdir(parents=True)
        env = {**os.environ, "HIVEMIND_HOME": str(home)}

        done = finish([*HM, *words], env=env, cwd=tmp_path, max_files=number)

        notes = (home / "memory").rglob("*.md")
        is_saved = any(TEXT in note.read_text() for note in notes)
        said = f"{number} descriptors: {done.stderr.decode()}"
        assert (done.returncode == 0) == is_saved, said
        assert is_saved or b"listed" not in done.stderr or NOTHING in done.stderr
        codes.add(done.returncode)
    assert {0, 1} <= codes


def test_a_sync_that_could_not_read_a_note_for_want_of_descriptors_ends_with_1(
    tmp_path: Path,
) -> None:
    """It skipped every note, and ended with 0."""
    codes = set()
    for number in range(FEWEST - 1, ENOUGH):
        home = tmp_path / f"{number}"
        (home / "memory").mkdir(parents=True)
        (home / "memory" / "a.md").write_text(TEXT)
        env = {**os.environ, "HIVEMIND_HOME": str(home)}

        done = finish([*HM, "sync"], env=env, cwd=tmp_path, max_files=number)

        is_indexed = b"1 added" in done.stdout
        said = f"{number} descriptors: {done.stdout.decode()}{done.stderr.decode()}"
        assert (done.returncode == 0) == is_indexed, said
        codes.add(done.returncode)
    assert codes == {0, 1}


def test_too_little_memory_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    """It was "Unexpected MemoryError", with the hint that this is a bug."""
    assert main._report_unexpected(MemoryError()) == 1
    assert capsys.readouterr().err.startswith("error: There is not enough memory.\n")
