"""The text of two memories is pushed in no form; of one, it is told.

The ways in which it is copied are in ``fixtures/quoting_ways.tsv``.
"""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.letters import COPY, letters
from hivemind_memory.opening import diagnose, open_injector
from tests.inject.repos import PUSH, add_remote, git, tracked
from tests.inject.test_escape import PRELUDE, shell
from tests.support.tiers import mostly_thorough
from tests.support.tree import ROOT

MEMORY = (
    "The portcullis restarts its queue consumers every night at three because the"
    " broker leaks handles."
)
OTHER = "Ask the payments team before the refund webhook is touched by anyone at all."
BOTH = f"{MEMORY}\n{OTHER}\n"
TOLD = b"hivemind: warning: this push contains the text of a memory:\n    "
REFUSED = b"hivemind: refused: this push contains the text of several memories:\n    "
FORMS = [
    line
    for line in (ROOT / "fixtures" / "quoting_ways.tsv").read_text().splitlines()
    if not line.startswith("#")
]
COMMIT = "git add -A; git -c hivemind.check=false commit -q -m all"


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A worktree with a section that quotes two memories, and a remote."""
    made = tracked(tmp_path)
    add_remote(tmp_path, made)
    _inject(tmp_path, made)
    assert MEMORY in (made / "CLAUDE.md").read_text()
    return made


def _inject(folder: Path, worktree: Path) -> tuple[str, ...]:
    """Inject the memories."""
    notes = folder / "home" / "memory"
    notes.mkdir(parents=True, exist_ok=True)
    text = f"# Global\n\n## One\n\n{MEMORY}\n\n## Two\n\n{OTHER}\n"
    (notes / "global.md").write_text(text)
    with open_memory(home=str(folder / "home")) as memory:
        return open_injector(memory).inject(str(worktree)).warnings


def is_carried(repository: Path) -> bool:
    """Whether an object or a branch has the letters of a memory, however written."""
    raw = subprocess.run(
        ["git", "-C", str(repository), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    text = raw + git(repository, "for-each-ref")
    plain = unescape(re.sub(r"<[^>]*>", "", text)).lower().replace("rem ", "")
    letters = re.sub("[^a-z]", "", re.sub("%20", "", plain))
    parts = [re.sub("[^a-z]", "", one.lower()) for one in (MEMORY, OTHER)]
    wanted = [one[at : at + 50] for one in parts for at in range(len(one) - 49)]
    return any(one in letters for one in wanted)


@pytest.mark.parametrize("script", mostly_thorough(FORMS, every=2))
def test_no_form_of_a_memory_is_pushed(script: str, worktree: Path) -> None:
    """Wrapped, quoted, highlighted, escaped, in a message or in a name."""
    shell(worktree, PRELUDE + script)
    shell(worktree, f"{COMMIT}; git push -q origin --all; git push -q origin --tags")

    assert not is_carried(worktree.parent / "remote")


def test_documents_that_quote_memories_are_committed_and_stashed(
    worktree: Path,
) -> None:
    """Only the push is stopped; a CONTRIBUTING.md could not even be stashed."""
    (worktree / "CONTRIBUTING.md").write_text(BOTH)

    stashed = shell(worktree, "git add -A; git stash -q; git stash pop -q")
    done = shell(worktree, f"{COMMIT}; git tag -a v1 -F CONTRIBUTING.md")
    rebased = shell(worktree, "git rebase -q --force-rebase HEAD~1")

    for one in (stashed, done, rebased):
        assert (one.returncode, one.stderr) == (0, b"")
    assert shell(worktree, "git push -q origin HEAD").returncode != 0


def test_the_text_of_memories_is_pushed_on_purpose(worktree: Path) -> None:
    """And the refusal says how, and which note each file quotes."""
    (worktree / "notes.txt").write_text("\n\n" + BOTH.replace(" r", "\nr"))

    refused = shell(worktree, f"{COMMIT} && git push -q origin HEAD")
    done = shell(worktree, "git -c hivemind.check=false push -q origin HEAD")

    assert REFUSED + b"notes.txt:3: The portcullis (global.md)\n" in refused.stderr
    assert b"git -c hivemind.check=false push" in refused.stderr
    assert (done.returncode, done.stderr) == (0, b"")


def test_text_that_was_committed_before_the_injection_is_not_refused(
    tmp_path: Path,
) -> None:
    """A memory may be taken from the repository's own files."""
    worktree = tracked(tmp_path)
    add_remote(tmp_path, worktree)
    (worktree / "guide.rst").write_text(MEMORY.replace("every", "\nevery"))
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", "guide")
    _inject(tmp_path, worktree)
    (worktree / "copy.rst").write_text(MEMORY)

    copied = shell(worktree, PUSH)
    (worktree / "more.rst").write_text(BOTH)
    other = shell(worktree, PUSH)

    assert (copied.returncode, copied.stderr) == (0, b"")
    assert other.returncode == 0
    assert other.stderr.startswith(TOLD + b"more.rst:2: Ask the payments team")


