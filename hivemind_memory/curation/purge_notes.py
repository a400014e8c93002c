"""The part of a purge that goes through the notes and the journal."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.curation.links import unlink_purged
from hivemind_memory.curation.lookup import Target, notes_in
from hivemind_memory.curation.purge_plan import (
    Work,
    hashes_in,
)
from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotSavedError,
)
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import ENTRY, Failed
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entry_edits import change_entries, without_entries
from hivemind_memory.notes.memory_file import remove_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.curation.context import Eraser
    from hivemind_memory.memory.sync import ChunkSettings


_ATTEMPTS = 10


_MOST_QUOTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of the entries."""

    journal_texts: int = 0
    left: tuple[Failed, ...] = ()


def take_files(
    eraser: Eraser, targets: Sequence[Target], work: Work, chunking: ChunkSettings
) -> list[Failed]:
    """Take the files of memories and whole notes away; return what is left."""
    left = []
    for target in targets:
        if target.kind == ENTRY:
            continue
        try:
            with eraser.desk.turn(target.scope, target.key):
                _take_file(eraser, target, work, chunking)
        except NoteNotFoundError:
            continue
        except HivemindError as error:
            left.append(Failed(what=target.path, why=str(error)))
    return left


def _take_file(
    eraser: Eraser, target: Target, work: Work, chunking: ChunkSettings
) -> None:
    """Take one file away, whatever was saved to it since the look."""
    folder = eraser.desk.folder
    for attempt in range(_ATTEMPTS):
        data, stamp = folder.read(target.path)
        work.hashes |= hashes_in(target.path, data, None, chunking)
        try:
            remove_note(folder, target.path, expected=stamp)
        except NotSavedError:
            if folder.stamp(target.path) == stamp or attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def take_entries(eraser: Eraser, targets: Sequence[Target], work: Work) -> Taken:
    """Take entries out of their notes, and all that is meant out of the journal."""
    ids: dict[NotePath, set[str]] = {}
    for target in targets:
        if target.kind == ENTRY:
            ids.setdefault(target.path, set()).add(target.id)
    gone = {*work.ids, *_journalled(eraser, work)}
    texts = count_journal(eraser, work)
    desk = eraser.desk
    try:
        changed = change_entries(
            desk.folder,
            eraser.journal,
            ids,
            without_entries,
            now_s=desk.clocks.now(),
            final=gone,
        )
    except HivemindError as error:
        return Taken(left=(Failed(what="entries and journal", why=str(error)),))
    left = [Failed(what=what, why=str(why)) for what, why in changed.failed.items()]
    if changed.journal_problem is not None:
        left.append(Failed(what="journal", why=str(changed.journal_problem)))
    return Taken(journal_texts=texts, left=tuple(left))


def count_journal(eraser: Eraser, work: Work) -> int:
    """Return how many texts of it the journal keeps."""
    gone = {*work.ids, *_journalled(eraser, work)}
    return sum(entry.id in gone for entry in eraser.journal.entries())


def _journalled(eraser: Eraser, work: Work) -> Iterator[str]:
    """Yield the ids of entries that were written to notes that go as a whole."""
    for entry in eraser.journal.entries():
        is_ours = entry.root == eraser.desk.folder.root
        if is_ours and not work.paths.isdisjoint((entry.path, entry.target)):
            yield entry.id


def change_others(
    eraser: Eraser, targets: Sequence[Target], work: Work
) -> list[Failed]:
    """Take what is purged out of the front matter of other memories."""
    purged = {one: Target(kind=ENTRY, path=NotePath(""), id=one) for one in work.ids}
    purged |= {target.id: target for target in targets if target.id}
    gone = {target.path for target in targets if target.kind != ENTRY}
    left: list[Failed] = []
    for path, data in notes_in(eraser.desk, eraser.desk.caller.scopes):
        has_header = data.startswith((b"---", b"\xef\xbb\xbf---"))
        if path in gone or not has_header:
            continue
        if not any(one.encode() in data for one in purged):
            continue
        error = unlink_purged(eraser.desk, path, purged)
        if error is not None:
            left.append(Failed(what=path, why=str(error)))
        work.notes.add(path)
    return left


def that_quote(
    eraser: Eraser, targets: Sequence[Target], probes: Sequence[str]
) -> Iterator[Failed]:
    """Yield notes that hold a line of it and are not ours to change."""
    gone = {(one.path, line) for one in targets for line in _lines(one)}
    whole = {one.path for one in targets if one.kind != ENTRY}
    found = 0
    for path, data in notes_in(eraser.desk, eraser.desk.caller.scopes):
        text = decode(data) if probes else ""
        if path in whole or not any(probe in text for probe in probes):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if (path, number) in gone or not any(probe in line for probe in probes):
                continue
            found += 1
            if found <= _MOST_QUOTED:
                why = "the same words stand here: change it by hand if they must go"
                yield Failed(what=f"{path}:{number}", why=why)


def _lines(target: Target) -> range:
    """Return the lines on which a target stands."""
    return range(target.first_line, target.last_line + 1)
