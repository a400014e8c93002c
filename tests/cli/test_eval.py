"""`hm eval` measures how well questions of one's own are answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Hm

GOLDEN = """\
# Golden

- when do we deploy → deploy.md:3
- which port does the staging database use → projects/site.md:1
- when does the café near the station close → cafés.md:3
- what do grey whales eat in winter → nothing
"""


@pytest.fixture
def golden(notes: Path) -> Path:
    """Four questions in the home folder."""
    file = notes.parent / "golden.md"
    file.write_text(GOLDEN, encoding="utf-8")
    return file


def test_the_questions_of_the_home_folder_are_asked(hm: Hm, golden: Path) -> None:
    """No name is needed, and no numpy: words alone are asked."""
    ran = hm("eval")

    first = ran.out.splitlines()[0]
    assert first == f"4 questions from {golden}, keyword search"
    assert "nDCG@10" in ran.out
    assert "questions without an answer: 1 of 1 told that nothing is known" in ran.out
    assert "tokens per answer: " in ran.out
    assert (ran.code, ran.err) == (0, "")


def test_a_note_or_a_file_can_be_named(hm: Hm, golden: Path, notes: Path) -> None:
    """A name like a file is one, and no command of the group."""
    of_file = json.loads(hm("eval", str(golden), "--json").out)
    (notes / "asked.md").write_text(GOLDEN, encoding="utf-8")
    of_note = json.loads(hm("eval", "asked.md", "--json").out)

    assert (of_file["file"], of_note["file"]) == (str(golden), "asked.md")
    assert of_file["settings"] == of_note["settings"]


def test_an_unknown_target_is_named_with_its_line(hm: Hm, golden: Path) -> None:
    """The rest is measured, and a script notices."""
    with golden.open("a", encoding="utf-8") as file:
        file.write("- who opens the door → gone.md:3\n")

    ran = hm("eval", "run", str(golden))

    assert ran.code == 1
    assert ran.err.startswith(f"{golden}:7: There is no note gone.md")
    assert ran.out.startswith("4 questions from ")


def test_a_missed_question_is_named(hm: Hm, golden: Path) -> None:
    """The figures alone don't say what to look at."""
    golden.write_text("- purple elephants → deploy.md:3\n", encoding="utf-8")

    ran = hm("eval", str(golden))

    assert f"{golden}:1: not among the first ten hits: purple elephants" in ran.out


def test_two_settings_stand_side_by_side(hm: Hm, golden: Path) -> None:
    """A threshold that hides every hit loses all that was found."""
    words = ("eval", str(golden), "--set-option", "min_score=1")
    ran = hm(*words, "--set-option", "decay_floor=1")
    value = json.loads(hm(*words, "--json").out)

    assert "min_score=1.0, decay_floor=1.0" in ran.out
    assert "-1.000" in ran.out
    assert [one["options"] for one in value["settings"]] == [{}, {"min_score": 1.0}]
    assert value["differences"]["R@5"]["mean"] == -1.0


@pytest.mark.parametrize(
    "option", ["chunk_chars=300", "decay_floor", "decay_flor=1", "decay_floor=2"]
)
def test_only_options_of_a_search_can_be_compared(
    hm: Hm, golden: Path, option: str
) -> None:
    """Another option would change the index, which others use."""
    ran = hm("eval", str(golden), "--set-option", option)

    assert ran.code == 2
    assert option in ran.err or "decay_floor must be" in ran.err


def test_a_floor_gives_an_exit_code_for_ci(hm: Hm, golden: Path) -> None:
    """Of the changed setting, if there is one."""
    passed = hm("eval", str(golden), "--min-ndcg", "0.9")
    failed = hm("eval", str(golden), "--min-ndcg", "0.9", "--set-option", "min_score=1")

    assert (passed.code, failed.code) == (0, 1)
    assert "nDCG@10 is 0.000, below 0.9" in failed.err


@pytest.mark.parametrize("text", ["", "# Notes\n\n- buy milk\n"])
def test_a_file_without_questions_says_how_one_looks(
    hm: Hm, golden: Path, text: str
) -> None:
    """An empty measurement would look like a bad one."""
    golden.write_text(text, encoding="utf-8")

    ran = hm("eval", str(golden))

    assert ran.code == 2
    assert "has no questions" in ran.err
    assert "→ setup/network.md:12" in ran.err


def test_without_a_file_the_draft_is_offered(hm: Hm, notes: Path) -> None:
    """The next step is a command."""
    ran = hm("eval")

    assert ran.code == 2
    assert "hm eval suggest" in ran.err


def test_a_draft_is_a_file_that_can_be_asked(hm: Hm, notes: Path) -> None:
    """From titles and headings, since searches are not recorded, and it says so."""
    drafted = hm("eval", "suggest")
    (notes.parent / "golden.md").write_text(drafted.out, encoding="utf-8")
    few = hm("eval", "suggest", "-n", "1").out

    assert "searches are not recorded" in drafted.out
    assert "- Cafés → cafés.md:1-3" in drafted.out
    assert hm("eval").code == 0
    assert few.count("→") == 1
