"""Finds the note that a name means by where it is: a day's, a file in the folder."""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext

_DAY = lazy_re(r"(\d{4}-\d\d-\d\d)(\.md)?(:[\d-]+)?")


def with_own_day(context: CurationContext, name: str) -> str:
    """Return *name*, or the path of the project's note if it is one of its days.

    Every scope has a note of the same name for a day; inside a project its own is
    meant by the bare day, and by ``2026-11-21.md`` if there is no global one: that is
    how a search prints it, and what is printed means that note. Lines after the name
    stay. The path of a file in the notes folder, as a shell completes it, is that of
    its note.
    """
    name = name.removeprefix(f"{context.folder.root}/")
    day = _DAY.fullmatch(name.strip())
    if day is None:
        return name
    try:
        if day[2] and _is_there(context, f"{day[1]}.md"):
            return name
        path = f"{context.find_scope('project')}/{day[1]}.md"
        return f"{path}{day[3] or ''}" if _is_there(context, path) else name
    except HivemindError:
        return name


def _is_there(context: CurationContext, path: str) -> bool:
    """Return whether the caller sees a note of that path; a path of no scope is none.

    Raises:
        HivemindError: It cannot be looked at now.
    """
    is_scoped = not path.startswith("/")
    return (
        is_scoped
        and may_read(context.caller, path)
        and context.folder.signature(NotePath(path)) is not None
    )
