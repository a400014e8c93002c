"""Transcripts are read from where the last reading ended: nothing is lost, or twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.curation import project_followers
from hivemind_memory.errors import NotSavedError
from hivemind_memory.model.activity import ActivityQuery
from hivemind_memory.transcripts import line_file
from hivemind_memory.transcripts.sources import (
    LineSource,
    chosen_sources,
    find_files,
)
from hivemind_memory.transcripts.store import MAPPED_BYTES, TranscriptStore
from tests.support.sandbox import Sandbox
from tests.support.tiers import examples
from tests.transcripts.places import (
    FILES,
    RECORDED,
    activity_over,
    claude_line,
    put_claude,
    put_recorded,
    read_all,
    rows,
    texts,
)

ROOT = Path(__file__).parents[2]


def copy_of(name: str, folder: Path) -> tuple[Sandbox, Path, Path, bytes]:
    """Return a new home, a user's home, the place of a transcript, and its bytes."""
    user = folder / "user"
    file = user / FILES[name]
    file.parent.mkdir(parents=True)
    return (
        Sandbox(folder / "home"),
        user,
        file,
        (RECORDED / f"{name}.jsonl").read_bytes(),
    )


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen"])
@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_cut_into_appended_pieces_gives_the_same_rows(
    name: str, data: st.DataObject
) -> None:
    """Also a cut within a line, or within a character."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        sandbox, user, file, whole = copy_of(name, Path(one))
        at_once, at_once_user, at_once_file, _ = copy_of(name, Path(two))
        at_once_file.write_bytes(whole)
        read_all(at_once, at_once_user)
        cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
        ends = [*sorted(cuts), len(whole)]
        begun = 0
        for end in ends:
            with file.open("ab") as growing:
                growing.write(whole[begun:end])
            begun = end
            read_all(sandbox, user)

        def compared(place: Sandbox) -> list[tuple[object, ...]]:
            # The ids have bits of the path, which is another one here.
            return [(row[0] >> 20, *row[1:]) for row in rows(place)]

        assert sorted(compared(sandbox)) == sorted(compared(at_once))


def test_a_torn_last_line_waits(sandbox: Sandbox, user: Path) -> None:
    first, second = claude_line("one"), claude_line("two", second=1)
    file = put_claude(user, [first, second[:-20]])

    read_all(sandbox, user)
    assert texts(sandbox) == ["one"]
    file.write_text(first + second)
    read_all(sandbox, user)
    assert texts(sandbox) == ["one", "two"]


def test_a_truncated_file_is_read_anew(sandbox: Sandbox, user: Path) -> None:
    file = put_claude(user, [claude_line("one"), claude_line("two", second=1)])
    read_all(sandbox, user)

    file.write_text(claude_line("three"))
    read_all(sandbox, user)

    assert texts(sandbox) == ["three"]


@pytest.mark.parametrize("is_in_place", [True, False])
def test_a_rewritten_file_is_read_anew(
    sandbox: Sandbox, user: Path, is_in_place: bool
) -> None:
    """With the same beginning and more bytes than before, in place or renamed over."""
    head = [claude_line("the same beginning " * 300)]
    file = put_claude(user, [*head, claude_line("old", second=1)])
    read_all(sandbox, user)

    new = "".join([*head, claude_line("new", second=1), claude_line("x", second=2)])
    if is_in_place:
        file.write_text(new)
    else:
        (file.parent / "beside").write_text(new)
        (file.parent / "beside").replace(file)
    read_all(sandbox, user)

    assert texts(sandbox)[1:] == ["new", "x"]


def test_a_file_that_is_gone_is_dropped_and_a_missing_folder_is_not(
    sandbox: Sandbox, user: Path
) -> None:
    """What an agent deletes goes here too; a drive that is not there is no deletion."""
    file = put_claude(user, [claude_line("one")])
    put_claude(user, [claude_line("two")], "other")
    read_all(sandbox, user)

    file.unlink()
    read_all(sandbox, user)
    assert texts(sandbox) == ["two"]
    (user / ".claude").rename(user / "away")
    read_all(sandbox, user)
    assert texts(sandbox) == ["two"]


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_link_that_leads_out_of_the_folder_of_its_agent_is_not_followed(
    tmp_path: Path, is_inside: bool
) -> None:
    """The folder itself may be one: that is how people keep their settings."""
    kept = tmp_path / "dotfiles"
    (kept / "projects" / "lamp").mkdir(parents=True)
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / ".claude").symlink_to(kept)
    place = kept / "projects" if is_inside else tmp_path
    (place / "elsewhere.jsonl").write_text("{}\n")
    link = kept / "projects" / "lamp" / "session.jsonl"
    link.symlink_to(place / "elsewhere.jsonl")
    [source] = chosen_sources(("claude",), str(tmp_path / "user"), {})
    assert isinstance(source, LineSource)

    names = {os.path.basename(file.path) for file in find_files(source)}

    assert ("session.jsonl" in names) == is_inside


def test_garbage_between_lines_costs_only_itself(sandbox: Sandbox, user: Path) -> None:
    odd = ['{"type":"user"', "\0\0\0", '["user"]', "[" * 100_000 + '"user"', '"user"']
    lines = [claude_line("one"), *(f"{one}\n" for one in odd), claude_line("two")]
    put_claude(user, [*lines, '{"message":"\\ud800","type":"user"}\n'])

    report = read_all(sandbox, user)

    assert report.problems == ()
    assert sorted(texts(sandbox)) == ["one", "two"]


def test_half_characters_and_zeros_are_kept_as_something(
    sandbox: Sandbox, user: Path
) -> None:
    """JSON can hold what no file can."""
    put_claude(user, [claude_line("x").replace('"x"', '"a\\ud800b\\u0000c"')])

    read_all(sandbox, user)

    assert texts(sandbox) == ["a?bc"]


def test_a_line_that_is_too_long_is_passed_over(
    sandbox: Sandbox, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds a picture; the lines after it are read, also if it grows meanwhile."""
    monkeypatch.setattr(line_file, "MAX_LINE_BYTES", 1_000)
    long = claude_line("long " * 500, second=1)
    file = put_claude(user, [claude_line("one"), long[:1_500]])
    read_all(sandbox, user)
    with file.open("a") as growing:
        growing.write(long[1_500:] + claude_line("two", second=2))

    read_all(sandbox, user)

    found = rows(sandbox)
    assert [(row[4], row[-1]) for row in found] == [(1, "one"), (3, "two")]


