"""Lets platforms reach the memory plugin without a token, where that was chosen.

On a Unix socket, whose file says who may connect; or on the loopback port, if the owner
started the server so. Everything else needs a token as always.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.mcp_server.http_checks import Refuse
from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send

PLUGIN = "/v1"
HEALTH = "/healthz"
_OWNER_ONLY = 0o177
_MAX_QUEUED = 1024


def is_plugin(path: str) -> bool:
    """Return whether a path is one of the plugin."""
    return path.startswith(f"{PLUGIN}/")


class SocketClients:
    """An application that answers the plugin's requests from a Unix socket itself."""

    def __init__(self, app: App, inside: App, refuse: Refuse) -> None:
        """Take both.

        Args:
            app: Checks and answers what comes over the port.
            inside: Answers requests that need no check.
            refuse: Answers requests that nothing is there for.
        """
        self._app = app
        self._inside = inside
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not _is_from_socket(scope):
            await self._app(scope, receive, send)
        elif is_plugin(scope["path"]) or scope["path"] == HEALTH:
            await self._inside(scope, receive, send)
        else:
            # With pydantic behind it, which a server that starts does not wait for.
            from hivemind_memory.http_api.failures import NO_ROUTE

            await self._refuse(scope, send, 404, NO_ROUTE)


class OpenPlugin:
    """An application that answers the plugin's requests without a token, too."""

    def __init__(self, app: App, inside: App) -> None:
        """Take both; see ``SocketClients``."""
        self._app = app
        self._inside = inside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; a token that is sent is checked all the same."""
        is_open = scope["type"] == "http" and is_plugin(scope["path"])
        if is_open and not any(
            name == b"authorization" for name, _ in scope["headers"]
        ):
            await self._inside(scope, receive, send)
        else:
            await self._app(scope, receive, send)


@contextmanager
def unix_socket(path: str) -> Iterator[socket.socket]:
    """Listen on a Unix socket that only its owner can connect to, and remove it after.

    Raises:
        HivemindError: It cannot be made.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise HivemindError("This system has no Unix sockets.", hint="Use --no-token.")
    _remove_stale(path)
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(_OWNER_ONLY)
    try:
        listening.bind(path)
    except OSError as error:
        listening.close()
        raise _cannot_listen(path, reason_of(error)) from error
    finally:
        os.umask(before)
    try:
        own = os.lstat(path)
        listening.listen(_MAX_QUEUED)
        yield listening
    finally:
        listening.close()
        with suppress(OSError):
            if os.path.samestat(os.lstat(path), own):
                os.unlink(path)


def _remove_stale(path: str) -> None:
    """Remove the socket of a server that was killed.

    Raises:
        HivemindError: A server listens there, or it is another kind of file.
    """
    try:
        is_socket = stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return
    if not is_socket:
        raise _cannot_listen(path, "a file of that name is there")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except OSError as error:
            raise _cannot_listen(path, reason_of(error)) from error
    raise _cannot_listen(path, "another server listens there")


def _cannot_listen(path: str, why: str) -> HivemindError:
    """Return the error for a socket that cannot be made."""
    return HivemindError(
        f"Cannot listen on {path}: {why}.", hint="Choose another path with --socket."
    )


def _is_from_socket(scope: Scope) -> bool:
    """Return whether a request came over a Unix socket, which has no port."""
    server = scope.get("server")
    return server is not None and server[1] is None
