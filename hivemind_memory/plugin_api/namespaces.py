"""Namespaces of platforms: made, changed, deleted, found.

A namespace that has ended counts as deleted. Whoever asks the memory or changes it
next takes it away, with what a platform wrote in it.
"""

from __future__ import annotations

import json

from hivemind_memory.access.read_only import READ_ONLY
from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.ended_namespaces import forget_namespace
from hivemind_memory.files.paths import path_in_scope
from hivemind_memory.model.scope import GLOBAL
from hivemind_memory.model.value import replaced
from hivemind_memory.plugin_api.names import (
    check_name,
    scope_of_name,
)
from hivemind_memory.plugin_api.parse import moment_text
from hivemind_memory.plugin_api.refusal import (
    FORBIDDEN,
    NO_NAMESPACE,
    NOT_FOUND,
    RefusedError,
)
from hivemind_memory.plugin_api.rows import json_or_nothing
from hivemind_memory.redaction import holds_known, mask
from hivemind_memory.state.namespaces import Namespace, Namespaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory

NOT_YOURS = "this namespace is not yours to change"
ONLY_OWNER = "only the owner of the memory may end an org namespace"
EMPTY_PATCH = "patch has no fields set"
NAME_IS_KNOWN = "the namespace name contains a secret of the vault; choose another name"


def namespace_json(namespace: Namespace) -> dict[str, object]:
    """Return a namespace as an answer says it."""
    answer: dict[str, object] = {"name": namespace.name, "kind": namespace.kind}
    if namespace.expires_at is not None:
        answer["expires_at"] = moment_text(namespace.expires_at)
    # The vault may have got a value since it was kept.
    if metadata := json_or_nothing(mask(namespace.metadata)):
        answer["metadata"] = json.loads(metadata)
    return {**answer, "created_at": moment_text(namespace.created_at)}


def put_namespace(
    memory: Memory,
    name: str,
    *,
    kind: str,
    expires_at: float | None = None,
    metadata: str = "",
) -> Namespace:
    """Make a namespace, or give one another end and other metadata.

    Args:
        memory: As the caller sees it.
        name: What it is called.
        kind: One of ``names.KINDS``; kept and returned. The name says what it means.
        expires_at: When it ends, in seconds since the epoch; None: never.
        metadata: JSON; empty: none.

    Raises:
        RefusedError: Nothing was changed.
        StateUnusableError: It cannot be written now.
    """
    if holds_known(check_name(name)):
        raise RefusedError(NAME_IS_KNOWN)
    now_s = memory.clocks.now()

    def change(known: list[Namespace]) -> Namespace:
        old = next((each for each in known if each.name == name), None)
        scope = scope_of_name(name) if old is None else old.scope
        check_writable_scope(memory, scope)
        for other in known:
            if other.scope == scope and other.name != name:
                raise RefusedError(_taken(other))
        if old is not None and expires_at not in (None, old.expires_at):
            _check_may_end(memory, scope)
        created_at = now_s if old is None else old.created_at
        return Namespace(
            name=name,
            scope=scope,
            kind=kind,
            expires_at=expires_at,
            metadata=metadata,
            created_at=created_at,
        )

    with memory.curation.stored.namespaces_lock():
        _delete_ended(memory)
        put = Namespaces(memory.state()).change(name, change)
    assert put is not None  # noqa: S101 - `change` returns one
    return put


def patch_namespace(
    memory: Memory, name: str, *, expires_at: float | None = None, metadata: str = ""
) -> Namespace:
    """Change the end or the metadata of a namespace; what is left out stays.

    Raises:
        RefusedError: Nothing was changed.
        StateUnusableError: It cannot be written now.
    """
    if expires_at is None and not metadata:
        raise RefusedError(EMPTY_PATCH)
    check_name(name)
    sweep(memory)
    now_s = memory.clocks.now()

    def change(known: list[Namespace]) -> Namespace:
        old = next((each for each in known if each.name == name), None)
        if old is None or old.is_over(now_s) or not _is_seen(memory, old.scope):
            raise RefusedError(NO_NAMESPACE, NOT_FOUND)
        check_writable_scope(memory, old.scope)
        if expires_at is not None:
            _check_may_end(memory, old.scope)
        return replaced(
            old,
            expires_at=old.expires_at if expires_at is None else expires_at,
            metadata=metadata or old.metadata,
        )

    patched = Namespaces(memory.state()).change(name, change)
    assert patched is not None  # noqa: S101 - `change` returns one
    return patched


