"""How a failed request is answered: with a status, and a sentence in an envelope.

A route raises a ``HivemindError``, as ``Memory`` does, or a ``Failure`` where the
answer has a form of its own. Both become an answer here and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ValidationError

from hivemind_memory.errors import (
    TOO_MANY_FILES,
    ConfigError,
    HivemindError,
    IndexUnusableError,
    KeyNotFoundError,
    KeyTakenError,
    LineNotFoundError,
    MemoryNotFoundError,
    NoteNotFoundError,
    NotesMissingError,
    NoteUnreadableError,
    NotSavedError,
    NotWritableError,
    PersonOnlyError,
    StateUnusableError,
    UsageError,
    VaultLockedError,
    VersionChangedError,
    is_disk_full,
    is_out_of_files,
)
from hivemind_memory.model.display import shorten, without_options
from hivemind_memory.model.schema_words import allowed_by, schema_at
from hivemind_memory.redaction import mask, mask_short

logger = logging.getLogger(__name__)

INVALID_JSON = "invalid JSON"
NO_ROUTE = "no route"
_MAX_CHARS = 1_000
_ASK_PERSON = (
    "A person decides it in a terminal, or in the browser that `hm dashboard` opens."
)

_STATUSES: tuple[tuple[type[HivemindError], int], ...] = (
    (ConfigError, 503),
    (PersonOnlyError, 403),
    (UsageError, 400),
    (MemoryNotFoundError, 404),
    (NoteNotFoundError, 404),
    (LineNotFoundError, 404),
    (KeyNotFoundError, 404),
    (KeyTakenError, 409),
    (VaultLockedError, 503),
    (NotWritableError, 403),
    (VersionChangedError, 412),
    (NotSavedError, 409),
    (NotesMissingError, 503),
    (NoteUnreadableError, 503),
    (IndexUnusableError, 503),
    (StateUnusableError, 503),
)
"""Kind of error -> status; the first that fits. Every other kind: 503."""


class Failure(Exception):  # noqa: N818 - it is an answer, not a defect
    """A request is answered with a status and a sentence."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        hint: str = "",
        details: Sequence[Mapping[str, str]] = (),
        more: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Make the failure; of what a program sent, no secret is told back to it.

        Args:
            status: 400 to 599.
            message: What is wrong.
            hint: The next thing to try.
            details: ``{"field", "problem"}`` for each field that is wrong.
            more: Further members of the envelope.
            headers: Of the answer.
        """
        super().__init__(message)
        self.status = status
        self.message = mask(message)
        self.hint = mask(hint)
        self.details = [
            {name: mask(text) for name, text in each.items()} for each in details
        ]
        self.more = more or {}
        self.headers = headers or {}


class NoWorkspaceFailure(Failure):
    """A workspace is not the caller's, or not there.

    Some routes answer that nothing is in it.
    """

    def __init__(self) -> None:
        """Make the failure; who may not see a workspace does not learn that it is."""
        super().__init__(404, "workspace not found")


Envelope = Callable[[Failure], dict[str, object]]
"""Returns the JSON object that answers a failure."""


def plain_envelope(failure: Failure) -> dict[str, object]:
    """Return ``{"error", "hint"?, "details"?}``, the form of our own routes."""
    envelope: dict[str, object] = {"error": failure.message}
    if failure.hint:
        envelope["hint"] = failure.hint
    if failure.details:
        envelope["details"] = list(failure.details)
    return {**envelope, **failure.more}


_PLUGIN_CODES = {401: "forbidden", 403: "forbidden", 404: "not_found", 500: "internal"}


def plugin_envelope(failure: Failure) -> dict[str, object]:
    """Return ``{"code", "message", "details"?}``, the form of the memory plugin."""
    is_ours = failure.status in {409, 429, 503}
    other = "unavailable" if is_ours else "bad_request"
    code = _PLUGIN_CODES.get(failure.status, other)
    envelope: dict[str, object] = {"code": code, "message": failure.message}
    if failure.details:
        envelope["details"] = {"fields": list(failure.details)}
    return {**envelope, **failure.more}


ENVELOPES: dict[str, Envelope] = {"v1": plugin_envelope}
"""First part of a path -> the form of its failures, where it is not the plain one."""


def envelope_at(path: str) -> Envelope:
    """Return the form of the failures of a path, whether there is a route or not."""
    # `*` and the address of a CONNECT have no slash.
    return ENVELOPES.get(path.lstrip("/").partition("/")[0], plain_envelope)


def failure_of(error: Exception) -> Failure:
    """Return how an error of the memory is answered; an unexpected one is logged."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, HivemindError):
        if is_disk_full(error):
            # No more: the sentence for a shell names a folder of this machine.
            effect = f" {error.effect}." if error.effect else ""
            return Failure(
                503, f"The disk is full.{effect}", hint="Free some space and try again."
            )
        kinds = _STATUSES if not is_out_of_files(error) else ()
        status = next((code for kind, code in kinds if isinstance(error, kind)), 503)
        hint = clean_sentence(without_options(error.hint))
        if isinstance(error, PersonOnlyError):
            hint = _ASK_PERSON
        return Failure(status, clean_sentence(str(error)), hint=hint)
    logger.error("a request failed", exc_info=error)
    if is_out_of_files(error):
        return Failure(503, TOO_MANY_FILES, hint="Try again in a while.")
    return Failure(
        500,
        f"unexpected error ({type(error).__name__})",
        hint="Check whether it was done before you try again; `hm doctor` may find the"
        " cause.",
    )


def clean_sentence(text: str) -> str:
    """Return a message as it is answered: without secrets, and not too long."""
    return mask_short(text, _MAX_CHARS)


def failure_of_fields(
    error: ValidationError, fields: type[BaseModel], whole: str
) -> Failure:
    """Return how a body or a query of the wrong form is answered, without its values.

    The first problem is the sentence, all of them are the details.

    Args:
        error: What was found.
        fields: What the request takes.
        whole: What is wrong where no field is: ``body`` or ``query``.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        return Failure(400, INVALID_JSON)
    schema = fields.model_json_schema()
    details = [
        {
            "field": _field(problem["loc"], whole),
            "problem": _problem(problem["type"], problem["msg"])
            or f"must be {allowed_by(schema_at(schema, problem['loc']))}",
        }
        for problem in found[:20]
    ]
    first = details[0]
    is_of_all = found[0]["type"] == "value_error" and not found[0]["loc"]
    named = "" if is_of_all else f"{first['field']}: "
    return Failure(400, f"{named}{first['problem']}", details=details)


def _field(place: Sequence[int | str], whole: str) -> str:
    """Return the name of a field; without one, that of the whole."""
    return mask_short(".".join(str(part) for part in place) or whole, 60)


def _problem(kind: str, message: str) -> str:
    """Return what is wrong with a field; empty: the schema says what it must be."""
    ours = {
        "missing": "is required",
        "extra_forbidden": "unknown field",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
    }.get(kind, "")
    if kind != "value_error":
        return ours
    message = message.removeprefix("Value error, ")
    return shorten(f"{message[:1].lower()}{message[1:]}", 200)
