"""Gives sessions the project of their folder, once that is known."""

from __future__ import annotations

from hivemind_memory.sqlite.connection import write_transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.sqlite.writer_lock import WriterConnection
    from hivemind_memory.transcripts.target import ReadTarget

MAX_FOLDERS = 50
"""Folders that one reading looks at, those of the newest sessions."""

_UNSETTLED = """
SELECT folder FROM files WHERE scope = '' AND folder <> ''
GROUP BY folder ORDER BY max(last_ms) DESC LIMIT ?
"""


def settle_scopes(connection: WriterConnection, target: ReadTarget) -> None:
    """Look again for the projects of folders that had none when they were read.

    A repository has a project from its first use on, which may come after its session.
    """
    folders = connection.execute(_UNSETTLED, (MAX_FOLDERS,)).fetchall()
    found = [(target.scope_of(str(folder)), str(folder)) for (folder,) in folders]
    settled = [pair for pair in found if pair[0]]
    if settled:
        with write_transaction(connection):
            connection.executemany(
                "UPDATE files SET scope = ? WHERE folder = ? AND scope = ''", settled
            )
