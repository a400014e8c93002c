"""A list of a front matter is changed where it stands."""

from __future__ import annotations

import pytest

from hivemind_memory.markdown.front_matter import split_front_matter, with_values

BLOCK = """\
---
type: lesson
related: # what to read beside it
  # the first is from Ada
  - one # why
  - {id: two, weight: 0.50} # half as much
  - "three, or more"

  # the last
  - id: four
    weight: 1.0
key: k
---
Text.
"""
FLOW = """\
---
related: [one, {id: two, weight: 0.50}, "three, or more", 'a, b'] # all
---
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("dropped", range(4))
@pytest.mark.parametrize("text", [BLOCK, FLOW], ids=["block", "flow"])
def test_what_stays_in_a_list_is_as_it_was_written(
    text: str, dropped: int, newline: str
) -> None:
    """Comments, quotes and weights; lines of their own, too."""
    before = text.replace("\n", newline)
    items = split_front_matter(before).values["related"]
    assert isinstance(items, list)
    left = [one for at, one in enumerate(items) if at != dropped]

    after = with_values(before, {"related": left})

    assert split_front_matter(after).values["related"] == left
    if text is FLOW:
        parts = ["one", "{id: two, weight: 0.50}", '"three, or more"', "'a, b'"]
        del parts[dropped]
        assert after.split(newline)[1] == f"related: [{', '.join(parts)}] # all"
        return
    gone = [
        ["  - one # why"],
        ["  - {id: two, weight: 0.50} # half as much"],
        ['  - "three, or more"'],
        ["  - id: four", "    weight: 1.0"],
    ][dropped]
    assert after.split(newline) == [
        line for line in before.split(newline) if line not in gone
    ]


def test_a_new_item_is_put_among_the_others() -> None:
    """As when what a purged memory had replaced takes its place."""
    after = with_values(BLOCK, {"related": ["one", "new: x", "three, or more"]})

    assert "  - one # why\n" in after
    assert '  - "new: x"\n' in after
    assert '  - "three, or more"\n' in after
    assert "  # the last\n" in after


@pytest.mark.parametrize(
    "text",
    [
        "---\nrelated: [a,\n  b, c] # x\n---\n",
        "---\nrelated:\n- [a, b]\n- - c\n---\n",
        "---\nrelated: !!seq [a, b, c]\n---\n",
        "---\nrelated: [a, b, *c]\n---\n",
        "---\nrelated: ['it''s', \"b\\\"]\", c]\n---\n",
    ],
)
def test_what_lines_do_not_show_is_written_anew(text: str) -> None:
    """Or is left alone; never half of it."""
    values = split_front_matter(text).values
    items = values.get("related")
    if not isinstance(items, list):
        return

    after = with_values(text, {"related": items[1:]})

    assert split_front_matter(after).values == {"related": items[1:]}
