"""From the memory's values to the tools' results, cut at a stated limit. Pure.

What is cut is said in ``go_on``, with the call that brings the rest.

From what curating did to the tools' results. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hivemind_memory.mcp_server.schemas import (
    AffectedOut,
    ForgetOut,
    FoundHit,
    HistoryOut,
    LinkOut,
    ListedOut,
    ListOut,
    PassageOut,
    SaveOut,
    SearchOut,
    SearchSummary,
    VersionOut,
    WriteOut,
)
from hivemind_memory.model.curation import (
    ForgetResult,
    History,
    LinkResult,
    SaveResult,
    StoredMemory,
)
from hivemind_memory.model.query import Hit, SearchAnswer, SearchReport
from hivemind_memory.model.results import ListedNote, NoteLines, WriteResult
from hivemind_memory.model.trust import untrusted_source
from hivemind_memory.redaction import mask

LIMIT_CHARS = 20_000
"""Text of the notes in one result. Clients put what is above some 50,000 characters of
JSON into a file, and escaping can double a text."""

SNIPPET_CHARS = 2_000
"""Text of one hit; a chunk has at most 800 unless one line of it is longer."""

_FILE_CHARS = 110
"""What a file costs in a list, beside its name."""


def shape_answer(answer: SearchAnswer) -> SearchOut:
    """Return the hits as far as they fit: beyond the limit only their places."""
    hits: list[FoundHit] = []
    left_chars = LIMIT_CHARS
    shortened = 0
    for hit in answer.hits:
        room = min(left_chars, SNIPPET_CHARS)
        snippet = _cut(hit.snippet, room)
        shortened += len(snippet) < len(hit.snippet)
        left_chars -= len(snippet)
        hits.append(_shape_hit(hit, snippet))
    go_on = ""
    if shortened:
        go_on = (
            f"{shortened} of {len(hits)} snippets are cut (a result holds"
            f" {LIMIT_CHARS:,} characters of text, a snippet {SNIPPET_CHARS:,}):"
            " memory_get with path, from=start_line and lines reads a place in full"
        )
    return SearchOut(hits=hits, report=_shape_report(answer.report, go_on))


def nothing_there(reason: str) -> SearchOut:
    """Return the answer of a memory that holds no notes."""
    report = SearchSummary(mode="keyword", is_fresh=True, why_empty=reason)
    return SearchOut(hits=[], report=report)


def shape_passage(passage: NoteLines) -> PassageOut:
    """Return the lines as far as they fit."""
    text = passage.text
    end_line = passage.end_line
    go_on = ""
    if len(text) > LIMIT_CHARS:
        text, end_line, go_on = _first_lines(passage)
    elif passage.start_line > max(passage.line_count, 1):
        go_on = f"the note ends at line {passage.line_count}"
    return PassageOut(
        path=passage.path,
        start_line=passage.start_line,
        end_line=end_line,
        text=text,
        line_count=passage.line_count,
        go_on=go_on,
    )


def shape_list(notes: Sequence[ListedNote], after: str) -> ListOut:
    """Return the notes whose names come after *after*, as far as they fit."""
    files: list[ListedOut] = []
    left_chars = LIMIT_CHARS
    later = [note for note in notes if note.path > after]
    for note in later:
        left_chars -= len(note.path) + _FILE_CHARS
        if left_chars < 0 and files:
            break
        files.append(
            ListedOut(
                path=note.path,
                size_bytes=note.size_bytes,
                updated_at=note.updated_at,
                chunk_count=note.chunk_count,
            )
        )
    go_on = ""
    if len(files) < len(later):
        rest = len(later) - len(files)
        go_on = f"{rest:,} more: memory_list with after={files[-1].path}"
    return ListOut(files=files, file_count=len(notes), go_on=go_on)


def shape_written(written: WriteResult) -> WriteOut:
    """Return what was saved where."""
    return WriteOut(
        path=written.path,
        start_line=written.start_line,
        end_line=written.end_line,
        id=written.id,
        is_indexed=written.is_indexed,
        warnings=list(written.warnings),
    )


def _shape_hit(hit: Hit, snippet: str) -> FoundHit:
    """Return one hit."""
    return FoundHit(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=round(hit.score, 3),
        snippet=snippet,
        headings=" > ".join(hit.headings),
        date=hit.date,
        id=hit.id,
        type=hit.type,
        key=hit.key,
        scope=hit.scope,
        standing=hit.standing,
        source=untrusted_source(hit.source),
        disputed_by=hit.disputed_by,
    )


def _shape_report(report: SearchReport, go_on: str) -> SearchSummary:
    """Return how strong the answer is."""
    return SearchSummary(
        mode=report.mode,
        is_fresh=report.is_fresh,
        reason=report.reason,
        why_empty=report.why_empty,
        stale_notes=report.stale_notes,
        skipped_notes=report.skipped_notes,
        pending_vectors=report.pending_vectors,
        ignored_terms=report.ignored_terms,
        below_min_score=report.cut.below_min_score,
        superseded=report.cut.superseded,
        over_limit=report.cut.over_limit,
        suggestions=list(report.suggestions),
        warnings=list(report.warnings),
        go_on=go_on,
    )


def _first_lines(passage: NoteLines) -> tuple[str, int, str]:
    """Return the lines that fit, the last of them, and how to go on."""
    lines = passage.text.split("\n")
    count = _how_many_fit(lines)
    limit = f"a result holds {LIMIT_CHARS:,} characters"
    if count == 0:  # not even one line
        first = passage.start_line
        after = first + 1
        said = f"line {first} is cut, it has {len(lines[0]):,} characters ({limit})"
        if after <= passage.end_line:
            said += f"; memory_get with from={after} reads on"
        return lines[0][:LIMIT_CHARS], first, said
    end_line = passage.start_line + count - 1
    said = (
        f"lines {end_line + 1} to {passage.end_line} follow ({limit}):"
        f" memory_get with from={end_line + 1} reads on"
    )
    return "\n".join(lines[:count]), end_line, said


def _how_many_fit(lines: Iterable[str]) -> int:
    """Return how many whole lines the limit leaves."""
    used = count = 0
    for line in lines:
        used += len(line) + 1
        if used > LIMIT_CHARS:
            break
        count += 1
    return count


def _cut(text: str, room: int) -> str:
    """Return *text*, or its beginning if it has more than *room* characters."""
    if len(text) <= room:
        return text
    return text[: room - 1] + "…" if room > 0 else ""


def shape_saved(saved: SaveResult) -> SaveOut:
    """Return what was saved where, and what it replaced."""
    return SaveOut(
        path=saved.path,
        start_line=saved.start_line,
        end_line=saved.end_line,
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


def shape_linked(linked: LinkResult) -> LinkOut:
    """Return what joins two memories now."""
    return LinkOut(
        kind=linked.kind,
        from_path=linked.from_path,
        to_path=linked.to_path,
        weight=linked.weight,
        is_changed=linked.is_changed,
        is_indexed=linked.is_indexed,
    )


def shape_forgotten(forgotten: ForgetResult) -> ForgetOut:
    """Return what is hidden now."""
    memories = [
        AffectedOut(
            path=one.path,
            start_line=one.start_line,
            end_line=one.end_line,
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


def _shape_version(memory: StoredMemory) -> VersionOut:
    """Return one version."""
    return VersionOut(
        id=memory.id,
        path=memory.path,
        start_line=memory.start_line,
        end_line=memory.end_line,
        standing=memory.standing,
        type=memory.type,
        at=memory.updated or memory.created,
        by=memory.by,
        reason=memory.reason,
        text=mask(memory.text),
    )
