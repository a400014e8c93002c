"""Asks a language model with Ollama's own client, over ``/api/chat``."""

from __future__ import annotations

import httpx
import ollama

from hivemind_memory.model.chat import AS_JSON, AS_TEXT, BY_SCHEMA
from hivemind_memory.providers.chat_errors import (
    explain_bad_reply,
    explain_chat_status,
    explain_chat_timeout,
    explain_no_chat,
    refuse_stopped,
)
from hivemind_memory.providers.chat_reply import TOO_MUCH
from hivemind_memory.providers.json_connection import AnswerTooLongError
from hivemind_memory.providers.ollama_options import IS_THINKING, options_for
from hivemind_memory.providers.ollama_request import find_headers, open_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.model.chat import ChatMessage
    from hivemind_memory.providers.chat_target import ChatTarget


class OllamaChat:
    """Sends one request; see ``ChatRequest``."""

    def __init__(self, target: ChatTarget) -> None:
        self._target = target
        self._client = open_client(
            target.base_url,
            target.address,
            timeout_s=target.timeout_s,
            api_key=target.api_key,
        )

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
        try:
            answer = self._client.chat(
                target.model,
                [{"role": each.role, "content": each.text} for each in messages],
                format=dict(schema)
                if form == BY_SCHEMA
                else "json"
                if form == AS_JSON
                else None,
                think=IS_THINKING,
                options=options_for(each.text for each in messages),
            )
        # From None, all of them: what the library says may hold the text.
        except ollama.ResponseError as error:
            raise explain_chat_status(
                target,
                error.status_code,
                body=str(error.error),
                headers=find_headers(error),
                is_simplest=form == AS_TEXT,
            ) from None
        except httpx.TimeoutException:
            raise explain_chat_timeout(target, timeout_s) from None
        except AnswerTooLongError:
            raise explain_bad_reply(target, TOO_MUCH) from None
        except (httpx.HTTPError, ConnectionError):
            raise explain_no_chat(target) from None
        except (ValueError, TypeError, AttributeError, RecursionError):
            # Not JSON, or JSON of another shape: the library does not look.
            raise explain_bad_reply(target, "not with a message") from None
        text = answer.message.content or ""
        refuse_stopped(target, answer.done_reason, text)
        if not text.strip():
            raise explain_bad_reply(target, "with a message without text")
        return text

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]
