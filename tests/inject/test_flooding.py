"""One agent cannot fill the section, however many sessions it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.access.rules import Caller
from hivemind_memory.context.memory_selection import (
    AGENT_SHARE,
    AGENTS_SHARE,
    ALWAYS_CAP,
    select_excerpts,
)
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.injection import Excerpt, Selection
from hivemind_memory.model.value import replaced
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from tests.inject.conftest import make_home
from tests.inject.repos import make_repo

SESSIONS = 50
COST, BUDGET = 10, 1_000
BUSY = ("swift", "rusty", "amber", "frosty", "silent", "giant")
THINGS = ("kettle", "anchor", "lantern", "saddle", "trumpet", "ladder", "barrel")


def saying(number: int) -> str:
    """Return a text that is unlike the others."""
    words = [f"{BUSY[number % 6]}{number}", f"{THINGS[number % 7]}{number * 7}"]
    return f"{' '.join(words)} is kept at place{number * 13} by rule{number * 17}"


def written(number: int, **more: object) -> Excerpt:
    """Return a memory; an agent's has a session of its own."""
    first = Excerpt(
        path=f"n{number}.md", start_line=1, end_line=2, text=saying(number), score=0.5
    )
    return replaced(first, **more)


def flood(kind: str = "", agent: str = "bee", *, count: int = 200) -> list[Excerpt]:
    """Return what one agent wrote in many sessions, a few memories in each."""
    more: dict[str, object] = {"is_kept": True} if kind == "kept" else {}
    return [
        written(
            1_000 + number,
            agent=agent.format(number),
            session=f"s{number % SESSIONS}",
            score=1.0,
            **more,
        )
        for number in range(count)
    ]


def chosen(kind: str, flooded: list[Excerpt], quiet: list[Excerpt]) -> Selection:
    """Return the selection, with the memories at the places of one kind."""
    both = [*flooded, *quiet]
    always = both if kind in {"kept", "lesson"} else []
    return select_excerpts(
        both if kind == "preference" else [],
        both if kind == "other" else [],
        count=30,
        budget_tokens=BUDGET,
        cost=lambda _: COST,
        always=always,
    )


@pytest.mark.parametrize("kind", ["kept", "lesson", "preference", "other"])
def test_what_people_wrote_is_shown_beside_a_flood(kind: str) -> None:
    """Whatever the flood is made of: it comes first, and is more important."""
    quiet = [written(number, is_kept=kind == "kept") for number in range(12)]

    choice = chosen(kind, flood(kind), quiet)

    assert {one.path for one in quiet} <= {one.path for one in choice.excerpts}
    # Of too many pinned ones, no equal share fits.
    expected = "budget" if kind == "kept" else "agent"
    assert {one.why for one in choice.left_out} <= {expected, "session"}


@pytest.mark.parametrize("kind", ["kept", "lesson", "other"])
def test_another_agent_is_shown_beside_a_flood(kind: str) -> None:
    """Its share is its own."""
    quiet = [
        written(number, agent="ant", session="q", is_kept=kind == "kept")
        for number in range(5)
    ]

    choice = chosen(kind, flood(kind), quiet)

    assert {one.path for one in quiet} <= {one.path for one in choice.excerpts}


def test_an_agent_of_many_names_leaves_people_their_room() -> None:
    """An agent at a shell may call itself anything."""
    quiet = [written(number) for number in range(int(ALWAYS_CAP * (1 - AGENTS_SHARE)))]

    choice = chosen("lesson", flood(agent="bee{}"), quiet)

    assert {one.path for one in quiet} <= {one.path for one in choice.excerpts}


def test_the_only_agent_has_the_whole_room() -> None:
    """Nobody else needs it; and nothing is told of others."""
    choice = chosen("other", flood(), [])

    assert len(choice.excerpts) == 30 > 30 * AGENT_SHARE
    assert {one.why for one in choice.left_out} == {"count"}


def test_the_order_is_that_of_importance_for_whoever_wrote() -> None:
    """What waited for its turn is shown in its own place."""
    choice = chosen("lesson", flood(count=60), [written(1)])

    paths = [one.path for one in choice.excerpts]
    assert paths == [*sorted(paths[:-1]), "n1.md"]


@pytest.mark.parametrize("type_name", ["lesson", "decision", "identity"])
def test_fifty_sessions_of_one_agent_leave_room_for_the_others(
    tmp_path: Path, type_name: str
) -> None:
    """In a real section; `hm why` tells which agent wrote what, and what waited."""
    home, worktree = make_home(tmp_path / "home"), make_repo(tmp_path / "shop")
    mine = [f"The harbour master signs form {n} of {saying(n)}." for n in range(3)]
    with open_memory(home=str(home)) as memory:
        bees = Caller(project="projects/shop", is_agent=True)
        with memory.as_caller(bees) as agent:
            for number in range(SESSIONS):
                agent.save(
                    NewMemory(
                        key=f"noise-{number}",
                        content=f"{saying(100 + number)}. " * 3,
                        type=type_name,
                        importance=1.0,
                        by="bee",
                        session=f"s{number}",
                        scope="projects/shop",
                    )
                )
        for number, text in enumerate(mine):
            memory.save(
                NewMemory(
                    key=f"mine-{number}",
                    content=text,
                    type="lesson",
                    scope="projects/shop",
                    source="human",
                )
            )
        open_injector(memory).inject(str(worktree))
        [record] = InjectionLog(memory.state()).last_records(str(worktree))

    section = (worktree / "CLAUDE.md").read_text(encoding="utf-8")
    assert all(f"> {text}" in section for text in mine)
    agents = [one["agent"] for one in record["memories"]]
    assert agents.count("bee") >= 2
    assert agents.count("") >= len(mine)
    if type_name != "decision":  # of those the count is less than the share
        assert "agent" in {one["why"] for one in record["left_out"]}
