"""Finds out which project and which session a call belongs to.

One server may serve agents in many repositories, so the folder in which it runs says
nothing. Over HTTP a connection names its project by a header or in its address, which
``hm connect --http`` writes; some clients send the folder with each call, and others
tell their roots. These count more than a folder in the header, which is that of a
variable: a program that starts an agent in another folder may leave it as it was. Over
standard input the server's own folder counts, unless it is in no repository: programs
with windows start their servers in the home folder.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
from mcp.server.mcpserver import Context
from mcp.shared.message import ServerMessageMetadata
from mcp.types import InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from hivemind_memory.mcp_server.http_projects import (
    NO_PROJECT,
    is_blank_project,
    project_of,
)
from hivemind_memory.mcp_server.http_tokens import token_of
from hivemind_memory.state.tokens import Token

logger = logging.getLogger(__name__)

MAX_WAITS = 3
"""Calls of one session that wait for its roots, and refuse to guess without them."""

_SESSION_HEADER = "mcp-session-id"
_TURN = "x-codex-turn-metadata"
"""Where Codex sends the folders that a turn works in; its header names the shell's."""

_ROOTS = "roots"
"""Name of the question that a client gets before its call is answered."""

_SESSION_KEYS = ("sessionId", "threadId")
_ROOTS_WAIT_S = 2.0
_LATER_WAIT_S = 0.1
_MAX_SESSIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The project and the session of a call."""

    project: str | None
    """Its name, a folder in it, or ``none``; None: what the server was started with."""

    session: str
    """Name of the client's session, recorded in the entries that it writes."""

    token: Token | None = None
    """The named token of the call; None: the server's own, or standard input."""

    is_unnamed: bool = False
    """The connection names no project, though it could."""

    is_blank: bool = False
    """The header that should name it is empty, or a variable that is not set."""

    is_late: bool = False
    """The client has a folder, and has not sent it yet."""

    def session_in(self, scope: str) -> str:
        """Return the name of the session in a project, that of the call.

        Each request names its project, so a client may go on in another one. There it
        is another session: what one session wrote is in one project.

        Args:
            scope: Of the project; empty: the call has none.
        """
        if self.project is None:
            return self.session
        return _digest(f"{self.session}\n{scope}")


