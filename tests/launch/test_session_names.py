"""Names and commands: pure, and for any text."""

from __future__ import annotations

import doctest
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import NotLaunchedError
from hivemind_memory.launch import agents, tmux
from hivemind_memory.launch import session_names as names_of_sessions
from hivemind_memory.launch.session_names import session_names, slug


@given(st.text())
def test_a_slug_is_a_word_that_nothing_expands(text: str) -> None:
    """tmux, shells and git all read it as it is."""
    made = slug(text)

    assert made
    assert len(made) <= 60
    assert all(one.isalnum() or one in "-_" for one in made)
    assert not made.startswith("-")
    assert slug(made) == made


@given(st.text(), st.text(), st.text())
def test_there_is_always_another_name(label: str, agent: str, identity: str) -> None:
    """The plain one may be taken."""
    found = list(islice(session_names(label, agent, identity), 5))

    assert len(set(found)) == 5
    assert all(one.startswith("hm-") for one in found)


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_a_tag_keeps_any_path_on_one_line(text: str) -> None:
    """Also one that is not a text: bytes of a folder that nobody can read."""
    path = text.encode("utf-8", "replace").decode("latin-1")

    tagged = tmux.tag(path)

    assert tagged.isascii()
    assert tagged.isprintable()
    line = f"{tagged}\tclaude\t%1\tx\t1\t0\t7\t0\t\t\n"
    [session] = tmux.sessions_of(line.encode())
    assert session.worktree == path


def test_the_examples_in_the_docstrings_are_so() -> None:
    """They are the shortest description."""
    for module in (agents, names_of_sessions, tmux):
        assert doctest.testmod(module).failed == 0


def test_a_session_is_chosen_by_the_beginning_of_its_name() -> None:
    """`hm sessions` prints long names; a name or an agent of the kind comes first."""
    sessions = [
        session_named("hm-shop-claude"),
        session_named("hm-shop-claude-2"),
        session_named("hm-web-0f3a-codex", "codex"),
    ]

    assert tmux.choose_session(sessions, "hm-shop-claude").name == "hm-shop-claude"
    assert tmux.choose_session(sessions, "hm-w").name == "hm-web-0f3a-codex"
    assert tmux.choose_session(sessions, "codex").name == "hm-web-0f3a-codex"
    for name, problem, named in [
        ("hm-s", "Several sessions begin with hm-s.", sessions[:2]),
        ("claude", "There are several sessions of claude.", sessions[:2]),
        ("cod", "There is no session 'cod'.", sessions),
        (None, "There are several sessions.", sessions),
    ]:
        with pytest.raises(NotLaunchedError) as refused:
            tmux.choose_session(sessions, name)
        assert str(refused.value) == problem
        listed = ", ".join(session.name for session in named)
        assert refused.value.hint == f"Name one: {listed}."


def session_named(name: str, agent: str = "claude") -> tmux.AgentSession:
    """Return a session of a name, as tmux tells it."""
    line = f"/shop\t{agent}\t%1\t{name}\t1\t0\t7\t0\t\t\n"
    [session] = tmux.sessions_of(line.encode())
    return session
