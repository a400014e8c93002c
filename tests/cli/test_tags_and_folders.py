"""What is saved is found again by tag, by folder and by the end of its path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.cli.table import ALIASES
from hivemind_memory.markdown.entry import parse_provenance, render_provenance
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.tags import has_tags, parse_tags, tags_in
from tests.cli.conftest import Hm

_TAGS = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1))


def _found(hm: Hm, *words: str) -> set[str]:
    """Return the notes that a search finds."""
    return {hit["path"] for hit in json.loads(hm(*words, "--json").out)["hits"]}


def test_a_tag_finds_entries_memories_and_notes_that_a_person_tagged(
    hm: Hm, notes: Path
) -> None:
    """All three say it in their own way, and in any case of letters."""
    hm("write", "--tag", "#CI", "--file", "log.md", "The runner is on birch.")
    hm("write", "--file", "log.md", "The runner is slow.")
    hm("save", "--tag", "ci", "--tag", "net,slow", "runner", "The runner has a proxy.")
    (notes / "own.md").write_text("---\ntags: ci, home\n---\nA runner of our own.\n")

    found = json.loads(hm("search", "--tag", "Ci", "runner", "--json").out)["hits"]

    assert {hit["path"] for hit in found} == {"log.md", "runner.md", "own.md"}
    assert not any("slow." in hit["snippet"] for hit in found)
    assert _found(hm, "search", "--tag", "ci", "--tag", "slow") == {"runner.md"}
    assert _found(hm, "search", "--tag", "ci,home") == {"own.md"}
    assert _found(hm, "search", "--tag", "c", "runner") == set()
    assert "runner" in hm("list", "--tag", "net").out


def test_folder_is_another_name_for_in(hm: Hm, notes: Path) -> None:
    """Both narrow a search and a list; neither is taken for a word of the query."""
    (notes / "ops").mkdir()
    (notes / "ops/db.md").write_text("The database is on birch.\n")
    (notes / "db.md").write_text("The database is on oak.\n")

    assert _found(hm, "search", "--folder", "ops", "database") == {"ops/db.md"}
    assert hm("list", "--folder", "ops").out == hm("list", "--in", "ops").out != ""


def test_tags_survive_forget_restore_accept_and_a_new_version(
    hm: Hm, notes: Path
) -> None:
    """The comment line is written again, and the front matter too."""
    hm("write", "--tag", "ci", "--source", "external", "Runners moved to birch.")
    [claim] = json.loads(hm("inbox", "--json").out)
    assert hm("inbox", "accept", claim["id"]).code == 0
    assert hm("forget", claim["id"]).code == 0
    assert _found(hm, "search", "--tag", "ci") == set()
    assert hm("restore", claim["id"]).code == 0
    assert len(_found(hm, "search", "--tag", "ci")) == 1
    hm("save", "--tag", "net", "proxy", "The proxy is on oak.")

    hm("save", "--reason", "moved", "proxy", "The proxy is on elm.")

    assert "elm" in hm("search", "--tag", "net", "proxy").out


def test_a_tag_that_cannot_be_one_saves_nothing(hm: Hm, notes: Path) -> None:
    """A comment is one line."""
    for tag in ("a\nb", "x" * 101):
        ran = hm("write", "--tag", tag, "A text.")

        assert (ran.code, ran.out) == (2, "")
        assert "Nothing was saved" in ran.err


def test_a_secret_is_no_tag(hm: Hm, notes: Path) -> None:
    """Tags are scrubbed as the text is."""
    secret = "ghp_LEjCfMBeBbCCb4DHj8ga9B5KEDK4FgjMfCBG"

    hm("write", "--tag", secret, "--file", "log.md", "A text.")

    assert secret not in (notes / "log.md").read_text(encoding="utf-8")


@given(_TAGS)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_tags_of_an_entry_are_read_back(names: list[str]) -> None:
    """They are stored in one value of a comment."""
    try:
        tags = parse_tags(names)
    except Exception:  # noqa: BLE001 - too many or too long: refused as a whole
        return
    entry = Provenance(
        id="01JD3W00000000000000000000",
        at="2026-11-21T14:03:11+01:00",
        tags=tags,
    )

    read = parse_provenance(render_provenance(entry))

    assert read is not None
    assert read.tags == tags
    assert has_tags(read.tags, tags)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_front_matter_is_read_as_some_tags(value: object) -> None:
    """People write it, so it is never an error."""
    assert all(isinstance(tag, str) and tag for tag in tags_in(value))


def test_in_limits_search_and_list_to_a_folder(hm: Hm, notes: Path) -> None:
    """A folder is narrower than a scope."""
    for name in ("projects/shop/api/a.md", "projects/shop/apis.md", "api.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(f"# Gateway\n\nThe gateway of {name} is new.\n")

    for folder in ("projects/shop/api", "./projects/shop/api/", "projects/shop"):
        wanted = {"projects/shop/api/a.md"}
        wanted |= {"projects/shop/apis.md"} if folder.endswith("shop") else set()
        assert _found(hm, "search", "gateway", "--in", folder) == wanted
        listed = json.loads(hm("list", "--in", folder, "--json").out)
        assert {note["path"] for note in listed} == wanted
    assert hm("search", "gateway", "--in", "nowhere").code == 1
    assert hm("list", "projects", "--in", "projects").code == 2


def test_in_shows_an_agent_no_folder_of_another_project(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a folder is there is also told to nobody else."""
    for name in ("mine", "other"):
        folder = notes / "projects" / name
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("The gateway is new.\n")
    monkeypatch.setenv("HIVEMIND_PROJECT", "mine")

    other = hm("search", "gateway", "--in", "projects/other")
    none = hm("search", "gateway", "--in", "projects/others")

    assert other.err.replace("other", "others") == none.err
    assert _found(hm, "search", "gateway", "--in", "projects/mine") == {
        "projects/mine/a.md"
    }


