"""A folder of notes may come with links in the place of our own files."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from tests.support.forked import HM, finish

NAMES = (
    *("memory.db", "memory.db-wal", "memory.db-shm", "memory.db.writer.lock"),
    *("memory.db.hold", "rebuild.db", "rebuild.db.lock", "leader.lock", ".gitignore"),
    *("watch.json", "locks/journal.lock", "locks/projects.lock"),
)
COMMANDS = (
    ("search", "harbour"),
    ("write", "The harbour opens at six."),
    ("save", "harbour-hours", "From six to ten."),
    ("sync",),
    ("rebuild",),
    ("status",),
)


def database(path: Path) -> None:
    """Make a database of another program."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs(word); INSERT INTO theirs VALUES ('kept')")
    connection.close()


def text(path: Path) -> None:
    """Make a file of another program."""
    path.write_text("export EDITOR=vi\n")


@pytest.mark.parametrize("make", [text, database])
@pytest.mark.parametrize("name", NAMES)
def test_a_link_in_the_index_folder_leads_to_no_change_elsewhere(
    tmp_path: Path, name: str, make: object
) -> None:
    """A search emptied the file that a link of a cloned repository led to."""
    home, victim = tmp_path / "home", tmp_path / "victim"
    assert callable(make)
    make(victim)
    before, mode = victim.read_bytes(), victim.stat().st_mode
    link = home / "memory" / ".index" / name
    link.parent.mkdir(parents=True)
    (home / "memory" / "harbour.md").write_text("The harbour is deep.\n")
    link.symlink_to(victim)
    env = {**os.environ, "HIVEMIND_HOME": str(home)}

    for words in COMMANDS:
        done = finish([*HM, *words], env=env, cwd=tmp_path)
        assert b"Traceback" not in done.stderr
        assert b"This is a bug" not in done.stderr, done.stderr
        if words[0] == "search":
            assert b"The harbour is deep." in done.stdout, done.stderr

    assert victim.read_bytes() == before
    assert victim.stat().st_mode == mode
    assert {file.name for file in tmp_path.iterdir()} == {"home", "victim"}
