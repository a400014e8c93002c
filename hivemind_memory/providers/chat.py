"""Asks a language model for a JSON object: masked, bounded, counted.

What differs between the wires is in ``openai_chat`` and ``ollama_chat``; each request
goes through that provider's own client. A server that refuses a form of reply is asked
for a simpler one: by schema, as JSON, as text. All three are told the schema in words.
"""

from __future__ import annotations

import json
import threading

from hivemind_memory.errors import (
    ChatError,
    ChatFormError,
    ChatNotReadyError,
    ChatRefusedError,
)
from hivemind_memory.model.chat import FORMS, SYSTEM, ChatMessage
from hivemind_memory.model.embedding_providers import OLLAMA
from hivemind_memory.providers.breaker import Breaker, load_breaker_state
from hivemind_memory.providers.chat_errors import (
    explain_bad_reply,
    explain_chat_timeout,
)
from hivemind_memory.providers.chat_reply import NoObjectError, read_object
from hivemind_memory.providers.remote import run_within
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from hivemind_memory.providers.chat_target import ChatTarget

    class ChatRequest(Protocol):
        """Sends one request."""

        def __call__(
            self,
            messages: Sequence[ChatMessage],
            form: str,
            schema: Mapping[str, object],
            *,
            timeout_s: float,
        ) -> str:
            """Return the text of the reply, or raise a ``ChatError``.

            Raises:
                ChatFormError: The server does not take *form*.
            """
            ...

        def close(self) -> None:
            """Close the connections."""
            ...

    class ChatAccount(Protocol):
        """Counts the requests of a day, and keeps the breaker between processes."""

        def take_request(self) -> float:
            """Count one request before it is sent.

            Returns:
                0, or in how many seconds the next one may be sent.
            """
            ...

        def breaker_state(self) -> str:
            """Return what ``keep_breaker_state`` was given last; empty: nothing."""
            ...

        def keep_breaker_state(self, text: str) -> None:
            """Keep the state of the breaker."""
            ...


_IN_WORDS = "Reply with one JSON object and nothing else. Its JSON schema is:\n{schema}"


class RemoteChat:
    """A ``Chat`` over a server. Only one thread at a time asks."""

    def __init__(
        self,
        target: ChatTarget,
        open_request: Callable[[ChatTarget], ChatRequest],
        *,
        account: ChatAccount,
        now: Callable[[], float],
        stopwatch: Callable[[], float],
    ) -> None:
        """Send and open nothing yet.

        Args:
            target: Who is asked.
            open_request: Returns what sends requests; loads a library.
            account: Counts them.
            now: Seconds since the epoch.
            stopwatch: Seconds on a clock that never goes back.
        """
        self._target = target
        self._open_request = open_request
        self._account = account
        self._now = now
        self._stopwatch = stopwatch
        self._request: ChatRequest | None = None
        self._form = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._target.name

    def prepare(self) -> None:
        """Load the library of the server's protocol."""
        with self._lock:
            self._opened()

    def ask(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, object],
        *,
        timeout_s: float,
    ) -> dict[str, object]:
        """Return the JSON object that it replies with; see the port."""
        prepared = _prepared(messages, schema)
        with self._lock:
            breaker = Breaker(load_breaker_state(self._account.breaker_state()))
            now_s = self._now()
            if why_not := breaker.why_not(now_s):
                wait_s = max(1.0, breaker.wait_s(now_s))
                raise ChatNotReadyError(why_not, retry_after_s=wait_s)
            try:
                reply = self._ask(prepared, schema, timeout_s)
            except ChatNotReadyError:
                raise
            except ChatError as error:
                is_refusal = isinstance(error, ChatRefusedError)
                breaker.fail(self._now(), _text_of(error), is_refusal=is_refusal)
                self._account.keep_breaker_state(breaker.state.dump())
                raise
            breaker.succeed()
            self._account.keep_breaker_state(breaker.state.dump())
            return reply

    def close(self) -> None:
        """Close the connections, if there are any."""
        if self._request is not None:
            self._request.close()

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, object],
        timeout_s: float,
    ) -> dict[str, object]:
        """Ask in the strictest form that the server takes."""
        end_s = self._stopwatch() + timeout_s
        form = self._form
        while True:
            left_s = end_s - self._stopwatch()
            if left_s <= 0:
                raise explain_chat_timeout(self._target, timeout_s)
            try:
                text = self._send(messages, FORMS[form], schema, left_s)
            except ChatFormError:
                if form == len(FORMS) - 1:
                    raise
                form += 1
                continue
            # Not before: what was refused in every form was refused for another reason.
            self._form = form
            try:
                return read_object(text)
            except NoObjectError as error:
                raise explain_bad_reply(self._target, str(error)) from None

    def _opened(self) -> ChatRequest:
        """Return what sends requests; the lock is held."""
        if self._request is None:
            self._request = self._open_request(self._target)
        return self._request

    def _send(
        self,
        messages: Sequence[ChatMessage],
        form: str,
        schema: Mapping[str, object],
        left_s: float,
    ) -> str:
        """Send one request, if the day has one left; return the text of the reply."""
        request = self._opened()
        if wait_s := self._account.take_request():
            message = "Today's requests are used up (llm_calls_per_day)."
            raise ChatNotReadyError(message, retry_after_s=wait_s)
        try:
            return run_within(
                left_s, lambda: request(messages, form, schema, timeout_s=left_s)
            )
        except TimeoutError:
            raise explain_chat_timeout(self._target, left_s) from None


def connect_chat(
    target: ChatTarget,
    *,
    account: ChatAccount,
    now: Callable[[], float],
    stopwatch: Callable[[], float],
) -> RemoteChat:
    """Return a chat with a language model; its library is loaded when it is asked."""
    return RemoteChat(
        target, _open_request, account=account, now=now, stopwatch=stopwatch
    )


def _open_request(target: ChatTarget) -> ChatRequest:
    """Return what sends requests to a server; loads its library."""
    if target.provider == OLLAMA.name:
        from hivemind_memory.providers.ollama_chat import OllamaChat

        return OllamaChat(target)
    from hivemind_memory.providers.openai_chat import OpenAIChat

    return OpenAIChat(target)


def _prepared(
    messages: Sequence[ChatMessage], schema: Mapping[str, object]
) -> list[ChatMessage]:
    """Return what is sent: the schema in words too, and no secret of a known form."""
    in_words = _IN_WORDS.format(schema=json.dumps(schema))
    sent = [message._replace(text=_sendable(message.text)) for message in messages]
    return [ChatMessage(SYSTEM, in_words), *sent] if not sent else _with(sent, in_words)


def _with(messages: list[ChatMessage], in_words: str) -> list[ChatMessage]:
    """Return messages with a sentence at the end of the first."""
    first, *others = messages
    return [first._replace(text=f"{first.text}\n\n{in_words}"), *others]


def _sendable(text: str) -> str:
    """Return a text without secrets, and without what no request can carry."""
    return mask(text).encode("utf-8", "replace").decode()


def _text_of(error: ChatError) -> str:
    """Return an error and, for what only a person can mend, its hint."""
    if isinstance(error, ChatRefusedError):
        return f"{error} {error.hint}".strip()
    return str(error)
