"""Finds out which writing systems a model understands, by asking it.

A list of model names would soon be out of date; six queries are not. A model that
does not know a script gives all its texts nearly the same vector, and would push good
answers down. For that script, the vector retriever abstains.
"""

from __future__ import annotations

from bisect import bisect_right

from hivemind_memory.providers.vectors import unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.ports import Embedder


LATIN = "Latin"
UNDERSTOOD = 5
"""Of six. By chance, five or six are right in one case of 1,500."""

# First code point, script; a range ends where the next begins. Blocks of the Unicode
# character database, close enough for counting letters.
_RANGES = (
    (0x0000, LATIN),
    (0x0370, "Greek"),
    (0x0400, "Cyrillic"),
    (0x0530, "Armenian"),
    (0x0590, "Hebrew"),
    (0x0600, "Arabic"),
    (0x0700, "Syriac"),
    (0x0750, "Arabic"),
    (0x0780, "Thaana"),
    (0x07C0, "Nko"),
    (0x0800, "Other"),
    (0x0860, "Arabic"),
    (0x0900, "Devanagari"),
    (0x0980, "Bengali"),
    (0x0A00, "Gurmukhi"),
    (0x0A80, "Gujarati"),
    (0x0B00, "Oriya"),
    (0x0B80, "Tamil"),
    (0x0C00, "Telugu"),
    (0x0C80, "Kannada"),
    (0x0D00, "Malayalam"),
    (0x0D80, "Sinhala"),
    (0x0E00, "Thai"),
    (0x0E80, "Lao"),
    (0x0F00, "Tibetan"),
    (0x1000, "Myanmar"),
    (0x10A0, "Georgian"),
    (0x1100, "Hangul"),
    (0x1200, "Ethiopic"),
    (0x13A0, "Cherokee"),
    (0x1400, "Other"),
    (0x1780, "Khmer"),
    (0x1800, "Mongolian"),
    (0x18B0, "Other"),
    (0x1C80, "Cyrillic"),
    (0x1C90, "Georgian"),
    (0x1CC0, "Other"),
    (0x1D00, LATIN),
    (0x1F00, "Greek"),
    (0x2000, LATIN),
    (0x2C00, "Other"),
    (0x2C60, LATIN),
    (0x2C80, "Coptic"),
    (0x2D00, "Georgian"),
    (0x2D30, "Other"),
    (0x2D80, "Ethiopic"),
    (0x2DE0, "Cyrillic"),
    (0x2E00, "Han"),
    (0x3040, "Kana"),
    (0x3100, "Bopomofo"),
    (0x3130, "Hangul"),
    (0x3190, "Han"),
    (0x31F0, "Kana"),
    (0x3200, "Han"),
    (0xA000, "Yi"),
    (0xA4D0, "Other"),
    (0xA640, "Cyrillic"),
    (0xA6A0, "Other"),
    (0xA720, LATIN),
    (0xA800, "Other"),
    (0xA8E0, "Devanagari"),
    (0xA900, "Other"),
    (0xA960, "Hangul"),
    (0xA980, "Other"),
    (0xAB30, LATIN),
    (0xAB70, "Cherokee"),
    (0xABC0, "Other"),
    (0xAC00, "Hangul"),
    (0xD800, "Other"),
    (0xF900, "Han"),
    (0xFB00, LATIN),
    (0xFB13, "Armenian"),
    (0xFB1D, "Hebrew"),
    (0xFB50, "Arabic"),
    (0xFE00, "Other"),
    (0xFE70, "Arabic"),
    (0xFF00, LATIN),
    (0xFF66, "Kana"),
    (0xFFA0, "Hangul"),
    (0xFFE0, "Other"),
    (0x1D400, LATIN),  # mathematical letters
    (0x1D800, "Other"),
    (0x20000, "Han"),
    (0x33480, "Other"),
)
_STARTS = [start for start, _ in _RANGES]
_NAMES = [name for _, name in _RANGES]
_KANA_SHARE = 0.1  # of the kana and Han letters; less is a foreign name in Chinese


def script_of(text: str) -> str:
    """Return the script that most letters of *text* have; Latin when it has none.

    Japanese mixes Han and kana and is "Kana".

    >>> script_of("Как настроить nginx?")
    'Cyrillic'
    """
    if text.isascii():
        return LATIN
    counts: dict[str, int] = {}
    for letter in text:
        if letter.isalpha():
            name = _NAMES[bisect_right(_STARTS, ord(letter)) - 1]
            counts[name] = counts.get(name, 0) + 1
    kana = counts.get("Kana", 0)
    if kana and kana >= _KANA_SHARE * (kana + counts.get("Han", 0)):
        counts["Kana"] = kana + counts.pop("Han", 0)
    # Of two that are equal the foreign one: there the vectors are in doubt.
    return max(counts, key=lambda name: (counts[name], name != LATIN), default=LATIN)


def probe_texts(script: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return six notes in *script*, and six queries that ask for them in order.

    Nothing for a script without a probe: it counts as not understood.
    """
    # 20 kB of sentences, wanted once for each script and model.
    from hivemind_memory.providers.writing_system_samples import PROBES, Probe

    return PROBES.get(script, Probe((), ()))


def understands(
    vectors_passages: Sequence[bytes], vectors_queries: Sequence[bytes]
) -> bool:
    """Return whether the right note is nearest to at least five of the six queries.

    Args:
        vectors_passages: Packed vectors of the notes of ``probe_texts``.
        vectors_queries: Packed vectors of its queries, in the same order.
    """
    return count_right(vectors_passages, vectors_queries) >= UNDERSTOOD


def count_right(
    vectors_passages: Sequence[bytes], vectors_queries: Sequence[bytes]
) -> int:
    """Return for how many queries the right note alone is nearest."""
    passages = [unpack(vector) for vector in vectors_passages]
    right = 0
    for number, vector in enumerate(vectors_queries):
        query = unpack(vector)
        nearness = [
            sum(a * b for a, b in zip(query, passage, strict=True))
            for passage in passages
        ]
        best = max(nearness)
        # A model that gives every text the same vector must not be right once.
        right += nearness[number] == best and nearness.count(best) == 1
    return right


def measure_script(embedder: Embedder, script: str, *, timeout_s: float) -> bool:
    """Return whether the model of *embedder* understands *script*.

    Sends seven requests, about a kilobyte of our own sentences.

    Args:
        embedder: Asked for six notes and six queries.
        script: As ``script_of`` names it; Latin is taken for granted.
        timeout_s: Seconds for each query.

    Raises:
        EmbeddingError: The provider did not answer, so nothing is known.
    """
    if script == LATIN:
        return True
    passages, queries = probe_texts(script)
    if not passages:
        return False
    return understands(
        embedder.embed_documents(passages),
        [embedder.embed_query(query, timeout_s=timeout_s) for query in queries],
    )
