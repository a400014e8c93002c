"""What a note is made of: its entries and its chunks."""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.value import NO_ITEMS, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.note_path import NotePath


@value
class Provenance:
    """Who wrote an entry and when, as its comment line says."""

    at: str
    """Time of writing, ISO 8601 with the offset of the writer's clock."""

    id: str = ""
    """ULID of the entry; empty until it is appended."""

    by: str = ""
    """Agent or person; empty when unknown."""

    session: str = ""
    """The agent's own name for its session; empty when unknown."""

    source: str = "agent"
    """human, agent, tool or external."""

    ref: str = ""
    """What it was derived from; empty when nothing says so."""

    tags: tuple[str, ...] = ()
    """Words that it is filed under."""

    is_forgotten: bool = False
    """The entry was forgotten: its lines stay, no search shows them."""


@value
class Chunk:
    """Whole lines of one note: the unit that is indexed and found."""

    headings: tuple[str, ...]
    """Headings above the text, outermost first; empty before the first heading."""

    start_line: int
    """Number of the first line, from 1."""

    end_line: int
    """Number of the last line, itself included."""

    text: str
    """The lines as they are in the note, without the last newline."""

    body: str
    """What is searched and embedded: the text without front matter, without the
    comment lines of entries, and with the overlap of the chunk before it."""

    provenance: Provenance | None = None
    """The entry that the chunk belongs to; None for text that a person wrote."""


@value
class Note:
    """One Markdown file, parsed: never wrong, whatever its bytes are."""

    path: NotePath
    chunks: tuple[Chunk, ...]
    """In order of lines, disjoint, covering every line of the file."""

    front_matter: Mapping[str, object] = NO_ITEMS
    """Parsed YAML; empty when there is none or it does not parse."""

    has_broken_front_matter: bool = False
    """The file opens a front matter that does not parse: it is searched as plain
    text and never rewritten."""

    line_count: int = 0

    grown_from: str = ""
    """SHA-256 of the bytes that the index has, if the file begins with them and only
    what follows was read: then there are no chunks before ``first_line``. Empty: all
    chunks are there."""

    first_line: int = 1
    """Number of the first line that was read."""


class Growth(NamedTuple):
    """What a note begins with that the index has."""

    digest: str
    """SHA-256 of the indexed bytes."""

    first_char: int
    """Where in the text the reading begins: with a block."""

    line_count: int
    """Lines before that."""

    again: str
    """What was indexed and is read again."""