def test_the_end_of_a_path_names_the_only_note_that_has_it(hm: Hm, notes: Path) -> None:
    """``hm get runbook`` is what people type."""
    for name in ("projects/shop/runbook.md", "projects/web/deploy.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(f"# In {name}\n\nA line.\n")

    assert "projects/shop/runbook.md" in hm("get", "runbook").out
    assert "projects/shop/runbook.md" in hm("get", "shop/runbook.md").out
    assert hm("get", "runbook:3").out == "A line.\n"
    assert "We deploy on Tuesdays" in hm("get", "deploy").out  # the whole path first

    (notes / "projects/web/runbook.md").write_text("Another.\n")
    ran = hm("get", "runbook")
    assert ran.code == 2
    assert "projects/shop/runbook.md, projects/web/runbook.md" in ran.err


def test_what_people_type_by_habit_does_what_they_mean(hm: Hm, notes: Path) -> None:
    """Each is short for one command."""
    assert hm("find", "deploy").out == hm("search", "deploy").out != ""
    assert hm("grep", "deploy").out == hm("search", "deploy").out
    assert hm("cat", "deploy.md").out == hm("get", "deploy.md").out != ""
    assert hm("ls").out == hm("list").out != ""
    assert hm("add", "A line.").code == 0
    assert hm("help", "cat").out == hm("help", "get").out
    assert set(ALIASES) == {"ls", "rm", "add", "close", "find", "grep", "cat"}


def test_tags_are_listed_with_counts(hm: Hm, notes: Path) -> None:
    """Entries, memories and notes of a person count; what is hidden does not."""
    hm("write", "--tag", "#CI", "--file", "log.md", "The runner is on birch.")
    hm("write", "--tag", "ci,net", "--file", "log.md", "The proxy is on oak.")
    hm("save", "--tag", "ci", "runner", "The runner has a proxy.")
    hm("save", "--tag", "old", "gone", "Nobody needs this.")
    hm("forget", "gone", "-y")
    (notes / "own.md").write_text("---\ntags: net, home\n---\nA runner of our own.\n")

    assert hm("tags").out == "ci\t3\nnet\t2\nhome\t1\n"
    assert json.loads(hm("tags", "--json", "--limit", "1").out) == [
        {"tag": "ci", "count": 3}
    ]
    assert "no tags here" in hm("tags", "--scope", "team/none").err


def test_the_tags_of_other_projects_are_not_listed(hm: Hm, notes: Path) -> None:
    """A tag may be a name."""
    (notes / "projects/shop").mkdir(parents=True)
    (notes / "projects/shop/a.md").write_text("---\ntags: shop\n---\nA cart.\n")
    (notes / "global.md").write_text("---\ntags: all\n---\nA rule.\n")

    assert hm("tags").out == "all\t1\nshop\t1\n"
    assert hm("tags", "--scope", "global").out == "all\t1\n"
