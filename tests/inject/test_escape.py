"""A section stays out of every commit, whatever the user does to the file around it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hivemind_memory.inject.injector import Injector
from tests.inject import repos
from tests.inject.repos import git, make_repo, status, tracked
from tests.support.tree import ROOT

WAYS = [
    tuple(line.split("\t", 1))
    for line in (ROOT / "fixtures" / "escape_ways.tsv").read_text().splitlines()
    if line and not line.startswith("#")
]
CARRIED = (b"hivemind:begin", b"Hivemind Memory (auto", b"deploys on Tuesdays")


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script as a user would, in the worktree."""
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, check=False
    )


def carried(worktree: Path) -> bool:
    """Whether any commit of the repository contains a part of the section."""
    listed = git(worktree, "rev-list", "--all", "--objects", "--no-object-names")
    done = subprocess.run(
        ["git", "-C", str(worktree), "cat-file", "--batch"],
        input=listed.encode(),
        capture_output=True,
        check=True,
    )
    return any(part in done.stdout for part in CARRIED)


@pytest.mark.parametrize(("state", "script"), WAYS)
def test_no_way_carries_the_section_into_a_commit(
    state: str, script: str, tmp_path: Path, injector: Injector
) -> None:
    """Renaming, copying, linking and editing keep the section out of commits."""
    worktree = getattr(repos, state)(tmp_path)
    injector.inject(str(worktree))

    shell(worktree, script)
    shell(worktree, "git add -A; git commit -q -m all")

    assert not carried(worktree)


def test_the_rig_notices_a_section_in_a_commit(
    tmp_path: Path, injector: Injector
) -> None:
    """Without both locks the copy is committed."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    git(worktree, "config", "--unset", "core.attributesFile")

    shell(worktree, "cp CLAUDE.md copy.md; git add -A; git commit -q --no-verify -m x")

    assert carried(worktree)


def test_a_refused_commit_names_the_file_and_the_way_out(
    tmp_path: Path, injector: Injector
) -> None:
    """And the same commit goes through once the section is gone."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))

    refused = shell(worktree, "cp CLAUDE.md notes && git add -A && git commit -m x")
    (worktree / "notes").write_text("notes of mine\n")
    done = shell(worktree, "git add -A && git commit -q -m x")

    said = refused.stderr.decode()
    assert refused.returncode == 1
    assert "hivemind: this commit would contain the section" in said
    assert "\nnotes\n" in said
    assert "--no-verify" in said
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_hook_of_the_user_runs_as_before_and_comes_back_byte_for_byte(
    tmp_path: Path, injector: Injector
) -> None:
    """Its exit code decides, and ours is only in front of it."""
    worktree = tracked(tmp_path)
    hook = worktree / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    own = b"#!/bin/sh\ntest ! -e stop || exit 3\necho ran > ran\n"
    hook.write_bytes(own)
    hook.chmod(0o755)

    injector.inject(str(worktree))
    allowed = shell(worktree, "git commit -q --allow-empty -m one")
    ran = (worktree / "ran").exists()
    stopped = shell(worktree, "touch stop; git commit -q --allow-empty -m two")
    injector.eject(str(worktree))

    assert (allowed.returncode, ran, stopped.returncode) == (0, True, 1)
    assert hook.read_bytes() == own


@pytest.mark.parametrize("own", [b"#!/usr/bin/env python3\n", b"\x7fELF\0"])
def test_a_hook_that_is_no_shell_script_is_left_alone(
    own: bytes, tmp_path: Path, injector: Injector
) -> None:
    """The filter is the first lock, and needs no hook."""
    worktree = tracked(tmp_path)
    hook = worktree / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(own)
    hook.chmod(0o755)

    done = injector.inject(str(worktree))

    assert done.outcome == "written"
    assert hook.read_bytes() == own