class Connections:
    """Finds the connection of each call, and remembers the roots of each session."""

    def __init__(
        self, session: str, *, has_projects: bool, asks_for_roots: bool
    ) -> None:
        """Remember nothing yet.

        Args:
            session: Name of this process; the session of a client that it serves alone.
            has_projects: Whether each connection brings its own project; else all of
                them share what the server was started with.
            asks_for_roots: Whether the folder of this process says nothing of a client
                on standard input either.
        """
        self._session = session
        self._has_projects = has_projects
        self._asks_for_roots = asks_for_roots and has_projects
        self._folders: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._waits: OrderedDict[str, int] = OrderedDict()

    async def connection_of(self, context: Context[Any]) -> Connection:
        """Return the connection of a call."""
        headers = context.headers
        if headers is not None:
            return await self._over_http(context, headers)
        if not self._asks_for_roots:
            return Connection(project=None, session=self._session)
        folders, is_late = await self._told(context, key="")
        return Connection(
            project=folders[0] if folders else None,
            session=self._session,
            is_late=is_late,
        )

    def question(self, context: Context[Any]) -> InputRequiredResult | None:
        """Return what a client must answer before its call; None: nothing.

        In the protocol of 2026-07-28 a server asks so for roots, once for each call.
        """
        client = context.client_capabilities
        if (
            context.headers is None
            or not self._has_projects
            or context.protocol_version not in MODERN_PROTOCOL_VERSIONS
            or (client is None or client.roots is None)
            or context.request_state is not None
            or context.input_responses is not None
            or _turn_folder(context)
            or not _is_folder(project_of(context.request_context.request))
        ):
            return None
        return InputRequiredResult(
            input_requests={_ROOTS: ListRootsRequest()}, request_state=_ROOTS
        )

    def forget_roots(self) -> None:
        """Ask again: a client says that its roots have changed."""
        self._folders.clear()

    async def _over_http(
        self, context: Context[Any], headers: Mapping[str, str]
    ) -> Connection:
        """Return the connection of a call over HTTP."""
        key = headers.get(_SESSION_HEADER, "")
        request = context.request_context.request
        token = token_of(request)
        if not self._has_projects:
            session = self._session_of(context, key)
            return Connection(project=None, session=session, token=token)
        named, is_late = project_of(request), False
        if _is_folder(named):
            folders, is_late = await self._told(context, key)
            if folders and named not in folders:
                named = folders[0]
        return Connection(
            project=named or NO_PROJECT,
            session=self._session_of(context, key),
            token=token,
            is_unnamed=not named,
            is_blank=not named and is_blank_project(request),
            is_late=is_late and not named,
        )

    def _session_of(self, context: Context[Any], key: str) -> str:
        """Return the name of a session over HTTP, the same for all of its calls.

        A client that keeps no session, as in the protocol of 2026-07-28, is known by
        its name.
        """
        meta = _meta(context)
        own = [meta[name] for name in _SESSION_KEYS if isinstance(meta.get(name), str)]
        client = context.session.client_params
        name = client.client_info.name if client is not None else ""
        folder = own[0] if own else key
        return _digest(folder or f"{self._session}\n{name}")

    async def _told(
        self, context: Context[Any], key: str
    ) -> tuple[tuple[str, ...], bool]:
        """Return the folders that a client sends, and whether some may follow."""
        turn = _turn_folder(context)
        known = (turn,) if turn else self._folders.get(key, ())
        if known:
            return known, False
        answer = (context.input_responses or {}).get(_ROOTS)
        if isinstance(answer, ListRootsResult):
            return _folders_of(answer), False
        client = context.client_capabilities
        if (
            client is None
            or client.roots is None
            # Here a server cannot ask; a session without a name has no project.
            or context.protocol_version in MODERN_PROTOCOL_VERSIONS
            or (context.headers is not None and not key)
        ):
            return (), False
        waits = self._waits.get(key, 0)
        wait_s = _ROOTS_WAIT_S if waits < MAX_WAITS else _LATER_WAIT_S
        folders = await _list_roots(context, wait_s)
        if folders is None:
            _remember(self._waits, key, waits + 1)
            return (), waits < MAX_WAITS
        if folders:
            _remember(self._folders, key, folders)
        return folders, False


def _remember(known: OrderedDict[str, Any], key: str, project: object) -> None:
    """Remember a value for a session; the oldest sessions are dropped."""
    known[key] = project
    while len(known) > _MAX_SESSIONS:
        known.popitem(last=False)


def _turn_folder(context: Context[Any]) -> str:
    """Return the folder that Codex says a turn works in; empty: it says none, or two.

    The folder of the shell in which it was started may be another.
    """
    turn = _meta(context).get(_TURN)
    folders = turn.get("workspaces") if isinstance(turn, Mapping) else None
    names = list(folders) if isinstance(folders, Mapping) else []
    return str(names[0]) if len(names) == 1 and os.path.isabs(str(names[0])) else ""


def _meta(context: Context[Any]) -> Mapping[str, Any]:
    """Return the metadata that a client sends with a call."""
    meta = context.request_context.meta
    return meta if isinstance(meta, Mapping) else {}


def _digest(text: str) -> str:
    """Return a short name for a session, in the form of those of processes."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


async def _list_roots(context: Context[Any], wait_s: float) -> tuple[str, ...] | None:
    """Return the folders of the client's roots; None: no answer."""
    try:
        with anyio.move_on_after(wait_s):
            # On the stream of the call: the other one is closed by a restart.
            roots = await context.session.send_request(
                ListRootsRequest(),
                ListRootsResult,
                metadata=ServerMessageMetadata(related_request_id=context.request_id),
            )
            return _folders_of(roots)
    # A client may fail in any way here; its call is still answered.
    except Exception:
        logger.warning("the client did not list its roots", exc_info=True)
        return ()
    return None


def _folders_of(roots: ListRootsResult) -> tuple[str, ...]:
    """Return the folders of a client's roots, in its order."""
    addresses = [urlsplit(str(root.uri)) for root in roots.roots]
    return tuple(
        os.path.normpath(unquote(address.path))
        for address in addresses
        if address.scheme == "file"
        and address.netloc in {"", "localhost"}
        and address.path
    )


def _is_folder(named: str) -> bool:
    """Whether what a connection names may be of a variable: a folder, or nothing."""
    return not named or os.path.isabs(named)
