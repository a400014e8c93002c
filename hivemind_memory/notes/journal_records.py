"""The lines of the journal: one JSON object each, and the entries they describe.

An entry's story is ``begin`` (with its whole text), ``saved``, and, if it vanished,
``again`` (with the text for ``recovered.md``) and ``recovered``; or ``dropped``. The
text comes last in its line, so that a story is read without decoding any text.
"""

from __future__ import annotations

import json
from functools import lru_cache
from sys import intern

from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import RECOVERY_WINDOW_S
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hivemind_memory.model.snapshot import FileSignature


BEGUN, SAVED, RETURNING, RECOVERED = "begun", "saved", "returning", "recovered"
"""The states of an entry: in doubt, in its note, in doubt again, in recovered.md."""

DROPPED = "dropped"
"""Recorded for an entry that was never acknowledged and is forgotten."""

LONGEST_MARK_BYTES = 8192
"""Lines without a text are shorter than this; see ``files.paths.MAX_PATH_BYTES``."""

_NOBODY = frozenset[str]()
_TEXT = b',"text":'  # cannot be inside a JSON string: its quotes would be escaped


@value
class JournalEntry:
    """What the journal knows about one entry."""

    id: str
    root: str
    """The notes folder, absolute: one home may serve several."""

    path: NotePath
    """The note that it was written to."""

    at_s: float
    """When it was written, seconds since the epoch."""

    state: str
    target: NotePath
    """The note that its latest text was meant for: ``path``, or recovered.md."""

    size_before: int
    """Bytes of ``target`` before that text."""

    is_new: bool
    """There was no ``target`` before that text."""

    offset: int
    """Where the line with that text begins in the journal."""

    owners: frozenset[str] = frozenset()
    """What the record of its project named when it was written, as digests."""

    folder: int = 0
    """The inode of the folder that held its note then; 0: unknown."""


MAX_SET_BACK_S = SECONDS_PER_DAY
"""What is further in the future was written while the clock was wrong, and may never be
ten minutes old."""


@value
class LastSaved:
    """How a note ended when an entry was last appended to it."""

    path: NotePath
    signature: FileSignature
    line_count: int
    newline: str
    folder: int = 0
    """The inode of the folder that holds the note; 0: unknown."""


def is_recoverable(entry: JournalEntry, now_s: float) -> bool:
    """Return whether an entry is in its ten minutes.

    One from the future was written before the clock was set back: how long ago is not
    known, so it stays until the clock is there again.
    """
    age_s = now_s - entry.at_s
    return -MAX_SET_BACK_S < age_s < RECOVERY_WINDOW_S


def opened_line(now_s: float) -> bytes:
    """Return the first line of a journal."""
    return _line({"do": "opened", "at": now_s})


def text_line(entry: JournalEntry, text: str) -> bytes:
    """Return the line that goes before *text* is appended to a note."""
    digest = sha256_hex(text.encode())
    record: dict[str, object] = {
        "do": "again" if entry.state == RETURNING else "begin",
        "id": entry.id,
        "root": entry.root,
        "path": entry.target,
        "at": entry.at_s,
        "size_before": entry.size_before,
        "new": entry.is_new,
        "owners": sorted(entry.owners),
        "sha256": digest,
    }
    return _line({**record, "text": text})


def mark_line(do: str, entry_id: str) -> bytes:
    """Return the line that says what became of an entry: recovered or dropped."""
    return _line({"do": do, "id": entry_id})


def saved_line(entry_id: str, last: LastSaved) -> bytes:
    """Return the line that says that an entry is in its note, and how that ends now."""
    return _line(
        {
            "do": "saved",
            "id": entry_id,
            "path": last.path,
            "stamp": last.signature,
            "lines": last.line_count,
            "newline": last.newline,
            "folder": last.folder,
        }
    )


def renamed_line(line: bytes, new_path: Callable[[str], str]) -> bytes:
    """Return a line for a note that was moved; the same if it names none.

    Its entry belongs where it was moved to, whatever the project there names.
    """
    heading = heading_of(line)
    path = heading.get("path")
    if not isinstance(path, str) or new_path(path) == path:
        return line
    nobody: dict[str, object] = {"owners": []} if "owners" in heading else {}
    try:
        return _line({**json.loads(line), "path": new_path(path), **nobody})
    except ValueError:
        return line  # torn: it counts as not written


