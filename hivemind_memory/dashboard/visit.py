"""What is known of a request before its page is made: who sends it, and its cookies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hivemind_memory.dashboard.page import ROOT
from hivemind_memory.dashboard.request import port_of
from hivemind_memory.dashboard.sessions import Session
from hivemind_memory.http_api.callers import Client
from hivemind_memory.mcp_server.http_sessions import Scope

SESSION_COOKIE, THEME_COOKIE = "hm_session", "hm_theme"
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request, and who sends it."""

    session: Session | None
    client: Client | None
    """None: a stranger, who sees no page."""

    theme: str
    """light, dark, or empty: as the system has it."""

    query: Mapping[str, str]
    form: Mapping[str, str]
    path: str
    address: str = ROOT
    """The page that shows the same again."""

    event: str = ""
    """Id of the newest event before the page was made."""

    part: str = ""
    """See ``PageCall``."""

    session_cookie: str = SESSION_COOKIE
    """Name of the cookie that holds the session."""

    shows_notice: bool = True
    """A person sees the whole answer: no script reads it, and it has a body."""

    @property
    def reader(self) -> str:
        """Name of the session; empty: there is none."""
        return self.session.name if self.session else ""


def session_cookie_of(scope: Scope) -> str:
    """Return the name of the cookie of a session.

    A browser sends the cookies of a machine to each server on it, whatever its port.
    """
    port = port_of(scope)
    return f"{SESSION_COOKIE}_{port}" if port else SESSION_COOKIE


def cookie_of(name: str, value: str, age_s: int, *, is_hidden: bool = False) -> str:
    """Return the header that sets a cookie; *is_hidden*: no script may read it."""
    end = "; HttpOnly" if is_hidden else ""
    return f"{name}={value}; Path={ROOT}; Max-Age={age_s}; SameSite=Strict{end}"


def address_of(scope: Scope) -> str:
    """Return the path and the query of a request, as they were sent."""
    path: bytes = scope["raw_path"]
    query: bytes = scope["query_string"]
    return (path + (b"?" + query if query else b"")).decode("latin-1")
