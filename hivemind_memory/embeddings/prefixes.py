"""What a model wants to read before a note and before a question.

Models trained with such words find less without them; the others find less with them.
A table, so that a person can look up what is sent; ``document_prefix`` and
``query_prefix`` in config.json override it.
"""

from __future__ import annotations

import re
from typing import NamedTuple


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


_SENTENCE = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the"
    " query\nQuery:"
)

# The first row that matches counts, so the special stands above the general. Sources
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
