"""A section stays out of every commit, whatever the user does to the file around it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.commit_check import MAX_COMMITS
from hivemind_memory.inject.injector import Injector
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_injector
from tests.inject import repos
from tests.inject.conftest import Place
from tests.inject.repos import git, make_repo, status, tracked
from tests.support.tree import ROOT

WAYS = [
    tuple(line.split("\t", 1))
    for line in (ROOT / "fixtures" / "escape_ways.tsv").read_text().splitlines()
    if line and not line.startswith("#")
]
CARRIED = (
    *(b"hivemind:begin", b"HIVEMIND:BEGIN"),
    *(b"Hivemind Memory (auto", b"deploys on Tuesdays"),
)
PRELUDE = """
export GIT_EDITOR=true GIT_MERGE_AUTOEDIT=no
conflict() {
    git checkout -q -b side; echo side > f; git add f; git commit -q -m side
    git checkout -q main; echo main > f; git add f; git commit -q -m main
}
"""


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


@pytest.mark.parametrize(("state", "script"), WAYS[::8])
def test_no_way_carries_the_section_into_a_commit(
    state: str, script: str, place: Place
) -> None:
    """One of each kind; ``benchmarks/section_escapes.py`` takes all."""
    with place.injected(getattr(repos, state)) as (worktree, file):
        assert b"hivemind:begin" in file.read_bytes()

        shell(worktree, PRELUDE + script)
        shell(worktree, "git add -A; git commit -q -m all")

        assert not carried(worktree)


def test_the_rig_notices_a_section_in_a_commit(
    tmp_path: Path, injector: Injector
) -> None:
    """Without both locks the copy is committed; so the option is a way to do it."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    git(worktree, "config", "--unset", "core.attributesFile")

    commit = "git -c hivemind.check=false commit -q -m x"
    done = shell(worktree, f"cp CLAUDE.md copy.md; git add -A; {commit}")

    assert (done.returncode, done.stderr) == (0, b"")
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
    assert refused.returncode != 0
    assert (
        "hivemind: refused: this has lines of a section that `hm inject` wrote:" in said
    )
    assert "\n    notes:4: <!-- hivemind:begin v1 -->\n" in said
    assert "git -c hivemind.check=false" in said
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("shebang", ["#!/bin/sh", "#!/usr/bin/env bash"])
@pytest.mark.parametrize(
    ("name", "input_"),
    [("reference-transaction", "refs/heads/main"), ("pre-push", "refs/heads/main")],
)
def test_a_hook_of_the_user_runs_as_before_and_comes_back_byte_for_byte(
    name: str, input_: str, shebang: str, tmp_path: Path, injector: Injector
) -> None:
    """Its input and its exit code are as without ours, which is only in front of it."""
    worktree = tracked(tmp_path)
    git(worktree, "init", "-q", "--bare", "../remote")
    git(worktree, "remote", "add", "origin", "../remote")
    hook = worktree / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    own = f"{shebang}\ncat >> ../ran\necho $1 >> ../ran\ntest ! -e ../stop\n".encode()
    hook.write_bytes(own)
    hook.chmod(0o755)
    script = "git commit -q --allow-empty -m one && git push -q origin main"

    injector.inject(str(worktree))
    allowed = shell(worktree, script)
    ran = (tmp_path / "ran").read_text()
    stopped = shell(worktree, f"touch ../stop; {script}")
    injector.eject(str(worktree))

    assert (allowed.returncode, allowed.stderr) == (0, b"")
    assert input_ in ran
    assert stopped.returncode != 0
    assert hook.read_bytes() == own


