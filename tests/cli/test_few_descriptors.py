"""With too few descriptors a command fails, but never after it has saved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.forked import HM, finish

TEXT = "The staging cluster is rebuilt every night."
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
        codes.add(done.returncode)
    assert {0, 1} <= codes
