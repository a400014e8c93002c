"""Finds the note that a name means by where it is: a day's, a file in the folder."""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext

_DAY = lazy_re(r"(\d{4}-\d\d-\d\d)(?:\.md)?(:[\d-]+)?")


def with_own_day(context: CurationContext, name: str) -> str:
    """Return *name*, or the path of the project's note if it is one of its days.

    Every scope has a note of the same name for a day; inside a project its own is
    meant. Lines after the name stay. The path of a file in the notes folder, as a shell
    completes it, is that of its note.
    """
    name = name.removeprefix(f"{context.folder.root}/")
    day = _DAY.fullmatch(name.strip())
    if day is None:
        return name
    try:
        scope = context.find_scope("project")
        path = NotePath(f"{scope}/{day[1]}.md")
        is_there = bool(scope) and context.folder.signature(path) is not None
    except HivemindError:
        return name
    return (
        f"{path}{day[2] or ''}" if is_there and may_read(context.caller, path) else name
    )
