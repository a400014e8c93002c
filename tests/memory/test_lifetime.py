"""A memory that nobody uses any more is freed at once, with what it has read."""

from __future__ import annotations

import gc
import weakref

from tests.support.sandbox import Sandbox, ask


def test_a_closed_memory_refers_to_itself_nowhere(sandbox: Sandbox) -> None:
    """A server has one for each call; they stayed until garbage was collected."""
    sandbox.save("a.md", "# A\n\nThe giraffe is tall.\n")
    gc.disable()
    try:
        memory = sandbox.memory()
        with memory:
            ask(memory, "giraffe")
            memory.memories()
        parts = (memory, memory.index_handle)
        seen = [weakref.ref(part) for part in parts]
        del memory, parts

        assert [part() for part in seen] == [None, None]
    finally:
        gc.enable()
