"""Whether a request that changes a memory has read the version that is active."""

from __future__ import annotations

from hivemind_memory.http_api.failures import Failure
from hivemind_memory.http_api.schemas import version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.http_api.routes import Call
    from hivemind_memory.http_api.schemas import Row


def is_match(call: Call, row: Row) -> bool:
    """Return whether ``If-Match`` names the version that a row is."""
    given = [version.strip() for version in call.headers["if-match"].split(",")]
    return "*" in given or version_of(row) in given


def changed(call: Call, row: Row) -> Failure:
    """Return the failure of a version that is no longer the active one."""
    return Failure(
        412,
        f"Memory '{call.path['id']}' has changed since you read it",
        more={
            "expected": call.headers["if-match"],
            "current": version_of(row),
            "entry": row.model_dump(by_alias=True),
        },
    )
