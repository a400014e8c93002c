"""What curating did, as text: the same as the objects, fit to be read. Pure."""

from __future__ import annotations

from hivemind_memory.mcp_server.memory_answers import (
    ForgetOut,
    HistoryOut,
    LinkOut,
    SaveOut,
    VersionOut,
)


def word_saved(saved: SaveOut) -> str:
    """Return what was saved where."""
    place = f"{saved.path}:{saved.start_line}-{saved.end_line}"
    verb = "Saved in" if saved.is_new else "Unchanged, it said this already:"
    said = f"{verb} {place} as {saved.type} {saved.key} (id {saved.id})"
    if saved.scope:
        said += f" in {saved.scope}"
    if saved.standing == "waiting":
        said += ", waiting in the inbox for a person"
    if saved.superseded:
        said += f", replacing {saved.superseded}"
    found = "a search finds it now" if saved.is_indexed else "it is not indexed yet"
    notes = [f"warning: {one}" for one in saved.warnings]
    notes += [f"hint: {one}" for one in saved.hints]
    return "\n".join([f"{said}; {found}.", *notes])


def word_history(history: HistoryOut) -> str:
    """Return the versions, the newest first."""
    count = len(history.memories)
    where = f" in {history.scope}" if history.scope else ""
    plural = "" if count == 1 else "s"
    parts = [f"{history.key}{where}: {count} version{plural}, newest first"]
    parts += [_version(one) for one in history.memories]
    parts += [f"named in the chain and not there: {one}" for one in history.missing]
    if history.go_on:
        parts.append(f"[{history.go_on}]")
    return "\n".join(parts)


def word_linked(linked: LinkOut) -> str:
    """Return what joins two memories now."""
    said = f"{linked.from_path} {linked.kind} {linked.to_path}, weight {linked.weight}"
    if not linked.is_changed:
        return f"Unchanged, it was so already: {said}."
    later = "" if linked.is_indexed else "; it is not indexed yet"
    return f"Linked: {said}{later}."


def word_forgotten(forgotten: ForgetOut) -> str:
    """Return what is hidden now."""
    lines = [
        f"Forgotten: {one.path}:{one.start_line}-{one.end_line}"
        + (f" key {one.key}" if one.key else "")
        + (f" id {one.id}" if one.id else "")
        for one in forgotten.forgotten
    ]
    if forgotten.already:
        lines.append(f"{forgotten.already} forgotten before")
    lines += [f"not done: {one}" for one in forgotten.failed]
    if not forgotten.is_indexed:
        lines.append("the next search brings the index in step first")
    if forgotten.undo:
        lines.append(f"a person can bring it back: {forgotten.undo}")
    return "\n".join(lines)


def _version(one: VersionOut) -> str:
    """Return one version."""
    head = f"{one.path}:{one.start_line}-{one.end_line} {one.standing} {one.type}"
    for name, value in (("at", one.at), ("by", one.by), ("because", one.reason)):
        if value:
            head += f" {name} {value}"
    head += f" id {one.id}" if one.id else ""
    return "\n".join([head, *(f"> {line}" for line in one.text.split("\n"))])
