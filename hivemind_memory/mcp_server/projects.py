"""Tells which project a connection over HTTP belongs to.

One HTTP server serves agents in many repositories, so the folder in which the server
runs says nothing. A connection names its project by a header or in its address, which
``hm connect --http`` writes; or the client tells its roots. Otherwise it has none.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
from mcp.server.mcpserver import Context

logger = logging.getLogger(__name__)

HEADER = "hivemind-project"
"""Name of a project, or the absolute path of a folder in its repository."""

PARAMETER = "project"
"""The same, in the query of the address."""

NO_PROJECT = "none"

_VARIABLE = re.compile(r"[${}]")
_SESSION_HEADER = "mcp-session-id"
_ROOTS_WAIT_S = 2.0
_MAX_SESSIONS = 1_000


class ConnectionProjects:
    """Remembers what the roots of each session said."""

    def __init__(self) -> None:
        self._of_session: OrderedDict[str, str] = OrderedDict()

    async def project_of(self, context: Context[Any]) -> str | None:
        """Return the name or folder that a call's connection gives; None: not HTTP."""
        headers = context.headers
        if headers is None:
            return None
        request = context.request_context.request
        query = getattr(request, "query_params", {})
        named = headers.get(HEADER) or query.get(PARAMETER) or ""
        # A client that does not expand variables sends their names, as in ${PWD}.
        if named.strip() and not _VARIABLE.search(named):
            return named.strip()
        session = headers.get(_SESSION_HEADER, "")
        if not session:
            return NO_PROJECT
        if session not in self._of_session:
            self._of_session[session] = await _first_root(context) or NO_PROJECT
            while len(self._of_session) > _MAX_SESSIONS:
                self._of_session.popitem(last=False)
        return self._of_session[session]


async def _first_root(context: Context[Any]) -> str:
    """Return the folder of the client's first root; empty if it tells none."""
    client = context.client_capabilities
    if client is None or client.roots is None:
        return ""
    try:
        with anyio.move_on_after(_ROOTS_WAIT_S):
            for root in (await context.session.list_roots()).roots:
                address = urlsplit(str(root.uri))
                if address.scheme == "file" and address.netloc in {"", "localhost"}:
                    return unquote(address.path)
    # A client may fail in any way here; its call is still answered.
    except Exception:
        logger.warning("the client did not list its roots", exc_info=True)
    return ""
