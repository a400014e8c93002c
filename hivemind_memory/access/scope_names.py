"""Which scope a name means to a caller, and which ones it may name."""

from __future__ import annotations

from hivemind_memory.access.rules import home_scope, may_write
from hivemind_memory.errors import ScopeError, UnknownScopeError
from hivemind_memory.model.display import listed
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.scope import (
    ALL_WORDS,
    FOLDERS,
    GLOBAL,
    make_scope,
    parse_scope,
)
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.access.rules import Caller

_AT_START = (
    "Others are set at the start: `hm mcp --project NAME --team NAMES"
    " --workspace NAME`, or the environment."
)


def scope_named(caller: Caller, text: str) -> str:
    """Return the scope that a name means to a caller, if the caller reads it.

    A kind alone means the caller's own: ``project``, ``team``, ``workspace``.

    Raises:
        ScopeError: It is not a scope, or the caller does not have it; the message does
            not say whether the scope exists.
    """
    try:
        kind, slug = parse_scope(text)
    except UnknownScopeError as error:
        raise _with_own_scopes(error, caller, text) from None
    if kind == "global":
        return GLOBAL
    scope = make_scope(kind, slug) if slug else _own(caller, kind)
    if not scope and caller.is_owner:
        raise ScopeError(
            f"There is no {kind} here.", hint=f"Name one, as in {kind}/NAME."
        )
    if not scope or (caller.scopes is not None and scope not in caller.scopes):
        named = f"{kind}/{slug}" if slug else kind
        problem = f"No {named} is set for this session."
        raise _with_own_scopes(ScopeError(problem), caller)
    return scope


def _own(caller: Caller, kind: str) -> str:
    """Return the scope of a kind that is the caller's own; empty: none."""
    if kind == "team":
        return caller.teams[0] if caller.teams else ""
    own = {FOLDERS["project"]: caller.project, FOLDERS["workspace"]: caller.workspace}
    return own[FOLDERS[kind]]


def scope_meant(
    caller: Caller, name: str, *, is_global: bool, find_project: Callable[[bool], str]
) -> str:
    """Return the scope that a name means to a caller.

    For an empty name, the scope of a write that names none: the caller's workspace,
    else its project, else its team, else the global scope. A person at a shell has
    the project of the repository that the shell is in.

    Args:
        caller: Who writes or asks.
        name: Name of a scope, such as ``project``, or nothing.
        is_global: Whether an empty name means the global scope, where that is allowed.
        find_project: Returns the scope of the project that the process is in, and takes
            whether something is about to be written; empty: none, or a named one.

    Raises:
        ScopeError: It is not a scope, or the caller does not have it.
    """
    if not name and is_global:
        return GLOBAL if may_write(caller, GLOBAL_NOTE) else home_scope(caller)
    is_project = name in {"", "project", "projects", "product"}
    if caller.is_owner and is_project:
        caller = replaced(caller, project=find_project(not name))
    elif caller.project and is_project:
        # A write makes its folder; it may have got another name since it was found.
        current = find_project(not name)
        if current and current != caller.project:
            raise ScopeError(f"The project here is {current} now.", hint="Try again.")
    return scope_named(caller, name) if name else home_scope(caller)


def _with_own_scopes(error: ScopeError, caller: Caller, text: str = "") -> ScopeError:
    """Return the error with the scopes that its caller may name, unless it may any.

    Args:
        error: Says what is wrong.
        caller: Who named a scope.
        text: The name, if it is none; empty: it is not the caller's.
    """
    if caller.is_owner or caller.public_projects:
        return error
    own = (
        ("project", caller.project),
        ("team", caller.teams),
        ("workspace", caller.workspace),
    )
    kinds = ["global", *(kind for kind, scope in own if scope)]
    hint = "The only scope here is global."
    if len(kinds) > 1:
        covered = {2: "both"}.get(len(kinds), "all of them")
        hint = (
            f"Scopes here are {listed(kinds)}; a search without one covers {covered}."
        )
    hint = f"{_meant(text, kinds)}{hint}" if text else f"{hint} {_AT_START}"
    return ScopeError(str(error), hint=hint)


def _meant(text: str, kinds: list[str]) -> str:
    """Return a question for the scope that was probably meant, or nothing.

    >>> _meant("projct:shop", ["global", "project"]), _meant("all", ["global"])
    ('Did you mean project? ', '')
    """
    from hivemind_memory.model.keys import closest

    head = text.strip().replace(":", "/").partition("/")[0].casefold()
    near = closest(head, kinds) if head and head not in ALL_WORDS else ()
    return f"Did you mean {near[0]}? " if near else ""
