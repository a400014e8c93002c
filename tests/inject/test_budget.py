"""The section stays within its budget, and counts what it leaves out."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.cli import main
from hivemind_memory.context.memory_selection import select_excerpts
from hivemind_memory.inject import section
from hivemind_memory.inject.section import (
    CREATED,
    render_body,
    section_body,
    section_tokens,
)
from hivemind_memory.model.injection import Excerpt, SectionPlan, Selection
from tests.inject.repos import git, make_repo
from tests.support.tiers import examples

TEXTS = st.text(
    st.sampled_from("ab \n-#`9.é署🙂")
    | st.characters(exclude_categories=("Cs",), max_codepoint=0x2FFF),
    min_size=1,
    max_size=300,
)


@st.composite
def excerpts(draw: st.DrawFn) -> list[Excerpt]:
    """Memories of any text, place and kind."""
    return [
        Excerpt(
            path=f"projects/shop/{number}.md",
            start_line=1,
            end_line=2,
            text=draw(TEXTS),
            date=draw(st.sampled_from(("", "2026-11-21"))),
            type=draw(st.sampled_from(("", "decision"))),
            key=f"key-{number}",
            score=draw(st.floats(0, 1)),
            session=draw(st.sampled_from(("", "s1"))),
            is_kept=draw(st.booleans()),
        )
        for number in range(draw(st.integers(0, 12)))
    ]


@given(
    found=excerpts(),
    budget=st.integers(300, 900),
    count=st.integers(0, 9),
    has_tools=st.booleans(),
    has_more=st.booleans(),
)
@settings(max_examples=examples(300), deadline=None)
def test_no_section_costs_more_than_its_budget(
    found: list[Excerpt], budget: int, count: int, has_tools: bool, has_more: bool
) -> None:
    """With the heading, the marks and the line about the rest.

    It took 301 of 300 tokens: its own lines were counted for a section with nothing
    in it.
    """
    spare = budget - section._frame_tokens(has_tools=has_tools)
    choice = select_excerpts(
        [],
        [one for one in found if not one.is_kept],
        count=count,
        budget_tokens=spare,
        cost=section._excerpt_tokens,
        always=[one for one in found if one.is_kept],
    )
    planned = SectionPlan(
        body="",
        has_tools=has_tools,
        choice=Selection(
            excerpts=choice.excerpts, left_out=choice.left_out, has_more=has_more
        ),
    )

    assert spare >= 0
    for is_ours in (False, True):
        assert section_tokens(section_body(planned, is_ours=is_ours)) <= budget


@pytest.mark.parametrize("has_tools", [False, True])
@pytest.mark.parametrize("left_out", [0, 1, 99, 100, 999_999])
@pytest.mark.parametrize("is_empty", [False, True])
def test_the_lines_around_the_memories_cost_what_is_reserved_for_them(
    has_tools: bool, left_out: int, is_empty: bool
) -> None:
    """Whatever number the last line says."""
    shown = () if is_empty else (Excerpt(path="", start_line=1, end_line=1, text="x"),)
    cost = sum(map(section._excerpt_tokens, shown))

    body = render_body(
        shown, left_out=left_out, has_more=True, is_ours=True, has_tools=has_tools
    )

    assert section_tokens(body) <= section._frame_tokens(has_tools=has_tools) + cost


def make_plans(tmp_path: Path, count: int, budget: int) -> tuple[Path, Path]:
    """Return a home with plans of the shop, and the shop's repository."""
    home, repo = tmp_path / "home", make_repo(tmp_path / "shop")
    (home / "memory/projects/shop").mkdir(parents=True)
    for number in range(count):
        (home / f"memory/projects/shop/plan-{number}.md").write_text(
            f"# Plan {number}\n\nThe shop deploys service {number} on day {number}.\n",
            encoding="utf-8",
        )
    (home / "config.json").write_text(
        json.dumps({"memory": {"inject_budget_tokens": budget}})
    )
    return home, repo