def test_a_section_of_someone_else_passes(tmp_path: Path, injector: Injector) -> None:
    """Fetching, merging, rebasing and pushing what others committed is not stopped."""
    theirs = make_repo(tmp_path / "theirs")
    shell(theirs, PRELUDE + "conflict")
    worktree = tmp_path / "mine"
    git(tmp_path, "clone", "-q", "--bare", str(theirs), "hub")
    git(tmp_path, "clone", "-q", "hub", str(worktree))
    git(tmp_path, "init", "-q", "--bare", "remote")
    injector.inject(str(worktree))
    shown = "<!-- hivemind:begin v1 -->\nan example\n<!-- hivemind:end -->\n"
    (theirs / "manual.rst").write_text(shown)
    (theirs / "f").write_text("theirs\n")
    shell(theirs, "git add -A; git commit -q -m manual; git tag -a -m first v1")
    git(theirs, "push", "-q", "../hub", "main", "v1")
    script = """
        set -e
        echo mine > f; git commit -q -a -m mine
        git fetch -q --tags
        git merge -q origin/main || { echo both > f; echo z >> manual.rst; git add -A; }
        git merge --continue
        git push -q ../remote main --tags
        git reset -q --hard HEAD~1
        git rebase -q -X ours origin/main
        git branch -q fetched origin/main
        git reset -q --hard origin/side
        git pull -q --no-rebase -X ours ../hub main
    """

    done = shell(worktree, PRELUDE + script)

    assert done.returncode == 0, done.stderr.decode()


def test_a_mark_that_is_only_mentioned_passes(
    tmp_path: Path, injector: Injector
) -> None:
    """Documentation and code may name the marks, in quotes."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    named = "Keep `<!-- hivemind:begin v1 -->` and '<!-- hivemind:end -->'."
    (worktree / "guide.rst").write_text(f'{named}\nmark = "<!-- hivemind:end -->"\n')

    done = shell(worktree, "git add -A; git commit -q -F guide.rst")

    assert (done.returncode, done.stderr) == (0, b"")


def test_no_push_carries_what_was_committed_without_hooks(
    tmp_path: Path, injector: Injector
) -> None:
    """Some programs make commits and run no hook; the push of such a one is stopped."""
    worktree = tracked(tmp_path)
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(worktree, "push", "-q", "../remote", "main")
    injector.inject(str(worktree))
    commit = "git -c core.hooksPath=/dev/null commit -q -m quick"
    shell(worktree, f"cp CLAUDE.md CONTEXT; git add -A; {commit}")

    plain = shell(worktree, "git push -q ../remote main")
    object_ = shell(worktree, "git push -q ../remote HEAD:CONTEXT:refs/tags/v1")
    by_tag = shell(worktree, "git push -q ../remote HEAD:refs/tags/v1")

    assert b"hivemind: refused" in plain.stderr
    assert (plain.returncode, by_tag.returncode) == (1, 1)
    assert object_.returncode != 0
    assert not carried(tmp_path / "remote")


def test_a_transaction_of_many_commits_is_checked_in_bounded_time(
    tmp_path: Path, injector: Injector
) -> None:
    """The newest are read, however long the history is that arrives at once."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    commits = "".join(
        f"commit refs/heads/made\ncommitter a <a@b.c> {number} +0000\ndata 1\nx\n"
        for number in range(1700000000, 1700000000 + MAX_COMMITS + 10)
    )
    (tmp_path / "stream").write_text(commits)

    done = shell(worktree, "git fast-import --quiet < ../stream")

    assert done.returncode == 0
    assert git(worktree, "rev-list", "--count", "made").strip() == "1010"


@pytest.mark.parametrize("own", [b"#!/usr/bin/env python3\n", b"\x7fELF\0"])
def test_a_hook_that_is_no_shell_script_is_left_alone(
    own: bytes, tmp_path: Path, injector: Injector
) -> None:
    """The filter is the first lock, and needs no hook."""
    worktree = tracked(tmp_path)
    hook = worktree / ".git" / "hooks" / "reference-transaction"
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
    from hivemind_memory.opening import open_injector

    with open_memory(home=str(tmp_path / "home")) as memory:
        memory.write("We deploy the repo on Tuesdays.")
        open_injector(memory).inject(str(worktree))

    shown = git(worktree, "check-attr", "filter", "diff", "--", "other.md")
    assert shown == "other.md: filter: hivemind-copies\nother.md: diff: prose\n"


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


