"""Counting never fails an answer; what was purged is never forgotten in silence."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.notes.tombstones import tombstone_of
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.damage import damage_report, damaged_name
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.latest_schema import LATEST_SCHEMA
from hivemind_memory.state.open import STATE_VERSION, copy_state, purged_mark
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.schema import STEPS
from hivemind_memory.state.state_file import StateFile
from tests.support.tables import tables_of
from tests.support.waiting import wait_until

NOW_S = 1_800_000_000.5
A, B, C = ("", "a"), ("projects/shop", "b"), ("", "c")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "state.db")


@pytest.fixture
def state(path: str) -> Iterator[StateFile]:
    opened = StateFile(path)
    yield opened
    opened.close()


def test_a_recall_is_counted_once_a_question(state: StateFile) -> None:
    """An answer may hold two chunks of one memory."""
    assert RecallLog(state).count([A, B, A], NOW_S)
    assert RecallLog(state).count([B], NOW_S + 60)

    assert RecallLog(state).counts([A, B, C]) == {
        A: (1, 1_800_000_000),
        B: (2, 1_800_000_060),
    }


def test_a_clock_that_was_set_back_does_not_make_a_recall_older(
    state: StateFile,
) -> None:
    """The last time is the latest one."""
    RecallLog(state).count([A], NOW_S)
    RecallLog(state).count([A], NOW_S - 3600)

    assert RecallLog(state).counts([A]) == {A: (2, 1_800_000_000)}


def test_counters_of_what_is_gone_are_dropped(state: StateFile) -> None:
    """A purge leaves nothing."""
    RecallLog(state).count([A, B], NOW_S)

    assert RecallLog(state).drop(["a", "b", "none"], lambda _, ref: ref == "a") == 1

    assert RecallLog(state).counts([A, B]).keys() == {B}
    assert RecallLog(state).drop([], lambda _, ref: True) == 0
    assert RecallLog(state).count([], NOW_S)


def test_asking_makes_no_file(state: StateFile, path: str) -> None:
    """Most homes never purge anything."""
    assert not state.has_tombstone("anything")
    assert RecallLog(state).counts([A]) == {}
    assert state.unfinished() == {}
    assert state.vacuum()

    assert not os.path.exists(path)


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_and_its_log_are_private(
    state: StateFile, path: str, umask: int
) -> None:
    """It tells what an agent asks about."""
    before = os.umask(umask)
    try:
        RecallLog(state).count([A], NOW_S)
    finally:
        os.umask(before)

    files = list(Path(path).parent.iterdir())
    assert len(files) >= 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_another_process_that_writes_costs_a_count_and_no_error(
    state: StateFile, path: str
) -> None:
    """An answer waits no longer than a moment."""
    RecallLog(state).count([A], NOW_S)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")

    assert not RecallLog(state).count([A], NOW_S)

    other.execute("ROLLBACK")
    assert RecallLog(state).count([A], NOW_S)
    assert RecallLog(state).counts([A])[A][0] == 2


def test_many_threads_with_files_of_their_own_lose_no_count(path: str) -> None:
    """Ten servers answer at once; what was refused as busy is counted by no one."""
    RecallLog(StateFile(path)).count([A], NOW_S)

    def work() -> None:
        state = StateFile(path)
        for _ in range(30):
            wait_until(lambda: RecallLog(state).count([A], NOW_S), "it was not counted")
        state.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert RecallLog(StateFile(path)).counts([A])[A][0] == 1 + 4 * 30


def test_what_was_counted_survives_a_kill(path: str) -> None:
    """Nothing is held back until the process ends."""
    program = (
        "import sys, os, signal\n"
        "from hivemind_memory.state.state_file import StateFile\n"
        "state = StateFile(sys.argv[1])\n"
        "state.add_tombstones(['secret'])\n"
        "from hivemind_memory.state.recall_log import RecallLog\n"
        "[RecallLog(state).count([('', 'a')], 1) for _ in range(7)]\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, path], check=False)
    state = StateFile(path)

    assert ran.returncode == -signal.SIGKILL
    assert RecallLog(state).counts([A]) == {A: (7, 1)}
    assert state.has_tombstone("secret")


def damage(path: str) -> None:
    """Write rubbish over the file."""
    for suffix in ("-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    Path(path).write_bytes(b"no database at all" * 1000)


def test_a_damaged_file_is_set_aside_and_the_doctor_is_told(
    state: StateFile, path: str
) -> None:
    """Counters are not precious; tombstones are, so that is said aloud."""
    state.add_tombstones(["secret"])
    RecallLog(state).count([A], NOW_S)
    state.close()
    assert damage_report(path) == ""
    damage(path)
    assert "damaged" in damage_report(path)

    assert RecallLog(state).count([A], NOW_S)

    assert RecallLog(state).counts([A])[A][0] == 1
    assert os.path.exists(damaged_name(path))
    assert "purged before may be written again" in damage_report(path)
    assert not state.has_tombstone("secret")
    assert state.has_lost_tombstones()


def test_a_table_that_is_missing_is_damage_too(state: StateFile, path: str) -> None:
    """As after a manual edit."""
    RecallLog(state).count([A], NOW_S)
    other = apsw.Connection(path)
    other.execute("DROP TABLE recalls")
    other.close()

    assert RecallLog(state).count([A], NOW_S)

    assert not os.path.exists(damaged_name(path))


def damage_counters(path: str) -> None:
    """Write rubbish over the page of the counters alone."""
    other = apsw.Connection(path)
    [(root,)] = other.execute("SELECT rootpage FROM sqlite_schema WHERE name='recalls'")
    other.close()
    with open(path, "r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)


def test_what_can_be_read_of_a_damaged_file_is_kept(
    state: StateFile, path: str
) -> None:
    """Tombstones were lost with the counters if any page was damaged."""
    texts = [f"secret {number}" for number in range(500)]
    state.add_tombstones(texts)
    for number in range(2_000):
        RecallLog(state).count([(f"ref {number}", "a")], NOW_S)
    state.close()
    other = apsw.Connection(path)
    other.pragma("wal_checkpoint(TRUNCATE)")
    other.close()
    damage_counters(path)

    RecallLog(state).count([A], NOW_S)

    assert all(map(state.has_tombstone, texts))
    assert not state.has_lost_tombstones()
    assert damage_report(path) == ""


@pytest.mark.parametrize("is_emptied", [False, True], ids=["damaged", "deleted"])
def test_a_second_damage_does_not_hide_that_tombstones_were_lost(
    state: StateFile, path: str, *, is_emptied: bool
) -> None:
    """The repair of the second deleted the record of the first."""
    state.add_tombstones(["secret"])
    state.close()
    if is_emptied:
        os.unlink(path)
    else:
        damage(path)
    for number in range(2_000):
        RecallLog(state).count([(f"ref {number}", "a")], NOW_S)
    assert state.has_lost_tombstones()
    state.close()
    other = apsw.Connection(path)
    other.pragma("wal_checkpoint(TRUNCATE)")
    other.close()
    damage_counters(path)

    RecallLog(state).count([A], NOW_S)

    assert state.has_lost_tombstones()
    assert "purged before may be written again" in damage_report(path)
    assert not [*Path(path).parent.glob("*-again*")]


def test_the_log_of_a_damaged_file_is_kept_though_another_process_opens_it_meanwhile(
    state: StateFile, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite deleted it beside the new file, with the tombstones that only it had."""
    RecallLog(state).count([A], NOW_S)
    state.close()
    other = apsw.Connection(path)
    other.pragma("wal_checkpoint(TRUNCATE)")
    other.close()
    damage_counters(path)
    state.add_tombstones(["only in the log"])
    state.close()
    process, real, todo = StateFile(path), os.replace, [1]

    def replace(old: str, new: str, **how: Any) -> None:
        real(old, new, **how)
        if new.startswith(damaged_name(path)) and todo:
            todo.pop()
            process.hash_of("x")
            process.close()  # within one process, SQLite has one log for both names

    monkeypatch.setattr(os, "replace", replace)

    RecallLog(state).count([A], NOW_S)

    assert not todo
    assert state.has_tombstone("only in the log")
    assert process.has_tombstone("only in the log")
    assert damage_report(path) == ""
    process.close()


