"""Answers about what is not there, not yet there, or no longer there."""

from __future__ import annotations

import re
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hivemind_memory.inject import injector
from tests.cli.conftest import Hm


def test_why_of_a_memory_saved_after_the_last_injection_says_so(
    hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gave a reason that it had not been left out for."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    hm("save", "-g", "tea", "Green tea.")
    assert hm("inject").code == 0
    hm("save", "walrus", "The walrus is staging.")
    _make_older(monkeypatch)

    told = hm("why", "walrus").out
    hm("inject")

    assert told.endswith(
        ": it was saved after the last injection; `hm inject` updates the section\n"
    )
    assert "saved after" not in hm("why", "walrus").out


@pytest.mark.parametrize(
    "command",
    [
        "project show nowhere",
        "context list --root nowhere",
        "context list --blocks nowhere/blocks.json",
        "inject nowhere",
        "git-hook install nowhere",
    ],
)
def test_every_command_says_the_same_of_a_folder_that_is_not_there(
    hm: Hm, home: Path, command: str
) -> None:
    """There were four endings, and a hint that named a list of commands."""
    ran = hm(*command.split())

    assert re.fullmatch(
        r"error: There is no folder .*nowhere\.( No hook was changed\.)?\n"
        r"hint: Give the path of a folder that exists\.\n",
        ran.err,
    )


@pytest.mark.parametrize(
    "command",
    [
        "context list --blocks",
        "context build --task x --tokenizer",
        "consolidate --apply",
    ],
)
def test_a_device_is_not_to_be_moved_away(hm: Hm, home: Path, command: str) -> None:
    """The user named it; it is not in the place of anything."""
    ran = hm(*command.split(), "/dev/null")

    assert ran.err == (
        "error: /dev/null cannot be read: it is a device, not a file.\n"
        "hint: Give the path of a regular file.\n"
    )


@pytest.mark.parametrize("command", ["show", "history", "get", "why", "edit"])
def test_a_forgotten_memory_is_said_to_be_forgotten(
    hm: Hm, home: Path, command: str
) -> None:
    """The key was said to be unknown, as after a typing error."""
    hm("save", "zoom-limit", "The limit is 8.")
    hm("forget", "zoom-limit")

    ran = hm(command, "zoom-limit")

    assert ran.code == 1
    assert re.fullmatch(
        r"error: The memory zoom-limit was forgotten on [\d-]{10} at \d\d:\d\d\.\n"
        r"hint: `hm restore zoom-limit` brings it back\.\n",
        ran.err,
    )


@pytest.mark.parametrize("command", ["show", "history", "get", "why"])
def test_a_forgotten_entry_is_said_to_be_forgotten(
    hm: Hm, home: Path, command: str
) -> None:
    """Its id was said to mean nothing."""
    entry = hm("write", "--json", "The limit is 8.").json["id"]
    hm("forget", entry)

    ran = hm(command, entry)

    assert ran.code == 1
    assert ran.err.startswith(f"error: The entry {entry} in ")
    assert ran.err.endswith(f"hint: `hm restore {entry}` brings it back.\n")


def test_a_link_to_a_forgotten_memory_is_refused_for_that(hm: Hm, home: Path) -> None:
    """Its key was said to be unknown."""
    hm("save", "a", "One.")
    hm("save", "b", "Two.")
    hm("forget", "b")

    ran = hm("link", "a", "b")

    assert "The memory b was forgotten on " in ran.err
    assert "Nothing was linked" in ran.err


@pytest.mark.parametrize("command", ["show", "history", "get", "why"])
def test_nothing_is_said_of_a_purged_memory(hm: Hm, home: Path, command: str) -> None:
    """Its name may have been the secret."""
    hm("save", "zoom-limit", "The limit is 8.")
    hm("forget", "--purge", "--yes", "zoom-limit")

    ran = hm(command, "zoom-limit")

    assert "There is no memory 'zoom-limit'." in ran.err
    assert "forgotten" not in ran.err


def test_a_forgotten_memory_of_another_project_is_not_told(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may not see it does not learn that it was there."""
    hm("save", "--scope", "project/shop", "zoom-limit", "The limit is 8.")
    hm("forget", "zoom-limit")

    ran = hm("show", "--scope", "global", "zoom-limit")

    assert "There is no memory 'zoom-limit'" in ran.err


@pytest.mark.parametrize("command", ["show", "get", "history", "forget"])
def test_the_first_word_of_a_key_suggests_the_key(
    hm: Hm, home: Path, command: str
) -> None:
    """Two words more are too many letters to pass for a typing error."""
    hm("save", "zoom-limit", "The limit is 8.")

    assert "Did you mean 'zoom-limit'?" in hm(command, "zoom").err


def test_a_list_of_expired_memories_says_expired(hm: Hm, home: Path) -> None:
    """Each was called active."""
    hm("save", "--expires", "2020-01-01", "old", "Soon over.")

    assert hm("list", "--status", "expired").out.split("\t")[2] == "expired"
    assert hm("list", "--status", "all", "--json").json[0]["status"] == "expired"


@pytest.mark.parametrize(
    ("mark", "status"), [("--expires", "expired"), ("done", "done")]
)
def test_what_is_over_is_shown_as_such(
    hm: Hm, home: Path, mark: str, status: str
) -> None:
    """`hm show` called an expired memory active."""
    if mark == "done":
        hm("save", "--type", "todo", "old", "Soon over.")
        note = home / "memory" / "old.md"
        note.write_text(note.read_text().replace("type:", "done: true\ntype:", 1))
    else:
        hm("save", mark, "2020-01-01", "old", "Soon over.")

    assert f"status: {status}\n" in hm("show", "old").out
    assert hm("show", "old", "--json").json["memory"]["status"] == status
    assert hm("show", "old", "--json").json["chain"][0]["status"] == status
    assert f"  {status}\n" in hm("history", "old").out


def test_a_folder_in_no_repository_has_no_project(
    hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hm project` named one after the folder, and `hm status` none."""
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    hm("save", "tea", "Green tea.")

    shown = hm("project")

    assert shown.out == "no project: this folder is in no repository\n"
    why = shown.out.removeprefix("no project: ")
    assert f"project here: none; {why}" in hm("status").out
    assert hm("project", "--json").json["scope"] == ""


def test_to_show_a_project_registers_none(
    hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look must not leave a folder behind."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    hm("save", "-g", "tea", "Green tea.")
    monkeypatch.chdir(folder)

    assert hm("project").out.startswith("projects/shop  ")

    assert not (home / "memory" / "projects").exists()


def _make_older(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the injections so far an hour older, as the log tells them."""
    limit = datetime.now().astimezone()
    last_records = injector.InjectionLog.last_records

    def older(self: injector.InjectionLog, root: str) -> list[dict[str, object]]:
        records = last_records(self, root)
        for record in records:
            at = datetime.fromisoformat(record["at"])
            if at <= limit:
                record["at"] = (at - timedelta(hours=1)).isoformat()
        return records

    monkeypatch.setattr(injector.InjectionLog, "last_records", older)


@pytest.mark.parametrize("words", [("write", "x"), ("inject",), ("status",)])
def test_a_folder_that_was_deleted_is_named_as_the_cause(
    words: tuple[str, ...], notes: Path, hm: Hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``.`` is there for the system as long as a process is in it."""
    gone = notes.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    ran = hm(*words)

    monkeypatch.chdir(notes)
    assert ran.code == 1
    assert ran.err.startswith("error: The current folder is no longer there.\nhint: Go")
