"""Purges activity: what is found of a session or a text in transcripts and rows.

The agents' own transcripts stay, and so hashes are kept of what was removed: it is not
read from them again.
"""

from __future__ import annotations

import os

from hivemind_memory.access.activity_rules import visible_activity
from hivemind_memory.curation.selection import set_scope
from hivemind_memory.errors import HivemindError, IndexBusyError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import LOCK_WAIT_S, KernelLock
from hivemind_memory.state.activity_log import ActivityLog
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.transcripts.erase import (
    checkpoint,
    erase_messages,
    messages_to_erase,
    plain_form,
)
from hivemind_memory.transcripts.store import TranscriptStore
from hivemind_memory.transcripts.target import lock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.model.curation import MemorySelector
    from hivemind_memory.state.activity_log import ActivityRow
    from hivemind_memory.transcripts.erase import ErasedMessage

_AGAIN = "purge again to finish"


def has_activity(context: CurationContext, selector: MemorySelector) -> bool:
    """Return whether a selected session left activity that the caller sees.

    In a repository, only the activity of its project counts, as it does for memories.
    """
    if not selector.session:
        return False
    where = set_scope(context.caller, selector, context.find_scope)
    sessions = {selector.session}
    scopes = [row.project for row in _rows(context, sessions, ())]
    store = TranscriptStore(context.places.transcripts_file)
    try:
        scopes += [found.scope for found in _messages(context, store, sessions, ())]
    except HivemindError:
        pass  # the purge itself reports it
    finally:
        store.close()
    return any(not where or scope == where for scope in scopes)


def count_activity(report: PurgeReport) -> None:
    """Report what there is of it in transcripts and rows."""
    context, sessions, texts = report.context, report.plan.sessions, report.probes()
    try:
        rows = list(_rows(context, sessions, texts))
        _report(report, "activity", len(rows), "rows")
        store = TranscriptStore(context.places.transcripts_file)
        try:
            found = _messages(context, store, sessions, texts)
        finally:
            store.close()
        _report(report, "transcripts", len(found), "messages")
    except HivemindError as error:
        report.fail("activity", str(error))


def clean_activity(report: PurgeReport) -> None:
    """Remove it from transcripts and rows, for good."""
    context, sessions, texts = report.context, report.plan.sessions, report.probes()
    try:
        rows = list(_rows(context, sessions, texts))
        ActivityLog(context.state()).drop([row.id for row in rows])
        _report(report, "activity", len(rows), "rows")
    except HivemindError as error:
        report.fail("activity", str(error))
    store = TranscriptStore(context.places.transcripts_file)
    if not store.is_there():
        return
    try:
        _clean_messages(report, store, sessions, texts)
    except (HivemindError, OSError) as error:
        report.fail("transcripts", f"{error}; {_AGAIN}")
    finally:
        store.close()


def _report(report: PurgeReport, name: str, count: int, unit: str) -> None:
    """Report what was found; a place that holds nothing is not worth a line."""
    if count:
        report.add_count(name, count, unit)


def _clean_messages(
    report: PurgeReport,
    store: TranscriptStore,
    sessions: Collection[str],
    texts: Collection[str],
) -> None:
    """Remove messages while nothing is read, and remember that they are gone."""
    context = report.context
    lock = KernelLock(lock_of(context.places))
    make_private_folder(os.path.dirname(lock.path))
    if not lock.acquire(wait_s=LOCK_WAIT_S):
        raise IndexBusyError("Another process is reading transcripts.", hint="")
    try:
        found = _messages(context, store, sessions, texts)
        if not found:
            return
        # Before they are removed: what is gone and not remembered comes back.
        ErasedMessages(context.state()).add(
            (message.session if message.session in sessions else "", message.text)
            for message in found
        )
        with store.opened() as connection:
            erase_messages(connection, {message.id for message in found})
            is_erased = checkpoint(connection)
    finally:
        lock.release()
    _report(report, "transcripts", len(found), "messages")
    report.transcripts |= {message.path for message in found}
    if not is_erased:
        report.fail("transcripts", f"another process is reading them; {_AGAIN}")


def _messages(
    context: CurationContext,
    store: TranscriptStore,
    sessions: Collection[str],
    texts: Collection[str],
) -> list[ErasedMessage]:
    """Return the messages of sessions, and those that hold a text."""
    if not store.is_there():
        return []
    visible = visible_activity(context.caller)
    found: dict[int, ErasedMessage] = {}
    with store.opened() as connection:
        for session in sessions or {""}:
            some = messages_to_erase(connection, visible, session=session, texts=texts)
            found |= {message.id: message for message in some}
    return list(found.values())


def _rows(
    context: CurationContext, sessions: Collection[str], texts: Collection[str]
) -> Iterator[ActivityRow]:
    """Yield the rows of sessions, and those that hold a text."""
    visible = visible_activity(context.caller)
    wanted = [form for form in map(plain_form, texts) if form]
    for row in ActivityLog(context.state()).newest():
        if not visible.has(row.project, row.workspace):
            continue
        form = plain_form(row.text)
        if row.session in sessions or any(text in form for text in wanted):
            yield row
