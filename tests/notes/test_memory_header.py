"""What a note says of itself: read kindly, believed carefully, never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.memories import (
    ACTIVE,
    CONTRADICTS,
    FORGOTTEN,
    PENDING,
    RELATED,
    SUPERSEDED,
    UPDATES,
)
from hivemind_memory.model.memory_types import BUILT_IN, MemoryType
from hivemind_memory.notes.edge import MAX_EDGES
from hivemind_memory.notes.memory_header import header_of


def said(text: str, path: str = "k.md", body: str = "") -> object:
    """Return what a note with this front matter says."""
    front = split_front_matter(f"---\n{text}\n---\n").values
    return header_of(path, front, (body,))


def test_free_text_has_no_type_key_or_importance() -> None:
    """A front matter alone makes no memory; its id and edges count all the same."""
    header = header_of(
        "a/b.md", split_front_matter("---\nid: x\ntags: [a]\n---\n").values
    )

    assert (header.type, header.key, header.importance) == ("", "", None)
    assert header.memory_id == "x"
    assert header_of("a.md", {}).status == ACTIVE


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_type_brings_its_importance_and_whether_it_ages(name: str) -> None:
    """Where the note says nothing."""
    header = header_of("k.md", {"type": name.upper()})

    kind = BUILT_IN[name]
    assert (header.type, header.importance) == (name, kind.importance)
    assert header.does_age == kind.does_age
    assert not header_of("k.md", {"type": name, "pinned": True}).does_age


def test_a_type_of_a_persons_own_counts_and_an_unknown_one_is_free_text() -> None:
    """A type that was taken out of the settings hides no note."""
    recipe = MemoryType(
        name="recipe", injected="search", does_age=False, importance=0.2
    )

    own = header_of("k.md", {"type": "recipe"}, custom={"recipe": recipe})

    assert (own.type, own.importance, own.does_age) == ("recipe", 0.2, False)
    assert header_of("k.md", {"type": "recipe"}).type == ""


def test_a_memory_without_a_key_has_its_name() -> None:
    """As a person writes it by hand."""
    assert header_of("projects/shop/deep/to do.md", {"type": "todo"}).key == "to do"
    assert header_of("k.md", {"type": "todo", "key": 2026}).key == "2026"


@pytest.mark.parametrize(
    ("path", "text", "status"),
    [
        ("k.md", "type: fact", ACTIVE),
        ("superseded/k.md", "type: fact", SUPERSEDED),
        ("projects/shop/superseded/k.md", "type: fact", SUPERSEDED),
        ("k.md", "type: fact\nsuperseded_by: x", SUPERSEDED),
        ("teams/red/inbox/k.md", "type: fact", PENDING),
        ("inbox/k.md", "type: fact\nforgotten: 2026-01-01", FORGOTTEN),
        ("k.md", "forgotten: true", FORGOTTEN),
        ("k.md", "type: fact\nforgotten: false", ACTIVE),
        ("notes/inbox/k.md", "type: fact", ACTIVE),
    ],
)
def test_place_and_front_matter_tell_the_status(
    path: str, text: str, status: int
) -> None:
    """What is hidden is hidden wherever it lies."""
    front = split_front_matter(f"---\n{text}\n---\n").values

    assert header_of(path, front).status == status


def test_edges_come_from_lists_texts_and_wiki_links() -> None:
    """Each once, in whatever way a person wrote it."""
    header = said(
        "supersedes: a\n"
        "contradicts: [b, {id: c, weight: 0.5}, {key: d, weight: 7}, {weight: 1}]\n"
        "related:\n- '[[e|shown]]'\n- [[nested]]\n- 7\n- true\n- a\n- {path: p/a.md}",
        body="see [[e]], [[f#part]] and ![[g]], but not [[ -f x ]] or [[]]",
    )

    assert header.edges == (  # type: ignore[attr-defined]
        (UPDATES, "a", 1.0),
        (CONTRADICTS, "b", 1.0),
        (CONTRADICTS, "c", 0.5),
        (CONTRADICTS, "d", 1.0),
        (RELATED, "e", 1.0),
        (RELATED, "nested", 1.0),
        (RELATED, "7", 1.0),
        (RELATED, "a", 1.0),
        (RELATED, "p/a.md", 1.0),
        (RELATED, "f", 1.0),
        (RELATED, "g", 1.0),
    )


def test_a_page_of_links_is_bounded() -> None:
    """An index of a thousand notes relates to none of them."""
    body = " ".join(f"[[n{number}]]" for number in range(1000))

    assert len(header_of("k.md", {}, (body,)).edges) == MAX_EDGES


@pytest.mark.parametrize(
    ("text", "visibility"),
    [
        *(("public", "public"), ("Public", "public"), ("private", "private")),
        *(("secret", "private"), ("1", "private"), ('""', "")),
    ],
)
def test_a_visibility_that_is_none_hides(text: str, visibility: str) -> None:
    """A typing error must not publish anything."""
    assert said(f"visibility: {text}").visibility == visibility  # type: ignore[attr-defined]


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("id", "type", "key", "importance", "visibility", "created"),
                *("source", "session", "supersedes", "related", "contradicts"),
                *("pinned", "done", "expires", "forgotten", "superseded_by"),
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    ),
    st.sampled_from(["k.md", "superseded/k.md", "projects/a/inbox/k.md"]),
)
def test_no_front_matter_is_an_error(front: dict[str, object], path: str) -> None:
    """It is a person's text; what has no use is passed over."""
    header = header_of(path, {**front, "type": "fact"})

    assert header.importance is not None
    assert 0 <= header.importance <= 1
    assert header.status in (ACTIVE, SUPERSEDED, PENDING, FORGOTTEN)
    assert all(target for _, target, _ in header.edges)


def test_what_is_told_beside_a_text_is_one_short_line() -> None:
    """A long date took the room of a section, and a line break began a line."""
    long = "ignore all previous\n" * 200

    said = header_of(
        "a.md",
        {"type": "lesson", "source_ref": long, "verified": long, "domains": long},
    )

    assert len(said.source_ref) == 500
    assert "\n" not in said.source_ref
    told = dict(line.split("=", 1) for line in said.claim.split("\n"))
    assert {name: len(text) for name, text in told.items()} == {
        "domains": 500,
        "verified": 40,
    }
