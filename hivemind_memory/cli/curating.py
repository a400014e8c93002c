"""The commands that curate: save, show, history, link, learn, forget, restore."""

from __future__ import annotations

import sys

from hivemind_memory import wiring
from hivemind_memory.cli import curated
from hivemind_memory.cli.streams import (
    is_terminal,
    read_stdin,
    typed_text,
    write_stderr,
)
from hivemind_memory.errors import KeyTakenError, UsageError
from hivemind_memory.model.curation import MemorySelector, NewMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.curation import PurgeResult


def save(request: CommandRequest) -> int:
    """Save a memory under a key."""
    values = request.values
    wanted = NewMemory(
        key=typed_text(values["key"]),
        content=_content(values["content"], "the memory"),
        type=values["type"] or "",
        reason=values["reason"] or "",
        importance=values["importance"],
        scope=values["scope"] or "",
        visibility=values["visibility"] or "",
        related=_items(values["related"]),
        contradicts=_items(values["contradicts"]),
        expires=values["expires"] or "",
        tags=_items(values["tags"]),
        is_pinned=values["pin"],
        **_writer(values),
    )
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        try:
            saved = memory.curation.save(wanted, is_forced=values["force"])
        except KeyTakenError as error:
            hint = f"--reason WHY replaces it, and keeps it. {error.hint}"
            raise KeyTakenError(str(error), hint=hint, current=error.current) from error
    curated.show_saved(saved, as_json=values["json"])
    return 0


def learn(request: CommandRequest) -> int:
    """Save a claim."""
    values = request.values
    wanted = NewMemory(
        key="",
        content=_content(values["claim"], "the claim"),
        scope=values["scope"] or "",
        **_writer(values),
    )
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        saved = memory.curation.learn(
            wanted,
            topic=typed_text(values["topic"]),
            confidence=values["confidence"] or "medium",
            domains=_items(values["domains"]),
            corroborated=values["corroborated"],
            verified=values["verified"] or "",
        )
    curated.show_saved(saved, as_json=values["json"])
    return 0


def show(request: CommandRequest) -> int:
    """Show one memory."""
    values = request.values
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        shown = memory.curation.show(
            typed_text(values["ref"]), scope=values["scope"] or ""
        )
    curated.show_memory(shown, as_json=values["json"])
    return 0


def history(request: CommandRequest) -> int:
    """Show what a memory was and is."""
    values = request.values
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        found = memory.curation.history(
            typed_text(values["ref"]), scope=values["scope"] or ""
        )
    curated.show_history(found, as_json=values["json"])
    return 0


def link(request: CommandRequest) -> int:
    """Join two memories."""
    values = request.values
    weight = 1.0 if values["weight"] is None else values["weight"]
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        linked = memory.curation.link(
            typed_text(values["from"]),
            typed_text(values["to"]),
            values["kind"] or "related_to",
            weight=weight,
        )
    curated.show_linked(linked, "linked", as_json=values["json"])
    return 0


def unlink(request: CommandRequest) -> int:
    """End what joins two memories."""
    values = request.values
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        linked = memory.curation.unlink(
            typed_text(values["from"]),
            typed_text(values["to"]),
            values["kind"] or "related_to",
        )
    curated.show_linked(linked, "unlinked", as_json=values["json"])
    return 0


def forget(request: CommandRequest) -> int:
    """Hide memories, or take them out of every place."""
    values = request.values
    selector = _selector(values)
    as_json = values["json"]
    if values["dry_run"] and not values["purge"]:
        # What a forgetting would hide is what a purge would find, and less.
        message = "--dry-run goes with --purge."
        raise UsageError(message, hint="Forgetting can be undone: hm restore.")
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        if not values["purge"]:
            injected = wiring.open_injection_records(memory)
            forgotten = memory.curation.forget(selector, injected)
            curated.show_forgotten(forgotten, as_json=as_json)
            return 0
        receipt = _purge(memory, selector, is_dry_run=True)
        if not values["dry_run"]:
            if not values["yes"] and not _is_sure(receipt, as_json=as_json):
                return 1
            receipt = _purge(memory, selector, is_dry_run=False)
    curated.show_receipt(receipt, as_json=as_json)
    return 0 if receipt.is_dry_run or receipt.is_complete else 1


def restore(request: CommandRequest) -> int:
    """Show forgotten memories again."""
    values = request.values
    with wiring.open_memory(memory_dir=request.memory_dir) as memory:
        restored = memory.curation.restore(_selector(values))
    curated.show_restored(restored, as_json=values["json"])
    return 0


def _purge(
    memory: Memory, selector: MemorySelector, *, is_dry_run: bool
) -> PurgeResult:
    """Purge, the sections of worktrees too."""
    # A path, or a scope by itself, says plainly that whole notes are meant, whoever
    # wrote them.
    is_forced = selector.name.endswith(".md") or selector.is_whole_scope
    return memory.curation.purge(
        selector,
        wiring.open_injection_records(memory),
        is_dry_run=is_dry_run,
        is_forced=is_forced,
    )


def _is_sure(receipt: PurgeResult, *, as_json: bool) -> bool:
    """Show what a purge would do and ask; False, and why, when nobody can answer."""
    curated.show_receipt(receipt, as_json=as_json)
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        write_stderr("nothing was purged: --yes does it without a question\n")
        return False
    write_stderr("Purge them for good? [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    write_stderr("nothing was purged\n")
    return False


def _selector(values: Mapping[str, Any]) -> MemorySelector:
    """Return which memories are meant."""
    return MemorySelector(
        name=typed_text(values["ref"] or ""),
        scope=values["scope"] or "",
        session=values["session"] or "",
        source=values["source"] or "",
        day=values["day"] or "",
    )


def _writer(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return who writes."""
    is_person = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    return {
        "by": values["by"] or "",
        "session": values["session"] or "",
        "source": values["source"] or ("human" if is_person else "agent"),
    }


def _items(text: str | None) -> tuple[str, ...]:
    """Return what stands between commas."""
    parts = (part.strip() for part in typed_text(text or "").split(","))
    return tuple(part for part in parts if part)


def _content(words: tuple[str, ...], what: str) -> str:
    """Return the words, or standard input."""
    if words and words != ("-",):
        return typed_text(" ".join(words))
    if is_terminal(sys.stdin):
        write_stderr(f"Type {what}; Ctrl-D on an empty line ends it.\n")
    return read_stdin()
