"""Applies the rules for tokens that a text needs; most texts need none."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import TextSpan, blocks_with, lowered
from hivemind_memory.redaction.tokens.keywords import EXACT, FOLDED
from hivemind_memory.redaction.values.value_check import is_sure, looks_random
from hivemind_memory.redaction.word_gate import may_be_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hivemind_memory.redaction.line_words import LineWords

_LEAST_OF_WORD = 4
_BASE58 = "1-9A-HJ-NP-Za-km-z"
_WIF = lazy_re(
    rf"(?<![\w/+-])(?:5[HJK][{_BASE58}]{{49}}|[KLc][{_BASE58}]{{51}})(?![\w/+=-])"
)
_SHORTEST_WALLET_KEY = 51
_BASE64_RUN = lazy_re(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![\w+/-])")


WORDS = frozenset(
    low
    for word in (*EXACT, *FOLDED)
    if len(low := word.lower()) >= _LEAST_OF_WORD and " " not in low
)
"""Words of the rules that the gate looks for, in lower case.

Of shorter ones, half of all pieces of a text have some.
"""

_LOW_EXACT = [word.lower() for word in EXACT]
_OTHER_EXACT = [at for at, word in enumerate(_LOW_EXACT) if word not in WORDS]
_OTHER_FOLDED = [at for at, word in enumerate(FOLDED) if word not in WORDS]


def by_tokens(
    text: str,
    low: str,
    blocks: Iterable[tuple[int, int]],
    there: LineWords | None = None,
) -> list[TextSpan]:
    """Return what the rules find; most texts have nothing that they would look at.

    Args:
        text: The whole text.
        low: The same in lower case, line for line.
        blocks: Where the lines begin and end that have a piece that may be a token.
        there: The text, if it has passed the gate.
    """
    long, near = _long_parts(text, low, blocks)
    some = " ".join(long)
    if there is None or not there.knows_all:
        exact = [word for word in EXACT if word in some]
        folded = [word for word in FOLDED if word in near]
    else:
        words = there.words(WORDS)
        places = _places(_LOW_EXACT, words, _OTHER_EXACT)
        exact = [EXACT[at] for at in places if EXACT[at] in some]
        places = _places(FOLDED, words, _OTHER_FOLDED)
        folded = [FOLDED[at] for at in places if FOLDED[at] in near]
    if not exact and not folded:
        return []
    from hivemind_memory.redaction.tokens.rules import by_rules

    return by_rules(text, low, exact, folded)


def _places(listed: Sequence[str], words: set[str], others: list[int]) -> list[int]:
    """Return the places of some words of a list, and *others*, in order."""
    if not words:
        return others
    return sorted({*others, *(at for at, word in enumerate(listed) if word in words)})


def _long_parts(
    text: str, low: str, blocks: Iterable[tuple[int, int]]
) -> tuple[list[str], str]:
    """Return the lines with a part that may be a value, and what is near them.

    A name says something on the line of its value, or on the line above.
    """
    long: list[str] = []
    near: list[str] = []
    for start, end in blocks:
        long.append(text[start:end])
        above = low.rfind("\n", 0, max(0, start - 1)) + 1
        near.append(low[above:end])
    return long, "\n".join(near)


def _in_plain(plain: str) -> list[TextSpan]:
    """Return what a text has that stood in base64."""
    low = lowered(plain)
    tokens = filter(may_be_token, set(low.split()))
    spans = by_tokens(plain, low, blocks_with(low, tokens))
    if "PRIVATE KEY" in plain:
        from hivemind_memory.redaction.tokens.private_keys import private_keys

        spans += private_keys(plain)
    return spans


def in_runs(text: str, blocks: Iterable[tuple[int, int]]) -> Iterator[TextSpan]:
    """Yield wallets' keys, and runs of base64 with a secret in them.

    Args:
        text: The whole text.
        blocks: Where the lines begin and end that have a long piece.
    """
    for start, end in blocks:
        if end - start >= _SHORTEST_WALLET_KEY:
            yield from _wallet_keys(text, start, end)
        yield from _in_base64(text, start, end)


def _wallet_keys(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield private keys of Bitcoin in the wallet import format, between two places."""
    for found in _WIF.finditer(text, start, end):
        if looks_random(found[0]) and is_sure(found[0]):
            yield (*found.span(), "wallet-key")


def _in_base64(text: str, start: int, end: int) -> list[TextSpan]:
    """Return the runs of base64 between two places that decode to a secret."""
    from binascii import Error, a2b_base64

    spans: list[TextSpan] = []
    for run in _BASE64_RUN.finditer(text, start, end):
        data = run[0].replace("-", "+").replace("_", "/").rstrip("=")
        try:
            plain = a2b_base64(data + "=" * (-len(data) % 4)).decode("ascii")
        except (Error, ValueError):
            continue
        if plain.replace("\n", " ").isprintable():
            found = _in_plain(plain)
            if found:
                spans.append((run.start(), run.end(), found[0][2]))
    return spans
