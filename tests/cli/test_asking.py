"""A command that a helper runs does what it does by itself, to the byte."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hivemind_memory.cli.asking.rights import Rights
from hivemind_memory.environment import resolve_home
from hivemind_memory.files.home import helper_socket
from tests.support.helped import ROOT, Done, Home, helper_of
from tests.support.tiers import part
from tests.support.waiting import HANG_S, wait_until

# Where a command line has a blank inside a word, it is a list.
READING: tuple[str | list[str], ...] = (
    *("search deploy", "search --json deploy", "search --explain deploy"),
    *("search --json --explain queue decision", "search -n3 queue", "search -n 2 we"),
    *("search 会议", "search --json сеть", "search सभा", "search nothing-like-it"),
    *("search", "search --help", "search --bogus deploy", "search --limit x deploy"),
    *("search --since yesterday deploy", "search -- -x", "search --json type:lesson"),
    *(["search", '"queue decision"'], ["search", ""], ["search", "\udcff deploy"]),
    *("list", "ls --json", "list --type lesson", "list --type nope", "list extra"),
    *("get todo.md", "get todo.md:1-3", "get todo.md --json", "get missing.md", "get"),
    *("get ../secret", "get 会議メモ.md", "get टिप्पणियाँ.md --json", "get long.md"),
    *("show deploy-day", "show deploy-day --json", "show nope", "show", "log", "why"),
    *("history deploy-day", "history deploy-day --json", "log --json", "log -n 1"),
    *("log --bad", "why --json", "status", "status --json", "hook", "hook nope"),
    *("hook session-start --agent codex", "hook session-start --agent bogus"),
    *("hook session-start --unknown-option", "inject --dry-run", "inject --bogus"),
    *("inject --dry-run --json", "git-hook", "git-hook status --json", "exec"),
    *(
        "exec -- true",
        "exec -- false",
        "exec -- no-such-program",
        "exec -- /etc/passwd",
    ),
    *("save", "write --bogus x", "save k --scope nope text", "search --help --json"),
    ["exec", "--", "sh", "-c", "cat; echo $0 $#; pwd; umask; ulimit -n; exit 7", "a b"],
)
ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {},
    {"LANG": "C"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "latin-1"},
    {"CLAUDECODE": "1"},
    {"CODEX_CI": "1", "HIVEMIND_PROJECT": "shop"},
    {"HIVEMIND_WORKSPACE": "web"},
    {"HIVEMIND_TEAM": "ops", "NO_COLOR": "1"},
    {"TZ": "Asia/Tokyo", "COLUMNS": "40"},
    {"PYTHONUNBUFFERED": "1"},
    {"HIVEMIND_MIN_SCORE": "0.5"},
    {"HIVEMIND_MIN_SCORE": "bad"},
    {"HIVEMIND_ENABLED": "false"},
    {"PATH": "/nowhere"},
    {"HOME": "/nowhere"},
)
PAYLOAD = b'{"hook_event_name": "SubagentStart", "agent_type": "x"}'
_READ = 0 if os.uname().machine == "x86_64" else 63
"""The number of the system call."""

# How long something took, and when; a score falls with the second.
DIFFERS = re.compile(
    rb'"took_m?s": [\d.e-]+|\(\d+\.\d\d s\)|\d+ ms|\d\d:\d\d:\d\d|(?<=\d\.\d{4})\d+'
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with notes in many scripts, and the repository of a project."""
    around = tmp_path_factory.mktemp("asking")
    home = Home(around / "home", around)
    assert home.run("init", by_itself=True).code == 0
    notes = home.folder / "memory"
    shutil.copytree(ROOT / "fixtures" / "notes", notes, dirs_exist_ok=True)
    lines = (f"Line {number} about nothing.\n" for number in range(40_000))
    (notes / "long.md").write_text("# Long\n\n" + "".join(lines))
    shop = around / "shop"
    subprocess.run(["git", "init", "-q", str(shop)], check=True, env=home.environ())
    for words in (
        ("save", "deploy-day", "We deploy on Tuesdays", "-g"),
        ("save", "build", "Use make, not npm"),
        ("write", "The queue is full on Mondays"),
        ("sync",),
    ):
        assert home.run(*words, by_itself=True, cwd=shop).code == 0
    return home


@pytest.fixture(scope="module")
def led(home: Home) -> Iterator[Home]:
    """The home with a leader, whose helper answers."""
    with home.leader():
        yield home


