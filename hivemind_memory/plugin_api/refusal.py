"""Why a request of a platform is refused: a status and a sentence.

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

BAD_REQUEST, FORBIDDEN, NOT_FOUND = 400, 403, 404
INTERNAL, UNAVAILABLE = 500, 503

NO_NAMESPACE = "namespace not found"
NO_MEMORY = "memory not found in namespace"


class RefusedError(HivemindError):
    """A request is refused; nothing was changed."""

    def __init__(self, message: str, status: int = BAD_REQUEST) -> None:
        """Make the error.

        Args:
            message: What is wrong.
            status: Of the answer over HTTP.
        """
        super().__init__(message)
        self.status = status


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
