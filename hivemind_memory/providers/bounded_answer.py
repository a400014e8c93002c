"""Bounds how much of an answer a provider's own client reads, and for how long.

The clients read whatever comes for as long as something comes. A server that never ends
would fill the memory of this process, even after the caller has given up.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PLAIN = {"Accept-Encoding": "identity"}
"""Header of each request: a compressed answer has as many bytes as its server likes."""


def bound_answer(response: Any) -> None:
    """Let the body of a response raise when it is too long, or takes too long.

    A hook of ``httpx`` clients, called before the body is read. OpenAI's client brings
    a library of its own, with the same names.

    Args:
        response: Of either library.

    Raises:
        AnswerTooLongError: It is compressed, though it was asked not to be.
    """
    # Not at the top: it takes milliseconds, and a cold search needs only the name.
    from hivemind_memory.providers.json_connection import (
        MAX_ANSWER_BYTES,
        AnswerTooLongError,
    )

    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerTooLongError
    whole, library = response.stream, type(response).__module__.partition(".")[0]
    timeouts = response.request.extensions.get("timeout") or {}
    limit_s = timeouts.get("read")

    class Bounded(sys.modules[library].SyncByteStream):  # type: ignore[misc]
        """The same stream, up to a number of bytes and a time."""

        def __iter__(self) -> Iterator[bytes]:
            end_s = None if limit_s is None else time.monotonic() + limit_s
            count = 0
            for chunk in whole:
                count += len(chunk)
                if count > MAX_ANSWER_BYTES:
                    raise AnswerTooLongError
                if end_s is not None and time.monotonic() > end_s:
                    raise TimeoutError
                yield chunk

        def close(self) -> None:
            whole.close()

    response.stream = Bounded()
