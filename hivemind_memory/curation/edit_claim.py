"""Gives a pending claim another text, in its own file.

All else that its note says of it stays: links, importance, certainty, fields of other
programs, and the entries below the text.
"""

from __future__ import annotations

from typing import NamedTuple

from hivemind_memory.access.rules import check_writable
from hivemind_memory.curation.edited import (
    edited,
    entries_below,
    own_body,
    text_as_read,
)
from hivemind_memory.curation.inbox import find_pending
from hivemind_memory.curation.own_changes import record_edited
from hivemind_memory.curation.prepare import prepare
from hivemind_memory.errors import UsageError
from hivemind_memory.files.errors import changed_since_read
from hivemind_memory.model.text_version import text_version
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext

_EFFECT = "Nothing was saved"


class ClaimEdit(NamedTuple):
    """What the edit of a claim did."""

    is_changed: bool
    """False: it says exactly this already; nothing was written."""

    warnings: tuple[str, ...] = ()


def edit_claim(
    context: CurationContext, ref: str, content: str, version: str = ""
) -> ClaimEdit:
    """Replace the text of a pending claim, which stays pending.

    Args:
        context: Of the caller.
        ref: Its id, its key or its path.
        content: Its new text.
        version: Of the text that was read, by ``text_version``; empty: any.

    Raises:
        MemoryNotFoundError: The caller sees no such claim.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It is an entry, or the text cannot be saved.
        VersionChangedError: It has another text by now.
    """
    found = find_pending(context, ref)
    claim, path = found.memory, found.memory.path
    check_writable(context.caller, path)
    if found.entry is not None or not claim.key:
        raise UsageError(
            "only a claim with a key can be edited here.",
            hint="`hm inbox edit` opens the note in your editor.",
            effect=_EFFECT,
        )
    new, warnings = prepare(context, edited(claim, content=content), is_forced=False)
    with context.key_lock(claim.scope, claim.key, _EFFECT):
        # Another process may have decided about it while that one held the lock.
        path = find_pending(context, claim.id or path).memory.path
        file = read_memory_file(context.folder, path)
        if version not in {"", text_version(text_as_read(file))}:
            raise changed_since_read("The claim", _EFFECT)
        is_changed = own_body(file) != new.content
        if is_changed:
            below = entries_below(file)
            data = file.with_body(f"{new.content}\n{below}" if below else new.content)
            context.folder.replace(path, data, expected=file.signature)
    if is_changed:
        record_edited(context, path)
        context.update_index((path,))
    return ClaimEdit(is_changed, warnings)
