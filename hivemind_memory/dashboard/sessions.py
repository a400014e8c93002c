"""Who reads the pages: sessions of browsers, and the links that begin one.

They are kept in the server process and end with it. A session that began with a token
ends when the token does: it is looked up for each page.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from hivemind_memory.http_api.callers import Client
from hivemind_memory.mcp_server.http_tokens import FindToken

SESSION_S = 12 * 3600.0
LINK_S = 60.0
_MAX_SESSIONS = 100
"""Of one token, or of all links: more end the oldest of its own and no other's."""

_MAX_LINKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a form did, told on the next page."""

    text: str
    undo: str = ""
    """Id of the change that a button beside it undoes; empty: none."""

    saved: str = ""
    """As in ``Redirect``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One browser that is logged in."""

    secret: str
    """What its cookie holds."""

    token: str
    """The token that it began with; empty: a link of `hm dashboard`."""

    ends_s: float

    @property
    def name(self) -> str:
        """Its name, recorded in what is written; it does not tell the secret."""
        return f"dashboard-{sha256(f'name {self.secret}'.encode()).hexdigest()[:8]}"

    @property
    def form_secret(self) -> str:
        """What each of its forms carries: no page of another origin knows it."""
        return sha256(f"form {self.secret}".encode()).hexdigest()[:32]


class Sessions:
    """The sessions of one server. Threads share them."""

    def __init__(
        self, own_token: str, find: FindToken | None, now_s: Callable[[], float]
    ) -> None:
        """Begin without sessions.

        Args:
            own_token: The server's own.
            find: Finds the tokens that have names; None: there are none.
            now_s: Returns the time in seconds, from any beginning.
        """
        self._own = own_token
        self._find = find
        self._now_s = now_s
        self._sessions: dict[str, Session] = {}
        self._links: OrderedDict[str, float] = OrderedDict()
        self._notices: dict[str, Notice] = {}
        self._lock = threading.Lock()

    def new_link(self) -> str:
        """Return a code that begins one session within a minute, as its owner."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._links[code] = self._now_s() + LINK_S
            while len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return code

    def follow(self, code: str) -> Session | None:
        """Return the session that a link begins; None: it is used, old or wrong."""
        with self._lock:
            ends_s = self._links.pop(code, 0.0)
        return self._begin("") if self._now_s() < ends_s else None

    def log_in(self, token: str) -> Session | None:
        """Return the session that a token begins; None: there is no such token.

        Raises:
            HivemindError: It cannot be looked up now.
        """
        return self._begin(token) if self._client_of(token) else None

    def find(self, secret: str) -> tuple[Session, Client] | None:
        """Return a session and who reads in it; None: it has ended.

        Raises:
            HivemindError: Its token cannot be looked up now.
        """
        with self._lock:
            session = self._sessions.get(secret)
        if session is None:
            return None
        client = None if self.is_over(session) else self._client(session)
        if client is None:
            self.end(secret)
            return None
        return session, client

    def is_over(self, session: Session | None) -> bool:
        """Return whether a session has ended; its token is not looked up.

        A visitor has none that could end.
        """
        if session is None:
            return False
        with self._lock:
            is_known = session.secret in self._sessions
        return not is_known or self._now_s() >= session.ends_s

    def end(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(secret, None)
            self._notices.pop(secret, None)

    def tell(self, secret: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session."""
        with self._lock:
            if secret in self._sessions:
                self._notices[secret] = notice

    def take_notice(self, secret: str) -> Notice | None:
        """Return the notice for the next page, once."""
        with self._lock:
            return self._notices.pop(secret, None)

    def _begin(self, token: str) -> Session:
        """Return a new session."""
        session = Session(
            secret=secrets.token_urlsafe(32),
            token=token,
            ends_s=self._now_s() + SESSION_S,
        )
        with self._lock:
            own = [old for old in self._sessions.values() if old.token == token]
            if len(own) >= _MAX_SESSIONS:
                del self._sessions[own[0].secret]
                self._notices.pop(own[0].secret, None)
            self._sessions[session.secret] = session
        return session

    def _client(self, session: Session) -> Client | None:
        """Return who reads in a session."""
        if not session.token:
            return Client(is_person=True)
        return self._client_of(session.token)

    def _client_of(self, token: str) -> Client | None:
        """Return whom a token stands for."""
        if hmac.compare_digest(token.encode(), self._own.encode()):
            return Client()
        found = self._find(token) if self._find and token else None
        return Client(token=found) if found else None
