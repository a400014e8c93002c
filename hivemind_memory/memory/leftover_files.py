"""Removes the files that killed processes left, for ``hm doctor``, and reports them."""

from __future__ import annotations

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.files.atomic import (
    partial_files,
    remove_partial_copies,
    remove_partial_files,
)
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.files.places import Places


def leftover_findings(places: Places, now: Callable[[], float]) -> Iterator[Finding]:
    """Remove half-written notes and files, and that of an interrupted rebuild.

    What a running process still uses stays.
    """
    removed = remove_partial_files(places.notes, partial_files(places.notes), now())
    if removed:
        yield Finding(
            name="half-written notes",
            is_ok=True,
            detail=f"removed {removed} of interrupted commands",
        )
    removed = remove_beside_notes(places, now())
    if removed:
        yield Finding(
            name="half-written files",
            is_ok=True,
            detail=f"removed {removed} of an interrupted backup or another command",
        )
    name = "interrupted rebuild"
    try:
        if index_engine(places, now).remove_unfinished_rebuild():
            yield Finding(
                name=name,
                is_ok=True,
                detail="removed what it left; the old index was never touched",
            )
    except IndexUnusableError as error:
        yield Finding(name=name, is_ok=False, detail=str(error), hint=error.hint)


def remove_beside_notes(places: Places, now_s: float) -> int:
    """Remove what killed processes left outside the notes; return how many files.

    A backup leaves a copy of ``state.db`` in the home. Its archive lies where a person
    wanted it, so the next backup to that folder removes it.
    """
    folders = (places.home, places.journal, places.index)
    return remove_partial_copies(folders, now_s)
