"""hm search: its options, its call, and how hits are printed."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import QUERY, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import (
    IN_FOLDER,
    JSON,
    ONLY_SOURCE_REF,
    ONLY_TAG,
    SCOPE,
    SINCE,
    TYPE,
)
from hivemind_memory.cli.output import (
    answer_value,
    is_terminal,
    print_json,
    print_notices,
    read_stdin,
    write_stderr,
    write_stdout,
)
from hivemind_memory.errors import IndexUnusableError, UsageError
from hivemind_memory.model.display import (
    count_text,
    escape_line,
    escape_text,
    lines_text,
    listed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hivemind_memory.cli.terminal_hits import ShownHit
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.filters import SearchFilter
    from hivemind_memory.model.query import Hit, SearchAnswer, SearchReport

_TERMINAL_HITS = 5
"""Hits that fit a screen, the best one whole; a pipe gets ``max_results``."""

_MAX_HITS = 1000
_NARROWING = ("type", "scope", "since", "until", "tag", "in", "source_ref")
"""Options that select what to list if there is no query."""
_NARROWING_FLAGS = listed([f"--{name.replace('_', '-')}" for name in _NARROWING])


@command(
    "search",
    description=(
        "Every search picks up the latest changes to your notes. The words are joined"
        " by spaces; quotes and operators are not needed. Options can go anywhere; any"
        " other word that begins with a dash is part of the query, and so is"
        " everything after --. With - the query is read from standard input. Without"
        f" a query, {_NARROWING_FLAGS} list all matches, newest first."
    ),
    arguments=(Argument("query", "What to look for.", is_required=False, reads=QUERY),),
    flags=(
        Flag(
            ("-n", "--limit", "--max-results"),
            "int",
            f"Maximum number of hits (terminal: {_TERMINAL_HITS}, else 10, or as"
            " config.json says).",
            metavar="N",
            low=1,
            high=_MAX_HITS,
        ),
        Flag(
            ("--min-score",),
            "float",
            "Minimum relevance of a hit (0.3, or as config.json says).",
            metavar="X",
            low=0,
            high=1,
        ),
        TYPE,
        SCOPE,
        IN_FOLDER,
        ONLY_TAG,
        SINCE,
        Flag(
            ("--until",),
            "moment",
            "Only items from this time or earlier.",
            metavar="WHEN",
        ),
        Flag(("--inbox",), "flag", "Include untrusted claims pending in the inbox."),
        Flag(("--expired",), "flag", "Include expired memories."),
        ONLY_SOURCE_REF,
        JSON,
        Flag(("--explain",), "flag", "Show how each score was calculated."),
        Flag(("--fail-empty",), "flag", "Exit with 1 if nothing is found."),
    ),
    examples=(
        "hm search how do I deploy",
        "hm search -n 3 --json staging database",
        "hm search --in projects/shop --tag deploy rollback",
    ),
)
def search(request: CommandRequest) -> int:
    """Answer a query."""
    from hivemind_memory.cli.indexing import catch_up, finish_indexing
    from hivemind_memory.environment import agent_of_shell
    from hivemind_memory.model.query import Query

    values, words = request.values, request.values["query"]
    text = read_stdin().strip() if words == ("-",) else " ".join(words)
    if not words:
        _check_narrows(values)
    with request.open_memory(is_reported=True) as memory:
        catch_up(memory)
        query = Query(
            text=text,
            max_results=values["max_results"] or _default_count(memory, values),
            min_score=values["min_score"],
            should_explain=values["explain"],
            search_filter=_search_filter(memory, values),
        )
        answer = memory.search(query)
        scope = query.search_filter.scope
        if not answer.hits and scope and memory.caller.is_owner:
            from hivemind_memory.files.near_scope import scope_notice

            notice = scope_notice(memory.places.notes, scope)
            answer = answer.with_warnings(filter(None, [notice]))
        if is_terminal(sys.stdout) and not values["json"]:
            from hivemind_memory.cli.list_order import mark_copies

            answer = mark_copies(memory, answer)
        is_full = len(answer.hits) == query.max_results < _MAX_HITS
        wider = min(4 * query.max_results, _MAX_HITS)
        more = f"-n {wider} shows more" if is_full else ""
        print_answer(answer, text, as_json=values["json"], more=more)
        # Last, so that no answer waits for it.
        if not (values["json"] or values["inbox"]):
            print_pending(memory, is_fresh=False)
        if not memory.record_recall(answer, agent_of_shell()):
            print_too_new_state(memory)
        if not answer.report.is_fresh:
            finish_indexing(memory)
    return 1 if values["fail_empty"] and not answer.hits else 0


def _check_narrows(values: Mapping[str, Any]) -> None:
    """Raise if the options alone do not say what to list."""
    if not any(values[name] for name in _NARROWING):
        inbox = "`hm inbox` lists the claims that are pending."
        hint = (
            inbox if values["inbox"] else f"{_NARROWING_FLAGS} also work without one."
        )
        raise UsageError("`hm search` needs a query.", hint=hint)


def print_pending(memory: Memory, *, is_fresh: bool) -> None:
    """Print how many claims are pending in the inboxes that the shell may see."""
    try:
        count = memory.count_pending(is_fresh=is_fresh)
    except IndexUnusableError:
        return  # the answer has said so
    if count:
        claims = count_text(count, "claim is", "claims are")
        line = f"{claims} pending: `hm inbox` lists what to accept or reject"
        if is_terminal(sys.stderr):
            from hivemind_memory.cli.terminal import Text, rendered

            write_stderr(rendered([Text(line, "dim")]))
        else:
            print_notices([line])


def print_too_new_state(memory: Memory) -> None:
    """Print that a newer version of the program made ``state.db``, if it did."""
    problem = memory.state().why_too_new()
    print_notices([problem] if problem else [])


def print_answer(
    answer: SearchAnswer, query: str, *, as_json: bool, more: str = ""
) -> None:
    """Print hits to standard output, and how good the answer is to standard error.

    Args:
        answer: The hits and their report.
        query: Its words are highlighted on a terminal.
        as_json: Print one JSON document instead.
        more: How to get more hits, for the footer of a terminal.
    """
    if as_json:
        print_json(answer_value(answer))
        return
    has_footer = False
    if answer.is_unknown and not any(hit.parts for hit in answer.hits):
        write_stdout(_nearest_text(answer.hits))
    elif is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal_hits import hits_text

        write_stdout(hits_text(list(map(_shown, answer.hits)), query))
        has_footer = bool(answer.hits) and is_terminal(sys.stderr)
    else:
        write_stdout("\n".join(map(_hit_text, answer.hits)))
    if not has_footer:
        print_notices(report_lines(answer))
        return
    from hivemind_memory.cli.terminal import Text, rendered

    first, *rest = _summary_lines(answer)
    footer = "; ".join(line for line in (first, more, *rest) if line)
    write_stderr(rendered([Text(escape_line(footer), "dim")]))
    print_notices(answer.report.warnings)


def report_lines(answer: SearchAnswer) -> list[str]:
    """Return how good the answer is, and what to do if it is empty."""
    return [*_summary_lines(answer), *answer.report.warnings]


def _summary_lines(answer: SearchAnswer) -> list[str]:
    """Return the report without its warnings, which may be long."""
    report, count = answer.report, len(answer.hits)
    if answer.is_unknown:
        # Above the list of places it says already that they are no answer.
        head = "no answer found; " if any(hit.parts for hit in answer.hits) else ""
        lines = [f"{head}{count_text(count, 'place')} by {report.mode} search"]
    elif count:
        lines = [f"{count_text(count, 'hit')} by {report.mode} search{_reason(answer)}"]
        if report.mode == "list":
            order = ", the newest first" if count > 1 else ""
            lines = [f"{count_text(count, 'hit')}{order}"]
    else:
        lines = [f"nothing found: {report.why_empty}"]
        if report.suggestions:
            lines.append(f"did you mean: {', '.join(report.suggestions)}?")
    if answer.is_weak:
        lines.append("weak match: these may not answer your query")
    return [*lines, *_weaknesses(report)]


def _default_count(memory: Memory, values: Mapping[str, Any]) -> int:
    """Return how many hits are asked for if the command line does not say."""
    configured: int = memory.settings.max_results
    if values["json"] or not is_terminal(sys.stdout):
        return configured
    from hivemind_memory.config import options

    is_default = configured == options()["max_results"].default
    return _TERMINAL_HITS if is_default else configured


def _search_filter(memory: Memory, values: Mapping[str, Any]) -> SearchFilter:
    """Return what the options narrow a query to."""
    from hivemind_memory.model.filters import DEFAULT_FILTER

    words = {
        "types": values["type"],
        "scope": values["scope"],
        "since": values["since"],
        "until": values["until"],
        "source_ref": values["source_ref"] or "",
        "folder": values["in"],
        "tags": values["tag"],
        "inbox": values["inbox"],
        "expired": values["expired"],
    }
    given = {name: value for name, value in words.items() if value}
    return memory.parse_filter(**given) if given else DEFAULT_FILTER


def _reason(answer: SearchAnswer) -> str:
    """Return why a search used words only, and where to read more.

    That nothing was ever embedded is no news where words have found a good answer.
    """
    from hivemind_memory.memory.no_vectors import NO_VECTORS_YET

    reason = answer.report.reason
    if reason == NO_VECTORS_YET:
        if answer.hits and not answer.is_weak and not answer.is_unknown:
            return ""
        reason = f"{reason}; `hm status` says why"
    return f" ({reason})" if reason else ""


def _weaknesses(report: SearchReport) -> Iterable[str]:
    """Return the limitations of the answer, one sentence each."""
    if not report.is_fresh:
        yield f"{count_text(report.stale_notes, 'changed note')} not yet in the index"
    if report.skipped_notes:
        files = count_text(report.skipped_notes, "file")
        yield f"{files} skipped; `hm status` says why"
    if report.pending_vectors:
        yield f"{count_text(report.pending_vectors, 'chunk')} without a vector yet"
    if report.cut.superseded:
        yield f"{count_text(report.cut.superseded, 'older version')} hidden"
    if report.ignored_terms:
        yield f"the query is long: {report.ignored_terms} terms were not used"


def _hit_text(hit: Hit) -> str:
    """Return one hit for a pipe: a line that says where, then its lines, indented."""
    snippet = escape_text(hit.snippet).rstrip("\n").replace("\n", "\n    ")
    parts = "".join(f"    {line}\n" for line in _part_lines(hit))
    label = f"  {escape_line(labels)}" if (labels := label_text(hit)) else ""
    origin = "".join(f"    {line}\n" for line in _origin_lines(hit))
    return f"{_head(hit, label)}\n{parts}{origin}    {snippet}\n"


def _head(hit: Hit, label: str = "") -> str:
    """Return where a hit is, its score, its label, and the headings above it."""
    place = escape_line(lines_text(hit.path, hit.start_line, hit.end_line))
    breadcrumbs = f"  {escape_line(' > '.join(hit.headings))}" if hit.headings else ""
    return f"{place}{_score_text(hit)}{label}{breadcrumbs}"


def _nearest_text(hits: Iterable[Hit]) -> str:
    """Return where the nearest notes stand, without their text: they are no answer."""
    title = "No answer found. Closest passages:"
    if is_terminal(sys.stdout):
        from hivemind_memory.cli import terminal_hits

        return terminal_hits.places_text(title, map(_shown, hits))
    return f"{title}\n" + "".join(f"    {_head(hit)}\n" for hit in hits)


def _score_text(hit: Hit) -> str:
    """Return the score; empty for what is listed without a query."""
    return f"  {hit.score:.2f}" if hit.retrievers else ""


def label_text(hit: Hit) -> str:
    """Return the label of a hit: its type, and any reason to doubt it.

    Empty for plain text that nothing disputes.
    """
    labels = [hit.type] if hit.type else []
    if hit.superseded_by:
        labels.append(f"superseded by {hit.superseded_by}")
    elif hit.status == "superseded":
        labels.append("superseded")
    if hit.untrusted:
        why = "in the inbox" if hit.status == "pending" else hit.source
        labels.append(f"untrusted, {why}")
    if hit.disputed_by:
        labels.append(f"disputed by {hit.disputed_by}")
    return f"[{', '.join(labels)}]" if labels else ""


def _origin_lines(hit: Hit) -> list[str]:
    """Return the reason, claim and origin of a memory, one fact a line."""
    from hivemind_memory.model.display import places_text
    from hivemind_memory.model.memories import claim_text

    lines = []
    if hit.reason:
        lines.append(f"replaced an earlier memory: {escape_line(hit.reason)}")
    if hit.claim:
        lines.append(f"claim: {escape_line(claim_text(hit.claim))}")
    if hit.also_in:
        lines.append(f"also in {escape_line(places_text(hit.also_in))}")
    if hit.source_ref:
        lines.append(f"from: {escape_line(hit.source_ref)}")
    return lines


def _part_lines(hit: Hit) -> list[str]:
    """Return how the score of an explained hit came about, one summand a line."""
    lines = [
        escape_line(f"{part.value:+.4f} {part.name}  {part.note}".rstrip())
        for part in hit.parts
    ]
    return [*lines, f"confidence {hit.confidence:.2f}"] if lines else []


def _shown(hit: Hit) -> ShownHit:
    """Return what a terminal shows of a hit."""
    from hivemind_memory.cli.terminal_hits import ShownHit

    return ShownHit(
        place=lines_text(hit.path, hit.start_line, hit.end_line),
        line_count=hit.end_line - hit.start_line + 1,
        score=_score_text(hit),
        label=label_text(hit),
        is_fine=hit.status == "active" and not hit.disputed_by,
        date=hit.date,
        headings=" > ".join(hit.headings),
        above=(*_part_lines(hit), *_origin_lines(hit)),
        snippet=hit.snippet,
    )
