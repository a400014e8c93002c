"""Checks of ``hm doctor`` on what notes say: front matter, types, copies of one note.

Reads every note: the index holds only what it understood of them.
"""

from __future__ import annotations

import unicodedata

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.reader import NoteReader
from hivemind_memory.files.scan import BYTES_PER_MB
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode, is_utf8
from hivemind_memory.model.display import clause, count_text, first_few
from hivemind_memory.model.keys import closest, operand
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.memory_types import all_types
from hivemind_memory.model.results import Finding
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.memory_header import header_of
from hivemind_memory.notes.slug import is_conflict_copy, rank_of_name
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath

_VALUE = lazy_re(r"\A---[ \t\r]*\n(?:.*\n){0,40}?[\w-]+:(?:\s|\Z)")
"""How a front matter begins that a person meant as one; two rules around text are no
front matter."""


def note_findings(places: Places, settings: Settings) -> Iterator[Finding]:
    """Return what is wrong with notes, each kind with the first few that have it."""
    folder = NotesFolder(
        places.notes,
        max_note_bytes=settings.max_note_mb * BYTES_PER_MB,
        links=settings.followed_links,
    )
    checked = _Checked(settings.own_types())
    paths = sorted(folder.snapshot().signatures)
    with NoteReader(folder) as reader:
        for path in paths:
            try:
                data = reader.read(path).data
                checked.add(path, decode(data))
                if not is_utf8(data):
                    checked.undecoded.append(path)
            except HivemindError as error:
                checked.unread.append(error)
    yield from checked.findings()
    yield from _case_findings(paths)


def _case_findings(paths: list[NotePath]) -> Iterator[Finding]:
    """Return which notes differ in letter case alone: elsewhere they are one file."""
    alike: dict[str, list[str]] = {}
    for path in paths:
        folded = unicodedata.normalize("NFC", path).casefold()
        alike.setdefault(folded, []).append(path)
    some = [same for same in alike.values() if len(same) > 1]
    if some:
        named = first_few([" and ".join(same) for same in some])
        yield Finding(
            name="letter case",
            is_ok=False,
            detail=(
                f"{count_text(len(some), 'group')} of notes whose names differ in"
                f" letter case alone: {named}"
            ),
            hint=(
                "Rename all but one of each. On macOS and Windows they are one file,"
                " and a copy of this folder keeps only one."
            ),
        )


class _Checked:
    """What the notes that were read have in common."""

    def __init__(self, types: Mapping[str, MemoryType]) -> None:
        self._types = types
        self.unread: list[HivemindError] = []
        """Why notes could not be read."""
        self.undecoded: list[str] = []
        """Notes whose bytes are not UTF-8."""
        self._broken: list[str] = []
        self._misspelt: dict[str, str] = {}
        """Path -> the unknown type of what was meant as a memory."""
        self._foreign: dict[str, None] = {}
        """Unknown types of other notes: another program's, as a rule."""
        self._copies: list[str] = []
        self._active: dict[tuple[str, str], list[str]] = {}
        """Scope, key -> the notes that are active under it."""

    def add(self, path: NotePath, text: str) -> None:
        """Check one note."""
        if is_conflict_copy(path):
            self._copies.append(path)
        front = split_front_matter(text)
        if front.is_broken and _VALUE.match(text):
            self._broken.append(path)
        if not front.values:
            return
        header = header_of(path, front.values, custom=self._types)
        if header.type and header.key and header.status == ACTIVE:
            self._active.setdefault((scope_of(path), header.key), []).append(path)
        name = front.values.get("type")
        if not isinstance(name, str) or not name.strip() or header.type:
            return
        is_meant = front.values.keys() & {"id", "key"} or self._near(name)
        if is_meant:
            self._misspelt[path] = name.strip()
        else:
            self._foreign[name.strip()] = None

    def findings(self) -> Iterator[Finding]:
        """Return what was found."""
        if self.unread:
            more = len(self.unread) - 1
            yield Finding(
                name="readable",
                is_ok=False,
                detail=clause(str(self.unread[0]))
                + (f", and {count_text(more, 'more note')}" if more else ""),
                hint=self.unread[0].hint,
            )
        if self.undecoded:
            count = count_text(len(self.undecoded), "note is", "notes are")
            yield Finding(
                name="encoding",
                is_ok=False,
                detail=f"{count} not UTF-8, so some letters are not found:"
                f" {first_few(self.undecoded)}",
                hint="Save them as UTF-8 in your editor. For a file of Windows or an"
                " old program: `iconv -f latin1 -t utf-8 OLD.md >NEW.md`.",
            )
        if self._broken:
            yield Finding(
                name="front matter",
                is_ok=False,
                detail=f"{count_text(len(self._broken), 'note')} with front matter that"
                " is not valid YAML; all of it counts as text:"
                f" {first_few(self._broken)}",
                hint=f"Run `hm edit {operand(self._broken[0])}`. A value that contains"
                " a colon needs quotes.",
            )
        else:
            yield Finding(name="front matter", is_ok=True, detail="valid in every note")
        yield from self._type_findings()
        yield from self._copy_findings()

    def _type_findings(self) -> Iterator[Finding]:
        """Return which types of notes are unknown."""
        if self._misspelt:
            path, name = next(iter(self._misspelt.items()))
            near = self._near(name)
            meant = f"Did you mean {near}? " if near else ""
            named = [f"{path} ({name})" for path, name in self._misspelt.items()]
            count = count_text(len(named), "note")
            yield Finding(
                name="types",
                is_ok=False,
                detail=f"{count} with an unknown type, read as plain text:"
                f" {first_few(named)}",
                hint=f"{meant}Run `hm edit {operand(path)}` to correct it. The option"
                " types adds a type.",
            )
        elif self._foreign:
            yield Finding(
                name="types",
                is_ok=True,
                detail="notes with other types count as plain text:"
                f" {first_few(list(self._foreign))}",
            )

    def _copy_findings(self) -> Iterator[Finding]:
        """Return which notes are second versions of others."""
        twins = [
            sorted(paths, key=lambda path: (rank_of_name(path, key), path))
            for (_, key), paths in self._active.items()
            if len(paths) > 1
        ]
        copies = {
            path: f"{path} (of {first})" for first, *rest in twins for path in rest
        }
        copies |= {path: path for path in self._copies if path not in copies}
        if copies:
            yield Finding(
                name="copies of notes",
                is_ok=False,
                detail=f"{count_text(len(copies), 'note')} that a sync tool or a"
                f" person copied: {first_few(list(copies.values()))}",
                hint="Keep one version of each. Delete the other, or give it a key of"
                " its own.",
            )

    def _near(self, name: str) -> str:
        """Return the type that a name was probably meant to be, or nothing."""
        types = all_types(self._types)
        aliases = (alias for kind in types.values() for alias in kind.aliases)
        return (*closest(name, (*types, *aliases), similarity=0.8), "")[0]
