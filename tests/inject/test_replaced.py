"""A memory that another one has replaced is told to no agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.context.briefing import find_briefing
from hivemind_memory.context.why_absent import why_absent
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.opening import open_injector
from tests.inject.repos import git, make_repo
from tests.inject.test_typed import OPTIONS, ORIGIN, SCOPE, keep, keys, planned


@pytest.mark.parametrize(
    "kind", ["lesson", "identity", "preference", "decision", "pinned"]
)
def test_what_another_memory_has_replaced_is_never_told(
    tmp_path: Path, kind: str
) -> None:
    """As in a search, until the newer one is hidden or over."""
    worktree = make_repo(tmp_path / "shop")
    git(worktree, "remote", "add", "origin", ORIGIN)
    (tmp_path / "home/memory").mkdir(parents=True)
    with open_memory(home=str(tmp_path / "home"), flags=OPTIONS) as memory:
        pin = (
            {"type": "fact", "is_pinned": True} if kind == "pinned" else {"type": kind}
        )
        scope = "project/github.com--acme--shop"
        keep(memory, "old", "Ann leads the shop.", scope=scope, **pin)
        keep(memory, "older", "Eve leads the shop.", scope=scope, **pin)
        keep(memory, "new", "Bob leads the shop now.", scope=scope, **pin)
        memory.curation.link("old", "older", "updates")
        memory.curation.link("new", "old", "updates")
        here = memory.as_caller(open_injector(memory).caller_in(str(worktree)))

        assert keys(planned(memory, worktree)) == ["new"]
        with here as seen:
            briefing = find_briefing(seen, SCOPE).body
            assert "Bob" in briefing
            assert "Ann" not in briefing
            why = why_absent(seen, f"{SCOPE}/old.md")
            assert why == "new has replaced it"

        memory.forget(MemorySelector(name="new"))
        assert keys(planned(memory, worktree)) == ["old"]
