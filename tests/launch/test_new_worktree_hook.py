"""hm git-hook: memories in every worktree that git makes, and nobody's hook harmed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.environment import git_environ
from hivemind_memory.errors import HookNotChangedError
from hivemind_memory.launch.new_worktree_hook import HookCommand, install, remove, state
from tests.inject.repos import git, no_object_has_the_section, status
from tests.support.tiers import examples
from tests.support.waiting import without_hanging

pytestmark = pytest.mark.usefixtures("environ")

SHELL_HOOKS = [
    b'#!/bin/sh\necho mine >>"$PWD/log"\n',
    b"#!/usr/bin/env bash\nset -eu\necho mine >>log",
    b"#!/bin/sh -eu\necho mine >>log; exec true\n",
    b"#!/bin/bash\n# caf\xe9 \xff\necho mine >>log\nexit 0\n",
]


@pytest.fixture
def hook(machine) -> Path:
    """Where the repository's hook is."""
    return machine.repo / ".git" / "hooks" / "post-checkout"


def as_installed(machine) -> None:
    """Install the hook as a person does: with the ``hm`` that is installed."""
    subprocess.run(["hm", "git-hook", "install"], check=True, capture_output=True)


def test_a_worktree_that_git_makes_has_memories(machine, hook, hm) -> None:
    """Whoever makes it: a person, an editor, another launcher."""
    as_installed(machine)

    git(machine.repo, "worktree", "add", "-q", "-b", "task", "../a b")
    git(machine.repo, "worktree", "add", "-q", "../up", "upstream")

    for name in ("a b", "up"):
        made = machine.folder / name
        assert b"Tuesdays" in (made / "CLAUDE.md").read_bytes()
        assert status(made) == ""
    assert no_object_has_the_section(machine.repo)
    assert hm("git-hook").out == f"installed: {hook}\n"


def test_a_hook_of_another_version_still_gives_the_memories(machine, hook) -> None:
    """The block in the repository may be older or newer than the installed hm."""
    as_installed(machine)
    text = hook.read_text()
    hook.write_text(text.replace("git-hook run", "git-hook run --of-later 2"))
    assert hook.read_text() != text

    git(machine.repo, "worktree", "add", "-q", "-b", "task", "../task")

    assert b"Tuesdays" in (machine.folder / "task" / "CLAUDE.md").read_bytes()


def test_another_checkout_is_left_alone(machine, hook) -> None:
    """Only a new worktree: the others have been seen to."""
    as_installed(machine)

    git(machine.repo, "checkout", "-q", "upstream")
    git(machine.repo, "checkout", "-q", "main", "--", "shop.py")

    assert b"hivemind" not in (machine.repo / "CLAUDE.md").read_bytes()


def test_several_agents_get_their_files(machine, hook) -> None:
    """A team reads more than one."""
    words = ["hm", "git-hook", "install", "--agent", "claude,gemini"]
    subprocess.run(words, check=True, capture_output=True)

    git(machine.repo, "worktree", "add", "-q", "-b", "task", "../task")

    assert (machine.folder / "task" / "CLAUDE.md").exists()
    assert (machine.folder / "task" / "GEMINI.md").exists()


@pytest.mark.parametrize("how", ["gone", "moved", "broken", "config"])
def test_a_worktree_is_made_whatever_has_become_of_us(machine, hook, how) -> None:
    """Gone, at another place on the PATH, broken, or with nothing to read."""
    as_installed(machine)
    hm = machine.tools / "hm"
    if how == "gone":
        hm.unlink()
    elif how == "moved":
        (machine.folder / "bin").mkdir()
        hm.rename(machine.folder / "bin" / "hm")
        os.environ["PATH"] = f"{machine.folder / 'bin'}:{os.environ['PATH']}"
    elif how == "broken":
        hm.write_text("#!/bin/sh\necho noise; echo noise >&2; exit 9\n")
    else:
        (machine.home / "config.json").write_text("{ oh")

    said = git(machine.repo, "worktree", "add", "-q", "-b", "task", "../task")

    assert said == ""
    there = (machine.folder / "task" / "CLAUDE.md").exists()
    assert there == (how == "moved")


def test_git_waits_for_a_bounded_time(machine, hook, monkeypatch) -> None:
    """Somebody holds our lock for ever."""
    from hivemind_memory.files.locks import KernelLock

    subprocess.run(["hm", "inject"], check=True, capture_output=True)
    [lock] = (machine.home / "locks").glob("inject-*.lock")
    held = KernelLock(str(lock))
    assert held.try_acquire()
    text = (machine.tools / "hm").read_text()
    short = (
        "import hivemind_memory.cli.commands.git_hook as h; h._MAX_S = 0.5\n"
        "import hivemind_memory.inject.injector as i; i._LOCK_TIMEOUT_S = 1e6\n"
    )
    machine.program("hm", text.replace("from ", f"{short}from ", 1))
    as_installed(machine)

    adding = ("worktree", "add", "-q", "-b", "task", "../task")
    without_hanging(lambda: git(machine.repo, *adding))

    held.release()
    assert not (machine.folder / "task" / "CLAUDE.md").exists()


