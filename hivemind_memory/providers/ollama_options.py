"""What Ollama is told beside the texts of a chat. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

IS_THINKING = False
"""Whether a model may think before it replies. Some take minutes for it, and with some
versions of Ollama a reply in a given form is empty then."""

USUAL_CONTEXT = 4_096
"""Tokens that Ollama takes with less than 24 GiB of video memory. It cuts what is
longer, and answers as if nothing were missing."""

MAX_CONTEXT = 32_768
"""Most tokens that are asked for. Ollama takes no more than the model can."""

_CONTEXT_STEP = 4_096
"""With each other number, Ollama loads the model again."""

_BYTES_PER_TOKEN = 2
"""At least: English has four, JSON full of ids a little more than two."""

_REPLY_TOKENS = 1_024


def options_for(texts: Iterable[str]) -> dict[str, int]:
    """Return the options of a request: with room for all of its texts and the reply.

    One that fits anyway leaves the context to the server, which may have more.

    Source:
        https://docs.ollama.com/context-length and github.com/ollama/ollama/issues/4967

    >>> options_for(["x" * 24_000])
    {'temperature': 0, 'num_ctx': 16384}
    """
    options = {"temperature": 0}
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    needed = size // _BYTES_PER_TOKEN + _REPLY_TOKENS
    if needed > USUAL_CONTEXT:
        steps = -(-needed // _CONTEXT_STEP)
        options["num_ctx"] = min(steps * _CONTEXT_STEP, MAX_CONTEXT)
    return options