def delete_namespace(memory: Memory, name: str) -> None:
    """Delete a namespace, and hide what a platform wrote in it.

    What others have saved in its scope stays.

    Raises:
        RefusedError: There is none, or it is not the caller's to delete.
        HivemindError: Not all of it could be hidden. It counts as deleted, and the
            next change hides the rest.
    """
    with memory.curation.stored.namespaces_lock():
        _delete_ended(memory)
        namespace = find_namespace(memory, name)
        check_writable_scope(memory, namespace.scope)
        _check_may_end(memory, namespace.scope)
        # Whoever writes in it looks afterwards whether it is still there: what they
        # have written by now is hidden below, and what they write later by them.
        ended = replaced(namespace, expires_at=0.0)
        Namespaces(memory.state()).change(name, lambda _: ended)
        forget_namespace(memory, ended)


def find_namespace(memory: Memory, name: str) -> Namespace:
    """Return a namespace that the caller reads.

    Raises:
        RefusedError: There is none.
    """
    found = readable(memory).get(check_name(name))
    if found is None:
        raise RefusedError(NO_NAMESPACE, NOT_FOUND)
    return found


def readable(memory: Memory) -> dict[str, Namespace]:
    """Return the namespaces that the caller reads and that have not ended, by name."""
    now_s = memory.clocks.now()
    return {
        namespace.name: namespace
        for namespace in Namespaces(memory.state()).all()
        if not namespace.is_over(now_s) and _is_seen(memory, namespace.scope)
    }


def sweep(memory: Memory) -> None:
    """Delete the namespaces that have ended, of those that the caller may change."""
    if _ended(memory):
        with memory.curation.stored.namespaces_lock():
            _delete_ended(memory)


def may_change(memory: Memory, scope: str) -> bool:
    """Return whether the caller may write to a scope."""
    caller = memory.caller
    return not caller.is_read_only and may_write(caller, path_in_scope(scope, "a.md"))


def check_writable_scope(memory: Memory, scope: str) -> None:
    """Raise unless the caller may write to a scope.

    Raises:
        RefusedError: It may not.
    """
    if memory.caller.is_read_only:
        raise RefusedError(READ_ONLY, FORBIDDEN)
    if not may_change(memory, scope):
        raise RefusedError(NOT_YOURS, FORBIDDEN)


def _check_may_end(memory: Memory, scope: str) -> None:
    """Raise unless the caller may end a namespace, which hides all that is in it.

    Who may write for all may still not take away what others wrote for all.

    Raises:
        RefusedError: It is an org, and the caller is not the owner.
    """
    if scope == GLOBAL and not memory.caller.is_owner:
        raise RefusedError(ONLY_OWNER, FORBIDDEN)


def _ended(memory: Memory) -> list[Namespace]:
    """Return the namespaces that have ended, of those that the caller may change."""
    now_s = memory.clocks.now()
    return [
        namespace
        for namespace in Namespaces(memory.state()).all()
        if namespace.is_over(now_s) and may_change(memory, namespace.scope)
    ]


def _delete_ended(memory: Memory) -> None:
    """Delete the namespaces that have ended; their lock is held."""
    for namespace in _ended(memory):
        forget_namespace(memory, namespace)


def _is_seen(memory: Memory, scope: str) -> bool:
    """Return whether the caller reads a scope."""
    scopes = memory.caller.scopes
    return memory.caller.is_member and (scopes is None or scope in scopes)


def _taken(other: Namespace) -> str:
    """Return why a scope cannot have a second name."""
    if other.scope == GLOBAL:
        return f"this memory belongs to {other.name}; it has no second org"
    return f"{other.name} has the same folder, {other.scope}; choose another name"