@pytest.mark.parametrize("mine", SHELL_HOOKS)
def test_a_hook_of_the_persons_goes_on_and_comes_back(machine, hook, mine, hm) -> None:
    """To the byte and to the mode, however often it is installed."""
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(mine)
    hook.chmod(0o750)

    first = hm("git-hook", "install")
    once = hook.read_bytes()
    second = hm("git-hook", "install")

    assert first.out == f"installed: {hook}\n"
    assert second.out == f"already installed: {hook}\n"
    assert hook.read_bytes() == once
    assert stat.S_IMODE(hook.stat().st_mode) == 0o750
    git(machine.repo, "worktree", "add", "-q", "-b", "task", "../task")
    assert (machine.folder / "task" / "log").read_text() == "mine\n"
    assert hm("git-hook", "remove").out == f"removed: {hook}\n"
    assert hook.read_bytes() == mine
    assert stat.S_IMODE(hook.stat().st_mode) == 0o750
    assert hm("git-hook", "remove").out == f"not installed: {hook}\n"


def test_the_status_of_the_persons_hook_stays_gits(machine, hook, hm) -> None:
    """It decides whether git checkout fails."""
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(b"#!/bin/sh\nexit 3\n")
    hook.chmod(0o755)

    hm("git-hook", "install")

    checkout = ["git", "checkout", "-q", "upstream"]
    assert subprocess.run(checkout, cwd=machine.repo, check=False).returncode == 1


def test_a_file_of_ours_goes_with_the_block(machine, hook, hm) -> None:
    """And so does nothing else: the person may have written into it since."""
    hm("git-hook", "install")
    hm("git-hook", "remove")
    assert not hook.exists()
    hm("git-hook", "install", "--agent", "codex")
    with hook.open("a") as file:
        file.write("echo more\n")
    hm("git-hook", "install")

    hm("git-hook", "remove")

    assert hook.read_text() == "#!/bin/sh\necho more\n"


@pytest.mark.parametrize(
    ("data", "mode", "why"),
    [
        (b"#!/usr/bin/env python3\nprint(1)\n", 0o755, "is not a shell script"),
        (b"echo no first line\n", 0o755, "is not a shell script"),
        (b"\x7fELF\0", 0o755, "is not a shell script"),
        (b"", 0o755, "is not a shell script"),
        (b"#!/bin/sh\n:\n", 0o644, "is not executable, so git ignores it"),
        (b"#!/bin/sh\r\n:\r\n", 0o755, "has CRLF line endings"),
        (b"#!/bin/sh\n# hivemind:begin\n", 0o755, "The hook was not changed."),
    ],
)
def test_a_hook_that_cannot_take_it_is_refused(
    machine, hook, hm, data, mode, why
) -> None:
    """With the line that a person may add by hand."""
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(data)
    hook.chmod(mode)

    said = hm("git-hook", "install")

    assert said.code == 1
    assert why in said.err
    assert "hint: " in said.err
    assert hook.read_bytes() == data


def test_links_and_hooks_elsewhere_are_refused(machine, hook, hm) -> None:
    """They may be tracked, or shared by every repository of the person's."""
    hook.parent.mkdir(exist_ok=True)
    (machine.folder / "theirs").write_text("#!/bin/sh\n")
    (machine.folder / "theirs").chmod(0o755)
    hook.symlink_to(machine.folder / "theirs")
    linked = hm("git-hook", "install")
    hook.unlink()
    git(machine.repo, "config", "core.hooksPath", ".husky/_")

    elsewhere = hm("git-hook", "install")

    assert "is a link; it was not changed." in linked.err
    assert (
        "core.hooksPath is .husky/_, so git runs hooks only from there" in elsewhere.err
    )
    assert "git-hook run --agent claude" in elsewhere.err
    assert (linked.code, elsewhere.code) == (1, 1)
    assert not hook.exists()
    assert (machine.folder / "theirs").read_text() == "#!/bin/sh\n"


def test_all_worktrees_share_one_hook(machine, hook, hm) -> None:
    """It is installed for a repository, from wherever the person stands."""
    git(machine.repo, "worktree", "add", "-q", "-b", "task", "../task")

    hm("git-hook", "install", str(machine.folder / "task"))

    shown = json.loads(hm("git-hook", "status", "--json").out)
    assert (shown["path"], shown["is_installed"]) == (str(hook), True)


def test_mistakes_are_one_sentence(machine, hm) -> None:
    """No folder, no repository, no name."""
    outside = hm("git-hook", "install", str(machine.folder))
    missing = hm("git-hook", "install", "nowhere")
    unnamed = hm("git-hook", "install", "--agent", "a; rm -rf x")

    assert (outside.code, missing.code, unnamed.code) == (1, 2, 2)
    for said in (outside, missing, unnamed):
        assert said.err.startswith("error: ")
        assert "Traceback" not in said.err


LINES = st.binary(max_size=20).filter(lambda one: b"\r" not in one)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(LINES, max_size=5), st.booleans())
def test_any_script_comes_back(machine, hook, lines, has_newline) -> None:
    """Whatever bytes are in it."""
    data = b"\n".join([b"#!/bin/sh", *lines]) + (b"\n" if has_newline else b"")
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(data)
    hook.chmod(0o755)
    folder, environ = str(machine.repo), git_environ()

    try:
        install(folder, HookCommand(hm=("/bin/hm",)), environ)
    except HookNotChangedError:
        pass
    else:
        assert state(folder, environ).is_installed
        remove(folder, environ)

    assert hook.read_bytes() == data
