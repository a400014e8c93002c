"""What was found out: one key for one claim, replaced when it is found out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.curation.history import history
from hivemind_memory.curation.learn import claim_key, learn
from hivemind_memory.errors import UsageError
from hivemind_memory.model.curation import NewMemory, SaveResult
from tests.support.typed_memory import Shelf

CLAIM = "WAL allows one writer at a time."


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A home without a memory."""
    return Shelf(tmp_path / "home")


def found(shelf: Shelf, claim: str = CLAIM, **tag: object) -> SaveResult:
    """Learn a claim."""
    given = {"topic": "SQLite locks", "confidence": "medium", **tag}
    return learn(shelf.context(), NewMemory(key="", content=claim), **given)  # type: ignore[arg-type]


def test_a_claim_has_a_key_of_its_topic_and_words(shelf: Shelf) -> None:
    """And carries how sure it is, in the front matter."""
    saved = found(shelf, domains=("sqlite.org", "Fly.io", "sqlite.org"))

    assert saved.key == claim_key("sqlite locks", CLAIM)
    assert saved.key.startswith("learn:sqlite-locks:")
    assert len(saved.key.rpartition(":")[2]) == 12
    values = shelf.values(saved.path)
    assert values["confidence"] == "medium"
    assert (values["corroborated"], values["domains"]) == (2, "sqlite.org, fly.io")
    assert (values["verified"], values["type"]) == ("2026-11-21", "reference")


def test_the_same_claim_again_replaces_without_a_reason(shelf: Shelf) -> None:
    """Other letters and signs make no other claim."""
    first = found(shelf, domains=("a.org",))

    second = found(
        shelf,
        "wal allows ONE writer, at a time",
        confidence="high",
        domains=(),
        corroborated=3,
        verified="2026-12-24",
    )

    assert (second.superseded, second.key) == (first.id, first.key)
    values = shelf.values(second.path)
    assert values["reason"] == "verified again on 2026-12-24, confidence high"
    assert (values["corroborated"], values["type"]) == (3, "lesson")
    assert "domains" not in values
    assert len(history(shelf.context(), first.key).memories) == 2


def test_the_same_claim_with_the_same_tag_is_not_written(shelf: Shelf) -> None:
    """A loop that verifies all day leaves one memory."""
    found(shelf)

    assert not found(shelf).is_new
    assert len(shelf.files()) == 1


def test_a_type_that_is_named_wins_and_an_untrusted_claim_waits(shelf: Shelf) -> None:
    """As for every other memory."""
    wanted = NewMemory(key="", content=CLAIM, type="fact", source="external")

    saved = learn(shelf.context(), wanted, topic="t", confidence="high", corroborated=9)

    assert (saved.type, saved.status) == ("fact", "pending")


@pytest.mark.parametrize(
    ("domains", "sources"),
    [
        (("a.example.org", "b.example.org"), 1),
        (("example.org", "example.com"), 2),
        (("a.example.co.uk", "b.example.co.uk", "other.co.uk"), 2),
        (("EXAMPLE.org.", "www.example.org"), 1),
        (("10.0.0.1", "11.0.0.1"), 2),
        (("localhost",), 1),
        (("sqlite.org", "sqlite.org:443", "[::1]:80"), 2),
        (("t.co", "u.co"), 2),
    ],
)
def test_domains_of_one_root_are_one_source(
    shelf: Shelf, domains: tuple[str, ...], sources: int
) -> None:
    """Two pages of one owner confirm nothing of each other."""
    saved = found(shelf, domains=domains, confidence="high")

    assert shelf.values(saved.path)["corroborated"] == sources
    assert saved.type == ("lesson" if sources > 1 else "reference")


def test_fewer_sources_than_domains_are_refused(shelf: Shelf) -> None:
    """One of the two figures is wrong, and nobody can tell which."""
    said = "Corroborated is 1 but 2 domains are named"
    with pytest.raises(UsageError, match=said):
        found(shelf, domains=("a.org", "b.org"), corroborated=1)

    assert not shelf.files()
    found(shelf, domains=("a.org", "www.a.org"), corroborated=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("https://bob:pw1@docs.sqlite.org:443/wal?x", "its domain is docs.sqlite.org"),
        ("//sqlite.org/a", "its domain is sqlite.org"),
        ("two words", "'two words' is not a domain like sqlite.org"),
    ],
)
def test_a_domain_that_is_none_is_named(shelf: Shelf, given: str, said: str) -> None:
    """A claim has many domains; the refusal told none of them."""
    with pytest.raises(UsageError, match=said) as caught:
        found(shelf, domains=("a.org", given))

    assert "pw1" not in str(caught.value)
    assert not shelf.files()


@pytest.mark.parametrize(
    "tag",
    [
        {"topic": " "},
        {"topic": "\ud800"},
        {"confidence": "sure"},
        {"corroborated": -1},
        {"corroborated": 1.5},
        {"corroborated": True},
        {"domains": ("two words",)},
        {"domains": tuple(f"{number}.org" for number in range(51))},
        {"verified": "yesterday"},
        {"verified": "2026-11-21T10:00:00"},
    ],
)
def test_a_tag_that_is_none_is_refused(shelf: Shelf, tag: dict[str, object]) -> None:
    """In one sentence, and nothing is saved."""
    with pytest.raises(UsageError, match="Nothing was saved"):
        found(shelf, **tag)

    assert not shelf.files()
