"""A source is trusted or not, alike in every answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.context.candidates import find_candidates
from hivemind_memory.mcp_server.search_output import shape_search
from hivemind_memory.model.injection import Facet
from hivemind_memory.model.query import Query
from hivemind_memory.model.trust import is_trusted, shown_source
from tests.support.sandbox import Sandbox

UNTRUSTED = {
    "tool": "tool",
    "External": "external",
    "https://example.com/page": "external",
    "[https://example.com/page]": "external",
}
TRUSTED = ("human", "agent", "a podcast", "", "7")


@pytest.mark.parametrize("source", [*UNTRUSTED, *TRUSTED])
def test_search_mcp_and_injection_agree_on_a_source(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
) -> None:
    """A web clipper writes the address of the page as the source."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.notes.mkdir(parents=True, exist_ok=True)
    note = f"---\ntype: fact\nsource: {source}\n---\nThe zebra is striped.\n"
    (sandbox.notes / "zebra.md").write_text(note)

    with sandbox.memory() as memory:
        answer = memory.search(Query(text="zebra"))
        told = find_candidates(memory, [Facet(name="files", text="zebra", weight=1.0)])

    [hit] = answer.hits
    shown = UNTRUSTED.get(source, "")
    assert is_trusted(hit.source) == (not shown)
    monkeypatch.setenv("HIVEMIND_HOME", str(sandbox.home))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    main(["search", "zebra"])
    label = f"[fact, untrusted, {shown}]" if shown else "[fact]"
    assert label in capsys.readouterr().out
    assert shape_search(answer).hits[0].source == shown
    assert [one.excerpt.path for one in told.left_out] == ["zebra.md"] * bool(shown)


def test_an_entry_is_no_more_trusted_than_its_note() -> None:
    """And no less than what it says itself."""
    assert shown_source("https://example.com", "agent") == "external"
    assert shown_source("human", "tool") == "tool"
    assert shown_source("human", "agent") == "agent"
    assert shown_source("human") == "human"
    assert shown_source(None) == ""