def test_a_phrase_that_a_memory_has_too_is_not_refused(worktree: Path) -> None:
    """Some words in a row are no copy."""
    phrase = "It restarts its queue consumers every night at ten, as all of them do."
    (worktree / "notes.txt").write_text(phrase)

    done = shell(worktree, PUSH)

    assert (done.returncode, done.stderr) == (0, b"")


def test_every_copy_of_so_many_letters_is_found(worktree: Path) -> None:
    """Wherever the copied part begins, in the memory and in the file."""
    found = letters(MEMORY).decode()

    for at in range(0, len(found) - COPY, 5):
        part = "x" * at + found[at : at + COPY]
        (worktree / "notes.txt").write_text(f"{part}\n{OTHER}")
        assert shell(worktree, PUSH).returncode != 0


def test_the_file_of_hashes_reveals_no_memory_and_goes_with_the_section(
    worktree: Path, tmp_path: Path
) -> None:
    """It holds hashes alone, made with a key of its own."""
    kept = worktree / ".git" / "info" / "hivemind-words"
    text = kept.read_text()
    words = ["portcullis", "restarts", "consumers", "night", "broker", "payments"]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not [word for word in words if word in text]
    assert not [word for word in words if word.encode().hex() in text]

    with open_memory(home=str(tmp_path / "home")) as memory:
        assert open_injector(memory).eject(str(worktree)).is_git_restored

    assert not kept.exists()


def test_two_repositories_hash_the_same_memory_in_different_ways(
    worktree: Path, tmp_path: Path
) -> None:
    """Each file has a random key."""
    (tmp_path / "b").mkdir()
    other = tracked(tmp_path / "b")
    _inject(tmp_path, other)

    lines = [
        set((one / ".git" / "info" / "hivemind-words").read_text().split("\n"))
        for one in (worktree, other)
    ]

    shared = {line.split(" ")[0] for line in lines[0] & lines[1]}
    assert shared <= {
        "hivemind-words",
        "python",
        "folder",
        "commits",
        "notes",
        "hooks",
        "",
    }


def test_a_sentence_that_an_agent_writes_into_a_file_and_a_memory_is_committed(
    tmp_path: Path,
) -> None:
    """It stood in the worktree, tracked or new, before it was injected."""
    worktree = tracked(tmp_path)
    add_remote(tmp_path, worktree)
    (worktree / "new.rst").write_text(MEMORY)
    (worktree / "shop.py").write_text(f"# {OTHER}\nprice = 2\n")

    _inject(tmp_path, worktree)
    done = shell(worktree, PUSH)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_sentence_on_another_branch_is_committed_again(tmp_path: Path) -> None:
    """A rebase and a cherry-pick make new commits of what was there before."""
    worktree = tracked(tmp_path)
    git(worktree, "switch", "-q", "-c", "docs")
    (worktree / "guide.rst").write_text(BOTH)
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", "guide")
    git(worktree, "switch", "-q", "main")
    _inject(tmp_path, worktree)

    done = shell(worktree, "git cherry-pick docs; git commit --amend -q -m again")

    assert (done.returncode, done.stderr.count(b"hivemind")) == (0, 0)


def test_a_copy_made_after_the_injection_is_refused_whatever_is_injected_later(
    worktree: Path, tmp_path: Path
) -> None:
    """A later injection doesn't take the copy for the repository's own text."""
    (worktree / "notes.txt").write_text(BOTH)
    _inject(tmp_path, worktree)
    notes = tmp_path / "home" / "memory" / "global.md"
    notes.write_text(notes.read_text() + "\n## Three\n\nThe office has a new door.\n")
    with open_memory(home=str(tmp_path / "home")) as memory:
        open_injector(memory).inject(str(worktree))

    assert shell(worktree, PUSH).returncode != 0


