"""The routes of the vault, for the token of the server itself and no other.

The one place beside a person's terminal where a value of the vault is shown.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from hivemind_memory.curation.access_tokens import OWN
from hivemind_memory.curation.vault_access import keep_value, open_vault
from hivemind_memory.errors import KeyNotFoundError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.routes import Answer, Call, Fields, RouteGroup
from hivemind_memory.model.clocks import utc_iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.vault.vault import Vault, VaultKey

routes = RouteGroup("/api/v1", tag="vault")

_ROW_EXAMPLE = {
    "key": "STRIPE_KEY",
    "is_secret": True,
    "created_at": "2026-11-21T09:30:00Z",
    "updated_at": "2026-11-21T09:30:00Z",
}


class VaultRow(Answer):
    """A key of the vault, without its value."""

    key: str
    is_secret: bool = Field(description="it is hidden wherever notes are shown")
    created_at: str
    updated_at: str


class VaultValue(VaultRow):
    """A key of the vault with its value."""

    value: str


class VaultFields(Fields):
    """What is kept under a key."""

    value: str = Field(description="text of at most 64 KiB")
    is_secret: bool = Field(
        default=True, description="whether it is hidden wherever notes are shown"
    )


class VaultStatus(Answer):
    """What was done."""

    status: str
    key: str


@routes.get("/vault", errors=(403,), example=[_ROW_EXAMPLE])
def list_vault(call: Call) -> list[VaultRow]:
    """List the keys of the vault, without values; for the server's own token."""
    return [VaultRow(**_fields(key)) for key in _vault(call).all()]


@routes.get(
    "/vault/{key}", errors=(403, 404), example={**_ROW_EXAMPLE, "value": "sk_test_1"}
)
def read_vault_key(call: Call) -> VaultValue:
    """Return a key of the vault with its value; for the server's own token."""
    vault = _vault(call)
    try:
        key, value = vault.get(call.path["key"])
    except KeyNotFoundError:
        raise _no_such_key(call) from None
    call.reply_headers["cache-control"] = "no-store"
    return VaultValue(**_fields(key), value=value)


@routes.put(
    "/vault/{key}",
    errors=(403, 409),
    sample={"value": "sk_test_1"},
    example={"status": "ok", "key": "STRIPE_KEY"},
)
def write_vault_key(call: Call, body: VaultFields) -> VaultStatus:
    """Store a value in the vault; for the server's own token."""
    keep_value(
        _vault(call),
        call.path["key"],
        body.value,
        now_s=call.memory.clocks.now(),
        is_secret=body.is_secret,
    )
    return VaultStatus(status="ok", key=call.path["key"])


@routes.delete(
    "/vault/{key}",
    errors=(403, 404),
    example={"status": "deleted", "key": "STRIPE_KEY"},
)
def delete_vault_key(call: Call) -> VaultStatus:
    """Delete a key of the vault and its value; for the server's own token."""
    try:
        _vault(call).delete(call.path["key"])
    except KeyNotFoundError:
        raise _no_such_key(call) from None
    return VaultStatus(status="deleted", key=call.path["key"])


def _no_such_key(call: Call) -> Failure:
    """Return the answer to a key that is not there, in the words of the contract."""
    key = call.path["key"]
    return Failure(404, f'vault key "{key}" not found')


def _vault(call: Call) -> Vault:
    """Return the vault.

    Raises:
        Failure: The caller is not its owner.
    """
    if call.by != OWN or call.is_named:
        raise Failure(403, "only the server's own token opens the vault")
    return open_vault(call.memory.places, call.memory.settings)


def _fields(key: VaultKey) -> dict[str, Any]:
    """Return what is answered of a key, besides its value."""
    return {
        "key": key.key,
        "is_secret": key.is_secret,
        "created_at": utc_iso(key.created_at),
        "updated_at": utc_iso(key.updated_at),
    }
