"""`hm capture`: what it prints, asks and refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Hm
from tests.jobs.test_capture import LESSON, SAID
from tests.support.capture_home import proposal
from tests.support.chat_server import ChatServer
from tests.support.sessions import put_session


@pytest.fixture
def server(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChatServer]:
    """A language model that is chosen, and a session in the user's home."""
    assert notes.is_dir()
    user = tmp_path / "user"
    put_session(user, "claude", "session-one", "", SAID)
    monkeypatch.setenv("HOME", str(user))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    with ChatServer() as made:
        made.reply = lambda _: {"memories": [proposal(LESSON, 3, 4, key="dimmer-rate")]}
        monkeypatch.setenv("HIVEMIND_LLM_PROVIDER", "openai")
        monkeypatch.setenv("HIVEMIND_LLM_MODEL", "m")
        monkeypatch.setenv("HIVEMIND_LLM_BASE_URL", made.url_for("openai"))
        yield made


def test_the_last_session_is_captured_into_the_inbox(
    hm: Hm, server: ChatServer
) -> None:
    tried = hm("capture", "--last", "--dry-run")
    said = "proposed lesson dimmer-rate (lines 3 to 4, confidence 0.95)"
    assert f"{said}: every proposal waits for you\n" in tried.out
    assert tried.err.endswith("nothing was written\n")
    assert "dimmer-rate" not in hm("inbox").out

    captured = hm("capture", "session-one", "--json")

    result = json.loads(captured.out)
    assert [memory["outcome"] for memory in result["memories"]] == ["proposed"]
    assert "agent, transcript of claude, lines 3 to 4" in hm("inbox").out
    again = hm("capture", "--last")
    assert "nothing was asked, because nothing new was said" in again.err
    assert len(server.requests) == 2


def test_the_beginning_of_an_id_names_a_session_if_no_other_begins_so(
    hm: Hm, server: ChatServer, tmp_path: Path
) -> None:
    """An id has 36 characters, and no command lists ids unless an option is set."""
    put_session(tmp_path / "user", "claude", "session-two", "", SAID)

    several = hm("capture", "session", "--dry-run")
    short = hm("capture", "ses", "--dry-run")
    captured = hm("capture", "session-o", "--dry-run", "--json")

    assert (several.code, short.code) == (2, 1)
    assert "2 sessions begin with 'session'" in several.err
    assert "session-one" in several.err
    assert json.loads(captured.out)["session"] == "session-one"
    assert len(server.requests) == 1


def test_the_last_session_is_that_of_the_project_here(
    hm: Hm, server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner has no project of their own: the newest session of any was sent."""
    folders = [tmp_path / "shop", tmp_path / "bank"]
    for folder in folders:
        folder.mkdir()
        subprocess.run(["git", "init", "-q", folder], check=True)
        put_session(tmp_path / "user", "claude", folder.name, str(folder), SAID)
    monkeypatch.chdir(folders[0])

    captured = hm("capture", "--last", "--json")

    assert json.loads(captured.out)["session"] == "shop"
    assert len(server.requests) == 1


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository that the memory does not know, with a session in a folder of it."""
    folder = tmp_path / "shop"
    (folder / "app").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    put_session(tmp_path / "user", "claude", "in-shop", str(folder / "app"), SAID)
    return folder


@pytest.mark.usefixtures("server")
def test_what_a_session_in_a_new_repository_taught_is_not_global(
    hm: Hm, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its project was unknown, so its lessons were saved for every project."""
    monkeypatch.setenv("HIVEMIND_CAPTURE", "save")

    captured = hm("capture", "in-shop")

    assert "saved lesson dimmer-rate" in captured.out
    assert "scope: projects/shop\n" in hm("show", "dimmer-rate").out
    assert shop.is_dir()


@pytest.mark.usefixtures("server")
def test_a_dry_run_in_a_new_repository_finds_its_session_and_registers_nothing(
    hm: Hm, shop: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)

    tried = hm("capture", "--last", "--dry-run")

    assert "claude session in-shop: 4 lines read" in tried.err
    assert not (notes / "projects" / "shop").exists()


@pytest.mark.usefixtures("server")
def test_what_a_session_in_a_folder_that_is_gone_taught_waits(
    hm: Hm, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worktrees are removed when their work is done; nobody knows their project."""
    monkeypatch.setenv("HIVEMIND_CAPTURE", "save")
    shutil.rmtree(shop)

    captured = hm("capture", "in-shop")

    assert "proposed lesson dimmer-rate" in captured.out
    assert "its project is not known" in captured.out


def test_nothing_is_sent_of_a_folder_that_is_gone_if_a_project_is_private(
    hm: Hm, server: ChatServer, shop: Path
) -> None:
    """It may be the private one."""
    private = '{"visibility": "private"}'
    assert hm("config", "set", "projects.bank", private).code == 0
    shutil.rmtree(shop)

    captured = hm("capture", "in-shop")

    assert "the folder of the session is gone" in captured.err
    assert server.requests == []
    assert hm("capture", "session-one").code == 0


@pytest.mark.parametrize("words", [(), ("one", "--last")])
def test_one_session_is_named(hm: Hm, words: tuple[str, ...]) -> None:
    refused = hm("capture", *words)

    assert refused.code == 2
    assert "Name a session, or give --last." in refused.err


def test_without_a_model_it_says_how_one_is_chosen(
    hm: Hm, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIVEMIND_LLM_PROVIDER", "none")

    refused = hm("capture", "--last")

    assert refused.code == 1
    assert "No language model is chosen" in refused.err
    assert server.requests == []


def test_status_says_in_one_line_what_was_captured(
    hm: Hm, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing while the option is off."""
    assert "capture: " not in hm("status").out
    assert json.loads(hm("status", "--json").out)["capture"] is None
    monkeypatch.setenv("HIVEMIND_CAPTURE", "inbox")
    assert "capture: inbox, 0 sessions read\n" in hm("status").out

    hm("capture", "session-one")

    assert "capture: inbox, 1 session read, last 20" in hm("status").out
    [told] = [json.loads(hm("status", "--json").out)["capture"]]
    assert (told["option"], told["sessions"]) == ("inbox", 1)
    assert told["last_at"].startswith("20")