def shown(done: Done) -> tuple[int, bytes, bytes]:
    """Return what a command showed, without what differs between two runs."""
    return done.code, DIFFERS.sub(b"", done.out), DIFFERS.sub(b"", done.err)


@pytest.mark.sampled
def test_a_helper_gives_the_same_answers(led: Home) -> None:
    """Each command line in an environment and a folder, with or without input.

    In the next run, it may be in another one, the other way.
    """
    drawn = int(os.environ.get("ASKING_TURN") or random.SystemRandom().randrange(10))
    print(f"ASKING_TURN={drawn}")
    cases = [
        (words if isinstance(words, list) else words.split(), ENVIRONMENTS[place], turn)
        for number, words in enumerate(READING)
        for turn in [(number + drawn) % 2]
        for place in [(number + turn * 5) % len(ENVIRONMENTS)]
    ]

    def compare(case: tuple[list[str], Mapping[str, str], int]) -> object:
        words, environ, turn = case
        more = {
            "environ": environ,
            "cwd": led.around / ("shop" if turn else "."),
            "data": PAYLOAD if turn else b"",
        }
        if words[0] == "exec":  # it injects: the second time there is nothing to do
            led.run(*words, by_itself=True, **more)  # type: ignore[arg-type]
        for _ in range(9):
            alone = led.run(*words, by_itself=True, **more)  # type: ignore[arg-type]
            asked = led.run(*words, **more)  # type: ignore[arg-type]
            # A hook lets no agent wait longer, however busy the machine is.
            if b"no answer within" not in alone.err + asked.err:
                break
        # Who became another program can't say who injected.
        is_helped = asked.by == "helper" or words[:2] == ["exec", "--"]
        is_same = shown(alone) == shown(asked)
        return None if is_same and is_helped else (case, alone, asked)

    different = [found for found in map(compare, part(cases, drawn)) if found]

    assert different == []


def test_a_helper_runs_the_commands_that_ask(led: Home) -> None:
    """Or the comparison would say nothing."""
    done = led.run("search", "deploy")

    assert (done.by, done.code) == ("helper", 0)
    assert led.run("search", "deploy", by_itself=True).by == "here"


@pytest.mark.thorough
def test_two_homes_hold_the_same_after_the_same_writes(
    home: Home, tmp_path: Path
) -> None:
    """All but numbers of entries, and times."""
    alone = home.copy(tmp_path / "a" / "me")
    helped = home.copy(tmp_path / "b" / "me")
    write = (
        (("write", "-"), "naïve 会议 note\r\nwith two lines\n".encode()),
        (("save", "color", "Teal, not blue"), b""),
        (("save", "color", "Green, not teal"), b""),
        (("write", "password is hunter2-Zq9x!"), b""),
        (("write", "--scope", "projects/shop", "Ship on Fridays"), b""),
        (("write", "-"), b"\xff\xfe\xff"),
        (("write",), b""),
        (("inject", "--yes"), b""),
        (("git-hook", "run"), b""),
    )
    found = []
    with helped.leader():
        for one, by_itself in ((alone, True), (helped, False)):
            shop = one.around / "shop"
            shows = [
                one.run(*words, data=data, by_itself=by_itself, cwd=shop)
                for words, data in write
            ]
            assert {show.by for show in shows} == {"" if by_itself else "helper"}
            found.append([(show.code, _plain(one, show.out)) for show in shows])
            found[-1] += [(show.code, _plain(one, show.err)) for show in shows]
            found[-1] += _files(one)

    assert found[0] == found[1]


def _files(home: Home) -> list[tuple[int, bytes]]:
    """Return mode and text of each note and injected file."""
    paths = [
        *(path for path in home.folder.rglob("*.md") if ".index" not in path.parts),
        *home.around.glob("shop/*.md"),
    ]
    return [
        (path.stat().st_mode, _plain(home, path.read_bytes())) for path in sorted(paths)
    ]


def _plain(home: Home, data: bytes) -> bytes:
    """Return a text without what differs between two homes."""
    data = data.replace(os.fsencode(home.around), b"AROUND")
    return re.sub(
        rb"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|\d\d:\d\d(:\d\d)?|session=\w+", b"", data
    )


