"""From memory and worktree to the text of a section. Writes nothing."""

from __future__ import annotations

from dataclasses import replace

from hivemind_memory.inject.choose import ALWAYS_CAP, choose
from hivemind_memory.inject.gather import Gathered, gather, is_empty
from hivemind_memory.inject.outcomes import Planned
from hivemind_memory.inject.query import facets_of
from hivemind_memory.inject.section import render_body, render_quote
from hivemind_memory.inject.splice import SECTION
from hivemind_memory.inject.tokens import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.inject.outcomes import Choice, Quote
    from hivemind_memory.inject.query import WorktreeState
    from hivemind_memory.memory import Memory

BYTES_PER_TOKEN = 4
"""The most that a token is long in the texts of a section, in the mean."""

NEAR_CAP = 0.8
"""Share of the budget from which the report warns."""

_MARK_TOKENS = estimate_tokens(f"{SECTION.begin!r}\n\n{SECTION.end!r}\n")
_COUNTED = ("budget", "cap", "count")
_QUOTE_MARGIN = 2
"""Tokens for the blank line around a memory and for rounding."""


def plan(
    memory: Memory, state: WorktreeState, *, room_bytes: int | None = None
) -> Planned:
    """Return the section for a worktree; its body is empty when there is none.

    An empty memory and one that is switched off have nothing to say.

    Args:
        memory: As the worktree's agents see it.
        state: What the worktree is.
        room_bytes: What its file may still take; None: as much as it likes.
    """
    settings = memory.settings
    budget = settings.inject_budget_tokens
    if room_bytes is not None:
        budget = max(1, min(budget, room_bytes // BYTES_PER_TOKEN))
    if not settings.enabled:
        return Planned(body="", why_empty="the memory is switched off")
    facets = facets_of(state)
    gathered = gather(memory, facets)
    if is_empty(memory, gathered):
        return Planned(body="", why_empty="the memory is empty", facets=facets)
    # With a number of two digits, for the line that counts what is left out.
    frame = render_body((), left_out=99, is_ours=True)
    spare = budget - estimate_tokens(frame) - _MARK_TOKENS
    choice = choose(
        gathered.preferences,
        gathered.others,
        count=settings.startup_inject_count,
        budget_tokens=max(0, spare),
        cost=lambda quote: estimate_tokens(render_quote(quote)) + _QUOTE_MARGIN,
        always=gathered.always,
    )
    choice = replace(choice, left_out=(*choice.left_out, *gathered.left_out))
    planned = Planned(body="", budget_tokens=budget, choice=choice, facets=facets)
    body = body_of_plan(planned)
    tokens = estimate_tokens(body) + _MARK_TOKENS
    warnings = (*_warnings(gathered, tokens, budget), *_crowding(choice))
    return replace(planned, body=body, tokens=tokens, warnings=warnings)


def body_of_plan(planned: Planned, *, is_ours: bool = False) -> str:
    """Return the lines between the marks."""
    choice = planned.choice
    told = [one for one in choice.left_out if one.why in _COUNTED]
    return render_body(choice.quotes, left_out=len(told), is_ours=is_ours)


def _warnings(gathered: Gathered, tokens: int, budget: int) -> tuple[str, ...]:
    """Return what a person should know about the choice."""
    warnings = list(gathered.warnings)
    if tokens > NEAR_CAP * budget:
        share = round(100 * tokens / budget)
        warnings.append(
            f"the section takes {tokens} of {budget} tokens ({share} %):"
            " see inject_budget_tokens"
        )
    return tuple(warnings)


def _crowding(choice: Choice) -> tuple[str, ...]:
    """Return that what is always told comes near to its cap."""
    always = [quote for quote in choice.quotes if _is_always(quote)]
    over = sum(one.why == "cap" for one in choice.left_out)
    if len(always) + over < NEAR_CAP * ALWAYS_CAP:
        return ()
    said = f"{len(always) + over} of {ALWAYS_CAP} memories that are always told"
    return (f"{said} (pinned, identity, lesson): forget or merge some",)


def _is_always(quote: Quote) -> bool:
    """Whether no question had to find a memory."""
    return any(reason.facet in ("always", "lesson") for reason in quote.reasons)
