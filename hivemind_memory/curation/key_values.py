"""The key-value store of a memory, for one caller.

A key belongs to a scope, as a note does: to the caller's workspace, else to its
project, else to its team. Values are state and not knowledge, so they are kept as they
are, and whoever sees only some scopes gets a list without what looks like a secret.
"""

from __future__ import annotations

import json

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import check_enabled, may_write
from hivemind_memory.errors import (
    KeyNotFoundError,
    NotWritableError,
    TooManyKeysError,
    UsageError,
    VersionMismatchError,
)
from hivemind_memory.model.key_values import (
    MAX_KEY_CHARS,
    MAX_TTL_S,
    MAX_VALUE_BYTES,
    MAX_VERSION,
)
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.value import value
from hivemind_memory.projects.move_lock import no_moves
from hivemind_memory.redaction import holds_known, mask, mask_short
from hivemind_memory.redaction.json_values import mask_json
from hivemind_memory.state.key_values import MAX_KEYS, KeyValueStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.state.key_values import StoredValue

_MS = 1_000
_SHOWN_CHARS = 60
_EFFECT = "Nothing was saved"


@value
class KeyValue:
    """A key with its value."""

    key: str
    value: object
    """Any JSON."""

    version: int
    """1 for the first write; each later one is one more, after a deletion, too."""

    updated_at: float
    """Seconds since the epoch."""

    expires_at: float = 0
    """Seconds since the epoch; 0: it stays."""


class KeyValues:
    """The keys that one caller reads and writes. Threads may share it."""

    def __init__(self, context: CurationContext) -> None:
        """Open nothing yet; the context says who asks."""
        self._context = context
        self._store = KeyValueStore(context.state())

    def get(self, key: str, *, scope: str = "") -> KeyValue:
        """Return a key with its value.

        Args:
            key: The key.
            scope: Name of a scope, such as ``workspace/web``; empty: the caller's own.

        Raises:
            KeyNotFoundError: There is none, or it has expired.
            ScopeError: The caller does not have the scope.
            StateUnusableError: It cannot be read now.
        """
        found = self._store.get(self._context.find_scope(scope), key, self._now_ms())
        if found is None:
            raise _missing(key)
        is_plain = self._context.caller.sees_secrets or not holds_known(found.text)
        return _key_value(found, is_masked=not is_plain)

    def all(self, *, scope: str = "") -> list[KeyValue]:
        """Return all keys of a scope, by key; see ``get``.

        Whoever sees only some scopes gets the values without secrets.
        """
        found = self._store.all(self._context.find_scope(scope), self._now_ms())
        is_masked = not self._context.caller.sees_secrets
        return [_key_value(stored, is_masked=is_masked) for stored in found]

    def set(
        self,
        key: str,
        content: object,
        *,
        scope: str = "",
        ttl_s: int | None = None,
        if_version: int | None = None,
    ) -> int:
        """Give a key a value; it is on the disk when this returns its new version.

        Args:
            key: Up to ``MAX_KEY_CHARS``, without control characters; not empty.
            content: Any JSON, of at most ``MAX_VALUE_BYTES``.
            scope: See ``get``.
            ttl_s: Seconds until it is gone; None: it stays.
            if_version: Only if the key has this version; 0: only if there is none.

        Raises:
            KeyNotFoundError: There is none, and a version was expected.
            NotSavedError: Nothing was saved; the message says why.
            UsageError: The key, the value or a number cannot be used.
            VersionMismatchError: It has another version.
        """
        _check_key(key)
        _check_number("The time to live, in seconds,", ttl_s, 1, MAX_TTL_S)
        _check_number("The expected version", if_version, 0, MAX_VERSION)
        text = _json_text(content)
        if holds_known(text) or holds_known(key):
            raise UsageError(
                "The value contains a secret of the vault.",
                hint="Keep the name of the vault's key instead; `hm vault exec` puts"
                " its value into the environment of a command.",
                effect=_EFFECT,
            )
        with self._changing():
            where = self._writable(scope)
            now_ms = self._now_ms()
            done = self._store.set(
                where,
                key,
                text,
                now_ms=now_ms,
                expires_ms=now_ms + ttl_s * _MS if ttl_s else 0,
                if_version=if_version,
            )
        if done.is_full:
            raise TooManyKeysError(
                f"There are {MAX_KEYS:,} keys already.",
                hint="Delete some, or give them a time to live.",
                effect=_EFFECT,
            )
        if not done.is_written:
            if not done.version:
                raise _missing(key, _EFFECT)
            expected = if_version or 0
            raise VersionMismatchError(expected=expected, current=done.version)
        return done.version

    def delete(self, key: str, *, scope: str = "") -> None:
        """Delete a key; it keeps its version, so that a later write goes on from there.

        Raises:
            KeyNotFoundError: There is none.
            NotSavedError: It was not deleted; the message says why.
        """
        with self._changing("Nothing was deleted"):
            where = self._writable(scope, "Nothing was deleted")
            is_gone = self._store.delete(where, key, self._now_ms())
        if not is_gone:
            raise _missing(key)

    def _changing(self, effect: str = _EFFECT) -> AbstractContextManager[None]:
        """Return a context in which no project moves, for a caller that may write."""
        context = self._context
        check_not_read_only(context.caller, effect)
        check_enabled(
            is_enabled=context.is_enabled, why_read_only=context.why_read_only
        )
        return no_moves(context.places.shared_locks, effect)

    def _writable(self, name: str, effect: str = _EFFECT) -> str:
        """Return the scope that a name means, for a write.

        Raises:
            NotSavedError: The caller only reads there.
            ScopeError: The caller does not have it.
        """
        scope = self._context.find_scope(name)
        if not may_write(
            self._context.caller, f"{scope}/x.md" if scope else GLOBAL_NOTE
        ):
            raise NotWritableError(
                "you cannot write to the global memory from here.",
                hint="Name a scope of your own, or leave the scope out.",
                effect=effect,
            )
        return scope

    def _now_ms(self) -> int:
        """Return the time, in milliseconds since the epoch."""
        return int(self._context.clocks.now() * _MS)


