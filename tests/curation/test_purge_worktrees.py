"""A purge names the copies in worktrees that it does not erase."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.inject.past_injections import InjectionTraces
from hivemind_memory.model.curation import PurgeResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.purge_rig import Bench
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux is the flimmerkeks of the vault."

Git = Callable[..., None]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A memory that can be purged."""
    sandbox = Sandbox(tmp_path / "home", provider=FakeProvider(FakeEmbedder()))
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def git(shop: Path) -> Git:
    """Return a function that runs git there."""

    def run(*words: str) -> None:
        who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
        subprocess.run(["git", "-C", str(shop), *who, *words], check=True)

    return run


def inject(bench: Bench, *worktrees: Path) -> None:
    """Save the secret and inject it."""
    bench.save("vault", SECRET, type="lesson")
    bench.save("weather", "The shop is open in any weather.", type="lesson")
    injector = open_injector(bench.memory)
    bench.injected = InjectionTraces(InjectionLog(bench.state), injector)
    for worktree in worktrees:
        injector.inject(str(worktree))
        assert "flimmerkeks" in (worktree / "CLAUDE.md").read_text()


def named(bench: Bench) -> dict[str, str]:
    """Purge; return what the receipt names as not erased in worktrees.

    The dry run says the same, word for word.
    """
    planned = bench.purge("vault", is_dry_run=True)
    receipt = bench.purge("vault")
    assert receipt.is_complete
    assert planned.out_of_reach == receipt.out_of_reach
    assert planned.left == receipt.left
    assert count_of(planned, "copies of sections") == count_of(
        receipt, "copies of sections"
    )
    others = ("transcripts", "backups")
    return {
        one.what: one.why
        for one in receipt.out_of_reach
        if one.what not in others and "gc --prune=now` removes" not in one.why
    }


def ignore_builds(shop: Path) -> None:
    """Let git ignore a folder."""
    file = shop / ".git/info/exclude"
    file.write_text(file.read_text() + "build/\n")


def count_of(receipt: PurgeResult, name: str) -> int:
    [found] = [one.count for one in receipt.places if one.name == name]
    return found


def test_a_worktree_that_was_moved_is_named(bench: Bench, shop: Path, git: Git) -> None:
    """Its section is where nobody looks."""
    git("commit", "-q", "--allow-empty", "-m", "first")
    other = shop.parent / "other"
    git("worktree", "add", "-q", str(other), "-b", "side")
    inject(bench, shop, other)
    other.rename(shop.parent / "moved")

    said = named(bench)

    assert said.keys() == {str(other)}
    assert "it is gone; if it was moved, run `hm eject`" in said[str(other)]
    assert "flimmerkeks" in (shop.parent / "moved/CLAUDE.md").read_text()
    assert "flimmerkeks" not in (shop / "CLAUDE.md").read_text()


def test_a_copy_of_the_section_is_erased(bench: Bench, shop: Path, git: Git) -> None:
    """What is between our marks is ours; the rest of the file is not."""
    inject(bench, shop)
    section = (shop / "CLAUDE.md").read_text()
    (shop / "prompt.py").write_text(f"before = 1\n{section}after = 2\n")
    ignore_builds(shop)
    (shop / "build").mkdir()
    (shop / "build/c").write_text(section)

    assert named(bench) == {}

    assert (shop / "prompt.py").read_text() == "before = 1\nafter = 2\n"
    assert not (shop / "build/c").exists()


@pytest.mark.parametrize("name", ["quoted.md", "build/quoted.md"])
def test_a_copy_in_another_form_is_named(bench: Bench, shop: Path, name: str) -> None:
    """With the command that finds it, also where git ignores it."""
    inject(bench, shop)
    ignore_builds(shop)
    section = (shop / "CLAUDE.md").read_text()
    file = shop / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"> {one}\n" for one in section.split("\n")))

    said = named(bench)

    assert said.keys() == {str(file)}
    assert "holds the text or a copy" in said[str(file)]
    command = said[str(file)].split("`")[1]
    found = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True
    )
    assert name in found.stdout.split()


def test_a_copy_that_cannot_be_erased_is_named(
    bench: Bench, shop: Path, git: Git
) -> None:
    """A second pair of marks, or text beside them that a person wrote."""
    inject(bench, shop)
    section = (shop / "CLAUDE.md").read_text()
    (shop / "twice.md").write_text(section + section)
    (shop / "beside.md").write_text(f"{SECRET}\n{section}")

    said = named(bench)

    assert said.keys() == {str(shop / "twice.md"), str(shop / "beside.md")}
    assert (shop / "beside.md").read_text() == f"{SECRET}\n"


def test_a_section_in_the_index_of_git_is_named(
    bench: Bench, shop: Path, git: Git
) -> None:
    """A refused commit leaves it staged."""
    inject(bench, shop)
    (shop / "prompt.py").write_text((shop / "CLAUDE.md").read_text())
    git("add", "prompt.py")
    (shop / "prompt.py").unlink()

    said = named(bench)

    assert said.keys() == {f"git in {shop}"}
    assert (
        "its index holds the text or a section in prompt.py" in said[f"git in {shop}"]
    )


def test_a_worktree_without_copies_is_not_named(bench: Bench, shop: Path) -> None:
    """The section that was written again is none."""
    inject(bench, shop)

    assert named(bench) == {}
