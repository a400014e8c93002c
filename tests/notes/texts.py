"""Texts that look like notes, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

COMMENT = (
    "<!-- hm id=01JDK3R8Z60000000000000000 source=agent "
    "at=2026-11-21T14:03:11+01:00 -->"
)
MARKDOWN_LINES = [
    *[
        "",
        "",
        "",
        "",
        " ",
        "\t",
        "text",
        "more text",
        "日本語。文。",
        "é",
        "\u00a0",
        "$",
    ],
    *["# h", "## h2 ##", "### ", "#### h4", "#no", "   # h", "    # h", "===", "---"],
    *["- x", "- x\n  y", "- x\ny", "  - y", "    - z", "* s", "+ p", "-", "- ", "-\ta"],
    *["1. q", "2. t", "2) r", "10. a", "1234567890. a", "1.5", "12 x", "-5", "* * *"],
    *["- [ ] t", "- [[w]]", "- **b**", "- `c`", "-   wide", "-     wider", "- ```"],
    *["> q", "> > r", ">", "> ```", "> # h", "> - a", "1. # h", "- - w", "- # h"],
    *["```", "```py", "````", "~~~", "   ```", "``c``", "```a```", "***", "__", "*e*"],
    *[
        "| a | b |",
        "|---|---|",
        "a|b",
        "--|--",
        ":-:|-",
        "| x",
        "|",
        "|-|",
        "-|",
        "a\\|b",
    ],
    *[
        "<div>",
        "</div>",
        "<!-- c",
        "-->",
        "<script>",
        "</script>",
        "<b>x</b>",
        "<?",
        "?>",
    ],
    *["[a]: /u", '[a]: /u "t"', "[x] y", "[x]: /u", "[a b", "[x]: <u v>", "(p", '"q'],
]
INDENTS = ["", "", "", "", "", " ", "  ", "    ", "\t", "> ", "- ", "1. "]


def markdown(
    *, max_lines: int = 16, also: tuple[str, ...] = ()
) -> st.SearchStrategy[str]:
    """Return texts of lines that mean something to Markdown, alone or together."""
    line = st.builds(
        str.__add__, st.sampled_from(INDENTS), st.sampled_from([*MARKDOWN_LINES, *also])
    )
    return st.builds(
        lambda lines, end: "\n".join(lines) + end,
        st.lists(line, max_size=max_lines),
        st.sampled_from(["", "\n", "\n\n\n"]),
    )
