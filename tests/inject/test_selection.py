"""Which memories are selected, for which file and which questions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hivemind_memory.context.facets import facets_of
from hivemind_memory.context.memory_selection import (
    ALWAYS_CAP,
    MAX_PER_SESSION,
    select_excerpts,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.git.worktree import (
    WorktreeState,
    normalise_origin,
    project_identity,
)
from hivemind_memory.inject.agent_files import (
    RULES_FILE,
    choose_target,
    head_of,
)
from hivemind_memory.model.agents import PROGRAMS, check_agent
from hivemind_memory.model.injection import Excerpt, Selection
from hivemind_memory.model.value import replaced

TEXTS = (
    "We deploy on Tuesdays only",
    "The staging database listens on port 5433",
    "Never force-push to main",
    "Invoices are printed in German",
    "The cache is warmed at six",
    "Tests need a running broker",
)


def excerpt(
    number: int, *, score: float = 0.5, date: str = "", text: str = ""
) -> Excerpt:
    return Excerpt(
        path=f"note-{number}.md",
        start_line=1,
        end_line=2,
        text=text or TEXTS[number % len(TEXTS)],
        date=date,
        score=score,
    )


def chosen(
    preferences: list[Excerpt],
    others: list[Excerpt],
    *,
    count: int = 5,
    budget: int = 100,
) -> Selection:
    return select_excerpts(
        preferences, others, count=count, budget_tokens=budget, cost=lambda _: 10
    )


def paths(choice: Selection) -> list[str]:
    return [one.path for one in choice.excerpts]


def reasons(choice: Selection) -> list[str]:
    return [one.why for one in choice.left_out]


def test_preferences_come_first_and_the_count_is_for_the_others() -> None:
    """What holds for every project is not paid for with what matters here."""
    choice = chosen(
        [excerpt(0)], [excerpt(n, score=1 / n) for n in range(1, 5)], count=2
    )

    assert paths(choice) == ["note-0.md", "note-1.md", "note-2.md"]
    assert reasons(choice) == ["count", "count"]


def test_one_session_of_an_agent_cannot_fill_the_section() -> None:
    """Whatever it saves, the others keep their places; a person is not bounded."""
    noisy = [replaced(excerpt(n, score=1.0), session="s1") for n in range(6)]
    loud = [replaced(one, text=f"{one.text} {n}") for n, one in enumerate(noisy)]
    quiet = [excerpt(20 + n, score=0.1, text=f"quiet fact {n}{n}") for n in range(9)]

    by_count = chosen([], [*loud, *quiet], count=20, budget=1000)
    by_tokens = chosen([], [*loud, *quiet], count=20, budget=120)

    assert [one.session for one in by_count.excerpts].count("s1") == MAX_PER_SESSION
    assert reasons(by_count) == ["session"]
    assert [one.session for one in by_tokens.excerpts].count("s1") == 3
    assert len(by_tokens.excerpts) == 12


def test_pinned_memories_of_a_session_are_bounded_too() -> None:
    """An agent may pin what it saves."""
    pinned = [
        replaced(excerpt(n, text=f"pin {n} {n * 7}"), session="s1", is_kept=True)
        for n in range(8)
    ]
    choice = select_excerpts(
        [], [], count=5, budget_tokens=1000, cost=lambda _: 10, always=pinned
    )

    assert len(choice.excerpts) == MAX_PER_SESSION
    assert set(reasons(choice)) == {"session"}


def test_preferences_leave_half_of_the_budget_to_the_others() -> None:
    """A long global.md must not silence every project."""
    preferences = [excerpt(n, text=f"preference {n}" * n) for n in range(9)]

    others = [excerpt(20 + n, text=f"fact {n}" * (n + 1)) for n in range(3)]

    choice = chosen(preferences, others, budget=60)

    shown = paths(choice)
    assert shown[:3] == ["note-0.md", "note-1.md", "note-2.md"]
    assert sorted(shown[3:]) == ["note-20.md", "note-21.md", "note-22.md"]
    assert reasons(choice) == ["budget"] * 6


@pytest.mark.parametrize("agent", ["", "bot"])
def test_a_preference_beyond_its_share_gets_the_room_that_is_left(agent: str) -> None:
    """It was refused for the share of preferences after all others had their turn."""
    preferences = [
        replaced(excerpt(n, text=f"preference {n}" * n), agent=agent) for n in range(7)
    ]

    choice = chosen(preferences, [excerpt(20)], budget=60)

    assert paths(choice) == [*(f"note-{n}.md" for n in range(5)), "note-20.md"]
    assert set(reasons(choice)) == {"agent" if agent else "budget"}


def test_what_a_memory_costs_is_asked_once() -> None:
    """The answer renders and masks it: two or three times for each memory."""
    asked: list[str] = []

    def cost(one: Excerpt) -> int:
        asked.append(one.path)
        return 10

    mine = [replaced(excerpt(n), agent="bot") for n in range(6)]
    select_excerpts(mine[:3], mine[3:], count=5, budget_tokens=50, cost=cost)

    assert sorted(asked) == sorted({one.path for one in mine})


def test_kept_memories_take_no_place_of_a_lesson() -> None:
    """As many pinned memories as there may be lessons left no place for any."""
    pinned = [
        replaced(excerpt(n, text=f"pin {n} {n * 7}"), is_kept=True)
        for n in range(ALWAYS_CAP)
    ]
    lessons = [excerpt(n, text=f"lesson {n} {n * 7}") for n in range(100, 160)]

    choice = select_excerpts(
        [],
        [],
        count=5,
        budget_tokens=10_000,
        cost=lambda _: 10,
        always=[*pinned, *lessons],
    )

    assert len(choice.excerpts) == 2 * ALWAYS_CAP
    assert reasons(choice) == ["cap"] * 10


def test_lessons_of_an_agent_leave_preferences_their_room() -> None:
    """They took half of the budget, and all preferences had to fit in that half."""
    lessons = [
        replaced(excerpt(n, text=f"lesson {n} {n * 7}"), agent="bot", session=f"s{n}")
        for n in range(12)
    ]
    preferences = [excerpt(n, text=f"preference {n}" * n) for n in range(20, 26)]

    choice = select_excerpts(
        preferences,
        [excerpt(40)],
        count=5,
        budget_tokens=120,
        cost=lambda _: 10,
        always=lessons,
    )

    shown = paths(choice)
    assert {"note-20.md", "note-21.md", "note-22.md", "note-40.md"} <= set(shown)
    assert "note-23.md" not in shown


def test_what_does_not_fit_is_skipped_and_counted() -> None:
    """A shorter memory after it may still fit."""
    others = [excerpt(0, score=0.9), excerpt(1, score=0.5)]
    costs = {"note-0.md": 50, "note-1.md": 10}

    choice = select_excerpts(
        [], others, count=5, budget_tokens=20, cost=lambda one: costs[one.path]
    )

    assert paths(choice) == ["note-1.md"]
    assert reasons(choice) == ["budget"]


def test_a_copy_takes_no_place() -> None:
    """The same sentence twice costs twice and says nothing."""
    copy = excerpt(9, score=0.8, text=TEXTS[0])

    choice = chosen([], [excerpt(0, score=0.9), copy])

    assert paths(choice) == ["note-0.md"]
    assert reasons(choice) == ["copy"]


@pytest.mark.parametrize(
    "differing",
    [
        ("5", "6"),
        ("shop", "blog"),
        ("before", "after"),
        ("必须", "不要"),
    ],
)
def test_rules_that_differ_in_a_word_are_both_shown(differing: tuple[str, str]) -> None:
    """Four of five rules were left out as "the same as another memory"."""
    rule = "Always check the deploy of the public service {} the next release goes out."
    texts = [rule.format(word) for word in differing]
    rules = [excerpt(number, text=text) for number, text in enumerate(texts)]

    for selection in (chosen(rules, []), chosen([], rules)):
        assert {memory.text for memory in selection.excerpts} == set(texts)


def test_a_copy_without_a_little_word_takes_no_place() -> None:
    """Whichever of them comes first."""
    text = "Run the linter, then it is time for all the tests."
    shorter = "Run linter, then it is time for all tests."
    for texts in ((text, shorter), (shorter, text)):
        selection = chosen([], [excerpt(n, text=each) for n, each in enumerate(texts)])

        assert len(selection.excerpts) == 1
        assert [left.why for left in selection.left_out] == ["copy"]


def test_something_new_goes_before_more_of_the_same() -> None:
    """Five memories of one matter are worth less than of five."""
    more = excerpt(7, score=0.85, text="We deploy on Tuesdays and Thursdays only")

    choice = chosen([], [excerpt(0, score=0.9), more, excerpt(1, score=0.8)])

    assert paths(choice) == ["note-0.md", "note-1.md", "note-7.md"]


def test_the_order_in_which_they_come_does_not_matter() -> None:
    """Otherwise two launches would write two different sections."""
    others = [excerpt(n, score=(n % 3) / 3, date=f"2026-11-0{n + 1}") for n in range(6)]
    chance = random.Random(3)
    expected = chosen([], others, count=3)

    for _ in range(20):
        chance.shuffle(others)
        assert chosen([], others, count=3).excerpts == expected.excerpts


def test_the_newest_of_equals_comes_first() -> None:
    """What was decided last is what holds."""
    old, new = excerpt(1, date="2025-01-01"), excerpt(2, date="2026-01-01")

    assert paths(chosen([], [excerpt(0), old, new])) == [
        "note-2.md",
        "note-1.md",
        "note-0.md",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Acme/Shop.git",
        "https://github.com/Acme/Shop",
        "https://ann:secret@GitHub.com:443/Acme/Shop.git/",
        "ssh://git@github.com:22/Acme/Shop.git",
        "github.com:Acme/Shop",
    ],
)
def test_every_way_to_write_a_remote_is_one_project(url: str) -> None:
    """A clone by ssh and one by https share their memories."""
    assert normalise_origin(url) == "github.com/Acme/Shop"


def test_without_a_remote_the_git_folder_is_the_project() -> None:
    """All worktrees of a repository share it."""
    local = WorktreeState(folder="/trees/a", common_dir="/src/shop/.git")

    assert project_identity(local) == "/src/shop/.git"
    assert project_identity(WorktreeState(folder="/plain")) == "/plain"
    assert normalise_origin("/srv/git/shop.git") == "/srv/git/shop"
    assert normalise_origin("file:///srv/git/shop.git") == "/srv/git/shop"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann@host:shop.git", "bob@host:shop.git"),
        ("ssh://ann@host/~/shop", "ssh://bob@host/~/shop"),
        ("ann@host:srv/shop.git", "ann@host:/srv/shop.git"),
        ("ssh://localhost:3000/a/b", "ssh://localhost:4000/a/b"),
        ("https://host/a/b", "https://host:8443/a/b"),
        ("https://host:22/a/b", "https://host/a/b"),
    ],
)
def test_what_may_be_another_repository_is_another_project(
    one: str, other: str
) -> None:
    """A path in a home folder depends on the user, and a server on its port."""
    assert normalise_origin(one) != normalise_origin(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann@host:shop.git", "ssh://ann@HOST:22/~/shop"),
        ("ann@host:/srv/shop.git", "ssh://bob@host/srv/shop"),
        ("git@host:group/shop", "https://host/group/shop.git"),
        ("https://ann@host/a/b", "https://host:443/a/b"),
        ("git://host:9418/a/b", "http://host:80/a/b"),
    ],
)
def test_what_is_the_same_repository_is_one_project(one: str, other: str) -> None:
    """However it is written."""
    assert normalise_origin(one) == normalise_origin(other)


@pytest.mark.parametrize("url", ["../upstream", "./mirror", "upstream.git", ".."])
def test_a_relative_remote_belongs_to_its_repository(url: str) -> None:
    """Two unrelated repositories may write the same one, and mean different ones."""
    one = WorktreeState(folder="/x/task", common_dir="/x/shop/.git", origin=url)
    two = WorktreeState(folder="/y/shop", common_dir="/y/shop/.git", origin=url)

    assert project_identity(one).startswith("/x")
    assert project_identity(two) != project_identity(one)


def test_a_remote_on_this_machine_is_known_by_its_real_path(tmp_path: Path) -> None:
    """However it is written, and through links."""
    (tmp_path / "real.git").mkdir()
    (tmp_path / "link").symlink_to("real.git")
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    urls = ["../real", "../real.git/", "../link", f"{tmp_path}/link", "./../real.git"]
    urls += [f"file://{tmp_path}/real.git", f"file://localhost{tmp_path}/link"]

    names = {normalise_origin(url, str(tmp_path / "shop")) for url in urls}

    assert names == {str(tmp_path / "real")}


def test_the_questions_are_made_of_what_is_being_worked_on() -> None:
    """Each by itself: a memory that answers one of them is worth showing."""
    state = WorktreeState(
        folder="/trees/fix-cart",
        origin="git@github.com:acme/web-shop.git",
        branch="ann/cart-rounding",
        subjects=("fix(cart): round once", "Raise prices"),
        changed=("src/cart_total.py", "docs/cart.md"),
    )

    told = {(facet.name, facet.text) for facet in facets_of(state)}

    assert told == {
        ("project", "web shop"),
        ("folder", "fix cart"),
        ("branch", "ann cart rounding"),
        ("files", "cart total cart"),
        ("commit", "round once"),
        ("commit", "Raise prices"),
    }


def test_a_plain_folder_asks_for_its_name() -> None:
    """There is nothing else to go by."""
    assert [f.text for f in facets_of(WorktreeState(folder="/plain/garden"))] == [
        "garden"
    ]


@pytest.mark.parametrize(
    ("agent", "setting", "there", "file"),
    [
        ("", "CLAUDE.md", (), "CLAUDE.md"),
        ("claude", "CLAUDE.md", (), "CLAUDE.md"),
        ("claude", "CLAUDE.local.md", (), "CLAUDE.local.md"),
        ("claude", ".claude/rules/", (), RULES_FILE),
        ("claude", ".claude/rules", (), RULES_FILE),
        ("codex", "CLAUDE.md", (), "AGENTS.md"),
        ("codex", "CLAUDE.local.md", (), "AGENTS.md"),
        ("cursor", "CLAUDE.md", (), "AGENTS.md"),
        ("opencode", "CLAUDE.md", (), "AGENTS.md"),
        ("opencode", "CLAUDE.md", ("CLAUDE.md",), "CLAUDE.md"),
        ("opencode", "CLAUDE.md", ("CLAUDE.md", "AGENTS.md"), "AGENTS.md"),
        ("gemini", "CLAUDE.md", (), "GEMINI.md"),
        ("somebody", "CLAUDE.md", (), "AGENTS.md"),
        ("gemini", "docs/for-agents.md", (), "docs/for-agents.md"),
        ("claude", "AGENTS.md", (), "AGENTS.md"),
    ],
)
def test_each_agent_gets_the_file_that_it_reads(
    agent: str, setting: str, there: tuple[str, ...], file: str
) -> None:
    """A section that nobody reads is only a change to somebody's file."""
    assert choose_target(agent, setting, lambda name: name in there).file == file


def test_a_claude_file_that_we_make_does_not_hide_agents_md() -> None:
    """Claude Code stops reading AGENTS.md where there is a CLAUDE.md."""
    assert head_of("CLAUDE.md", lambda name: name == "AGENTS.md") == b"@AGENTS.md\n"
    assert head_of("CLAUDE.md", lambda _: False) == b""
    assert head_of(RULES_FILE, lambda _: True) == b""
    # It was hidden before.
    assert head_of("CLAUDE.local.md", lambda _: True) == b""


@pytest.mark.parametrize("name", ["cluade", "Claud", "codx", "gemni", "open-code"])
def test_a_mistyped_agent_is_refused_with_the_right_name(name: str) -> None:
    """Else its section would go into AGENTS.md, which that agent may not read."""
    with pytest.raises(UsageError, match="is not an agent") as caught:
        check_agent(name)

    assert caught.value.hint.startswith("Did you mean ")


@pytest.mark.parametrize("name", ["", "pi", "amp", "my-own-agent", "Claude", *PROGRAMS])
def test_an_agent_of_any_other_name_is_accepted(name: str) -> None:
    """There are more than we know, and most read AGENTS.md."""
    check_agent(name)
