"""Takes single copies of a skill away, and puts them where they were.

What a person edited in a copy is kept in ``state.db`` while it is away.
"""

from __future__ import annotations

import os

from hivemind_memory.curation.skill_places import check_free
from hivemind_memory.errors import SkillNotWrittenError
from hivemind_memory.model.value import replaced
from hivemind_memory.skills.files import (
    other_files,
    read_copy,
    remove_copy,
    write_copy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.state.skills import SkillCopy


def take_away(
    copy: SkillCopy,
    save: Callable[[SkillCopy], None],
    *,
    others: Sequence[SkillCopy],
    locks: str,
) -> None:
    """Remove a copy whose memory does not count; what was edited in it is kept.

    Raises:
        SkillNotWrittenError: It is still there.
    """
    data = read_copy(copy)
    # A killed process has kept it, and removed the file.
    edited = copy.kept if data is None else data
    kept = replaced(copy, kept=None if edited == copy.base.encode() else edited)
    save(kept)  # before the edits are gone from the disk
    remove_copy(copy, before=data, others=others, locks=locks)
    save(replaced(kept, is_placed=False))


def put_back(
    copy: SkillCopy,
    save: Callable[[SkillCopy], None],
    *,
    around: SkillSurroundings,
    known: Sequence[SkillCopy],
    locks: str,
) -> None:
    """Place a copy again that was taken away, as it was; *known*: all copies.

    Raises:
        SkillNotWrittenError: It is not there, as when something else is.
        UsageError: A person has something of its name by now.
    """
    data = copy.base.encode() if copy.kept is None else copy.kept
    write_away(copy, data, around=around, known=known, locks=locks)
    save(replaced(copy, is_placed=True, kept=None))


def write_away(
    copy: SkillCopy,
    data: bytes,
    *,
    around: SkillSurroundings,
    known: Sequence[SkillCopy],
    locks: str,
) -> None:
    """Write a copy that is not placed, unless something else is there by now."""
    found = read_copy(copy) if os.path.lexists(copy.folder) else None
    if found == data:
        return  # a killed process has written it
    check_free(around, copy, known)
    if found is not None or other_files(copy):
        raise SkillNotWrittenError(
            f"{copy.folder} already exists, and hm did not create it."
        )
    write_copy(copy, data, before=None, locks=locks)
