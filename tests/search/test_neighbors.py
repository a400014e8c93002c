"""What follows one another in a note, and matches alike, is one hit."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox, ask

FEES = "# Law\n\n## Fees\n\nA patent costs ten.\n\n## Terms\n\nA patent lasts long.\n"


def shown_lines(sandbox: Sandbox, query: str, **options: int) -> list[str]:
    """Return the lines that the hits show, best first."""
    with sandbox.memory() as memory:
        answer = memory.search(Query(text=query, **options))
    return [f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in answer.hits]


def test_sections_below_one_another_are_one_hit_with_its_lines(tmp_path: Path) -> None:
    """It says what the note says there, under the headings that are above all of it."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", FEES)
    with sandbox.memory() as memory:
        (hit,) = ask(memory, "patent").hits

    assert hit.snippet == "\n".join(FEES.split("\n")[hit.start_line - 1 : hit.end_line])
    assert "costs ten" in hit.snippet
    assert "lasts long" in hit.snippet
    assert hit.headings == ("Law",)


def test_a_hit_shows_the_same_lines_however_many_are_wanted(tmp_path: Path) -> None:
    """The neighbor need not be a hit itself."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", FEES)
    sandbox.save("other.md", "The patent of a neighbor is far away.\n")

    best = shown_lines(sandbox, "patent costs", max_results=1)

    assert len(best) == 1
    assert shown_lines(sandbox, "patent costs", max_results=9)[:1] == best


def test_the_places_that_become_free_go_to_other_notes(tmp_path: Path) -> None:
    """As many hits as before, if there are so many."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", FEES)
    for number in range(4):
        sandbox.save(f"{number}.md", f"Of a patent in a longer sentence {number}.\n")

    found = shown_lines(sandbox, "patent", max_results=4)

    assert len(found) == 4
    assert sum(lines.startswith("law.md") for lines in found) == 1


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("## A\nA patent.\n\n## B\n\nBread.\n\n## C\nA patent.\n", "patent"),
        ("## A\nA patent costs ten coins.\n## B\nA patent.\n", "patent costs coins"),
        (f"## A\nA patent. {'x ' * 300}\n## B\nA patent. {'y ' * 300}\n", "patent"),
    ],
    ids=["something between", "one matches far less", "longer than a chunk"],
)
def test_what_stands_apart_stays_apart(tmp_path: Path, note: str, query: str) -> None:
    """Nothing is shown that says nothing, and no hit becomes long."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", note)

    assert len(shown_lines(sandbox, query)) == 2


def test_an_entry_is_never_mixed_with_other_text(tmp_path: Path) -> None:
    """It has an author and a day of its own."""
    sandbox = Sandbox(tmp_path)
    with sandbox.memory() as memory:
        memory.write("A patent costs ten.", file="law.md")
        memory.write("A patent lasts long.", file="law.md")

        hits = ask(memory, "patent").hits

    assert len(hits) == 2
    assert len({hit.id for hit in hits}) == 2


def test_whoever_wants_each_chunk_gets_it(tmp_path: Path) -> None:
    """Programs compare chunks, and fill a budget with them."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", FEES)
    with sandbox.memory() as memory:
        each = memory.search(Query(text="patent", keeps_repetitions=True)).hits

    assert len(each) == 2
