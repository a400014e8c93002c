"""No memory points to a purged one: edges end, and a chain closes over the gap."""

from __future__ import annotations

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.memory.curation.recalling import text_of, texts_of
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hivemind_memory.memory.curation.desk import Desk
    from hivemind_memory.memory.curation.targets import Target
    from hivemind_memory.model.note_path import NotePath

_ATTEMPTS = 5
_LISTS = ("related", "contradicts")


def unlink(
    desk: Desk, path: NotePath, purged: Mapping[str, Target]
) -> HivemindError | None:
    """Take purged memories out of the front matter of another one.

    Args:
        desk: Of the caller.
        path: A note that names one of them.
        purged: Id -> what was purged.

    Returns:
        Why it is as it was, or None.
    """
    problem: HivemindError | None = None
    for _ in range(_ATTEMPTS):
        try:
            file = read_memory_file(desk.folder, path)
            changes = changes_without(file.front.values, purged)
            if changes:
                data = file.with_values(changes)
                desk.folder.replace(path, data, expected=file.stamp)
        except NotSavedError as error:
            problem = error  # perhaps somebody saved it just now
        except HivemindError as error:
            return error
        else:
            return None
    return problem


def changes_without(
    values: Mapping[str, object], purged: Mapping[str, Target]
) -> dict[str, object]:
    """Return what must change in a front matter that names purged memories.

    What replaced a purged memory replaces now what that one had replaced.
    """
    changes: dict[str, object] = {}
    for key in _LISTS:
        value = values.get(key)
        ends = value if isinstance(value, list) else [value]
        kept = [end for end in ends if _id_of(end) not in purged]
        if len(kept) < len(ends):
            changes[key] = kept or None
    before = texts_of(values, "supersedes")
    if not purged.keys().isdisjoint(before):
        older = _older(before, purged)
        changes["supersedes"] = older[0] if len(older) == 1 else older or None
    by = text_of(values, "superseded_by")
    if by in purged:
        changes["superseded_by"] = _newer(by, purged) or None
    return changes


def _older(ids: Sequence[str], purged: Mapping[str, Target]) -> list[str]:
    """Return the ids, those that are purged replaced by what they had replaced."""
    found: dict[str, None] = {}
    waiting, seen = list(ids), set()
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.add(one)
        if one in purged:
            waiting += purged[one].supersedes
        else:
            found[one] = None
    return list(found)


def _newer(memory_id: str, purged: Mapping[str, Target]) -> str:
    """Return what comes after a purged memory and is not purged itself."""
    seen: Collection[str] = set()
    while memory_id in purged and memory_id not in seen:
        seen = {*seen, memory_id}
        memory_id = purged[memory_id].superseded_by
    return "" if memory_id in purged else memory_id


def _id_of(end: object) -> object:
    """Return the id that one value of a list names."""
    return end.get("id") if isinstance(end, dict) else end
