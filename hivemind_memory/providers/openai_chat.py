"""Asks a language model with OpenAI's own client, over ``/chat/completions``."""

from __future__ import annotations

import json

import openai

from hivemind_memory.model.chat import AS_JSON, AS_TEXT, BY_SCHEMA
from hivemind_memory.providers.chat_errors import (
    explain_bad_reply,
    explain_chat_status,
    explain_chat_timeout,
    explain_no_chat,
    refuse_stopped,
)
from hivemind_memory.providers.chat_reply import TOO_MUCH, text_in
from hivemind_memory.providers.json_connection import AnswerTooLongError
from hivemind_memory.providers.openai_client import open_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hivemind_memory.model.chat import ChatMessage
    from hivemind_memory.providers.chat_target import ChatTarget

MAX_ANSWER_BYTES = 1_000_000
"""More than any reply with what surrounds it; a longer one is not parsed."""


class OpenAIChat:
    """Sends one request; see ``ChatRequest``."""

    def __init__(self, target: ChatTarget) -> None:
        self._target = target
        self._client = open_client(target.base_url, target.address, target.api_key)
        # Raw: the client's own parsing passes over what it does not understand. Here,
        # because the library imports what is behind these names when they are used.
        self._create = self._client.chat.completions.with_raw_response.create

    def __call__(
        self,
        messages: Sequence[ChatMessage],
        form: str,
        schema: Mapping[str, object],
        *,
        timeout_s: float,
    ) -> str:
        """Return the text of the reply."""
        target = self._target
        said: Any = [{"role": each.role, "content": each.text} for each in messages]
        try:
            answer = self._create(
                messages=said,
                model=target.model,
                response_format=_response_format(form, schema),
                timeout=timeout_s,
            )
            body = answer.content
        # From None, all of them: what the library says may hold the key or the text.
        except openai.APITimeoutError:
            raise explain_chat_timeout(target, timeout_s) from None
        except AnswerTooLongError:
            raise explain_bad_reply(target, TOO_MUCH) from None
        except openai.APIConnectionError:
            raise explain_no_chat(target) from None
        except openai.APIStatusError as error:
            raise explain_chat_status(
                target,
                error.status_code,
                body=error.message,
                code=error.code or "",
                headers=dict(error.response.headers),
                is_simplest=form == AS_TEXT,
            ) from None
        except openai.OpenAIError:
            raise explain_bad_reply(target, "in a form that cannot be read") from None
        return self._text_in(body)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _text_in(self, body: bytes) -> str:
        """Return the text of the first choice; a call of a tool beside it is noise."""
        if len(body) > MAX_ANSWER_BYTES:
            raise explain_bad_reply(self._target, TOO_MUCH)
        try:
            answer = json.loads(body)
            self._raise_error_in(answer)
            choice = answer["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            text, refusal = text_in(message.get("content")), message.get("refusal")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise explain_bad_reply(self._target, "not with a message") from None
        refuse_stopped(self._target, reason, text)
        if text.strip():
            return text
        what = "declined" if refusal else "with a message without text"
        raise explain_bad_reply(self._target, what)

    def _raise_error_in(self, answer: object) -> None:
        """Raise if a success is none, as a server says that only passes requests on."""
        if not isinstance(answer, dict) or answer.get("choices"):
            return
        error = answer.get("error")
        if isinstance(error, dict):
            code, said = error.get("code"), str(error.get("message", ""))
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            raise explain_chat_status(self._target, status, body=said, is_simplest=True)


def _response_format(form: str, schema: Mapping[str, object]) -> Any:
    """Return how the server is asked to reply."""
    if form == BY_SCHEMA:
        described = {"name": "reply", "schema": dict(schema), "strict": True}
        return {"type": "json_schema", "json_schema": described}
    return {"type": "json_object"} if form == AS_JSON else openai.omit
