"""Renders Markdown as HTML that is safe in a page: no HTML of its own, no images.

A link leads to http, https or mail, opens without telling where it was, and shows where
it leads. An image becomes a link: a page loads nothing from elsewhere.
"""

from __future__ import annotations

from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_SCHEMES = ("http://", "https://", "mailto:")


def to_html(text: str) -> str:
    """Return Markdown as HTML.

    Args:
        text: Markdown; whatever is HTML in it is shown as text.

    >>> to_html("*a* <b>").strip()
    '<p><em>a</em> &lt;b&gt;</p>'
    """
    rendered: str = _parser().render(text)
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
