"""Lines from a client: whatever they hold, what can be answered is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest

from hivemind_memory.mcp_server.frames import RejectedLine, read_frame, readable_id

ASK = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":'


def ids_of(line: bytes) -> list[object]:
    """The ids of the errors with which a line is answered."""
    read = read_frame(line)
    assert isinstance(read, RejectedLine)
    for answer in read.error_responses:
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    return [answer["id"] for answer in read.error_responses]


def test_a_request_and_a_note_are_handed_on() -> None:
    """The usual case."""
    request = read_frame(b'{"jsonrpc":"2.0","id":"a","method":"ping"}')
    note = read_frame(b'{"jsonrpc":"2.0","method":"notifications/x"}')

    assert isinstance(request, JSONRPCRequest)
    assert request.id == "a"
    assert isinstance(note, JSONRPCNotification)


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        (ASK.encode() + b"[" * 100_000, [7]),
        (ASK.encode() + b'{"a":' + b"[" * 400 + b"]" * 400 + b"}}", [7]),
        (ASK.encode() + b"1" * 10_000 + b"}", [7]),
        (ASK.encode() + b"[1]}", [7]),
        (ASK.encode(), [7]),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', [1.5]),
        (b'{"jsonrpc":"1.0","id":3,"method":"x"}', [3]),
        (b'{"id":3,"method":"x"}', [3]),
        (b'{"jsonrpc":"2.0","id":3}', [3]),
        (b'{"jsonrpc":"2.0","method":4,"params":{"id":9},"id":3}', [3]),
        (b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"id":2,"method":"y"}]', [1, 2]),
        (b"[]", [None]),
        (b"[" * 100_000, [None]),
        (b"not json", [None]),
        (b"\xff\xfe\x00", [None]),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":4}', [None]),
        (b"NaN", [None]),
        (b'{"jsonrpc":"2.0","id":5,"result":3}', []),
        (b'{"jsonrpc":"2.0","id":5,"error":{}}', []),
    ],
)
def test_what_cannot_be_handed_on_is_answered(line: bytes, ids: list[object]) -> None:
    """Every request with a readable id is answered, so no client waits forever."""
    assert ids_of(line) == ids


def test_half_a_character_is_shown_and_does_no_harm() -> None:
    """JSON can hold what no file can; a path that holds it is not a path then."""
    read = read_frame(ASK.encode() + b'{"file":"a\\ud800.md","\\udfff":[1,"\\ud83d"]}}')

    assert isinstance(read, JSONRPCRequest)
    assert read.params == {"file": "a\\ud800.md", "\\udfff": [1, "\\ud83d"]}


def test_broken_utf8_becomes_a_replacement_character() -> None:
    """As everywhere in the package."""
    read = read_frame(ASK.encode() + b'{"a":"caf\xe9"}}')

    assert isinstance(read, JSONRPCRequest)
    assert read.params == {"a": "caf\ufffd"}


@given(st.binary(max_size=60))
def test_any_bytes_are_read(data: bytes) -> None:
    """Nobody promises that what starts us is a client."""
    read_frame(data)
    readable_id(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "method", "params", "jsonrpc", "result"])
                | st.text(max_size=3),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read(value: object) -> None:
    """Every object with a method and a usable id is handed on or answered."""
    read = read_frame(json.dumps(value).encode())

    if not isinstance(value, dict) or "method" not in value or "result" in value:
        return
    given_id = value.get("id")
    if isinstance(given_id, int) and not isinstance(given_id, bool):
        if isinstance(read, RejectedLine):
            assert [answer["id"] for answer in read.error_responses] == [given_id]
        else:
            assert isinstance(read, JSONRPCRequest)
            assert read.id == given_id
