"""All groups of routes. A new one is a module of its own, named here."""

from __future__ import annotations

from hivemind_memory.http_api import memories, search
from hivemind_memory.http_api.routes import RouteGroup

GROUPS: tuple[RouteGroup, ...] = (memories.routes, search.routes)
