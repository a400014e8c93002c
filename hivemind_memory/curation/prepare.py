"""Prepares a memory that is to be saved: its scope, and no secret in it."""

from __future__ import annotations

from hivemind_memory.access.rules import check_enabled
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import NewMemory

_TEXT_FIELDS = ("content", "key", "reason", "source_ref", "by", "session")
"""Fields of a new memory that are searched for secrets; its tags are too."""


def prepare(
    context: CurationContext, wanted: NewMemory, *, is_forced: bool
) -> tuple[NewMemory, tuple[str, ...]]:
    """Return what to save, with its scope and without secrets, and warnings.

    Args:
        context: Of the caller.
        wanted: What to save; its scope is a name, such as ``project``.
        is_forced: Save it even if the same text was purged before.

    Raises:
        HivemindError: It may not be saved; the message says why.
    """
    from hivemind_memory.curation.edited import with_text_kept
    from hivemind_memory.curation.validate import validate_texts
    from hivemind_memory.memory.write import refuse_purged, refuse_secret_scope

    check_enabled(is_enabled=context.is_enabled, why_read_only=context.why_read_only)
    scope = context.find_scope(wanted.scope)
    refuse_secret_scope(context.folder, scope)
    wanted = validate_texts(wanted, limit_chars=context.limit_chars)
    values = [getattr(wanted, name) for name in _TEXT_FIELDS]
    texts, found = scrubbed(*values, *wanted.tags)
    clean = replaced(
        wanted,
        scope=scope,
        is_for_all=bool(wanted.scope) and not scope,
        tags=tuple(texts[len(_TEXT_FIELDS) :]),
        **dict(zip(_TEXT_FIELDS, texts, strict=False)),
    )
    state, caller = context.state(), context.caller
    doubts = refuse_purged(state, clean.content, scope, caller, is_forced=is_forced)
    if clean.is_edit and not found:
        clean = with_text_kept(context, clean)
    return clean, (*warning_of(found), *doubts)
