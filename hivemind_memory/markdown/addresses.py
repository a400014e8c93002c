"""Takes addresses out of the text that is searched, and finds items that only link.

The words of an address say what another page is called, and those of a link in a list
that there is such a page. Fences are code and stay as they are.
"""

from __future__ import annotations

import re
from functools import cache

_ADDRESS_MARK = "\ue500"
"""Stands before a word of an address: it is another word than that of a text."""

_FENCE = ("```", "~~~")


def may_hold_addresses(body: str) -> bool:
    """Whether it is worth looking for addresses; most chunks have none."""
    return "](" in body or "://" in body or "www." in body


def without_addresses(body: str) -> tuple[str, str]:
    """Return a body without its addresses, and the terms of those, space-separated.

    >>> text, terms = without_addresses("See [how](a/b.md), https://example.org/x.")
    >>> text, terms.replace(_ADDRESS_MARK, "@")
    ('See [how], .', '@a @b @md @https @example @org @x')
    """
    if not may_hold_addresses(body):
        return body, ""
    found: list[str] = []

    def cut(match: re.Match[str]) -> str:
        text = match.group("text")
        if text is None:
            found.append(match.group())
            return ""
        found.append(match.group()[len(text) + 3 :])
        return f"[{text}]"

    kept = []
    fence = ""
    for line in body.split("\n"):
        begin = line.lstrip()[:3]
        is_code = bool(fence) or begin in _FENCE
        if begin in _FENCE and (not fence or begin == fence):
            fence = "" if fence else begin
        kept.append(
            line
            if is_code or not may_hold_addresses(line)
            else _pattern().sub(cut, line)
        )
    if not found:
        return body, ""
    terms = address_terms(" ".join(found))
    return "\n".join(kept), " ".join(terms)


def address_terms(text: str) -> list[str]:
    """Return the words of addresses as terms."""
    from hivemind_memory.model.terms import words_of

    return [in_address(word.lower()) for word in words_of(text)]


def in_address(word: str) -> str:
    """Return the term for *word* as a part of an address."""
    return _ADDRESS_MARK + word


def looks_like_address(query: str) -> bool:
    """Whether a query asks for an address, and its words for parts of one.

    >>> looks_like_address("example.org/a"), looks_like_address("and/or what?")
    (True, False)
    """
    return "://" in query or "www." in query or bool(_asked().search(query))


def is_only_links(subchunk: str) -> bool:
    """Return whether a list item, its addresses cut, is links and nothing else."""
    return "[" in subchunk and bool(_links().fullmatch(subchunk))


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds a badge, the end of a link, or an address by itself."""
    place = r"(?:<[^<>\n]*+>|[^()\s./#]*+[./#][^()\s]*+)(?:[ \t]++\"[^\"\n]*+\")?"
    return re.compile(
        rf"\[!\[[^\]\[\n]*+\]\({place}\)\]\({place}\)"
        rf"|\[(?P<text>[^\]\[\n]*+)\]\({place}\)"
        r"|<?(?:https?://|ftp://|www\.)[^\s<>()\[\]\"'`]*[^\s<>()\[\]\"'`.,;:!?]>?"
    )


@cache
def _asked() -> re.Pattern[str]:
    """Return what finds a host with a path in a query."""
    return re.compile(r"[\w-]\.[A-Za-z]{2,}+/\S")


@cache
def _links() -> re.Pattern[str]:
    """Return what matches a list item that holds links, and nothing besides."""
    link, between = r"\[[^\]\[\n]{2,}+\]", r"[\s,;.|·]*+"
    return re.compile(
        rf"\s*+(?:[-*+]|[0-9]{{1,9}}[.)])\s++{link}(?:{between}(?<=\s){link})*+{between}"
    )