def test_a_filter_of_the_user_wins_over_ours_for_other_files(
    tmp_path: Path, injector: Injector
) -> None:
    """git-crypt encrypts with one: ours in its place would publish a secret."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    git(worktree, "config", "filter.crypt.clean", "tr a-z n-za-m")
    (worktree / ".gitattributes").write_text("secret/** filter=crypt\n")
    (worktree / "secret").mkdir()
    (worktree / "secret" / "key.md").write_text("abc\n")

    shell(worktree, "git add -A; git commit -q -m secret")

    assert git(worktree, "show", "HEAD:secret/key.md") == "nop\n"


def test_attributes_of_the_user_for_all_repositories_stay_in_force(
    tmp_path: Path, injector: Injector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git reads one such file only, so ours repeats it."""
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "attributes").write_text("*.md diff=prose\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    worktree = tracked(tmp_path)
    from hivemind_memory import open_memory
    from hivemind_memory.wiring import open_injector

    with open_memory(home=str(tmp_path / "home")) as memory:
        memory.write("We deploy the repo on Tuesdays.")
        open_injector(memory).inject(str(worktree))

    shown = git(worktree, "check-attr", "filter", "diff", "--", "other.md")
    assert shown == "other.md: filter: hivemind\nother.md: diff: prose\n"


def test_a_repository_that_holds_a_section_on_purpose_keeps_it(
    tmp_path: Path, injector: Injector
) -> None:
    """Documentation may show one; a filter would cut it out of the next commit."""
    worktree = tracked(tmp_path)
    shown = "<!-- hivemind:begin v1 -->\nan example\n<!-- hivemind:end -->\n"
    (worktree / "manual.md").write_text(shown)
    shell(worktree, "git add -A; git commit -q -m manual")

    injector.inject(str(worktree))
    (worktree / "manual.md").write_text(f"# Example\n\n{shown}")
    shell(worktree, "git add -A; git commit -q -m title")
    injector.eject(str(worktree))

    assert git(worktree, "show", "HEAD:manual.md") == f"# Example\n\n{shown}"
    assert (worktree / "manual.md").read_text() == f"# Example\n\n{shown}"


def test_a_repository_that_only_the_environment_names_is_found(
    tmp_path: Path, injector: Injector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People keep their dotfiles so: without it the file would be written plainly."""
    made = tracked(tmp_path)
    (made / ".git").rename(tmp_path / "dotfiles.git")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "dotfiles.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(made))
    from hivemind_memory import open_memory
    from hivemind_memory.wiring import open_injector

    with open_memory(home=str(tmp_path / "home")) as memory:
        memory.write("We deploy the repo on Tuesdays.")
        open_injector(memory).inject(str(made))
    shell(made, "git add -A; git commit -q -a -m all")

    assert b"hivemind:begin" in (made / "CLAUDE.md").read_bytes()
    assert git(made, "status", "--short") == ""
    assert not carried(made)


def test_ejecting_removes_the_section_from_copies_too(
    tmp_path: Path, injector: Injector
) -> None:
    """Without the filter they would show up as changed, and be committed."""
    worktree = make_repo(tmp_path / "repo")
    injector.inject(str(worktree))
    shell(worktree, "git mv CLAUDE.md GUIDE.md; mkdir a; cp GUIDE.md a/copy.md")

    done = injector.eject(str(worktree))

    assert done.is_git_restored
    assert sorted(done.files) == ["GUIDE.md", "a/copy.md"]
    assert status(worktree) == "R  CLAUDE.md -> GUIDE.md\n?? a/copy.md\n"


def test_a_blank_behind_a_mark_changes_nothing(
    tmp_path: Path, injector: Injector
) -> None:
    """The section is found, replaced and removed as before."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    file = worktree / "CLAUDE.md"
    file.write_bytes(file.read_bytes().replace(b"-->\n", b"--> \t\n"))

    assert git(worktree, "diff") == ""
    assert injector.inject(str(worktree)).outcome == "written"
    injector.eject(str(worktree))
    assert file.read_text() == repos.TEXT
