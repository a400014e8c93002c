"""Opens OpenAI's own client. Imported only by what sends requests with it.

The library takes 0.7 s to import.
"""

from __future__ import annotations

import logging
import os

import openai

from hivemind_memory.model.embedding_providers import OPENAI
from hivemind_memory.providers.addresses import parse_address
from hivemind_memory.providers.bounded_answer import PLAIN
from hivemind_memory.providers.openai_wire import NO_KEY
from hivemind_memory.providers.remote import transport_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.providers.addresses import Address

_LOGGER = logging.getLogger("openai")
if _LOGGER.level == logging.NOTSET:
    # Version 2 logs whole requests as details, and notes do not belong in a log.
    _LOGGER.setLevel(logging.INFO)


def open_client(base_url: str, address: Address, api_key: str) -> openai.OpenAI:
    """Return a client that asks once and follows no redirect.

    Args:
        base_url: Where it sends its requests.
        address: The same, parsed.
        api_key: The key; empty for a server that wants none.
    """
    make = openai.OpenAI if _is_named_outside(address) else _OtherServersClient
    return make(
        api_key=api_key or NO_KEY,
        base_url=base_url,
        max_retries=0,
        default_headers=PLAIN,
        http_client=openai.DefaultHttpxClient(**transport_of(address)),
    )


class _OtherServersClient(openai.OpenAI):
    """A client that sends nothing of what the environment holds for another server.

    ``OPENAI_CUSTOM_HEADERS`` may hold a key, and the names of the organization and of
    the project are none of other people's business.
    """

    def __init__(self, **options: Any) -> None:
        """Take the options of the client."""
        super().__init__(**options)
        self._custom_headers = PLAIN
        self.organization = None
        self.project = None


def _is_named_outside(address: Address) -> bool:
    """Return whether the variables of OpenAI's client are meant for an address.

    They are for OpenAI, or for the server that ``OPENAI_BASE_URL`` names.
    """
    named = os.environ.get("OPENAI_BASE_URL", "")
    meant = {parse_address(url) for url in (OPENAI.default_url, named) if url}
    return address in meant
