"""Reads of a request its form, its cookies and which part of a page it is for."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from hivemind_memory.dashboard.page import PARTS
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.mcp_server.http_sessions import Scope

MAX_FIELDS = 100
_TOO_MANY = Failure(400, f"The form has more than {MAX_FIELDS} fields.")


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        Failure: It has more fields than any form of the dashboard.
    """
    text = body.decode("utf-8", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise _TOO_MANY from None
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def part_of(scope: Scope) -> str:
    """Return which part of a page a request is for; empty: all of it."""
    for name, value in scope["headers"]:
        if name == b"hivemind-part":
            part: str = value.decode("latin-1")
            return part if part in PARTS else ""
    return ""


def cookies_of(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                jar = SimpleCookie(value.decode("latin-1"))
            except CookieError:
                continue
            found.update({key: morsel.value for key, morsel in jar.items()})
    return found
