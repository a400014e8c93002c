"""Answers a client's first requests before the SDK is imported.

Importing the SDK takes most of a second, and clients that do not get the list of tools
in time send their first prompt without it. ``initialize``, ``tools/list`` and ``ping``
need nothing but ``tools.json``, which ``scripts/generate_docs.py`` writes from the
SDK's own answers. So do ``server/discover`` and the empty lists that a client asks for
beside the tools, in the protocol without a handshake, which Claude Code tries first.
Anything else, and anything unusual, is left to the SDK: ``shake_hands`` returns every
line that the SDK must still see.
"""

from __future__ import annotations

import json
import os
import threading

from hivemind_memory.mcp_server.streams import LineReader, write_all
from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TOOLS_FILE = os.path.join(os.path.dirname(__file__), "tools.json")

_POLL_S = 0.02
_QUIET_S = 0.2
STATELESS_VERSION = "2026-07-28"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
CLIENT = (
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""What every request of the protocol without a handshake says about the client."""

_INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_MAX_BYTES = 65_536
"""A first request that is longer is left to the SDK."""


class Handshake:
    """What happened before the SDK took over."""

    def __init__(self) -> None:
        self.lines: list[tuple[bytes, bool]] = []
        """Lines that the SDK has to read, in order, each with whether it is whole."""

        self.answered: set[str | int] = set()
        """Ids among them that the client already has an answer to."""

        self.is_stateless = False
        """The client speaks the protocol in which every request stands alone."""

        self.has_client_left = False
        """The client has left, and nothing waits for an answer."""


def shake_hands(
    reader: LineReader, sink: int, load_sdk: Callable[[], None]
) -> Handshake:
    """Answer the first requests until the SDK is loaded or one of them needs it.

    The SDK is loaded on a thread of its own, once the client has its list of tools or
    stops asking for a moment.

    Args:
        reader: Reads the client's lines.
        sink: Descriptor for the answers.
        load_sdk: Imports everything that the SDK's side needs.
    """
    done = Handshake()
    loading = threading.Thread(target=load_sdk, name="loading", daemon=True)
    is_loading = False
    try:
        while not is_loading or loading.is_alive():
            pause_s = _POLL_S if is_loading else _QUIET_S
            line = reader.read(pause_s if done.answered else None)
            answer = _answer(line, done) if line is not None else {}
            if line is not None and answer is None:
                done.lines.append(line)
                break
            if answer:
                write_all(sink, json.dumps(answer).encode() + b"\n")
            if not is_loading and (line is None or _lists_tools(answer)):
                loading.start()
                is_loading = True
    except (EOFError, OSError):
        done.has_client_left = True
        return done
    if is_loading:
        loading.join()
    return done


def _answer(line: tuple[bytes, bool], done: Handshake) -> dict[str, Any] | None:
    """Return the answer to a line; empty: it needs none; None: it is for the SDK."""
    if not line[0].strip():
        return {}
    request = _parse(line)
    given = request.get("id")
    if request == _INITIALIZED and done.answered:
        done.lines.append(line)
        return {}
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    if not done.answered:
        done.is_stateless = _is_stateless(request.get("params"))
    if done.is_stateless:
        result = _stateless_result(request)
    else:
        result = _result(request, is_first=not done.answered)
    if result is None:
        return None
    if not done.answered:  # the SDK must know of it, and not answer it again
        done.lines.append(line)
        done.answered.add(given)
    return {"jsonrpc": "2.0", "id": given, "result": result}


def _parse(line: tuple[bytes, bool]) -> dict[str, Any]:
    """Return the message on a line; an empty one if it is for the SDK to judge."""
    data, is_whole = line
    try:
        value = json.loads(data) if is_whole and len(data) < _MAX_BYTES else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return {}
    return value


def _result(request: dict[str, Any], *, is_first: bool) -> dict[str, Any] | None:
    """Return the result of a request; None: only the SDK knows it."""
    method, params = request.get("method"), request.get("params")
    if is_first:
        is_usual = method == "initialize" and _is_usual(params)
        return _initialize_result(request["params"]) if is_usual else None
    if not _is_bare(params):
        return None
    if method == "tools/list":
        return {"tools": _first_answers()["tools"]}
    return {} if method == "ping" else None


def _is_bare(params: object) -> bool:
    """Whether parameters ask for nothing; Codex sends a token for reports of progress.

    >>> _is_bare({"_meta": {"progressToken": 0}}), _is_bare({"cursor": "2"})
    (True, False)
    """
    if not params:
        return True
    if not isinstance(params, dict) or set(params) != {"_meta"}:
        return False
    meta = params["_meta"]
    return not meta or (isinstance(meta, dict) and set(meta) == {"progressToken"})


def _stateless_result(request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request that stands alone; None: only the SDK knows it."""
    params, answers = request.get("params"), _first_answers()
    if not isinstance(params, dict) or set(params) != {"_meta"}:
        return None
    found: dict[str, Any] | None = answers["stateless"].get(request.get("method"))
    if found is None or not _is_stateless(params):
        return None
    found["_meta"][SERVER_INFO]["version"] = __version__
    if request["method"] == "tools/list":
        found["tools"] = answers["tools"]
    return found


def _is_stateless(params: object) -> bool:
    """Whether a request says all about its client, as in the protocol of 2026-07-28."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or not set(CLIENT) <= set(meta):
        return False
    version, client, capabilities = (meta[key] for key in CLIENT)
    return (
        version == STATELESS_VERSION
        and set(meta) <= {*CLIENT, "progressToken"}
        and isinstance(capabilities, dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    )


def _lists_tools(answer: dict[str, Any] | None) -> bool:
    """Whether an answer is the list of tools."""
    return bool(answer) and "tools" in (answer or {}).get("result", {})


def _is_usual(params: object) -> bool:
    """Whether the parameters of ``initialize`` are such that the SDK takes them."""
    if not isinstance(params, dict) or set(params) - {
        "protocolVersion",
        "capabilities",
        "clientInfo",
    }:
        return False
    client = params.get("clientInfo")
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    )


def _initialize_result(params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of ``initialize``."""
    answers = _first_answers()
    versions = answers["protocolVersions"]
    asked = params["protocolVersion"]
    result: dict[str, Any] = answers["initialize"]
    result["protocolVersion"] = asked if asked in versions else versions[-1]
    result["serverInfo"]["version"] = __version__
    return result


def _first_answers() -> dict[str, Any]:
    """Return the generated answers."""
    with open(TOOLS_FILE, encoding="utf-8") as file:
        answers: dict[str, Any] = json.load(file)
    return answers
