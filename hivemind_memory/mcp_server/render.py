"""The tools' results as text: the same as the objects, fit to be read. Pure.

Lines of hits are quoted with ``> ``, so that no note passes for a part of the answer.

What curating did, as text: the same as the objects, fit to be read. Pure.
"""

from __future__ import annotations

from hivemind_memory.mcp_server.schemas import (
    ForgetOut,
    FoundHit,
    HistoryOut,
    LinkOut,
    ListOut,
    PassageOut,
    SaveOut,
    SearchOut,
    SearchSummary,
    VersionOut,
    WriteOut,
)


def render_answer(found: SearchOut) -> str:
    """Return hits and report, the best hit first."""
    count = len(found.hits)
    head = f"{count} hit{'' if count == 1 else 's'}, {found.report.mode}"
    head += (
        ", fresh" if found.report.is_fresh else ", not fresh: changes may be missing"
    )
    parts = [head, *(_hit(at, hit) for at, hit in enumerate(found.hits, start=1))]
    return "\n".join([*parts, *_report_lines(found.report)])


def render_passage(passage: PassageOut) -> str:
    """Return the lines under one that says where they are from."""
    place = f"{passage.path}:{passage.start_line}-{passage.end_line}"
    parts = [f"{place} of {passage.line_count} lines", passage.text]
    if passage.go_on:
        parts.append(f"[{passage.go_on}]")
    return "\n".join(parts)


def render_list(listed: ListOut) -> str:
    """Return one line for each note."""
    count = listed.file_count
    lines = [f"{count:,} note{'' if count == 1 else 's'}: path, bytes, changed, chunks"]
    lines += [
        f"{one.path} {one.size_bytes} {one.updated_at} {one.chunk_count}"
        for one in listed.files
    ]
    if listed.go_on:
        lines.append(f"[{listed.go_on}]")
    return "\n".join(lines)


def render_written(written: WriteOut) -> str:
    """Return what was saved where."""
    place = f"{written.path}:{written.start_line}-{written.end_line}"
    found = "a search finds it now" if written.is_indexed else "it is not indexed yet"
    said = "".join(f"; {warning}" for warning in written.warnings)
    return f"Saved in {place} (id {written.id}); {found}{said}."


def _hit(at: int, hit: FoundHit) -> str:
    """Return one hit."""
    head = f"[{at}] {hit.path}:{hit.start_line}-{hit.end_line} score {hit.score}"
    if hit.date:
        head += f" date {hit.date}"
    if hit.type:
        head += f" {hit.type} {hit.key}"
    if hit.scope:
        head += f" in {hit.scope}"
    if hit.standing == "superseded":
        head += " SUPERSEDED"
    waiting = "waiting in the inbox" if hit.standing == "waiting" else ""
    reasons = [one for one in (waiting, hit.source) if one]
    if reasons:
        head += f" UNTRUSTED, {', '.join(reasons)}"
    if hit.disputed_by:
        head += f" DISPUTED by {hit.disputed_by}"
    if hit.id:
        head += f" id {hit.id}"
    if hit.headings:
        head += f" under {hit.headings}"
    lines = hit.snippet.split("\n") if hit.snippet else []
    return "\n".join([head, *(f"> {line}" for line in lines)])


def _report_lines(report: SearchSummary) -> list[str]:
    """Return what the report says beyond mode and freshness, one fact a line."""
    lines = []
    if report.why_empty:
        lines.append(f"nothing found: {report.why_empty}")
    if report.reason:
        lines.append(f"not hybrid: {report.reason}")
    counted = [
        (report.below_min_score, "below min_score"),
        (report.superseded, "superseded by a hit"),
        (report.over_limit, "beyond max_results"),
        (report.stale_notes, "changed note{} not indexed"),
        (report.skipped_notes, "file{} that could not be read"),
        (report.pending_vectors, "chunk{} without a vector yet"),
        (report.ignored_terms, "term{} of the question ignored"),
    ]
    said = [
        f"{number} {what.format('' if number == 1 else 's')}"
        for number, what in counted
        if number
    ]
    if said:
        lines.append("; ".join(said))
    if report.suggestions:
        lines.append(f"near words in the notes: {', '.join(report.suggestions)}")
    lines += [f"warning: {warning}" for warning in report.warnings]
    if report.go_on:
        lines.append(f"[{report.go_on}]")
    return lines


def render_saved(saved: SaveOut) -> str:
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


def render_history(history: HistoryOut) -> str:
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


def render_linked(linked: LinkOut) -> str:
    """Return what joins two memories now."""
    said = f"{linked.from_path} {linked.kind} {linked.to_path}, weight {linked.weight}"
    if not linked.is_changed:
        return f"Unchanged, it was so already: {said}."
    later = "" if linked.is_indexed else "; it is not indexed yet"
    return f"Linked: {said}{later}."


def render_forgotten(forgotten: ForgetOut) -> str:
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
