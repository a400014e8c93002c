"""hm exec: memories, then the command itself, as if it had been typed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from hivemind_memory.cli.commands.inject import ADDED_TO_GIT
from tests.inject.repos import status
from tests.launch.conftest import until
from tests.support.waiting import HANG_S

pytestmark = pytest.mark.usefixtures("environ")


def run(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Run ``hm exec`` as a process; what the first one in a repository adds is cut."""
    ran = subprocess.run(
        ["hm", "exec", *words],
        capture_output=True,
        text=True,
        check=False,
        **{"env": dict(os.environ), **more},
    )
    ran.stderr = ran.stderr.replace(f"{ADDED_TO_GIT}\n", "")
    return ran


def test_the_command_finds_the_section_and_its_own_words_as_they_were(machine) -> None:
    """A profile of claude-squad is this and nothing else."""
    ran = run("--", "claude", "--agent", "x", "--json", "--", "-n", "a b")

    assert ran.returncode == 0
    assert ran.stdout.splitlines()[1] == "words: --agent x --json -- -n a b"
    assert "Tuesdays" in ran.stdout
    assert ran.stderr == ""
    assert (machine.repo / "CLAUDE.md").exists()
    assert status(machine.repo) == ""


@pytest.fixture(autouse=True)
def _ending(machine) -> None:
    """An agent that does not stay."""
    text = (machine.tools / "claude").read_text()
    machine.program("claude", text.partition("exec")[0])


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("--", "cursor-agent"), "AGENTS.md"),
        (("--", "./tools/gemini"), "GEMINI.md"),
        (("--agent", "claude", "--", "sh", "-c", ":"), "CLAUDE.md"),
        (("--", "sh", "-c", ":"), "AGENTS.md"),
    ],
)
def test_the_agent_is_known_by_its_program(machine, words, file: str) -> None:
    """Each reads its own file."""
    for name in ("cursor-agent", "gemini"):
        machine.program(name, "#!/bin/sh\n")
    (machine.repo / "tools").symlink_to(machine.tools)

    ran = run(*words)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert (machine.repo / file).exists()


def test_aider_is_told_which_file_to_read_here_too(machine) -> None:
    """Without it the section would be for nobody."""
    machine.program("aider", '#!/bin/sh\necho "$*"\ncat "$2"\n')

    ran = run("--", "aider", "--message", "hi")

    first, _, rest = ran.stdout.partition("\n")
    assert first == f"--read {machine.repo}/.aider.hivemind.md --message hi"
    assert "Tuesdays" in rest


def test_a_failed_injection_is_one_line_and_no_more(machine) -> None:
    """Damaged marks, a configuration that cannot be read, a home that is a file."""
    (machine.repo / "CLAUDE.md").write_text("<!-- hivemind:begin v1 -->\nbroken\n")
    damaged = run("--", "claude")
    (machine.home / "config.json").write_text("{ oh")
    unreadable = run("--", "claude")
    (machine.folder / "file").touch()
    elsewhere = {**os.environ, "HIVEMIND_HOME": str(machine.folder / "file")}
    no_home = run("--", "claude", env=elsewhere)

    for ran in (damaged, unreadable, no_home):
        assert ran.returncode == 0
        assert ran.stdout.startswith(f"in {machine.repo}\n")
        assert ran.stderr.startswith("warning: nothing was injected: ")
        assert ran.stderr.endswith("; claude starts without memories\n")
        assert ran.stderr.count("\n") == 1


def test_an_empty_memory_is_said_and_nothing_is_written(machine) -> None:
    """A person who wonders why nothing is known reads it here."""
    environ = {**os.environ, "HIVEMIND_HOME": str(machine.folder / "new")}

    ran = run("--", "claude", env=environ)

    assert ran.returncode == 0
    assert ran.stderr.count("\n") == 1
    assert not (machine.repo / "CLAUDE.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("no-such-agent",), 127, "There is no program 'no-such-agent' on the PATH."),
        (("./missing/x",), 127, "There is no program ./missing/x."),
        (("/",), 126, "/ is a folder, not a program."),
        (("./plain.txt",), 126, "./plain.txt is not executable."),
        (("./broken",), 126, "./broken cannot be run: exec format error."),
        (
            ("./script",),
            127,
            "./script cannot be run: the program that its first line names is missing.",
        ),
        (("",), 127, "The name of the program is empty."),
        (("sh", "-c", "exit 42"), 42, ""),
    ],
)
def test_the_exit_code_is_that_of_a_shell(machine, words, code, sentence) -> None:
    """A launcher looks at nothing else."""
    (machine.repo / "plain.txt").write_text("x")
    (machine.repo / "broken").write_text("\x7fELF")
    (machine.repo / "broken").chmod(0o755)
    (machine.repo / "script").write_text("#!/no/such/interpreter\n")
    (machine.repo / "script").chmod(0o755)

    ran = run("--", *words)

    assert ran.returncode == code
    assert ran.stderr == (f"error: {sentence}\n" if sentence else "")