@pytest.mark.parametrize("name", ["manual.rst", "manual.py"])
@pytest.mark.parametrize("mark", ["", "# "])
def test_a_section_committed_on_purpose_carries_no_later_one(
    tmp_path: Path, injector: Injector, name: str, mark: str
) -> None:
    """Its marks are no new lines; what lies between them is compared."""
    worktree = tracked(tmp_path)
    shown = ["<!-- hivemind:begin v1 -->", "an example", "<!-- hivemind:end -->"]
    text = "".join(f"{mark}{line}\n" for line in ["def first():", *shown, "last"])
    (worktree / name).write_text(text)
    if name.endswith(".py"):
        (worktree / ".gitattributes").write_text("*.py diff=python\n")
    injector.inject(str(worktree))
    git(worktree, "-c", "hivemind.check=false", "add", "-A")
    git(worktree, "-c", "hivemind.check=false", "commit", "-qm", "manual")
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(worktree, "-c", "hivemind.check=false", "push", "-q", "../remote", "main")

    around = f"more\n{text}more\n"
    (worktree / name).write_text(around)
    kept = shell(worktree, "git commit -q -a -m around && git push -q ../remote main")
    later = around.replace("an example", f"an example\n{mark}It deploys on Tuesdays.")
    (worktree / name).write_text(later)
    said = shell(worktree, "git commit -q -a -m later")
    bypassed = shell(
        worktree,
        "git -c core.hooksPath=/dev/null commit -q -a -m later &&"
        " git push -q ../remote main",
    )

    assert kept.returncode == 0, kept.stderr.decode()
    assert said.returncode != 0
    told = f"\n    {name}:5: between the marks of a section\n"
    assert told in said.stderr.decode()
    assert bypassed.returncode != 0
    assert told in bypassed.stderr.decode()
    on_purpose = "git -c hivemind.check=false push -q ../remote main"
    assert shell(worktree, on_purpose).returncode == 0


def test_a_line_below_a_mark_without_an_end_is_not_refused(
    tmp_path: Path, injector: Injector
) -> None:
    """Nor is a line that is deleted from a section."""
    worktree = tracked(tmp_path)
    begin, end = "<!-- hivemind:begin v1 -->\n", "<!-- hivemind:end -->\n"
    (worktree / "a.rst").write_text(f"{begin}one\n")
    (worktree / "b.rst").write_text(f"{begin}one\ntwo\n{end}")
    shell(worktree, "git add -A; git commit -q -m manual")
    injector.inject(str(worktree))

    (worktree / "a.rst").write_text(f"{begin}one\ntwo\n")
    (worktree / "b.rst").write_text(f"{begin}one\n{end}")
    said = shell(worktree, "git commit -q -a -m edited")

    assert said.returncode == 0, said.stderr.decode()


def test_a_repository_that_only_the_environment_names_is_found(
    tmp_path: Path, injector: Injector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People keep their dotfiles so: without it the file would be written plainly."""
    made = tracked(tmp_path)
    (made / ".git").rename(tmp_path / "dotfiles.git")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "dotfiles.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(made))
    from hivemind_memory import open_memory
    from hivemind_memory.opening import open_injector

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


@pytest.mark.parametrize(
    "script",
    [
        "grep -A1 '^> .anchor' CLAUDE.md > kept.rst",
        "sed 's/ /\\xc2\\xa0/g' CLAUDE.md > kept.rst",
        "git commit -q --allow-empty -m \"$(grep -A1 '^> .anchor' CLAUDE.md)\"",
    ],
)
def test_a_saved_memory_of_one_line_does_not_get_into_a_commit(
    noted_home: Path, environ: None, tmp_path: Path, script: str
) -> None:
    """Its place is one line and no range; a blank that is not broken hides nothing."""
    text = "The anchor of the red ferry is lifted by two people at low tide."
    with open_memory(home=str(noted_home)) as memory:
        memory.save(NewMemory(key="anchor", content=text, type="lesson"))
        worktree = tracked(tmp_path)
        assert open_injector(memory).inject(str(worktree)).file
    assert text in (worktree / "CLAUDE.md").read_text(encoding="utf-8")

    shell(worktree, f"{script}; git add -A; git commit -q -m all")

    listed = git(worktree, "log", "--all", "-p", "--format=%B")
    assert "ferry" not in listed
