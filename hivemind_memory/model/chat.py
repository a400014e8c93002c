"""What is said to a language model."""

from __future__ import annotations

from typing import NamedTuple

SYSTEM, USER = "system", "user"
"""Roles: what it is to do, and what it is to do it with."""


class ChatMessage(NamedTuple):
    """One message to a language model."""

    role: str
    text: str


FORMS = BY_SCHEMA, AS_JSON, AS_TEXT = ("schema", "json", "text")
"""Forms of reply that a server is asked for, the strictest first."""
