"""Markdown as HTML that is safe in a page."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.markdown.html import to_html
from tests.support.hostile_texts import XSS_TEXTS
from tests.support.tiers import examples

ALLOWED = {
    *("p", "em", "strong", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote"),
    *("h3", "h4", "h5", "h6", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"),
    "span",
}
OURS = ("id", "role", "aria-label")
LEADS_TO = ("http://", "https://", "mailto:", "#h-")
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
            "- [x] ",
            "](#a)",
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
        assert names <= {*("href", "rel", "title", "class", "start"), *OURS}, html
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert address.lower().startswith(LEADS_TO), html
        for name in re.findall(r'id="([^"]*)"', attributes):
            assert name == "at" or name.startswith("h-"), html


@pytest.mark.parametrize("text", XSS_TEXTS)
def test_a_hostile_text_is_text(text: str) -> None:
    """Whatever is HTML in it."""
    check(to_html(text))
    check(to_html(f"# {text}\n\n[a](#{text})", has_ids=True, line=1))


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
    check(to_html(text, has_ids=True, line=2))


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[a](#who-can-make-it)\n\n# Who can `make` it?", "#h-who-can-make-it"),
        ("[a](#a-1)\n\n# A\n\n## A", "#h-a-1"),
        ("[a](#Über-uns)\n\n# Über uns", "#h-%C3%BCber-uns"),
        ("[a](#none)\n\n# A", ""),
    ],
)
def test_a_link_leads_to_a_heading_of_its_text(text: str, link: str) -> None:
    """Tables of contents were brackets; where no heading has an id, it is text."""
    html = to_html(text, has_ids=True)
    assert re.findall(r'<a(?: href="([^"]*)")?>a</a>', html) == [link]
    if link:
        assert f'id="{unquote(link[1:])}"' in html
    assert re.findall(r"<a[^>]*>a</a>", to_html(text)) == ["<a>a</a>"]


def test_the_comment_line_of_an_entry_is_not_shown() -> None:
    """It was text at the head of each entry; in code it is an example."""
    line = f"<!-- hm id=01K{'E' * 23} source=tool at=2026-11-21T14:03:11+01:00 -->"
    assert to_html(f"{line}\nOne.\n{line}\nTwo.\n") == "<p>One.</p>\n<p>Two.</p>\n"
    assert "hm id=" in to_html(f"```\n{line}\n```\n")
    assert "hm id=" in to_html(f"{line} and more\n")


def test_a_task_has_a_sign() -> None:
    """Its brackets were text; elsewhere they still are."""
    html = to_html("- [ ] wash\n- [X] *cook*\n- [y] z\n\n[ ] a\n")
    assert re.findall(r'aria-label="([^"]*)">(.)</span> ', html) == [
        ("to do", "\u2610"),
        ("done", "\u2611"),
    ]
    assert "<li>[y] z</li>" in html
    assert "<p>[ ] a</p>" in html


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (1, '<span id="at"></span><h3'),
        (4, '<p id="at">b'),
        (6, '<li id="at">d'),
        (99, '<li id="at">d'),
    ],
)
def test_the_block_of_a_line_has_an_id(line: int, place: str) -> None:
    """So that a reader comes to it; a heading keeps its own."""
    html = to_html("# A\n\nb\nb\n- c\n- d\n", line=line)
    assert place in html
    assert html.count('id="at"') == 1


def test_an_image_is_a_link_and_a_heading_is_lower() -> None:
    """A page loads nothing from elsewhere, and has its own headings."""
    assert to_html("# A\n\n![chart](https://a.example/i.png)") == (
        '<h3>A</h3>\n<p><a href="https://a.example/i.png"'
        ' rel="noopener noreferrer nofollow">chart</a></p>\n'
    )


@pytest.mark.parametrize(
    "sign", ["[", "[[a", "*a_", "[a](", "![a](", "~~a", "**a", "<", "&", "[aaaaa"]
)
def test_a_line_of_signs_is_shown_as_it_was_typed(sign: str) -> None:
    """60 kB of them took up to two seconds, in which the server did nothing else."""
    line = sign * (60_000 // len(sign))
    html = to_html(f"{line}\n\n**Bold**, [a link](https://a.example).")
    assert "shown as it was typed" in html
    assert escape(line) in html
    assert "<strong>Bold</strong>" in html
    assert 'href="https://a.example"' in html


def test_a_long_text_of_usual_markup_is_rendered() -> None:
    """Its paragraphs have few signs each, or there are few of them with many."""
    prose = "We **deploy** on [Tuesdays](https://a.example), and *never* on Fridays. "
    text = f"{prose * 10}\n\n" * 100 + "- `make`\n" * 400
    assert "as it was typed" not in to_html(text)
