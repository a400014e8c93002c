"""Makes, lists and revokes the tokens of clients, and says whom one stands for."""

from __future__ import annotations

import re
import threading

from hivemind_memory.access.callers import NONE
from hivemind_memory.access.rules import check_owner, check_person
from hivemind_memory.errors import UsageError
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.scope import make_scope
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction import holds_known
from hivemind_memory.state.tokens import Token, Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.state.state_file import StateFile

OWN = "default"
"""What the server's own token is called, so no other has this name."""

USED_EVERY_S = 60
"""The last use of a token is recorded again after so long."""

_NAME = lazy_re(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_WHAT = "`hm token`"


class AccessTokens:
    """The named tokens of a memory, for one caller. Threads may share it."""

    def __init__(self, state: StateFile, clocks: Clocks, caller: Caller) -> None:
        """Open nothing yet.

        Args:
            state: The state of the memory.
            clocks: Say when a token was made, and which day it is.
            caller: Who asks.
        """
        self._tokens = Tokens(state)
        self._clocks = clocks
        self._caller = caller
        self._lock = threading.Lock()
        self._recorded: dict[str, float] = {}
        """Name -> when its use was recorded here, in seconds since the epoch."""

    def add(
        self,
        name: str,
        *,
        workspace: str = "",
        teams: Iterable[str] = (),
        project: str = "",
        is_read_only: bool = False,
        expires_day: int = 0,
    ) -> str:
        """Make a token; return the secret that its client sends, which is kept nowhere.

        Args:
            name: What it is called, in lists and in what its client writes.
            workspace: Name of its workspace.
            teams: Names of its teams.
            project: Name of its only project, or ``none``.
            is_read_only: Whether its client may change nothing.
            expires_day: Its last day, in days since 1970-01-01; 0: it never expires.

        Raises:
            ScopeError: A name cannot be that of a scope.
            StateUnusableError: It cannot be written now.
            UsageError: The caller is not the owner, or the name is taken or not one.
        """
        self._check_owner()
        if not _NAME.fullmatch(name) or name == OWN:
            raise UsageError(
                f"{name!r} cannot be the name of a token.",
                hint="Use lower-case letters, digits and dashes, at most 64; the name"
                f" {OWN} is the server's own.",
                effect="No token was made",
            )
        teams = tuple(teams)
        if any(map(holds_known, (name, workspace, project, *teams))):
            raise UsageError(
                "A name contains a secret of the vault, and names are shown.",
                hint="Choose another name.",
                effect="No token was made",
            )
        if expires_day and expires_day < self._clocks.today():
            raise UsageError(
                "That day is in the past, so the token would never be valid.",
                effect="No token was made",
            )
        return self._tokens.add(
            Token(
                name=name,
                workspace=_slug("workspace", workspace),
                teams=tuple(dict.fromkeys(_slug("team", team) for team in teams)),
                project=NONE if project == NONE else _slug("project", project),
                is_read_only=is_read_only,
                created_at=int(self._clocks.now()),
                expires_day=expires_day,
            )
        )

    def all(self) -> list[Token]:
        """Return all tokens, by name.

        Raises:
            StateUnusableError: They cannot be read now.
            UsageError: The caller is not the owner.
        """
        self._check_owner()
        return self._tokens.all()

    def revoke(self, name: str) -> None:
        """Delete a token; its client is refused from now on.

        Raises:
            StateUnusableError: It cannot be deleted now.
            UsageError: The caller is not the owner, or there is no such token.
        """
        self._check_owner()
        if not self._tokens.revoke(name):
            message = no_such("token", name)
            raise UsageError(message, hint="`hm token list` lists the tokens.")

    def admit(self, secret: str) -> Token | None:
        """Return whom a secret stands for now, and record its use; None: no client.

        Raises:
            StateUnusableError: That cannot be looked up now.
        """
        token = self._tokens.find(secret)
        if token is None or token.is_expired(self._clocks.today()):
            return None
        now_s = self._clocks.now()
        with self._lock:
            is_due = now_s - self._recorded.get(token.name, 0.0) >= USED_EVERY_S
            if is_due:
                self._recorded[token.name] = now_s
        if is_due:
            self._tokens.record_use(token.name, now_s)
        # It differs with each use, and stands for the same client.
        return replaced(token, used_at=0)

    def _check_owner(self) -> None:
        """Raise unless the caller is the person who owns the memory."""
        check_person(self._caller, _WHAT)
        check_owner(self._caller, _WHAT)


def _slug(kind: str, name: str) -> str:
    """Return a name as scopes have it; empty for none.

    Raises:
        ScopeError: It cannot be the name of a scope.
    """
    return make_scope(kind, name).partition("/")[2] if name else ""
