"""What agents, programs and models left behind, under a name that is given.

A job that failed, a session of an agent, a proposed link, a skill, and a worktree that
was injected into: each is on a page of the dashboard.
"""

from __future__ import annotations

from pathlib import Path

from hivemind_memory import opening
from hivemind_memory.model.display import hidden_in
from hivemind_memory.model.skills import SkillRequest
from hivemind_memory.state.activity_log import ActivityLog, ActivityRow
from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.model_links import LinkProposal, ModelLinks
from tests.http_api.served import save
from tests.inject.repos import make_repo

STEPS = "How {}:\n\n1. Tag the commit.\n2. Push the tag.\n"


def plant(number: int, name: str) -> None:
    """Plant everything but a worktree.

    Args:
        number: Another one for each name.
        name: It is the tag and the key of a memory, the problem of a job, the agent,
            the session and the text of what was said, and the model of a proposal.
    """
    tags = (name,) if len(name) < 1_000 else ()
    known = save(f"{name[:150]} {number}", f"{name[:3_000]} first", tags=tags)
    hidden = hidden_in(name)  # a text with such characters is no skill
    seen = "".join(letter for letter in name[:100] if letter not in hidden)
    steps = save(f"steps-{number} {name[:150]}", STEPS.format(seen))
    row = ActivityRow(
        kind="post",
        agent=name,
        session=f"{name} {number}",
        label=name,
        content=name,
        method=name,
        status=name,
    )
    with opening.open_memory() as memory:
        request = SkillRequest(ref=steps, name=f"steps-{number}", is_for_user=True)
        opening.open_skills(memory).promote(request)
        jobs = Jobs(memory.state())
        jobs.add("links", [known], now_s=1.0)
        job = jobs.take("me", now_s=2.0)
        assert job is not None
        jobs.end(job, "me", problem=name)
        at_ms = int(memory.clocks.now() * 1_000) + number
        ActivityLog(memory.state()).add(row, at_ms, 0)
        proposal = LinkProposal(
            id=f"01K{number:023d}",
            from_ref=known,
            to_ref=steps,
            kind="related_to",
            weight=0.5,
            model=name,
            at="2026-11-21T14:03:11+01:00",
        )
        ModelLinks(memory.state()).propose(proposal)


def inject_into(worktree: Path) -> None:
    """Make a repository, and inject into it."""
    made = make_repo(worktree)
    with opening.open_memory() as memory:
        opening.open_injector(memory).inject(str(made), agent="claude")
