"""Removes references to purged memories from the front matter of other notes.

No memory refers to a purged one afterward, however the reference was written, and a
chain of versions has no gap. The text below the front matter belongs to a person: links
to a purged memory in it are reported and stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.curation.lookup import CurationTarget, notes_in
from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files.errors import MAX_ATTEMPTS, kept_changing
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, FailedItem
from hivemind_memory.model.display import clause
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.edge import (
    FIELDS,
    links_in,
    names_of_note,
    references_in_broken,
    replace_references,
    targets,
)
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.purge_plan import PurgePlan
    from hivemind_memory.model.ports import MemoryIndex


_MAX_LINKS = 20
"""Links in the text of one note that a receipt lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRemoval:
    """References to purged memories."""

    count: int = 0
    """Number of references in front matter."""

    paths: tuple[str, ...] = ()
    """Notes that had them."""

    left: tuple[FailedItem, ...] = ()
    """References that are still there."""

    links: tuple[FailedItem, ...] = ()
    """Links in the text of notes, and references behind followed links: they stay."""


def remove_references(
    context: CurationContext,
    purged: Sequence[CurationTarget],
    plan: PurgePlan,
    *,
    is_dry_run: bool = False,
    only: Collection[str] | None = None,
) -> ReferenceRemoval:
    """Remove references to purged memories from the front matter of all other notes.

    Args:
        context: Of the caller.
        purged: What is purged, as it was.
        plan: Also holds what an earlier attempt has already purged.
        is_dry_run: Only count.
        only: The notes to look at; None: all.
    """
    try:
        index = context.index.fresh()
    except HivemindError as error:
        return ReferenceRemoval(left=(FailedItem(what="references", why=str(error)),))
    finder = _PurgedNames(index, context.caller.scopes, purged, plan)
    count = 0
    paths: list[str] = []
    left: list[FailedItem] = []
    links: list[FailedItem] = []
    for path, data in notes_in(context, context.caller.scopes):
        if path in finder.paths or (only is not None and path not in only):
            continue
        text = decode(data)
        links += _links_to(path, text, finder)
        if not text.startswith("---"):
            continue
        is_behind_link = bool(context.folder.link_above(path))
        try:
            found = _clean(
                context, path, text, finder, is_dry_run=is_dry_run or is_behind_link
            )
        except HivemindError as error:
            problem = error.problem.removeprefix(f"{path} cannot be changed: ")
            why = f"{clause(problem)}, so references in it could not be removed."
            left.append(FailedItem(what=path, why=why))
            continue
        if found and is_behind_link:
            behind = context.folder.behind_link_error(path, "")
            why = f"its front matter refers to it. {behind} {behind.hint}"
            links.append(FailedItem(what=path, why=why))
        elif found:
            count += found
            paths.append(path)
    return ReferenceRemoval(
        count=count, paths=tuple(paths), left=tuple(left), links=tuple(links)
    )


class _PurgedNames:
    """Finds the purged memory that a reference means."""

    def __init__(
        self,
        index: MemoryIndex,
        scopes: frozenset[str] | None,
        purged: Sequence[CurationTarget],
        plan: PurgePlan,
    ) -> None:
        self._index = index
        self._scopes = scopes
        self.paths = {item.path for item in purged if item.kind != ENTRY} | plan.paths
        self.names: dict[str, CurationTarget] = {}
        for memory_id in sorted(plan.ids):
            self._add(CurationTarget(kind=ENTRY, path=NotePath(""), id=memory_id))
        for path in sorted(plan.paths):
            self._add(CurationTarget(kind="", path=NotePath(path)))
        for target in purged:
            self._add(target)

    def find(self, reference: str, near: str) -> CurationTarget | None:
        """Return the purged memory that a reference means; None: it means none.

        Args:
            reference: As ``notes.edge`` reads it.
            near: Scope of the note that refers.
        """
        target = self.names.get(reference.casefold())
        if target is None:
            return None
        # A key or a file name may belong to a memory that stays.
        row = self._index.resolve_ref(reference, scopes=self._scopes, near=near)
        return target if row is None or row.path in self.paths else None

    def _add(self, target: CurationTarget) -> None:
        """Add all names of one target."""
        path = "" if target.kind == ENTRY else target.path
        for name in names_of_note(path, memory_id=target.id, key=target.key):
            self.names[name.casefold()] = target


