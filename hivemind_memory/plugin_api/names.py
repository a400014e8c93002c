"""Names of namespaces and the scopes that they mean. Pure.

``workspace:web`` means ``workspaces/web``, ``team:red`` ``teams/red``, ``org:acme`` the
global scope, and any other, as ``custom:shop``, ``projects/shop``. What cannot be the
name of a folder gets one that is made from it.
"""

from __future__ import annotations

import re
from hashlib import sha256

from hivemind_memory.model.scope import (
    FOLDERS,
    GLOBAL,
    MAX_SLUG,
    NAME_CHARS,
    kind_of,
    slug_problem,
)
from hivemind_memory.plugin_api.refusal import RefusedError

WORKSPACE, TEAM, ORG, CUSTOM = "workspace", "team", "org", "custom"
KINDS = (WORKSPACE, TEAM, ORG, CUSTOM)
"""Kinds of namespaces."""

OWN_ORG = "org:global"
"""What the global scope is called if no platform has named it."""

MAX_NAME_CHARS = 256
NAME_PATTERN = r"^[a-z]+:[A-Za-z0-9_:.\-]+$"
_NAME = re.compile(r"[a-z]+:[A-Za-z0-9_:.\-]+", re.ASCII)
_HASH_CHARS = 8
_SCOPE_KINDS = {
    "workspace": WORKSPACE,
    "team": TEAM,
    "global": ORG,
    "project": "project",
}


def check_name(name: str) -> str:
    """Return the name of a namespace.

    Raises:
        RefusedError: It cannot be one.
    """
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        message = "namespace name must match ^[a-z]+:[A-Za-z0-9_:.\\-]+$, 1..256 chars"
        raise RefusedError(message)
    return name


def scope_of_name(name: str) -> str:
    """Return the scope that a namespace gets; two names may mean one scope.

    >>> scope_of_name("workspace:web"), scope_of_name("org:acme-corp")
    ('workspaces/web', '')
    >>> scope_of_name("custom:My:Notes")
    'projects/my-notes-d4472070'
    """
    prefix, _, rest = name.partition(":")
    if prefix == ORG:
        return GLOBAL
    kind = prefix if prefix in FOLDERS else "project"
    is_plain = prefix in (*FOLDERS, CUSTOM) and not slug_problem(rest)
    return f"{FOLDERS[kind]}/{rest if is_plain else _made_slug(name)}"


def name_of_scope(scope: str) -> str:
    """Return what a scope is called if no platform has named it.

    >>> name_of_scope("workspaces/web"), name_of_scope("")
    ('workspace:web', 'org:global')
    """
    if scope == GLOBAL:
        return OWN_ORG
    return f"{_SCOPE_KINDS[kind_of(scope)]}:{scope.partition('/')[2]}"


def kind_of_name(name: str) -> str:
    """Return the kind of a namespace, by what its name begins with.

    >>> kind_of_name("team:red"), kind_of_name("project:shop")
    ('team', 'custom')
    """
    prefix = name.partition(":")[0]
    return prefix if prefix in KINDS else CUSTOM


def _made_slug(name: str) -> str:
    """Return the name of a folder for a name that cannot be one."""
    rest = name.partition(":")[2].lower()
    plain = "".join(char if char in NAME_CHARS else "-" for char in rest).strip(".-")
    digest = sha256(name.encode()).hexdigest()[:_HASH_CHARS]
    head = plain[: MAX_SLUG - _HASH_CHARS - 1].rstrip(".-")
    return f"{head}-{digest}" if head else digest
