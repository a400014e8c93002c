"""Links that the language model proposes, and those that a person refused.

Two tables of ``state.db``. They name memories by id and hold no text, only
keyed hashes of what the model read.
"""

from __future__ import annotations

from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.value import value
from hivemind_memory.sqlite.connection import synced_transaction, write_transaction
from hivemind_memory.state.state_file import PROMISE_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from hivemind_memory.state.state_file import StateFile

_COLUMNS = "id, from_ref, to_ref, kind, weight, model, at, from_hash, to_hash"


@value
class LinkProposal:
    """A link that a person has to decide about."""

    id: str
    """ULID."""

    from_ref: str
    """Id of the memory at which it would start."""

    to_ref: str
    """Id of the other; path of a note without one."""

    kind: str
    weight: float
    model: str
    """Name of the language model."""

    at: str
    """ISO 8601."""

    from_hash: bytes = b""
    """Keyed hash of the first memory's text as the model read it; empty: not kept."""

    to_hash: bytes = b""
    """The same of the other."""


class ModelLinks:
    """Proposals and refusals in one notes folder.

    Any method may raise ``StateUnusableError``.
    """

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def propose(self, proposal: LinkProposal) -> bool:
        """Keep a proposal; return False if there is one of the same link."""

        def insert(connection: apsw.Connection) -> bool:
            with write_transaction(connection):
                connection.execute(
                    f"INSERT INTO link_proposals({_COLUMNS}, notes)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (
                        proposal.id,
                        proposal.from_ref,
                        proposal.to_ref,
                        proposal.kind,
                        proposal.weight,
                        proposal.model,
                        proposal.at,
                        proposal.from_hash,
                        proposal.to_hash,
                        self._state.notes,
                    ),
                )
                return bool(connection.changes())

        return self._state.run(insert, PROMISE_WAIT_MS)

    def proposals(self) -> list[LinkProposal]:
        """Return the proposals, the newest first."""
        if not is_there(self._state.path):
            return []
        sql = f"SELECT {_COLUMNS} FROM link_proposals WHERE notes = ? ORDER BY id DESC"

        def read(connection: apsw.Connection) -> list[LinkProposal]:
            rows = connection.execute(sql, (self._state.notes,))
            return [_proposal_of(row) for row in rows]

        return self._state.run(read, PROMISE_WAIT_MS)

    def drop_proposal(self, proposal_id: str) -> None:
        """Delete a proposal: it was decided, or an end of it is gone."""
        sql = "DELETE FROM link_proposals WHERE id = ?"
        self._state.run(lambda c: c.execute(sql, (proposal_id,)), PROMISE_WAIT_MS)

    def drop_proposed(self, from_ref: str, to_ref: str, kind: str) -> None:
        """Delete the proposal of a link, if there is one."""
        sql = (
            "DELETE FROM link_proposals"
            " WHERE notes = ? AND from_ref = ? AND to_ref = ? AND kind = ?"
        )
        values = (self._state.notes, from_ref, to_ref, kind)
        if is_there(self._state.path):
            self._state.run(lambda c: c.execute(sql, values), PROMISE_WAIT_MS)

    def refuse(self, from_ref: str, to_ref: str, kind: str) -> None:
        """Remember that a person does not want a link; a power cut keeps it."""
        sql = "INSERT OR IGNORE INTO refused_links VALUES (?, ?, ?, ?)"

        def insert(connection: apsw.Connection) -> None:
            with synced_transaction(connection):
                connection.execute(sql, (self._state.notes, from_ref, to_ref, kind))

        self._state.run(insert, PROMISE_WAIT_MS)

    def refused(self) -> frozenset[tuple[str, str, str]]:
        """Return from, to and kind of the links that a person does not want."""
        if not is_there(self._state.path):
            return frozenset()
        sql = "SELECT from_ref, to_ref, kind FROM refused_links WHERE notes = ?"

        def read(connection: apsw.Connection) -> frozenset[tuple[str, str, str]]:
            rows = connection.execute(sql, (self._state.notes,))
            return frozenset((str(a), str(b), str(kind)) for a, b, kind in rows)

        return self._state.run(read, PROMISE_WAIT_MS)

    def count(self, refs: Collection[str]) -> int:
        """Return how many proposals and refusals name some memories."""
        return len(self._proposals_naming(refs)) + len(self._refused_naming(refs))

    def drop(self, refs: Collection[str]) -> int:
        """Delete the proposals and refusals that name some memories; return how many.

        Args:
            refs: Ids and paths.
        """
        proposals, refused = self._proposals_naming(refs), self._refused_naming(refs)

        def delete(connection: apsw.Connection) -> None:
            with write_transaction(connection):
                connection.executemany(
                    "DELETE FROM link_proposals WHERE id = ?",
                    [(proposal.id,) for proposal in proposals],
                )
                connection.executemany(
                    "DELETE FROM refused_links"
                    " WHERE notes = ? AND from_ref = ? AND to_ref = ? AND kind = ?",
                    [(self._state.notes, *link) for link in refused],
                )

        if proposals or refused:
            self._state.run(delete, PROMISE_WAIT_MS)
        return len(proposals) + len(refused)

    def _proposals_naming(self, refs: Collection[str]) -> list[LinkProposal]:
        """Return the proposals that name some memories."""
        found = self.proposals()
        return [row for row in found if row.from_ref in refs or row.to_ref in refs]

    def _refused_naming(self, refs: Collection[str]) -> list[tuple[str, str, str]]:
        """Return the refusals that name some memories."""
        found = self.refused()
        return [row for row in found if row[0] in refs or row[1] in refs]


def _proposal_of(row: tuple[object, ...]) -> LinkProposal:
    """Return the proposal of a row."""
    proposal_id, from_ref, to_ref, kind, weight, model, at, *hashes = row
    from_hash, to_hash = (each if isinstance(each, bytes) else b"" for each in hashes)
    return LinkProposal(
        id=str(proposal_id),
        from_ref=str(from_ref),
        to_ref=str(to_ref),
        kind=str(kind),
        weight=float(str(weight)),
        model=str(model),
        at=str(at),
        from_hash=from_hash,
        to_hash=to_hash,
    )
