"""A copy of a memory that a sync tool keeps beside it is never taken for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm

COPIES = (
    "deploy-day (ada's conflicted copy 2026-11-21).md",
    "deploy-day (conflicted copy 2026-11-21 093012).md",
    "deploy-day (Case Conflict).md",
    "deploy-day.sync-conflict-20261121-093012-ABCDEFG.md",
    "deploy-day_conflict-20261121-093012.md",
    "a copy of deploy-day.md",
    "deploy-day-2.md",
)
NOTICE = (
    " is another active memory with this key: delete it, or give it a key of its own\n"
)


@pytest.fixture(params=COPIES)
def copy(request: pytest.FixtureRequest, hm: Hm, home: Path) -> str:
    """A memory, and a copy of its file that says something else."""
    hm("save", "--type", "decision", "deploy-day", "We deploy on Tuesdays.")
    note = home / "memory" / "deploy-day.md"
    (home / "memory" / request.param).write_text(
        note.read_text().replace("Tuesdays", "Mondays")
    )
    name: str = request.param
    return name


@pytest.mark.parametrize("command", ["show", "get", "history"])
def test_the_memory_answers_and_the_copy_is_named(
    hm: Hm, copy: str, command: str
) -> None:
    """By its name, a copy came first."""
    ran = hm(command, "deploy-day")

    first = ran.out.partition("Mondays")[0]
    assert "We deploy on Tuesdays." in first
    assert ran.err == f"{copy}{NOTICE}"


def test_the_memory_answers_by_its_id_too(hm: Hm, copy: str) -> None:
    """The copy has the same."""
    own = hm("show", "--json", "deploy-day").json["memory"]

    assert own["path"] == "deploy-day.md"
    assert hm("show", "--json", own["id"]).json["memory"]["path"] == "deploy-day.md"


def test_a_link_leads_to_the_memory(hm: Hm, copy: str) -> None:
    """And a new version replaces it."""
    hm("save", "related", "More on this.")
    hm("link", "related", "deploy-day")

    [edge] = hm("show", "--json", "related").json["edges"]
    hm("save", "--reason", "new team", "deploy-day", "We deploy on Wednesdays.")

    assert edge["path"] == "deploy-day.md"
    assert "Wednesdays" in hm("get", "deploy-day").out


def test_the_memory_is_injected_and_not_the_copy(
    hm: Hm, copy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is a preference, which every section shows."""
    hm(
        "save",
        "--reason",
        "minor correction",
        "--type",
        "preference",
        "deploy-day",
        "T.",
    )
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    hm("inject")

    record = hm("why", "--json").json

    assert "deploy-day.md" in {one["path"] for one in record["memories"]}
    assert copy not in {one["path"] for one in record["memories"]}
    assert hm("why", copy).out == (
        f"not injected: {copy}: it is a copy: another memory has the key deploy-day\n"
    )


def test_a_copy_that_is_named_by_its_path_is_meant(hm: Hm, copy: str) -> None:
    """Else nobody could compare the two."""
    assert "Mondays" in hm("get", copy).out


def test_a_memory_without_a_copy_has_no_notice(hm: Hm, home: Path) -> None:
    """Earlier versions, other keys and other scopes are no copies."""
    hm("save", "k", "one")
    hm("save", "--reason", "new", "k", "two")
    hm("save", "--scope", "project/shop", "k", "three")
    hm("save", "k2", "two")

    for command in ("show", "get", "history"):
        assert hm(command, "k").err == ""
