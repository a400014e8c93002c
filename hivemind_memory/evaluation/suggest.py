"""Drafts golden questions from the titles and headings of notes.

Searches are kept nowhere, so there are no real questions to begin with.
"""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.display import lines_text, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.results import ListedNote

MAX_NOTES = 2_000
"""Notes that are looked at."""

MAX_CHARS = 100
"""A first line that serves as a title is cut after so many characters."""


def draft_questions(memory: Memory, count: int) -> list[str]:
    """Return at most *count* list items, each a title and where its text is.

    The notes are spread evenly over the memory, one question each.
    """
    notes = [note for note in memory.list() if note.chunk_count][:MAX_NOTES]
    step = max(1, len(notes) // max(1, count))
    spread = [*notes[::step], *(note for at, note in enumerate(notes) if at % step)]
    drafts: dict[str, str] = {}
    for note in spread:
        if len(drafts) >= count:
            break
        for title, place in _titles(memory, note):
            if title.casefold() not in drafts:
                drafts[title.casefold()] = f"- {title} → {place}"
                break
    return list(drafts.values())


def _titles(memory: Memory, listed: ListedNote) -> Iterator[tuple[str, str]]:
    """Yield the headings of a note with the places of their texts, the longest first.

    Where there is no heading, the title of the note stands for it.
    """
    try:
        text = memory.read(listed.path).text
    except HivemindError:
        return
    note = parse_note(
        listed.path, text.encode(), limit_chars=memory.settings.chunk_chars
    )
    for chunk in sorted(note.chunks, key=lambda chunk: -len(chunk.body)):
        if chunk.provenance is not None and chunk.provenance.is_forgotten:
            continue
        title = chunk.headings[-1] if chunk.headings else listed.title
        words = " ".join(title.replace("→", " ").replace("->", " ").split())
        if words:
            place = lines_text(listed.path, chunk.start_line, chunk.end_line)
            yield shorten(words, MAX_CHARS), place
