"""Counts tokens with the vocabulary of a model, from its ``tokenizer.json``.

The file is read from this machine; nothing is downloaded.
"""

from __future__ import annotations

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.providers.install_command import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def token_counter(path: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text, without a model's special ones.

    Args:
        path: A file in the format of the library ``tokenizers``.

    Raises:
        HivemindError: The library is not installed.
        UsageError: The file is not such a file.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise HivemindError(
            "The library tokenizers is not installed.",
            hint=f"`{install_command(['tokenizers'])}` installs it.",
        ) from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        # The library raises nothing narrower, whatever is wrong with the file.
        raise UsageError(f"{path} is not a tokenizer.json: {error}.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
