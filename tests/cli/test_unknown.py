"""`hm search` says when it knows nothing, and when what it found may be no answer."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Hm

ELSEWHERE = "which channel do grey whales swim through on their way to the open ocean"
"""One note tells "the channel" of something else."""


def test_of_something_else_only_the_nearest_places_are_named(
    hm: Hm, notes: Path
) -> None:
    """A text below the question would be taken for its answer."""
    ran = hm("search", *ELSEWHERE.split())

    first, *places = ran.out.splitlines()
    assert first == "No answer found. Closest passages:"
    assert places
    assert all(line.startswith("    ") and ".md:" in line for line in places)
    assert "rollback script" not in ran.out
    assert ran.err.startswith("1 place by ")
    assert ran.code == 0


def test_json_keeps_the_nearest_as_hits_and_says_none(hm: Hm, notes: Path) -> None:
    """Programs read places there, and the report beside them."""
    answer = json.loads(hm("search", "--json", *ELSEWHERE.split()).out)

    assert answer["report"]["confidence"] == "none"
    assert [hit["path"] for hit in answer["hits"]] == ["deploy.md"]
    assert 0 < answer["hits"][0]["confidence"] < 1 / 3


def test_what_a_note_answers_is_shown_as_before(hm: Hm, notes: Path) -> None:
    """A strong answer needs no word about itself, for a person."""
    ran = hm("search", "when do we deploy")
    answer = json.loads(hm("search", "--json", "when do we deploy").out)

    assert "We deploy on Tuesdays only." in ran.out
    assert "weak" not in ran.err
    assert "nothing" not in ran.out + ran.err
    assert answer["report"]["confidence"] == "strong"


def test_a_weak_answer_is_shown_and_said_to_be_weak(hm: Hm, notes: Path) -> None:
    """It may be right, so its text is there."""
    question = ("which", "port", "does", "the", "ferry", "leave")
    ran = hm("search", *question)
    answer = json.loads(hm("search", "--json", *question).out)

    assert answer["report"]["confidence"] == "weak"
    assert "port 5433" in ran.out
    assert "weak match: these may not answer your query" in ran.err


def test_explained_the_nearest_are_shown_whole(hm: Hm, notes: Path) -> None:
    """Who asks why wants to see what was weighed."""
    ran = hm("search", "--explain", *ELSEWHERE.split())

    assert "confidence 0." in ran.out
    assert "rollback script" in ran.out


def test_a_name_that_begins_with_a_dash_is_told_how_to_be_given(hm: Hm) -> None:
    """`hm get -draft.md` named no way to read that note."""
    hm("init")
    saved = hm("write", "--file=-draft.md", "Not sent yet.")

    ran = hm("get", "-draft.md")
    near = hm("get", "--line", "3")

    assert saved.code == 0
    assert (ran.code, "goes after `--`" in ran.err) == (2, True)
    assert "goes after" not in near.err
    assert "Not sent yet." in hm("get", "--", "-draft.md").out
