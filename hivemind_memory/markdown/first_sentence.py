"""Finds what a Markdown text says first, as plain text on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile

from hivemind_memory.markdown.plain_text import without_signs
from hivemind_memory.markdown.text import without_comments
from hivemind_memory.patterns.lazy_pattern import lazy_re

_BREAK = lazy_re(r"\s{0,3}(?:[-*+]\s|\d{1,9}[.)]\s|>|#{1,6}(?:\s|$)|```|~~~|\||---)")
"""A line that begins something else than the rest of a paragraph."""

_ITEM = lazy_re(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = lazy_re(r"\s{0,3}#{1,6}(?:\s+|$)")
_UNDERLINE = lazy_re(r"\s{0,3}(?:=+|-{2,})\s*$")
_FENCE = lazy_re(r"\s*(?:```|~~~)")
_RULE = lazy_re(r"\s{0,3}(?:[-*_=]\s*){3,}$")
_MARKER = lazy_re(r"\A\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|>\s?|#{1,6}\s+)+")
_IMAGE = lazy_re(r"\s*!\[[^\]]*\]\([^)]*\)\s*$")
_MAX_CHARS = 1_500
"""Of a block that is looked at: the patterns take the square of its length."""

_MAX_BLOCKS = 200
_MAX_LINE_CHARS = 300

_LABELED = lazy_re(r"\W*[A-Z][\w-]*(?: [\w-]+){0,2}\W?:")
"""A line of a list of labels, such as `Cause: a full disk`."""

_FORMAL = lazy_re(
    r"\W*(?:status|state)\W+(?:accepted|active|approved|deprecated|draft|final|proposed"
    r"|rejected|superseded)\W*$|\W*date\W+[\d\W]+$",
    re.IGNORECASE,
)
"""A line that says of a text where it stands, and not what it is about."""

_END = lazy_re(r"[。！？]|[.!?…।؟][\"'”’»)\]]*(?=\s|$)")
_SHORT = frozenset(
    (
        *("approx", "bzw", "ca", "cf", "dr", "etc", "mr", "mrs", "ms", "resp", "sr"),
        *("st", "vgl", "vs"),
    )
)
"""Words before a full stop that does not end a sentence, beside single letters."""

_NUMBERED = frozenset(
    ("art", "ch", "fig", "no", "nr", "p", "para", "pp", "rev", "sec", "ver", "vol")
)
"""The same, where a number follows."""

_LETTERS = lazy_re(r"[^\W\d_](?:\.[^\W\d_])*")
_ANSWERS = frozenset(("no", "ok", "okay", "yes"))
"""Sentences that say nothing without the next."""


def first_sentence(text: str, *, limit_chars: int = 240, label: str = "") -> str:
    r"""Return what Markdown says first; a heading only if there is nothing else.

    That is a sentence. A question has its answer, and a line that ends in a colon has
    what it announces.

    Args:
        text: Without front matter.
        limit_chars: A longer text is cut between two words.
        label: What will stand before it. If the text has a part of that name, it is
            read from there.

    >>> first_sentence("# Rota\n\n- Deploy on **Mondays**, e.g. at 9. Then rest.")
    'Deploy on Mondays, e.g. at 9.'
    >>> first_sentence("Context: it is slow.\n\nDecision: use NATS.", label="Decision")
    'use NATS.'
    >>> first_sentence("When it fails:\n\n1. clear the cache\n2. run again")
    'When it fails: clear the cache; run again'
    """
    blocks = list(islice(_blocks(without_comments(text)), _MAX_BLOCKS))
    said = _said(_from_label(blocks, label)) if label else ""
    said = said or _said(blocks)
    if len(said) <= limit_chars:
        return said
    cut = said[: limit_chars - 1]
    words, _, _ = cut.rpartition(" ")
    # Scripts without spaces are cut where they are.
    return f"{words if len(words) > limit_chars // 2 else cut}…"


def _said(blocks: Sequence[tuple[str, str]]) -> str:
    """Return what the first block says that says something, on one line."""
    lines = [(kind, _plain(block)) for kind, block in blocks]
    lines = [(kind, line) for kind, line in lines if re.search(r"\w", line)]
    for kinds in (("text", "item"), ("heading",), ("code",)):
        at = next((at for at, (kind, _) in enumerate(lines) if kind in kinds), None)
        if at is None:
            continue
        sentence = lines[at][1][: _end_of(lines[at][1])]
        if not sentence.endswith((":", "：")) or at + 1 == len(lines):
            return sentence
        return f"{sentence} {_announced(lines[at + 1 :])}".rstrip()
    return ""


def _announced(lines: Sequence[tuple[str, str]]) -> str:
    """Return what a line that ends in a colon announces."""
    first_kind, line = lines[0]
    if first_kind != "item":
        return "" if first_kind == "heading" else line[: _end_of(line)]
    items = takewhile(lambda block: block[0] == "item", lines)
    return "; ".join(line.rstrip(".;,") for _, line in items)


def _from_label(blocks: Sequence[tuple[str, str]], label: str) -> list[tuple[str, str]]:
    """Return the blocks from where a text says what it is labeled with; else none."""
    named = re.compile(rf"[\W_]*{re.escape(label)}[\W_]*(?::[\W_]*|\Z)", re.IGNORECASE)
    for at, (kind, block) in enumerate(blocks):
        if found := named.match(block):
            rest = block[found.end() :]
            own = [(kind, rest)] if rest else []
            return [*own, *blocks[at + 1 :]]
    return []


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each paragraph, list item, heading and code line.

    Pictures, and lines that say only where a text stands, are left out.
    """
    kept: list[str] = []
    is_code = False
    for line in [*text.split("\n"), ""]:
        is_underline = kept and not is_code and _UNDERLINE.match(line)
        if is_underline or (kept and (is_code or _ends_block(kept, line))):
            kind = "item" if _ITEM.match(kept[0]) else "text"
            is_heading = is_underline and kind == "text"
            yield "heading" if is_heading else kind, "\n".join(kept)[:_MAX_CHARS]
            kept = []
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code:
            if line.strip():
                yield "code", line.strip()[:_MAX_CHARS]
        elif _HEADING.match(line):
            yield "heading", line[:_MAX_CHARS]
        elif not _says_nothing(line):
            kept.append(line)