def test_streams_limits_and_modes_are_those_of_the_command(led: Home) -> None:
    """A closed pipe, a full disk, few files, another mask, a priority."""

    def few_files() -> None:
        import resource

        os.umask(0o027)
        os.nice(3)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 50))

    niceness = os.nice(0) + 3
    said = "umask; ulimit -n; ulimit -Hn; nice"
    words = ("exec", "--", "sh", "-c", said)
    for by_itself in (True, False):
        done = led.run(*words, by_itself=by_itself, preexec_fn=few_files)
        assert done.out == b"0027\n40\n50\n%d\n" % niceness, by_itself
        with open("/dev/full", "wb") as full:
            done = led.run("get", "long.md", by_itself=by_itself, stdout=full)
        assert (done.code, b"the disk is full" in done.err) == (1, True), by_itself
        reader, writer = os.pipe()
        os.close(reader)
        done = led.run("get", "long.md", by_itself=by_itself, stdout=writer)
        os.close(writer)
        assert (done.code, done.err) == (141, b""), by_itself


def test_the_time_zone_is_that_of_the_command(home: Home, tmp_path: Path) -> None:
    """The helper has that of its leader."""
    home = home.copy(tmp_path / "z")
    with home.leader():
        for zone, offset in (("Asia/Tokyo", "+09:00"), ("UTC0", "+00:00")):
            name = f"{offset[1:3]}.md"
            done = home.run("write", "--file", name, "Noon", environ={"TZ": zone})
            assert (done.by, done.code) == ("helper", 0)
            text = (home.folder / "memory" / name).read_text()
            assert re.search(rf" at=\S+{re.escape(offset)}", text), text


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_command_with_a_closed_stream_does_its_work_itself(
    led: Home, number: int
) -> None:
    done = led.run("search", "deploy", preexec_fn=lambda: os.close(number))

    assert (done.by, done.code) == ("here", 0 if number != 1 else 1)


def test_a_file_that_only_the_command_has_open_is_read_by_it(led: Home) -> None:
    """As a shell passes the output of another command: ``<(date)``."""
    assert led.run("search", "/dev/fd/63", "deploy").by == "here"


@pytest.mark.thorough
def test_thirty_two_commands_at_once(home: Home, tmp_path: Path) -> None:
    """Each is answered, and each entry is there once."""
    home = home.copy(tmp_path / "many")
    with home.leader(), ThreadPoolExecutor(32) as pool:
        done = list(
            pool.map(
                lambda n: home.run(
                    "write", f"entry number-{n}-of-many", cwd=home.around
                ),
                range(32),
            )
        )

    assert [one.code for one in done] == [0] * 32
    assert {one.by for one in done} == {"helper"}
    notes = home.folder / "memory"
    text = "".join(path.read_text() for path in notes.rglob("2*.md"))
    assert all(text.count(f"number-{n}-of-many") == 1 for n in range(32))


def test_a_terminal_that_is_the_input_keeps_a_write_here(led: Home) -> None:
    """Its text may be typed, and may be stopped and continued."""
    outer, inner = os.openpty()
    try:
        assert led.run("save", "by-hand", "text", stdin=inner).by == "here"
        assert led.run("search", "deploy", stdin=inner).by == "helper"
    finally:
        os.close(outer)
        os.close(inner)


def test_the_terminal_session_is_that_of_the_command() -> None:
    """Of this process, found as of any other one."""
    from hivemind_memory import environment

    assert environment._terminal_session_of(os.getpid()) == (
        environment.terminal_session()
    )


