"""What happens to a command when its helper is missing, wrong, slow or killed."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.cli.asking import client, helper
from hivemind_memory.cli.asking.program_id import program_id
from tests.support.built_once import build_once
from tests.support.helped import Home, helper_of
from tests.support.waiting import HANG_S, wait_until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a note, led by nobody."""
    home = Home(tmp_path / "home", tmp_path)

    def build() -> None:
        assert home.run("init", by_itself=True).code == 0
        assert home.run("write", "We deploy on Tuesdays", by_itself=True).code == 0

    build_once("home that nobody leads", home.folder, build)
    return home


@contextlib.contextmanager
def listening(home: Home, *, backlog: int = 8) -> Iterator[socket.socket]:
    """Put a socket where the helper would have its own."""
    home.socket.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
        listener.listen(backlog)
        yield listener
    home.socket.unlink()


def answered(home: Home, wait_s: float = HANG_S) -> str:
    """Return who answers a search, which must be right in any case.

    Args:
        home: Whose notes are searched.
        wait_s: How long the command waits for a helper that says nothing.
    """
    done = home.run("search", "deploy", environ={"WAIT_S": str(wait_s)})
    assert (done.code, b"Tuesdays" in done.out) == (0, True), done
    return done.by


def test_nobody_is_asked_where_no_helper_runs(home: Home) -> None:
    assert answered(home) == ""


def test_a_socket_that_was_left_behind_and_a_file(home: Home) -> None:
    """Nobody listens there; the next helper takes the place."""
    with listening(home):
        pass
    home.socket.touch()
    assert answered(home) == "here"
    home.socket.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
    assert answered(home) == "here"

    left = home.socket.stat().st_ino
    with home.leader(waits=False):
        wait_until(lambda: home.socket.exists() and home.socket.stat().st_ino != left)
        assert answered(home) == "helper"
    assert not home.socket.exists()


@pytest.mark.parametrize(
    "said",
    [
        None,
        b"",
        b"1\n",
        b"\xff" * 300,
        b"12",
        b"x\n" + program_id(),
        b"%d\n%b" % (os.getpid(), program_id().replace(b"0.", b"9.", 1)),
    ],
)
def test_who_says_something_else_is_not_asked(home: Home, said: bytes | None) -> None:
    """Silence, a hang, nonsense, another version."""

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            link, _ = listener.accept()
            with link:
                if said is not None:
                    link.sendall(said)
                    link.shutdown(socket.SHUT_WR)
                while link.recv(100):
                    pass

    with listening(home) as listener:
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        assert answered(home, 0.2) == "here"
        server.join(HANG_S)


def test_a_full_queue_does_not_hold_a_command_up(home: Home) -> None:
    with listening(home, backlog=0), contextlib.ExitStack() as links:
        for _ in range(4):
            link = links.enter_context(socket.socket(socket.AF_UNIX))
            link.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                link.connect(str(home.socket))

        assert answered(home, 0.2) == "here"


def test_a_stopped_helper_is_not_waited_for(home: Home) -> None:
    with home.leader():
        os.kill(helper_of(home), signal.SIGSTOP)
        assert answered(home, 0.2) == "here"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
def test_a_helper_ends_with_its_leader(home: Home, number: int) -> None:
    """Or, where the leader is only stopped, once it ends."""
    with home.leader() as leader:
        running = helper_of(home)
        leader.send_signal(number)
        if number == signal.SIGSTOP:
            assert answered(home) == "helper"
            leader.kill()
        wait_until(lambda: not Path(f"/proc/{running}").exists())


def test_a_helper_that_waits_or_loads_ends_with_its_leader(home: Home) -> None:
    """It isn't there for the one that was killed while it began."""
    with home.leader(waits=False) as leader:
        lock = Path(f"{home.socket}.lock")
        wait_until(lambda: lock.exists() and lock.read_text())
        running = helper_of(home)
        leader.kill()
        wait_until(lambda: not Path(f"/proc/{running}").exists())