def _ends_block(kept: Sequence[str], line: str) -> bool:
    """Return whether a line does not go on with the block of some lines."""
    if not line.strip() or _BREAK.match(line):
        return True
    # "Solution:" below a list, without an empty line.
    return bool(_ITEM.match(kept[0]) and _LABELED.match(line))


def _says_nothing(line: str) -> bool:
    """Return whether a line is empty, a rule, a picture, or about the text itself."""
    short = line[:_MAX_LINE_CHARS]
    return (
        not line.strip()
        or _RULE.match(line) is not None
        or _UNDERLINE.match(line) is not None
        or _IMAGE.match(short) is not None
        or _FORMAL.match(short) is not None
    )


def _plain(block: str) -> str:
    """Return a block on one line, without the signs of Markdown."""
    plain = _MARKER.sub("", _joined(block)).strip().strip("|").rstrip("#")
    return " ".join(without_signs(plain).split())


def _joined(block: str) -> str:
    """Return the lines of a block as one; labels are set apart."""
    lines = [line.rstrip().removesuffix("\\").rstrip() for line in block.split("\n")]
    joined = lines[0]
    for before, line in pairwise(lines):
        is_apart = _LABELED.match(before) and _LABELED.match(line)
        ends = before.endswith((".", "!", "?", ":", ";", ",", "…"))
        joined += f"; {line}" if is_apart and not ends else f" {line}"
    return joined


def _end_of(line: str) -> int:
    """Return where the first sentence of a line ends."""
    for found in _END.finditer(line):
        rest = line[found.end() :].lstrip()
        before = line[: found.start()].rpartition(" ")[2].lstrip("(\"'").lower()
        is_short = found[0] == "." and (
            before in _SHORT
            or _LETTERS.fullmatch(before) is not None
            or (before in _NUMBERED and rest[:1].isdigit())
        )
        said = line[: found.start()]
        asks = found[0][0] in "?؟？" and not _END.search(said)
        is_answer = said.rpartition("?")[2].strip(" .!").lower() in _ANSWERS
        # In no script does a sentence begin with a small letter.
        if not rest or not (is_short or asks or is_answer or rest[0].islower()):
            return found.end()
    return len(line)
