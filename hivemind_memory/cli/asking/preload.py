"""Loads what commands need, and fills the tables that are made when first used."""

from __future__ import annotations

import gc
from importlib import import_module
from pkgutil import walk_packages

import hivemind_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LEFT_OUT = (
    "mcp_server",
    "http_api",
    "watch",
    "evaluation",
    "backup",
    "testing",
    *(f"providers.{name}" for name in ("local_", "ollama_", "openai_", "remote")),
    "cli.__main__",
    "cli.asking.client",
)
"""What no short command needs, or what brings much with it."""

_OTHERS = (
    "difflib",
    "encodings.utf_8_sig",
    "html",
    "json",
    "tempfile",
    "textwrap",
    "tomllib",
    "yaml",
)
"""What commands load where they use it."""

_SAMPLE = """---
title: A note
tags: [one, two]
---
# A note

Some text with a [[link]], `code` and https://example.org/a/b.

- [ ] a task
- another, "quoted" 10 May 2025

| a | b |
| - | - |
| 1 | 2 |

```sh
export NAME=value
```
"""


def preload(is_over: Callable[[], bool]) -> None:
    """Import the modules of the commands that a helper runs.

    A module that can't be imported is left to the command, which says why.

    Args:
        is_over: Whether to stop; asked again and again.
    """
    own = walk_packages(hivemind_memory.__path__, "hivemind_memory.")
    names = (module.name for module in own)
    wanted = (name for name in names if not _is_left_out(name))
    for name in (*_OTHERS, *wanted):
        if is_over():
            return
        try:
            import_module(name)
        except ImportError:
            continue
    _fill()


def _is_left_out(name: str) -> bool:
    return name.partition(".")[2].startswith(_LEFT_OUT)


def _fill() -> None:
    """Compile patterns, and have tables made that depend on nothing but the program."""
    from hivemind_memory.files.digests import blake2b_hex, sha256_hex
    from hivemind_memory.markdown.note_parser import chunk_note
    from hivemind_memory.model.terms import extra_terms, query_terms
    from hivemind_memory.patterns.lazy_pattern import LazyPattern
    from hivemind_memory.patterns.pattern_file import PROGRAM
    from hivemind_memory.redaction.redact import scrub

    for found in gc.get_objects():
        if isinstance(found, LazyPattern):
            _ = found.pattern
    scrub(_SAMPLE)
    chunk_note(_SAMPLE, limit_chars=800)
    extra_terms(_SAMPLE)
    query_terms("when was the 2nd note saved in May?")
    sha256_hex(b"")
    blake2b_hex(b"")
    PROGRAM.write()  # each child would
