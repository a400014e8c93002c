"""Renders Markdown as HTML that is safe in a page: no HTML of its own, no images.

A link leads to http, https or mail, opens without telling where it was, and shows where
it leads; or to a heading of the same text. An image becomes a link: a page loads
nothing from elsewhere. The comment line of an entry is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from itertools import pairwise
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from hivemind_memory.markdown.entry import parse_provenance

_SCHEMES = ("http://", "https://", "mailto:")
_NAMED = re.compile(
    r"\[\[(?P<name>[^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?"
    r"(?:\|(?P<shown>[^\[\]\n]{1,300}))?\]\]"
)
_TASK = re.compile(r"\[([ xX])\](?=\s)")
_NO_SLUG = re.compile(r"[^\w\- ]")
_MARKUP = re.compile(r"[!#$%&*+<=>@\[\\\]^_`{}~]")
"""What may begin or end markup: the time of reading it grows with their number."""

MAX_MARKUP = 2_000
"""So many of them are read in one paragraph, and in all dense ones of a text together.

What has more is shown as it was typed.
"""

_DENSE = 5
"""A paragraph is dense if more than every fifth of its characters is one of them."""

_AS_TYPED = "This is shown as it was typed: it has too many signs to be formatted."

_SIGNS = {" ": ("\u2610", "to do"), "x": ("\u2611", "done")}
"""What is between the brackets of a task -> its sign, and the word for it."""

_HEADING_ID = "h-"
"""Begins the id of each heading: no text may take the id of another element."""

PLACE = "at"
"""Id of the block in which the line is that a reader comes for."""

NO_LINKS: Mapping[str, str] = {}


def to_html(
    text: str,
    links: Mapping[str, str] = NO_LINKS,
    *,
    has_ids: bool = False,
    line: int = 0,
) -> str:
    """Return Markdown as HTML.

    Args:
        text: Markdown; whatever is HTML in it is shown as text.
        links: Name of a ``[[link]]`` -> where it leads; others stay text.
        has_ids: Whether headings have ids, so that links lead to them. Only one text of
            a page may have them.
        line: Its block has the id ``PLACE``; 0: none has.

    >>> to_html("*a* <b>").strip()
    '<p><em>a</em> &lt;b&gt;</p>'
    """
    env = {"links": links, "has_ids": has_ids, "line": line, "headings": {}}
    rendered: str = _parser().render(text, env)
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
    parser.block.ruler.before(
        "paragraph", "provenance", _provenance, {"alt": ["paragraph"]}
    )
    parser.core.ruler.at("inline", _inline)
    parser.add_render_rule("as_typed", _as_typed)
    parser.core.ruler.push("tasks", _tasks)
    parser.add_render_rule("task", _task)
    parser.core.ruler.push("ids", _ids)
    parser.add_render_rule("place", _place)
    for name in ("th_open", "td_open"):
        parser.add_render_rule(name, _cell)
    for name in ("heading_open", "heading_close"):
        parser.add_render_rule(name, _heading)
    return parser


def _is_safe(address: str) -> bool:
    """Whether a link may lead there; see ``_link`` for one to a heading."""
    return address.strip().lower().startswith((*_SCHEMES, "#"))


def _link(
    self: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Render the beginning of a link; one that leads nowhere has no address."""
    address = str(tokens[at].attrGet("href") or "").strip()
    heading = unquote(address[1:]).lower() if address.startswith("#") else ""
    if heading in env["headings"]:
        tokens[at].attrSet("href", f"#{_HEADING_ID}{quote(heading)}")
    elif address.lower().startswith(_SCHEMES):
        tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    else:  # the library does not ask about an empty address
        tokens[at].attrs.clear()
    return self.renderToken(tokens, at, options, env)


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
    if not source.lower().startswith(_SCHEMES):
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


def _provenance(state: StateBlock, start: int, _: int, silent: bool) -> bool:  # noqa: FBT001
    """Pass over the comment line of an entry."""
    line = state.src[state.bMarks[start] : state.eMarks[start]]
    if parse_provenance(line) is None:
        return False
    if not silent:
        state.line = start + 1
    return True


def _inline(state: StateCore) -> None:
    """Read the markup in paragraphs, items and cells, up to a bound.

    A line of nothing but brackets or stars took a second for 60 kB.
    """
    left = MAX_MARKUP
    for token in state.tokens:
        if token.type != "inline":
            continue
        count = len(_MARKUP.findall(token.content))
        is_dense = count * _DENSE > len(token.content)
        if count > (left if is_dense else MAX_MARKUP):
            text = Token("text", "", 0, content=token.content)
            token.children = [Token("as_typed", "", 0), text]
            continue
        left -= count if is_dense else 0
        token.children = []
        state.md.inline.parse(token.content, state.md, state.env, token.children)


def _as_typed(
    _: RendererHTML, __: list[Token], ___: int, ____: OptionsDict, _____: EnvType
) -> str:
    """Say why a paragraph is shown as it was typed."""
    return f'<em class="hint">{_AS_TYPED}</em> '


def _tasks(state: StateCore) -> None:
    """Make a sign of the brackets with which an item begins."""
    for item, _, inline in zip(
        state.tokens, state.tokens[1:], state.tokens[2:], strict=False
    ):
        children = inline.children or []
        if item.type != "list_item_open" or not children:
            continue
        found = _TASK.match(children[0].content)
        if children[0].type == "text" and found:
            children[0].content = children[0].content[found.end() :]
            children.insert(0, Token("task", "", 0, content=found[1].lower()))


def _task(
    _: RendererHTML, tokens: list[Token], at: int, __: OptionsDict, ___: EnvType
) -> str:
    """Render the sign of a task."""
    sign, word = _SIGNS[tokens[at].content]
    return f'<span class="task" role="img" aria-label="{word}">{sign}</span>'


def _ids(state: StateCore) -> None:
    """Give ids to headings, and to the block of the line that was asked for."""
    tokens, env = state.tokens, state.env
    if env["has_ids"]:
        for heading, inline in pairwise(tokens):
            if heading.type == "heading_open":
                name = _slug(inline, env["headings"])
                heading.attrSet("id", f"{_HEADING_ID}{name}")
    begins = [
        at
        for at, token in enumerate(tokens)
        if token.map
        and token.map[0] < env["line"]
        and (token.level == 0 or token.type in ("list_item_open", "tr_open"))
        and token.type != "inline"
    ]
    if not begins:
        return
    if tokens[begins[-1]].type == "heading_open":  # which has an id already
        tokens.insert(begins[-1], Token("place", "", 0))
    else:
        tokens[begins[-1]].attrSet("id", PLACE)


def _slug(heading: Token, known: dict[str, int]) -> str:
    """Return the name by which a link leads to a heading, as GitHub makes it.

    Args:
        heading: What is between its tags.
        known: The names so far -> how many headings would have them.
    """
    parts = (
        part.content
        for part in heading.children or []
        if part.type in ("text", "code_inline")
    )
    first = _NO_SLUG.sub("", "".join(parts).strip().lower()).replace(" ", "-")
    known[first] = known.get(first, 0) + 1
    name = first if known[first] == 1 else f"{first}-{known[first] - 1}"
    known.setdefault(name, 1)
    return name


def _place(
    _: RendererHTML, __: list[Token], ___: int, ____: OptionsDict, _____: EnvType
) -> str:
    """Render the place before a heading."""
    return f'<span id="{PLACE}"></span>'
