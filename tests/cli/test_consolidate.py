"""`hm consolidate` as a person uses it, with a language model on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Hm
from tests.support.chat_server import ChatServer

TEXTS = {
    "day": "We deploy the shop on Mondays at 10:30 from infra/prod.",
    "when": "We deploy the shop on Mondays at 10:30, from infra/prod, never later.",
}


def merged(request: dict[str, Any]) -> dict[str, object]:
    """Return a good reply: the longer text says what both say."""
    told = json.loads(request["messages"][-1]["content"])["memories"]
    row = {
        "key": "day",
        "content": TEXTS["when"],
        "from": [each["id"] for each in told],
    }
    return {"merged": [row], "keep": []}


def test_the_diff_goes_to_a_new_file_that_is_then_applied(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, text in TEXTS.items():
        hm("save", "-g", key, text, "--type", "decision")
    file, other = tmp_path / "two words.md", tmp_path / "other.md"
    with ChatServer() as server:
        server.reply = merged
        monkeypatch.setenv("HIVEMIND_LLM_PROVIDER", "openai")
        monkeypatch.setenv("HIVEMIND_LLM_MODEL", "m")
        monkeypatch.setenv("HIVEMIND_LLM_BASE_URL", f"{server.url}/v1")

        made = hm("consolidate", "--scope", "global", "-o", str(file))
        again = hm("consolidate", "-o", str(file))
        printed = hm("consolidate", "--scope", "global")
        as_json = hm("consolidate", "--scope", "global", "--json", "-o", str(other))
        nowhere = hm("consolidate", "-o", str(tmp_path / "none" / "x.md"))

    assert made.code == 0
    assert made.out == ""
    assert f"`hm consolidate --apply '{file}'` applies it" in made.err
    kept = "keep the diff, as with -o FILE: `hm consolidate --apply FILE` applies it"
    assert kept in printed.err
    assert as_json.json["diff"] == other.read_text(encoding="utf-8")
    assert f"+ {TEXTS['when']}" in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    assert (again.code, "already exists" in again.err) == (2, True)
    assert (nowhere.code, "cannot be written" in nowhere.err) == (2, True)
    # A file that is there is not paid for first.
    assert len(server.requests) == 4

    applied = hm("consolidate", "--apply", str(file))

    assert "1. day saved as" in applied.out
    twice = hm("consolidate", "--apply", str(file))
    assert twice.out == "1. day refused: it was applied before: nothing was changed\n"
