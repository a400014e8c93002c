"""An entry that came back is told where the person looks, until they deal with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.files.places import RECOVERED_FILE
from tests.cli.conftest import Hm

if os.name != "posix":
    pytest.skip("these are POSIX terminals", allow_module_level=True)

from tests.cli.test_terminal import on_terminal


def lose(home: Path, hm: Hm, path: str, *words: str) -> str:
    """Write an entry, and save an old buffer over it; return the entry's id."""
    note = home / "memory" / path
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("# An old buffer\n")
    written = hm("write", "--file", path, "--json", *words).json
    note.write_text("# An old buffer\n")
    then = note.stat().st_mtime - 30
    os.utime(note, (then, then))
    return str(written["id"])


def words_of(screen: str) -> str:
    """Return what a terminal shows without its line breaks."""
    return " ".join(screen.split())


@pytest.fixture
def entry(home: Path, hm: Hm) -> str:
    """An entry of a project that an agent's search has brought back."""
    lost = lose(home, hm, "projects/shop/n.md", "The harbour is blue.")
    os.environ["HIVEMIND_PROJECT"] = "shop"
    try:
        assert hm("search", "harbour").out
    finally:
        del os.environ["HIVEMIND_PROJECT"]
    return lost


def test_the_next_command_on_a_terminal_tells_it_once(entry: str) -> None:
    """Whatever it is; and with the command that undoes it."""
    notice = (
        "note: an entry that was removed from projects/shop/n.md within 10 minutes is"
        f" back in projects/shop/recovered.md; `hm forget {entry}` hides it"
    )

    first, second = (words_of(on_terminal("list")[1]) for _ in range(2))

    assert notice in first
    assert "note:" not in second


def test_status_shows_it_until_it_is_dealt_with(home: Path, hm: Hm, entry: str) -> None:
    """On a terminal, in a pipe, and as JSON."""
    on_terminal("list")

    assert "recovered: an entry that was removed from projects/shop/n.md" in (
        hm("status").out
    )
    assert entry in words_of(on_terminal("status")[1]).replace(" ", "")
    assert [entry in one for one in hm("status", "--json").json["recovered"]] == [True]

    assert hm("forget", entry).code == 0

    assert "recovered" not in hm("status").out
    assert hm("status", "--json").json["recovered"] == []


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_who_deletes_or_moves_it_by_hand_is_told_no_more(
    home: Path, hm: Hm, entry: str, how: str
) -> None:
    """Both are answers to the notice."""
    note = home / "memory" / "projects" / "shop" / "recovered.md"
    if how == "moved":
        note.rename(note.with_name("kept.md"))
    else:
        note.unlink()

    assert "note:" not in on_terminal("list")[1]
    assert "recovered" not in hm("status").out
    assert not (home / "journal" / RECOVERED_FILE).exists()


def test_who_may_not_see_the_scope_is_told_nothing(entry: str) -> None:
    """And the one who may is told afterwards."""
    assert "note:" not in on_terminal("list", HIVEMIND_PROJECT="site")[1]
    assert "note:" in on_terminal("list", HIVEMIND_PROJECT="shop")[1]


@pytest.mark.parametrize("words", [("hook", "session-start"), ("completion", "bash")])
def test_no_program_takes_the_notice_from_the_person(
    entry: str, words: tuple[str, ...]
) -> None:
    """What an agent or a shell starts is read by nobody."""
    on_terminal(*words)

    assert "note:" in on_terminal("list")[1]


def test_an_agent_on_a_terminal_does_not_take_the_notice(entry: str) -> None:
    """It was told to an agent in a pane, and the person never saw it."""
    agent = {"CLAUDECODE": "1", "HIVEMIND_PROJECT": "shop"}

    assert "note:" not in on_terminal("list", **agent)[1]
    assert "note:" in on_terminal("list")[1]


def test_what_a_pipe_reads_stays_as_it_was(hm: Hm, entry: str) -> None:
    """Scripts and agents get no notice, and take it from nobody."""
    assert hm("list").err == ""
    assert "note:" in on_terminal("list")[1]


def test_a_purge_reaches_it(home: Path, hm: Hm, entry: str) -> None:
    """Its id and its path are gone with it."""
    kept = home / "journal" / RECOVERED_FILE
    assert entry in kept.read_text()

    assert hm("forget", entry, "--purge", "--yes").code == 0

    assert not kept.exists()


def test_sync_names_what_it_brought_back(home: Path, hm: Hm) -> None:
    """Not only how many."""
    lost = lose(home, hm, "n.md", "The harbour is blue.")

    assert f"`hm forget {lost}` hides it" in hm("sync").err
