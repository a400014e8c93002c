"""Filter and hooks stay while anything would take the section into the next commit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.inject.injector import Injector
from hivemind_memory.model.injection import EjectionResult
from tests.inject.repos import git, linked, make_repo, tracked
from tests.inject.test_escape import carried, shell

COMMIT = "git add -A; git commit -q -m x"


def eject_after(worktree: Path, injector: Injector, script: str) -> EjectionResult:
    """Inject, run a script, and eject."""
    injector.inject(str(worktree))
    shell(worktree, script)
    return injector.eject(str(worktree))


def has_locks(worktree: Path) -> bool:
    """Whether the filter and the hooks are there."""
    options = git(worktree, "config", "--local", "--list")
    hook = worktree / ".git" / "hooks" / "reference-transaction"
    assert hook.exists() == ("filter.hivemind.clean" in options)
    return hook.exists()


@pytest.mark.parametrize(
    "leave",
    [
        "mv ../task ../away",
        "git worktree lock ../task; mv ../task ../away",
        "mv ../task ../away; mkdir ../task",
    ],
)
def test_a_worktree_that_is_away_keeps_the_locks(
    leave: str, tmp_path: Path, injector: Injector
) -> None:
    """It may come back with its section, from another disk for example."""
    worktree = tmp_path / "repo"
    injector.inject(str(linked(tmp_path)))

    done = eject_after(worktree, injector, leave)
    kept = has_locks(worktree)
    shell(tmp_path, "rmdir task; mv away task; cd task; echo x >> CLAUDE.md")
    shell(tmp_path / "task", COMMIT)

    assert not done.is_git_restored
    assert len(done.leftovers) == 1
    assert f"git lists the worktree {tmp_path / 'task'}" in done.leftovers[0]
    assert kept
    assert not carried(worktree)
    injector.eject(str(tmp_path / "task"))
    assert injector.eject(str(worktree)).is_git_restored
    assert not has_locks(worktree)


def test_a_moved_worktree_is_found_once_it_is_repaired(
    tmp_path: Path, injector: Injector
) -> None:
    """The message names the command for a worktree that was moved."""
    worktree = tmp_path / "repo"
    injector.inject(str(linked(tmp_path)))
    first = eject_after(worktree, injector, "mv ../task ../moved")
    git(worktree, "worktree", "repair", str(tmp_path / "moved"))

    second = injector.eject(str(worktree))
    last = injector.eject(str(tmp_path / "moved"))

    assert "git worktree repair NEW-PATH" in first.leftovers[0]
    assert (second.is_git_restored, second.leftovers) == (False, ())
    assert (last.is_git_restored, has_locks(worktree)) == (True, False)


@pytest.mark.parametrize("before", ["", "git worktree lock ../task;"])
def test_a_worktree_that_is_gone_for_good_is_dropped_by_the_named_command(
    before: str, tmp_path: Path, injector: Injector
) -> None:
    """A deleted worktree does not keep the locks for ever."""
    worktree = tmp_path / "repo"
    injector.inject(str(linked(tmp_path)))

    done = eject_after(worktree, injector, f"{before} rm -r ../task")
    shell(worktree, done.leftovers[0].split("`")[-2])

    assert injector.eject(str(worktree)).is_git_restored
    assert not has_locks(worktree)


def test_a_staged_copy_keeps_the_locks(tmp_path: Path, injector: Injector) -> None:
    """The eject cleans the file, and the index still has the section."""
    worktree = tracked(tmp_path)

    done = eject_after(
        worktree, injector, "cp CLAUDE.md prompt.py; git add prompt.py; git commit -m x"
    )
    kept = has_locks(worktree)
    shell(worktree, "git commit -q -m x")

    assert done.leftovers == (
        "prompt.py is staged with the section: run `git restore --staged prompt.py`",
    )
    assert kept
    assert not carried(worktree)
    shell(worktree, done.leftovers[0].split("`")[1])
    assert injector.eject(str(worktree)).is_git_restored
    assert not has_locks(worktree)


def test_a_staged_copy_before_the_first_commit_keeps_the_locks(
    tmp_path: Path, injector: Injector
) -> None:
    """There is no commit to restore from, so the message names another command."""
    worktree = tmp_path / "repo"
    git(tmp_path, "init", "-q", "-b", "main", str(worktree))
    (worktree / "CLAUDE.md").write_text("# Rules\n")

    done = eject_after(worktree, injector, "cp CLAUDE.md 'my guide'; git add -A")
    shell(worktree, done.leftovers[0].split("`")[1])

    assert "git rm --cached 'my guide'" in done.leftovers[0]
    assert injector.eject(str(worktree)).is_git_restored


def test_a_copy_that_is_staged_in_another_worktree_keeps_the_locks(
    tmp_path: Path, injector: Injector
) -> None:
    """Each worktree has an index of its own."""
    task = linked(tmp_path)
    worktree = tmp_path / "repo"

    done = eject_after(
        worktree,
        injector,
        "cp CLAUDE.md ../task/guide; cd ../task; git add guide; rm guide",
    )
    shell(worktree, done.leftovers[0].split("`")[1])

    assert str(task / "guide") in done.leftovers[0]
    assert injector.eject(str(worktree)).is_git_restored


@pytest.mark.parametrize("words", ["", "git add -A;", "git rm -q --cached CONTEXT;"])
def test_a_stashed_copy_keeps_the_locks(
    words: str, tmp_path: Path, injector: Injector
) -> None:
    """A stash that was made without the check comes back with the section."""
    worktree = tracked(tmp_path)
    (worktree / "CONTEXT").write_text("ours\n")
    shell(worktree, COMMIT)
    stash = "git -c hivemind.check=false stash -u"

    done = eject_after(worktree, injector, f"cp CLAUDE.md CONTEXT; {words} {stash}")

    assert "stash@{0} contains CONTEXT with the section" in done.leftovers[0]
    assert has_locks(worktree)
    git(worktree, "stash", "drop", "-q", "stash@{0}")
    assert injector.eject(str(worktree)).is_git_restored


@pytest.mark.parametrize(
    ("file", "script"),
    [
        ("quoted.md", "sed 's/^/> /' CLAUDE.md > quoted.md"),
        ("a.py", "sed 's/^/# /' CLAUDE.md > a.py"),
        ("a.json", "tr '\\n' ' ' < CLAUDE.md > a.json"),
        ("guide", "tr a-z A-Z < CLAUDE.md > guide"),
        ("shop.py", "sed 's/^/# /' CLAUDE.md >> shop.py"),
        (".CLAUDE.md.swp", "tr '\\n' '\\000' < CLAUDE.md > .CLAUDE.md.swp"),
        ("part", "grep Hivemind CLAUDE.md > part"),
    ],
)
def test_a_copy_in_another_form_keeps_the_locks(
    file: str, script: str, tmp_path: Path, injector: Injector
) -> None:
    """The eject removes whole sections only; the hooks refuse much more."""
    worktree = tracked(tmp_path)

    done = eject_after(worktree, injector, script)
    kept = has_locks(worktree)
    shell(worktree, COMMIT)

    assert done.leftovers == (f"{file} contains the section: delete it from there",)
    assert kept
    assert not carried(worktree)


def test_an_ignored_copy_keeps_the_locks(tmp_path: Path, injector: Injector) -> None:
    """``git add -f`` takes it in; its section is not at the start of a line."""
    worktree = tracked(tmp_path)
    (worktree / ".git" / "info").mkdir(exist_ok=True)
    (worktree / ".git" / "info" / "exclude").write_text("build/\n")

    done = eject_after(worktree, injector, "mkdir build; cp CLAUDE.md build/c")
    kept = has_locks(worktree)
    shell(worktree, f"git add -f build; {COMMIT}")

    assert done.leftovers == ("build/c contains the section: delete it from there",)
    assert kept
    assert not carried(worktree)


def test_what_only_mentions_the_section_keeps_nothing(
    tmp_path: Path, injector: Injector
) -> None:
    """Marks between quotes, committed sections, and one line in an ignored file."""
    worktree = tracked(tmp_path)
    section = "<!-- hivemind:begin v1 -->\nours\n<!-- hivemind:end -->\n"
    (worktree / "example.txt").write_text(section)
    (worktree / ".gitignore").write_text("venv\n")
    shell(worktree, COMMIT)
    (worktree / "mention.py").write_text("MARK = '<!-- hivemind:begin v1 -->'\n")
    (worktree / "venv").mkdir()
    (worktree / "venv" / "section.py").write_text(
        "'# Hivemind Memory (auto-injected, do not edit)'\n"
    )

    done = eject_after(worktree, injector, "git add -A; echo x >> example.txt")

    assert (done.is_git_restored, done.leftovers) == (True, ())
    assert not has_locks(worktree)


def test_a_repository_that_is_not_checked_keeps_nothing(
    tmp_path: Path, injector: Injector
) -> None:
    """The option that tells the hooks to let a section pass says so here too."""
    worktree = tracked(tmp_path)
    script = "sed 's/^/# /' CLAUDE.md > a.py; git config hivemind.check false"

    assert eject_after(worktree, injector, script).is_git_restored
    assert not has_locks(worktree)


@pytest.mark.parametrize("words", [("eject",), ("inject", "--off")])
def test_the_screen_names_the_file_and_the_exit_code_says_it(
    words: tuple[str, ...],
    tmp_path: Path,
    noted_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever runs it knows what to do, and so does a script."""
    monkeypatch.setenv("HIVEMIND_HOME", str(noted_home))
    worktree = make_repo(tmp_path / "repo")
    assert main(["inject", str(worktree)]) == 0
    shell(worktree, "cp CLAUDE.md CONTEXT; git add CONTEXT")
    capsys.readouterr()

    codes = [main([*words, str(worktree)])]
    said = capsys.readouterr().err
    codes.append(main([*words, str(worktree), "--json"]))
    printed = json.loads(capsys.readouterr().out)

    assert codes == [1, 1]
    assert "run `git restore --staged CONTEXT`" in said
    assert "then run `hm eject` again" in said
    assert "git restore" in printed["leftovers"][0]