def test_an_open_code_part_that_grows_is_replaced(sandbox: Sandbox, user: Path) -> None:
    """It is updated in place; a session that is deleted there is dropped here."""
    put_recorded(user, "opencode")
    file = user / FILES["opencode"]
    read_all(sandbox, user)
    before = len(texts(sandbox))
    connection = sqlite3.connect(file)
    connection.execute(
        "UPDATE part SET data = ?, time_updated = time_updated + 60000"
        " WHERE data LIKE '%stand-in is done%'",
        ('{"type":"text","text":"The stand-in is done, and more."}',),
    )
    connection.commit()

    read_all(sandbox, user)
    assert len(texts(sandbox)) == before
    assert "The stand-in is done, and more." in texts(sandbox)
    connection.execute("DELETE FROM session")
    connection.commit()
    connection.close()
    read_all(sandbox, user)
    assert texts(sandbox) == []


def test_the_file_is_private_and_can_be_deleted(sandbox: Sandbox, user: Path) -> None:
    """It is derived: the same rows, with the same ids, are there again."""
    put_recorded(user)
    read_all(sandbox, user)
    before, file = rows(sandbox), Path(sandbox.places.transcripts_file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for one in file.parent.glob("transcripts.db*"):
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0
        one.unlink()
    read_all(sandbox, user)
    assert rows(sandbox) == before


@pytest.mark.parametrize("damage", [b"damaged " * 1_000, b""])
def test_a_damaged_file_is_made_again(
    sandbox: Sandbox, user: Path, damage: bytes
) -> None:
    put_recorded(user, "claude")
    read_all(sandbox, user)
    before = rows(sandbox)

    Path(sandbox.places.transcripts_file).write_bytes(damage)
    for _ in range(2):
        read_all(sandbox, user)

    assert rows(sandbox) == before


def test_a_file_of_another_version_is_made_again(sandbox: Sandbox, user: Path) -> None:
    put_recorded(user, "claude")
    connection = sqlite3.connect(sandbox.places.transcripts_file)
    connection.execute("CREATE TABLE messages(other)")
    connection.execute("PRAGMA user_version = 99")
    connection.close()

    read_all(sandbox, user)

    assert texts(sandbox)


def test_old_messages_are_dropped_and_do_not_come_back(
    sandbox: Sandbox, user: Path
) -> None:
    """Also when the file is read anew."""
    now = time.time()
    day = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(now - 40 * 86_400))
    new = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(now - 86_400))
    lines = [claude_line("old", timestamp=day), claude_line("new", timestamp=new)]
    file = put_claude(user, lines)
    read_all(sandbox, user, session_days=60)
    assert texts(sandbox) == ["old", "new"]

    read_all(sandbox, user, session_days=30)
    assert texts(sandbox) == ["new"]
    file.write_text("".join([*lines, claude_line("newer", timestamp=new)]) + "\n")
    os.utime(file, (now, now))
    file.write_text(file.read_text().replace("old", "odd"))
    read_all(sandbox, user, session_days=30)
    assert sorted(texts(sandbox)) == ["new", "newer"]