def _clean(
    context: CurationContext,
    path: NotePath,
    text: str,
    finder: _PurgedNames,
    *,
    is_dry_run: bool,
) -> int:
    """Remove the references from one note; return how many there were.

    Raises:
        HivemindError: They are still there.
    """
    front = split_front_matter(text)
    if front.is_broken:
        head, near = text.partition("\n---")[0], scope_of(path)
        if not any(finder.find(item, near) for item in references_in_broken(head)):
            return 0
        if is_dry_run:
            return 1
        read_memory_file(context.folder, path)  # raises: it is broken
    _, count = _changes(path, front.values, finder)
    if is_dry_run or not count:
        return count
    folder = context.folder
    problem: NotSavedError | None = None
    for _ in range(MAX_ATTEMPTS):
        file = read_memory_file(folder, path)
        changes, count = _changes(path, file.front.values, finder)
        try:
            if changes:
                folder.replace(path, file.with_values(changes), expected=file.signature)
        except NotSavedError as error:
            problem = error  # another program may have saved it just now
        else:
            return count
    raise problem or kept_changing(path)


def _changes(
    path: NotePath, values: Mapping[str, object], finder: _PurgedNames
) -> tuple[dict[str, object], int]:
    """Return the changes to a front matter, and how many references it has."""
    near = scope_of(path)
    changes: dict[str, object] = {}
    count = 0
    for field in FIELDS.values():

        def substitute(reference: str, field: str = field) -> list[str] | None:
            target = finder.find(reference, near)
            if target is None:
                return None
            # What replaced a purged memory now replaces what that one had replaced.
            return _older(target, finder, near) if field == "supersedes" else []

        items, found = replace_references(values.get(field), substitute)
        if found:
            count += found
            kept = [item for at, item in enumerate(items) if item not in items[:at]]
            is_list = isinstance(values.get(field), list)
            is_plain = field == "supersedes" and len(kept) == 1 and not is_list
            changes[field] = (kept[0] if is_plain else kept) or None
    for reference in targets(values.get("superseded_by"))[:1]:
        target = finder.find(reference, near)
        if target is not None:
            count += 1
            changes["superseded_by"] = _newer(target, finder, near) or None
    return changes, count


def _older(target: CurationTarget, finder: _PurgedNames, near: str) -> list[str]:
    """Return what a purged memory had replaced and is not purged itself."""
    found: list[str] = []
    waiting, seen = [target], {id(target)}
    while waiting:
        for reference in waiting.pop(0).supersedes:
            older = finder.find(reference, near)
            if older is None:
                found.append(reference)
            elif id(older) not in seen:
                seen.add(id(older))
                waiting.append(older)
    return found


def _newer(target: CurationTarget, finder: _PurgedNames, near: str) -> str:
    """Return what comes after a purged memory and is not purged itself."""
    seen: set[int] = set()
    while id(target) not in seen:
        seen.add(id(target))
        newer = finder.find(target.superseded_by, near)
        if newer is None:
            return target.superseded_by
        target = newer
    return ""


def _links_to(path: NotePath, text: str, finder: _PurgedNames) -> list[FailedItem]:
    """Return the places where the text of a note links to a purged memory."""
    if "[[" not in text:
        return []
    near = scope_of(path)
    start = split_front_matter(text).line_count
    lines = list(enumerate(text.split("\n"), start=1))[start:]
    why = "this line links to it: edit it if the name must go"
    return [
        FailedItem(what=f"{path}:{number}", why=why)
        for number, line in lines
        if any(finder.find(link, near) for link in links_in(line))
    ][:_MAX_LINKS]