@pytest.mark.parametrize("named", ["", "/x/../y", "~/here", "relative", "/end/"])
def test_a_command_looks_where_the_home_is(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIVEMIND_HOME", named)

    assert os.path.dirname(os.path.dirname(helper_socket(resolve_home()))) == (
        resolve_home()
    )


def test_who_may_do_less_is_not_helped(led: Home) -> None:
    """A sandbox must not be left by way of the helper, which runs programs for it."""
    import ctypes

    libc = ctypes.CDLL(None)
    no_new_privs = 38

    done = led.run(
        "search", "x", preexec_fn=lambda: libc.prctl(no_new_privs, 1, 0, 0, 0)
    )

    assert (done.by, done.code) == ("here", 0)
    assert Rights("self") == Rights(os.getpid())


def _drop_a_capability() -> None:
    _prctl(24, 13)  # CAP_NET_RAW, of the bounding set


def _filter_calls() -> None:
    """Let a filter look at each system call, and allow all of them."""
    import ctypes

    allow = ctypes.create_string_buffer(b"\x06\0\0\0\0\0\xff\x7f", 8)

    class Program(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("first", ctypes.c_void_p))

    program = Program(1, ctypes.addressof(allow))
    _prctl(22, 2, ctypes.addressof(program))


def _leave_namespace() -> None:
    import ctypes

    assert ctypes.CDLL(None).unshare(0x04000000) == 0  # of the machine's name


def _prctl(*numbers: int) -> None:
    import ctypes

    assert ctypes.CDLL(None).prctl(*map(ctypes.c_ulong, (*numbers, 0, 0)[:5])) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up such rights")
@pytest.mark.parametrize(
    "before",
    [
        lambda: os.setgroups([12345]),
        lambda: os.setresgid(12345, 12345, 12345),
        lambda: os.setresuid(65534, -1, -1),
        _drop_a_capability,
        _filter_calls,
        _leave_namespace,
    ],
    ids=["groups", "group", "user", "capabilities", "seccomp", "namespace"],
)
def test_who_has_other_rights_is_not_helped(
    led: Home, before: Callable[[], None]
) -> None:
    """Each of them alone: less may be a sandbox, and more must not be lent."""
    assert led.run("search", "deploy").by == "helper"
    assert led.run("search", "deploy", preexec_fn=before).by == "here"


def test_the_helper_itself_refuses_a_process_in_a_sandbox(led: Home) -> None:
    """Also one that is no ``hm``, and asks as it likes: it gets no greeting."""
    import ctypes

    libc = ctypes.CDLL(None)
    no_new_privs = 38
    ask = (
        "import socket, sys\n"
        "link = socket.socket(socket.AF_UNIX)\n"
        "link.connect(sys.argv[1])\n"
        "print(len(link.recv(100)) > 0)\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", ask, str(led.socket)],
            preexec_fn=before,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for before in (None, lambda: libc.prctl(no_new_privs, 1, 0, 0, 0))
    ]

    assert said == ["True", "False"]


def test_the_socket_is_private(led: Home) -> None:
    assert led.socket.stat().st_mode & 0o7777 == 0o600
    assert led.socket.parent.stat().st_mode & 0o7777 == 0o700


def test_ctrl_c_interrupts_the_work(led: Home) -> None:
    """The helper's child ends as the command would have."""
    reader, writer = os.pipe()
    process = led.start(("write", "-"), stdin=reader)
    helper = helper_of(led)
    [child] = wait_until(lambda: _children(helper))
    wait_until(lambda: _reads_input(child))
    process.send_signal(signal.SIGINT)

    assert process.wait(HANG_S) == 130
    os.close(writer)
    os.close(reader)
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_the_work_ends_with_the_command(led: Home, number: int) -> None:
    reader, writer = os.pipe()
    process = led.start(("write", "-"), stdin=reader)
    helper = helper_of(led)
    [child] = wait_until(lambda: _children(helper))
    wait_until(lambda: _reads_input(child))
    process.send_signal(number)

    assert process.wait(HANG_S) == -number
    wait_until(lambda: not _children(helper))
    os.close(writer)
    os.close(reader)
    process.communicate()


def _reads_input(process: int) -> bool:
    """Return whether a process waits in ``read`` for its standard input."""
    try:
        number, first = Path(f"/proc/{process}/syscall").read_text().split()[:2]
    except (OSError, ValueError):
        return False
    return (number, first) == (str(_READ), "0x0")


def _children(process: int) -> list[int]:
    """Return the children of a process."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in listed.split()]


@pytest.mark.sampled
def test_a_child_has_nothing_left_to_load(home: Home) -> None:
    """A module that is loaded late would be loaded again in each child."""
    program = (
        "import sys\n"
        "from hivemind_memory.cli.asking import child\n"
        "from hivemind_memory.cli.asking.preload import preload\n"
        "preload(lambda: False)\n"
        "before = set(sys.modules)\n"
        "child.main.main(sys.argv[1:])\n"
        "sys.stderr.write(repr(set(sys.modules) - before))\n"
    )
    commands = (
        ("search", "--json", "deploy"),
        ("list",),
        ("write", "a text"),
        ("save", "a-key", "a text"),
        ("hook", "session-start"),
        ("inject", "--dry-run"),
    )
    for words in part(commands, 0, of=3):
        ran = subprocess.run(
            [sys.executable, "-c", program, *words],
            env=home.environ(),
            cwd=home.around / "shop",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        assert ran.stderr.endswith(b"set()"), ran.stderr