@pytest.mark.thorough
def test_too_many_messages_are_dropped_oldest_first(
    sandbox: Sandbox, user: Path
) -> None:
    """And the size is kept, whatever is written."""
    words = [f"word{number} is {'one ' * 500}" for number in range(8_000)]
    lines = (claude_line(text, second=at) for at, text in enumerate(words))
    put_claude(user, lines)
    store = TranscriptStore(sandbox.places.transcripts_file)

    read_all(sandbox, user, session_days=36_000, session_max_mb=10)

    with store.opened() as connection:
        [(kept, first)] = connection.execute(
            "SELECT count(*), min(line) FROM messages"
        ).fetchall()
        pages = connection.pragma("page_count") - connection.pragma("freelist_count")
        assert pages * connection.pragma("page_size") <= 10 * 1024 * 1024
        connection.execute(
            "INSERT INTO messages_fts(messages_fts, rank) VALUES ('integrity-check', 1)"
        )
    store.close()
    assert 1_000 < kept < 8_000
    assert first == 8_000 - kept + 1


def test_no_secret_of_a_transcript_is_kept(sandbox: Sandbox, user: Path) -> None:
    """Fifty of them, in what the user says, in calls and in results: 0 raw bytes."""
    import secrets as random

    made = [f"ghp_{random.token_hex(18)}" for _ in range(50)]
    lines = []
    for at, secret in enumerate(made):
        block: object = f"use {secret} for this"
        if at % 3 == 1:
            arguments = {"command": f"curl -H 'Authorization: Bearer {secret}' x"}
            block = [{"type": "tool_use", "id": "a", "name": "B", "input": arguments}]
        elif at % 3 == 2:
            result = f"GITHUB_TOKEN={secret}\n" * 3
            block = [{"type": "tool_result", "tool_use_id": "b", "content": result}]
        lines.append(claude_line("", second=at, message={"content": block}))
    put_claude(user, lines)

    assert read_all(sandbox, user).messages == 50

    for file in sandbox.home.rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        assert not [secret for secret in made if secret.encode() in data]
        assert not [secret for secret in made if secret[4:].encode() in data]


READ_IN_A_PROCESS = """
import sys
from pathlib import Path
from tests.support.sandbox import Sandbox
from tests.transcripts.places import read_all
for _ in range(int(sys.argv[3])):
    read_all(Sandbox(Path(sys.argv[1])), Path(sys.argv[2]), session_days=36_000)
"""


