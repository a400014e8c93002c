"""Finds copies of a purged text in files that are no notes; drops derived ones."""

from __future__ import annotations

import os

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError, NoteUnreadableError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.paths import SUFFIX
from hivemind_memory.model.curation import FailedItem
from hivemind_memory.model.snapshot import SkippedNote
from hivemind_memory.redaction.clean_texts import forget_clean_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.places import Places
    from hivemind_memory.files.scan import FolderSnapshot


_BLOCK_BYTES = 1024 * 1024


def remove_derived(places: Places) -> Iterator[tuple[str, str]]:
    """Remove what is made again when it is wanted; yield what cannot be, and why.

    A section of a file, whose vector is kept, may be a copy of the text. Who has the
    hash of a text without secrets, and its key, can check a guess.
    """
    for path in places.all_section_vectors():
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield os.path.basename(path), cause_of(error)[0]
    try:
        forget_clean_texts(places.clean_texts)
    except OSError as error:
        yield os.path.basename(places.clean_texts), cause_of(error)[0]
    except HivemindError as error:
        yield os.path.basename(places.clean_texts), str(error)


def editor_copies(
    notes: str, paths: Collection[str], probes: Sequence[str]
) -> Iterator[FailedItem]:
    """Yield files beside some notes, kept by an editor, that may hold the text."""
    wanted = [probe.encode() for probe in probes]
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    for folder, names in sorted(by_folder.items()):
        try:
            there = sorted(os.listdir(os.path.join(notes, folder)))
        except OSError:
            continue
        for other in there:
            is_note = other.endswith(SUFFIX) and not other.startswith(".")
            if is_note or not any(name in other for name in names):
                continue
            path = os.path.join(notes, folder, other)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            holds = _file_holds(path, wanted) if wanted else None
            if holds is not False:
                # Unreadable, or the text is too short to be recognised.
                verb = "holds" if holds else "may hold"
                why = (
                    f"an editor's copy {verb} the text: close the editor, then delete"
                    " the copy"
                )
                yield FailedItem(what=path, why=why)


def passed_over(context: CurationContext, texts: Sequence[str]) -> Iterator[FailedItem]:
    """Yield files that are no notes of the index and hold the text, or may hold it.

    They are too large, have a name that no note may have, or cannot be read now. Links
    are not followed.
    """
    wanted = [text.encode() for text in texts]
    snapshot = context.folder.snapshot()
    for skipped in (*snapshot.skipped, *_unreadable(context.folder, snapshot)):
        path = os.path.join(context.places.notes, skipped.path)
        if os.path.islink(path) or not may_read(context.caller, skipped.path):
            continue
        holds = _file_holds(path, wanted) if wanted else None
        if holds is None:
            why = f"it was not searched for the text, since {skipped.reason}"
            yield FailedItem(what=skipped.path, why=why)
        elif holds:
            why = f"it holds the text and was not changed, since {skipped.reason}"
            yield FailedItem(what=skipped.path, why=why)


def _unreadable(folder: NotesFolder, snapshot: FolderSnapshot) -> Iterator[SkippedNote]:
    """Yield the notes that the system does not let us read now."""
    for path in sorted(snapshot.signatures):
        try:
            folder.signature(path)
        except NoteUnreadableError as error:
            yield SkippedNote(path=path, reason=str(error).removesuffix("."))


def _file_holds(path: str, wanted: Sequence[bytes]) -> bool | None:
    """Return whether a regular file holds one of some texts; None: it can't be read.

    It is read block by block, for it may be of any size.
    """
    overlap = max(map(len, wanted), default=1) - 1
    before = b""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return None
        with open(path, "rb", opener=open_regular) as file:
            while block := file.read(_BLOCK_BYTES):
                data = before + block
                if any(probe in data for probe in wanted):
                    return True
                before = data[-overlap:] if overlap else b""
    except OSError:
        return None
    return False
