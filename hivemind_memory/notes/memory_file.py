"""The file of a typed memory: read, composed, marked as superseded, edited in place.

A file whose bytes or front matter cannot be kept exactly is never rewritten.

An edit works on the bytes that are there at that moment, and starts again when they
change meanwhile, so what a person saves in between is never lost.
"""

from __future__ import annotations

import stat

from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.descriptors import signature_of
from hivemind_memory.files.digests import sha256_digest
from hivemind_memory.files.errors import MAX_ATTEMPTS, kept_changing, save_error
from hivemind_memory.markdown.entry import escape_markers, new_ulid
from hivemind_memory.markdown.front_matter import (
    FrontMatter,
    blocks_of,
    render_header,
    split_front_matter,
    with_values,
)
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.own_forms import FIELDS, STATUS_FIELDS
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


_BOM = b"\xef\xbb\xbf"


@value
class MemoryFile:
    """A note with a front matter, read so that it can be written again."""

    path: NotePath
    signature: FileSignature
    text: str
    """All of it but a byte order mark."""

    has_bom: bool
    """It begins with a byte order mark."""

    front: FrontMatter

    @property
    def body(self) -> str:
        """Its text without front matter and blank edges, lines ended by a newline."""
        return fit_content(body_of(self.text, self.front)[0])

    @property
    def id(self) -> str:
        """Its id; one that its bytes make up when a person gave it none.

        So a save that was killed halfway and is tried again names it alike.
        """
        given = self.front.values.get("id")
        if isinstance(given, str | int) and str(given).strip():
            return str(given).strip()
        digest = sha256_digest(self.text.encode())
        return new_ulid(max(0, self.signature[0]) // 10**6 / 1000, digest[:10])

    def with_values(self, changes: Mapping[str, object]) -> bytes:
        """Return its bytes with some keys of the front matter changed.

        Raises:
            NotSavedError: They cannot be changed without touching others.
        """
        try:
            text = with_values(self.text, changes)
        except ValueError as error:
            raise _unfit(self.path, str(error)) from error
        return (_BOM if self.has_bom else b"") + text.encode()

    def with_body(self, body: str) -> bytes:
        """Return its bytes with another text below the same front matter."""
        head = self.text.split("\n")[: self.front.line_count]
        end = "\r\n" if head[0].endswith("\r") else "\n"
        text = "\n".join([*head, f"{body}\n".replace("\n", end)])
        return (_BOM if self.has_bom else b"") + text.encode()


def read_memory_file(folder: NotesFolder, path: NotePath) -> MemoryFile:
    """Read the file of a typed memory, to change or replace it.

    Raises:
        NoteNotFoundError: It is not there.
        NoteUnreadableError: It cannot be read now.
        NotSavedError: Its bytes are not UTF-8, or its front matter is not valid YAML.
    """
    data, signature = folder.read(path)
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise _unfit(path, "the file is not valid UTF-8") from error
    front = split_front_matter(text)
    if front.is_broken:
        raise _unfit(path, "its front matter is not valid YAML")
    if not front.line_count:
        raise NotSavedError(
            f"{path} cannot be changed: it is a note without front matter.",
            hint="Only a typed memory has one; save the text under a key first.",
            effect="Nothing was saved",
        )
    return MemoryFile(
        path=path,
        signature=signature,
        text=text,
        has_bom=data.startswith(_BOM),
        front=front,
    )


def compose(
    values: Mapping[str, object],
    content: str,
    *,
    old: MemoryFile | None = None,
    kept: Collection[str] = (),
) -> tuple[str, int]:
    """Return the text of a memory's file, and the line on which its content begins.

    Args:
        values: Key -> value; those in ``FIELDS`` first, the others after.
        content: Fit by ``fit_content``.
        old: The memory that it replaces: keys that we do not know stay as they are.
        kept: Keys of *old* that we know and that stay as well.

    Raises:
        NotSavedError: What is to be kept of *old* cannot be taken over line by line.
    """
    blocks = blocks_of(old.text) if old else []
    ours = {*FIELDS, *values, *STATUS_FIELDS} - {*kept}
    stays = {key: lines for key, lines in blocks if key in kept and key not in values}
    lines = ["---"]
    for key in (*FIELDS, *(key for key in values if key not in FIELDS)):
        if key in stays:
            lines += stays[key]
        elif key in values:
            lines += render_header({key: values[key]}).split("\n")[1:-2]
    for key, block in blocks:
        if key not in ours and key not in kept:
            lines += block
    text = "\n".join([*lines, "---", content, ""])
    _check_kept(text, values, old, ours)
    return text, len(lines) + 2


def superseded_text(old: MemoryFile, key: str, *, by: str, at: str) -> bytes:
    """Return the bytes of a memory that another one replaces: all it was, and that.

    Args:
        old: The memory that was active.
        key: Its key, for a file that has it from its name only.
        by: Id of the memory in its place.
        at: When, ISO 8601.
    """
    changes: dict[str, object] = {}
    if "id" not in old.front.values:
        changes["id"] = old.id
    if "key" not in old.front.values:
        changes["key"] = key
    return old.with_values({**changes, "superseded_by": by, "superseded": at})


def body_of(text: str, front: FrontMatter) -> tuple[str, int]:
    """Return a note's text after its front matter, and the line where it begins."""
    body = "\n".join(text.split("\n")[front.line_count :])
    edge = len(body) - len(body.lstrip())
    start = body.rfind("\n", 0, edge) + 1
    return body[start:].rstrip(), front.line_count + 1 + body.count("\n", 0, start)


def fit_content(content: str) -> str:
    r"""Return a text as it is in a file.

    Without blank edges, its lines ended by a newline, and with no line that could be
    taken for one of our comments.

    >>> fit_content("\n  code\r\n<!-- hm id=1 -->\n\n")
    '  code\n&lt;!-- hm id=1 -->'
    """
    text = content.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    edge = len(text) - len(text.lstrip())
    return escape_markers(text[text.rfind("\n", 0, edge) + 1 :])


def may_be_broken_memory(data: bytes) -> bool:
    """Return whether a file was a typed memory until its front matter broke."""
    text = decode(data)
    head = text[:2_000]
    is_broken = split_front_matter(text).is_broken
    return is_broken and ("\ntype:" in head or "\nkey:" in head)


def _check_kept(
    text: str,
    values: Mapping[str, object],
    old: MemoryFile | None,
    ours: Collection[str],
) -> None:
    """Raise unless a front matter says what it should, and keeps what it should."""
    kept_values = split_front_matter(text).values
    wanted = split_front_matter(render_header(values)).values
    lost = {key for key, value in wanted.items() if kept_values.get(key) != value}
    if old is not None:
        before = old.front.values
        lost |= {
            key
            for key in before
            if key not in ours
            and key not in values
            and kept_values.get(key) != before[key]
        }
    if lost:
        path = old.path if old else "the new file"
        raise _unfit(path, f"its front matter has no line of its own for {min(lost)}")


def _unfit(path: str, clause: str) -> NotSavedError:
    """Return the error for a file that is left alone."""
    return NotSavedError(
        f"{path} cannot be changed: {clause}.",
        hint="Fix the file by hand, then try again.",
        effect="Nothing was saved",
    )


def edit_note(
    folder: NotesFolder, path: NotePath, change: Callable[[bytes], bytes]
) -> bool:
    """Put what *change* makes of a note in its place; return whether it differs.

    A note of which only blank lines are left is taken away.

    Raises:
        NoteNotFoundError: There is no such note.
        NotSavedError: It is as it was, and why.
    """
    for _ in range(MAX_ATTEMPTS):
        data, signature = folder.read(path)
        new = change(data)
        if new == data:
            return False
        try:
            if new.removeprefix(_BOM).strip():
                folder.replace(path, new, expected=signature)
            else:
                remove_note(folder, path, expected=signature)
        except NotSavedError:
            if folder.signature(path) == signature:
                raise
        else:
            return True
    raise kept_changing(path)


def remove_note(
    folder: NotesFolder, path: NotePath, *, expected: FileSignature
) -> None:
    """Take a note away, if it is what the caller has read; synced.

    Raises:
        NotSavedError: It changed meanwhile, or the disk refused; it is as it was.
    """
    name = path.rpartition("/")[2]
    try:
        with folder.open_parent(path) as parent:
            status = parent.status(name)
            if not stat.S_ISREG(status.st_mode) or signature_of(status) != expected:
                raise NotSavedError(
                    "it has changed since it was read.",
                    hint="Read it again, then decide.",
                    effect=f"{path} was not removed",
                )
            parent.unlink(name)
            parent.sync()
    except OSError as error:
        raise save_error(path, error) from error
