"""A SKILL.md is valid for every reader, whatever its memory says."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import UsageError
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced
from hivemind_memory.skills.package import (
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    check_description,
    skill_name,
    skill_text,
    why_no_skill,
)
from hivemind_memory.state.skills import Skill
from tests.skills.bench import STEPS

SKILL = Skill(
    name="deploy", scope="", ref="01M80JBHRKPTRHKEJQQCVB56P4", key="d", version=3
)
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def memory(text: str = STEPS, **more: object) -> StoredMemory:
    """A memory that can be a skill, unless *more* says otherwise."""
    usual = StoredMemory(
        path=NotePath("deploy-shop.md"),
        id="01M80JBHRKPTRHKEJQQCVB56P4",
        key="deploy-shop",
        type="lesson",
        scope="",
        status="active",
        text=text,
        start_line=1,
        end_line=5,
        source="agent",
    )
    return replaced(usual, **more)


def head_of(text: str) -> dict[str, object]:
    """Return the front matter of a SKILL.md, as YAML reads it."""
    begin, head, _ = text.split("---\n", 2)
    assert begin == ""
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


@given(
    st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=3_000),
    st.lists(st.text(max_size=30), max_size=5),
)
def test_the_front_matter_is_valid_whatever_the_memory_says(
    above: str, tags: list[str]
) -> None:
    """A quote, a colon or a line of dashes must not end it."""
    shown = memory(f"{above}\n\n1. One.\n2. Two.\n", tags=tuple(tags))

    text = skill_text(SKILL, shown, name="deploy")

    head = head_of(text)
    description = head["description"]
    assert set(head) == {"name", "description", "metadata"}
    assert head["name"] == "deploy"
    assert isinstance(description, str)
    assert 0 < len(description) <= MAX_DESCRIPTION_CHARS
    assert not {"<", ">", "\n"} & set(description)
    assert head["metadata"] == {
        "hivemind-memory": SKILL.ref,
        "hivemind-version": "3",
    }
    assert text.endswith(shown.text.strip("\n") + "\n")


def test_the_description_says_what_stands_above_the_steps() -> None:
    """And for what the memory is tagged; that is all an agent sees at first."""
    text = skill_text(SKILL, memory(tags=("deploy", "shop")), name="deploy")

    assert head_of(text)["description"] == (
        "How the zanzibar shop is deployed. Use it for: deploy, shop."
    )


@given(st.text(max_size=200))
def test_a_name_is_one_of_the_format_or_there_is_none(key: str) -> None:
    """A key may be anything."""
    try:
        name = skill_name("", key)
    except UsageError:
        return
    assert NAME.fullmatch(name)
    assert len(name) <= MAX_NAME_CHARS


@pytest.mark.parametrize(
    "name",
    ["Deploy", "-a", "a-", "a--b", "a_b", "../x", "a/b", "a" * 65, "claude-x", "é"],
)
def test_a_name_that_agents_would_refuse_is_refused_here(name: str) -> None:
    """Before anything is written."""
    with pytest.raises(UsageError, match="Nothing was promoted"):
        skill_name(name, "key")


@pytest.mark.parametrize("text", ["x" * 1_025, "for <b>all</b>"])
def test_a_description_that_agents_would_refuse_is_refused_here(text: str) -> None:
    """Before anything is written."""
    with pytest.raises(UsageError, match="Nothing was promoted"):
        check_description(text)


@pytest.mark.parametrize(
    ("why", "changed"),
    [
        ("is pending", {"status": "pending"}),
        ("is forgotten", {"status": "forgotten"}),
        ("is superseded", {"status": "superseded"}),
        ("its source is external", {"source": "external"}),
        ("its source is tool", {"source": "tool"}),
        ("its source is external", {"source": "https://example.com"}),
        ("no typed memory", {"type": ""}),
        ("no typed memory", {"id": ""}),
        (
            "has fewer than two numbered steps",
            {"text": "Run make.\n\n- then\n- wait\n"},
        ),
        ("has fewer than two numbered steps", {"text": "```\n1. One.\n2. Two.\n```\n"}),
        ("has fewer than two numbered steps", {"text": "1. One.\n"}),
        ("a secret", {"text": STEPS + "4. export DB_PASSWORD='x9!kfT2#pa'\n"}),
        ("on line 2", {"text": "1. Now\n2. Run !`rm -r x`.\n3. Wait.\n"}),
        ("on line 3", {"text": "1. One.\n2. Two.\n```!\nrm -r x\n```\n"}),
        ("U+202E", {"text": f"{STEPS}4. Pay \u202e001.\n"}),
        ("U+001B", {"text": f"{STEPS}4. Pay \x1b[8m001.\n"}),
        ("U+E0041", {"text": f"{STEPS}4. Pay \U000e0041.\n"}),
        ("on line 4", {"text": "1. One.\n2. Two.\n```text\n```!\nrm x\n```\n"}),
        ("on line 3", {"text": "1. One.\n2. Two.\n    ~~~ !\n    rm x\n    ~~~\n"}),
        ("on line 3", {"text": "1. One.\n2. Two.\n> - ```!\n> rm x\n> ```\n"}),
        ("on line 3", {"text": "1. One.\n2. Two.\n~~~ !\nrm -r x\n~~~\n"}),
    ],
)
def test_what_no_agent_should_follow_is_no_skill(
    why: str, changed: dict[str, object]
) -> None:
    """Text in `!`-backticks is run by Claude Code before its model sees it."""
    refusal = why_no_skill(memory(**changed))

    assert refusal is not None
    assert why in refusal.why


def test_a_trusted_list_of_steps_is_one() -> None:
    """From a person or an agent, numbered with dots or brackets."""
    assert why_no_skill(memory()) is None
    assert why_no_skill(memory("1) One.\n2) Two.\n", source="human")) is None
