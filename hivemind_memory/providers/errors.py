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
    from typing import Literal

    from hivemind_memory.providers.fingerprint import VectorSpace

    Cause = Literal["quota", "key", "account", "model", "address", "request"]

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

CHECK_BILLING = "Check the billing of that account."

_REFUSED: dict[int, tuple[str, Cause]] = {
    401: ("did not accept the key", "key"),
    403: ("does not let this key use the model", "account"),
    404: ("has no model {model}, or nothing at that address", "model"),
}
"""What a status says, and what is to blame."""

_OTHERWISE: tuple[str, Cause] = ("did not accept the request", "request")


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
    if is_passing(status, code):
        wait_s = read_retry_after(headers or {})
        message = passing_text(space.who, status, wait_s)
        hint = "`hm` tries again later; until then, searches are by keyword."
        return EmbeddingError(message, hint=hint, retry_after_s=wait_s)
    message, cause = refusal(space.who, status, code=code, model=space.model)
    return EmbeddingRefusedError(message, hint=_hint(space, cause))


def explain_no_address(space: VectorSpace) -> EmbeddingRefusedError:
    """Return the error for an address to which nothing can be sent."""
    option = _address_option(space)
    message = f"{option} is not a usable address."
    hint = f"Write {option} like {provider_named(space.provider).example_url}."
    return EmbeddingRefusedError(message, hint=hint)


def explain_no_answer(space: VectorSpace) -> EmbeddingError:
    """Return the error for a server that could not be reached or broke off."""
    message = unreachable_text(space.who)
    hint = provider_named(space.provider).if_not_running or (
        f"Check the network and {_address_option(space)}. {_OFFLINE_HINT}"
    )
    return EmbeddingError(message, hint=hint)


def explain_timeout(space: VectorSpace, timeout_s: float) -> EmbeddingError:
    """Return the error for a server that took longer than *timeout_s* seconds."""
    message = timeout_text(space.who, timeout_s)
    return EmbeddingError(message, hint=_OFFLINE_HINT)


def explain_bad_answer(space: VectorSpace, what: str) -> EmbeddingInvalidError:
    """Return the error for a success whose body is of no use.

    Args:
        space: Whom we asked for what.
        what: What is wrong with it, as the end of a sentence.
    """
    message = useless_text(space.who, what)
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


def unreachable_text(who: str) -> str:
    """Return what to say of a server that could not be reached or broke off."""
    return f"{who} cannot be reached, or closed the connection early."


def timeout_text(who: str, timeout_s: float) -> str:
    """Return what to say of a server that took longer than *timeout_s* seconds."""
    return f"{who} did not answer within {seconds_text(timeout_s)}."


def useless_text(who: str, what: str) -> str:
    """Return what to say of an answer; *what* is wrong with it, as a clause."""
    return f"{who} answered, but {what}."


def is_passing(status: int, code: str) -> bool:
    """Whether what a server answers may go well a little later."""
    return (status in PASSING or status >= 500) and code not in QUOTA_CODES


def passing_text(
    who: str, status: int, wait_s: float | None, *, longest_s: float | None = None
) -> str:
    """Return what to say of a failure that passes.

    Args:
        who: The server, as the subject of a sentence.
        status: HTTP status.
        wait_s: For how many seconds it asks to be left alone; None: it does not ask.
        longest_s: For how long it is left alone at most; None: as long as it asks.
    """
    if status != 429:
        return f"{who} returned a server error ({status})."
    wait = "" if wait_s is None else f" and asks to wait {seconds_text(wait_s)}"
    if wait_s is not None and longest_s is not None and wait_s > longest_s:
        wait += f"; it is left alone for {seconds_text(longest_s)}"
    return f"{who} received too many requests (429){wait}."


def refusal(
    who: str, status: int, *, code: str, model: str, meant: int | None = None
) -> tuple[str, Cause]:
    """Return what to say of a request that was refused, and what is to blame.

    Args:
        who: The server, as the subject of a sentence.
        status: HTTP status.
        code: Error code of the answer, such as ``insufficient_quota``.
        model: Model that was asked for.
        meant: The status that says what the server means; None: the one it sent.
    """
    known = f"{status}, {code}" if CODE.fullmatch(code) else str(status)
    status = status if meant is None else meant
    what, cause = _OTHERWISE
    if code in QUOTA_CODES:
        what, cause = "says that the quota is exhausted", "quota"
    elif status in _REFUSED:
        what, cause = _REFUSED[status]
    elif 300 <= status < 400:
        # Following would send notes to an address that was not chosen.
        what, cause = "points to another address", "address"
    return f"{who} {what.format(model=model)} ({known}).", cause


def seconds_text(duration_s: float) -> str:
    """Return a duration for a person."""
    digits = 0 if duration_s >= 10 else 1
    return f"{duration_s:.{digits}f} s"


def _hint(space: VectorSpace, cause: Cause) -> str:
    """Return what to do about a refusal."""
    option, row = _address_option(space), provider_named(space.provider)
    hints: dict[Cause, str] = {
        "quota": CHECK_BILLING,
        "key": row.key_hint,
        "account": f"Check the account and {option}.",
        "model": row.if_no_model.format(model=space.model),
        "address": f"Set {option} to the final address.",
        "request": f"Check that the model is one for embeddings, and {option}.",
    }
    return hints[cause]


def _address_option(space: VectorSpace) -> str:
    """Return the name of the option that holds the address."""
    return provider_named(space.provider).url_option