def _missing(key: str, effect: str = "") -> KeyNotFoundError:
    """Return the error for a key that is not there."""
    return KeyNotFoundError(
        no_such("key", mask_short(key, _SHOWN_CHARS)),
        hint="`hm kv list` lists the keys.",
        effect=effect,
    )


def _check_key(key: str) -> None:
    """Raise a ``UsageError`` unless a text can be a key."""
    try:
        key.encode()
        is_text = True
    except UnicodeEncodeError:
        is_text = False
    if 0 < len(key) <= MAX_KEY_CHARS and is_text and not _has_control(key):
        return
    raise UsageError(
        f"A key has 1 to {MAX_KEY_CHARS} characters and no control characters.",
        effect=_EFFECT,
    )


def _has_control(key: str) -> bool:
    """Return whether a text has characters that terminals obey."""
    return any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in key)


def _check_number(what: str, number: int | None, low: int, high: int) -> None:
    """Raise a ``UsageError`` unless a number is within its bounds."""
    if number is None or low <= number <= high:
        return
    raise UsageError(f"{what} must be from {low} to {high}.", effect=_EFFECT)


def _json_text(content: object) -> str:
    """Return a value as JSON.

    Raises:
        UsageError: It is none, or too long.
    """
    try:
        text = _dumped(content, is_ascii=False)
        size = len(text.encode())
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        text = _dumped(content, is_ascii=True)
        size = len(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError("The value is not JSON.", effect=_EFFECT) from error
    if size > MAX_VALUE_BYTES:
        raise UsageError(
            f"The value has {size:,} bytes; the limit is {MAX_VALUE_BYTES:,}.",
            hint="Keep it in a file, and its path here.",
            effect=_EFFECT,
        )
    return text


def _dumped(content: object, *, is_ascii: bool) -> str:
    return json.dumps(
        content, ensure_ascii=is_ascii, allow_nan=False, separators=(",", ":")
    )


def _key_value(stored: StoredValue, *, is_masked: bool) -> KeyValue:
    """Return what a caller gets of a key."""
    content = json.loads(stored.text)
    return KeyValue(
        key=mask(stored.key) if is_masked else stored.key,
        value=mask_json(content) if is_masked else content,
        version=stored.version,
        updated_at=stored.updated_ms / _MS,
        expires_at=stored.expires_ms / _MS,
    )
