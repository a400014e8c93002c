"""Code is outlined by its structure where a grammar is installed, else by its lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivemind_memory.working import parsed_code
from hivemind_memory.working.code_outline import outline_code, sections_of

GO = """\
package gateway

import (
\t"sync"
\t"time"
)

// Fleet knows where vessels are.
type Fleet struct {
\tmu sync.Mutex
}

// Report keeps the newest position.
func (f *Fleet) Report(
\tat time.Time,
) bool {
\ttext := `
func fake() {
`
\treturn text != ""
}
"""

JAVA = """\
package tickets;

import java.time.Duration;

/** Holds seats. */
public final class SeatLock {
    static final Duration HOLD = Duration.ofMinutes(8);

    /** Gives back what was not paid. */
    @Deprecated
    public int release(Connection db)
            throws SQLException
    {
        return 0;
    }
}
"""


def lines_of(outline: str | None) -> list[int]:
    """Return the numbers of the lines that an outline shows."""
    assert outline is not None
    rows = (row.split(maxsplit=1)[0] for row in outline.split("\n"))
    return [int(number) for number in rows if number.isdigit()]


@pytest.fixture(autouse=True)
def _no_parser_is_kept() -> Iterator[None]:
    """Which grammars there are is asked anew."""
    parsed_code._parser_of.cache_clear()
    yield
    parsed_code._parser_of.cache_clear()


def test_a_definition_in_a_string_of_go_is_none() -> None:
    """By lines it looks like one."""
    pytest.importorskip("tree_sitter_go")

    assert lines_of(outline_code(GO, ".go")) == [1, 3, 4, 5, 6, 9, 14, 15, 16]
    assert [part.title for part in sections_of(GO, ".go")] == ["", "Fleet", "Report"]


def test_a_class_in_java_is_cut_at_its_methods_with_their_comments() -> None:
    """By lines the whole class is one section."""
    pytest.importorskip("tree_sitter_java")

    assert lines_of(outline_code(JAVA, ".java")) == [1, 3, 6, 10, 11, 12]
    found = [(part.start_line, part.title) for part in sections_of(JAVA, ".java")]
    assert found == [(1, ""), (5, "SeatLock"), (9, "release")]


def test_code_with_errors_is_outlined_as_far_as_it_goes() -> None:
    pytest.importorskip("tree_sitter_go")
    broken = GO + "\nfunc broken( {\n"

    assert lines_of(outline_code(broken, ".go"))[:6] == [1, 3, 4, 5, 6, 9]


def test_without_a_grammar_code_is_read_by_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And a comment right above a definition belongs to it all the same."""
    monkeypatch.setattr(parsed_code, "GRAMMARS", {})

    starts = [part.start_line for part in sections_of(GO, ".go")]

    assert starts[:4] == [1, 3, 8, 13]
    assert lines_of(outline_code(GO, ".go"))


def test_a_grammar_that_cannot_be_used_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as one that was built for another version."""
    monkeypatch.setitem(parsed_code.GRAMMARS, ".go", ("json", "loads"))

    assert outline_code(GO, ".go")


def test_code_that_is_nested_too_deep_is_read_by_lines() -> None:
    """Generated code ended the command with a RecursionError."""
    pytest.importorskip("tree_sitter_go")
    deep = f"package a\nvar x = {'(' * 20_000}1{')' * 20_000}\nfunc F() {{}}\n"

    assert lines_of(outline_code(deep, ".go")) == [1, 3]
    assert sections_of(deep, ".go")[-1].start_line == 3


def test_the_comment_above_a_python_function_is_of_its_section() -> None:
    """As in all other languages; a method has one that is as far in as itself."""
    code = (
        "import os\n\n\n# Rounds half up.\n# To cents.\n@cached\ndef half_up(x):\n"
        "    return x\n\n\nclass Cart:\n    size = 1\n# not of add\n"
        "    # Adds a line.\n    def add(self):\n        pass\n"
    )

    found = [(part.start_line, part.title) for part in sections_of(code, ".py")]

    assert found == [(1, ""), (4, "half_up"), (11, "Cart"), (14, "Cart.add")]
