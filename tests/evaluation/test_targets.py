"""Targets of golden questions: what they mean, and what is said of those that don't."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivemind_memory import Memory
from hivemind_memory.evaluation.golden import parse_golden
from hivemind_memory.evaluation.metrics import Lines
from hivemind_memory.evaluation.targets import TargetFinder
from tests.support.sandbox import Sandbox


@pytest.fixture
def memory(sandbox: Sandbox) -> Iterator[Memory]:
    """Notes, and two projects with a memory of one key."""
    sandbox.save("net.md", "# Network\n\nStaging uses port 8443.\n\nOver the VPN.\n")
    head = "---\ntype: decision\nkey: {}\n---\n"
    sandbox.save(
        "day.md", head.format("Deploy Day") + "On Tuesdays only.\nNot later.\n"
    )
    for name in ("shop", "site"):
        sandbox.save(f"projects/{name}/db.md", head.format("db") + "Postgres.\n")
    with sandbox.memory() as opened:
        yield opened


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("net.md:3", Lines("net.md", 3, 3)),
        ("net.md:3-5", Lines("net.md", 3, 5)),
        ("`net.md:3`", Lines("net.md", 3, 3)),
        ("net.md", Lines("net.md", 1, 5)),
        ("deploy_day", Lines("day.md", 5, 6)),
        ("projects/shop/db.md:5", Lines("projects/shop/db.md", 5, 5)),
    ],
)
def test_a_target_means_lines_of_a_note(
    memory: Memory, target: str, expected: Lines
) -> None:
    """A line, a range, a note, or the text of a memory without its front matter."""
    questions = parse_golden(f"- why → {target}\n")

    [judged], problems = TargetFinder(memory).judge(questions)

    assert judged.evidence == (expected,)
    assert problems == []


def test_several_targets_are_several_pieces(memory: Memory) -> None:
    """An answer may need two notes."""
    questions = parse_golden("- why → net.md:3, deploy-day\n- who → Nothing\n")

    [both, none], _ = TargetFinder(memory).judge(questions)

    assert both.evidence == (Lines("net.md", 3, 3), Lines("day.md", 5, 6))
    assert none.evidence == ()


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("gone.md:3", "There is no note gone.md"),
        ("net.md:9", "net.md ends at line 5, before `net.md:9`."),
        ("net.md:4-2", "`net.md:4-2` is not a range of lines."),
        ("net.md:0", "`net.md:0` is not a range of lines."),
        ("deploy-dy", "did you mean `deploy-day`?"),
        ("xyz", "`xyz` is neither a note nor the key of an active memory."),
        ("db", "The key `db` is in"),
        ("nothing, net.md:3", "`nothing` cannot be combined with another target."),
        ("../etc/x.md:1", "cannot be a note"),
        ("", "No target follows the arrow."),
    ],
)
def test_an_unknown_target_is_named_with_its_line(
    memory: Memory, target: str, problem: str
) -> None:
    """The other questions are still asked."""
    questions = parse_golden(f"# Golden\n\n- why → {target}\n- who → net.md:3\n")

    judged, [found] = TargetFinder(memory).judge(questions)

    assert found.line == 3
    assert problem in found.problem
    assert [one.text for one in judged] == ["who"]
