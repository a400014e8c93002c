"""The words of the notes: longer words that contain a part, and spellings of tokens.

A limited caller gets only words of notes that it may see.
"""

from __future__ import annotations

import re

from hivemind_memory.sqlite.connection import translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from hivemind_memory.index.sqlite.stats import CorpusStats

    Tokens = list[tuple[str, int]]
    """Each token, and in how many chunks it stands."""

LAST_CHARACTER = "\U0010ffff"
"""Sorts after every character that a word can contain."""

SPELLINGS = 10
"""Chunks that are searched for the shortest word of a stem."""

_LONGER = """
SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?
ORDER BY doc DESC, term
"""
_TEXTS = """
SELECT doc, body || ' ' || extra || ' ' || breadcrumbs || ' ' || reason
FROM occurrences JOIN chunk_words ON chunk_words.id = doc
WHERE term = ?
"""


class TokenList:
    """Tokens, to be searched for what they contain.

    They are one text, a token a line: a search looks at what it finds, not at each.
    """

    __slots__ = ("_counts", "_lines")

    def __init__(self, tokens: Tokens) -> None:
        self._counts = dict(tokens)
        self._lines = "\n".join(["", *self._counts, ""])

    def holding(self, part: str) -> Tokens:
        """Return the tokens that contain a part, each once."""
        if not part:
            return list(self._counts.items())
        lines, found = self._lines, []
        at = lines.find(part)
        while at >= 0:
            end = lines.index("\n", at)
            token = lines[lines.rindex("\n", 0, at) + 1 : end]
            found.append((token, self._counts[token]))
            at = lines.find(part, end + 1)
        return found


def read_vocabulary(connection: apsw.Connection) -> TokenList:
    """Read every token; the engine counts its chunks while it does."""
    # A combining mark by itself folds to an empty token, which comes out NULL.
    sql = "SELECT term, doc FROM vocabulary WHERE term <> ''"
    rows = connection.execute(sql)
    return TokenList([row for row in rows if not _is_marked(row[0])])


def _is_marked(token: str) -> bool:
    """Whether a token is of an address or has signs: it begins with a private mark."""
    return "\ue400" <= token < "\ue600"


def read_initial(connection: apsw.Connection, first: str) -> TokenList:
    """Read the tokens that begin with a letter."""
    rows = connection.execute(_LONGER, (first, first + LAST_CHARACTER))
    return TokenList(list(rows))


def _words_from(beginning: str, texts: Sequence[str]) -> list[str]:
    """Return the words of some texts that begin alike, the shortest first."""
    from hivemind_memory.model.terms import words_of

    if beginning:
        pattern = re.compile(rf"(?<![^\W_]){re.escape(beginning)}\w*", re.IGNORECASE)
        texts = [" ".join(pattern.findall(text)) for text in texts]
    found = {word.lower(): word for text in texts for word in words_of(text)}
    return [found[word] for word in sorted(found, key=lambda word: (len(word), word))]


class SqliteVocabulary:
    """The words of what one caller may see; see the port."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: str,
        tokens_of: Callable[[str], list[str]],
        read: Callable[[], TokenList],
        stats: CorpusStats | None,
        read_by_initial: Callable[[str], TokenList],
    ) -> None:
        self._connection = connection
        self._path = path
        self._tokens_of = tokens_of
        self._read = read
        self._stats = stats
        self._read_by_initial = read_by_initial

    def is_seen(self, token: str) -> bool:
        """Return whether a token is in something that the caller may see."""
        return self._stats is None or self._stats.documents(token) > 0

    def longer_words(self, part: str, *, limit: int, anywhere: bool) -> list[str]:
        """Return words of the notes that begin with *part*, the most common first."""
        with translated_errors(self._path):
            found = self._longer(part, limit, anywhere=anywhere)
        # A stem that is looked up like a word must not lose another ending.
        return [
            token
            if self._tokens_of(token) == [token]
            else self.shortest_spelling(token, chunks=1)
            for token, _ in found[:limit]
        ]

    def near_tokens(self, word: str, parts: Iterable[str]) -> Tokens:
        """Return the tokens that a misspelled *word* may be; see the port.

        A slip is rarely in the first letter, and the rest of the words is a tenth.
        """
        with translated_errors(self._path):
            near = {
                row
                for first in set(word[:2])
                if not _is_marked(first)
                for part in parts
                for row in self._read_by_initial(first).holding(part)
            }
        return sorted(near)

    def inflections(self, word: str, *, limit: int) -> list[str]:
        """Return words of the notes that are *word* with other endings; see the port.

        What the caller may not see is left out when its chunks are counted.
        """
        from hivemind_memory.model.inflections import beginnings, stem_of

        token = (self._tokens_of(word) or [""])[0]
        found = []
        with translated_errors(self._path):
            for start in beginnings(token):
                values = (start, start + LAST_CHARACTER)
                rows = self._connection.execute(_LONGER, values)
                found += [(-count, other) for other, count in rows if other != token]
        stem = stem_of(token)
        found = sorted(row for row in found if stem_of(row[1]) == stem)
        return [other for _, other in found[:limit]]

    def shortest_spelling(self, token: str, *, chunks: int = SPELLINGS) -> str:
        """Return the shortest word that becomes *token*, in the first *chunks*.

        As many are read for a limited caller: more would reveal hidden notes.
        """
        texts = self._texts_with(token, chunks)
        # A stem begins as its words do, but for what the tokenizer folds.
        beginnings = [token[:2], ""] if len(token) > 2 else [""]
        for beginning in beginnings:
            for word in _words_from(beginning, texts):
                if self._tokens_of(word) == [token]:
                    return word.lower()
        return token

    def _texts_with(self, token: str, limit: int) -> list[str]:
        """Return the texts of the first chunks that hold a token."""
        found = []
        with translated_errors(self._path):
            # Not by a full-text query, which would make the stem of the stem.
            for chunk, text in self._connection.execute(_TEXTS, (token,)):
                if self._stats is not None and chunk not in self._stats.chunks:
                    continue
                found.append(text)
                if len(found) == limit:
                    break
        return found

    def _longer(self, part: str, limit: int, *, anywhere: bool) -> Tokens:
        """Return the tokens that contain a part."""
        start = (self._tokens_of(part) or [part])[0]
        if anywhere:
            rows = self._read().holding(start)
            rows.sort(key=lambda row: (-row[1], row[0]))
        else:
            values = (start, start + LAST_CHARACTER)
            rows = list(self._connection.execute(_LONGER, values))
        if self._stats is None:
            return rows[:limit]
        # A word is in no more visible chunks than in all: behind those that stand
        # in as many as the last one wanted, none is better.
        counted: list[tuple[int, str]] = []
        for token, count in rows:
            if len(counted) == limit and count < -counted[-1][0]:
                break
            if seen := self._stats.documents(token):
                counted = sorted([*counted, (-seen, token)])[:limit]
        return [(token, -count) for count, token in counted]
