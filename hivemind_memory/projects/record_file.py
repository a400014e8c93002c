"""Reads and writes ``.project``: the record of a project, one fact a line.

The first field of a line says what it is; an identity stands alone, as in the files of
earlier versions. Fields are separated by tabs.
"""

from __future__ import annotations

import os

from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.scope_folders import SEEN_FOLDER
from hivemind_memory.projects.identity import KnownFolder, ProjectRecord
from hivemind_memory.projects.known_project import (
    MAX_RECORD_BYTES,
    is_linked,
    listed_projects,
    read_record_bytes,
    record_path,
)

_MAX_TRIES = 100
_FORMER, _DISTINCT, _MAYBE = "was", "not", "maybe"


def read_records(above: str) -> list[ProjectRecord]:
    """Return what all projects know, in the order of their names.

    A project that gets another name meanwhile is not missed: it would be taken for a
    new one, and get a second folder.
    """
    names = listed_projects(above)
    for _ in range(_MAX_TRIES):
        records = [read_record(above, slug) for slug in names]
        before, names = names, listed_projects(above)
        if names == before:
            break
    return records


def read_record(above: str, slug: str) -> ProjectRecord:
    """Return what a project knows; nothing, if it belongs to no repository.

    What cannot be read is not missing: then the record has a ``problem``.
    """
    path = record_path(above, slug)
    try:
        data = read_record_bytes(path)
    except FileNotFoundError:
        return ProjectRecord(slug=slug)
    except OSError as error:
        return ProjectRecord(slug=slug, problem=reason_of(error))
    if len(data) > MAX_RECORD_BYTES:
        why = f"it is larger than {MAX_RECORD_BYTES // 1024} kB"
        return ProjectRecord(slug=slug, problem=why)
    if b"\0" in data:
        return ProjectRecord(slug=slug, problem="it is binary")
    return parse_record(slug, data.decode("utf-8", "surrogateescape"))


def write_record(above: str, record: ProjectRecord) -> bool:
    """Put what a project knows into its folder; return whether that succeeded.

    Without it, the project is found as before, and only what was learned is missing.
    """
    if is_linked(above, record.slug):
        return False
    # A search reads records, and writes none.
    from hivemind_memory.files.atomic import write_file

    data = render_record(record).encode("utf-8", "surrogateescape")
    try:
        return write_file(record_path(above, record.slug), data)
    except OSError:
        return False


def has_file(above: str, slug: str) -> bool:
    """Return whether a project's folder says what it belongs to."""
    return os.path.lexists(record_path(above, slug))


def parse_record(slug: str, text: str) -> ProjectRecord:
    """Return what the file ``.project`` of a folder says."""
    identities: list[str] = []
    folders: list[KnownFolder] = []
    names: dict[str, list[str]] = {_FORMER: [], _MAYBE: [], _DISTINCT: []}
    for line in text.split("\n"):
        kind, *fields = line.strip(" \r").split("\t")
        words = [_unquoted(field) for field in fields]
        if not fields and kind:
            identities.append(_unquoted(kind))
        elif kind in names and words:
            names[kind].append(words[0])
        elif kind == SEEN_FOLDER and len(words) >= 2:
            origin = words[2] if len(words) > 2 else ""
            folders.append(KnownFolder(mark=words[0], path=words[1], origin=origin))
    return ProjectRecord(
        slug=slug,
        identities=tuple(identities),
        former=tuple(names[_FORMER]),
        folders=tuple(folders),
        maybe=tuple(names[_MAYBE]),
        distinct=tuple(names[_DISTINCT]),
    )


def render_record(record: ProjectRecord) -> str:
    """Return the text of the file ``.project``: a line for each thing it knows."""
    rows = [
        *((identity,) for identity in record.identities),
        *((_FORMER, name) for name in record.former),
        *((_MAYBE, name) for name in record.maybe),
        *((_DISTINCT, name) for name in record.distinct),
        *(
            (SEEN_FOLDER, folder.mark, folder.path, folder.origin)
            for folder in record.folders
        ),
    ]
    return "".join("\t".join(map(_quoted, row)).rstrip("\t") + "\n" for row in rows)


def _quoted(text: str) -> str:
    """Return a text without the characters that end a field or a line."""
    for sign in ("%", "\t", "\n", "\r"):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _unquoted(text: str) -> str:
    """Return a field as it was."""
    for sign in ("\r", "\n", "\t", "%"):
        text = text.replace(f"%{ord(sign):02X}", sign)
    return text
