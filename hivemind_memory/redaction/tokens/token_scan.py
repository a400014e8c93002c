"""Applies the rules for tokens that a text needs; most texts need none."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import TextSpan, blocks_with, lowered
from hivemind_memory.redaction.tokens.keywords import EXACT, FOLDED
from hivemind_memory.redaction.values.value_check import is_sure, looks_random
from hivemind_memory.redaction.word_gate import may_be_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_BASE58 = "1-9A-HJ-NP-Za-km-z"
_WIF = lazy_re(
    rf"(?<![\w/+-])(?:5[HJK][{_BASE58}]{{49}}|[KLc][{_BASE58}]{{51}})(?![\w/+=-])"
)
_BASE64_RUN = lazy_re(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![\w+/-])")


def by_tokens(text: str, low: str, blocks: Iterable[tuple[int, int]]) -> list[TextSpan]:
    """Return what the rules find; most texts have nothing that they would look at.

    Args:
        text: The whole text.
        low: The same in lower case, line for line.
        blocks: Where the lines begin and end that have a piece that may be a token.
    """
    long, near = _long_parts(text, low, blocks)
    some = " ".join(long)
    exact = [word for word in EXACT if word in some]
    folded = [word for word in FOLDED if word in near]
    if not exact and not folded:
        return []
    from hivemind_memory.redaction.tokens.rules import by_rules

    return by_rules(text, low, exact, folded)


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
