"""Texts that look like notes, for property tests."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

COMMENT = (
    "<!-- hm id=01JDK3R8Z60000000000000000 source=agent "
    "at=2026-11-21T14:03:11+01:00 -->"
)
_LINES = json.loads(
    Path(__file__)
    .parents[2]
    .joinpath("fixtures/markdown_lines.json")
    .read_text("utf-8")
)
_INDENTS = ["", "", "", "", "", " ", "  ", "    ", "\t", "> ", "- ", "1. "]


def markdown(
    *, max_lines: int = 16, also: tuple[str, ...] = ()
) -> st.SearchStrategy[str]:
    """Return texts of lines that mean something to Markdown, alone or together."""
    line = st.builds(
        str.__add__,
        st.sampled_from(_INDENTS),
        st.sampled_from(["", " ", "text"]) | st.sampled_from([*_LINES, *also]),
    )
    return st.builds(
        lambda lines, end: "\n".join(lines) + end,
        st.lists(line, max_size=max_lines),
        st.sampled_from(["", "\n", "\n\n\n"]),
    )
