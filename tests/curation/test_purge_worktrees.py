"""A purge names the copies in worktrees that it does not erase."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.inject.past_injections import InjectionTraces
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
    """Purge; return what the receipt names as not erased in worktrees."""
    receipt = bench.purge("vault")
    assert receipt.is_complete
    others = ("transcripts", "backups")
    return {one.what: one.why for one in receipt.out_of_reach if one.what not in others}


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


def test_a_copy_of_the_section_is_named(bench: Bench, shop: Path) -> None:
    """Word for word or behind another mark."""
    inject(bench, shop)
    section = (shop / "CLAUDE.md").read_text()
    (shop / "prompt.py").write_text(section)
    (shop / "quoted.md").write_text(
        "".join(f"> {one}\n" for one in section.split("\n"))
    )

    said = named(bench)

    assert said.keys() == {str(shop / "prompt.py"), str(shop / "quoted.md")}
    assert all("holds the text or a copy" in why for why in said.values())


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
