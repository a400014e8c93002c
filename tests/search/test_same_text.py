"""A text that stands in several places is shown once, with the others named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.access.rules import Caller
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox
from tests.support.tiers import examples

TEXT = "The session ends after a day.\n"


def test_a_text_in_two_files_is_shown_once(tmp_path: Path) -> None:
    """It is the nearest one."""
    sandbox = Sandbox(tmp_path / "home")
    for path in ("old.md", "projects/shop/a.md", "imported/old.md"):
        sandbox.save(path, TEXT)
    sandbox.save("other.md", "A session of the choir.\n")
    with sandbox.memory() as memory:
        seen = memory.as_caller(Caller(project="projects/shop"))
        answer = seen.search(Query(text="session"))

    assert [hit.path for hit in answer.hits] == ["projects/shop/a.md", "other.md"]
    assert set(answer.hits[0].also_in) == {"imported/old.md:1", "old.md:1"}
    assert answer.hits[1].also_in == ()
    assert (answer.report.cut.same_text, answer.report.cut.over_limit) == (2, 0)


def test_what_means_something_else_is_no_repetition(tmp_path: Path) -> None:
    """Another type, another trust, or a hidden note."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("a.md", TEXT)
    sandbox.save("b.md", f"---\ntype: decision\n---\n{TEXT}")
    sandbox.save("c.md", f"---\nsource: external\n---\n{TEXT}")
    sandbox.save("projects/site/d.md", TEXT)
    with sandbox.memory() as memory:
        seen = memory.as_caller(Caller(project="projects/shop"))
        hits = seen.search(Query(text="session")).hits

    assert sorted(hit.path for hit in hits) == ["a.md", "b.md", "c.md"]
    assert not any(hit.also_in for hit in hits)


def test_what_the_caller_may_not_read_is_neither_shown_nor_counted(
    tmp_path: Path,
) -> None:
    """Even where it is newer, and would come first."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("a.md", f"---\ndate: 2026-01-01\n---\n{TEXT}")
    for scope in ("workspaces/lab", "teams/red", "projects/site"):
        sandbox.save(f"{scope}/b.md", f"---\ndate: 2026-02-01\n---\n{TEXT}")
    with sandbox.memory() as memory:
        seen = memory.as_caller(Caller(project="projects/shop"))
        answer = seen.search(Query(text="session"))

    assert [(hit.path, hit.also_in) for hit in answer.hits] == [("a.md", ())]
    assert answer.report.cut.same_text == 0


@pytest.mark.parametrize("status", ["superseded", "forgotten", "expired"])
def test_a_copy_that_is_not_in_force_is_not_named(tmp_path: Path, status: str) -> None:
    """Whatever its status, and where it was replaced by an edge."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("a.md", f"---\ntype: decision\n---\n{TEXT}")
    sandbox.save("b.md", f"---\ntype: decision\nstatus: {status}\n---\n{TEXT}")
    sandbox.save("c.md", f"---\ntype: decision\nid: OLD\n---\n{TEXT}")
    sandbox.save("d.md", "---\ntype: decision\nsupersedes: OLD\n---\nNever ends.\n")
    with sandbox.memory() as memory:
        hits = memory.search(Query(text="session")).hits

    found = {hit.path: hit for hit in hits}
    assert not any(hit.also_in for hit in hits)
    assert found["a.md"].superseded_by == ""
    assert found["c.md"].superseded_by == "d.md"


def test_a_text_under_another_heading_is_no_repetition(tmp_path: Path) -> None:
    """The same port of another database is another fact."""
    sandbox = Sandbox(tmp_path / "home")
    long = "\n\n".join(f"{word} " * 300 for word in ("one", "two", "three"))
    for name in ("Staging", "Production"):
        sandbox.save(f"{name}.md", f"# {name}\n\n{long}\n\n## Port\n\n{TEXT}")
        sandbox.save(f"copy/{name}.md", f"# {name}\n\n{long}\n\n## Port\n\n{TEXT}")
    with sandbox.memory() as memory:
        hits = memory.search(Query(text="session")).hits

    found = {
        hit.headings[0]: {place.partition(":")[0] for place in (hit.path, *hit.also_in)}
        for hit in hits
    }
    assert found == {
        name: {f"{name}.md", f"copy/{name}.md"} for name in ("Staging", "Production")
    }


def test_other_texts_take_the_places_of_copies(tmp_path: Path) -> None:
    """Also those that were not among the first candidates, and those of a list."""
    sandbox = Sandbox(tmp_path / "home")
    for number in range(60):
        sandbox.save(f"projects/a/n{number}.md", f"---\ndate: 2026-02-01\n---\n{TEXT}")
    for number in range(4):
        other = f"{number} words that are about the session of a choir, and about more."
        text = f"---\ndate: 2026-01-01\n---\n{other}\n"
        sandbox.save(f"projects/a/other{number}.md", text)
    with sandbox.memory() as memory:
        for text in ("session", ""):
            wanted = SearchFilter(scope="projects/a")
            query = Query(text=text, max_results=5, search_filter=wanted, min_score=0)
            answer = memory.search(query)

            assert len({hit.snippet for hit in answer.hits}) == 5
            assert len(answer.hits[0].also_in) == 59
            assert answer.report.cut.over_limit == 0


def test_a_newer_copy_from_behind_names_all_others(tmp_path: Path) -> None:
    """Those that were named by the one that it takes the place of, too."""
    sandbox = Sandbox(tmp_path / "home")
    for day in range(1, 29):
        text = f"---\ndate: 2026-02-{day:02}\n---\n{TEXT}"
        sandbox.save(f"n{day * 11 % 29:02}.md", text)
    with sandbox.memory() as memory:
        answer = memory.search(Query(text="session", max_results=2))

    [hit] = answer.hits
    assert len({f"{hit.path}:4", *hit.also_in}) == 28
    assert answer.report.cut.same_text == 27


def test_a_query_may_keep_them(tmp_path: Path) -> None:
    """For a section, which may quote only some of the places."""
    sandbox = Sandbox(tmp_path / "home")
    sandbox.save("a.md", TEXT)
    sandbox.save("b.md", TEXT)
    with sandbox.memory() as memory:
        hits = memory.search(Query(text="session", keeps_repetitions=True)).hits

    assert [(hit.path, hit.also_in) for hit in hits] == [("a.md", ()), ("b.md", ())]


@given(texts=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=30))
@settings(max_examples=examples(15), deadline=None)
def test_no_text_is_lost(tmp_path_factory: object, texts: list[str]) -> None:
    """Each note is a hit or named by one that says the same; the figures add up."""
    sandbox = Sandbox(tmp_path_factory.mktemp("same") / "home")
    notes = {f"n{n}.md": f"The session of {text}.\n" for n, text in enumerate(texts)}
    for path, text in notes.items():
        sandbox.save(path, text)
    with sandbox.memory() as memory:
        answer = memory.search(Query(text="session", max_results=40, min_score=0))

    said = {}
    for hit in answer.hits:
        for place in (f"{hit.path}:", *hit.also_in):
            said[place.partition(":")[0]] = f"{hit.snippet}\n"
    assert said == notes
    assert len({hit.snippet for hit in answer.hits}) == len(answer.hits)
    assert len(answer.hits) + answer.report.cut.same_text == len(notes)
