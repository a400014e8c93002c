"""Scopes: their names and their folders. The folder of a note decides its scope.

A scope is written as its folder below the notes, ``projects/shop``; the global scope
is the empty text. Pure.
"""

from __future__ import annotations

from hivemind_memory.errors import ScopeError, UnknownScopeError
from hivemind_memory.model.display import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    ScopedId: TypeAlias = tuple[str, str]

GLOBAL = ""

FOLDERS = {"project": "projects", "team": "teams", "workspace": "workspaces"}
"""Kind of scope -> its folder."""

_KINDS = {folder: kind for kind, folder in FOLDERS.items()}
# Synonyms, for settings that were written for other programs.
_NAMES = {"product": "project", "local": "workspace", "org": "global"}
ALL_WORDS = frozenset({"all", "any", "both", "every", "everything", "everywhere", "*"})
"""What is said for all scopes, and names none."""

NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
"""What the name of a scope holds."""

MAX_SLUG = 100

SUPERSEDED, INBOX = "superseded", "inbox"
"""Folders of a scope, for what was replaced and for claims that wait for a person."""


def scope_of(path: str) -> str:
    """Return the scope of a note.

    Folders are compared as the most forgiving file system would, in any case: else a
    disk that does not distinguish ``Teams`` from ``teams`` would have two names for one
    folder.

    >>> scope_of("projects/shop/deploy.md"), scope_of("teams/a.md")
    ('projects/shop', '')
    """
    folder, _, rest = path.partition("/")
    slug, slash, _ = rest.partition("/")
    if not slash:
        return GLOBAL
    folder = folder.casefold()
    return f"{folder}/{slug.casefold()}" if folder in _KINDS else GLOBAL


def scope_text(scope: str) -> str:
    """Return a scope as it is shown, and as ``parse_scope`` takes it.

    >>> scope_text("projects/shop"), scope_text("")
    ('projects/shop', 'global')
    """
    return scope or "global"


def scoped_id(path: str, own_id: str) -> ScopedId:
    """Return what names a memory or an entry in state that outlives its note.

    An id alone does not: a note of another scope may be given the same one.

    >>> scoped_id("projects/shop/deploy.md", "01ABC")
    ('projects/shop', '01ABC')
    """
    return scope_of(path), own_id


def inner_path(path: str) -> str:
    """Return the path of a note within its scope."""
    return path if scope_of(path) == GLOBAL else path.split("/", 2)[2]


def place_in_scope(path: str) -> str:
    """Return ``superseded``, ``inbox`` or nothing: in which part of its scope it is."""
    folder, slash, _ = inner_path(path).partition("/")
    folder = folder.casefold()
    return folder if slash and folder in (SUPERSEDED, INBOX) else ""


def kind_of(scope: str) -> str:
    """Return global, project, team or workspace."""
    return _KINDS.get(scope.partition("/")[0], "global") if scope else "global"


def slug_problem(slug: str) -> str:
    """Return why *slug* cannot name a scope, as a clause; empty when it can."""
    if not slug:
        return "the name is empty"
    if len(slug) > MAX_SLUG:
        return f"the name is longer than {MAX_SLUG} characters"
    if not NAME_CHARS.issuperset(slug):
        return "a name can only contain a-z, 0-9, dot, dash and underscore"
    if slug[0] in ".-" or slug[-1] == ".":
        return "a name cannot begin with a dot or a dash, or end with a dot"
    return ""


def make_scope(kind: str, slug: str) -> str:
    """Return the scope of a kind and a name, in whatever letter case it is written.

    Raises:
        ScopeError: The name cannot be one.

    >>> make_scope("project", "Shop")
    'projects/shop'
    """
    slug = slug.lower()
    problem = slug_problem(slug)
    if problem:
        raise ScopeError(
            f"{_shown(slug)} cannot be the name of a {kind}: {problem}.",
            hint="A name looks like shop or github.com-me-shop.",
        )
    return f"{FOLDERS[kind]}/{slug}"


def parse_scope(text: str) -> tuple[str, str]:
    """Return the kind that *text* names, and the name after the slash, if any.

    ``global``, ``project``, ``team/red``, ``workspaces/web``; also what Hive (product)
    and Molecule (LOCAL, TEAM, GLOBAL) say.

    Raises:
        UnknownScopeError: It is none of them.
        ScopeError: The name after the slash cannot be one.

    >>> parse_scope("TEAM"), parse_scope("projects/shop")
    (('team', ''), ('project', 'shop'))
    """
    head, slash, slug = text.strip().partition("/")
    kind = head.casefold()
    kind = _NAMES.get(kind, kind)
    kind = _KINDS.get(kind, kind)
    if (kind != "global" and kind not in FOLDERS) or (kind == "global" and slash):
        hint = "Scopes are global, project, team/NAME and workspace/NAME."
        if kind in ALL_WORDS:
            hint = f"{hint} A search without one covers all of them."
        elif meant := _meant(text.strip()):
            hint = f"Did you mean {meant}? {hint}"
        raise UnknownScopeError(f"{_shown(text)} is not a scope.", hint=hint)
    if slash:
        make_scope(kind, slug)
    return kind, slug


def _meant(text: str) -> str:
    """Return the scope that was probably meant, or nothing.

    >>> _meant("projct:shop"), _meant("shop"), _meant("globl")
    ('project/shop', 'project/shop', 'global')
    """
    # Only where a scope was not understood: a search without one loads nothing for it.
    from hivemind_memory.model.keys import closest

    head, mark, slug = text.replace(":", "/").partition("/")
    known = ("global", *FOLDERS, *_KINDS, *_NAMES)
    near = closest(head, known)
    if near:
        kind = _NAMES.get(near[0], near[0])
        kind = _KINDS.get(kind, kind)
        if kind == "global" or not slug:
            return kind
        return "" if slug_problem(slug) else f"{kind}/{slug}"
    return "" if mark or slug_problem(text) else f"project/{text}"


def _shown(text: str) -> str:
    """Return *text* quoted, on one line and short."""
    return repr(shorten(text, 60))
