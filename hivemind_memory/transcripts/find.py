"""Finds messages by words, newest first, of those that a caller may see.

A message is found if it holds every word of the question, in any form that the engine
takes for the same. If none does, the newest that hold the most of them are found, and
the answer says so.

What counts is the text that is shown: the vault may have got a value since a message
was kept, and whoever finds a message by a word of it learns what the value is made of.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hivemind_memory.model.activity import first_id_at
from hivemind_memory.model.terms import query_terms
from hivemind_memory.redaction import mask
from hivemind_memory.transcripts.shown_texts import ShownTexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from hivemind_memory.access.activity_rules import VisibleActivity
    from hivemind_memory.model.activity import ActivityQuery
    from hivemind_memory.model.terms import QueryTerm

_COLUMNS = """
  messages.id, messages.line, messages.place, messages.role, messages.tool,
  messages.text, files.id, files.source, files.path, files.session, files.folder,
  files.scope
"""
_BY_WORDS = f"""
SELECT {_COLUMNS}
FROM messages_fts
CROSS JOIN messages ON messages.id = messages_fts.rowid
CROSS JOIN files ON files.id = messages.file
WHERE messages_fts MATCH ? AND messages_fts.rowid >= ?{{where}}
ORDER BY messages_fts.rowid DESC
LIMIT ?
"""
_NEWEST = f"""
SELECT {_COLUMNS}
FROM messages
CROSS JOIN files ON files.id = messages.file
WHERE messages.id >= ?{{where}}
ORDER BY messages.id DESC
LIMIT ?
"""
_CANDIDATES = 200
"""The newest messages with some word: those with the most of them are found."""


class FoundMessage(NamedTuple):
    """A message with what is known of its file."""

    id: int
    line: int
    place: str
    role: str
    tool: str
    text: str
    file: int
    source: str
    path: str
    session: str
    folder: str
    scope: str


def words_of_query(text: str) -> tuple[str, ...]:
    """Return the words of a question that are looked up."""
    return tuple(term.text for term in _words(text))


def make_text_test(question: str) -> Callable[[str], bool]:
    """Return what tells whether a text holds a whole question, or each of its words."""
    whole = question.casefold().strip()
    words = [word.casefold() for word in words_of_query(question)]

    def holds(text: str) -> bool:
        folded = text.casefold()
        has_words = bool(words) and all(word in folded for word in words)
        return whole in folded or has_words

    return holds


def find_messages(
    connection: apsw.Connection, query: ActivityQuery, visible: VisibleActivity
) -> tuple[list[FoundMessage], bool]:
    """Return messages, newest first, and whether they hold some of the words only.

    Their secrets are masked.
    """
    where, values = _condition(query, visible)
    first = first_id_at(query.since_s)
    terms = _words(query.text)
    if not terms:
        if query.text.strip():
            return [], False  # nothing but signs
        rows = _rows(
            connection, _NEWEST.format(where=where), (first, *values, query.max_results)
        )
        return [_masked(message) for message in rows], False
    sql = _BY_WORDS.format(where=where)
    most = query.max_results + _CANDIDATES
    every = " AND ".join(map(_quoted, terms))
    rows = _rows(connection, sql, (every, first, *values, most))
    found = list(islice(_shown(rows, every), query.max_results))
    if found or len(terms) == 1:
        return found, False
    some = " OR ".join(map(_quoted, terms))
    rows = _rows(connection, sql, (some, first, *values, _CANDIDATES))
    found = _fullest(list(rows), terms, some, query.max_results)
    return found, bool(found)


def messages_holding(connection: apsw.Connection, text: str) -> list[int]:
    """Return the ids of the messages that hold all words of a text, in any order."""
    terms = _words(text)
    if not terms:
        return [int(row[0]) for row in connection.execute("SELECT id FROM messages")]
    sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?"
    rows = connection.execute(sql, (" AND ".join(map(_quoted, terms)),))
    return [int(row[0]) for row in rows]


def find_message(
    connection: apsw.Connection, number: int, visible: VisibleActivity
) -> FoundMessage | None:
    """Return a message by its id; None: the caller sees none."""
    sql = (
        f"SELECT {_COLUMNS} FROM messages JOIN files ON files.id = messages.file"
        " WHERE messages.id = ?"
    )
    found = next(_rows(connection, sql, (number,)), None)
    return found if found is not None and visible.has(found.scope, "") else None


def messages_around(
    connection: apsw.Connection, found: FoundMessage, count: int
) -> tuple[list[FoundMessage], list[FoundMessage]]:
    """Return up to *count* messages of the same session before and after one."""
    sql = (
        f"SELECT {_COLUMNS} FROM messages JOIN files ON files.id = messages.file"
        " WHERE messages.file = ? AND messages.id {0} ?"
        " ORDER BY messages.id {1} LIMIT ?"
    )
    values = (found.file, found.id, count)
    before = list(_rows(connection, sql.format("<", "DESC"), values))
    return before[::-1], list(_rows(connection, sql.format(">", "ASC"), values))


def _words(text: str) -> list[QueryTerm]:
    """Return the words of a question; the phrases only if it has no words."""
    terms = query_terms(text).terms
    return [term for term in terms if not term.is_phrase] or list(terms)


def _quoted(term: QueryTerm) -> str:
    """Return a term in the full-text language: no operator survives."""
    forms = (term.text, *term.forms)
    quoted = " OR ".join('"' + form.replace('"', '""') + '"' for form in forms)
    return f"({quoted})"


def _condition(
    query: ActivityQuery, visible: VisibleActivity
) -> tuple[str, tuple[object, ...]]:
    """Return what narrows a search, in SQL, with its values."""
    clauses: list[str] = []
    values: list[object] = []
    if not visible.is_all:
        marks = ",".join("?" * len(visible.projects))
        clauses.append(f"files.scope IN ({marks})")
        values += sorted(visible.projects)
    sources = [name for name in query.sources if query.agent in ("", name)]
    clauses.append(f"files.source IN ({','.join('?' * len(sources))})")
    values += sources
    if query.before:
        clauses.append("messages.id < ?")
        values.append(query.before)
    if query.session:
        clauses.append("files.session = ?")
        values.append(query.session)
    return "".join(f" AND {clause}" for clause in clauses), tuple(values)


def _masked(message: FoundMessage) -> FoundMessage:
    """Return a message as it is shown."""
    return message._replace(text=mask(message.text))


def _shown(messages: Iterable[FoundMessage], match: str) -> Iterator[FoundMessage]:
    """Yield, masked, the messages that are found by what is shown of them, too."""
    texts = ShownTexts()
    for message in messages:
        shown = _masked(message)
        if shown.text == message.text or texts.has_match(shown.text, match):
            yield shown


def _fullest(
    found: Sequence[FoundMessage], terms: Sequence[QueryTerm], match: str, limit: int
) -> list[FoundMessage]:
    """Return those that show the most words, newest first, masked.

    Args:
        found: Newest first.
        terms: Of the question.
        match: What they were found by.
        limit: How many are returned.
    """

    def count(message: FoundMessage) -> int:
        folded = message.text.casefold()
        return sum(any(form in folded for form in _forms(term)) for term in terms)

    levels: dict[int, list[FoundMessage]] = {}
    for message in found:
        levels.setdefault(count(message), []).append(message)
    # Masking takes long, and only ever removes words.
    for words in range(len(terms), -1, -1):
        fullest: list[FoundMessage] = []
        for message in sorted(levels.get(words, ()), key=lambda it: -it.id):
            for shown in _shown((message,), match):
                if count(shown) >= words:
                    fullest.append(shown)
                else:
                    levels.setdefault(count(shown), []).append(message)
            if len(fullest) == limit:
                break
        if fullest:
            return fullest
    return []


def _forms(term: QueryTerm) -> tuple[str, ...]:
    """Return the forms of a term."""
    return (term.text, *term.forms)


def _rows(
    connection: apsw.Connection, sql: str, values: tuple[object, ...]
) -> Iterator[FoundMessage]:
    """Yield the messages that a query selects, read as they are asked for."""
    for row in connection.execute(sql, values):
        yield FoundMessage(*row)
