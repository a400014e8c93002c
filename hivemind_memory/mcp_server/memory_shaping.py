"""From what curating did to the tools' results. Pure."""

from __future__ import annotations

from hivemind_memory.mcp_server.memory_answers import (
    AffectedOut,
    ForgetOut,
    HistoryOut,
    LinkOut,
    SaveOut,
    VersionOut,
)
from hivemind_memory.mcp_server.shaping import LIMIT_CHARS
from hivemind_memory.model.curation import Forgotten, History, Linked, Recalled, Saved
from hivemind_memory.redaction import mask


def shape_saved(saved: Saved) -> SaveOut:
    """Return what was saved where, and what it replaced."""
    return SaveOut(
        path=saved.path,
        start_line=saved.first_line,
        end_line=saved.last_line,
        id=saved.id,
        key=saved.key,
        type=saved.type,
        scope=saved.scope,
        standing=saved.standing,
        is_new=saved.is_new,
        superseded=saved.superseded,
        is_indexed=saved.is_indexed,
        hints=list(saved.hints),
        warnings=list(saved.warnings),
    )


def shape_history(history: History) -> HistoryOut:
    """Return the versions as far as they fit."""
    left_chars = LIMIT_CHARS
    versions: list[VersionOut] = []
    for memory in history.memories:
        left_chars -= len(memory.text)
        if left_chars < 0 and versions:
            break
        versions.append(_shape_version(memory))
    rest = len(history.memories) - len(versions)
    go_on = ""
    if rest:
        after = history.memories[len(versions)].path
        go_on = f"{rest} older versions are left out: memory_get reads {after}"
    elif history.is_cut:
        go_on = "there are older versions than these"
    return HistoryOut(
        key=history.key,
        scope=history.scope,
        memories=versions,
        missing=list(history.missing),
        go_on=go_on,
    )


def shape_linked(linked: Linked) -> LinkOut:
    """Return what joins two memories now."""
    return LinkOut(
        kind=linked.kind,
        from_path=linked.from_path,
        to_path=linked.to_path,
        weight=linked.weight,
        is_changed=linked.is_changed,
        is_indexed=linked.is_indexed,
    )


def shape_forgotten(forgotten: Forgotten) -> ForgetOut:
    """Return what is hidden now."""
    memories = [
        AffectedOut(
            path=one.path,
            start_line=one.first_line,
            end_line=one.last_line,
            id=one.id,
            key=one.key,
        )
        for one in forgotten.memories
    ]
    return ForgetOut(
        forgotten=memories,
        already=forgotten.already,
        failed=[f"{one.what}: {one.why}" for one in forgotten.failed],
        is_indexed=forgotten.is_indexed,
        undo="hm restore" if memories else "",
    )


def _shape_version(memory: Recalled) -> VersionOut:
    """Return one version."""
    return VersionOut(
        id=memory.id,
        path=memory.path,
        start_line=memory.first_line,
        end_line=memory.last_line,
        standing=memory.standing,
        type=memory.type,
        at=memory.updated or memory.created,
        by=memory.by,
        reason=memory.reason,
        text=mask(memory.text),
    )
