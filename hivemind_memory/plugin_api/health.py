"""What the plugin can do, and whether it can do it now."""

from __future__ import annotations

from hivemind_memory.access.rules import check_enabled
from hivemind_memory.errors import HivemindError
from hivemind_memory.plugin_api.namespaces import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory

VERSION = "1.0.0"
"""Of the contract."""

CAPABILITIES = ("fts", "ttl", "pin", "propagation")
"""What a platform may rely on. ``embedding`` is left out: none is taken."""


def why_degraded(memory: Memory) -> str:
    """Return why memories cannot be written or found now; empty: they can."""
    try:
        check_enabled(
            is_enabled=memory.settings.enabled,
            why_read_only=memory.settings.why_read_only(),
        )
        readable(memory)
        with memory.lock:
            return memory.index_handle.opened().warning
    except HivemindError as error:
        return str(error)
