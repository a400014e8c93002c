"""Answers a client's first requests before the SDK is imported.

Importing the SDK takes most of a second, and clients that do not get the list of tools
in time send their first prompt without it. ``initialize``, ``server/discover``,
``tools/list`` and ``ping`` need nothing but ``tools.json``, which
``scripts/generate_docs.py`` writes from the SDK's own answers. So do the lists of
prompts and resources: there are none, and some clients ask for them before the tools.
Anything else, and anything unusual, is left to the SDK: ``shake_hands`` returns every
line that the SDK must still see.

A client's first request decides which protocol its connection speaks: ``initialize``
opens the older ones; in the newer one each request carries its version in ``_meta``.
"""

from __future__ import annotations

import json
import os
import threading

from hivemind_memory.mcp_server.offered_scopes import offer_scopes
from hivemind_memory.mcp_server.streams import LineReader, write_all
from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

TOOLS_FILE = os.path.join(os.path.dirname(__file__), "tools.json")

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

_POLL_S = 0.02
_QUIET_S = 0.2
_MAX_BYTES = 65_536
"""A first request that is longer is left to the SDK."""

_MAX_LINES = 64
"""With more lines for the SDK than this, it must read the rest itself."""


class Handshake:
    """What happened before the SDK took over."""

    def __init__(self, toolsets: tuple[str, ...] = ()) -> None:
        self.toolsets = toolsets
        """Whose tools are listed beside the usual ones."""

        self.lines: list[tuple[bytes, bool]] = []
        """Lines that the SDK has to read, in order, each with whether it is whole."""

        self.answered: set[str | int] = set()
        """Ids among them that the client already has an answer to."""

        self.is_modern = False
        """Whether each request carries its version; known after the first answer."""

        self.more_scopes: tuple[str, ...] = ()
        """Kinds of scopes that the client has besides project and global."""

        self.has_activity = False
        """Whether the tools for activity are listed."""

        self.has_client_left = False
        """The client has left, and nothing waits for an answer."""


def shake_hands(
    reader: LineReader,
    sink: int,
    load_sdk: Callable[[], None],
    tools_listed: Callable[[], None],
    more_scopes: Sequence[str] = (),
    toolsets: tuple[str, ...] = (),
    *,
    has_activity: bool = False,
) -> Handshake:
    """Answer the first requests until the SDK is loaded or one of them needs it.

    The SDK is loaded on a thread of its own, once the client has its list of tools or
    stops asking for a moment.

    Args:
        reader: Reads the client's lines.
        sink: Descriptor for the answers.
        load_sdk: Imports everything that the SDK's side needs.
        tools_listed: Called when the client has the list, or the SDK takes over.
        more_scopes: Offered for the argument ``scope``; see ``offered_scopes``.
        toolsets: Those of the server.
        has_activity: Whether there is activity to search, with a tool of its own.
    """
    done = Handshake(toolsets)
    done.more_scopes = tuple(more_scopes)
    done.has_activity = has_activity
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
            if _lists_tools(answer):
                tools_listed()
            if not is_loading and (line is None or _lists_tools(answer)):
                loading.start()
                is_loading = True
            if len(done.lines) > _MAX_LINES:
                break
    except (EOFError, OSError):
        done.has_client_left = True
        return done
    if is_loading:
        loading.join()
    tools_listed()
    return done


def _answer(line: tuple[bytes, bool], done: Handshake) -> dict[str, Any] | None:
    """Return the answer to a line; empty: it needs none; None: it is for the SDK."""
    if not line[0].strip():
        return {}
    message = _parse(line)
    if "id" not in message and isinstance(message.get("method"), str):
        # Every request so far has its answer, so there is nothing to cancel, and the
        # SDK must not cancel what it reads a second time.
        if message["method"] != "notifications/cancelled":
            done.lines.append(line)
        return {}
    given = message.get("id")
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    result = _result(message, done)
    if result is None:
        return None
    if not done.answered:  # the SDK must know how it began, and not answer it again
        done.lines.append(line)
        done.answered.add(given)
        done.is_modern = message["method"] != "initialize"
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


def _result(request: dict[str, Any], done: Handshake) -> dict[str, Any] | None:
    """Return the result of a request; None: only the SDK knows it."""
    method, params = request.get("method"), request.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict):
        return None
    is_first = not done.answered
    if is_first and method == "initialize":
        return _initialize_result(params) if _is_usual(params) else None
    meta = params.get("_meta", {})
    is_modern = isinstance(meta, dict) and VERSION_KEY in meta
    if not _is_plain(params) or not (is_first or is_modern == done.is_modern):
        return None
    if is_modern:
        return _modern_result(method, meta, done)
    if is_first or method == "ping":
        return None if is_first else {}
    return _list(method, _first_answers(), done)


def _list(
    method: str, answers: dict[str, Any], done: Handshake
) -> dict[str, Any] | None:
    """Return the list that a request asks for; None: it asks for something else."""
    if method == "tools/list":
        return {"tools": _tools(answers, done)}
    empty: dict[str, Any] | None = answers["emptyLists"].get(method)
    return empty


def _tools(answers: dict[str, Any], done: Handshake) -> list[dict[str, Any]]:
    """Return the tools of this server, with the scopes that the client has."""
    more = answers["activityTools"] if done.has_activity else []
    tools: list[dict[str, Any]] = [*answers["tools"], *more]
    for name in dict.fromkeys(done.toolsets):
        tools += answers["toolsets"][name]
    offer_scopes(tools, done.more_scopes)
    return tools


def _modern_result(
    method: str, meta: dict[str, Any], done: Handshake
) -> dict[str, Any] | None:
    """Return the result of a request that carries its version."""
    answers = _first_answers()
    is_usual = (
        meta[VERSION_KEY] in answers["discover"]["supportedVersions"]
        and isinstance(meta.get(CAPABILITIES_KEY), dict)
        and _is_client(meta.get(CLIENT_KEY))
    )
    if not is_usual:
        return None
    instructions = answers["initialize"]["instructions"]
    discover = {**answers["discover"], "instructions": instructions}
    is_discover = method == "server/discover"
    result = discover if is_discover else _list(method, answers, done)
    if result is None:
        return None
    envelope: dict[str, Any] = answers["envelope"]
    envelope["_meta"][SERVER_KEY]["version"] = __version__
    return {**envelope, **result}


def _lists_tools(answer: dict[str, Any] | None) -> bool:
    """Whether an answer is the list of tools."""
    return bool(answer) and "tools" in (answer or {}).get("result", {})


def _is_plain(params: dict[str, Any]) -> bool:
    """Whether parameters ask for nothing more; ``_meta`` may name a progress token."""
    meta = params.get("_meta", {})
    return (
        isinstance(meta, dict)
        and isinstance(meta.get("progressToken", ""), str | int)
        and all(params[name] is None for name in params.keys() - {"_meta"})
        and params.keys() <= {"_meta", "cursor"}
    )


def _is_usual(params: dict[str, Any]) -> bool:
    """Whether the parameters of ``initialize`` are such that the SDK takes them."""
    return (
        params.keys() == {"protocolVersion", "capabilities", "clientInfo"}
        and isinstance(params["protocolVersion"], str)
        and isinstance(params["capabilities"], dict)
        and _is_client(params["clientInfo"])
    )


def _is_client(client: object) -> bool:
    """Whether a client says who it is as the SDK takes it."""
    return (
        isinstance(client, dict)
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
