"""An entry removed by a stale save comes back into its own scope, and is announced."""

from __future__ import annotations

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector
from tests.support.sandbox import Sandbox, ask, paths

SHOP = Caller(project="projects/shop")
SITE = Caller(project="projects/site")


def stale_save(sandbox: Sandbox, path: str) -> None:
    """Save what an editor has held since before the entry was written."""
    sandbox.save_over(path, "# An old buffer\n")
    sandbox.age(path, 30)


@pytest.mark.parametrize("finder", [SHOP, SITE], ids=["its own", "another"])
def test_it_comes_back_where_only_its_readers_find_it(
    sandbox: Sandbox, memory: Memory, finder: Caller
) -> None:
    """Whoever asks first: another project is neither told nor shown anything."""
    with memory.as_caller(SHOP) as shop, memory.as_caller(SITE) as site:
        sandbox.save("projects/shop/n.md", "# An old buffer\n")
        entry = shop.write("The harbour is blue.", file="projects/shop/n.md")
        ask(shop, "harbour")
        stale_save(sandbox, entry.path)

        first = ask(shop if finder is SHOP else site, "harbour")

        assert paths(ask(shop, "harbour")) == ["projects/shop/recovered.md"]
        assert paths(ask(site, "harbour")) == []
        assert not (sandbox.notes / "recovered.md").exists()
        announced = "".join(first.report.warnings)
        assert (f"`hm forget {entry.id}`" in announced) is (finder is SHOP)
        assert finder is SHOP or not announced
    findings = [one.detail for one in memory.diagnose().findings]
    assert any("projects/shop/recovered.md" in detail for detail in findings)


def test_the_command_that_is_named_hides_it_for_good(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A person who deleted it on purpose does so once more."""
    entry = memory.write("The harbour is blue.", file="n.md")
    stale_save(sandbox, "n.md")
    ask(memory, "harbour")

    memory.forget(MemorySelector(name=entry.id))
    stale_save(sandbox, "n.md")

    assert paths(ask(memory, "harbour")) == []
    assert paths(ask(memory, "harbour")) == []


def test_a_pending_claim_comes_back_as_a_pending_claim(
    sandbox: Sandbox, memory: Memory
) -> None:
    """It must not become active by being lost."""
    entry = memory.write("The harbour is blue.", source="external")
    stale_save(sandbox, entry.path)

    assert paths(ask(memory, "harbour")) == []
    assert "harbour" in (sandbox.notes / "inbox" / "recovered.md").read_text()
