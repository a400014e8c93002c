"""What is a vector and what is not."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import EmbeddingInvalidError
from hivemind_memory.providers.vectors import check_batch, count_dims, pack, unpack

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(
    -(2**70), 2**70
)


@given(st.lists(numbers, min_size=1, max_size=40).filter(any))
def test_whatever_is_finite_becomes_a_vector_of_length_1(values: list[float]) -> None:
    """Also the very large and the very small, whose squares are no floats."""
    vector = unpack(pack(values))

    assert len(vector) == len(values)
    assert math.sqrt(sum(x * x for x in vector)) == pytest.approx(1, abs=1e-5)


@given(st.lists(st.floats(-100, 100).filter(lambda x: abs(x) > 1e-3), min_size=1))
def test_only_the_length_changes(values: list[float]) -> None:
    """The direction is what the model said."""
    norm = math.sqrt(sum(x * x for x in values))

    assert unpack(pack(values)) == pytest.approx([x / norm for x in values], abs=1e-6)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0, 0.0],
        [0, -0.0],
        [math.nan, 1.0],
        [1.0, math.inf],
        [-math.inf],
        [10**400],
        [None, 1.0],
        ["1.0", 1.0],
        [True, 1.0],
        [[1.0], 1.0],
        [1j],
    ],
    ids=repr,
)
def test_what_is_no_vector_is_refused(values: list[float]) -> None:
    """None of it may reach the index, where it would poison every comparison."""
    with pytest.raises(EmbeddingInvalidError) as caught:
        pack(values)

    assert str(caught.value).endswith(".")


def test_a_packed_vector_is_little_endian_float32() -> None:
    """The form of the index on every machine."""
    packed = pack([3.0, 4.0])

    assert packed == struct.pack("<2f", 0.6, 0.8)
    assert count_dims(packed) == 2


def test_packing_a_vector_again_changes_at_most_the_last_bit() -> None:
    """What was scaled before stays as it is."""
    once = pack([0.1, -0.7, 2.5, 9.0])

    assert unpack(pack(unpack(once))) == pytest.approx(unpack(once), abs=1e-7)


@pytest.mark.parametrize(
    ("sizes", "count", "dims"),
    [
        ([2, 2], 3, None),
        ([2, 2, 2], 2, None),
        ([], 1, None),
        ([2, 3], 2, None),
        ([2, 2], 2, 3),
        ([2, 3], 2, 2),
    ],
)
def test_a_batch_that_does_not_fit_together_is_refused(
    sizes: list[int], count: int, dims: int | None
) -> None:
    """Count, one length, and the length of the space."""
    vectors = [pack([1.0] * size) for size in sizes]

    with pytest.raises(EmbeddingInvalidError):
        check_batch(vectors, count=count, dims=dims)


def test_a_good_batch_tells_its_length() -> None:
    """The first batch of a space decides what the others must have."""
    vectors = [pack([1.0, 2.0]), pack([2.0, 1.0])]

    assert check_batch(vectors, count=2) == 2
    assert check_batch(vectors, count=2, dims=2) == 2
    assert check_batch([], count=0, dims=7) == 7