def test_a_file_of_a_newer_version_is_left_alone(state: StateFile, path: str) -> None:
    """It is not damaged, and counting can wait."""
    RecallLog(state).count([A], NOW_S)
    state.close()
    other = apsw.Connection(path)
    other.pragma("user_version", 99)
    other.close()

    assert not RecallLog(state).count([A], NOW_S)
    assert RecallLog(state).counts([A]) == {}
    with pytest.raises(StateUnusableError, match="newer"):
        state.has_tombstone("x")

    assert not os.path.exists(damaged_name(path))


def test_a_home_that_cannot_be_written_is_no_error_for_a_count(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "home").write_text("not a folder")
    state = StateFile(str(tmp_path / "home" / "state.db"))

    assert not RecallLog(state).count([A], NOW_S)
    with pytest.raises(StateUnusableError):
        state.add_tombstones(["x"])


def test_a_tombstone_of_one_home_says_nothing_in_another(tmp_path: Path) -> None:
    """Without the key nobody can try out texts."""
    one, other = (StateFile(str(tmp_path / name / "state.db")) for name in "ab")

    assert one.add_tombstones(["secret", "SECRET", "other"]) == 2
    RecallLog(other).count([A], NOW_S)

    assert one.hash_of("secret") != other.hash_of("secret")
    assert not other.has_tombstone("secret")