def test_nothing_is_injected_for_a_program_that_is_not_there(machine) -> None:
    """The section and the changes of .git would be for nobody."""
    ran = run("--", "no-such-agent")

    assert ran.returncode == 127
    assert not (machine.repo / "AGENTS.md").exists()
    assert not list((machine.repo / ".git" / "hooks").glob("pre-push"))


def test_an_argument_that_no_program_can_take_is_reported() -> None:
    """The words of an agent in config.json may hold anything; it is named, not ''."""
    program = (
        "import os\n"
        "from hivemind_memory.cli.become import become\n"
        "raise SystemExit(become(['true', 'a\\0b'], os.environ))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 126
    assert ran.stderr == "error: true cannot be run: embedded null byte.\n"


def test_a_folder_that_is_gone_is_named_and_not_the_program(tmp_path) -> None:
    """It said that the program which the first line of "true" names is missing."""
    gone = str(tmp_path / "gone")
    program = (
        "import os, sys\n"
        "from hivemind_memory.cli.become import become\n"
        "raise SystemExit(become(['true'], os.environ, folder=sys.argv[1]))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program, gone],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 126
    sentence = f"The folder {gone} cannot be opened: there is no such file or folder."
    assert ran.stderr == f"error: {sentence}\n"


def test_signals_reach_the_command_and_end_it(machine) -> None:
    """It is the same process, and nothing that Python ignored stays ignored."""
    started = subprocess.Popen(
        ["hm", "exec", "--", "sh", "-c", "touch on; exec sleep 1000"],
    )
    until((machine.repo / "on").exists)

    started.send_signal(signal.SIGTERM)

    assert started.wait(HANG_S) == -signal.SIGTERM
    piped = subprocess.run(
        ["bash", "-c", "hm exec -- yes | head -n 1; echo ${PIPESTATUS[0]}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stdout == "y\n141\n"


def test_a_terminal_stays_a_terminal(machine, hm) -> None:
    """An agent that finds a pipe instead would not show itself."""
    shell = "hm exec -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo all; cat'"
    machine.tmux("new-session", "-d", "-s", "x", shell)

    machine.shows("x", "all")

    assert hm("sessions").out == ""


def test_all_words_after_the_program_are_its_own(machine, hm) -> None:
    """Also without ``--``, and those that are options of hm exec, too."""
    ran = run("claude", "--agent", "x", "--continue", "--json", "--", "-n")
    unknown = hm("exec", "--continue", "claude")
    empty = hm("exec")

    assert ran.stdout.splitlines()[1] == "words: --agent x --continue --json -- -n"
    assert ran.stderr == ""
    assert (unknown.code, empty.code) == (2, 2)
    assert "after `--`" in unknown.err


def test_a_mistyped_agent_starts_without_memories_and_is_named_right(machine) -> None:
    """Whatever is wrong, the agent starts."""
    ran = run("--agent", "cluade", "--", "sh", "-c", "ls -A; echo started")

    assert ran.returncode == 0
    assert ran.stdout.endswith("started\n")
    assert "AGENTS.md" not in ran.stdout
    assert "Did you mean claude?" in ran.stderr


def test_nothing_is_injected_into_the_home_folder(machine, monkeypatch) -> None:
    """Every agent that starts below it would read the section."""
    monkeypatch.chdir(machine.folder)

    ran = run("--", "sh", "-c", "ls; echo started")

    assert ran.returncode == 0
    assert "CLAUDE.md" not in ran.stdout
    assert "AGENTS.md" not in ran.stdout
    assert "is your home folder" in ran.stderr


@pytest.mark.parametrize("command", ["exec", "launch"])
def test_outside_a_repository_nothing_is_written_until_a_person_has_agreed(
    machine, hm, monkeypatch, command: str
) -> None:
    """hm exec wrote AGENTS.md into any folder; hm inject asks there."""
    plain = machine.folder / "plain"
    plain.mkdir()
    monkeypatch.chdir(plain)
    words = ["hm", command, *(["--detach"] if command == "launch" else []), "claude"]

    def start_agent() -> str:
        return subprocess.run(words, capture_output=True, text=True, check=False).stderr

    before = start_agent()
    left = list(plain.iterdir())
    agreed = hm("inject", "--yes", "--agent", "claude")
    (machine.home / "memory" / "later.md").write_text("Later we sail on Tuesdays.\n")
    after = start_agent()
    hm("eject")
    again = start_agent()

    assert f"{plain} is not in a git repository" in before
    assert "`hm inject --yes --agent claude` injects there" in before
    assert left == []
    assert agreed.code == 0
    assert "nothing was injected" not in after
    assert "nothing was injected" in again
    assert list(plain.iterdir()) == []


def test_the_first_injection_into_a_repository_names_what_it_adds_to_git(
    machine,
) -> None:
    """A person finds hooks in .git and should know whose they are."""
    words = ["hm", "exec", "--", "claude"]
    first, second = (
        subprocess.run(words, capture_output=True, text=True, check=True)
        for _ in range(2)
    )

    assert (first.stderr, second.stderr) == (f"{ADDED_TO_GIT}\n", "")
