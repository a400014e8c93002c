"""hm launch and hm sessions, with a real tmux and small programs as agents."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.cli.commands import launch as command
from tests.inject.repos import git, no_object_has_the_section, status
from tests.launch.conftest import READER, TIMEOUT_S, until

pytestmark = pytest.mark.usefixtures("environ")
LAUNCHES = 8
FAILS_LATER = """\
#!/bin/sh
while [ ! -e go ]; do sleep 0.05; done
echo bad
sleep 0.3
exit 7
"""


def test_an_agent_starts_in_its_worktree_and_has_read_the_memories(machine, hm) -> None:
    """That is the whole point."""
    said = hm("launch", "claude", "--", "--model", "it's #{pid}; $HOME", "ü")

    assert said.code == 0
    assert said.out == "tmux attach-session -t '=hm-shop-claude'\n"
    assert "CLAUDE.md: 3 memories" in said.err
    screen = machine.shows("hm-shop-claude", "Tuesdays")
    assert f"in {machine.repo}" in screen
    assert "words: --model it's #{pid}; $HOME ü" in screen
    assert status(machine.repo) == ""
    assert no_object_has_the_section(machine.repo)


def test_the_process_of_the_pane_is_the_agent_with_the_variables_of_the_shell(
    machine, hm, monkeypatch
) -> None:
    """A server that ran before knows nothing of what was exported since."""
    machine.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    value = 'a "b" $c #{d} \\ \' é ;\n\x1b%'
    monkeypatch.setenv("AGENT_KEY", value)
    monkeypatch.setenv("TERM_PROGRAM", "of this terminal")
    machine.program("claude", "#!/bin/sh\nexec sleep 1000\n")

    hm("launch", "claude")

    pid = machine.tmux("display-message", "-p", "-t", "=hm-shop-claude:", "#{pane_pid}")
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert command == b"sleep\x001000\x00"
    assert f"AGENT_KEY={value}".encode() in variables
    assert b"TERM_PROGRAM=tmux" in variables


def test_later_windows_do_not_count_as_an_agents_shell(
    machine, hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that launches another starts the server of all of a person's windows."""
    monkeypatch.setenv("CLAUDECODE", "1")

    assert hm("launch", "claude").code == 0

    known = machine.tmux("show-environment", "-g").splitlines()
    assert any(line.startswith("PATH=") for line in known)
    assert not any(line.startswith("CLAUDECODE=") for line in known)


def test_a_second_launch_finds_the_first(machine, hm) -> None:
    """Also from a folder in the worktree, and it says that arguments came too late."""
    hm("launch", "claude")
    (machine.repo / "src").mkdir()
    os.chdir(machine.repo / "src")

    said = hm("launch", "claude", "--detach", "--", "--other")

    assert said.out == "tmux attach-session -t '=hm-shop-claude'\n"
    assert f"claude already runs in {machine.repo}, since " in said.err
    assert "--other was ignored" in said.err
    assert machine.tmux("list-sessions", "-F", "#{session_name}") == "hm-shop-claude"


def test_two_agents_share_a_worktree_and_one_agent_works_in_two(machine, hm) -> None:
    """A session is an agent in a worktree, and names alone decide nothing."""
    machine.program("codex", READER)
    other = machine.folder / "else" / "shop"
    other.mkdir(parents=True)

    hm("launch", "claude")
    hm("launch", "codex")
    elsewhere = hm("launch", "claude", "--worktree", str(other))

    found = json.loads(hm("sessions", "--json").out)["sessions"]
    assert [(one["agent"], one["worktree"]) for one in found] == [
        ("claude", str(machine.repo)),
        ("codex", str(machine.repo)),
        ("claude", str(other)),
    ]
    assert found[2]["name"].startswith("hm-shop-claude-")
    assert found[2]["name"] in elsewhere.out


def test_a_session_of_another_program_is_left_alone(machine, hm) -> None:
    """It may have our name; it has none of our tags."""
    machine.tmux("new-session", "-d", "-s", "hm-shop-claude", "sleep 1000")

    said = hm("launch", "claude")

    assert "hm-shop-claude-" in said.out
    assert len(hm("sessions").out.splitlines()) == 1
    assert len(machine.tmux("list-sessions").splitlines()) == 2


