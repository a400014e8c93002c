"""A process is killed at every step: no file is without a row, and no edit is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import opening
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.skills import SkillRequest
from tests.skills.bench import LONGER, Bench, tree
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

CALLS = ("mkdir", "rmdir", "replace", "link", "unlink", "fsync", "chmod")
EDIT = "4. Tell quartzline.\n"
KILLED = 9
NOTE = "deploy-shop.md"


def killed_at(number: int, work: Callable[[Bench], object], bench: Bench) -> bool:
    """Do something in a process that ends at a call; return whether it came so far."""
    child = os.fork()
    if child == 0:
        try:
            left = [number]
            for name in CALLS:
                setattr(os, name, _ending(getattr(os, name), left))
            with Sandbox(bench.sandbox.home).memory() as memory:
                work(Bench(bench.sandbox, memory, bench.shop, bench.user))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not go on as a test
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED)
    return code == KILLED


def _ending(real: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    """Return a function that ends the process when none is left."""

    def call(*args: Any, **names: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os._exit(KILLED)
        return real(*args, **names)

    return call


def promote(bench: Bench) -> object:
    return bench.skills.promote(SkillRequest(ref="deploy-shop"))


def demote(bench: Bench) -> object:
    return bench.skills.demote("deploy-shop", discards_edits=True)


def sync(bench: Bench) -> object:
    return bench.skills.sync()


def forget(bench: Bench) -> object:
    return bench.memory.curation.forget(MemorySelector(name="deploy-shop"))


def restore(bench: Bench) -> object:
    return bench.memory.curation.restore(MemorySelector(name="deploy-shop"))


def purge(bench: Bench) -> object:
    return bench.memory.curation.purge(MemorySelector(name="deploy-shop"))


def again(bench: Bench, *works: Callable[[Bench], object]) -> None:
    """Do things as the next process does."""
    with Sandbox(bench.sandbox.home).memory() as memory:
        for work in works:
            work(Bench(bench.sandbox, memory, bench.shop, bench.user))


class Copies:
    """A home and a repository as they were, to begin with again and again."""

    def __init__(self, bench: Bench, kept: Path) -> None:
        bench.memory.close()
        self._pairs = [(bench.sandbox.home, kept / "home"), (bench.shop, kept / "shop")]
        for folder, copy in self._pairs:
            shutil.copytree(folder, copy, symlinks=True)

    def bring_back(self) -> None:
        for folder, copy in self._pairs:
            shutil.rmtree(folder)
            shutil.copytree(copy, folder, symlinks=True)
        os.chdir(self._pairs[1][0])


def each_kill(
    bench: Bench,
    kept: Path,
    work: Callable[[Bench], object],
    check: Callable[[], None],
) -> None:
    """Kill the work at each call, and check what the next process makes of it."""
    copies, number = Copies(bench, kept), 1
    while killed_at(number, work, bench):
        check()
        copies.bring_back()
        number += 1
    assert number > 5
    check()


def test_a_killed_promotion_is_finished_or_taken_back(
    bench: Bench, tmp_path: Path
) -> None:
    """Demotion gives every byte back, whatever the kill left."""
    bench.save()
    before = tree(bench.shop)

    def check() -> None:
        again(bench, promote, sync)
        assert bench.file().read_text().endswith("ten minutes.\n")
        again(bench, demote)
        assert tree(bench.shop) == before

    each_kill(bench, tmp_path / "kept", promote, check)


def test_a_killed_demotion_is_finished_by_the_next(
    bench: Bench, tmp_path: Path
) -> None:
    """Nothing is left for good."""
    bench.save()
    before = tree(bench.shop)
    bench.promote()

    def check() -> None:
        with Sandbox(bench.sandbox.home).memory() as memory:
            known = opening.open_skills(memory).list()
        if known:
            again(bench, demote)
        assert tree(bench.shop) == before

    each_kill(bench, tmp_path / "kept", demote, check)


def test_a_killed_sync_loses_no_edit_and_no_new_text(
    bench: Bench, tmp_path: Path
) -> None:
    """The next one has both."""
    bench.save()
    bench.promote()
    bench.file().write_text(
        bench.file().read_text().replace("make test", "make -j test")
    )
    bench.save(text=LONGER, reason="it takes longer")

    def check() -> None:
        again(bench, sync)
        text = bench.file().read_text()
        assert "make -j test" in text
        assert "twenty minutes" in text

    each_kill(bench, tmp_path / "kept", sync, check)


@pytest.mark.thorough
def test_a_killed_forgetting_loses_no_edit(bench: Bench, tmp_path: Path) -> None:
    """It is in the file, or it is kept until the memory is restored."""
    bench.save()
    bench.promote()
    bench.file().write_text(bench.file().read_text() + EDIT)

    def check() -> None:
        again(bench, forget, sync)
        assert not bench.file().exists()
        again(bench, restore, sync)
        assert bench.file().read_text().endswith(EDIT)

    each_kill(bench, tmp_path / "kept", forget, check)


@pytest.mark.thorough
def test_a_killed_restoring_is_finished_by_a_sync(bench: Bench, tmp_path: Path) -> None:
    """With the edit."""
    bench.save()
    bench.promote()
    bench.file().write_text(bench.file().read_text() + EDIT)
    bench.forget()

    def check() -> None:
        again(bench, restore, sync)
        assert bench.file().read_text().endswith(EDIT)

    each_kill(bench, tmp_path / "kept", restore, check)


@pytest.mark.thorough
def test_a_killed_purge_is_finished_by_the_next(bench: Bench, tmp_path: Path) -> None:
    """Neither the text nor an edit is left."""
    bench.save()
    before = tree(bench.shop)
    bench.promote()
    bench.file().write_text(bench.file().read_text() + EDIT)

    def check() -> None:
        with Sandbox(bench.sandbox.home).memory() as memory:
            left = memory.state().unfinished() or (bench.sandbox.notes / NOTE).exists()
        if left:
            again(bench, purge)
        assert tree(bench.shop) == before
        with Sandbox(bench.sandbox.home).memory() as memory:
            assert opening.open_skills(memory).list() == []

    each_kill(bench, tmp_path / "kept", purge, check)
