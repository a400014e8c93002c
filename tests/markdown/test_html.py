"""Markdown as HTML that is safe in a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.markdown.html import to_html
from tests.support.hostile_texts import XSS_TEXTS
from tests.support.tiers import examples

ALLOWED = {
    *("p", "em", "strong", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote"),
    *("h3", "h4", "h5", "h6", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"),
}
PIECES = st.sampled_from(
    [
        *(
            "<script>",
            "[a](",
            "javascript:",
            "![x](",
            "https://a.example",
            ")",
            "`",
            "*",
        ),
        *(
            "\n\n",
            "> ",
            "# ",
            "- ",
            "<!--",
            "-->",
            "&#106;",
            '"',
            "'",
            "onclick=",
            "<svg ",
        ),
    ]
)


def check(html: str) -> None:
    """Fail unless HTML has allowed elements and links only."""
    for tag, attributes in re.findall(r"<\s*/?\s*([a-zA-Z!][\w-]*)([^>]*)>", html):
        assert tag in ALLOWED, html
        names = set(re.findall(r'([\w-]+)="[^"]*"', attributes))
        assert names <= {"href", "rel", "title", "class", "start"}, html
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert address.lower().startswith(("http://", "https://", "mailto:")), html


@pytest.mark.parametrize("text", XSS_TEXTS)
def test_a_hostile_text_is_text(text: str) -> None:
    """Whatever is HTML in it."""
    check(to_html(text))


@pytest.mark.parametrize("text", ["[a]()", "[a](<>)", "[a]\n\n[a]: <>", "[a](<> 't')"])
def test_a_link_that_leads_nowhere_has_no_address(text: str) -> None:
    """The library does not ask whether an empty address is safe."""
    check(to_html(text))
    assert "href" not in to_html(text)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PIECES | st.text(max_size=3)).map("".join))
def test_any_text_is_safe(text: str) -> None:
    """Made of the pieces that attacks are made of."""
    check(to_html(text))


def test_an_image_is_a_link_and_a_heading_is_lower() -> None:
    """A page loads nothing from elsewhere, and has its own headings."""
    assert to_html("# A\n\n![chart](https://a.example/i.png)") == (
        '<h3>A</h3>\n<p><a href="https://a.example/i.png"'
        ' rel="noopener noreferrer nofollow">chart</a></p>\n'
    )
