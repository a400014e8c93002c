"""One leader for each index, and what it says of itself."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.opening import diagnose, open_memory
from hivemind_memory.watch.events import WatchState
from hivemind_memory.watch.leader import Leadership

NATIVE = WatchState(mode="native")


def claim(folder: Path) -> Leadership:
    return Leadership(
        str(folder / "index" / "lock"), state_path=str(folder / "index" / "state")
    )


def test_there_is_one_leader_until_it_lets_go(tmp_path: Path) -> None:
    """Two would both watch, index and pay for vectors."""
    first, second = claim(tmp_path), claim(tmp_path)

    assert first.try_acquire()
    assert first.try_acquire()
    assert not second.try_acquire()
    assert second.holder() == first.holder() != ""

    first.release()
    assert second.try_acquire()
    assert not first.still_leads()


def test_doctor_asks_the_rooms_above_the_memory(tmp_path: Path) -> None:
    """The memory cannot import them: ``opening.diagnose`` calls their checks."""
    (tmp_path / "memory").mkdir()
    with open_memory(home=str(tmp_path)) as memory:
        before = diagnose(memory)
        leadership = Leadership(
            memory.places.leader_lock, state_path=memory.places.watch_state
        )
        assert leadership.try_acquire()
        after = diagnose(memory)
        leadership.release()
        assert "leader" not in {finding.name for finding in memory.diagnose().findings}

    [was] = [found.detail for found in before.findings if found.name == "leader"]
    [now] = [found.detail for found in after.findings if found.name == "leader"]
    assert was == "no watcher runs; each search checks for changes"
    assert now.endswith(" watches")


def test_letting_go_without_leading_changes_nothing(tmp_path: Path) -> None:
    """A follower that stops must not end another's lead."""
    first, second = claim(tmp_path), claim(tmp_path)
    first.try_acquire()
    first.write_state(NATIVE)

    second.release()

    assert first.still_leads()
    assert second.read_state() == NATIVE


def test_a_killed_leader_leads_no_more(tmp_path: Path) -> None:
    """Nobody has to judge whether a leader is dead: the kernel knows."""
    script = (
        "import sys; from hivemind_memory.watch.leader import Leadership\n"
        "from hivemind_memory.watch.events import WatchState\n"
        "lead = Leadership(sys.argv[1], state_path=sys.argv[2])\n"
        "lead.try_acquire(); lead.write_state(WatchState(mode='native'))\n"
        "print('leads', flush=True); sys.stdin.read()"
    )
    lock, state = str(tmp_path / "lock"), str(tmp_path / "state")
    follower = Leadership(lock, state_path=state)

    with subprocess.Popen(
        [sys.executable, "-c", script, lock, state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == b"leads\n"
        assert not follower.try_acquire()
        assert follower.holder() == f"pid {leader.pid}"
        assert follower.read_state() == NATIVE
        leader.kill()

    assert follower.read_state() is None
    assert follower.try_acquire()


def test_a_leader_whose_index_was_deleted_leads_no_more(tmp_path: Path) -> None:
    """The index may go at any moment; a lock on a deleted file is seen by nobody."""
    old, new = claim(tmp_path), claim(tmp_path)
    old.try_acquire()
    (tmp_path / "index" / "lock").unlink()

    assert new.try_acquire()

    assert not old.still_leads()
    new.write_state(NATIVE)
    old.release()
    assert new.still_leads()
    assert new.read_state() == NATIVE


def test_what_a_leader_said_goes_with_it(tmp_path: Path) -> None:
    """A state without a leader would be a lie."""
    leader, other = claim(tmp_path), claim(tmp_path)
    leader.try_acquire()
    leader.write_state(WatchState(mode="polling", reason="nfs … \n two lines"))

    assert other.read_state() == WatchState(mode="polling", reason="nfs … \n two lines")
    leader.release()
    assert other.read_state() is None
    assert {file.name for file in (tmp_path / "index").iterdir()} == {"lock"}


@pytest.mark.parametrize(
    "words", ["", "{", "[]", "{}", '{"pid": 1, "mode": "native", "reason": ""}']
)
def test_what_another_process_left_behind_is_not_believed(
    tmp_path: Path, words: str
) -> None:
    """A killed leader cannot clean up, and a disk may be full."""
    leader = claim(tmp_path)
    leader.try_acquire()

    (tmp_path / "index" / "state").write_text(words)

    assert leader.read_state() is None


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_its_files_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    """Files are 0600 and folders 0700 from the moment they are created."""
    import os

    before = os.umask(umask)
    try:
        leader = claim(tmp_path)
        leader.try_acquire()
        leader.write_state(NATIVE)
    finally:
        os.umask(before)

    index = tmp_path / "index"
    assert stat.S_IMODE(index.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in index.iterdir()} == {0o600}


def test_a_lock_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path) -> None:
    """Who may not write the index has to hear it, not to wait for ever."""
    (tmp_path / "index").write_text("a file in the way")

    with pytest.raises(IndexUnusableError) as caught:
        claim(tmp_path).try_acquire()

    assert caught.value.hint
