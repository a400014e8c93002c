"""Every key has a name that every system takes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.files.paths import path_problem
from hivemind_memory.notes.slug import (
    MAX_SLUG_BYTES,
    hash_of,
    is_conflict_copy,
    name_with_id,
    names_of,
    rank_of_name,
    slug_of,
)

SLUGS = {
    "deploy-lesson": "deploy-lesson",
    "Deploy: never on Fridays!": "deploy-never-on-fridays",
    "learn:sqlite-locks:1a2b3c4d": "learn-sqlite-locks-1a2b3c4d",
    "../../etc/passwd": "etc-passwd",
    ".hidden": "hidden",
    "a\0b\nc\\d~e%f": "a-b-c-d-e-f",
    "ＡＢＣ１２３": "abc123",
    "数据库 备份": "数据库-备份",
    "Сеть/Дом": "сеть-дом",
    "हिन्दी टिप्पणियाँ": "हिन्दी-टिप्पणियाँ",
    "con": "memory-con",
    "COM1.txt": "com1-txt",
    "Global": "memory-global",
    "recovered": "memory-recovered",
    "2026-11-21": "memory-2026-11-21",
    "2026-11-21 release": "2026-11-21-release",
    "🙂": f"memory-{hash_of('🙂')[:8]}",
    "...": f"memory-{hash_of('...')[:8]}",
}


@pytest.mark.parametrize("key", SLUGS)
def test_a_slug_is_readable_in_any_script(key: str) -> None:
    """Letters and digits stay, all else is a dash; devices and our notes are left."""
    assert slug_of(key) == SLUGS[key]


@given(st.text(st.characters(), max_size=200))
def test_every_name_is_legal_and_short(key: str) -> None:
    """Whatever the key holds, lone surrogates too."""
    for name in (*names_of(key), name_with_id(key, key), name_with_id(key, "0" * 26)):
        assert path_problem(f"superseded/{name}") == ""
    slug = slug_of(key)
    assert len(slug.encode()) <= MAX_SLUG_BYTES + len("memory-")
    assert slug == slug.lower()
    assert unicodedata.is_normalized("NFC", slug)


@given(st.text(max_size=60))
def test_a_slug_is_its_own_slug(key: str) -> None:
    """So a key may be given as the name that a person sees."""
    once = slug_of(key)

    assert slug_of(once) == once


def test_keys_of_one_slug_have_names_of_their_own_in_the_end() -> None:
    """The first is taken by whoever came first."""
    one, other = list(names_of("a b")), list(names_of("a-b"))

    assert one[0] == other[0] == "a-b.md"
    assert one[1] == other[1] == "a-b-2.md"
    assert set(one[9:]).isdisjoint(other[9:])


@pytest.mark.parametrize(
    "copy",
    [
        "deploy-day-2.md",
        "deploy-day (conflicted copy).md",
        "deploy-day.sync-conflict-20261121-093012-ABCDEFG.md",
        "anything.md",
    ],
)
def test_the_first_name_of_a_key_comes_before_all_others(copy: str) -> None:
    """A copy has another, and of two the one that no tool made comes first."""
    key, own = "Deploy day", "projects/shop/deploy-day.md"

    assert rank_of_name(own, key) == 0 < rank_of_name(copy, key)
    assert rank_of_name("renamed.md", key) < rank_of_name("a (conflict).md", key)


@pytest.mark.parametrize(
    "name", ["conflict-of-laws.md", "merge-conflicts.md", "resolve-conflict.md"]
)
def test_a_note_about_conflicts_is_no_conflict_copy(name: str) -> None:
    """A person writes about them, too."""
    assert not is_conflict_copy(name)


def test_an_id_that_a_person_made_up_leads_nowhere_else() -> None:
    """It becomes part of a file's name."""
    ulid = "01ARYZ6S410000000000000000"

    assert name_with_id("k", ulid) == f"k--{ulid}.md"
    assert name_with_id("k", "../../x") == "k--x.md"
    assert name_with_id("k", "Über/1") == "k--über-1.md"


def test_a_long_slug_is_not_cut_within_a_letter_and_its_marks() -> None:
    """A cut mark would hang on the dash before it."""
    cut = slug_of("कि" * 40)

    assert len(cut.encode()) <= MAX_SLUG_BYTES
    assert cut == "कि" * (len(cut) // 2)
