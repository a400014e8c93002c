"""Begins the session of a browser, with a token or with a link of `hm dashboard`."""

from __future__ import annotations

from collections.abc import Mapping

from hivemind_memory.dashboard.sessions import Session, Sessions
from hivemind_memory.mcp_server.http_sessions import Scope
from hivemind_memory.mcp_server.port_holder import is_from_another_user

_NOT_KNOWN = "There is no such token."
_NO_LINK = "The link is no longer valid: run `hm dashboard` again."
_OTHERS_LINK = "This link is for another user of this machine."


def begin_session(
    sessions: Sessions, scope: Scope, method: str, given: Mapping[str, str]
) -> tuple[Session | None, str]:
    """Return a new session, or None and why there is none; "": nothing was tried.

    A link stands on the command line of the browser that opens it, where every user of
    the machine can read it. So it begins no session of another user, and stays valid.

    Args:
        sessions: Those of the server.
        scope: The request.
        method: GET follows a link, POST sends a token.
        given: The fields of the query or the form.

    Raises:
        HivemindError: The token cannot be looked up now.
    """
    if method == "POST":
        return sessions.log_in(given.get("token", "").strip()), _NOT_KNOWN
    if "code" not in given:
        return None, ""
    client, server = scope.get("client"), scope.get("server")
    if client and server and is_from_another_user(client[1], server[1]):
        return None, _OTHERS_LINK
    return sessions.follow(given["code"]), _NO_LINK
