"""Checks, normalises and packs vectors, without numpy.

A vector leaves this package as bytes: float32, little-endian, of length 1. Anything
that cannot become that is refused here, so no later module checks it again.
"""

from __future__ import annotations

import math
import struct

from hivemind_memory.errors import EmbeddingInvalidError
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_FLOAT32_BYTES = 4


def pack(values: Sequence[float]) -> bytes:
    """Return *values* as little-endian float32, scaled to the length 1.

    Raises:
        EmbeddingInvalidError: There are none, one is not finite, or all are zero.

    >>> unpack(pack([3.0, 4.0]))[1] == unpack(pack([0.3, 0.4]))[1]
    True
    """
    numbers = [_finite(value) for value in values]
    largest = max(map(abs, numbers), default=0.0)
    if not numbers:
        message = "A vector is empty."
        raise EmbeddingInvalidError(message, hint=_HINT)
    if largest == 0.0:
        message = "A vector contains only zeros."
        raise EmbeddingInvalidError(message, hint=_HINT)
    # Scaled first: the squares of very large or very small numbers have no float.
    scaled = [number / largest for number in numbers]
    norm = math.sqrt(sum(number * number for number in scaled))
    return struct.pack(f"<{len(scaled)}f", *(number / norm for number in scaled))


def unpack(vector: bytes) -> tuple[float, ...]:
    """Return the numbers of a packed vector."""
    return struct.unpack(f"<{count_dims(vector)}f", vector)


def count_dims(vector: bytes) -> int:
    """Return how many numbers a packed vector has."""
    return len(vector) // _FLOAT32_BYTES


def check_batch(
    vectors: Sequence[bytes], *, count: int, dims: int | None = None
) -> int:
    """Return how many numbers each of *vectors* has, if they can be stored together.

    Args:
        vectors: What came back, packed.
        count: How many texts were sent.
        dims: Numbers that a vector of this space has; None: not known yet.

    Raises:
        EmbeddingInvalidError: Too few or too many, or not all of one length, or of
            another length than the space.
    """
    if len(vectors) != count:
        message = (
            f"For {count_text(count, 'text')}"
            f" {count_text(len(vectors), 'vector')} came back."
        )
        raise EmbeddingInvalidError(message, hint=_HINT)
    found = sorted({count_dims(vector) for vector in vectors})
    if len(found) > 1:
        message = f"One answer held vectors of {found[0]} and of {found[-1]} numbers."
        raise EmbeddingInvalidError(message, hint=_HINT)
    size = found[0] if found else dims or 0
    if dims is not None and size != dims:
        message = (
            f"The model now gives vectors of {size} numbers; before it was {dims}."
        )
        hint = "Another model answers under the same name: tell the two apart by name."
        raise EmbeddingInvalidError(message, hint=hint)
    return size


_HINT = "Check that the model is one for embeddings, and that the server works."


def _finite(value: object) -> float:
    """Return *value* as a float if it is a finite number, True and False being none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"A vector holds {_kind(value)} where a number belongs."
        raise EmbeddingInvalidError(message, hint=_HINT)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        message = "A vector holds a number that is not finite."
        raise EmbeddingInvalidError(message, hint=_HINT)
    return number


def _kind(value: object) -> str:
    """Return what *value* is, without telling its content."""
    names = {"NoneType": "null", "str": "a string", "bool": "true or false"}
    return names.get(type(value).__name__, "something else")
