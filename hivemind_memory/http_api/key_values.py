"""The routes of the key-value store: the keys of a workspace."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, JsonValue

from hivemind_memory.errors import (
    KeyNotFoundError,
    TooManyKeysError,
    VersionMismatchError,
)
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.routes import Answer, Call, Fields, RouteGroup
from hivemind_memory.model.clocks import utc_iso
from hivemind_memory.model.key_values import (
    MAX_KEY_CHARS,
    MAX_TTL_S,
    MAX_VALUE_BYTES,
    MAX_VERSION,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.key_values import KeyValue

routes = RouteGroup("/workspaces/{id}", tag="key-value", workspace="id")

_MISSING = "key not found"
_ROW_EXAMPLE = {
    "key": "deploy/last-run",
    "value": {"commit": "4bbd2ec9", "ok": True},
    "version": 7,
    "expires_at": None,
    "updated_at": "2026-11-21T09:30:00.000Z",
}


class KeyRow(Answer):
    """A key with its value."""

    key: str
    value: JsonValue
    version: int = Field(description="higher with each write, even after a deletion")
    expires_at: str | None = Field(description="when it expires; null: never")
    updated_at: str


class SetFields(Fields):
    """The fields of a write."""

    key: str = Field(
        min_length=1,
        max_length=MAX_KEY_CHARS,
        description="without control characters",
    )
    value: JsonValue = Field(
        description=f"any JSON of at most {MAX_VALUE_BYTES // 1024} KiB"
    )
    ttl_seconds: int | None = Field(
        None, ge=1, le=MAX_TTL_S, description="seconds until it expires"
    )
    if_match_version: int | None = Field(
        None,
        ge=0,
        le=MAX_VERSION,
        description="only if the key has this version; 0: only if there is no such key",
    )


class WrittenKey(Answer):
    """What a write has made."""

    status: Literal["ok"]
    key: str
    version: int


class DeletedKey(Answer):
    """What a deletion has done."""

    status: Literal["deleted"]


@routes.get("/memory", example=[_ROW_EXAMPLE], if_no_workspace=[])
def list_keys(call: Call) -> list[KeyRow]:
    """List the keys of a workspace with their values, by key.

    In the list, secrets are masked; a single key is returned as stored, except for
    values of the vault.
    """
    return [_row(found) for found in call.memory.curation.key_values.all()]


@routes.get("/memory/{key...}", errors=(404,), example=_ROW_EXAMPLE)
def read_key(call: Call) -> KeyRow:
    """Return one key with its value."""
    try:
        return _row(call.memory.curation.key_values.get(call.path["key"]))
    except KeyNotFoundError:
        raise Failure(404, _MISSING) from None


@routes.post(
    "/memory",
    errors=(404, 409),
    sample={"key": "deploy/last-run", "value": {"commit": "4bbd2ec9", "ok": True}},
    example={"status": "ok", "key": "deploy/last-run", "version": 8},
)
def write_key(call: Call, body: SetFields) -> WrittenKey:
    """Set the value of a key; it is on disk when the answer arrives."""
    try:
        version = call.memory.curation.key_values.set(
            body.key,
            body.value,
            ttl_s=body.ttl_seconds,
            if_version=body.if_match_version,
        )
    except KeyNotFoundError:
        raise Failure(404, _MISSING) from None
    except TooManyKeysError:
        raise Failure(409, "too many keys") from None
    except VersionMismatchError as error:
        versions = {
            "expected_version": error.expected,
            "current_version": error.current,
        }
        raise Failure(409, "if_match_version mismatch", more=versions) from None
    return WrittenKey(status="ok", key=body.key, version=version)


@routes.delete("/memory/{key...}", errors=(404,), example={"status": "deleted"})
def delete_key(call: Call) -> DeletedKey:
    """Delete a key; a later write continues its version numbers."""
    try:
        call.memory.curation.key_values.delete(call.path["key"])
    except KeyNotFoundError:
        raise Failure(404, _MISSING) from None
    return DeletedKey(status="deleted")


def _row(found: KeyValue) -> KeyRow:
    """Return a key as it is answered."""
    content: Any = found.value  # it was read from JSON
    end = utc_iso(found.expires_at, "milliseconds") if found.expires_at else None
    return KeyRow(
        key=found.key,
        value=content,
        version=found.version,
        expires_at=end,
        updated_at=utc_iso(found.updated_at, "milliseconds"),
    )