def copied_line(line: bytes, paths: Mapping[str, NotePath]) -> bytes:
    """Return a line for a copy of the notes, whose folders have other inodes.

    Args:
        line: A line of the journal.
        paths: Ids of entries, and where the notes are that they were written to.
    """
    heading = heading_of(line)
    path = paths.get(str(heading.get("id"))) if heading.get("do") != "again" else None
    changes: dict[str, object] = {"folder": 0} if "folder" in heading else {}
    if path and "path" in heading:
        changes["path"] = path
    try:
        return _line({**json.loads(line), **changes}) if changes else line
    except ValueError:
        return line  # torn: it counts as not written


def heading_of(line: bytes) -> dict[str, object]:
    """Return a line without its text; empty when it is not a line of a journal."""
    cut = line.find(_TEXT)
    try:
        record = json.loads(line if cut < 0 else line[:cut] + b"}")
    except ValueError:
        return {}
    return record if isinstance(record, dict) and "do" in record else {}


def text_of(line: bytes) -> str:
    """Return the text of a line; empty when the line is damaged."""
    try:
        record = json.loads(line)
        text, digest = str(record["text"]), record["sha256"]
    except (ValueError, LookupError, TypeError):
        return ""
    return text if sha256_hex(text.encode()) == digest else ""


def last_saved(heading: dict[str, object]) -> LastSaved | None:
    """Return what a ``saved`` line says about its note, or None for other lines."""
    match heading:
        case {
            "do": "saved",
            "path": str(path),
            "stamp": [int(mtime), int(ctime), int(size), int(inode)],
            "lines": int(line_count),
            "newline": str(newline),
        }:
            return LastSaved(
                path=NotePath(path),
                signature=(mtime, ctime, size, inode),
                line_count=line_count,
                newline=newline,
            )
    return None


def entries_of(lines: Iterable[bytes]) -> dict[str, JournalEntry]:
    """Return what the lines of a journal, each with its newline, add up to.

    A line that is torn or makes no sense counts as not written.
    """
    entries: dict[str, JournalEntry] = {}
    add_lines(entries, lines, 0)
    return entries


def add_lines(
    entries: dict[str, JournalEntry], lines: Iterable[bytes], start: int
) -> tuple[int, bytes]:
    """Add what further lines of a journal say to what it adds up to.

    Args:
        entries: What the lines before said; changed in place.
        lines: More of them; one that is torn counts as not written.
        start: Where the first of them begins in the journal.

    Returns:
        Where the last whole line ends, and that line; empty if there was none.
    """
    offset = end = start
    last_line = b""
    for line in lines:
        offset += len(line)
        if not line.endswith(b"\n"):
            continue
        end, last_line = offset, line
        match heading_of(line):
            case {
                "do": "begin" | "again" as do,
                "id": str(entry_id),
                "root": str(root),
                "path": str(target),
                "at": int() | float() as at_s,
                "size_before": int(size_before),
                "new": bool(is_new),
                **rest,
            }:
                # Nearly all of them name the same folder and the same few notes.
                root, note = intern(root), _note_path(target)
                known = entries.get(entry_id)
                is_again = do == "again" and known is not None
                entries[entry_id] = JournalEntry(
                    id=entry_id,
                    root=root,
                    path=known.path if known and is_again else note,
                    at_s=at_s,
                    state=RETURNING if is_again else BEGUN,
                    target=note,
                    size_before=size_before,
                    is_new=is_new,
                    offset=offset - len(line),
                    owners=_owners(rest.get("owners")),
                    folder=known.folder if known and is_again else 0,
                )
            case {"do": "saved" | "recovered" as state, "id": str(entry_id), **rest}:
                if known := entries.get(entry_id):
                    match rest:
                        case {"folder": int(folder)} if folder:
                            known = replaced(known, folder=folder)
                    entries[entry_id] = replaced(known, state=state)
            case {"do": "dropped", "id": str(entry_id)}:
                entries.pop(entry_id, None)
    return end, last_line


def _owners(names: object) -> frozenset[str]:
    """Return the owners that a line names; earlier versions named none."""
    return _same_owners(tuple(map(str, names))) if isinstance(names, list) else _NOBODY


@lru_cache(64)
def _same_owners(names: tuple[str, ...]) -> frozenset[str]:
    """Return some owners as a set, for nearly all entries the same object."""
    return frozenset(map(intern, names))


@lru_cache(64)
def _note_path(target: str) -> NotePath:
    """Return a path; that of the last notes is the same object each time."""
    return NotePath(target)


def _line(record: dict[str, object]) -> bytes:
    """Return *record* as one line."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"
