"""Starts a server on standard input and output: first the handshake, then the SDK."""

from __future__ import annotations

from hivemind_memory.mcp_server.handshake import shake_hands
from hivemind_memory.mcp_server.streams import LineReader, claimed_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.mcp_server.server_state import ServerState


def serve_standard_streams(
    server_state: ServerState,
    session: str,
    tools_listed: Callable[[], None],
    *,
    asks_for_roots: bool,
) -> None:
    """Serve until the client leaves or the process is told to end.

    Args:
        server_state: Opens the memory; starts watching after the first answer.
        session: Name of this process, recorded in the entries that it writes.
        tools_listed: Called once the client has the list of tools.
        asks_for_roots: Whether the client's roots say more than the server's folder.

    Raises:
        OSError: Standard input or output is closed.
    """
    with claimed_streams() as (source, sink):
        reader = LineReader(source, sink)
        handshake = shake_hands(
            reader,
            sink,
            _load_sdk,
            tools_listed,
            more_scopes=server_state.more_scopes,
            toolsets=server_state.toolsets,
            has_activity=server_state.has_activity,
        )
        if handshake.has_client_left:
            return
        from hivemind_memory.mcp_server.server import make_server
        from hivemind_memory.mcp_server.stdio import serve_stdio

        server = make_server(server_state, session, asks_for_roots=asks_for_roots)
        serve_stdio(server, reader, sink, handshake, server_state.start)


def _load_sdk() -> None:
    """Import what the SDK's side of the server needs."""
    import hivemind_memory.mcp_server.server
    import hivemind_memory.mcp_server.stdio  # noqa: F401
