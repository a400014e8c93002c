"""Names a vector space: everything that shapes a vector, in one short text.

Two vectors are compared only if their fingerprints are equal. The same model under
another spelling of the same address has the same fingerprint, because embedding a text
twice costs money; anything that changes a vector changes the fingerprint.

The prefixes that a model expects before a note and a query are part of it. Models that
were trained with prefixes find less without them, and others find less with them, so
there is a table; ``document_prefix`` and ``query_prefix`` in config.json override it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import NamedTuple

from hivemind_memory.model.embedding_providers import find_provider, provider_named
from hivemind_memory.providers.addresses import Address, parse_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.providers.settings import EmbeddingSettings


_HASH_CHARS = 12  # 48 bits: a person has a handful of spaces
_READABLE_CHARS = 60


_SENTENCE = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the"
    " query\nQuery:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """All that shapes a vector."""

    provider: str
    """Name of its row, see ``model.embedding_providers``."""

    base_url: str
    """Address of the provider; folder of a local model."""

    model: str
    dimensions: int = 0
    """Numbers asked for; 0: as many as the model gives."""

    document_prefix: str = ""
    query_prefix: str = ""
    weights: str = ""
    """Digest of the files of a local model, which are in ``base_url``."""

    @property
    def fingerprint(self) -> str:
        """Name of the space."""
        return fingerprint(
            provider=self.provider,
            base_url=self.base_url,
            model=self.model,
            dimensions=self.dimensions,
            document_prefix=self.document_prefix,
            query_prefix=self.query_prefix,
            weights=self.weights,
        )

    @property
    def address(self) -> Address:
        """Where the provider answers."""
        return _address(self.provider, self.base_url)

    @property
    def who(self) -> str:
        """The provider as the subject of a sentence."""
        row = provider_named(self.provider)
        if not row.url_option:
            return row.title
        if not row.has_compatible_servers:
            return f"{row.title} at {self.address.place}"
        if self.address == parse_address(row.default_url):
            return row.title
        return f"The embedding server at {self.address.place}"


def describe_space(settings: EmbeddingSettings, provider: str) -> VectorSpace:
    """Return the space that *settings* describe for *provider*.

    Raises:
        EmbeddingRefusedError: There is no such provider.
    """
    row = provider_named(provider)

    def option(name: str) -> str:
        return str(getattr(settings, name)) if name else ""

    model = option(row.model_option) or row.name
    url = option(row.url_option) or row.default_url
    prefixes = choose_prefixes(
        model, document=settings.document_prefix, query=settings.query_prefix
    )
    return VectorSpace(
        provider=provider,
        base_url=url,
        model=model,
        dimensions=int(option(row.dimensions_option) or 0),
        document_prefix=prefixes.document,
        query_prefix=prefixes.query,
    )


def fingerprint(
    *,
    provider: str,
    base_url: str,
    model: str,
    dimensions: int,
    document_prefix: str,
    query_prefix: str,
    weights: str = "",
) -> str:
    """Return the name of a space: what a person wants to know of it, and a hash of all.

    Vectors are always scaled to the length 1, so that is in the name as well.

    >>> fingerprint(
    ...     provider="ollama", base_url="http://localhost:11434",
    ...     model="nomic-embed-text", dimensions=0,
    ...     document_prefix="search_document: ", query_prefix="search_query: ",
    ... ).partition("#")[0]
    'ollama/nomic-embed-text@localhost:11434'
    """
    address = _address(provider, base_url)
    host = "localhost" if address.is_loopback else address.host
    row = find_provider(provider)
    if row and row.has_weights:
        # A folder that was moved holds the same model.
        model = model.rstrip("/").rpartition("/")[2]
    model = row.same_model(model) if row else model
    whole: tuple[object, ...] = (
        "l2",
        provider,
        address.scheme,
        host,
        address.port,
        address.path,
        model,
        dimensions,
        document_prefix,
        query_prefix,
    )
    if weights:
        whole = (*whole, weights)
    digest = hashlib.sha256(repr(whole).encode("utf-8", "backslashreplace"))
    size = f"/{dimensions}" if dimensions else ""
    place = "" if row and row.has_weights else address._replace(host=host).place
    readable = f"{provider}/{model}{size}{place and f'@{place}'}"
    return f"{readable[:_READABLE_CHARS]}#{digest.hexdigest()[:_HASH_CHARS]}"


def _address(provider: str, base_url: str) -> Address:
    """Return where *provider* answers."""
    row = find_provider(provider)
    if row and row.has_weights:
        base_url = row.default_url  # it is a folder
    return parse_address(base_url, default_port=row.default_port if row else None)


class Prefixes(NamedTuple):
    """Words before each text; empty for none."""

    document: str
    query: str


class _Row(NamedTuple):
    """Models whose name matches, and what their card asks for."""

    pattern: str
    """Regular expression, searched in the name in lower case, ``_`` read as ``-``."""

    document: str
    query: str
    source: str


# The first row that matches counts, so the special comes before the general. Sources
# are the model cards, huggingface.co/<name>, unless said otherwise.
_ROWS = (
    _Row(
        r"nomic-embed-code",
        "",
        "Represent this query for searching relevant code: ",
        "nomic-ai/nomic-embed-code",
    ),
    _Row(
        r"nomic-embed-(text|v\d)|nomic-embed$|modernbert-embed",
        "search_document: ",
        "search_query: ",
        "nomic-ai/nomic-embed-text-v1.5, -v2-moe; nomic-ai/modernbert-embed-base",
    ),
    _Row(
        r"embedding-?gemma",
        "title: none | text: ",
        "task: search result | query: ",
        "google/embeddinggemma-300m",
    ),
    _Row(r"qwen3-embedding", "", _INSTRUCT, "Qwen/Qwen3-Embedding-0.6B"),
    _Row(
        r"gte-qwen|e5-mistral|e5.*-instruct|sfr-embedding|linq-embed",
        "",
        f"{_INSTRUCT} ",
        "intfloat/e5-mistral-7b-instruct, intfloat/multilingual-e5-large-instruct,"
        " Alibaba-NLP/gte-Qwen2-1.5B-instruct",
    ),
    _Row(
        r"(^|[/-])e5-",
        "passage: ",
        "query: ",
        "intfloat/e5-base-v2, intfloat/multilingual-e5-large",
    ),
    _Row(
        r"bge-(micro|small|base|large)-zh",
        "",
        "为这个句子生成表示以用于检索相关文章：",
        "BAAI/bge-large-zh-v1.5",
    ),
    # Ollama's bge-large is the English one; bge-m3 wants nothing and does not match.
    _Row(r"bge-(micro|small|base|large)", "", _SENTENCE, "BAAI/bge-large-en-v1.5"),
    _Row(
        r"mxbai-embed-(large|xsmall|2d)",
        "",
        _SENTENCE,
        "mixedbread-ai/mxbai-embed-large-v1",
    ),
    _Row(r"uae-large", "", _SENTENCE, "WhereIsAI/UAE-Large-V1"),
    _Row(
        r"arctic-embed-?(\w-v?)?2|arctic-embed-\w+-v2",
        "",
        "query: ",
        "Snowflake/snowflake-arctic-embed-l-v2.0",
    ),
    _Row(r"arctic-embed", "", _SENTENCE, "Snowflake/snowflake-arctic-embed-m-v1.5"),
)


def look_up_prefixes(model: str) -> Prefixes:
    """Return what the card of *model* asks for; nothing for a model not in the table.

    >>> look_up_prefixes("nomic-embed-text:latest").query
    'search_query: '
    >>> look_up_prefixes("text-embedding-3-small")
    Prefixes(document='', query='')
    """
    name = model.lower().replace("_", "-")
    for row in _ROWS:
        if re.search(row.pattern, name):
            return Prefixes(row.document, row.query)
    return Prefixes("", "")


def choose_prefixes(
    model: str, *, document: str | None = None, query: str | None = None
) -> Prefixes:
    """Return the prefixes in effect: what the settings say, else what the table says.

    Args:
        model: Name of the model, as the provider knows it.
        document: ``document_prefix`` of the settings; None: as the model wants.
        query: ``query_prefix`` of the settings; None: as the model wants.
    """
    known = look_up_prefixes(model)
    return Prefixes(
        known.document if document is None else document,
        known.query if query is None else query,
    )
