"""What memory_search returns: its fields, and its text for a model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from hivemind_memory.mcp_server.shaping import (
    LIMIT_CHARS,
    one_line,
    untrusted_mark,
)
from hivemind_memory.memory.no_vectors import NO_VECTORS_YET
from hivemind_memory.model.display import count_text, lines_text, places_text, shorten
from hivemind_memory.model.memories import MAX_SOURCE_REF_CHARS, claim_text
from hivemind_memory.model.query import Hit, SearchAnswer, SearchReport
from hivemind_memory.model.trust import untrusted_source

SNIPPET_CHARS = 2_000
"""Most characters of one snippet; a chunk has at most 800 unless one line is longer."""

_FACT_CHARS = 500


class _Part(BaseModel):
    """A part of an answer. It is built with its first use."""

    model_config = ConfigDict(defer_build=True)


class ClaimOut(_Part):
    """How certain a claim is."""

    confidence: str = ""
    corroborated: str = Field(default="", description="number of independent sources")
    domains: str = ""
    verified: str = Field(default="", description="day of the last check")


class FoundHit(_Part):
    """One place in the notes."""

    path: str
    start_line: int
    end_line: int
    score: float = Field(description="0 to 1, higher is better")
    confidence: float = Field(description="how likely it answers the query, 0 to 1")
    snippet: str = Field(description="the lines as they are in the note")
    headings: str = Field(default="", description="headings above the lines")
    date: str = Field(default="", description="day of the entry")
    id: str = Field(default="", description="id of the memory or entry")
    type: str = Field(default="", description="type of a saved memory")
    key: str = Field(default="", description="key of a saved memory")
    scope: str = Field(default="", description="default: global")
    status: str = Field(
        default="active",
        description="superseded: a newer memory replaced it; pending: no person has"
        " accepted it yet",
    )
    superseded_by: str = Field(
        default="", description="path of the memory that replaced it"
    )
    source: str = Field(default="", description="tool or external: from outside")
    untrusted: bool = Field(default=False, description="only a claim")
    disputed_by: str = Field(
        default="", description="place of a newer memory that contradicts it"
    )
    reason: str = Field(
        default="",
        description="why it replaced an earlier memory, if that matched the query",
    )
    source_ref: str = Field(default="", description="what it was derived from")
    claim: ClaimOut = Field(default_factory=ClaimOut)
    also_in: str = Field(default="", description="other places with the same text")


class NearPlace(_Part):
    """A place that comes near to the query and is unlikely to answer it."""

    path: str
    start_line: int
    end_line: int
    confidence: float
    headings: str = ""


class SearchSummary(_Part):
    """How complete and reliable the results are."""

    mode: str = Field(
        description="hybrid: matched words and meaning; keyword: words only; list:"
        " no words were given, all that fits the filters, newest first; off"
    )
    is_fresh: bool = Field(description="the results include all changes made so far")
    confidence: str = Field(
        default="",
        description="strong; weak: check before you rely on it; none: nothing is known",
    )
    reason: str = Field(default="", description="why the search was not hybrid")
    why_empty: str = Field(default="", description="why nothing was found")
    stale_notes: int = Field(
        default=0, description="changed notes that are not indexed yet"
    )
    skipped_notes: int = Field(default=0, description="files that could not be read")
    pending_vectors: int = Field(default=0, description="chunks without a vector yet")
    ignored_terms: int = Field(
        default=0, description="terms beyond the number that a query may have"
    )
    below_min_score: int = Field(
        default=0, description="candidates dropped by min_score"
    )
    superseded: int = Field(
        default=0, description="older memories left out because a hit replaces them"
    )
    over_limit: int = Field(default=0, description="candidates dropped by max_results")
    suggestions: list[str] = Field(
        default_factory=list, description="similar words that the notes contain"
    )
    warnings: list[str] = Field(default_factory=list)
    continuation: str = Field(
        default="", description="what was cut, and how to get the rest"
    )


class SearchOut(_Part):
    """What memory_search returns."""

    hits: list[FoundHit]
    report: SearchSummary
    nearest: list[NearPlace] = Field(
        default_factory=list,
        description="closest passages when nothing matches; not answers",
    )


def shape_search(answer: SearchAnswer) -> SearchOut:
    """Return the hits; text beyond the limit is cut, the places are all there.

    If nothing is known, no text is handed over that could pass for an answer.
    """
    if answer.is_unknown:
        return SearchOut(
            hits=[],
            report=_shape_report(answer.report, ""),
            nearest=[_near_place(hit) for hit in answer.hits],
        )
    hits: list[FoundHit] = []
    left_chars = LIMIT_CHARS
    cut_count = 0
    for hit in answer.hits:
        facts = _facts_of(hit, left_chars)
        left_chars -= _length_of(facts)
        facts.snippet = shorten(hit.snippet, min(left_chars, SNIPPET_CHARS))
        cut_count += len(facts.snippet) < len(hit.snippet)
        left_chars -= len(facts.snippet)
        hits.append(facts)
    continuation = ""
    if cut_count:
        continuation = (
            f"snippets cut: {cut_count} of {len(hits)} (a result holds at most"
            f" {LIMIT_CHARS:,} characters of text, a snippet {SNIPPET_CHARS:,}):"
            " memory_get with path, from=start_line and lines returns the full text"
        )
    return SearchOut(hits=hits, report=_shape_report(answer.report, continuation))


def empty_search(reason: str) -> SearchOut:
    """Return the answer of a memory without notes."""
    report = SearchSummary(mode="keyword", is_fresh=True, why_empty=reason)
    return SearchOut(hits=[], report=report)


def render_search(found: SearchOut) -> str:
    """Return the hits and the report as text, the best hit first.

    Lines of notes are quoted with ``> ``, so that none of them can pass for a part of
    the answer.
    """
    mode = found.report.mode
    head = "no answer found, " if found.nearest else ""
    head += f"{count_text(len(found.hits), 'hit')}, "
    head += "newest first" if mode == "list" else mode
    head += (
        ", fresh"
        if found.report.is_fresh
        else ", not fresh: recent changes may be missing"
    )
    hits = [
        _render_hit(at, hit, has_score=mode != "list")
        for at, hit in enumerate(found.hits, start=1)
    ]
    if found.report.confidence:
        head += f", confidence {found.report.confidence}"
    near = [_render_near(place) for place in found.nearest]
    return "\n".join([head, *hits, *near, *_render_report(found.report)])


def _render_near(place: NearPlace) -> str:
    """Return one line that says where a place is, and that it is no answer."""
    where = lines_text(place.path, place.start_line, place.end_line)
    line = f"closest, but probably not an answer: {where} confidence {place.confidence}"
    return f"{line} under {place.headings}" if place.headings else line


def _near_place(hit: Hit) -> NearPlace:
    """Return the place of a hit that is no answer."""
    return NearPlace(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        confidence=round(hit.confidence, 2),
        headings=one_line(" > ".join(hit.headings), _FACT_CHARS),
    )


def _facts_of(hit: Hit, limit_chars: int) -> FoundHit:
    """Return one hit without its snippet; what notes say of themselves is cut."""

    def cut(text: str, most_chars: int = _FACT_CHARS) -> str:
        return one_line(text, min(most_chars, limit_chars))

    claim = {name: cut(text) for name, text in hit.claim.items()}
    return FoundHit(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=round(hit.score, 3),
        confidence=round(hit.confidence, 2),
        snippet="",
        headings=cut(" > ".join(hit.headings)),
        date=hit.date,
        id=hit.id,
        type=hit.type,
        key=one_line(hit.key, _FACT_CHARS),
        scope=hit.scope,
        status=hit.status,
        superseded_by=hit.superseded_by,
        source=untrusted_source(hit.source),
        untrusted=hit.untrusted,
        disputed_by=hit.disputed_by,
        reason=cut(hit.reason),
        source_ref=cut(hit.source_ref, MAX_SOURCE_REF_CHARS),
        claim=ClaimOut.model_validate(claim),
        also_in=cut(places_text(hit.also_in)),
    )


def _length_of(facts: FoundHit) -> int:
    """Return how many characters of notes are next to the snippet of a hit."""
    claim = facts.claim.model_dump().values()
    texts = (facts.headings, facts.reason, facts.source_ref, facts.also_in, *claim)
    return sum(map(len, texts))


def _shape_report(report: SearchReport, continuation: str) -> SearchSummary:
    """Return what the report of a search says to a model."""
    return SearchSummary(
        mode=report.mode,
        is_fresh=report.is_fresh,
        confidence=report.confidence,
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
        continuation=continuation,
    )


def _render_hit(at: int, hit: FoundHit, *, has_score: bool) -> str:
    """Return one hit: a line of facts, then the quoted snippet."""
    head = f"[{at}] {lines_text(hit.path, hit.start_line, hit.end_line)}"
    head += f" also in {hit.also_in}" * bool(hit.also_in)
    if has_score:
        head += f" score {hit.score} confidence {hit.confidence}"
    if hit.date:
        head += f" date {hit.date}"
    if hit.type:
        head += f" {hit.type} {hit.key}"
    if hit.scope:
        head += f" in {hit.scope}"
    if hit.superseded_by:
        head += f" SUPERSEDED by {hit.superseded_by}"
    elif hit.status == "superseded":
        head += " SUPERSEDED"
    head += untrusted_mark(hit)
    if hit.disputed_by:
        head += f" DISPUTED by {hit.disputed_by}"
    if hit.id:
        head += f" id {hit.id}"
    if claim := hit.claim.model_dump(exclude_defaults=True):
        parts = [claim_text(claim), claim.get("domains", "")]
        head += f" claim {', '.join(filter(None, parts))}"
    if hit.source_ref:
        head += f" from {hit.source_ref}"
    if hit.headings:
        head += f" under {hit.headings}"
    if hit.reason:
        head += f" replaced another because {hit.reason}"
    lines = hit.snippet.split("\n") if hit.snippet else []
    return "\n".join([head, *(f"> {line}" for line in lines)])


def _render_report(report: SearchSummary) -> list[str]:
    """Return what the report says beyond mode and freshness, one fact a line."""
    lines = []
    if report.why_empty:
        lines.append(f"nothing found: {report.why_empty}")
    if report.reason not in ("", NO_VECTORS_YET):  # that helps no agent
        lines.append(f"not hybrid: {report.reason}")
    counted = [
        (report.below_min_score, "", "below min_score"),
        (report.superseded, "older version", "hidden"),
        (report.over_limit, "", "beyond max_results"),
        (report.stale_notes, "changed note", "not indexed"),
        (report.skipped_notes, "file", "that could not be read"),
        (report.pending_vectors, "chunk", "without a vector yet"),
        (report.ignored_terms, "term", "of the query ignored"),
    ]
    counts = [
        f"{count_text(number, noun) if noun else number} {what}"
        for number, noun, what in counted
        if number
    ]
    if counts:
        lines.append("; ".join(counts))
    if report.suggestions:
        lines.append(f"similar words in the notes: {', '.join(report.suggestions)}")
    lines += [f"warning: {warning}" for warning in report.warnings]
    if report.continuation:
        lines.append(f"[{report.continuation}]")
    return lines