@pytest.mark.parametrize(
    "name",
    [
        "my shop",
        "shop.v2:beta",
        "läden 店",
        'it\'s "quoted"',
        "#{pid} #(touch pwned) ##",
        "$HOME `id` ; exit",
        "-x",
        "a\tb",
        "a\nb",
        os.fsdecode(b"caf\xe9"),
        "日" * 70,
    ],
)
def test_any_folder_has_a_session(machine, hm, name: str) -> None:
    """Names are people's; tmux, shells and formats each read something into them."""
    folder = machine.folder / "odd" / name
    folder.mkdir(parents=True)
    text = "#!/bin/sh\npwd >pwd.txt\nexec sleep 1000\n"
    machine.program("claude", text)

    first = hm("launch", "claude", "--worktree", str(folder))
    second = hm("launch", "claude", "--worktree", str(folder))

    assert (first.code, second.code) == (0, 0), first.err
    assert first.out == second.out
    until(lambda: (folder / "pwd.txt").exists() and (folder / "pwd.txt").read_bytes())
    assert os.fsdecode((folder / "pwd.txt").read_bytes()) == f"{folder}\n"
    [found] = json.loads(hm("sessions", "--json").out)["sessions"]
    assert not set(found["name"]) & set(".: '\"#$\t\n")
    assert machine.tmux("has-session", "-t", f"={found['name']}") == ""
    assert not list(machine.folder.rglob("pwned"))


@pytest.mark.parametrize(
    "branch", ["fix/login.v2", "ünï-店", "it's", "a#{pid}$b", "@x"]
)
def test_a_branch_gets_a_worktree_beside_the_repository(
    machine, hm, branch: str
) -> None:
    """Found by a person who looks around, and outside every other worktree."""
    first = hm("launch", "claude", "--branch", branch)
    second = hm("launch", "claude", "--branch", branch)

    assert (first.code, first.out) == (0, second.out), first.err
    [made] = (machine.folder / "shop.worktrees").iterdir()
    assert f"Created the worktree {made}" in first.err
    assert "Made" not in second.err
    assert git(made, "symbolic-ref", "--short", "HEAD") == f"{branch}\n"
    assert (made / "CLAUDE.md").exists()
    assert status(made) == status(machine.repo) == ""
    [found] = json.loads(hm("sessions", "--json").out)["sessions"]
    assert found["worktree"] == str(made)
    machine.shows(found["name"], "Tuesdays")


def test_a_branch_that_is_checked_out_is_worked_on_where_it_is(machine, hm) -> None:
    """Git allows one worktree for a branch, and so the person has it."""
    there = machine.folder / "there"
    git(machine.repo, "worktree", "add", "-q", "-b", "task", str(there))

    main = hm("launch", "claude", "--branch", "main")
    task = hm("launch", "claude", "--branch", "task")

    assert "'=hm-shop-claude'" in main.out
    assert "'=hm-shop-there-claude'" in task.out
    assert not (machine.folder / "shop.worktrees").exists()


def test_a_branch_is_found_in_a_folder_with_a_line_break(machine, hm) -> None:
    """Git ends a path with a line break, unless it is asked for another end."""
    there = machine.folder / "there\nsecond"
    git(machine.repo, "worktree", "add", "-q", "-b", "task", str(there))

    hm("launch", "claude", "--branch", "task")

    [found] = json.loads(hm("sessions", "--json").out)["sessions"]
    assert found["worktree"] == str(there)


def test_two_branches_with_the_same_letters_get_a_worktree_each(machine, hm) -> None:
    """A slash cannot stand in the name of one folder."""
    hm("launch", "claude", "--branch", "a/b")
    said = hm("launch", "claude", "--branch", "a-b")

    assert said.code == 0, said.err
    assert len(list((machine.folder / "shop.worktrees").iterdir())) == 2


def test_a_branch_of_the_remote_is_what_is_worked_on(machine, hm) -> None:
    """A new one from HEAD with the same name would be a trap."""
    clone = machine.folder / "clone"
    git(machine.folder, "clone", "-q", str(machine.repo), str(clone))
    os.chdir(clone)

    hm("launch", "claude", "--branch", "upstream")

    made = machine.folder / "clone.worktrees" / "upstream"
    assert (made / "shop.py").read_text() == "price = 2\n"
    assert git(made, "rev-parse", "--abbrev-ref", "@{u}") == "origin/upstream\n"


