"""Renders Markdown as HTML that is safe in a page: no HTML of its own, no images.

A link leads to http, https or mail, opens without telling where it was, and shows where
it leads. An image becomes a link: a page loads nothing from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_SCHEMES = ("http://", "https://", "mailto:")
_NAMED = re.compile(
    r"\[\[(?P<name>[^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?"
    r"(?:\|(?P<shown>[^\[\]\n]{1,300}))?\]\]"
)
NO_LINKS: Mapping[str, str] = {}


def to_html(text: str, links: Mapping[str, str] = NO_LINKS) -> str:
    """Return Markdown as HTML.

    Args:
        text: Markdown; whatever is HTML in it is shown as text.
        links: Name of a ``[[link]]`` -> where it leads; others stay text.

    >>> to_html("*a* <b>").strip()
    '<p><em>a</em> &lt;b&gt;</p>'
    """
    rendered: str = _parser().render(text, {"links": links})
    return rendered


@cache
def _parser() -> MarkdownIt:
    """Return the parser, made once."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(
        ["table", "strikethrough"]
    )
    # The library documents that this method is to be replaced.
    parser.validateLink = _is_safe  # type: ignore[method-assign,assignment]
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("image", _image)
    parser.inline.ruler.before("link", "named_link", _named_link)
    parser.add_render_rule("named_link", _named)
    for name in ("th_open", "td_open"):
        parser.add_render_rule(name, _cell)
    for name in ("heading_open", "heading_close"):
        parser.add_render_rule(name, _heading)
    return parser


def _is_safe(address: str) -> bool:
    """Whether a link may lead there."""
    return address.strip().lower().startswith(_SCHEMES)


def _link(
    self: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, _: EnvType
) -> str:
    """Render the beginning of a link; one that leads nowhere has no address."""
    if _is_safe(str(tokens[at].attrGet("href") or "")):
        tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    else:  # the library does not ask about an empty address
        tokens[at].attrs.clear()
    return self.renderToken(tokens, at, options, _)


def _named_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read a link between double brackets to something that is known."""
    found = _NAMED.match(state.src, state.pos, state.posMax)
    address = state.env["links"].get(found["name"].strip()) if found else None
    if not found or not address or state.linkLevel:
        return False
    if not silent:
        token = state.push("named_link", "", 0)
        token.content = (found["shown"] or found["name"]).strip()
        token.attrSet("href", address)
    state.pos = found.end()
    return True


def _named(
    _: RendererHTML, tokens: list[Token], at: int, __: OptionsDict, ___: EnvType
) -> str:
    """Render a link to the page of a memory."""
    address = escape(str(tokens[at].attrGet("href")))
    return f'<a href="{address}">{escape(tokens[at].content)}</a>'


def _image(
    _: RendererHTML, tokens: list[Token], at: int, __: OptionsDict, ___: EnvType
) -> str:
    """Render an image as a link to it."""
    token = tokens[at]
    source, name = str(token.attrGet("src") or ""), token.content or "image"
    if not _is_safe(source):
        return escape(name)
    rel = "noopener noreferrer nofollow"
    return f'<a href="{escape(source)}" rel="{rel}">{escape(name)}</a>'


def _cell(
    self: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, _: EnvType
) -> str:
    """Render a cell without its alignment: a page allows no inline style."""
    tokens[at].attrs.pop("style", None)
    return self.renderToken(tokens, at, options, _)


def _heading(
    self: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, _: EnvType
) -> str:
    """Render a heading two levels lower: the page has its own above."""
    token = tokens[at]
    token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return self.renderToken(tokens, at, options, _)
