"""A purge whose plan cannot be kept removes nothing: it could never be finished."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.state.state_file import StateFile
from tests.support.purge_rig import Bench, traces, words_of
from tests.support.sandbox import Sandbox

SECRET = "Zanzibarquux wombatopolis keeps flimmerkeks in vault xylophonist."
FULL = StateUnusableError(
    "the disk is full: state.db was not changed", hint="free some"
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    sandbox = Sandbox(tmp_path / "home")
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory)


@pytest.mark.parametrize("method", ["begin", "add_tombstones"])
def test_a_purge_on_a_full_disk_removes_nothing(bench: Bench, method: str) -> None:
    """The note was gone, no purge found it again, and the index kept the text."""
    bench.save("vault", SECRET)
    before = bench.read("vault.md")

    with (
        mock.patch.object(StateFile, method, side_effect=FULL),
        pytest.raises(StateUnusableError) as refused,
    ):
        bench.purge("vault")

    assert str(refused.value) == (
        "The disk is full: state.db was not changed. Nothing was purged."
    )
    assert refused.value.hint == "free some"
    assert bench.read("vault.md") == before
    assert bench.state.unfinished() == {}
    assert bench.purge("vault").is_complete
    assert not traces(bench.sandbox.home, words_of(SECRET), bench.sandbox.index_file)


def test_a_plan_that_cannot_be_read_is_not_overwritten(bench: Bench) -> None:
    """What an earlier purge left would never be removed."""
    bench.save("vault", SECRET)
    bench.state.begin("another purge", "{}")
    busy = StateUnusableError("another process keeps state.db locked")

    with (
        mock.patch.object(StateFile, "unfinished", side_effect=busy),
        pytest.raises(StateUnusableError, match="Nothing was purged"),
    ):
        bench.purge("vault")

    assert SECRET in bench.read("vault.md")


def test_a_dry_run_counts_while_plans_cannot_be_read(bench: Bench) -> None:
    bench.save("vault", SECRET)

    with mock.patch.object(StateFile, "unfinished", side_effect=FULL):
        dry = bench.purge("vault", is_dry_run=True)

    assert [one.path for one in dry.memories] == ["vault.md"]
