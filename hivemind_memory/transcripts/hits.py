"""Makes hits of rows and of messages."""

from __future__ import annotations

from hivemind_memory.model.activity import (
    TRANSCRIPT,
    ActivityHit,
    excerpt_of,
    ms_of_id,
    public_id,
)
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.state.activity_log import ActivityRow
    from hivemind_memory.transcripts.find import FoundMessage


class HitMaker:
    """Makes hits whose times are in the user's time zone.

    They are masked again: the vault may have got a value since they were kept.
    """

    def __init__(self, local_iso: Callable[[float], str]) -> None:
        self._local_iso = local_iso

    def of_row(self, row: ActivityRow, words: Sequence[str] | None) -> ActivityHit:
        """Return a row as a hit; its whole text if *words* are None."""
        return ActivityHit(
            id=public_id(row.kind, row.id),
            kind=row.kind,
            at=self._iso(row.id),
            agent=row.agent,
            label=mask(row.label),
            content=_content(mask(row.content), words),
            session=row.session,
            project=row.project,
            workspace=row.workspace,
            method=mask(row.method),
            status=mask(row.status),
            request_body=mask(row.request),
            response_body=mask(row.response),
        )

    def of_message(
        self, found: FoundMessage, words: Sequence[str] | None, shown: str = ""
    ) -> ActivityHit:
        """Return a message as a hit; its whole text if *words* are None.

        Args:
            found: The message.
            words: Of the query.
            shown: Its text with secrets masked; empty: it is not known yet.
        """
        where = f":{found.line}" if not found.place else f" {found.place}"
        return ActivityHit(
            id=public_id(TRANSCRIPT, found.id),
            kind=TRANSCRIPT,
            at=self._iso(found.id),
            agent=found.source,
            label=found.role,
            content=_content(shown or mask(found.text), words),
            session=found.session,
            project=found.scope,
            method=found.tool,
            place=f"{found.path}{where}",
            folder=found.folder,
        )

    def _iso(self, number: int) -> str:
        """Return the time in an id as ISO 8601."""
        return self._local_iso(ms_of_id(number) / 1000)


def _content(shown: str, words: Sequence[str] | None) -> str:
    """Return what is shown of a masked text: all of it if *words* are None."""
    return shown if words is None else excerpt_of(shown, words)
