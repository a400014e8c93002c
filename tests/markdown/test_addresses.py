"""Addresses are no text: what is searched of a chunk that has some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown.addresses import (
    address_terms,
    is_only_links,
    looks_like_address,
    without_addresses,
)


@pytest.mark.parametrize(
    ("body", "text", "addresses"),
    [
        ("See [how](a/b.md).", "See [how].", "a b md"),
        ('[how](<a b.md> "Title x")', "[how]", "a b md Title x"),
        ("at https://example.org/x, or", "at , or", "https example org x"),
        ("<https://example.org>", "", "https example org"),
        (
            "[![ci](https://ci.example.org/a.svg)](https://ci.example.org)\ntext",
            "\ntext",
            "ci https ci example org a svg https ci example org",
        ),
        ("![a map](map.png)", "![a map]", "map png"),
        ("call handlers[name](request)", "call handlers[name](request)", ""),
        (
            "```\ncurl https://a.example/b\n```",
            "```\ncurl https://a.example/b\n```",
            "",
        ),
        ("www.example.org is down", " is down", "www example org"),
        ("no address: a/b, c://", "no address: a/b, c://", ""),
    ],
)
def test_addresses_are_taken_out(body: str, text: str, addresses: str) -> None:
    """What a link is called stays; code stays whole."""
    found, terms = without_addresses(body)

    assert found == text
    assert terms.split() == address_terms(addresses)


@given(st.text(st.sampled_from('[]()!<>`~\n "ab./#:w'), max_size=200))
def test_any_text_keeps_its_lines(body: str) -> None:
    """However broken its links are."""
    text, _ = without_addresses(body)

    assert text.count("\n") == body.count("\n")


@pytest.mark.parametrize(
    ("item", "is_only"),
    [
        ("- [Caching]", True),
        ("1. [Caching], [Purging]", True),
        ("- [Caching] explains it", False),
        ("- [x] done", False),
        ("- [ ] to do", False),
        ("[Caching]", False),
    ],
)
def test_an_item_of_links_tells_nothing_else(item: str, *, is_only: bool) -> None:
    """A task is no link, and a sentence is text."""
    assert is_only_links(item) == is_only


@pytest.mark.parametrize(
    ("query", "is_address"),
    [
        ("https://example.org", True),
        ("example.org/docs", True),
        ("www.example.org", True),
        ("git/renaming-a-branch.md", False),
        ("and/or", False),
        ("e.g. this", False),
    ],
)
def test_a_query_may_look_like_an_address(query: str, *, is_address: bool) -> None:
    """A path of a note is none: its words are in the breadcrumbs."""
    assert looks_like_address(query) == is_address
