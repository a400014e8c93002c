"""All groups of routes. A new one is a module of its own, named here."""

from __future__ import annotations

from hivemind_memory.http_api import (
    activity,
    briefings,
    events,
    key_values,
    links,
    memories,
    notes,
    plugin,
    search,
    status,
    vault,
    workspaces,
)
from hivemind_memory.http_api.routes import RouteGroup

GROUPS: tuple[RouteGroup, ...] = (
    memories.routes,
    links.routes,
    search.routes,
    briefings.routes,
    notes.routes,
    status.routes,
    events.routes,
    workspaces.routes,
    activity.routes,
    key_values.routes,
    vault.routes,
)

PLUGIN: tuple[RouteGroup, ...] = (plugin.routes,)
"""Groups that are served only with ``--plugin``."""
