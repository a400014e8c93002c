"""All groups of routes. A new one is a module of its own, named here."""

from __future__ import annotations

from hivemind_memory.http_api import events, links, memories, notes, search, status
from hivemind_memory.http_api.routes import RouteGroup

GROUPS: tuple[RouteGroup, ...] = (
    memories.routes,
    links.routes,
    search.routes,
    notes.routes,
    status.routes,
    events.routes,
)
