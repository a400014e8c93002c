"""Ends the namespaces whose time is over, before anything of them is answered.

What platforms wrote in one is forgotten, like any memory that is forgotten: the
status of a memory decides on every surface. Whoever asks first carries it out, also a
caller that may change nothing itself: the end was set before.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.access.rules import OWNER
from hivemind_memory.errors import HivemindError
from hivemind_memory.state.namespaces import Namespaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.state.namespaces import Namespace

PLATFORM_TYPES = ("fact", "summary", "checkpoint")
"""Types of what platforms write."""


def end_namespaces(memory: Any) -> None:
    """Forget what platforms wrote in namespaces that have ended.

    Never raises: what cannot be forgotten now is tried again before the next answer.
    """
    settings = memory.settings
    if not settings.enabled or settings.why_read_only():
        return
    with suppress(HivemindError):
        state, now_s = memory.state(), memory.clocks.now()
        if not Namespaces(state).has_ended(now_s):
            return
        with memory.as_caller(OWNER) as owner:
            owner.namespace_ends.skip()
            with owner.curation.stored.namespaces_lock():
                for namespace in Namespaces(state).all():
                    if namespace.is_over(now_s):
                        forget_namespace(owner, namespace)


def forget_namespace(memory: Any, namespace: Namespace) -> None:
    """Hide what platforms wrote in a namespace, then take its row away.

    The lock of the namespaces is held.

    Raises:
        HivemindError: Not all could be hidden; the row is still there.
    """
    stored = memory.curation.stored
    rows = stored.rows(frozenset({namespace.scope}), types=PLATFORM_TYPES)
    written = [
        row.path
        for row in rows
        if (found := stored.load(row.path)) and "plugin_source" in found.more
    ]
    if written:
        stored.hide(written)
    Namespaces(memory.state()).change(namespace.name, lambda _: None)
