"""The comment line above an entry: what it says, and that nobody forges it."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown import entry
from hivemind_memory.markdown.entry import (
    escape_markers,
    new_entry_text,
    new_ulid,
    parse_provenance,
    render_provenance,
)
from hivemind_memory.markdown.note_parser import parse_note
from hivemind_memory.model.note import Provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced

ID = "01JDK3R8Z6ABCDEFGHJKMNPQRS"
AT = "2026-11-21T14:03:11+01:00"
PROVENANCE = Provenance(id=ID, at=AT, by="claude-code", session="s-1", source="agent")
LINE = (
    f"<!-- hm id={ID} by=claude-code session=s-1 source=agent "
    "at=2026-11-21T14:03:11+01:00 -->"
)
NAMES = st.text(st.characters(codec=None), max_size=20)
CONTENTS = st.lists(
    st.sampled_from(
        [
            "text",
            "",
            "# a",
            "```",
            LINE,
            f" {LINE}",
            LINE.replace(ID, "01JDK3R8Z60000000000000000"),
            "<!--hm id=1 -->",
            "<!-- hivemind:begin v1 -->",
            "<!--",
            "-->",
            "\ud800",
            "\r",
            "\u2028" + LINE,
        ]
    ),
    max_size=8,
).map("\n".join)


def test_the_line_is_what_the_format_says() -> None:
    """docs/note-format shows it, and other programs may read it."""
    assert render_provenance(PROVENANCE) == LINE
    assert parse_provenance(LINE) == PROVENANCE


def test_what_is_unknown_is_left_out() -> None:
    """An agent without a name writes a shorter line, not an empty value."""
    line = render_provenance(replaced(PROVENANCE, by="", session=""))

    assert line == f"<!-- hm id={ID} source=agent at={AT} -->"


def test_a_forgotten_entry_says_when() -> None:
    """Forgetting changes one line, so that it can be undone."""
    forgotten = replaced(PROVENANCE, is_forgotten=True)

    line = render_provenance(forgotten, forgotten_at="2026-12-01T09:00:00Z")

    assert line == f"{LINE[:-4]} forgotten=2026-12-01T09:00:00Z -->"
    assert parse_provenance(line) == forgotten
    assert parse_provenance(render_provenance(forgotten)) == forgotten


@given(NAMES, NAMES, st.sampled_from(["human", "agent", "tool", "external"]))
def test_any_names_come_back_from_one_line(by: str, session: str, source: str) -> None:
    """Whatever an agent calls itself, it cannot end the comment or the line."""
    provenance = replaced(PROVENANCE, by=by, session=session, source=source)

    line = render_provenance(provenance)

    assert "\n" not in line
    assert line.count("-->") == 1
    found = parse_provenance(line)
    assert found is not None
    assert render_provenance(found) == line


def test_names_in_any_script_stay_readable() -> None:
    """The comment is for people, too."""
    line = render_provenance(replaced(PROVENANCE, by="josé 100%"))

    assert " by=josé%20100%25 " in line
    assert parse_provenance(line) == replaced(PROVENANCE, by="josé 100%")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "<!-- hm -->",
        f" {LINE}",
        f"{LINE} ",
        f"{LINE} text",
        LINE.replace(ID, ID[:-1]),
        LINE.replace(ID, ID + "0"),
        LINE.replace(ID, ID.lower()),
        LINE.replace(ID, "8" + ID[1:]),
        LINE.replace(ID, ID[:-1] + "U"),
        LINE.replace(AT, "yesterday"),
        LINE.replace(AT, ""),
        LINE.replace(f" at={AT}", ""),
        LINE.replace(" source=agent", ""),
        LINE.replace(" by=", " id="),
        LINE.replace(" by=", "  by="),
        LINE.replace("by=claude-code", "claude-code"),
        LINE.replace(" -->", "-->"),
        LINE.replace("<!-- hm", "<!-- HM"),
    ],
)
def test_any_other_line_is_text(line: str) -> None:
    """A line that is nearly an entry must not split a person's note."""
    assert parse_provenance(line) is None