def test_without_its_program_the_hook_says_that_it_compares_nothing(
    worktree: Path,
) -> None:
    """An uninstalled program must not stop every commit."""
    kept = worktree / ".git" / "info" / "hivemind-words"
    kept.write_text(re.sub("(?m)^python .*", "python /nowhere", kept.read_text()))
    (worktree / "notes.txt").write_text(BOTH)

    done = shell(worktree, PUSH)

    assert done.returncode == 0
    assert b"the text of memories was not compared; run `hm inject`" in done.stderr


@pytest.mark.parametrize("resolution", ["fold -w 30 CLAUDE.md > shop.py", "git mv -f"])
def test_a_conflict_that_is_resolved_with_a_memory_is_refused(
    worktree: Path, resolution: str
) -> None:
    """A merge commit is compared with all its parents."""
    script = resolution if "fold" in resolution else "cp CLAUDE.md shop.py"
    for branch, price in (("side", 2), ("main", 3)):
        git(worktree, "switch", "-q", *(["-c"] if branch == "side" else []), branch)
        (worktree / "shop.py").write_text(f"price = {price}\n")
        git(worktree, "commit", "-q", "-a", "-m", branch)

    merged = shell(worktree, f"git merge side; {script}; git add -A")
    done = shell(worktree, "git commit -q -m merged")

    assert b"CONFLICT" in merged.stdout
    assert done.returncode != 0
    assert b"    shop.py" in done.stderr
    shell(worktree, "echo 'price = 4' > shop.py; git add -A")
    assert shell(worktree, "git commit -q -m merged").returncode == 0


def test_hooks_that_another_program_replaced_are_put_back(
    worktree: Path, tmp_path: Path
) -> None:
    """By `hm doctor` and by the next injection, in front of the new ones."""
    hooks = worktree / ".git" / "hooks"
    (worktree / "notes.txt").write_text(BOTH)
    for put_back in (_doctor, _inject):
        for hook in hooks.iterdir():
            hook.unlink()
        (hooks / "pre-push").write_text("#!/bin/sh\necho theirs >&2\n")
        (hooks / "pre-push").chmod(0o755)

        [said] = put_back(tmp_path, worktree)

        assert "had replaced reference-transaction and pre-push" in said
        assert shell(worktree, PUSH).returncode != 0
        pushed = shell(worktree, "git push -q ../remote main:other")
        assert b"theirs" in pushed.stderr
        assert not [one for one in put_back(tmp_path, worktree) if "replaced" in one]


def test_a_hook_that_cannot_be_extended_is_named(
    worktree: Path, tmp_path: Path
) -> None:
    """A program in the hook's place, which no line can be put into."""
    hook = worktree / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/usr/bin/env python3\n")

    for said in (_inject(tmp_path, worktree), _doctor(tmp_path, worktree)):
        assert len(said) == 1
        assert "pre-push is not a shell script" in said[0]


def _doctor(folder: Path, _worktree: Path) -> tuple[str, ...]:
    """Run the checks; return what is wrong with the hooks."""
    with open_memory(home=str(folder / "home")) as memory:
        [found] = [one for one in diagnose(memory).findings if one.name == "git hooks"]
    return () if found.is_ok else (found.detail,)


def test_the_hooks_follow_a_folder_of_hooks_that_git_ignores(
    worktree: Path, tmp_path: Path
) -> None:
    """husky keeps one, and sets `core.hooksPath` when it is installed."""
    (worktree / ".husky" / "_").mkdir(parents=True)
    (worktree / ".husky" / "_" / ".gitignore").write_text("*\n")
    git(worktree, "config", "core.hooksPath", ".husky/_")

    [said] = _inject(tmp_path, worktree)
    assert "the check is back" in said
    (worktree / "notes.txt").write_text(BOTH)
    assert shell(worktree, PUSH).returncode != 0

    with open_memory(home=str(tmp_path / "home")) as memory:
        (worktree / "notes.txt").unlink()
        open_injector(memory).eject(str(worktree))
    left = [file.name for file in (worktree / ".husky" / "_").iterdir()]
    assert left == [".gitignore"]


@pytest.mark.parametrize("where", ["--local", "--global"])
def test_a_folder_of_hooks_that_is_shared_is_left_alone_and_named(
    worktree: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is committed, or is of all repositories of the user."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    git(worktree, "config", where, "core.hooksPath", ".husky")

    [warning] = _inject(tmp_path, worktree)

    assert "core.hooksPath is .husky" in warning
    assert not (worktree / ".husky").exists()