def test_a_bare_repository_has_worktrees_too(machine, hm) -> None:
    """Many people keep one for nothing else."""
    bare = machine.folder / "store.git"
    git(machine.folder, "clone", "-q", "--bare", str(machine.repo), str(bare))
    os.chdir(bare)

    said = hm("launch", "claude", "--branch", "task")

    assert said.code == 0, said.err
    assert (machine.folder / "store.worktrees" / "task" / "shop.py").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--worktree", "nowhere"), "'nowhere' is not a folder; no agent was started."),
        (("--worktree", ""), "The value of `--worktree` is empty."),
        (("--branch", "a..b"), "'a..b' is not a branch name; no agent was started."),
        (("--branch", ""), "The value of `--branch` is empty."),
        (("--branch", "-x"), "'-x' is not a branch name; no agent was started."),
        (("--branch", "HEAD"), "'HEAD' has another meaning to git; no agent was"),
        (("--branch", "@"), "'@' has another meaning to git; no agent was started."),
        (("--branch", "refs/heads/y"), "'refs/heads/y' has another meaning to git;"),
        (("--branch", "x", "--worktree", "."), "--worktree and --branch cannot be"),
    ],
)
def test_a_place_that_cannot_be_is_one_sentence(machine, hm, words, sentence) -> None:
    """Nothing is made, and no session is there."""
    said = hm("launch", "claude", *words)

    assert said.code in (1, 2)
    assert f"error: {sentence}" in said.err
    assert "Traceback" not in said.err
    assert hm("sessions").out == ""


def test_a_branch_needs_a_repository(machine, hm) -> None:
    """The hint says where to go."""
    os.chdir(machine.folder)

    said = hm("launch", "claude", "--branch", "task")

    assert said.code == 2
    assert "not a git repository" in said.err
    assert "hint: Run this inside the repository" in said.err


def test_an_agent_that_ends_at_once_is_reported(machine, hm, monkeypatch) -> None:
    """Its session would be gone, and with it the reason."""
    monkeypatch.setattr(command, "_WATCH_S", TIMEOUT_S)
    # Linux forgets what is not read yet when the first process of a terminal ends.
    machine.program("claude", "#!/bin/sh\necho no key >&2\nsleep 0.3\nexit 3\n")
    failed = hm("launch", "claude")
    machine.program("claude", "#!/bin/sh\nkill -9 $$\n")
    killed = hm("launch", "claude")
    machine.program("claude", "#!/bin/sh\necho version 1\nsleep 0.3\n")
    ended = hm("launch", "claude", "--", "--version")

    assert (failed.code, failed.out) == (3, "")
    assert failed.err.endswith("claude ended with status 3; its last lines:\nno key\n")
    assert killed.code == 137
    assert killed.err.endswith(
        "claude ended by signal 9 without output: "
        "`hm exec -- claude` runs it in this terminal\n"
    )
    assert ended.code == 0
    assert ended.err.endswith("with status 0; its last lines:\nversion 1\n")
    assert hm("sessions").out == ""


