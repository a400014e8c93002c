"""The commands that keep the index in order: sync, rebuild, watch, status, doctor."""

from __future__ import annotations

from hivemind_memory import wiring
from hivemind_memory.access.check import check_owner
from hivemind_memory.cli import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.parse import CommandRequest


def sync(request: CommandRequest) -> int:
    """Bring the index in step with the notes."""
    from hivemind_memory.cli.progress import ProgressDisplay

    memory_dir = request.memory_dir
    with (
        wiring.open_memory(memory_dir=memory_dir) as memory,
        ProgressDisplay() as progress,
    ):
        check_owner(memory.caller, "hm sync")
        result = memory.sync(progress)
        embedding = memory.embed_pending(progress)
    render.show_sync(result, embedding, as_json=request.values["json"])
    return 0


def rebuild(request: CommandRequest) -> int:
    """Make the index again."""
    from hivemind_memory.cli.progress import ProgressDisplay

    memory_dir = request.memory_dir
    with (
        wiring.open_memory(memory_dir=memory_dir) as memory,
        ProgressDisplay() as progress,
    ):
        check_owner(memory.caller, "hm rebuild")
        result = memory.rebuild(progress)
        embedding = memory.embed_pending(progress)
    render.show_rebuild(result, embedding, as_json=request.values["json"])
    return 0


def status(request: CommandRequest) -> int:
    """Show what there is."""
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        check_owner(memory.caller, "hm status")
        found = memory.status()
    render.show_status(found, as_json=request.values["json"])
    return 0


def doctor(request: CommandRequest) -> int:
    """Look for what is wrong."""
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        check_owner(memory.caller, "hm doctor")
        diagnosis = memory.diagnose()
    render.show_diagnosis(diagnosis, as_json=request.values["json"])
    return 0 if diagnosis.is_healthy else 1
