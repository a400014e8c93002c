"""Turns the failures of a language model into errors with one sentence and one hint.

What its server says is never repeated: it may hold a part of the key or of the text.
"""

from __future__ import annotations

import re

from hivemind_memory.errors import (
    ChatError,
    ChatFormError,
    ChatRefusedError,
    ChatReplyError,
)
from hivemind_memory.model.embedding_providers import provider_named
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.providers.chat_reply import is_object
from hivemind_memory.providers.errors import (
    CHECK_BILLING,
    TOO_LONG,
    is_passing,
    passing_text,
    read_retry_after,
    refusal,
    timeout_text,
    unreachable_text,
    useless_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.providers.chat_target import ChatTarget
    from hivemind_memory.providers.errors import Cause

_MAY_BE_FORM = frozenset((400, 415, 422, 501))
"""How servers refuse a form of reply; some say 500 and name it."""

_NAMES_FORM = lazy_re(r"format|schema|grammar|structured", re.IGNORECASE)
LONGEST_REST_S = 3_600.0
"""No server is left alone for longer, whatever it asks for; some ask for years."""

_SAYS_MORE = (
    (401, lazy_re(r"api[ _-]?key", re.IGNORECASE)),
    (404, lazy_re(r"invalid model|model.{0,80}not (found|exist)", re.IGNORECASE)),
)
"""What some servers say with 400, and the status that it has elsewhere."""

_FILTERED = lazy_re(r"content[_ ](filter|management|policy)", re.IGNORECASE)
_SAID_CHARS = 400
"""What is read of a refusal: further on, servers repeat the texts."""

_LATER = "It is asked again later."


def explain_chat_status(
    target: ChatTarget,
    status: int,
    *,
    body: str = "",
    code: str = "",
    headers: Mapping[str, str] | None = None,
    is_simplest: bool = False,
) -> ChatError:
    """Return the error for an HTTP status that is not a success.

    Args:
        target: Who was asked.
        status: HTTP status.
        body: The body of the answer; read, never repeated.
        code: Error code of the answer, such as ``insufficient_quota``.
        headers: Headers of the answer, names in lower case.
        is_simplest: The reply was asked for in the simplest form there is.
    """
    if status in (400, 413, 422, 500) and TOO_LONG.search(body):
        message = f"{target.who} says that the texts are too long for {target.model}."
        return ChatReplyError(message, hint="Choose a model that takes longer texts.")
    said = f"{code} {body[:_SAID_CHARS]}"
    if status == 400 and _FILTERED.search(said):
        message = f"{target.who} refused the texts with its content filter."
        return ChatReplyError(message, hint="Another model may take these texts.")
    meant = _meant_by(status, said)
    is_form = meant == status and status in _MAY_BE_FORM
    is_form = is_form or (status == 500 and bool(_NAMES_FORM.search(body)))
    if is_form and not is_simplest:
        message = f"{target.who} does not support this reply format ({status})."
        return ChatFormError(message, hint="A simpler format is tried.")
    if is_passing(status, code):
        wait_s = read_retry_after(headers or {})
        message = passing_text(target.who, status, wait_s, longest_s=LONGEST_REST_S)
        return ChatError(message, hint=_LATER, retry_after_s=wait_s)
    message, cause = refusal(
        target.who, status, code=code, model=target.model, meant=meant
    )
    return ChatRefusedError(message, hint=_hint(target, cause))


def explain_no_chat(target: ChatTarget) -> ChatError:
    """Return the error for a server that could not be reached or broke off."""
    message = unreachable_text(target.who)
    return ChatError(message, hint=f"Check llm_base_url and the server. {_LATER}")


def explain_chat_timeout(target: ChatTarget, timeout_s: float) -> ChatError:
    """Return the error for a reply that took longer than *timeout_s* seconds."""
    message = timeout_text(target.who, timeout_s)
    return ChatError(message, hint=f"llm_timeout_s can be raised. {_LATER}")


def explain_bad_reply(target: ChatTarget, what: str) -> ChatReplyError:
    """Return the error for a reply that is of no use.

    Args:
        target: Who was asked.
        what: What is wrong with it, as the end of a sentence.
    """
    message = useless_text(target.who, what)
    return ChatReplyError(message, hint="Another model may follow the format better.")


def refuse_stopped(target: ChatTarget, reason: object, text: str) -> None:
    """Raise if the server stopped a reply before it was whole.

    Args:
        target: Who was asked.
        reason: Why the reply ended, as the server names it; both wires name it alike.
        text: What there is of it.

    Raises:
        ChatReplyError: It is not whole.
    """
    if is_object(text):
        return  # only what followed was cut off
    if reason == "length":
        message = f"{target.who} cut the reply off at its limit of tokens."
        hint = "Raise that limit, or the context length of the model."
        raise ChatReplyError(message, hint=hint)
    if reason == "content_filter":
        message = f"{target.who} stopped the reply with its content filter."
        raise ChatReplyError(message, hint="Another model may take these texts.")


def _meant_by(status: int, said: str) -> int:
    """Return the status that says what a server means by the one that it sent."""
    if status == 400 and not _NAMES_FORM.search(said):
        return next((meant for meant, says in _SAYS_MORE if says.search(said)), status)
    return status


def _hint(target: ChatTarget, cause: Cause) -> str:
    """Return what to do about a refusal."""
    row = provider_named(target.provider)
    if cause == "model" and row.has_tags:
        return row.if_no_model.format(model=target.model)
    hints: dict[Cause, str] = {
        "quota": CHECK_BILLING,
        "key": "Check llm_api_key in config.json.",
        "account": "Check the account.",
        "model": "Check llm_model and llm_base_url (most end in /v1).",
        "address": "Set llm_base_url to the final address.",
        "request": "Check llm_model and llm_base_url.",
    }
    return hints[cause]
