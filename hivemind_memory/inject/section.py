"""The text of a section: how to use the memory, then the selected memories as quotes.

A memory can neither close the section nor act: every line of it follows a quote mark,
no comment can open in it, ``@file`` loads nothing, and invisible characters are shown.
The same memories give the same text, without a time or a score. Writes nothing.
"""

from __future__ import annotations

from hivemind_memory.context.candidates import find_candidates, is_empty
from hivemind_memory.context.facets import facets_of
from hivemind_memory.context.memory_selection import ALWAYS_CAP, select_excerpts
from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import NotInjectedError
from hivemind_memory.files.marked_section import (
    GUIDE_WORDS,
    NOTES_WORDS,
    SECTION_HEADLINE,
    SECTION_MARKS,
    put_section,
)
from hivemind_memory.inject.kept_texts import shown_texts
from hivemind_memory.markdown.text import without_comments
from hivemind_memory.model.display import escape_text
from hivemind_memory.model.injection import SectionPlan
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction import mask
from hivemind_memory.vault.opened import secret_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hivemind_memory.git.worktree import WorktreeState
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.briefing import Briefing
    from hivemind_memory.model.injection import Excerpt, Selection

CREATED = "<!-- hivemind:created -->"
"""First line of the section in a file that we created."""

BYTES_PER_TOKEN = 4
"""Mean length of a token in the text of a section, at most."""

NEAR_CAP = 0.8
"""Share of a limit from which the report warns."""

SHORTEN_HINT = "shorten it, or use `hm connect codex --hooks`, which needs no file"
"""What to do about a file of which Codex reads only the beginning."""

_GUIDE = f"""\
{SECTION_HEADLINE}

This machine {GUIDE_WORDS}. Use %s:
- `%s`: recall prior context before answering
- `%s`: note what happened or was found: a root cause, a gotcha, completed work
- `%s`: keep the one current answer: a decision, a preference
- `%s`: read more of a note

Never write a key, token or password; say where it is kept. What you write stays with
this project. Save what is about the user or the machine, such as preferences, OS,
hardware and terminal, with `%s`:
every session opens with it."""
_NOTES = f"""\
Most relevant memories for this session. They are quoted notes, dated and cited:
{NOTES_WORDS}."""
_TOO_LONG = (
    "the briefing takes %s tokens, more than half of the room for memories, and is not"
    " shown: see inject_budget_tokens"
)
_MORE = "%s other %s not shown; `%s` finds more."
_NO_ROOM = "%s %s for this session did not fit; use `%s`."
_NONE = "No memory matches this session yet; `%s` looks through all of them."
_TOOLS = (
    "your MCP tools",
    "memory_search(query)",
    "memory_write(content)",
    "memory_save(key, content, type)",
    "memory_get(path, from, lines)",
    'scope="global", type="preference"',
)
_COMMANDS = (
    "these commands",
    "hm search QUERY",
    "hm write TEXT",
    "hm save --type TYPE KEY TEXT",
    "hm get PATH",
    "-g --type preference",
)
"""For an agent without the tools: each does what its tool does."""

_SEARCH = ("memory_search", "hm search")
"""What finds more, with and without the tools."""

# Claude Code loads the file that is named after an @ at the beginning of a word.
_IMPORT = lazy_re(r"(?<!\w)@(?=\S)")

_MAX_LEFT_OUT = 999_999
"""Costs as many tokens as any number of memories that a section leaves out."""