@pytest.mark.thorough
def test_two_leaders_of_one_home_have_one_helper(home: Home) -> None:
    """The second takes over when the first has ended."""
    other = Home(home.folder, home.around, {"HIVEMIND_INDEX_DIR": str(home.around)})
    with home.leader() as first:
        running = helper_of(home)
        with other.leader():
            assert helper_of(home) == running
            first.terminate()
            first.wait(HANG_S)
            wait_until(home.socket.exists)
            assert helper_of(home) != running
            assert answered(home) == "helper"


@pytest.mark.thorough
def test_the_option_and_the_variable_switch_it_off(home: Home) -> None:
    """The option also where a helper runs already."""
    with home.leader():
        assert answered(home) == "helper"
        off = {"HIVEMIND_ASK_LEADER": "no"}
        assert home.run("search", "deploy", environ=off).by == "here"
        done = home.run("config", "set", "ask_leader", "false", by_itself=True)
        assert done.code == 0
        pause = threading.Event()
        pause.wait(helper.CHECK_S)
        assert answered(home) == "here"
        wait_until(lambda: not home.socket.exists())
        assert answered(home) == ""


@pytest.mark.thorough
def test_a_helper_becomes_the_program_that_was_installed(
    home: Home, tmp_path: Path
) -> None:
    """An upgrade while a leader runs: nobody is answered by the program before."""
    from tests.support.tree import copy_project

    project = copy_project(tmp_path / "project")
    upgraded = Home(home.folder, home.around, {"PYTHONPATH": str(project)})
    with upgraded.leader():
        assert answered(upgraded) == "helper"
        assert answered(home) == "here", "another program"
        version = project / "hivemind_memory" / "version.py"
        version.write_text('__version__ = "0.1.1"\n')
        threading.Event().wait(helper.CHECK_S)
        assert answered(upgraded) == "here"
        wait_until(lambda: answered(upgraded) == "helper")


def test_a_home_with_a_long_path_has_no_helper(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["a long name of a folder"] * 5)
    folder.mkdir(parents=True, mode=0o700)
    home = Home(folder / "home", tmp_path)
    assert home.run("init", by_itself=True).code == 0
    assert home.run("write", "We deploy on Tuesdays", by_itself=True).code == 0
    with home.leader(waits=False):
        threading.Event().wait(helper.QUIET_S)
        assert answered(home) == ""


def test_a_home_that_others_may_change_has_no_helper(home: Home) -> None:
    home.folder.chmod(0o777)
    assert not helper._is_private(str(home.folder))
    home.folder.chmod(0o700)
    assert helper._is_private(str(home.folder))


def killed_writes(home: Home, seed: int, rounds: int) -> list[str]:
    """Write while someone is killed; return what is wrong with the notes."""
    chance = random.Random(seed)
    codes = {}
    with contextlib.ExitStack() as leaders:
        leaders.enter_context(home.leader())
        for number in range(rounds):
            text = f"entry {seed} {number} of many"
            running = helper_of(home)
            process = home.start(("write", text))
            _wait_for_work(home, text, chance.choice((0, 1, 2)))
            # The helper itself is missed by all that follow.
            kill = _KILLS[0 if number == rounds - 1 else chance.choice((1, 2))]
            kill(running, process.pid)
            out, err = process.communicate(timeout=HANG_S)
            codes[text] = (process.returncode, out, err)
    home.run("sync", by_itself=True)
    notes = (home.folder / "memory").rglob("2*.md")
    found = "".join(path.read_text() for path in notes)
    problems = []
    for text, (code, out, err) in codes.items():
        count = len(re.findall(re.escape(text), found))
        is_told = code == 0 or code < 0 or b"not known whether" in err
        if count > 1 or (code == 0 and count != 1) or not is_told:
            problems.append(f"{text}: {count} times, {code}, {out!r}, {err!r}")
    return problems


def _wait_for_work(home: Home, text: str, step: int) -> None:
    """Wait until nothing, a child, or the text in a note is there."""
    end_s = time.monotonic() + 5

    def is_there() -> bool:
        if step == 1:
            return bool(_children(helper_of(home)))
        notes = (home.folder / "memory").rglob("2*.md")
        return any(text in path.read_text() for path in notes)

    while step and not is_there() and time.monotonic() < end_s:
        pass


