"""Which names may be notes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import NotePathError
from hivemind_memory.files.paths import (
    MAX_PART_BYTES,
    MAX_PARTS,
    MAX_PATH_BYTES,
    is_plain,
    name_problem,
    parse_note_path,
    path_problem,
)

NAMES = json.loads(
    Path(__file__).parents[2].joinpath("fixtures/note_paths.json").read_text("utf-8")
)
ANYTHING = st.text(st.characters(), max_size=40)
ANYTHING |= st.text("./\\~%:a cond\0\n", max_size=20)


@pytest.mark.parametrize("name", NAMES["hostile"], ids=ascii)
def test_a_hostile_name_is_refused_in_one_sentence(name: str) -> None:
    """The sentence goes to a terminal or a model, so it is clean whatever was asked."""
    with pytest.raises(NotePathError) as caught:
        parse_note_path(name)

    sentence = str(caught.value)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert len(sentence) < 200
    assert caught.value.hint


@pytest.mark.parametrize("name", NAMES["legal"], ids=ascii)
def test_a_plain_name_in_any_script_is_a_note(name: str) -> None:
    """What a shell would mind is its caller's to quote."""
    assert parse_note_path(name) == name


@pytest.mark.parametrize(
    ("name", "is_legal"),
    [
        ("a" * (MAX_PART_BYTES - 3) + ".md", True),
        ("a" * (MAX_PART_BYTES - 2) + ".md", False),
        ("é" * 126 + ".md", True),
        ("é" * 127 + ".md", False),
        ("a/" * (MAX_PARTS - 1) + "a.md", True),
        ("a/" * MAX_PARTS + "a.md", False),
        (("a" * 203 + "/") * 5 + "a.md", True),
        (("a" * 203 + "/") * 5 + "aa.md", False),
        ("a" * 20_000_000, False),
        ("/" * 1_000_000, False),
    ],
    ids=range(10),
)
def test_the_limits_of_length_are_exact(name: str, is_legal: bool) -> None:
    """What is longer could not be made on every system."""
    assert (path_problem(name) == "") is is_legal
    assert not is_legal or len(name.encode()) <= MAX_PATH_BYTES


@given(ANYTHING, ANYTHING)
def test_what_is_not_refused_stays_inside(first: str, second: str) -> None:
    """Joined to any root, a legal name is a file below it and no dot file."""
    for text in (first, f"{first}/{second}.md"):
        problem = path_problem(text)
        if problem:
            assert problem.isprintable()
            continue
        path = parse_note_path(text)
        assert os.path.normpath(f"/root/{path}") == f"/root/{path}"
        assert not any(part.startswith(".") for part in path.split("/"))
        assert path.encode().decode() == path


@given(st.lists(ANYTHING.filter(lambda name: "/" not in name), max_size=4))
def test_the_quick_check_clears_no_name_with_an_odd_character(names: list[str]) -> None:
    """The listing relies on it for all names at once."""
    problems = [name_problem(name) for name in names]

    is_odd = any(problem.startswith("the name ") for problem in problems)

    assert not (is_odd and is_plain("/".join(names)))
