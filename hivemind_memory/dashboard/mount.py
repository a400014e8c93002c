"""Mounts the pages on the server; they are loaded with the first request."""

from __future__ import annotations

from hivemind_memory.http_api.app import PAGES, LazyApp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.mcp_server.http_sessions import App
    from hivemind_memory.mcp_server.http_tokens import FindToken
    from hivemind_memory.mcp_server.server_state import ServerState


def dashboard_mount(
    state: ServerState,
    token: str,
    find_token: FindToken | None,
    *,
    memory_dir: str | None,
    is_public: bool,
) -> dict[str, App]:
    """Return the beginning of the paths of the pages, and what answers there.

    Args:
        state: Keeps the memories that are open.
        token: The server's own.
        find_token: Finds the tokens that have names.
        memory_dir: Folder of notes; None: that of the home folder.
        is_public: Whether readers without a session see what is public.
    """

    def make() -> App:
        import time

        from hivemind_memory.dashboard import (
            agent_pages,
            change_pages,
            doubt_pages,
            figure_pages,
            find_pages,
            job_pages,
            memory_pages,
            note_pages,
            other_pages,
            purge_pages,
            skill_pages,
        )
        from hivemind_memory.dashboard.app import Dashboard
        from hivemind_memory.dashboard.sessions import Sessions
        from hivemind_memory.http_api.callers import CallerMemories

        modules = (
            *(other_pages, note_pages, agent_pages, doubt_pages, job_pages),
            skill_pages,
            figure_pages,
            *(change_pages, find_pages, memory_pages, purge_pages),
        )
        return Dashboard(
            [route for module in modules for route in module.pages.routes],
            CallerMemories(state, memory_dir),
            Sessions(token, find_token, time.monotonic),
            is_public=is_public,
        )

    return {PAGES: LazyApp(make)}