@pytest.mark.parametrize("is_ours", [False, True])
@pytest.mark.parametrize("budget", range(300, 420, 20))
def test_the_file_costs_what_was_said_and_counts_what_exists(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    budget: int,
    is_ours: bool,
) -> None:
    """The number of the last line, of `hm inject` and of `hm why` is one number."""
    home, repo = make_plans(tmp_path, 11, budget)
    if is_ours:
        (repo / "CLAUDE.md").unlink()
        git(repo, "commit", "-qam", "no CLAUDE.md")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))

    assert main.main(["inject", str(repo)]) == 0
    told, notices = capsys.readouterr()
    assert main.main(["why", "--explain", str(repo)]) == 0
    reasons = capsys.readouterr().out.splitlines()

    written = (repo / "CLAUDE.md").read_text(encoding="utf-8")
    _, _, body = written.partition("<!-- hivemind:begin v1 -->\n")
    body, _, _ = body.partition("\n<!-- hivemind:end -->")
    assert body.startswith(CREATED) is is_ours
    assert section_tokens(body) <= budget
    assert f"about {section_tokens(body)} tokens" in told
    left_out = 11 - sum(line.startswith("injected: ") for line in reasons)
    assert f"\n{left_out} other memories not shown; " in body
    assert f"{left_out} memories left out; " in notices
    assert sum(line.startswith("left out: ") for line in reasons) == left_out


def test_more_memories_than_are_compared_are_not_given_a_number(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only the best answers to each question are looked at; the others exist too."""
    home, repo = make_plans(tmp_path, 60, 1500)
    monkeypatch.setenv("HIVEMIND_HOME", str(home))

    assert main.main(["inject", str(repo)]) == 0

    written = (repo / "CLAUDE.md").read_text(encoding="utf-8")
    [count] = re.findall(
        r"^More than (\d+) other memories not shown;", written, re.MULTILINE
    )
    assert f"more than {count} memories left out; " in capsys.readouterr().err


def test_memories_that_all_were_compared_are_given_their_number(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It said "more than 22" where 22 were left out: no answer alone had them all."""
    home, repo = make_plans(tmp_path, 24, 330)
    for number in range(6):
        plan = home / f"memory/projects/shop/plan-{number}.md"
        plan.write_text(f"# The shop\n\nThe shop is the shop {number}.\n")
        os.utime(plan, (1_600_000_000, 1_600_000_000))
    monkeypatch.setenv("HIVEMIND_HOME", str(home))

    assert main.main(["inject", str(repo)]) == 0
    notices = capsys.readouterr().err
    assert main.main(["why", "--explain", str(repo)]) == 0
    reasons = capsys.readouterr().out.splitlines()

    injected = sum(line.startswith("injected: ") for line in reasons)
    left_out = sum(line.startswith("left out: ") for line in reasons)
    assert injected + left_out == 24
    assert f"{left_out} memories left out; " in notices
    assert "more than" not in notices.casefold()


def test_a_budget_too_small_for_any_memory_does_not_say_that_none_matches() -> None:
    """Both were said, one under the other."""
    body = render_body((), left_out=3)

    assert "No memory matches" not in body
    assert "\n3 memories for this session did not fit; " in body


CODEX_BYTES = 32 * 1024


@pytest.mark.parametrize("free", [1_000, 770, 750, 400, 1, -500])
def test_a_file_with_nearly_no_room_is_said_to_be_the_limit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    free: int,
) -> None:
    """It said: the section takes 209 of 1 tokens (20900 %): see inject_budget_tokens.

    That option changes nothing here, and only one sentence says what does.
    """
    home, repo = make_plans(tmp_path, 40, 1_500)
    (repo / "AGENTS.md").write_text("x" * (CODEX_BYTES - free - 1) + "\n")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))

    for _ in range(2):  # the same when nothing is written
        assert main.main(["inject", "--agent", "codex", str(repo)]) == 0
        told = "".join(capsys.readouterr())

        size = (repo / "AGENTS.md").stat().st_size
        assert "inject_budget_tokens" not in told
        assert "%" not in told
        assert told.count("`hm connect codex --hooks`") == 1
        if size > CODEX_BYTES:
            assert f"AGENTS.md has {size:,} bytes, of which Codex reads 32,768" in told
        else:
            assert f"the file leaves {free:,} of the bytes that Codex reads" in told
