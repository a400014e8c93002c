"""A memory, an entry or a note that is meant, as it stood when it was looked at."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.errors import HivemindError
from hivemind_memory.memory.curation.recalling import text_of, texts_of
from hivemind_memory.model.erasing import ENTRY, MEMORY, Affected
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.standing import ACTIVE
from hivemind_memory.notes.front_matter import split_front_matter
from hivemind_memory.notes.memory_file import body_of
from hivemind_memory.notes.memory_header import standing_apart
from hivemind_memory.notes.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.memory.curation.desk import Desk
    from hivemind_memory.notes.entry_edits import FoundEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One thing that is meant, as it stood when it was looked at."""

    kind: str
    path: NotePath
    id: str = ""
    key: str = ""
    first_line: int = 1
    last_line: int = 1
    text: str = ""
    """Without front matter or comment."""

    standing: int = ACTIVE
    """Were it not forgotten."""

    forgotten: str = ""
    """When it was forgotten, as its note says; empty: it is not."""

    created: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    why: str = "named"

    @property
    def scope(self) -> str:
        """Where it lies."""
        return scope_of(self.path)

    def told(self) -> Affected:
        """Return it as a caller is told."""
        return Affected(
            kind=self.kind,
            path=self.path,
            id=self.id,
            key=self.key,
            first_line=self.first_line,
            last_line=self.last_line,
            why=self.why,
        )


def read_target(desk: Desk, path: str, kind: str, why: str = "named") -> Target | None:
    """Return a note as a target; None when it is gone."""
    note = NotePath(path)
    try:
        data, _ = desk.folder.read(note)
    except HivemindError:
        return None
    text = decode(data)
    front = split_front_matter(text)
    values = front.values
    body, first_line = body_of(text, front)
    mark = values.get("forgotten")
    return Target(
        kind=kind,
        path=note,
        id=text_of(values, "id"),
        key=text_of(values, "key") if kind == MEMORY else "",
        first_line=first_line,
        last_line=first_line + body.count("\n"),
        text=body,
        standing=standing_apart(path, values),
        forgotten="" if mark in (None, False, "") else str(mark),
        created=text_of(values, "created"),
        supersedes=texts_of(values, "supersedes"),
        superseded_by=text_of(values, "superseded_by"),
        why=why,
    )


def notes_in(
    desk: Desk, scopes: frozenset[str] | None
) -> Iterator[tuple[NotePath, bytes]]:
    """Yield every note of some scopes with its bytes; None: of all."""
    for path in sorted(desk.folder.stamps()):
        if scopes is not None and scope_of(path) not in scopes:
            continue
        try:
            yield path, desk.folder.read(path)[0]
        except HivemindError:
            continue  # what nobody can read is in no index either


def entry_target(path: NotePath, entry: FoundEntry, why: str = "named") -> Target:
    """Return an entry as a target."""
    return Target(
        kind=ENTRY,
        path=path,
        id=entry.provenance.id,
        first_line=entry.first_line,
        last_line=entry.last_line,
        text=entry.content,
        forgotten="yes" if entry.provenance.is_forgotten else "",
        created=entry.provenance.at,
        why=why,
    )