def reader(sandbox: Sandbox, user: Path, times: int = 1) -> subprocess.Popen[bytes]:
    """Start a process that reads."""
    return subprocess.Popen(
        [sys.executable, "-c", READ_IN_A_PROCESS, sandbox.home, user, str(times)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_two_processes_at_once_read_each_message_once(
    sandbox: Sandbox, user: Path
) -> None:
    """While the file grows."""
    file = put_claude(user, [])
    readers = [reader(sandbox, user, times=8) for _ in range(2)]
    for at in range(1_000):
        with file.open("a") as growing:
            growing.write(claude_line(f"message {at}", second=at))
    assert [one.wait(60) for one in readers] == [0, 0]

    read_all(sandbox, user, session_days=36_000)

    assert texts(sandbox) == [f"message {at}" for at in range(1_000)]


@pytest.mark.thorough
def test_a_kill_while_reading_loses_nothing(sandbox: Sandbox, user: Path) -> None:
    """What was read is written with how far it was read."""
    lines = [claude_line(f"message {at} " * 20, second=at) for at in range(12_000)]
    put_claude(user, lines)
    file, seen = Path(sandbox.places.transcripts_file), set()
    for attempt in range(3):
        process = reader(sandbox, user)
        until_s = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until_s:
            kept = len(texts(sandbox)) if _has_tables(file) else 0
            if kept >= 2_000 * (attempt + 1):
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        seen.add(len(texts(sandbox)))

    read_all(sandbox, user, session_days=36_000)

    assert 0 < min(seen) < 12_000
    assert len(texts(sandbox)) == 12_000
    assert len(set(texts(sandbox))) == 12_000


def _has_tables(file: Path) -> bool:
    """Return whether the file can be asked."""
    if not file.exists():
        return False
    connection = sqlite3.connect(file)
    try:
        sql = "SELECT count(*) FROM sqlite_master WHERE name = 'messages'"
        return bool(connection.execute(sql).fetchone()[0])
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()


def test_a_search_with_little_time_answers_and_says_what_is_left(
    sandbox: Sandbox, user: Path
) -> None:
    """The newest files come first."""
    for number in range(6):
        file = put_claude(user, [claude_line(f"in file {number}")], str(number))
        os.utime(file, (1_795_000_000 + number, 1_795_000_000 + number))
    sandbox.stopwatch = iter(range(10_000)).__next__  # type: ignore[assignment]
    query = ActivityQuery(text="file")

    with activity_over(sandbox, user, session_days=36_000) as activity:
        answer = activity.search(query, budget_s=5)
        assert "not read yet" in answer.warnings[0]
        assert {hit.content for hit in answer.hits} <= {"in file 5", "in file 4"}
        assert activity.read(10_000).bytes_left == 0
        assert len(activity.search(query).hits) == 6


def test_a_large_file_of_messages_is_not_mapped_whole(sandbox: Sandbox) -> None:
    """Mapped pages count as memory: reading a gigabyte took 320 MB, 280 of them these.

    The bound is what keeps the process below 150 MB, whatever the size of the file.
    """
    store = TranscriptStore(sandbox.places.transcripts_file)

    with store.opened() as connection:
        mapped = connection.pragma("mmap_size")
    store.close()

    assert 0 < mapped == MAPPED_BYTES < 100_000_000


def test_sessions_get_the_new_name_of_a_project_that_is_renamed_while_they_are_read(
    sandbox: Sandbox, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They kept the old one, which another repository may take later."""
    put_claude(user, [claude_line("The lamp is on.")])
    renaming = project_followers.Renaming(
        places=sandbox.places, source="lamp", target="light", moves={}
    )
    monkeypatch.setattr(project_followers, "LOCK_WAIT_S", 0.0)
    refused: list[bool] = []

    def rename() -> None:
        refused.append(True)
        with suppress(NotSavedError):  # the next command goes on with the move
            project_followers._rename_transcripts(renaming)
            refused.pop()

    def find_scope(_folder: str) -> str:
        rename()
        return "projects/lamp"

    read_all(sandbox, user, find_scope=find_scope)
    if refused:
        rename()

    with sqlite3.connect(sandbox.places.transcripts_file) as connection:
        found = connection.execute("SELECT scope FROM files").fetchall()
    assert found == [("projects/light",)]
