"""Edits to the entries of notes: finds them, marks them as forgotten, removes them.

``sections`` decides what an entry is and where it ends, so that what is removed is
exactly what a search finds. All other bytes stay as they are.

``change_entries`` edits several notes under the journal's lock, so nothing is appended
meanwhile, and records in the journal what must not be recovered.
"""

from __future__ import annotations

from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    VersionChangedError,
)
from hivemind_memory.markdown.entry import OPENING, parse_provenance
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.outline import ParsedLines
from hivemind_memory.markdown.sections import segments_of
from hivemind_memory.markdown.text import decode, is_blank, plain, split_lines
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.value import value
from hivemind_memory.notes.crashed_write import finish_crashed_write
from hivemind_memory.notes.memory_file import edit_note
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.markdown.sections import Segment
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.journal import Journal
    from hivemind_memory.notes.journal_records import JournalEntry


_BOM = b"\xef\xbb\xbf"
_END = b" -->"
_FORGOTTEN = lazy_re(rb" forgotten=[^ ]*")

LEAD_LINES = 2
"""Blank lines that the writer puts before an entry."""


@value
class FoundEntry:
    """An entry as it is in a note."""

    provenance: Provenance
    start_line: int
    """The line of its comment, from 1."""

    end_line: int
    """Its last line that is not blank."""

    content: str
    """Its text below the comment, without blank edges."""


def entries_in(data: bytes) -> tuple[FoundEntry, ...]:
    """Return the entries of a note, in order."""
    if OPENING.encode() not in data:
        return ()
    lines = split_lines(decode(data))
    found = []
    for segment, provenance in _entries(lines):
        last = _last_line(lines, segment)
        content = plain("\n".join(lines[segment.content : last + 1]))
        found.append(
            FoundEntry(
                provenance=provenance,
                start_line=segment.content,
                end_line=last + 1,
                content=content,
            )
        )
    return tuple(found)


def with_forgotten(data: bytes, entry_ids: Collection[str], at: str) -> bytes:
    """Return a note with ``forgotten=`` in the comments of some entries.

    Args:
        data: The whole note.
        entry_ids: Those; one that is forgotten already keeps its time.
        at: The time now, ISO 8601.
    """
    mark = f" forgotten={at}".encode()

    def marked(line: bytes) -> bytes:
        start, end, rest = line.rpartition(_END)
        return start + mark + end + rest

    return _with_comments(data, entry_ids, marked, is_forgotten=False)


def forgotten_at(data: bytes, entry_id: str) -> str:
    """Return when an entry of a note was forgotten; empty: it does not say so."""
    for line in data.split(b"\n"):
        found = _FORGOTTEN.search(line) if line.startswith(OPENING.encode()) else None
        if found is not None and f" id={entry_id} ".encode() in line:
            return found[0].partition(b"=")[2].decode("ascii", "replace")
    return ""


def unmark_forgotten(data: bytes, entry_ids: Collection[str]) -> bytes:
    """Return a note with some entries no longer forgotten."""
    return _with_comments(
        data, entry_ids, lambda line: _FORGOTTEN.sub(b"", line), is_forgotten=True
    )


def without_entries(data: bytes, entry_ids: Collection[str]) -> bytes:
    """Return a note without the lines of some entries.

    The blank lines go too that the writer put before them; where an entry began the
    note, those that it put before the next one.
    """
    lines = split_lines(decode(data))
    gone: set[int] = set()
    for segment, provenance in _entries(lines):
        if provenance.id not in entry_ids:
            continue
        first, stop = segment.content - 1, _last_line(lines, segment) + 1
        gone.update(range(first, stop))
        above = [at for at in range(first) if at not in gone]
        if any(not is_blank(lines[at]) for at in above):
            lead = [at for at in reversed(above) if at >= first - LEAD_LINES]
        else:
            lead = list(range(stop, min(stop + LEAD_LINES, len(lines))))
        for at in lead:
            if not is_blank(lines[at]):
                break
            gone.add(at)
    return _joined(data, lambda at, line: b"" if at in gone else line)


def _entries(lines: list[str]) -> Iterable[tuple[Segment, Provenance]]:
    """Yield the segments of a note that are entries."""
    text = "\n".join(lines)
    front_lines = split_front_matter(text).line_count
    for segment in segments_of(
        ParsedLines(text=text, lines=lines, starts=()), front_lines
    ):
        if segment.provenance is not None:
            yield segment, segment.provenance


