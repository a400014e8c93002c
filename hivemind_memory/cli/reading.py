"""Names the commands that change nothing."""

from __future__ import annotations

READING = frozenset(
    (
        *("search", "get", "list", "tags", "log", "show", "history", "inbox list"),
        *("hook session-start", "why", "context build", "context list"),
        *("project show", "project list", "token list", "kv get", "kv list"),
        *("activity search", "activity show", "activity list"),
        *("vault list", "vault get", "mcp", "serve", "sessions", "git-hook status"),
        *("status", "doctor", "watch", "eval run", "eval suggest", "config list"),
        *("config get", "config path", "model list", "completion", "help"),
        *("version", "__complete"),
    )
)
"""Commands that change nothing: they end when their output is no longer read."""
