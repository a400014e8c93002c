"""hm activity: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from tests.transcripts.places import claude_line, put_claude, put_recorded


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with transcripts of two agents, read because the option says so."""
    folder = tmp_path / "user"
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_SESSION_SOURCES", "claude,codex")
    monkeypatch.setenv("HIVEMIND_SESSION_DAYS", "36000")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home" / "memory").mkdir(parents=True)
    put_recorded(folder, "claude", "codex")
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Run a command; return what it printed to standard output."""
    assert main(list(words)) == code
    return capsys.readouterr().out


def test_a_hit_is_found_and_opened_where_it_stands(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(run(capsys, "activity", "search", "--json", "tide", "gauge"))
    first = found["hits"][0]
    shown = run(capsys, "activity", "show", first["id"])

    assert [hit["agent"] for hit in found["hits"]] == ["codex", "claude"]
    file, _, line = first["place"].rpartition(":")
    assert "tide gauge" in Path(file).read_text("utf-8").splitlines()[int(line) - 1]
    assert str(user) in file
    assert f"place: {first['place']}" in shown
    assert "On which port does the tide gauge" in shown
    assert "The stand-in is done." in shown  # what was said after it


def test_agent_since_and_limit_narrow(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    one = run(capsys, "activity", "search", "gauge", "--agent", "claude")
    newest = run(capsys, "activity", "search", "-n", "1")

    assert one.count("claude user") == one.count("  user") + 1 == 1
    assert newest.count("\n\n") == 0
    assert run(capsys, "activity", "search", "gauge", "--since", "2035-01-01") == ""


def test_exit_codes_are_those_of_a_search(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    run(capsys, "activity", "search", "nowhere")
    run(capsys, "activity", "search", "nowhere", "--fail-empty", code=1)
    run(capsys, "activity", "search", "gauge", "--fail-empty")
    run(capsys, "activity", "show", "t1", code=1)
    run(capsys, "activity", "search", "--since", "soon", code=2)


def test_a_list_has_a_line_for_each_session(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    lines = run(capsys, "activity", "list").splitlines()
    listed = json.loads(run(capsys, "activity", "list", "--json", "--agent", "codex"))

    assert [line.split("\t")[1] for line in lines] == ["codex", "claude"]
    assert [row["agent"] for row in listed["sessions"]] == ["codex"]
    assert [source["name"] for source in listed["sources"]] == ["claude", "codex"]


def test_nothing_is_read_that_was_not_asked_for(
    user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the answer says how to ask for it."""
    monkeypatch.delenv("HIVEMIND_SESSION_SOURCES")

    assert main(["activity", "search", "gauge"]) == 0

    said = capsys.readouterr()
    assert said.out == ""
    assert "session_sources" in said.err
    assert not list((user.parent / "home").glob("transcripts*"))


def test_an_agents_shell_finds_its_own_project_alone(
    user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here it has none of them."""
    run(capsys, "activity", "search", "gauge", "--fail-empty")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("HIVEMIND_PROJECT", "shop")

    assert user.is_dir()
    run(capsys, "activity", "search", "gauge", "--fail-empty", code=1)


def test_a_session_belongs_to_the_project_of_its_repository(
    tmp_path: Path,
    user: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Once the project is known; a folder without a repository is a project too."""
    import subprocess

    shop, site, plain = (tmp_path / name for name in ("shop", "site", "plain"))
    for folder in (shop, site):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    plain.mkdir()
    for folder in (shop, site, plain):
        line = claude_line(f"wombat in {folder.name}", cwd=str(folder))
        put_claude(user, [line], folder.name)
    monkeypatch.setenv("CLAUDECODE", "1")
    for folder in (shop, site, plain):
        monkeypatch.chdir(folder)
        run(capsys, "search", "anything")  # from now on the project is known
        found = json.loads(run(capsys, "activity", "search", "--json", "wombat"))
        contents = [hit["content"] for hit in found["hits"]]
        assert contents == [f"wombat in {folder.name}"]


def test_status_doctor_and_sync_say_what_is_read(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    run(capsys, "sync")
    status = run(capsys, "status")
    value = json.loads(run(capsys, "status", "--json"))["activity"]
    main(["doctor"])
    doctor = capsys.readouterr().out

    assert "activity: claude: " in status
    assert "transcripts.db" in status
    assert [source["files"] for source in value["sources"]] == [1, 1]
    assert "ok\ttranscripts\tof claude, codex: " in doctor


def test_the_doctor_names_a_source_that_is_not_there(
    user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    monkeypatch.setenv("HIVEMIND_SESSION_SOURCES", "qwen")

    main(["doctor"])

    assert "problem\ttranscripts\tthere is no folder" in capsys.readouterr().out


def test_an_unknown_source_is_refused(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert user.is_dir()
    assert main(["config", "set", "session_sources", "claude,cursor"]) == 2

    assert "cursor" in capsys.readouterr().err


def test_a_backup_leaves_transcripts_out_and_keeps_rows(
    user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one is made again, the other is nowhere else."""
    import tarfile

    from hivemind_memory import opening
    from hivemind_memory.transcripts.rows import call_row

    assert user.is_dir()
    run(capsys, "activity", "search", "gauge")
    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        activity.add(call_row(None, label="memory_search", request="wombat", error=""))
    file = tmp_path / "backup.tar.gz"
    run(capsys, "backup", str(file))

    with tarfile.open(file) as archive:
        names = archive.getnames()
        member = archive.extractfile("state.db")
        assert member is not None
        assert b"wombat" in member.read()
    assert not [name for name in names if "transcripts" in name]