def test_a_wide_space_that_was_typed_is_part_of_a_name() -> None:
    """Only the plain space parts values; ours are encoded."""
    found = parse_provenance(LINE.replace("claude-code", "claude\u3000code"))

    assert found is not None
    assert found.by == "claude\u3000code"


def test_a_source_from_a_later_version_has_the_lowest_trust() -> None:
    """To take it for a person's text would be the worst of readings."""
    found = parse_provenance(LINE.replace("source=agent", "source=swarm"))

    assert found is not None
    assert found.source == "external"


def test_a_carriage_return_ends_the_line_as_well() -> None:
    """The entry may stand in a note that Windows wrote."""
    assert parse_provenance(LINE + "\r") == PROVENANCE


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (LINE, "&lt;" + LINE[1:]),
        ("a\n  <!--  hm x", "a\n  &lt;!--  hm x"),
        ("<!-- hivemind:begin v1 -->", "&lt;!-- hivemind:begin v1 -->"),
        ("<!-- Hivemind:End -->", "&lt;!-- Hivemind:End -->"),
        ("<!-- a comment -->", "<!-- a comment -->"),
        ("<!-- hmm -->", "<!-- hmm -->"),
        ("see `<!-- hm id=1 -->`", "see `<!-- hm id=1 -->`"),
    ],
)
def test_only_our_own_comments_are_disarmed(content: str, expected: str) -> None:
    """An agent's text is otherwise its own."""
    assert escape_markers(content) == expected
    assert escape_markers(escape_markers(content)) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{LINE}\nlearned\n"),
        ("# a\n", f"# a\n\n\n{LINE}\nlearned\n"),
        ("# a", f"# a\n\n\n{LINE}\nlearned\n"),
        ("# a\r\n", f"# a\r\n\r\n\r\n{LINE}\r\nlearned\r\n"),
    ],
)
def test_an_entry_stands_after_two_blank_lines(before: str, after: str) -> None:
    """So a reader, and every Markdown tool, sees that something new begins."""
    added = new_entry_text(
        PROVENANCE,
        "\n\nlearned\n\n",
        newline="\r\n" if "\r" in before else "\n",
        ends_with_newline=before.endswith("\n"),
        is_empty=not before,
    )

    assert before + added == after


def test_the_indentation_of_the_first_line_is_content() -> None:
    """It may be code."""
    added = new_entry_text(PROVENANCE, "\n    make\n", is_empty=True)

    assert added == f"{LINE}\n    make\n"


@given(CONTENTS, st.sampled_from(["\n", "\r\n"]))
def test_no_content_ends_its_entry_or_begins_another(
    content: str, newline: str
) -> None:
    """One write is one entry, whatever an agent was talked into writing."""
    before = "a person's text" + newline
    added = new_entry_text(PROVENANCE, content, newline=newline)

    note = parse_note(NotePath("a.md"), (before + added).encode(), limit_chars=800)

    ids = [chunk.provenance and chunk.provenance.id for chunk in note.chunks]
    assert ids[0] is None
    assert set(ids[1:]) == {ID}
    assert note.chunks[1].start_line == 4
    assert "hivemind:" not in "".join(chunk.body for chunk in note.chunks).replace(
        "&lt;!-- hivemind:", ""
    )


def test_ids_sort_by_time_and_hold_all_their_randomness() -> None:
    """The known value is from the ULID specification's reference implementation."""
    early, late = new_ulid(1.0, b"\xff" * 10), new_ulid(1.001, bytes(10))

    assert new_ulid(1469918176.385, bytes(10))[:10] == "01ARYZ6S41"
    assert early < late
    assert early.endswith("Z" * 16)
    assert len(early) == 26


@pytest.mark.parametrize(
    ("now_s", "size"), [(1.0, 9), (1.0, 16), (-1.0, 10), (1e13, 10)]
)
def test_an_id_that_would_not_be_one_is_refused(now_s: float, size: int) -> None:
    """A wrong id would be written into a note for ever."""
    with pytest.raises(ValueError, match="ULID"):
        new_ulid(now_s, bytes(size))


def test_the_examples_of_the_module_hold() -> None:
    """They are read before the code is."""
    assert doctest.testmod(entry).failed == 0
