"""Finds secrets in rows that SQL inserts, by the names of their columns."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import ValueKind, classify_name
from hivemind_memory.redaction.values.letter_check import may_be_any
from hivemind_memory.redaction.values.value_check import is_real
from hivemind_memory.redaction.values.value_score import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_HEAD = lazy_re(
    r"(?i)\binto[ \t]{1,4}[\w.\"`\[\]]{1,80}\s{0,4}\("
    r"(?P<names>[\w\s,\"`\[\]]{3,600})\)\s{1,8}values\s{0,8}"
)
_ROW = lazy_re(r"\s{0,8},?\s{0,8}\((?P<cells>[^()\n]{3,2000})\)")
_CELL = lazy_re(
    r"[ \t]{0,4}(?:[NE]?'(?P<value>(?:[^'\n]|''){0,1000}+)'"
    r"|[^,'\n]{0,200}+)[ \t]{0,4}(?:,|\Z)"
)
_MOST_ROWS = 200
_SHORT = frozenset(("pass", "pw", "pwd"))  # names of columns


def inserted(there: LineWords) -> Iterator[TextSpan]:
    """Yield the values that an ``INSERT`` puts in columns for secrets."""
    for head in there.near(_HEAD, ("into",), below=6):
        names = [name.strip(' \t\r\n"`[]') for name in head["names"].split(",")]
        kinds = [
            ValueKind.PASSWORD if name.lower() in _SHORT else classify_name(name)
            for name in names
        ]
        if not any(kinds):
            continue
        at = head.end()
        for _ in range(_MOST_ROWS):
            row = _ROW.match(there.text, at)
            if row is None:
                break
            at = row.end()
            cells = list(_CELL.finditer(row["cells"]))[: len(names)]
            for name, kind, cell in zip(names, kinds, cells, strict=False):
                if cell["value"] and kind and _is_secret(name, kind, cell["value"]):
                    start = row.start("cells")
                    yield (
                        start + cell.start("value"),
                        start + cell.end("value"),
                        kind.value,
                    )


def _is_secret(name: str, kind: ValueKind, value: str) -> bool:
    """Whether a cell of a column is what its name says."""
    if kind is ValueKind.PASSWORD:
        return may_be_any(value) or held(value)
    return is_real(name, value, kind, firm=True, tight=True)
