"""All groups of routes, by what is loaded together. A new one is a module of its own.

A server loads a group with the first request for one of its paths: most programs use
one or two of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.http_api.routes import RouteGroup

SEARCH_PATH = "/api/v1/search"
WORKSPACES_PATH = "/workspaces"


def all_groups() -> tuple[RouteGroup, ...]:
    """Return the groups that are always served, as the OpenAPI document lists them."""
    return (*memory_groups(), *workspace_groups())


def memory_groups() -> tuple[RouteGroup, ...]:
    """Return the groups whose paths begin with ``/api/v1``."""
    from hivemind_memory.http_api import (
        briefings,
        events,
        links,
        memories,
        notes,
        status,
        vault,
    )

    return (
        memories.routes,
        links.routes,
        *search_groups(),
        briefings.routes,
        notes.routes,
        status.routes,
        events.routes,
        vault.routes,
    )


def search_groups() -> tuple[RouteGroup, ...]:
    """Return the group with nothing but ``SEARCH_PATH``."""
    from hivemind_memory.http_api import search

    return (search.routes,)


def workspace_groups() -> tuple[RouteGroup, ...]:
    """Return the groups whose paths begin with ``WORKSPACES_PATH``."""
    from hivemind_memory.http_api import activity, key_values, workspaces

    return (workspaces.routes, activity.routes, key_values.routes)


def plugin_groups() -> tuple[RouteGroup, ...]:
    """Return the groups that are served only with ``--plugin``."""
    from hivemind_memory.http_api import plugin

    return (plugin.routes,)
