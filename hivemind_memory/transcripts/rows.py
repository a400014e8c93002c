"""Makes the rows of activity: their texts masked, and cut to what is kept."""

from __future__ import annotations

from hivemind_memory.model.activity import CALL, POST
from hivemind_memory.model.value import replaced
from hivemind_memory.state.activity_log import ActivityRow
from hivemind_memory.transcripts.kept_text import masked_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller

BODY_BYTES = 2_048
"""The most that is kept of a body, or of the content."""

LABEL_CHARS = 200
_READ_TIMES = 4


def call_row(
    caller: Caller | None, *, label: str, request: str, error: str
) -> ActivityRow:
    """Return the row of a call of our own server.

    Args:
        caller: Who called; None: it is not known, and only the owner finds the row.
        label: Name of the tool.
        request: Its arguments, as JSON.
        error: What the model was told; empty: the call succeeded.
    """
    return ActivityRow(
        kind=CALL,
        workspace=caller.workspace if caller else "",
        project=caller.project if caller else "",
        label=label[:LABEL_CHARS],
        content=_kept(error) or _kept(request),
        method="mcp",
        status="error" if error else "ok",
        request=_kept(request),
    )


def posted_row(*, workspace: str, **texts: str) -> ActivityRow:
    """Return a row that a program posted.

    Args:
        workspace: Scope of the workspace that it belongs to.
        **texts: ``label`` and ``content``; ``agent``, ``session``, ``method``,
            ``status``, ``request`` and ``response``, as far as they are known.
    """
    kept = {name: _kept(text) for name, text in texts.items()}
    kept["label"] = kept["label"][:LABEL_CHARS]
    return replaced(ActivityRow(kind=POST, workspace=workspace), **kept)


def _kept(text: str) -> str:
    """Return what is kept of a text: without secrets, at most 2 KiB."""
    data = masked_head(text, _READ_TIMES * BODY_BYTES).encode()
    if len(data) <= BODY_BYTES:
        return data.decode()
    return data[: BODY_BYTES - 3].decode("utf-8", "ignore") + "…"
