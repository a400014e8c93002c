"""A key that holds a secret is masked for an agent, in commands and tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.redaction import redact
from tests.cli.conftest import Hm
from tests.support.access_matrix import Side

SECRET = "ghp_LEjCfMBeBbCCb4DHj8ga9B5KEDK4FgjMfCBG"
COMMANDS = (
    ("search", "walrus"),
    ("search", "walrus", "--inbox", "--explain"),
    ("get", "kept.md"),
    ("show", "kept.md"),
    ("list",),
    ("list", "--type", "preference"),
    ("log",),
    ("log", "--changes"),
    ("history", "kept.md"),
    ("why",),
    ("why", "kept.md"),
    ("inject", "--yes", "--dry-run"),
    ("inbox", "list"),
)
KEYLESS = {
    *{("list",), ("log", "--changes"), ("memory_list",)},
    *{("why",), ("why", "kept.md")},
}
"""These name notes by their paths, and show no key at all."""

TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "walrus", "min_score": 0}),
    ("memory_search", {"query": "", "types": "preference", "inbox": True}),
    ("memory_list", {}),
    ("memory_list", {"types": "preference"}),
    ("memory_get", {"path": "kept.md"}),
    ("memory_history", {"key": "kept.md"}),
)


@pytest.fixture
def kept(home: Path, hm: Hm) -> Path:
    """A person's memory and a pending claim, the secret in the keys of both."""
    hm("init")
    for name in ("kept.md", "inbox/claim.md"):
        note = home / "memory" / name
        note.parent.mkdir(exist_ok=True)
        head = f"key: {SECRET}\ntype: preference\nsource: human\npinned: true"
        note.write_text(f"---\n{head}\n---\nThe walrus likes tea.\n")
    assert hm("inject", "--yes").code == 0
    assert SECRET in hm("show", "kept.md").out
    return home


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command(
    hm: Hm, kept: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """As text and as JSON."""
    monkeypatch.setenv("CLAUDECODE", "1")

    for line in (words, (*words, "--json")):
        said = hm(*line)

        assert "unknown option" not in said.err.casefold(), line
        assert SECRET not in said.out + said.err, line


@pytest.mark.parametrize("call", TOOLS, ids=lambda call: f"{call[0]} {[*call[1]]}")
def test_a_tool(kept: Path, call: tuple[str, dict[str, Any]]) -> None:
    """In its text and in its structured answer."""
    [(_, said)] = Side(kept, "global").tools([call])

    assert SECRET not in said
    assert "walrus" in said.casefold() or "kept.md" in said, json.dumps(said)


@pytest.fixture
def nothing_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: whoever masks a text, for the index too, gets it back."""
    real = redact.mask
    for module in list(sys.modules.values()):
        if getattr(module, "mask", None) is real:
            monkeypatch.setattr(module, "mask", lambda text, *_: text)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_that_masks_nothing_is_noticed(
    nothing_is_masked: None,
    hm: Hm,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    """Else the test above would prove nothing about it."""
    monkeypatch.setenv("CLAUDECODE", "1")

    said = [hm(*line) for line in (words, (*words, "--json"))]

    assert any(SECRET in one.out for one in said) == (words not in KEYLESS)


@pytest.mark.parametrize("call", TOOLS, ids=lambda call: f"{call[0]} {[*call[1]]}")
def test_a_tool_that_masks_nothing_is_noticed(
    nothing_is_masked: None, kept: Path, call: tuple[str, dict[str, Any]]
) -> None:
    """Else the test above would prove nothing about it."""
    [(_, said)] = Side(kept, "global").tools([call])

    assert (SECRET in said) == ((call[0], *call[1]) not in KEYLESS)
