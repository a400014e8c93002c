"""What is served where; each part is loaded with its first request."""

from __future__ import annotations

from hivemind_memory.http_api.app import DOCUMENT, MCP, PAGE, LazyApp
from hivemind_memory.http_api.mcp_mount import LazyMcpApp
from hivemind_memory.http_api.plugin_clients import PLUGIN
from hivemind_memory.http_api.route_groups import (
    SEARCH_PATH,
    WORKSPACES_PATH,
    all_groups,
    memory_groups,
    plugin_groups,
    search_groups,
    workspace_groups,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.http_api.routes import RouteGroup
    from hivemind_memory.mcp_server.http_sessions import App
    from hivemind_memory.mcp_server.server_state import ServerState


def make_mounts(
    state: ServerState,
    port: int,
    token: str,
    *,
    memory_dir: str | None,
    session: str,
) -> dict[str, App]:
    """Return beginnings of paths and what answers there, as ``make_app`` takes them.

    Args:
        state: Keeps the memories that are open.
        port: Where the server listens.
        token: The server's own.
        memory_dir: Folder of notes; None: that of the home folder.
        session: Name of this process, recorded in what is written.
    """

    def make_mcp() -> App:
        from hivemind_memory.mcp_server.http import make_mcp_app
        from hivemind_memory.mcp_server.server import make_server

        return make_mcp_app(make_server(state, session), port, token)

    def frame(groups: Callable[[], Sequence[RouteGroup]]) -> LazyApp:
        return LazyApp(lambda: _frame(groups(), state, memory_dir, session))

    def make_openapi() -> App:
        from hivemind_memory.http_api.openapi_page import OpenApi

        return OpenApi(all_groups())

    openapi = LazyApp(make_openapi)
    return {
        MCP: LazyMcpApp(make_mcp),
        DOCUMENT: openapi,
        PAGE: openapi,
        SEARCH_PATH: frame(search_groups),
        WORKSPACES_PATH: frame(workspace_groups),
        "": frame(memory_groups),
    }


def plugin_mount(
    state: ServerState, *, memory_dir: str | None, session: str
) -> dict[str, App]:
    """Return the memory plugin, which is served where it is asked for."""
    return {
        PLUGIN: LazyApp(lambda: _frame(plugin_groups(), state, memory_dir, session))
    }


def _frame(
    groups: Sequence[RouteGroup],
    state: ServerState,
    memory_dir: str | None,
    session: str,
) -> App:
    """Return what answers the routes of some groups."""
    from hivemind_memory.http_api.callers import CallerMemories
    from hivemind_memory.http_api.frame import Frame
    from hivemind_memory.mcp_server.upgrade import UpgradeCheck

    return Frame(
        groups,
        CallerMemories(state, memory_dir),
        session,
        UpgradeCheck().refuse_if_upgraded,
    )
