"""What ``hm doctor`` says of activity."""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.display import count_text
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.transcripts.activity import Activity

_NAME = "transcripts"


def session_findings(activity: Activity) -> Iterator[Finding]:
    """Yield what is read and kept; nothing if nothing is, and nothing was."""
    try:
        status = activity.status()
    except HivemindError as error:
        yield Finding(name=_NAME, is_ok=False, detail=str(error), hint=error.hint)
        return
    if status.problem:
        yield Finding(
            name=_NAME,
            is_ok=False,
            detail=status.problem,
            hint=f"Delete {status.file}. `hm sync` creates it again.",
        )
    elif status.file and not status.sources:
        yield Finding(
            name=_NAME,
            is_ok=False,
            detail=f"none are read any more, and {status.file} is still there",
            hint="Delete it, or set the option session_sources.",
        )
    elif status.sources:
        missing = [source for source in status.sources if not source.is_there]
        if missing:
            yield Finding(
                name=_NAME,
                is_ok=False,
                detail=f"there is no folder {missing[0].folder}",
                hint=f"Remove {missing[0].name} from the option session_sources.",
            )
        else:
            messages = sum(source.messages for source in status.sources)
            names = ", ".join(source.name for source in status.sources)
            detail = f"of {names}: {count_text(messages, 'message')} kept"
            yield Finding(name=_NAME, is_ok=True, detail=detail)
