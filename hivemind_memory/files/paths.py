"""Checks the names of notes: every name from outside passes through here.

A legal name is plain: it means the same place on every system, in every shell and in
every link, and it cannot leave the notes folder. Nothing here touches a file.
"""

from __future__ import annotations

from hivemind_memory.errors import NotePathError
from hivemind_memory.model.display import shorten
from hivemind_memory.model.note_path import NotePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


NOT_UNICODE = "the name is not valid Unicode"
"""Why a file is skipped whose name another encoding made."""

SUFFIX = ".md"
PARTIAL_PREFIX = ".hm-"
"""How the name of every file or folder begins that is there for a moment only."""

MAX_PART_BYTES = 255
"""The longest name that ext4, APFS and NTFS take."""

MAX_PATH_BYTES = 1024
"""The shortest limit in use: macOS."""

MAX_PARTS = 32
"""Folders down to a note, itself included: one open descriptor for each."""

_HINT = (
    "A name is relative and ends in .md, such as global.md or projects/site/deploy.md."
)
# A device on Windows, whatever follows the first dot.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [port + digit for port in ("com", "lpt") for digit in "123456789¹²³"]
)
# Every spelling of how a device begins: one look-up clears nearly every name.
DEVICE_STARTS = frozenset(
    first + second + third
    for word in ("con", "prn", "aux", "nul", "com", "lpt")
    for first in (word[0], word[0].upper())
    for second in (word[1], word[1].upper())
    for third in (word[2], word[2].upper())
)
"""Three characters with which the name of a device may begin."""

_SHELL = "~%\\:"
# Controls of both kinds, and the two characters that break a line and are no newline.
_BREAKING = frozenset(map(chr, [*range(32), *range(127, 160), 0x2028, 0x2029]))


def parse_note_path(text: str) -> NotePath:
    """Return *text* as the path of a note, if it is one.

    Args:
        text: Anything at all, from an agent, a shell or a file.

    Raises:
        NotePathError: It is not a plain relative name that ends in ``.md``.

    >>> parse_note_path("projects/site/deploy.md")
    'projects/site/deploy.md'
    """
    problem = path_problem(text)
    if problem:
        message = f"{_shown(text)} cannot be a note: {problem}."
        raise NotePathError(message, hint=_HINT)
    return NotePath(text)


def path_in_scope(scope: str, name: str) -> NotePath:
    """Return the path of a file in a scope, which is its folder.

    >>> path_in_scope("projects/shop", "deploy.md"), path_in_scope("", "deploy.md")
    ('projects/shop/deploy.md', 'deploy.md')
    """
    return parse_note_path(f"{scope}/{name}" if scope else name)


def path_problem(text: str) -> str:
    """Return why *text* is not the path of a note, as a clause; empty when it is."""
    return next(_path_problems(text), "")


def is_plain(names: str) -> bool:
    """Return quickly whether *names*, joined by ``/``, hold only harmless characters.

    False only means that each name must be checked.
    """
    return names.isprintable() and not any(odd in names for odd in _SHELL)


def name_problem(name: str) -> str:
    """Return why *name* cannot be one part of a path, as a clause; empty if it can."""
    return next(_name_problems(name), "")


def _path_problems(text: str) -> Iterator[str]:
    """Yield all that is wrong with *text* as the path of a note."""
    if not text:
        yield "the name is empty"
    if text.startswith("/"):
        yield "the name must be relative to the notes folder"
    parts = text.split("/")
    if len(parts) > MAX_PARTS:
        yield f"it is nested more than {MAX_PARTS} folders deep"
    for part in parts:
        yield from _name_problems(part)
    if not text.endswith(SUFFIX):
        yield f"the name does not end in {SUFFIX}"
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        yield f"the name is longer than {MAX_PATH_BYTES} bytes"


def _name_problems(name: str) -> Iterator[str]:
    """Yield all that is wrong with *name* as one part of a path."""
    if not name:
        yield "a part of the name is empty"
    if name.startswith("."):
        yield f"{_shown(name)} begins with a dot"
    if name.endswith((" ", ".")):
        yield f"{_shown(name)} ends in a space or a dot"
    for odd in _SHELL:
        if odd in name:
            yield f"the name contains {odd}"
    if not name.isprintable():
        if not _BREAKING.isdisjoint(name):
            yield "the name contains a control character"
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            yield NOT_UNICODE
    if len(name.encode("utf-8", "surrogatepass")) > MAX_PART_BYTES:
        yield f"a part of the name is longer than {MAX_PART_BYTES} bytes"
    if name[:3] in DEVICE_STARTS:
        stem = name.partition(".")[0].rstrip().lower()
        if stem in _DEVICES:
            yield f"{_shown(name)} is the name of a device on Windows"


def _shown(text: str) -> str:
    """Return *text* quoted, on one line, short, and fit for any output."""
    return repr(shorten(text, 60))
