"""Writes ONNX files by hand, field by field as in ``onnx.proto``.

The library that writes such files is needed nowhere else.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

FLOAT, INT64 = 1, 7
_OPSET, _IR_VERSION = 17, 8
_OF_FLOAT, _OF_INT, _OF_INTS = 1, 2, 7

Shape = Sequence[str | int]


def model(
    *,
    nodes: Sequence[bytes],
    constants: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
) -> bytes:
    """Return a whole file."""
    graph = b"".join(_bytes(1, made) for made in nodes) + _text(2, "graph")
    graph += b"".join(_bytes(5, tensor) for tensor in constants)
    graph += b"".join(_bytes(11, given) for given in inputs)
    graph += b"".join(_bytes(12, found) for found in outputs)
    opset = _number(2, _OPSET)
    return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, opset)


def node(kind: str, inputs: Sequence[str], output: str, **attributes: object) -> bytes:
    """Return one operation with whole numbers, fractions or lists as attributes."""
    data = b"".join(_text(1, name) for name in inputs) + _text(2, output)
    data += _text(4, kind)
    for name, given in attributes.items():
        data += _bytes(5, _text(1, name) + _attribute(given))
    return data


def floats(name: str, data: bytes, shape: Sequence[int]) -> bytes:
    """Return a constant of little-endian float32."""
    return _tensor(name, FLOAT, data, shape)


def whole(
    name: str, numbers: Sequence[int], shape: Sequence[int] | None = None
) -> bytes:
    """Return a constant of whole numbers; a list of them unless a shape is given."""
    data = struct.pack(f"<{len(numbers)}q", *numbers)
    return _tensor(name, INT64, data, (len(numbers),) if shape is None else shape)


def value(name: str, kind: int, shape: Shape) -> bytes:
    """Return what an input or output is; a size that is a name may be any."""
    sizes = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size))
        for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def _attribute(given: object) -> bytes:
    if isinstance(given, int):
        return _number(3, given) + _number(20, _OF_INT)
    if isinstance(given, float):
        fixed = _varint(2 << 3 | 5) + struct.pack("<f", given)
        return fixed + _number(20, _OF_FLOAT)
    assert isinstance(given, list)
    return b"".join(_number(8, number) for number in given) + _number(20, _OF_INTS)


def _tensor(name: str, kind: int, data: bytes, shape: Sequence[int]) -> bytes:
    dims = b"".join(_number(1, size) for size in shape)
    return dims + _number(2, kind) + _text(8, name) + _bytes(9, data)


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # -1 has all bits set
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])