def test_the_advice_for_a_silent_death_can_be_typed(machine, hm, monkeypatch) -> None:
    """A name of config.json is no program, and exec knows programs alone."""
    monkeypatch.setattr(command, "_WATCH_S", TIMEOUT_S)
    program = machine.program("silent", "#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("HIVEMIND_AGENTS", '{"pi": "silent --fast"}')

    said = hm("launch", "pi", "--", "two words", "two\nlines")

    words = "--fast 'two words' $'two\\012lines'"
    assert said.err.endswith(
        f"`hm exec -- {program} {words}` runs it in this terminal\n"
    )


def test_an_agent_that_fails_later_keeps_its_last_lines_until_the_next_launch(
    machine, hm
) -> None:
    """One that ends well is gone; of one that failed a person wants to know why."""
    machine.program("claude", FAILS_LATER)
    hm("launch", "claude")
    (machine.repo / "go").touch()
    until(lambda: "ended (7)" in hm("sessions").out)
    assert "bad" in machine.screen("hm-shop-claude")

    machine.program("claude", READER)
    again = hm("launch", "claude")

    assert "since" not in again.err
    machine.shows("hm-shop-claude", "Tuesdays")
    assert "detached" in hm("sessions").out


def test_launching_never_waits_for_memories_to_be_well(machine, hm) -> None:
    """One line, and the agent starts all the same."""
    (machine.repo / "CLAUDE.md").write_text("<!-- hivemind:begin v1 -->\nbroken\n")
    damaged = hm("launch", "claude")
    machine.tmux("kill-server")
    (machine.repo / "CLAUDE.md").unlink()
    (machine.home / "config.json").write_text("{ oh")
    unreadable = hm("launch", "claude")
    machine.tmux("kill-server")
    (machine.home / "config.json").write_text('{"memory": {"enabled": false}}')
    disabled = hm("launch", "claude")

    for said in (damaged, unreadable):
        assert said.code == 0
        [line] = [x for x in said.err.splitlines() if "nothing was injected" in x]
        assert line.endswith("; claude starts without memories")
    assert disabled.code == 0
    assert "the memory is switched off" in disabled.err
    machine.shows("hm-shop-claude", "no memories")


def test_a_command_of_the_person_is_launched(machine, hm) -> None:
    """Any program can be an agent, and a name of our own another program."""
    tool = machine.program("my tool", READER)
    hm("config", "set", "agents.pi", f"{shlex.quote(str(tool))} --fast 'a b'")
    hm("config", "set", "agents.claude", json.dumps([str(tool), "--slow"]))

    hm("launch", "pi", "--", "more")
    hm("launch", "claude")

    machine.shows("hm-shop-pi", "words: --fast a b more")
    machine.shows("hm-shop-claude", "words: --slow", "Tuesdays")
    assert (machine.repo / "AGENTS.md").exists()
    assert (machine.repo / "CLAUDE.md").exists()


def test_aider_is_told_which_file_to_read(machine, hm) -> None:
    """It reads none by itself."""
    text = '#!/bin/sh\necho "words: $*"\ncat "$2"\nexec sleep 1000\n'
    machine.program("aider", text)

    hm("launch", "aider", "--", "--no-git")

    file = machine.repo / ".aider.hivemind.md"
    machine.shows("hm-shop-aider", f"words: --read {file} --no-git", "Tuesdays")
    assert status(machine.repo) == ""
    assert hm("eject").code == 0
    assert not file.exists()


def test_an_agent_that_is_not_there_is_one_sentence_before_anything_is_made(
    machine, hm
) -> None:
    """Also when its command is the person's own."""
    hm("config", "set", "agents.pi", "pi-is-not-here --fast")

    codex = hm("launch", "codex", "--branch", "task")
    unknown = hm("launch", "clod")
    configured = hm("launch", "pi")

    assert "codex was not started: codex is not installed." in codex.err
    assert "clod is neither a known agent nor a program." in unknown.err
    assert "hint: Known agents: pi, claude, codex," in unknown.err
    assert "pi-is-not-here is not installed." in configured.err
    assert {codex.code, unknown.code, configured.code} == {127}
    assert not (machine.folder / "shop.worktrees").exists()
    assert status(machine.repo) == ""


def test_without_tmux_the_agent_runs_in_the_foreground(machine) -> None:
    """It says so in one line, and becomes the agent."""
    places = {"git": "", "sh": "", "sed": "", "cat": "", "grep": ""}
    for name in places:
        found = subprocess.check_output(["sh", "-c", f"command -v {name}"], text=True)
        (machine.tools / name).symlink_to(found.strip())
    machine.program("claude", f"#!/bin/sh\n{READER.partition('exec')[0]}exit 5\n")
    environ = {**os.environ, "PATH": str(machine.tools)}

    ran = subprocess.run(
        ["hm", "launch", "claude", "--", "x"],
        executable=machine.tools / "hm",
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    hidden = subprocess.run(
        ["hm", "launch", "claude", "--detach"],
        executable=machine.tools / "hm",
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 5
    assert ran.stdout.startswith(f"in {machine.repo}\nwords: x\n")
    assert "Tuesdays" in ran.stdout
    assert "tmux is not installed: claude runs here, in the foreground\n" in ran.stderr
    assert hidden.returncode == 1
    assert "cannot run detached" in hidden.stderr
    listed = subprocess.run(
        ["hm", "sessions"],
        executable=machine.tools / "hm",
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stderr == "no sessions: tmux, in which they run, is not installed\n"


def test_no_server_is_no_session_and_an_empty_list_says_how_to_launch(hm, machine):
    """The first thing that somebody tries."""
    said = hm("sessions")

    assert (said.code, said.out) == (0, "")
    assert said.err == "no sessions: `hm launch AGENT` starts one\n"
    assert hm("sessions", "--json").out == '{"sessions": []}\n'


def test_a_person_attaches_leaves_comes_back_and_kills(machine, hm) -> None:
    """In a real terminal: a pane of another tmux."""
    shell = "env -u TMUX sh -c 'hm launch claude; echo left $?; hm launch claude; cat'"
    outer = ("-L", "outer")
    machine.tmux(
        *outer, "-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "20", shell
    )

    def screen() -> str:
        return machine.tmux(*outer, "capture-pane", "-p")

    until(lambda: "Tuesdays" in screen())
    assert "\tattached\n" in hm("sessions").out
    machine.tmux(*outer, "send-keys", "C-b", "d")
    until(lambda: "left 0" in screen() or "\tattached" in hm("sessions").out)
    until(lambda: "\tattached\n" in hm("sessions").out)
    machine.tmux(*outer, "send-keys", "C-b", "d")
    until(lambda: "\tdetached\n" in hm("sessions").out)
    assert len(hm("sessions").out.splitlines()) == 1
    machine.tmux("kill-session", "-t", "=hm-shop-claude")
    assert hm("sessions").out == ""


def test_an_agent_that_fails_before_a_persons_eyes_is_reported_when_they_leave(
    machine, hm
) -> None:
    """The session stays to be read, and is taken away afterwards."""
    machine.program("claude", FAILS_LATER)
    shell = "env -u TMUX sh -c 'hm launch claude; echo left $?; cat'"
    outer = ("-L", "outer")
    machine.tmux(*outer, "-f", "/dev/null", "new-session", "-d", shell)
    until(lambda: "\tattached\n" in hm("sessions").out)
    (machine.repo / "go").touch()
    until(lambda: "ended (7)" in hm("sessions").out)

    machine.tmux(*outer, "send-keys", "C-b", "d")

    until(lambda: "left 7" in machine.tmux(*outer, "capture-pane", "-p"))
    said = machine.tmux(*outer, "capture-pane", "-p")
    assert "claude ended with status 7; its last lines:\nbad\n" in said
    assert hm("sessions").out == ""


def test_inside_tmux_the_client_goes_to_the_session(machine, hm) -> None:
    """A tmux within a tmux helps nobody."""
    machine.tmux("-f", "/dev/null", "new-session", "-d", "-s", "base", "sh")
    outer = ("-L", "outer")
    attach = "env -u TMUX tmux attach-session -t =base"
    machine.tmux(*outer, "-f", "/dev/null", "new-session", "-d", attach)
    clients = ("list-clients", "-F", "#{client_session}")
    until(lambda: machine.tmux(*clients) == "base")

    machine.tmux("send-keys", "-t", "=base:", "hm launch claude", "Enter")

    until(lambda: machine.tmux(*clients) == "hm-shop-claude")
    machine.shows("hm-shop-claude", "Tuesdays")


@pytest.mark.thorough
@pytest.mark.parametrize("how", [(), ("--branch", "task")], ids=["here", "branch"])
def test_launches_at_once_start_one_session(machine, hm, how) -> None:
    """A person presses a key twice; a script starts a whole team."""
    command = [str(machine.tools / "hm"), "launch", "claude", *how]

    launches = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(LAUNCHES)
    ]
    ended = [(*one.communicate(), one.returncode) for one in launches]

    assert [code for *_, code in ended] == [0] * LAUNCHES, ended
    assert len({out for out, *_ in ended}) == 1
    [found] = json.loads(hm("sessions", "--json").out)["sessions"]
    assert len(machine.tmux("list-sessions").splitlines()) == 1
    text = (Path(found["worktree"]) / "CLAUDE.md").read_bytes()
    assert text.count(b"hivemind:begin") == 1
    assert status(Path(found["worktree"])) == status(machine.repo) == ""
    assert no_object_has_the_section(machine.repo)
    assert len(git(machine.repo, "worktree", "list").splitlines()) == 1 + bool(how)


def test_a_session_is_attached_and_killed_by_its_name_or_its_agents(
    machine, hm
) -> None:
    """People know tmux's words, and hm sessions prints the names."""
    outer = ("-L", "outer")
    assert hm("launch", "claude", "--detach").code == 0
    shell = "env -u TMUX sh -c 'hm attach claude; echo left $?; cat'"
    machine.tmux(*outer, "-f", "/dev/null", "new-session", "-d", shell)
    until(lambda: "\tattached\n" in hm("sessions").out)
    machine.tmux(*outer, "send-keys", "C-b", "d")
    until(lambda: "left 0" in machine.tmux(*outer, "capture-pane", "-p"))

    unsure = hm("kill", "hm-shop-claude")
    still = hm("sessions").out
    done = hm("kill", "hm-shop-claude", "--yes")

    assert (unsure.code, unsure.out) == (1, "")
    assert "Nothing was ended: without a terminal, confirm with --yes" in unsure.err
    assert "hm-shop-claude" in still
    assert (done.code, done.out) == (0, "hm-shop-claude: ended\n")
    until(lambda: hm("sessions").out == "")


def test_kill_asks_in_a_terminal_and_a_no_ends_nothing(machine, hm) -> None:
    """What an agent has not saved is lost."""
    outer = ("-L", "outer")
    hm("launch", "claude", "--detach")
    shell = "env -u TMUX sh -c 'hm kill claude; echo no $?; hm kill claude; cat'"
    machine.tmux(*outer, "-f", "/dev/null", "new-session", "-d", shell)

    def screen() -> str:
        return machine.tmux(*outer, "capture-pane", "-p", "-J")

    until(lambda: "End claude in" in screen())
    machine.tmux(*outer, "send-keys", "n", "Enter")
    until(lambda: "no 1" in screen())
    assert "hm-shop-claude" in hm("sessions").out
    until(lambda: screen().count("End claude in") == 2)
    machine.tmux(*outer, "send-keys", "y", "Enter")

    until(lambda: hm("sessions").out == "")


def test_a_session_that_is_not_clear_is_one_sentence(machine, hm) -> None:
    """With the names there are."""
    nothing = hm("attach")
    hm("launch", "claude", "--detach")
    hm("launch", "claude", "--detach", "--branch", "task")
    several = [hm("kill", "claude", "--yes"), hm("attach"), hm("attach", "owl")]

    assert (nothing.code, nothing.out) == (1, "")
    assert "There are no sessions." in nothing.err
    assert "There are several sessions of claude." in several[0].err
    assert "There are several sessions." in several[1].err
    assert "There is no session 'owl'." in several[2].err
    for said in several:
        assert said.code == 1
        assert "hm-shop-claude, hm-shop-task-claude" in said.err
    assert len(hm("sessions").out.splitlines()) == 2


def test_an_agent_is_launched_for_a_workspace(machine, hm, monkeypatch) -> None:
    """Its servers and hooks are told, and it reads what the workspace may read."""
    # The command sets it for the agent; so it is undone when the test ends.
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "")
    machine.program("claude", '#!/bin/sh\necho "space $HIVEMIND_WORKSPACE"\ncat\n')
    hm("config", "set", "workspaces.a", '{"parent": "root"}')

    refused = hm("launch", "claude", "--detach", "--workspace", "typo")
    assert hm("launch", "claude", "--detach", "--workspace", "a").code == 0

    machine.shows("hm-shop-claude", "space a")
    assert refused.code != 0
    assert "typo" in refused.err


def test_a_workspace_is_refused_to_an_agent_whose_tools_would_ignore_it(
    machine, hm, monkeypatch, tmp_path
) -> None:
    """Over HTTP the tools wrote for the project, and nobody was told."""
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "")
    machine.program("claude", "#!/bin/sh\ncat\n")
    hm("config", "set", "workspaces.a", '{"parent": "root"}')
    entry = {"type": "http", "url": "http://127.0.0.1:1/mcp"}
    settings = {"mcpServers": {"hivemind": entry}}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / ".claude.json").write_text(json.dumps(settings))

    refused = hm("launch", "claude", "--detach", "--workspace", "a")

    assert refused.code == 1
    assert "claude is connected over HTTP" in refused.err
    assert "Run `hm connect claude`" in refused.err
    assert hm("sessions").out == ""


def test_a_mistyped_agent_is_named_right(machine, hm) -> None:
    """In every command that takes one."""
    launched = hm("launch", "cluade", "--detach")
    hooked = hm("git-hook", "install", "--agent", "claude,codx")
    injected = hm("inject", "--agent", "cluade")

    assert "Did you mean claude?" in launched.err
    assert "Did you mean codex?" in hooked.err
    assert "Did you mean claude?" in injected.err
    assert (launched.code, hooked.code, injected.code) == (127, 2, 2)
