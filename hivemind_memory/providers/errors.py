"""Turns a provider's failures into errors with one sentence and one hint.

The provider's own words are never repeated: they may contain a part of the key or of
the text that was sent, and would end up in a log.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
    EmbeddingTooLongError,
)
from hivemind_memory.model.embedding_providers import provider_named
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.providers.fingerprint import VectorSpace


_OFFLINE_HINT = "Until it answers, searches are by keyword."

# How servers say that a text is longer than the model takes, some of them with status
# 400, some with 500: Ollama, OpenAI, vLLM, llama.cpp, text-embeddings-inference.
TOO_MUCH = "with far more than a vector"
TOO_LONG = lazy_re(
    r"(exceeds?|maximum|larger than) (the )?(available |max(imum)? )?(model'?s? )?"
    r"(context|input|token|sequence)|context[ _]length"
    r"|(?<!took )too (long|large to process)"
    r"|must have less than \d+ tokens|input length|tokens per request",
    re.IGNORECASE,
)
"""How servers say that a text is too long."""

QUOTA_CODES = frozenset(("insufficient_quota", "billing_hard_limit_reached"))
"""Codes of an account that has nothing left."""

PASSING = frozenset((408, 425, 429))
"""Worth another try, as is every 5xx: 408 timeout, 425 too early, 429 too many."""

CODE = lazy_re(r"[a-z][a-z_]{2,40}")
"""A code of an error that can be shown."""


def explain_status(
    space: VectorSpace,
    status: int,
    *,
    body: str = "",
    code: str = "",
    headers: Mapping[str, str] | None = None,
) -> EmbeddingError:
    """Return the error for an HTTP status that is not a success.

    Args:
        space: Whom we asked for what.
        status: HTTP status.
        body: The body of the answer; read, never repeated.
        code: Error code of the answer, such as ``insufficient_quota``.
        headers: Headers of the answer, names in lower case.
    """
    if status in (400, 413, 422, 500) and TOO_LONG.search(body):
        message = f"{space.who} says that a text is too long for {space.model}."
        hint = "Reduce chunk_chars to make texts shorter."
        return EmbeddingTooLongError(message, hint=hint)
    is_quota = code in QUOTA_CODES
    if (status in PASSING or status >= 500) and not is_quota:
        return _passing(space, status, headers or {})
    known = f"{status}, {code}" if CODE.fullmatch(code) else str(status)
    what, hint = _refusal(space, status, is_quota=is_quota)
    return EmbeddingRefusedError(f"{space.who} {what} ({known}).", hint=hint)


def explain_no_address(space: VectorSpace) -> EmbeddingRefusedError:
    """Return the error for an address to which nothing can be sent."""
    option = _address_option(space)
    message = f"{option} is not a usable address."
    hint = f"Write {option} like {provider_named(space.provider).example_url}."
    return EmbeddingRefusedError(message, hint=hint)


def explain_no_answer(space: VectorSpace) -> EmbeddingError:
    """Return the error for a server that could not be reached or broke off."""
    message = f"{space.who} cannot be reached, or closed the connection early."
    hint = provider_named(space.provider).if_not_running or (
        f"Check the network and {_address_option(space)}. {_OFFLINE_HINT}"
    )
    return EmbeddingError(message, hint=hint)


def explain_timeout(space: VectorSpace, timeout_s: float) -> EmbeddingError:
    """Return the error for a server that took longer than *timeout_s* seconds."""
    message = f"{space.who} did not answer within {seconds_text(timeout_s)}."
    return EmbeddingError(message, hint=_OFFLINE_HINT)


def explain_bad_answer(space: VectorSpace, what: str) -> EmbeddingInvalidError:
    """Return the error for a success whose body is of no use.

    Args:
        space: Whom we asked for what.
        what: What is wrong with it, as the end of a sentence.
    """
    message = f"{space.who} answered, but {what}."
    hint = f"Check that {_address_option(space)} is the address of an embedding server."
    return EmbeddingInvalidError(message, hint=hint)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the headers ask us to wait; None: they do not ask.

    A date is measured against the server's own clock, its header ``date``.

    Source:
        RFC 9110, 10.2.3; ``retry-after-ms`` is what OpenAI sends beside it.

    >>> read_retry_after({"retry-after": "2"})
    2.0
    """
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
            return float(text) * factor
    try:
        until = parsedate_to_datetime(headers["retry-after"])
        since = parsedate_to_datetime(headers["date"])
        return max(0.0, (until - since).total_seconds())
    except (KeyError, ValueError, TypeError):
        return None


def _passing(
    space: VectorSpace, status: int, headers: Mapping[str, str]
) -> EmbeddingError:
    """Return the error for what may go well a little later."""
    wait_s = read_retry_after(headers)
    if status == 429:
        wait = "" if wait_s is None else f" and asks to wait {seconds_text(wait_s)}"
        message = f"{space.who} received too many requests (429){wait}."
    else:
        message = f"{space.who} returned a server error ({status})."
    hint = "`hm` tries again later; until then, searches are by keyword."
    return EmbeddingError(message, hint=hint, retry_after_s=wait_s)


def _refusal(space: VectorSpace, status: int, *, is_quota: bool) -> tuple[str, str]:
    """Return what a refusal says, and what to do about it."""
    option = _address_option(space)
    if is_quota:
        return "says that the quota is exhausted", "Check the billing of that account."
    if status == 401:
        return "did not accept the key", provider_named(space.provider).key_hint
    if status == 403:
        return "does not let this key use the model", f"Check the account and {option}."
    if status == 404:
        hint = provider_named(space.provider).if_no_model.format(model=space.model)
        return f"has no model {space.model}, or nothing at that address", hint
    if 300 <= status < 400:
        # Following would send notes to an address that was not chosen.
        return "points to another address", f"Set {option} to the final address."
    hint = f"Check that the model is one for embeddings, and {option}."
    return "did not accept the request", hint


def seconds_text(duration_s: float) -> str:
    """Return a duration for a person."""
    digits = 0 if duration_s >= 10 else 1
    return f"{duration_s:.{digits}f} s"


def _address_option(space: VectorSpace) -> str:
    """Return the name of the option that holds the address."""
    return provider_named(space.provider).url_option
