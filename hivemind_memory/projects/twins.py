"""Finds orphaned projects, and projects that are probably the same one."""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.model.results import Finding
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.projects.folders import is_there, long_name
from hivemind_memory.projects.identity import ProjectRecord, identity_key
from hivemind_memory.projects.known_project import IDENTITY_FILE
from hivemind_memory.projects.record_file import read_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONG_NAME = lazy_re(r".+-[0-9a-f]{8}|.+--.+")
"""What a folder was called that is named after a whole identity."""


def project_findings(notes: str) -> Iterator[Finding]:
    """Yield which projects are likely one, and which no repository leads to."""
    records = read_records(os.path.join(notes, FOLDERS["project"]))
    for record in records:
        if record.problem:
            yield Finding(
                name="projects",
                is_ok=False,
                detail=f"{record.slug}/{IDENTITY_FILE} cannot be read:"
                f" {record.problem}",
                hint="Repair or delete it; until then, no new repository gets a"
                " project.",
            )
        # Of a pair, the one that knows less is merged into the other.
        for twin in twins_of(record, records):
            other = next(candidate for candidate in records if candidate.slug == twin)
            mine, theirs = (bool(side.identities) for side in (record, other))
            if (mine, record.slug) < (theirs, other.slug):
                yield Finding(
                    name="projects",
                    is_ok=False,
                    detail=f"{record.slug} and {twin} are probably the same project",
                    hint=f"`hm project merge {quote(record.slug)} {quote(twin)}"
                    " --dry-run` shows what a merge would do; `hm project adopt` in its"
                    " repository keeps them apart.",
                )
    orphans = [
        candidate.slug
        for candidate in records
        if is_orphan(candidate) and not candidate.problem
    ]
    if orphans:
        yield Finding(
            name="projects",
            is_ok=True,
            detail=f"no repository leads to {', '.join(orphans)} any more;"
            " `hm project adopt NAME` in a repository connects it to one",
        )


def is_orphan(record: ProjectRecord) -> bool:
    """Return whether no repository leads to a project any more."""
    if record.folders:
        return not any(map(is_there, record.folders))
    if not record.identities:
        return bool(_LONG_NAME.fullmatch(record.slug))
    return all(
        identity.startswith("/") and not os.path.exists(identity)
        for identity in record.identities
    )


def twins_of(record: ProjectRecord, records: Sequence[ProjectRecord]) -> Iterator[str]:
    """Yield the projects that are likely the same one as another."""
    own = _keys(record)
    for other in records:
        if other.slug == record.slug or other.slug in record.distinct:
            continue
        if record.slug in other.distinct:
            continue
        theirs = _keys(other)
        has_long_name = (not record.identities or not other.identities) and (
            record.slug in {long_name(place) for place in theirs}
            or other.slug in {long_name(name) for name in own}
        )
        is_told = other.slug in record.maybe or record.slug in other.maybe
        if own & theirs or has_long_name or is_told:
            yield other.slug


def _keys(record: ProjectRecord) -> set[str]:
    """Return all that a project is or was known by."""
    places = (folder.path for folder in record.folders)
    named = {*map(identity_key, (*record.identities, *record.former)), *places}
    mains = {path.removesuffix("/.git") for path in named if path.endswith("/.git")}
    return {path.rstrip("/") for path in named | mains}
