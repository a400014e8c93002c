"""Finds out who sends a request over HTTP, and refuses clients that it does not know.

The server's own token is in a file; see ``http.read_token``. ``hm token add`` makes
others, which have names, and may have scopes of their own, an end, and no right to
change anything. They are looked up for each request, so that one that is revoked is
refused at once.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

import anyio
import anyio.to_thread

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.http_checks import Refuse, refuse_plainly
from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send
from hivemind_memory.state.tokens import Token

FindToken = Callable[[str], Token | None]
"""Returns whom a secret stands for; None: no client, or no longer one."""

FAILED_WAIT_S = 0.05
"""How long a wrong token waits for its answer."""

_TOKEN = "hivemind.token"  # noqa: S105 - a key of the scope of a request
_VISITOR = "hivemind.visitor"
_MISSING = "the token is missing or wrong"
_TWO_SCOPES = (
    "this server was started with a project, team or workspace, so it takes no token"
    " that has its own"
)


class KnownClients:
    """An application that only requests of known clients reach in *app*."""

    def __init__(
        self,
        app: App,
        own: str,
        find: FindToken | None,
        *,
        takes_scopes: bool,
        is_open: Callable[[Scope], bool] | None = None,
        refuse: Refuse = refuse_plainly,
    ) -> None:
        """Know the server's own token.

        Args:
            app: Answers the requests.
            own: The server's own token.
            find: Finds the others; None: there are none.
            takes_scopes: Whether tokens may have scopes of their own.
            is_open: Whether a request without any token is passed on, as that of a
                visitor; None: none is.
            refuse: Answers the requests that are not passed on.
        """
        self._app = app
        self._own = f"bearer {own}".encode()
        self._find = find
        self._takes_scopes = takes_scopes
        self._is_open = is_open
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request and who sends it, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        is_open = self._is_open
        if is_open is not None and not _has_authorization(scope) and is_open(scope):
            await self._app({**scope, _VISITOR: True}, receive, send)
            return
        scheme, _, secret = _authorization(scope).partition(b" ")
        given = scheme.lower() + b" " + secret.strip()
        if hmac.compare_digest(given, self._own):
            await self._app(scope, receive, send)
            return
        try:
            token = await self._named(given)
        except HivemindError as error:
            await self._refuse(
                scope, send, 503, f"the token cannot be looked up: {error}"
            )
            return
        if token is None:
            await anyio.sleep(FAILED_WAIT_S)
            await self._refuse(scope, send, 401, _MISSING)
        elif token.has_scopes() and not self._takes_scopes:
            await self._refuse(scope, send, 403, _TWO_SCOPES)
        else:
            await self._app({**scope, _TOKEN: token}, receive, send)

    async def _named(self, given: bytes) -> Token | None:
        """Return the named token of a request, if it has one."""
        scheme, _, secret = given.partition(b" ")
        if self._find is None or scheme != b"bearer" or not secret:
            return None
        return await anyio.to_thread.run_sync(self._find, secret.decode("latin-1"))


def token_of(request: object) -> Token | None:
    """Return the named token of a request; None: it has the server's own, or none.

    Args:
        request: As the SDK passes it to a tool; None on standard input.
    """
    return token_in(getattr(request, "scope", {}))


def token_in(scope: Scope) -> Token | None:
    """Return the named token of a request, which ``KnownClients`` has found."""
    token: Token | None = scope.get(_TOKEN)
    return token


def is_visitor(scope: Scope) -> bool:
    """Return whether a request has no token, and was passed on without one."""
    return bool(scope.get(_VISITOR, False))


def _has_authorization(scope: Scope) -> bool:
    """Return whether a request tries to say who sends it."""
    return any(name == b"authorization" for name, _ in scope["headers"])


def _authorization(scope: Scope) -> bytes:
    """Return the only header that authorizes a request; empty: none, or several."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    return given[0] if len(given) == 1 else b""