def _last_line(lines: list[str], segment: Segment) -> int:
    """Return the index of an entry's last line that is not blank."""
    last = segment.stop - 1
    while last >= segment.content and is_blank(lines[last]):
        last -= 1
    return last


def _with_comments(
    data: bytes,
    entry_ids: Collection[str],
    change: Callable[[bytes], bytes],
    *,
    is_forgotten: bool,
) -> bytes:
    """Return a note with the comments changed of those entries that are so."""
    lines = split_lines(decode(data))
    comments = {
        segment.content - 1
        for segment, provenance in _entries(lines)
        if provenance.id in entry_ids and provenance.is_forgotten == is_forgotten
    }

    def changed(at: int, line: bytes) -> bytes:
        if at not in comments:
            return line
        new = change(line)
        # A comment that does not read as it should afterwards is none that we wrote.
        read = parse_provenance(new.decode("utf-8", "replace").removesuffix("\n"))
        return new if read and read.is_forgotten != is_forgotten else line

    return _joined(data, changed)


def _joined(data: bytes, change: Callable[[int, bytes], bytes]) -> bytes:
    """Return a note with each line, its newline included, changed by its index."""
    bom = _BOM if data.startswith(_BOM) else b""
    lines = data.removeprefix(_BOM).split(b"\n")
    whole = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    rest = b"".join(change(at, line) for at, line in enumerate(whole))
    return bom + rest if rest else b""


@value
class EntryChanges:
    """What was changed, and what could not be."""

    paths: tuple[NotePath, ...]
    """Notes that are different now."""

    failed: Mapping[NotePath, HivemindError]
    """Note -> why it is as it was."""

    journal_problem: HivemindError | None = None
    """Why the journal still knows the entries."""

    journal_texts: int = 0
    """Texts that went from the journal."""


def change_entries(
    folder: NotesFolder,
    journal: Journal,
    entries: Mapping[NotePath, Collection[str]],
    change: Callable[[bytes, Collection[str]], bytes],
    *,
    now_s: float,
    final: Collection[str],
) -> EntryChanges:
    """Change entries in their notes; a note that cannot be changed stops no other.

    Args:
        folder: The notes.
        journal: The journal of that folder.
        entries: Note -> ids of its entries.
        change: Bytes of a note and ids -> its new bytes.
        now_s: Seconds since the epoch.
        final: Ids that the journal forgets: if their text vanishes later, it does not
            come back. Those of a note that could not be changed stay, and those of
            another note that has an entry with the same id.

    Raises:
        NotSavedError: The lock of writers was not free; nothing was changed.
        VersionChangedError: From *change*; no further note is changed.
    """
    paths: list[NotePath] = []
    failed: dict[NotePath, HivemindError] = {}
    problem: HivemindError | None = None
    dropped = 0
    with journal.session() as session:
        try:
            finish_crashed_write(session)
        except OSError as error:
            raise journal.write_error(error) from error
        for path, ids in entries.items():
            try:
                if edit_note(folder, path, lambda data, ids=ids: change(data, ids)):  # type: ignore[misc]  # bound now
                    paths.append(path)
            except NoteNotFoundError:
                continue  # so is the entry
            except VersionChangedError:
                raise
            except HivemindError as error:
                failed[path] = error
        if final:
            known = session.entries()
            gone = {*final}.difference(*(entries[path] for path in failed))
            gone -= _kept_elsewhere(folder, known, gone, entries)
            try:
                session.keep(known.keys() - gone, now_s)
                dropped = len(known.keys() & gone)
            except OSError as error:
                problem = journal.write_error(error)
    return EntryChanges(
        paths=tuple(paths),
        failed=failed,
        journal_problem=problem,
        journal_texts=dropped,
    )


def _kept_elsewhere(
    folder: NotesFolder,
    known: Mapping[str, JournalEntry],
    ids: Collection[str],
    changed: Collection[NotePath],
) -> set[str]:
    """Return the ids whose entry, as it was written, is in a note that stays."""
    kept = set()
    for entry in (known[entry_id] for entry_id in ids if entry_id in known):
        if entry.root != folder.root:
            kept.add(entry.id)
        if entry.root != folder.root or entry.target in changed:
            continue
        try:
            data, _ = folder.read(entry.target)
        except HivemindError:
            continue
        if any(other.provenance.id == entry.id for other in entries_in(data)):
            kept.add(entry.id)
    return kept
