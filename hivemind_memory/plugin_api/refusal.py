"""Why a request of a platform is refused: a status, a code and a sentence.

``refusal_of`` turns the errors of the memory into these. A scope that the caller does
not have is refused like one that is not there.
"""

from __future__ import annotations

from hivemind_memory.errors import (
    HivemindError,
    IndexUnusableError,
    MemoryNotFoundError,
    NotesMissingError,
    NotSavedError,
    ScopeError,
    StateUnusableError,
    UsageError,
)

BAD_REQUEST, FORBIDDEN, NOT_FOUND = "bad_request", "forbidden", "not_found"
INTERNAL, UNAVAILABLE = "internal", "unavailable"

STATUSES = {
    BAD_REQUEST: 400,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    INTERNAL: 500,
    UNAVAILABLE: 503,
}
"""Code -> status of the answer over HTTP."""

NO_NAMESPACE = "namespace not found"
NO_MEMORY = "memory not found in namespace"


class RefusedError(HivemindError):
    """A request is refused; nothing was changed."""

    def __init__(
        self, message: str, code: str = BAD_REQUEST, *, status: int = 0, field: str = ""
    ) -> None:
        """Make the error.

        Args:
            message: What is wrong.
            code: One of ``STATUSES``.
            status: Of the answer; 0: that of the code.
            field: The field of the request that is wrong; empty: none alone.
        """
        super().__init__(message)
        self.code = code
        self.status = status or STATUSES[code]
        self.field = field

    def as_json(self) -> dict[str, object]:
        """Return it as the answer of the plugin says it."""
        said: dict[str, object] = {"code": self.code, "message": str(self)}
        if self.field:
            said["details"] = {"field": self.field}
        return said


def wrong_field(field: str, problem: str) -> RefusedError:
    """Return the error for a field of the wrong type or value."""
    return RefusedError(f"{field} {problem}", field=field)


def refusal_of(error: HivemindError) -> RefusedError:
    """Return why a request is refused, from an error of the memory."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, ScopeError):
        return RefusedError(NO_NAMESPACE, NOT_FOUND)
    if isinstance(error, MemoryNotFoundError):
        return RefusedError(NO_MEMORY, NOT_FOUND)
    if isinstance(error, UsageError):
        return RefusedError(str(error))
    is_passing = (IndexUnusableError, NotSavedError, NotesMissingError)
    if isinstance(error, (*is_passing, StateUnusableError)):
        return RefusedError(str(error), UNAVAILABLE)
    return RefusedError(str(error), INTERNAL)