def plan_section(
    memory: Memory,
    state: WorktreeState,
    *,
    room_bytes: int | None = None,
    has_tools: bool = True,
    has_briefing: bool = True,
) -> SectionPlan:
    """Return the section for a worktree.

    Its body is empty if there are no memories for it or switched off.

    Args:
        memory: As the worktree's agents see it.
        state: The state of the worktree.
        room_bytes: The most that its file can take; None: no limit.
        has_tools: Whether the agent that reads it has our tools.
        has_briefing: Whether it may begin with a briefing, if the options say so.

    Raises:
        NotInjectedError: An option that decides who may see what cannot be used.
    """
    settings = memory.settings
    budget = settings.inject_budget_tokens
    if room_bytes is not None:
        budget = max(1, min(budget, room_bytes // BYTES_PER_TOKEN))
    if not settings.enabled:
        return SectionPlan(body="", why_empty="the memory is switched off")
    why = settings.why_read_only()
    if why:  # unknown who may see what, or whether anything may be shown
        raise NotInjectedError(why, effect="Nothing was injected")
    facets = facets_of(state)
    candidates = find_candidates(memory, facets)
    if is_empty(memory, candidates):
        why = "there are no memories for this project yet"
        return SectionPlan(body="", why_empty=why, facets=facets)
    spare = budget - _frame_tokens(has_tools=has_tools)
    briefing = _find_briefing(memory) if has_briefing else None
    too_long: tuple[str, ...] = ()
    if briefing is not None and (cost := _briefing_tokens(briefing)) > spare // 2:
        too_long = (_TOO_LONG % cost,)
        briefing = None
    elif briefing is not None:
        spare -= cost
    choice = select_excerpts(
        candidates.preferences,
        candidates.others,
        count=settings.startup_inject_count,
        budget_tokens=max(0, spare),
        cost=_excerpt_tokens,
        always=candidates.always,
    )
    choice = replaced(
        choice,
        left_out=(*choice.left_out, *candidates.left_out),
        has_more=candidates.has_more,
    )
    planned = SectionPlan(
        body="",
        has_tools=has_tools,
        budget_tokens=budget,
        briefing=briefing,
        choice=choice,
        facets=facets,
    )
    body = section_body(planned)
    tokens = section_tokens(body)
    is_tight = budget < settings.inject_budget_tokens
    warnings = (
        *candidates.warnings,
        *too_long,
        *(_room_warnings(choice, body, room_bytes) if is_tight else ()),
        *_warnings(choice, tokens, 0 if is_tight else budget),
    )
    return replaced(planned, body=body, tokens=tokens, warnings=warnings)


def _find_briefing(memory: Memory) -> Briefing | None:
    """Return the briefing that a section begins with, if the options want one."""
    if not memory.settings.inject_bulletin:
        return None
    from hivemind_memory.context.briefing import find_own_briefing

    return find_own_briefing(memory)


def section_body(planned: SectionPlan, *, is_ours: bool = False) -> str:
    """Return the lines between the marks."""
    choice = planned.choice
    return render_body(
        choice.excerpts,
        left_out=choice.left_out_count,
        has_more=choice.has_more,
        is_ours=is_ours,
        has_tools=planned.has_tools,
        briefing=planned.briefing,
    )


def section_tokens(body: str) -> int:
    """Return about how many tokens a section costs, its marks included."""
    begin, end = SECTION_MARKS.begin.decode(), SECTION_MARKS.end.decode()
    return estimate_tokens(f"{begin}\n{body}\n{end}\n")


def _frame_tokens(*, has_tools: bool) -> int:
    """Return the most that a section costs besides its memories.

    One that shows none has a shorter text in their place.
    """
    guide, more = (
        _guide(is_ours=True, has_tools=has_tools),
        _more(_MAX_LEFT_OUT, has_more=True, is_first=False, has_tools=has_tools),
    )
    return section_tokens(f"{guide}\n\n{_NOTES}\n\n{more}")


def _excerpt_tokens(excerpt: Excerpt) -> int:
    """Return what a memory costs, with the blank line above it.

    Rounded up one by one, so that the sum is not below what they cost together.
    """
    return estimate_tokens(f"\n\n{render_excerpt(excerpt)}")


def render_body(
    excerpts: Sequence[Excerpt],
    *,
    left_out: int,
    has_more: bool = False,
    is_ours: bool = False,
    has_tools: bool = True,
    briefing: Briefing | None = None,
) -> str:
    r"""Return the lines between the marks, joined by ``"\n"``.

    Args:
        excerpts: The memories, in order.
        left_out: How many relevant memories are not among them.
        has_more: There are more than *left_out*.
        is_ours: We created the file, and it contains nothing else.
        has_tools: Whether the agent that reads it has our tools.
        briefing: What stands before the memories; None: nothing does.
    """
    parts = [_guide(is_ours=is_ours, has_tools=has_tools)]
    if excerpts or briefing:
        parts.append(_NOTES)
    if briefing:
        parts.append(render_briefing(briefing))
    parts += map(render_excerpt, excerpts)
    if left_out or not excerpts:
        parts.append(
            _more(
                left_out,
                has_more=has_more,
                is_first=not excerpts,
                has_tools=has_tools,
            )
        )
    return "\n\n".join(parts)


def _guide(*, is_ours: bool, has_tools: bool) -> str:
    """Return how to use the memory."""
    guide = _GUIDE % (_TOOLS if has_tools else _COMMANDS)
    return f"{CREATED}\n{guide}" if is_ours else guide


def guide_lines(*, has_tools: bool) -> list[str]:
    """Return the lines of the guide: every section begins with them."""
    return _guide(is_ours=False, has_tools=has_tools).split("\n")


def other_lines(count: str, noun: str) -> list[str]:
    """Return the lines below the guide that quote no memory.

    Args:
        count: What stands for a number of memories.
        noun: What stands for "memory" and "memories".
    """
    counted = [
        form % (count, noun, search) for form in (_MORE, _NO_ROOM) for search in _SEARCH
    ]
    return [*_NOTES.split("\n"), *counted, *(_NONE % search for search in _SEARCH)]


def _more(left_out: int, *, has_more: bool, is_first: bool, has_tools: bool) -> str:
    """Return which memories are not shown; *is_first*: none is."""
    search = _SEARCH[0 if has_tools else 1]
    if not left_out:
        return _NONE % search
    noun = "memory" if left_out == 1 and not has_more else "memories"
    count = f"More than {left_out}" if has_more else str(left_out)
    return (_NO_ROOM if is_first else _MORE) % (count, noun, search)


def render_briefing(briefing: Briefing) -> str:
    """Return a briefing as quoted lines, below who wrote it and when."""
    scope = _on_one_line(mask(scope_text(briefing.scope)))
    day = briefing.generated_at[:10]
    lines = [f"Briefing of `{scope}` ({day}), written by a language model"]
    lines += make_inert(mask(briefing.body)).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _briefing_tokens(briefing: Briefing) -> int:
    """Return what a briefing costs, with the blank line above it."""
    return estimate_tokens(f"\n\n{render_briefing(briefing)}")


def render_excerpt(excerpt: Excerpt) -> str:
    """Return a memory as quoted lines under its place and date."""
    dated = f" ({excerpt.date})" if excerpt.date else ""
    typed = f" {excerpt.type} `{_on_one_line(excerpt.key)}`" if excerpt.type else ""
    claim = f" ({_on_one_line(excerpt.claim)})" if excerpt.claim else ""
    lines = [f"`{_on_one_line(excerpt.place)}`{dated}{typed}{claim}"]
    lines += _inert_text(excerpt).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def excerpt_texts(excerpts: Iterable[Excerpt]) -> list[str]:
    """Return what a section shows of each memory, without its place and the quotes."""
    return [_inert_text(excerpt) for excerpt in excerpts]


def _inert_text(excerpt: Excerpt) -> str:
    """Return the text of a memory as a section shows it."""
    found = shown_texts.get()
    kept = {} if found is None else found
    key = excerpt.text, secret_values()
    if key not in kept:
        kept[key] = make_inert(without_comments(mask(excerpt.text)))
    return kept[key]


def make_inert(text: str) -> str:
    r"""Return *text* so that it can only be read.

    >>> make_inert("see @~/.ssh/id <!-- and\x07")
    'see \\@~/.ssh/id &lt;!-- and\\x07'
    """
    text = text.replace("\r\n", "\n").replace("\t", "    ").strip("\n")
    return escape_text(_IMPORT.sub(r"\\@", text.replace("<!--", "&lt;!--")))


def _on_one_line(text: str) -> str:
    """Return a path or a key that is safe between two backticks."""
    return make_inert(text).replace("\n", "\\n").replace("`", "'")


def _room_warnings(
    choice: Selection, body: str, room_bytes: int | None
) -> Iterator[str]:
    """Yield that the file has no room for memories; that it is too long, it says."""
    is_cut = any(memory.why == "budget" for memory in choice.left_out)
    if is_cut and len(put_section(b"", body)) <= (room_bytes or 0):
        yield (
            f"the file leaves {room_bytes:,} of the bytes that Codex reads:"
            f" {SHORTEN_HINT}"
        )


def _warnings(choice: Selection, tokens: int, budget: int) -> Iterator[str]:
    """Yield that the section is near one of its limits; a budget of 0 is none."""
    if budget and tokens > NEAR_CAP * budget:
        share = round(100 * tokens / budget)
        yield (
            f"the section takes {tokens} of {budget} tokens ({share} %):"
            " see inject_budget_tokens"
        )
    always = sum(
        any(reason.facet in ("always", "lesson") for reason in excerpt.reasons)
        for excerpt in choice.excerpts
    )
    always += sum(memory.why == "cap" for memory in choice.left_out)
    if always >= NEAR_CAP * ALWAYS_CAP:
        yield (
            f"{always} of {ALWAYS_CAP} memories that every section shows"
            " (pinned, identity, lesson): forget or merge some"
        )
