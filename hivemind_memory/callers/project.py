"""The name under which a project's memory lies. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SEPARATOR = "--"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_LONGEST = 80
_DIGITS = 8


def slug_of_identity(identity: str, projects: Mapping[str, object]) -> str:
    """Return the folder of a project, from what all its worktrees share.

    That of ``projects`` in config.json if one has the identity; else the identity
    itself, as a name that a folder may have.

    Args:
        identity: A normalised origin, or a folder on this machine; empty: no project.
        projects: Slug -> ``{"identity": …}``.

    >>> slug_of_identity("github.com/Acme/Shop", {})
    'github.com--acme--shop'
    """
    if not identity:
        return ""
    for slug, project in projects.items():
        if isinstance(project, dict) and project.get("identity") == identity:
            return slug
    parts = identity.casefold().split("/")
    if not identity.startswith("/") and all(map(_is_plain, parts)):
        slug = SEPARATOR.join(parts)
        if len(slug) <= _LONGEST:
            return slug
    # A path is this machine's own, and odd names could meet in one folder: the last
    # part is there to be read, the digits tell the project from all others.
    named = identity.casefold().removesuffix("/.git").rstrip("/").rpartition("/")[2]
    readable = "".join(one if one in _SAFE else "-" for one in named).strip(".-_")
    from hashlib import sha256

    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{readable[:_LONGEST] or 'project'}-{digest}"


def _is_plain(part: str) -> bool:
    """Whether no other part would become the same text."""
    is_safe = bool(part) and _SAFE.issuperset(part)
    return is_safe and SEPARATOR not in part and part == part.strip(".-")
