"""What one workspace writes and recalls: its own memories, its team's, global ones.

The caller is in the workspace already; these functions decide nothing about that.
"""

from __future__ import annotations

from hivemind_memory.model.scope import GLOBAL, kind_of
from hivemind_memory.model.value import value
from hivemind_memory.plugin_api.memories import (
    RowQuestion,
    find_row,
    forget_in_scope,
    save_row,
    search_rows,
)
from hivemind_memory.plugin_api.names import kind_of_name, name_of_scope
from hivemind_memory.plugin_api.namespaces import may_change, readable, sweep
from hivemind_memory.plugin_api.refusal import (
    FORBIDDEN,
    NO_MEMORY,
    NOT_FOUND,
    RefusedError,
)
from hivemind_memory.plugin_api.rows import KINDS, NewRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.plugin_api.rows import Row

LOCAL, TEAM, GLOBAL_WORD = "LOCAL", "TEAM", "GLOBAL"
SCOPE_WORDS = (LOCAL, TEAM, GLOBAL_WORD)
DEFAULT_FACTS = 50
MAX_CHARS = 4_000

_WORDS = {"workspace": LOCAL, "team": TEAM, "global": GLOBAL_WORD}
NOT_A_SCOPE = "scope must be LOCAL, TEAM or GLOBAL"
NO_CONTENT = "content is required"
ONLY_ROOTS = "GLOBAL is writable only from the root side"
NO_TEAM = "this workspace has no team"


@value
class NamedScope:
    """A namespace as a workspace sees it."""

    name: str
    kind: str
    """workspace, team, org or custom."""

    label: str
    """For a person."""

    scope: str


def save_fact(
    memory: Memory, content: str, word: str, *, by: str = "", session: str = ""
) -> str:
    """Save a fact of a workspace; return its id.

    Raises:
        RefusedError: It may not be saved there; nothing was.
        HivemindError: Nothing was saved; the message says why.
    """
    if not content.strip():
        raise RefusedError(NO_CONTENT)
    if len(content) > MAX_CHARS:
        message = f"content has more than {MAX_CHARS} characters"
        raise RefusedError(message)
    scope = _scope_of_word(memory, _checked(word))
    return save_row(memory, scope, NewRow(content=content), by=by, session=session)


def recall_facts(
    memory: Memory, text: str = "", word: str = "", *, limit: int
) -> list[Row]:
    """Return the memories that a workspace reads: the best for a text, or the newest.

    Raises:
        RefusedError: The word means no scope.
    """
    words = (_checked(word),) if word else SCOPE_WORDS
    caller = memory.caller
    own = (caller.workspace, *caller.teams)
    scopes = [scope for scope in own if scope] + [GLOBAL]
    named = {scope: word_of(scope) for scope in scopes if word_of(scope) in words}
    return search_rows(memory, RowQuestion(scopes=named, text=text, limit=limit))


def word_of(scope: str) -> str:
    """Return LOCAL, TEAM or GLOBAL for a scope; empty: it is that of a project."""
    return _WORDS.get(kind_of(scope), "")


def list_scopes(memory: Memory) -> list[NamedScope]:
    """Return the namespaces that a workspace reads, its own first."""
    caller = memory.caller
    own = (caller.workspace, *caller.teams, caller.project)
    scopes = [*(scope for scope in own if scope), GLOBAL]
    given = {namespace.scope: namespace.name for namespace in readable(memory).values()}
    named = []
    for scope in dict.fromkeys(scopes):
        name = given.get(scope) or name_of_scope(scope)
        label = _label(caller.workspace, scope)
        named.append(
            NamedScope(name=name, kind=kind_of_name(name), label=label, scope=scope)
        )
    return named


def list_writable(memory: Memory) -> list[NamedScope]:
    """Return the namespaces that a workspace writes to."""
    return [named for named in list_scopes(memory) if may_change(memory, named.scope)]


def find_rows(
    memory: Memory,
    name: str = "",
    text: str = "",
    kinds: Iterable[str] = (),
    *,
    limit: int,
) -> list[Row]:
    """Return the memories of a namespace, or of all that the workspace reads.

    Of a namespace that it does not read there are none.
    """
    scopes = {
        named.scope: named.name
        for named in list_scopes(memory)
        if name in ("", named.name)
    }
    kinds = tuple(kinds) or KINDS
    return search_rows(
        memory, RowQuestion(scopes=scopes, text=text, kinds=kinds, limit=limit)
    )


def add_row(
    memory: Memory, new: NewRow, name: str, *, by: str = "", session: str = ""
) -> tuple[str, str]:
    """Save a memory in a namespace; return its id and the name of the namespace.

    Without a name, the namespace is that of the workspace.

    Raises:
        RefusedError: The workspace may not write there; nothing was saved.
        HivemindError: Nothing was saved; the message says why.
    """
    if not new.content.strip():
        raise RefusedError(NO_CONTENT)
    sweep(memory)
    found = next(
        (named for named in list_writable(memory) if not name or named.name == name),
        None,
    )
    if found is None:
        raise RefusedError("forbidden", FORBIDDEN)
    row_id = save_row(memory, found.scope, new, by=by, session=session)
    return row_id, found.name


def remove_row(memory: Memory, row_id: str) -> None:
    """Forget a memory, wherever the workspace may write.

    Args:
        memory: As the caller sees it.
        row_id: Its id.

    Raises:
        RefusedError: There is none, or the workspace may only read it.
        HivemindError: Nothing was changed; the message says why.
    """
    for named in list_scopes(memory):
        if find_row(memory, named.scope, row_id) is not None:
            if not may_change(memory, named.scope):
                raise RefusedError("forbidden", FORBIDDEN)
            forget_in_scope(memory, named.scope, row_id)
            return
    raise RefusedError(NO_MEMORY, NOT_FOUND)


def _checked(word: str) -> str:
    """Return the word of a scope.

    Raises:
        RefusedError: It is none.
    """
    if word not in SCOPE_WORDS:
        raise RefusedError(NOT_A_SCOPE)
    return word


def _scope_of_word(memory: Memory, word: str) -> str:
    """Return the scope that a word means to a workspace that writes.

    Raises:
        RefusedError: It may not write there.
    """
    caller = memory.caller
    if word == TEAM and not caller.teams:
        raise RefusedError(NO_TEAM)
    if word == GLOBAL_WORD and not caller.is_root:
        raise RefusedError(ONLY_ROOTS, FORBIDDEN)
    return {LOCAL: caller.workspace, TEAM: (*caller.teams, "")[0]}.get(word, GLOBAL)


def _label(workspace: str, scope: str) -> str:
    """Return what a person calls a scope."""
    if scope == GLOBAL:
        return "Everyone"
    if scope == workspace:
        return "This workspace"
    return f"{kind_of(scope).capitalize()} {scope.partition('/')[2]}"
