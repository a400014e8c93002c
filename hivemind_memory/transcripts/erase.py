"""Erases messages for a purge: those of a session, and those that hold a text."""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.transcripts.find import messages_holding
from hivemind_memory.transcripts.store import remove_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from hivemind_memory.access.activity_rules import VisibleActivity
    from hivemind_memory.sqlite.writer_lock import WriterConnection

_AT_ONCE = 500
_SELECT = """
SELECT messages.id, files.session, files.scope, messages.text, files.path
FROM messages JOIN files ON files.id = messages.file
WHERE {}
"""


def plain_form(text: str) -> str:
    r"""Return what of a text counts when it is looked for in another.

    >>> plain_form(" we Deploy\n on  Fridays ")
    'we deploy on fridays'
    """
    # Within JSON, line ends and quotes are escaped, perhaps more than once.
    plain = text.replace("\\n", " ").replace("\\t", " ").replace("\\", "")
    return " ".join(plain.split()).casefold()


class ErasedMessage(NamedTuple):
    """A message that a purge erases."""

    id: int
    session: str
    scope: str
    text: str
    path: str


def messages_to_erase(
    connection: apsw.Connection,
    visible: VisibleActivity,
    *,
    session: str,
    texts: Collection[str],
) -> list[ErasedMessage]:
    """Return the messages that a purge erases.

    Args:
        connection: To the file of messages.
        visible: What the caller sees.
        session: Of which everything is erased; empty: of none.
        texts: What is erased wherever it stands.
    """
    found: dict[int, ErasedMessage] = {}

    def take(condition: str, value: object, wanted: str) -> None:
        for row in connection.execute(_SELECT.format(condition), (value,)):
            message = ErasedMessage(*row)
            if visible.has(message.scope, "") and wanted in plain_form(message.text):
                found[message.id] = message

    if session:
        take("files.session = ?", session, "")
    for wanted in filter(None, map(plain_form, texts)):
        for number in messages_holding(connection, wanted):
            take("messages.id = ?", number, wanted)
    return list(found.values())


def erase_messages(connection: WriterConnection, numbers: Collection[int]) -> None:
    """Erase messages from the table, from the index, and from the file's free space."""
    ordered = sorted(numbers)
    for at in range(0, len(ordered), _AT_ONCE):
        some = ordered[at : at + _AT_ONCE]
        marks = ",".join("?" * len(some))
        with write_transaction(connection):
            remove_messages(connection, f"id IN ({marks})", tuple(some))
    if ordered:
        connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('optimize')")


def rename_scope(connection: WriterConnection, old: str, new: str) -> None:
    """Give the sessions of a renamed project its new scope."""
    with write_transaction(connection):
        connection.execute("UPDATE files SET scope = ? WHERE scope = ?", (new, old))


def checkpoint(connection: WriterConnection) -> bool:
    """Empty the log beside the file; return False if another process reads it."""
    row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return row is None or not row[0]
