"""A folder of notes may come with links in the place of our own files."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from hivemind_memory.files.places import places_of
from tests.support.forked import HM, finish
from tests.support.tiers import pairs

NAMES = (
    *("memory.db", "memory.db-wal", "memory.db-shm", "memory.db.writer.lock"),
    *("memory.db.hold", "rebuild.db", "rebuild.db.lock", "leader.lock", ".gitignore"),
    *("watch.json", "locks/journal.lock", "locks/projects.lock", "cookie"),
)
IN_THE_HOME = (
    *("journal/entries.jsonl", "journal/lock", "journal/returned.jsonl"),
    *("state.db", "state.db-wal", "transcripts.db", "locks/config.lock"),
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


def run(home: Path, *words: str) -> str:
    """Return what a command says, which must be no fault of the program."""
    env = {**os.environ, "HIVEMIND_HOME": str(home)}
    done = finish([*HM, *words], env=env, cwd=home.parent)
    assert b"Traceback" not in done.stderr
    assert b"This is a bug" not in done.stderr, done.stderr
    return (done.stdout + done.stderr).decode()


MAKERS = (text, database)


@pytest.mark.parametrize(("name", "make"), pairs(NAMES, MAKERS, every=2))
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

    for words in COMMANDS:
        said = run(home, *words)
        assert words[0] != "search" or "The harbour is deep." in said

    assert victim.read_bytes() == before
    assert victim.stat().st_mode == mode
    assert {file.name for file in tmp_path.iterdir()} == {"home", "victim"}


@pytest.mark.parametrize("name", [".index", ".index/locks"])
def test_a_folder_in_place_of_the_index_is_left_alone(
    tmp_path: Path, name: str
) -> None:
    """Doctor names the link; all commands work with an index elsewhere."""
    home, theirs = tmp_path / "home", tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    text(theirs / "journal.lock")
    link = home / "memory" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs)
    (home / "memory" / "harbour.md").write_text("The harbour is deep.\n")

    for words in COMMANDS:
        said = run(home, *words)
        assert words[0] != "search" or "The harbour is deep." in said
    assert f"{link} is a link and is not followed" in run(home, "doctor")

    assert [file.name for file in theirs.iterdir()] == ["journal.lock"]
    assert (theirs / "journal.lock").read_text() == "export EDITOR=vi\n"
    link.unlink()
    assert "is a link" not in run(home, "doctor")
    assert "opens at six" in run(home, "search", "opens")


def test_a_server_leaves_an_index_that_has_become_a_link(tmp_path: Path) -> None:
    """A pull may bring the link while the server runs."""
    index = tmp_path / "notes" / ".index"
    index.mkdir(parents=True)
    places = places_of(str(tmp_path / "home"), str(index.parent), "")
    assert not places.is_moved()

    index.rmdir()
    index.symlink_to(tmp_path)

    assert places.is_moved()
    assert places.current().index.startswith(str(tmp_path / "home"))


@pytest.mark.parametrize(("name", "make"), pairs(IN_THE_HOME, MAKERS, every=2))
def test_a_link_in_the_home_leads_to_no_change_elsewhere(
    tmp_path: Path, name: str, make: object
) -> None:
    """Only this program makes these files; a link there is not followed."""
    home, victim = tmp_path / "home", tmp_path / "victim"
    assert callable(make)
    make(victim)
    before, mode = victim.read_bytes(), victim.stat().st_mode
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "harbour.md").write_text("The harbour is deep.\n")
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).symlink_to(victim)

    for words in (*COMMANDS, ("config", "set", "max_results", "7"), ("doctor",)):
        said = run(home, *words)
        assert words[0] != "search" or "The harbour is deep." in said

    assert victim.read_bytes() == before
    assert victim.stat().st_mode == mode
    assert {file.name for file in tmp_path.iterdir()} == {"home", "victim"}
