"""Text crafted to be slow takes no longer than other text of its length.

Each of these took minutes, or forever: a pattern tried every way to split it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from hivemind_memory.cli.wrap import break_offsets
from hivemind_memory.connect.plans import mask_secrets
from hivemind_memory.curation.renamed_references import rename_references
from hivemind_memory.curation.type_hints import suggest_type
from hivemind_memory.markdown.addresses import (
    is_only_links,
    looks_like_address,
    without_addresses,
)
from hivemind_memory.markdown.entry import entry_ids
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.mcp_server.frames import readable_id
from hivemind_memory.model.keys import near_key
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.terms import extra_terms
from hivemind_memory.redaction.detection import find_secrets

LONG = 200_000
SECONDS = 10
"""Of computing; each takes less than one."""


@contextmanager
def bounded() -> Iterator[None]:
    """Stop what computes for too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        message = f"it computes for more than {SECONDS} s"
        raise AssertionError(message)

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def filled(begin: str, part: str, end: str = "") -> str:
    return begin + part * (LONG // len(part)) + end


def read_note(text: str) -> object:
    return parse_note(NotePath("note.md"), text.encode(), limit_chars=800)


WAYS: list[tuple[Callable[[str], object], str]] = [
    (looks_like_address, filled("", "a")),
    (looks_like_address, filled("", "ab1_")),
    (is_only_links, filled("- ", "[ab]  ", "\x01")),
    (is_only_links, filled("- ", "[ab], ", "\x01")),
    (without_addresses, filled("[](", ".", " ")),
    (without_addresses, filled("", "[![", "](")),
    (without_addresses, filled("", "[](<")),
    (without_addresses, filled("[](a/b", "\t", '"')),
    (without_addresses, filled("https://", ".", " ")),
    (read_note, filled("[a]: ", ".", " x\n")),
    (read_note, filled("", "[a]: .", "\n")),
    (find_secrets, filled("identified with a by password", "\t")),
    (find_secrets, filled("", "----END PRIVATE KEY BLOCK----") * 10),
    (extra_terms, filled("火曜日 ", "0")),
    (extra_terms, filled("火曜日 ", "0a_")),
    (suggest_type, filled("", "\n")),
    (suggest_type, filled("a:", " ")),
    (near_key, filled("a", ":", "!")),
    (lambda text: break_offsets(text, 80), filled("", " ")),
    (mask_secrets, filled("", "-")),
    (mask_secrets, filled("", "a.key")),
    (lambda text: entry_ids(text.encode()), filled("", "<!-- hm 0")),
    (lambda text: entry_ids(text.encode()), filled("<!-- hm ", "a=b ")),
    (lambda text: readable_id(text.encode()), filled('{"a', r"\"")),
    (lambda text: readable_id(text.encode()), filled('{"a', r"\"", "\\")),
    (lambda text: rename_references(text.encode(), {}), filled("![[", "\t")),
    (lambda text: rename_references(text.encode(), {}), filled("![[a", " ")),
]


@pytest.mark.parametrize("number", range(len(WAYS)))
def test_a_text_that_splits_in_many_ways_takes_no_longer_than_another(
    number: int,
) -> None:
    read, text = WAYS[number]

    with bounded():
        read(text)


def test_patterns_without_second_thoughts_find_what_they_found() -> None:
    text = '[how](a/b.md) ![](<a b/c>) [x](y.md "t") (see www.a.org/b.)'
    kept, terms = without_addresses(text)
    assert kept == "[how] ![] [x] (see .)"
    assert len(terms.split()) == 13
    assert [
        is_only_links(item) for item in ("- [ab] [cd], [ef].", "- [ab] c [cd]")
    ] == [
        True,
        False,
    ]
    assert not is_only_links("- [ab][cd]")
    assert rename_references(b"![[ a b  #c]] [[a b|x]]", {"a b": "n"}) == (
        b"![[ n  #c]] [[n|x]]"
    )
    assert mask_secrets("{'my-API_KEY' : 'x', \"a\": \"b\"}") == (
        '{\'my-API_KEY\' : "…", "a": "b"}'
    )
    assert readable_id(b'{"x": "a\\"}", "id": 7, "y') == 7
