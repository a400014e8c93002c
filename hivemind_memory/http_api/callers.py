"""Identifies the client of a request, and lends the memory as that client sees it.

The token decides. A header may name a project where the token leaves that open, and a
path may name a workspace; neither widens what the token may see.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hivemind_memory.curation.access_tokens import OWN
from hivemind_memory.errors import ScopeError, UsageError
from hivemind_memory.http_api.failures import NoWorkspaceFailure
from hivemind_memory.mcp_server import client_memory
from hivemind_memory.mcp_server.http_projects import project_named_in
from hivemind_memory.mcp_server.http_sessions import Scope
from hivemind_memory.mcp_server.http_tokens import is_visitor, token_in
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory import Memory
    from hivemind_memory.state.tokens import Token

READ_AT_ONCE = 2
"""Memories of one client that answer at once, for each takes one question after the
other. With a third, they mostly wait for Python's lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who sends a request, and what it names: a project, or a workspace."""

    token: Token | None = None
    """None: the server's own, or a visitor."""

    is_visitor: bool = False
    is_person: bool = False
    """The person whose machine it is, in a browser that `hm dashboard` opened: they
    decide what only a person may."""

    project: str = ""
    """As the request names it; empty: it names none."""

    workspace: str = ""
    """As the path names it; empty: it names none."""

    @property
    def name(self) -> str:
        """The name in what it writes; empty: a visitor."""
        if self.token is not None:
            return self.token.name
        return "" if self.is_visitor else OWN

    @property
    def is_read_only(self) -> bool:
        """Whether it may change nothing."""
        return self.is_visitor or (self.token is not None and self.token.is_read_only)


def client_of(scope: Scope) -> Client:
    """Return the client that sends a request, by its headers.

    Raises:
        UsageError: It names the project ``auto``: the server has no folder of a client.
    """
    if is_visitor(scope):
        return Client(is_visitor=True)
    token = token_in(scope)
    if token is not None and token.project:
        return Client(token=token)
    project, is_blank = project_named_in({**scope, "query_string": b""})
    if is_blank:
        raise UsageError(
            "The header Hivemind-Project is empty or an unset variable.",
            hint="Give the name of a project, the absolute path of a folder, or none.",
        )
    return Client(token=token, project=project)


class CallerMemories:
    """Lends the memory of each caller. Threads share it."""

    def __init__(self, server_state: ServerState, memory_dir: str | None) -> None:
        """Open nothing yet.

        Args:
            server_state: Keeps the memories that are open.
            memory_dir: Folder of notes; None: that of the home folder.
        """
        self._state = server_state
        self._memory_dir = memory_dir
        self._lock = threading.Lock()
        self._readers: dict[Client, list[int]] = {}
        """How many requests each of a client's memories answers now."""

    @contextmanager
    def lend_to_read(self, client: Client) -> Iterator[Memory]:
        """Lend a memory for one request that changes nothing.

        It is the one that fewest others read; those who ask alone share the usual one.

        Raises:
            Failure: The workspace in the path is not the caller's.
            HivemindError: It cannot be opened now.
        """
        if client.workspace:
            client = _in_workspace(client)
        with self._lock:
            counts = self._readers.setdefault(client, [0] * READ_AT_ONCE)
            place = counts.index(min(counts))
            counts[place] += 1
        key = (client, place) if place else client
        try:
            with self._state.lend(key, lambda: self._open(client)) as memory:
                yield memory
        finally:
            with self._lock:
                counts[place] -= 1
                if not any(counts):
                    del self._readers[client]

    @contextmanager
    def lend(self, client: Client) -> Iterator[Memory]:
        """Lend the memory for one request.

        Raises:
            Failure: The workspace in the path is not the caller's.
            HivemindError: It cannot be opened now.
        """
        if client.workspace:
            client = _in_workspace(client)
        with self._state.lend(client, lambda: self._open(client)) as memory:
            yield memory

    def _open(self, client: Client) -> Memory:
        """Return the memory as a caller sees it."""
        if client.is_visitor:
            return client_memory.open_visitor_memory(self._memory_dir)
        if client.is_person:
            return client_memory.open_person_memory(self._memory_dir)
        token = client.token
        if token is None and not (client.project or client.workspace):
            return client_memory.open_owner_connection_memory(self._memory_dir)
        if token is not None:
            return client_memory.open_token_memory(
                client.project, token, memory_dir=self._memory_dir
            )
        try:
            return client_memory.open_connection_memory(
                client.project or "none",
                memory_dir=self._memory_dir,
                workspace=client.workspace,
            )
        except ScopeError:
            if client.workspace:
                raise NoWorkspaceFailure from None
            raise


def _in_workspace(client: Client) -> Client:
    """Return the caller in the workspace that the path names.

    Raises:
        Failure: A named token has another one, or none; a visitor has none.
    """
    token = client.token
    if client.is_visitor or (token is not None and token.workspace != client.workspace):
        raise NoWorkspaceFailure
    # Its own token names it already: no second memory is opened for it.
    return client if token is None else replaced(client, workspace="")
