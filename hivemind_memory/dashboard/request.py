"""Reads of a request its form, its cookies and which part of a page it is for."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from hivemind_memory.dashboard.page import PARTS
from hivemind_memory.http_api.events import known_id
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.mcp_server.http_sessions import Scope

MAX_FIELDS = 100
_LONG_FIELDS = ("content", "description")
_FIELDS = ("key", "scope", "reason", "name", "description")
_FETCH = (b"sec-fetch-site", b"sec-fetch-mode")
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


def typed_beside(form: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what was typed into the smaller fields of a form, each with its name."""
    if not any(map(form.get, _LONG_FIELDS)):
        return []
    return [(name.capitalize(), form[name]) for name in _FIELDS if form.get(name)]


def part_of(scope: Scope) -> str:
    """Return which part of a page a request is for; empty: all of it."""
    for name, value in scope["headers"]:
        if name == b"hivemind-part":
            part: str = value.decode("latin-1")
            return part if part in PARTS else ""
    return ""


def is_for_another_page(scope: Scope) -> bool:
    """Return whether a page of another origin asks: as a picture, a script, with fetch.

    A server on another port is of the same site, so a browser sends it the cookie. A
    person may follow a link from there.
    """
    sent = {name: value for name, value in scope["headers"] if name in _FETCH}
    site, mode = map(sent.get, _FETCH)
    return site in {b"cross-site", b"same-site"} and mode != b"navigate"


def last_event_of(scope: Scope, after: str) -> str:
    """Return the id of the last event that a browser has got; empty: none.

    Args:
        scope: Its request.
        after: What the address says: a page that takes over from another one can not
            set the header.
    """
    for name, value in scope["headers"]:
        if name == b"last-event-id":
            after = value.decode("latin-1")
    return known_id(after)


def port_of(scope: Scope) -> str:
    """Return the port in the address that a browser shows; empty: the usual one."""
    for name, value in scope["headers"]:
        if name == b"host":
            port: str = value.decode("latin-1").rpartition(":")[2]
            return port if port.isascii() and port.isdigit() else ""
    return ""


def cookies_of(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request; of several with one name, the nearest.

    A browser sends those of every server on this machine along. The standard library
    drops all of them if one is not as RFC 6265 has it: a name in brackets, a quote.
    """
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                key, _, text = pair.partition("=")
                found.setdefault(key.strip(), text.strip())
    return found
