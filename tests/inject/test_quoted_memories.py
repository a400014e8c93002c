"""The text of a memory stays out of commits in any form, and other text is let through.

The ways in which it is copied are in ``fixtures/quoting_ways.tsv``.
"""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.word_check import MIN_RUNS, RUN, STEP
from hivemind_memory.inject.word_file import letters_of
from hivemind_memory.opening import open_injection_records, open_injector
from tests.inject.repos import git, tracked
from tests.inject.test_escape import PRELUDE, shell
from tests.support.tree import ROOT

MEMORY = (
    "The portcullis restarts its queue consumers every night at three because the"
    " broker leaks handles."
)
OTHER = "Ask the payments team before the refund webhook is touched by anyone at all."
FORMS = [
    line
    for line in (ROOT / "fixtures" / "quoting_ways.tsv").read_text().splitlines()
    if not line.startswith("#")
]
COMMIT = "git add -A; git commit -q -m all"


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A worktree with a section that quotes two memories, and a remote."""
    made = tracked(tmp_path)
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(made, "push", "-q", "../remote", "main")
    git(made, "remote", "add", "origin", "../remote")
    git(made, "fetch", "-q")
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


def _is_carried(repository: Path) -> bool:
    """Whether an object or a branch has the letters of a memory, however written."""
    raw = subprocess.run(
        ["git", "-C", str(repository), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    text = raw + git(repository, "for-each-ref")
    plain = unescape(re.sub(r"<[^>]*>", "", text)).lower().replace("rem ", "")
    letters = re.sub("[^a-z]", "", re.sub("%20", "", plain))
    wanted = re.sub("[^a-z]", "", MEMORY.lower())
    return any(wanted[at : at + 50] in letters for at in range(len(wanted) - 49))


@pytest.mark.parametrize("script", FORMS)
def test_no_form_of_a_memory_is_pushed(script: str, worktree: Path) -> None:
    """Wrapped, quoted, highlighted, escaped, in a message or in a name."""
    shell(worktree, PRELUDE + script)
    shell(worktree, f"{COMMIT}; git push -q origin --all; git push -q origin --tags")

    assert not _is_carried(worktree.parent / "remote")


def test_the_text_of_a_memory_is_committed_on_purpose(worktree: Path) -> None:
    """And the refusal says how."""
    (worktree / "notes.txt").write_text(MEMORY.replace(" ", "\n"))

    refused = shell(worktree, COMMIT)
    done = shell(worktree, "git -c hivemind.check=false commit -q -m all")

    assert b"a memory that `hm inject` wrote is quoted in\n    notes.txt\n" in (
        refused.stderr
    )
    assert b"git -c hivemind.check=false" in refused.stderr
    assert (done.returncode, done.stderr) == (0, b"")


def test_text_that_was_committed_before_the_injection_is_not_refused(
    tmp_path: Path,
) -> None:
    """A memory may be taken from the repository's own files."""
    worktree = tracked(tmp_path)
    git(tmp_path, "init", "-q", "--bare", "remote")
    (worktree / "guide.rst").write_text(MEMORY.replace("every", "\nevery"))
    git(worktree, "add", "-A")
    git(worktree, "commit", "-q", "-m", "guide")
    _inject(tmp_path, worktree)
    (worktree / "copy.rst").write_text(MEMORY)

    copied = shell(worktree, f"{COMMIT} && git push -q ../remote main")
    (worktree / "more.rst").write_text(OTHER)
    other = shell(worktree, COMMIT)

    assert (copied.returncode, copied.stderr) == (0, b"")
    assert other.returncode != 0


def test_a_phrase_that_a_memory_has_too_is_not_refused(worktree: Path) -> None:
    """Some words in a row are no copy."""
    phrase = "It restarts its queue consumers every night at ten, as all of them do."
    (worktree / "notes.txt").write_text(phrase)

    assert shell(worktree, COMMIT).returncode == 0


def test_every_copy_of_so_many_letters_is_found(worktree: Path) -> None:
    """Wherever the copied part begins, in the memory and in the file."""
    [letters] = letters_of([MEMORY])
    size = RUN + MIN_RUNS * STEP - 1

    for at in range(0, len(letters) - size, 5):
        (worktree / "notes.txt").write_text("x" * at + letters[at : at + size])
        assert shell(worktree, COMMIT).returncode != 0


def test_the_letters_are_private_and_go_with_the_section(
    worktree: Path, tmp_path: Path
) -> None:
    """They are a copy of what the section says."""
    kept = worktree / ".git" / "info" / "hivemind-words"
    assert kept.stat().st_mode & 0o777 == 0o600

    with open_memory(home=str(tmp_path / "home")) as memory:
        assert open_injector(memory).eject(str(worktree)).is_git_restored

    assert not kept.exists()


def test_the_hooks_follow_a_folder_of_hooks_that_git_ignores(
    worktree: Path, tmp_path: Path
) -> None:
    """husky keeps one, and sets `core.hooksPath` when it is installed."""
    (worktree / ".husky" / "_").mkdir(parents=True)
    (worktree / ".husky" / "_" / ".gitignore").write_text("*\n")
    git(worktree, "config", "core.hooksPath", ".husky/_")

    assert _inject(tmp_path, worktree) == ()
    (worktree / "notes.txt").write_text(MEMORY)
    assert shell(worktree, COMMIT).returncode != 0

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


def test_a_purge_forgets_the_letters(worktree: Path, tmp_path: Path) -> None:
    """The list starts anew with what the sections still show."""
    kept = worktree / ".git" / "info" / "hivemind-words"
    [shown, purged] = letters_of([MEMORY, "A text that was purged a moment ago."])
    kept.write_text(f"{kept.read_text()}- {purged}\n")

    with open_memory(home=str(tmp_path / "home")) as memory:
        open_injection_records(memory).refresh_section(str(worktree))

    assert purged not in kept.read_text()
    assert shown in kept.read_text()