def _children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(child) for child in listed.split()]
    return []


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


_KILLS: tuple[Callable[[int, int], object], ...] = (
    lambda helper, _client: _kill(helper),
    lambda _helper, client: _kill(client),
    lambda helper, _client: [_kill(child) for child in _children(helper)],
)


@pytest.mark.thorough
def test_kills_lose_no_saved_entry_and_write_none_twice(home: Home) -> None:
    assert killed_writes(home, 1, 20) == []


@pytest.mark.thorough
def test_the_rig_sees_a_command_that_does_its_work_twice(home: Home) -> None:
    """Planted: whoever gets no answer does the work itself, though it had begun."""
    problems: list[str] = []
    program = home.around / "sitecustomize.py"
    program.write_text(
        "import hivemind_memory.cli.asking.client as client\n"
        "def twice(link):\n"
        "    link.settimeout(None)\n"
        "    answer = link.recv(100)\n"
        "    return answer[1] if answer else None\n"
        "client._await_end = twice\n"
    )
    faulty = Home(home.folder, home.around, {"PYTHONPATH": str(home.around)})
    for seed in range(10):
        text = f"planted {seed}"
        with faulty.leader():
            process = faulty.start(("write", text))
            _wait_for_work(faulty, text, 2)
            _KILLS[2](helper_of(faulty), process.pid)
            process.communicate(timeout=HANG_S)
        found = "".join(
            path.read_text() for path in (home.folder / "memory").rglob("2*.md")
        )
        if found.count(text) > 1:
            problems.append(text)
            break

    assert problems


def test_ctrl_c_while_a_command_is_sent_is_that_of_the_command(home: Home) -> None:
    """It ended the sender with a traceback, and the command went on for a moment."""
    program = home.around / "sitecustomize.py"
    program.write_text(
        "import os, signal\n"
        "import hivemind_memory.cli.asking.client as client\n"
        "send = client._send_request\n"
        "def interrupted(link, streams):\n"
        "    send(link, streams)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "client._send_request = interrupted\n"
    )
    hasty = Home(home.folder, home.around, {"PYTHONPATH": str(home.around)})
    reader, writer = os.pipe()
    with hasty.leader():
        process = hasty.start(("write", "-"), stdin=reader)
        _, error = process.communicate(timeout=HANG_S)
    os.close(writer)
    os.close(reader)

    assert process.returncode == 130
    assert b"Traceback" not in error


def test_a_lost_answer_is_told_and_a_hook_still_exits_with_0(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for word, code in (("write", 1), ("hook", 0)):
        monkeypatch.setattr(sys, "argv", ["hm", word])
        ours, theirs = socket.socketpair()
        theirs.close()
        with ours:
            assert client._await_end(ours) == code
        assert "it is not known whether" in capfd.readouterr().err


_IN_A_SANDBOX = """\
import ctypes, os, socket, sys
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no_new_privs
from hivemind_memory.cli.asking.program_id import program_id
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
link, _ = listener.accept()
link.sendall(b"%d\\n%b" % (os.getpid(), program_id()))
if not link.recv(100_000):
    sys.exit(0)
program = b"\\0".join((b"2", b"echo", b"became", b"PATH", b"/usr/bin:/bin"))
link.sendall(b"X" + len(program).to_bytes(8, "big") + program)
sys.exit(1)
"""


def test_a_sandbox_in_the_place_of_the_helper_is_told_nothing(home: Home) -> None:
    """It would get the environment, and have a program run outside."""
    home.socket.parent.mkdir(mode=0o700, exist_ok=True)
    words = [sys.executable, "-c", _IN_A_SANDBOX, str(home.socket)]
    with subprocess.Popen(words, env=home.environ(), stderr=subprocess.DEVNULL) as told:
        wait_until(lambda: _listens(home.socket))

        assert answered(home) == "here"
        assert told.wait(HANG_S) == 0


def _listens(path: Path) -> bool:
    """Return whether a socket is there that takes connections."""
    for line in Path("/proc/net/unix").read_text().splitlines():
        fields = line.split()
        if fields[-1] == str(path) and fields[3] == "00010000":
            return True
    return False
