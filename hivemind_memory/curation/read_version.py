"""Tells whether memories still are what someone has read before deciding about them.

Another process, or an editor, may change one in between. What is decided is done only
if it has not, which is checked under the lock that the change holds.
"""

from __future__ import annotations

from hivemind_memory.curation.entry_memory import entry_memory
from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.curation.without_secrets import masked, memories_for
from hivemind_memory.errors import HivemindError, VersionChangedError
from hivemind_memory.files.errors import changed_since_read
from hivemind_memory.markdown.entry import own_text
from hivemind_memory.model.curation import ENTRY
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.text_version import text_version
from hivemind_memory.model.value import value
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow


@value
class ReadVersion:
    """A memory, or an entry, as a caller has read it."""

    memory: StoredMemory
    is_same: Callable[[StoredMemory], bool]
    """Whether it still is that version, as the same caller sees it now."""

    def is_of(self, target: CurationTarget) -> bool:
        """Return whether a target is that memory; a copy of an entry is not."""
        if self.memory.id and target.kind != ENTRY:
            return target.id == self.memory.id
        return (target.path, target.id) == (self.memory.path, self.memory.id)


def read_first(
    targets: Iterable[CurationTarget], read: ReadVersion | None
) -> list[CurationTarget]:
    """Return targets, first the one that was read; nothing is hidden before it.

    Raises:
        VersionChangedError: There are some, and it is not among them any more.
    """
    ordered = list(targets)
    if read is None or not ordered:
        return ordered
    if not any(map(read.is_of, ordered)):
        raise _changed(read.memory)
    return sorted(ordered, key=lambda target: not read.is_of(target))


def check_read(
    context: CurationContext,
    read: ReadVersion | None,
    target: CurationTarget,
    path: NotePath,
    _: str,
) -> None:
    """Raise if a target is what was read, and is not as it was then.

    Raises:
        VersionChangedError: It has changed, or is gone.
    """
    if read is not None and read.is_of(target):
        now = _as_seen(context, target, path)
        if now is None or not read.is_same(now):
            raise _changed(read.memory)


def version_of_text(memory: StoredMemory) -> str:
    """Return the version of a memory's text, without the entries below it."""
    return text_version(own_text(memory.text))


def check_text(
    context: CurationContext, row: MemoryRow, texts: Mapping[str, str], effect: str
) -> None:
    """Raise if a memory says something else than when it was read.

    Args:
        context: Of the caller.
        row: The memory.
        texts: Id, or path -> ``version_of_text`` of it then; not there: any.
        effect: What is not done, for the error.

    Raises:
        VersionChangedError: It does, or it is gone.
    """
    wanted = texts.get(row.memory_id or row.path)
    if wanted is None:
        return
    memory = load_memory(context, row.path)
    if memory is None or version_of_text(memory) != wanted:
        raise changed_since_read(row.key or row.path, effect)


def refuse_other_text(claim: StoredMemory, version: str) -> None:
    """Raise if a claim says something else than what was read.

    Args:
        claim: As it is now.
        version: Of the text then, by ``text_version``; empty: any.

    Raises:
        VersionChangedError: It does.
    """
    if version not in {"", *versions_as_read(claim.text)}:
        raise _changed(claim)


def versions_as_read(text: str) -> tuple[str, str]:
    """Return the versions of a text as its owner reads it, and as all others do."""
    return text_version(text), text_version(masked(text))


def _as_seen(
    context: CurationContext, target: CurationTarget, path: NotePath
) -> StoredMemory | None:
    """Return a target as its caller sees it now; None: it is gone."""
    if target.kind != ENTRY:
        found = load_memory(context, path)
    else:
        try:
            entries = entries_in(context.folder.read(path)[0])
        except HivemindError:
            return None
        named = (entry for entry in entries if entry.provenance.id == target.id)
        found = next((entry_memory(path, entry) for entry in named), None)
    if found is None:
        return None
    return memories_for(context.caller, [as_of(found, context.clocks.today())])[0]


def _changed(memory: StoredMemory) -> VersionChangedError:
    """Return the error for a memory that is not what was read."""
    return changed_since_read(memory.key or memory.path, "Nothing was changed")
