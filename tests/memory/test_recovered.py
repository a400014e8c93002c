"""An entry removed by a stale save comes back into its own scope, and is announced."""

from __future__ import annotations

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.results import WriteResult
from tests.support.sandbox import Sandbox, ask, paths

SHOP = Caller(project="projects/shop")
SITE = Caller(project="projects/site")


def stale_save(sandbox: Sandbox, path: str) -> None:
    """Save what an editor has held since before the entry was written."""
    sandbox.save_over(path, "# An old buffer\n")
    sandbox.age(path, 30)


@pytest.fixture
def lost(sandbox: Sandbox, memory: Memory) -> WriteResult:
    """An entry of the shop that a stale save has removed."""
    sandbox.save("projects/shop/n.md", "# An old buffer\n")
    with memory.as_caller(SHOP) as shop:
        entry = shop.write("The harbour is blue.", file="projects/shop/n.md")
        ask(shop, "harbour")
    stale_save(sandbox, entry.path)
    return entry


def is_in_the_shop_alone(sandbox: Sandbox, memory: Memory) -> bool:
    """Return whether the entry is back where only its readers find it, and reported."""
    findings = " ".join(one.detail for one in memory.diagnose().findings)
    return (
        (sandbox.notes / "projects" / "shop" / "recovered.md").exists()
        and not (sandbox.notes / "recovered.md").exists()
        and "projects/shop/recovered.md" in findings
    )


def test_its_own_project_finds_it_again_and_is_told(
    lost: WriteResult, sandbox: Sandbox, memory: Memory
) -> None:
    """With the command for a person who removed it on purpose."""
    with memory.as_caller(SHOP) as shop:
        found = ask(shop, "harbour")

    assert paths(found) == ["projects/shop/recovered.md"]
    assert f"`hm forget {lost.id}`" in "".join(found.report.warnings)
    assert is_in_the_shop_alone(sandbox, memory)


@pytest.mark.usefixtures("lost")
def test_another_project_that_asks_first_is_neither_shown_it_nor_told(
    sandbox: Sandbox, memory: Memory
) -> None:
    """And its own project finds it afterwards."""
    with memory.as_caller(SHOP) as shop, memory.as_caller(SITE) as site:
        found = ask(site, "harbour")
        found_by_shop = ask(shop, "harbour")

    assert paths(found) == []
    assert not found.report.warnings
    assert paths(found_by_shop) == ["projects/shop/recovered.md"]
    assert is_in_the_shop_alone(sandbox, memory)


def test_forgetting_a_recovered_entry_hides_it_for_good(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A person who deleted it on purpose does so once more."""
    entry = memory.write("The harbour is blue.", file="n.md")
    stale_save(sandbox, "n.md")
    ask(memory, "harbour")

    memory.forget(MemorySelector(name=entry.id))
    stale_save(sandbox, "n.md")

    assert paths(ask(memory, "harbour")) == []
    # Nor does the next search restore it again.
    assert paths(ask(memory, "harbour")) == []


def test_a_pending_claim_comes_back_as_a_pending_claim(
    sandbox: Sandbox, memory: Memory
) -> None:
    """It must not become active by being lost."""
    entry = memory.write("The harbour is blue.", source="external")
    stale_save(sandbox, entry.path)

    assert paths(ask(memory, "harbour")) == []
    assert "harbour" in (sandbox.notes / "inbox" / "recovered.md").read_text()


def test_a_clock_that_is_set_back_by_an_hour(sandbox: Sandbox, memory: Memory) -> None:
    """An entry of a minute ago was dropped from the journal: its time was an hour off.

    Versions stay in the order of saving, and every edit is seen.
    """
    memory.save(NewMemory(key="day", content="On Mondays.", scope="global"))
    sandbox.save("n.md", "# An old buffer\n")
    memory.write("The harbour is blue.", file="n.md", scope="global")
    sandbox.ahead_s = -3600
    with sandbox.memory() as other:
        for content in ("On Tuesdays.", "On Fridays."):
            wanted = NewMemory(key="day", content=content, reason="x", scope="global")
            other.save(wanted)
            other.sync()
        for number in range(3):
            sandbox.save("edited.md", f"zebra{number}\n")
            for one in (memory, other):
                answer = ask(one, f"zebra{number}")
                assert paths(answer) == ["edited.md"]
                assert answer.report.is_fresh
        stale_save(sandbox, "n.md")

        assert other.sync().recovered == 1
        assert (sandbox.notes / "recovered.md").exists()
        history = [version.text for version in other.curation.history("day").memories]
        assert history == ["On Fridays.", "On Tuesdays.", "On Mondays."]
        assert other.curation.show("day").memory.text.strip() == "On Fridays."
