"""Counts tokens with the vocabulary of a model, from its ``tokenizer.json``.

The file is read from this machine; nothing is downloaded.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files.descriptors import open_regular, read_regular
from hivemind_memory.files.errors import hint_for_given, reason_of
from hivemind_memory.model.display import clause
from hivemind_memory.providers.install_command import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_MAX_BYTES = 256 << 20
"""The largest vocabularies that are published have some 30 MB."""


def token_counter(path: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text, without a model's special ones.

    Args:
        path: A file in the format of the library ``tokenizers``.

    Raises:
        HivemindError: The library is not installed.
        UsageError: The file is not such a file.
    """
    data = _read(path)
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise HivemindError(
            "The library tokenizers is not installed.",
            hint=f"`{install_command(['tokenizers'])}` installs it.",
        ) from error
    try:
        tokenizer = Tokenizer.from_buffer(data)
    except Exception as error:
        # The library raises nothing narrower, whatever is wrong with the file.
        raise UsageError(
            f"{path} is not a tokenizer.json: {clause(str(error))}."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _read(path: str) -> bytes:
    """Return what a file holds.

    Raises:
        UsageError: It is no file, too large, or cannot be read.
    """
    try:
        found = read_regular(open_regular(path, os.O_RDONLY), _MAX_BYTES)
    except OSError as error:
        message = f"{path} cannot be read: {reason_of(error)}."
        raise UsageError(message, hint=hint_for_given(error)) from error
    if found is None:
        raise UsageError(
            f"{path} is not a tokenizer.json: it is no file, or too large."
        )
    return found[0]
