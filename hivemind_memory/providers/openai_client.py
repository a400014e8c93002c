"""Opens OpenAI's own client. Imported only by what sends requests with it.

The library takes 0.7 s to import.
"""

from __future__ import annotations

import logging

import openai

from hivemind_memory.model.embedding_providers import OPENAI
from hivemind_memory.providers.addresses import parse_address
from hivemind_memory.providers.bounded_answer import PLAIN
from hivemind_memory.providers.openai_wire import NO_KEY
from hivemind_memory.providers.remote import transport_of

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    client = openai.OpenAI(
        api_key=api_key or NO_KEY,
        base_url=base_url,
        max_retries=0,
        default_headers=PLAIN,
        http_client=openai.DefaultHttpxClient(**transport_of(address)),
    )
    if address != parse_address(OPENAI.default_url):
        # From the environment, by the client: none of other people's business.
        client.organization = None
        client.project = None
    return client
