"""Messages are found by words, newest first, by those who may see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.model.activity import MAX_CONTENT_CHARS, ActivityQuery
from hivemind_memory.redaction import detection, redact
from hivemind_memory.transcripts.rows import call_row, posted_row
from tests.support.sandbox import Sandbox
from tests.transcripts.places import (
    activity_over,
    claude_line,
    put_claude,
    put_recorded,
)

SHOP = Caller(project="projects/shop", is_agent=True)
WEB = Caller(workspace="workspaces/web", project="projects/shop", is_agent=True)
CHILD = Caller(
    workspace="workspaces/web",
    project="projects/shop",
    is_agent=True,
    is_root=False,
)
VISITOR = Caller(is_root=False, is_member=False, project="projects/shop")
NOBODY = Caller(is_agent=True)
DAYS = 36_000


def find(
    sandbox: Sandbox, user: Path, text: str, caller: Caller = OWNER, **query: object
) -> list[str]:
    """Return the contents of the hits."""
    scopes = {"/shop": "projects/shop", "/site": "projects/site"}
    with activity_over(
        sandbox,
        user,
        caller=caller,
        session_days=DAYS,
        find_scope=lambda folder: scopes.get(folder, ""),
    ) as activity:
        asked = ActivityQuery(text=text, **query)  # type: ignore[arg-type]
        return [hit.content for hit in activity.search(asked).hits]


@pytest.fixture
def talks(sandbox: Sandbox, user: Path) -> Path:
    """Sessions in two projects and in none."""
    for at, folder in enumerate(("/shop", "/site", "")):
        name = folder.strip("/") or "none"
        lines = [
            claude_line(f"gauge in {name}", second=at, cwd=folder, sessionId=name),
            claude_line("東京の天気と user_id", second=at + 10, cwd=folder),
        ]
        put_claude(user, lines, name)
    return user


@pytest.mark.parametrize(
    ("caller", "names"),
    [
        (OWNER, ["none", "site", "shop"]),
        (SHOP, ["shop"]),
        (WEB, ["shop"]),
        (Caller(project="projects/site", is_agent=True), ["site"]),
        (Caller(project="projects/other", teams=("teams/shop",)), []),
        (CHILD, []),
        (VISITOR, []),
        (NOBODY, []),
    ],
)
def test_a_caller_finds_the_sessions_of_its_own_project(
    sandbox: Sandbox, talks: Path, caller: Caller, names: list[str]
) -> None:
    """Each as in a memory that never had the others; a list and an id tell no more."""
    assert find(sandbox, talks, "gauge", caller) == [f"gauge in {one}" for one in names]
    with activity_over(sandbox, talks, session_days=DAYS) as activity:
        hits = activity.search(ActivityQuery(text="gauge")).hits
    with activity_over(sandbox, talks, caller=caller, session_days=DAYS) as activity:
        listed = activity.sessions(ActivityQuery())
        assert len(listed) == len(names)
        for hit in hits:
            is_seen = hit.content.rpartition(" ")[2] in names
            if is_seen:
                assert activity.show(hit.id).hit.content == hit.content
            else:
                with pytest.raises(MemoryNotFoundError):
                    activity.show(hit.id)


@pytest.mark.parametrize(
    ("caller", "labels"),
    [
        (OWNER, ["d", "c", "b", "a"]),
        (SHOP, ["c", "a"]),
        (WEB, ["d", "c", "a"]),
        (CHILD, ["d", "c"]),
        (VISITOR, []),
        (NOBODY, []),
    ],
)
def test_a_caller_finds_the_rows_of_its_own(
    sandbox: Sandbox, user: Path, caller: Caller, labels: list[str]
) -> None:
    """Who is not root: of its own workspace alone."""
    with activity_over(sandbox, user) as activity:
        for label, who in (("a", SHOP), ("b", None), ("c", CHILD)):
            activity.add(call_row(who, label=label, request="{}", error=""))
        activity.add(posted_row(workspace="workspaces/web", label="d", content="x"))

    with activity_over(sandbox, user, caller=caller) as activity:
        hits = activity.search(ActivityQuery()).hits

    assert [hit.label for hit in hits] == labels


@pytest.mark.parametrize("start", range(8_166, 8_190, 3))
def test_no_half_of_a_secret_is_kept_of_a_long_row(start: int) -> None:
    """Keys before it shrink to marks: what is read last is within what is kept."""
    lines = "".join(f"{'MIIEowIBAAKCAQEAx7Zk' * 3}{at:02}\n" for at in range(25))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\n"
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO" + "5pQ7rS9tU1vW3xY5"
    begin = (key * 4).ljust(start, ".")

    row = posted_row(workspace="workspaces/web", label="d", content=f"{begin} {token}")

    assert "ghp_" not in row.content


@pytest.mark.parametrize(
    ("word", "guess"),
    [
        ("zanzibar", "zanzibar"),
        ("zanzibar", "zánzibar"),  # another accent
        ("Krähennest", "krahennest"),  # none
        ("crowing", "crowed"),  # another ending
        ("teapots", "gauge teapots"),  # with a word that is shown
        ("teapots", "gauge tea cups téapots"),  # with some that nothing has
    ],
)
def test_a_word_that_is_masked_finds_no_more_than_a_wrong_guess(
    sandbox: Sandbox,
    user: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    guess: str,
) -> None:
    """In any form: each right guess would tell a word of the secret."""
    secret = f"{word} velvet trombone"
    put_claude(user, [claude_line("gauge"), claude_line(f"gauge {secret}", second=1)])
    wrong = " ".join([*guess.split()[:-1], "guppies"])
    assert find(sandbox, user, "trombone") == [f"gauge {secret}"]
    with activity_over(sandbox, user, session_days=DAYS) as activity:
        activity.add(posted_row(workspace="workspaces/web", label="d", content=secret))
    for module in (redact, detection):
        monkeypatch.setattr(module, "secret_values", lambda: (secret,), raising=False)

    shown = find(sandbox, user, "gauge")

    assert shown == ["gauge [redacted:vault-value]", "gauge"]
    assert find(sandbox, user, guess) == find(sandbox, user, wrong)
    assert find(sandbox, user, guess, max_results=1) == find(
        sandbox, user, wrong, max_results=1
    )


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("gauges", True),  # another form of the word
        ("GAUGE shop", True),
        ("東京", True),
        ("天気", True),
        ("userId", True),
        ("user id", True),
        ("what about the gauge?", True),
        ('"gauge" OR NEAR(x)', False),
        ("gauge nowhere", True),  # nothing has all the words: those with the most
        ("nowhere", False),
        ("*", False),
        ("'; --", False),
    ],
)
def test_any_text_is_a_legal_query(
    sandbox: Sandbox, talks: Path, text: str, is_found: bool
) -> None:
    found = find(sandbox, talks, text)

    assert bool(found) == is_found or "gauge" in text


def test_what_has_some_of_the_words_is_said_to_be_partial(
    sandbox: Sandbox, talks: Path
) -> None:
    with activity_over(sandbox, talks, session_days=DAYS) as activity:
        whole = activity.search(ActivityQuery(text="gauge shop"))
        part = activity.search(ActivityQuery(text="gauge shop nowhere"))

    assert (whole.is_partial, part.is_partial) == (False, True)
    assert [hit.content for hit in part.hits] == ["gauge in shop"]


def test_agent_time_and_number_narrow_a_search(sandbox: Sandbox, user: Path) -> None:
    put_recorded(user)

    for agent in ("claude", "codex", "gemini", "opencode", "qwen"):
        assert len(find(sandbox, user, "gauge", agent=agent)) == 1
    assert len(find(sandbox, user, "gauge")) == 5
    assert len(find(sandbox, user, "gauge", max_results=2)) == 2
    assert find(sandbox, user, "gauge", agent="nobody") == []
    assert find(sandbox, user, "gauge", since_s=4e9) == []


def test_a_long_text_is_shown_around_its_match(sandbox: Sandbox, user: Path) -> None:
    put_claude(user, [claude_line(f"{'far ' * 900}gauge{' off' * 900}")])

    [shown] = find(sandbox, user, "gauge")

    assert "gauge" in shown
    assert len(shown) <= MAX_CONTENT_CHARS
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_hit_is_opened_with_what_was_said_around_it(
    sandbox: Sandbox, user: Path
) -> None:
    file = put_claude(user, [claude_line(f"line {at}", second=at) for at in range(9)])
    with activity_over(sandbox, user, session_days=DAYS) as activity:
        [hit] = activity.search(ActivityQuery(text='"line 4"', max_results=1)).hits[:1]
        shown = activity.show(
            next(
                one.id
                for one in activity.search(ActivityQuery(text="line")).hits
                if one.content == "line 4"
            ),
            around=2,
        )

    assert hit
    assert shown.hit.place == f"{file}:5"
    assert [one.content for one in shown.before] == ["line 2", "line 3"]
    assert [one.content for one in shown.after] == ["line 5", "line 6"]


@pytest.mark.parametrize("public", ["", "x", "t", "tzz", "t" + "f" * 16, "a1", "t1"])
def test_what_is_no_id_is_not_there(sandbox: Sandbox, user: Path, public: str) -> None:
    with activity_over(sandbox, user) as activity, pytest.raises(MemoryNotFoundError):
        activity.show(public)
