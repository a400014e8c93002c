"""The tools' results as text: the same as the objects, fit to be read. Pure.

Lines of hits are quoted with ``> ``, so that no note passes for a part of the answer.
"""

from __future__ import annotations

from hivemind_memory.mcp_server.answers import (
    FoundHit,
    ListOut,
    PassageOut,
    SearchOut,
    SearchSummary,
    WriteOut,
)


def word_answer(found: SearchOut) -> str:
    """Return hits and report, the best hit first."""
    count = len(found.hits)
    head = f"{count} hit{'' if count == 1 else 's'}, {found.report.mode}"
    head += (
        ", fresh" if found.report.is_fresh else ", not fresh: changes may be missing"
    )
    parts = [head, *(_hit(at, hit) for at, hit in enumerate(found.hits, start=1))]
    return "\n".join([*parts, *_report_lines(found.report)])


def word_passage(passage: PassageOut) -> str:
    """Return the lines under one that says where they are from."""
    place = f"{passage.path}:{passage.start_line}-{passage.end_line}"
    parts = [f"{place} of {passage.line_count} lines", passage.text]
    if passage.go_on:
        parts.append(f"[{passage.go_on}]")
    return "\n".join(parts)


def word_list(listed: ListOut) -> str:
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


def word_written(written: WriteOut) -> str:
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
