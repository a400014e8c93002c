"""A purge reaches transcripts and rows, and what it erased does not come back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.cli.main import main
from hivemind_memory.model.activity import ActivityQuery
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.transcripts.rows import call_row
from tests.support.sandbox import Sandbox
from tests.transcripts.places import claude_line, put_claude, rows

WORDS = "zanzibar quokka"
NOW = "2026-11-25T22:00:00.000Z"


@pytest.fixture
def user(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The home of a user whose transcripts hold a text, in two sessions."""
    folder = tmp_path / "user"
    monkeypatch.chdir(tmp_path)  # else only the project of this repository counts
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_HOME", str(sandbox.home))
    monkeypatch.setenv("HIVEMIND_SESSION_SOURCES", "claude")
    monkeypatch.setenv("HIVEMIND_SESSION_DAYS", "36000")
    for at, name in enumerate(("one", "two")):
        lines = [
            claude_line(f"The code is {WORDS}, of course.", second=at, sessionId=name),
            claude_line(f"the weather in session {name}", second=9, sessionId=name),
        ]
        put_claude(folder, lines, name)
    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        row = call_row(None, label="memory_search", request=WORDS, error="")
        activity.add(row)
        activity.read()
    yield folder
    for name in ("one", "two"):  # theirs, and untouched
        assert WORDS in put_name(folder, name).read_text(encoding="utf-8")


def put_name(folder: Path, name: str) -> Path:
    """Return the transcript of a session."""
    return next(folder.rglob(f"{name}.jsonl"))


def found(text: str = "") -> list[str]:
    """Return what is found of a text, whatever is made anew."""
    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        return [hit.content for hit in activity.search(ActivityQuery(text=text)).hits]


def raw(sandbox: Sandbox, word: str) -> list[str]:
    """Return the files of the home that hold a word."""
    return [
        file.name
        for file in sandbox.home.rglob("*")
        if file.is_file() and word.encode() in file.read_bytes()
    ]


def test_a_purged_session_is_gone_and_the_other_stays(
    sandbox: Sandbox, user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when no note is of that session, and when the file is made anew."""
    assert user.is_dir()
    assert main(["forget", "--session", "one", "--purge", "--dry-run", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert main(["forget", "--session", "one", "--purge", "--yes", "--json"]) == 0
    receipt = json.loads(capsys.readouterr().out)

    for places in (planned["places"], receipt["places"]):
        counts = {place["name"]: place["count"] for place in places}
        assert counts["transcripts"] == 2
    assert any("one.jsonl" in item["what"] for item in receipt["out_of_reach"])
    assert len(found("weather")) == 1
    for file in sandbox.home.glob("transcripts.db*"):
        file.unlink()
    assert found("weather") == ["the weather in session two"]
    assert {row[2] for row in rows(sandbox)} == {"two"}


def test_a_purged_text_is_gone_from_every_session_and_row(
    sandbox: Sandbox, user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the last raw byte of the memory; the rest of the sessions stays."""
    assert user.is_dir()
    with opening.open_memory() as memory:
        memory.save(NewMemory(key="code", content=WORDS, scope="global"))
    assert len(found("quokka")) == 3

    assert main(["forget", "code", "--purge", "--yes", "--json"]) == 0

    receipt = json.loads(capsys.readouterr().out)
    counts = {place["name"]: place["count"] for place in receipt["places"]}
    assert (counts["transcripts"], counts["activity"]) == (2, 1)
    assert receipt["left"] == []
    assert raw(sandbox, "quokka") == []
    assert raw(sandbox, "zanzibar") == []
    for file in sandbox.home.glob("transcripts.db*"):
        file.unlink()
    assert found("quokka") == []
    assert len(found("weather")) == 2
    assert raw(sandbox, "quokka") == []


def test_an_agent_purges_nothing(
    user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    before = found("weather")
    monkeypatch.setenv("CLAUDECODE", "1")

    assert main(["forget", "--session", "one", "--purge", "--yes"]) != 0

    monkeypatch.delenv("CLAUDECODE")
    capsys.readouterr()
    assert found("weather") == before


def test_an_unknown_session_is_an_error(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    assert main(["forget", "--session", "three", "--purge", "--yes"]) == 1
    assert "three" in capsys.readouterr().err


def test_a_text_is_found_within_the_arguments_of_a_call(
    sandbox: Sandbox, user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where its quotes and line ends are escaped."""
    text = 'Say "zanzibar" aloud.'
    arguments = {"command": f"cat <<E\n{text}\nE"}
    block = [{"type": "tool_use", "id": "a", "name": "Bash", "input": arguments}]
    put_claude(user, [claude_line("", message={"content": block})], "three")
    with opening.open_memory() as memory:
        memory.save(NewMemory(key="said", content=text, scope="global"))
    assert any(text in content for content in found("aloud"))

    assert main(["forget", "said", "--purge", "--yes"]) == 0

    capsys.readouterr()
    assert found("aloud") == []
    assert raw(sandbox, "aloud") == []