def test_work_is_remembered_until_it_is_done(state: StateFile) -> None:
    """A purge that was killed is finished by the next one."""
    state.begin("name=x", '{"ids": ["zanzibar"]}')
    state.begin("name=y", "{}")

    assert state.unfinished()[state.hash_of("name=x")] == '{"ids": ["zanzibar"]}'
    state.finish([state.hash_of("name=x")])
    assert set(state.unfinished().values()) == {"{}"}
    assert state.vacuum()

    for file in Path(state.path).parent.iterdir():
        assert b"zanzibar" not in file.read_bytes()


def test_a_file_that_was_put_in_its_place_is_noticed(
    state: StateFile, path: str
) -> None:
    """Else a server would go on with a file that no one else sees."""
    RecallLog(state).count([A], NOW_S)
    for suffix in ("", "-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    StateFile(path).add_tombstones(["secret"])

    assert state.has_tombstone("secret")


def test_every_step_of_the_state_is_applied() -> None:
    """The number stands apart from the steps, so that opening a file loads none."""
    assert len(STEPS) == STATE_VERSION


def test_a_new_state_has_the_tables_that_the_steps_make() -> None:
    assert tables_of([LATEST_SCHEMA]) == tables_of(list(STEPS))


@pytest.mark.parametrize("version", range(1, STATE_VERSION))
def test_a_file_of_every_earlier_version_is_upgraded_and_loses_nothing(
    state: StateFile, path: str, version: int
) -> None:
    """Counters, tombstones with their key, and work that a purge has left."""
    os.makedirs(os.path.dirname(path))
    old = apsw.Connection(path)
    for step in STEPS[:version]:
        old.execute(step)
    old.execute("INSERT INTO meta VALUES ('key', ?)", (b"k" * 32,))
    key = "'a'" if version < 4 else "'a', ''"
    every = "" if version < 6 else ", '*'"
    old.execute(f"INSERT INTO recalls VALUES ({key}{every}, 3, 17)")
    folder = "" if version < 5 else "'', "
    old.execute(f"INSERT INTO unfinished VALUES (x'00', {folder}'work')")
    old.execute(
        f"INSERT INTO tombstones VALUES (?{every})",
        (tombstone_of(b"k" * 32, "purged", None),),
    )
    if version >= 2:
        old.execute(
            "INSERT INTO injections(id, worktree, file, is_whole, record)"
            " VALUES (1, '/site', 'CLAUDE.md', 1, ?)",
            ('{"file": "CLAUDE.md"}',),
        )
    if version >= 3:
        change = {"kind": "save", "at": "", "field": ""}
        lists = ("items", "others", "before", "after")
        record = json.dumps(change | dict.fromkeys(lists, ()))
        old.execute(
            "INSERT INTO changes(number, id, actor, record, undoes, undone_by, is_undo)"
            " VALUES (1, 'c', 'human:*', ?, '', '', 0)",
            (record,),
        )
    names = {"projects/new": ["projects/old"], "projects/old": ["projects/old\0x"]}
    old.execute("INSERT INTO meta VALUES ('tombstone_scopes', ?)", (json.dumps(names),))
    old.execute(
        f"INSERT INTO tombstones VALUES (?{every})",
        (tombstone_of(b"k" * 32, "moved", "projects/old"),),
    )
    old.pragma("user_version", version)
    old.close()

    if version < 4:
        assert RecallLog(state).counts([A]) == {}
        assert RecallLog(state).unscoped(["a", "b"]) == {"a"}
        RecallLog(state).settle({"a": "", "b": "projects/shop"})
    assert RecallLog(state).counts([A]) == {A: (3, 17)}
    assert RecallLog(state).unscoped(["a"]) == set()
    assert state.unfinished() == {b"\0": "work"}
    assert state.has_tombstone("purged")
    log = InjectionLog(state)
    assert len(log.records()) == (version >= 2)
    assert len(ChangeLog(state).newest()) == (version >= 3)
    other = StateFile(path, "/notes")  # an earlier version named no notes folder
    assert not other.unfinished()
    assert not InjectionLog(other).records()
    assert not ChangeLog(other).newest()
    # Whose these were is not known, so they count everywhere.
    assert RecallLog(other).counts([A]) == {A: (3, 17)}
    for one in (state, other):
        assert one.has_tombstone("purged")
        assert one.has_tombstone("moved", "projects/new")
        assert not one.has_tombstone("moved", "projects/old")
    log.append({"worktree": "/shop", "file": "CLAUDE.md", "memories": []})
    assert len(log.last_records("/shop")) == 1
    assert state.run(lambda c: c.pragma("user_version")) == STATE_VERSION
    assert damage_report(path) == ""


def test_a_purge_in_one_notes_folder_changes_no_answer_in_another(path: str) -> None:
    """Tombstones, counters and names of scopes were those of the home."""
    one, other = StateFile(path), StateFile(path, "/notes")
    for state in (one, other):
        RecallLog(state).count([A, B], NOW_S)

    one.add_tombstones(["secret"], "projects/shop")
    assert RecallLog(one).drop(["a"], lambda _scope, _ref: True) == 1
    one.rename_scope("projects/shop", "projects/store")
    RecallLog(one).rename_scope(lambda scope: scope.replace("shop", "store"))

    assert one.has_tombstone("secret", "projects/store")
    assert RecallLog(one).counts([A, ("projects/store", "b")]) == {
        ("projects/store", "b"): (1, int(NOW_S))
    }
    for scope in ("projects/shop", "projects/store"):
        assert not other.has_tombstone("secret", scope)
    assert set(RecallLog(other).counts([A, B])) == {A, B}

    other.add_tombstones(["secret"], "projects/store")
    one.remove_tombstone("secret", "projects/store")

    assert other.has_tombstone("secret", "projects/store")
    assert not one.has_tombstone("secret", "projects/store")


def test_a_counter_from_before_and_one_of_the_folder_are_added(path: str) -> None:
    """The first recall after the upgrade does not hide the earlier ones."""
    state, other = StateFile(path), StateFile(path, "/notes")
    RecallLog(state).count([A], NOW_S)
    state.run(lambda c: c.execute("UPDATE recalls SET notes = '*', count = 6"))

    RecallLog(state).count([A], NOW_S + 5)

    assert RecallLog(state).counts([A]) == {A: (7, int(NOW_S) + 5)}
    assert RecallLog(other).counts([A]) == {A: (6, int(NOW_S))}


def test_a_copy_for_another_home_takes_the_rows_of_its_folder_along(
    path: str, tmp_path: Path
) -> None:
    """A backup of a notes folder is restored as a home's own."""
    state = StateFile(path, "/notes")
    state.rename_scope("projects/shop", "projects/store")
    state.add_tombstones(["secret"], "projects/store")
    RecallLog(state).count([A], NOW_S)

    copy_state(path, str(tmp_path / "copy.db"), "/notes")

    copied = StateFile(str(tmp_path / "copy.db"))
    assert copied.has_tombstone("secret", "projects/store")
    assert set(RecallLog(copied).counts([A])) == {A}


def test_a_rewrite_of_the_log_keeps_what_another_process_has_just_changed(
    path: str,
) -> None:
    """Of two purges at once, the second wrote back what the first had removed."""
    mine, other = StateFile(path), StateFile(path)
    InjectionLog(mine).append({"memories": [{"path": "a.md"}, {"path": "b.md"}]})

    def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def change(record: dict[str, Any]) -> dict[str, Any]:
            kept = [one for one in record["memories"] if one["path"] != name]
            return {**record, "memories": kept}

        return change

    connection = apsw.Connection(path)
    connection.execute("BEGIN IMMEDIATE")
    begun = threading.Thread(target=InjectionLog(mine).rewrite, args=(without("a.md"),))
    begun.start()
    time.sleep(0.2)  # It waits for the other one by now.
    connection.execute(
        "UPDATE injections SET record = ?",
        (json.dumps({"memories": [{"path": "a.md"}]}),),
    )
    connection.execute("COMMIT")
    begun.join()

    [record] = InjectionLog(other).records()
    assert record["memories"] == []
    mine.close()
    other.close()


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_state_that_is_emptied_or_deleted_is_noticed(
    is_deleted: bool, state: StateFile, path: str
) -> None:
    """What was purged came back without a word."""
    state.add_tombstones(["gone"])
    assert not state.has_lost_tombstones()
    state.close()
    for file in Path(path).parent.glob("state.db*"):
        if file.name != "state.db.purged":
            file.unlink()
    if not is_deleted:
        Path(path).touch()

    assert not state.has_tombstone("gone")
    assert state.has_lost_tombstones()

    state.add_tombstones(["another"])
    assert state.has_lost_tombstones()
    assert "was emptied or deleted" in damage_report(path)

    os.unlink(damaged_name(path))
    assert not state.has_lost_tombstones()


def test_a_state_without_purged_texts_is_not_lost(state: StateFile) -> None:
    """The last one may be saved again with --force."""
    state.add_tombstones(["gone"])
    state.remove_tombstone("gone")

    assert not state.has_lost_tombstones()


def test_a_tombstone_that_is_added_while_another_is_lifted_keeps_the_mark(
    state: StateFile, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark went with it, so a state that was lost later was not noticed."""
    other, real, done = StateFile(path), StateFile._has_tombstones, list[bool]()
    state.add_tombstones(["lifted"])
    monkeypatch.setattr("hivemind_memory.files.locks.LOCK_WAIT_S", 0.0)

    def look(asked: StateFile) -> bool:
        found = real(asked)
        if asked is state and not done:
            done.append(found)
            assert not other.has_lost_tombstones()  # it is being lifted
            with suppress(StateUnusableError):  # it is not its turn
                other.add_tombstones(["added"])
        return found

    monkeypatch.setattr(StateFile, "_has_tombstones", look)

    state.remove_tombstone("lifted")

    assert done == [False]
    assert damage_report(path) == ""
    assert os.path.exists(purged_mark(path)) == other.has_tombstone("added")
    other.add_tombstones(["added"])
    assert os.path.exists(purged_mark(path))
    other.close()
