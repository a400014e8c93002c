"""Outlines source code: imports, definitions and where they are; and its sections.

Python is read with ``ast``, so that a ``def`` inside a string is no definition. Other
languages are read with tree-sitter where it is installed with their grammar, else line
by line: a line that begins like a definition, at most one step indented, is one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hivemind_memory.markdown.text import split_lines
from hivemind_memory.model.display import count_text
from hivemind_memory.working.parsed_code import definitions_of

PYTHON = (".py", ".pyi")

_DEFINITION = re.compile(
    r"(?:\t| {2}| {4})?"
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract"
    r"|async|pub(?:\([a-z]+\))?|unsafe|override|virtual|inline|extern|declare|const)\s+)*"
    r"(?:function\b|class\b|interface\b|type\s+\w|enum\b|struct\b|impl\b|trait\b|fn\b"
    r"|func\b|def\b|module\b|namespace\b|package\b|import\b|use\b|using\b|from\s+\S"
    r"|#include\b|create\s+(?:or\s+replace\s+)?(?:unique\s+)?"
    r"(?:table|view|index|function|trigger)\b|record\b|object\b|sub\b|proc\b"
    r"|const\s+\w+\s*=\s*(?:async\s*)?(?:\(|function)"
    r"|[\w<>\[\],*&: ]+\s\**\w+\([^;]*\)\s*(?:const\s*)?\{\s*$)",
    re.IGNORECASE,
)
_KEYWORD_CALL = re.compile(r"\s*(?:if|for|while|switch|return|else|catch|elif)\b")
_COMMENT = re.compile(r"(?://|/?\*|--\s|#(?!include)|@\w|\s\*|\s?\*/)")
"""A line of a comment, or an annotation, above a definition."""

HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
"""A heading of Markdown."""


class Section(NamedTuple):
    """Whole lines of a file that belong together."""

    start_line: int
    """From 1."""

    end_line: int
    """Itself included."""

    title: str
    """The definition or heading that it begins with; empty: the top of the file."""


def outline_code(text: str, suffix: str, first_line: int = 1) -> str | None:
    """Return the lines that say what is defined, with their numbers.

    Args:
        text: Source code.
        suffix: Of its file, ``.py``.
        first_line: Number of its first line in the file.

    Returns:
        None if nothing in it looks like a definition.
    """
    lines = split_lines(text)
    kept = _python_lines(text) if suffix in PYTHON else _parsed_lines(text, suffix)
    if kept is None:
        kept = {n for n, line in enumerate(lines, start=1) if is_definition(line)}
    if not kept:
        return None
    return "\n".join(_numbered(lines, sorted(kept), first_line))


def _parsed_lines(text: str, suffix: str) -> set[int] | None:
    """Return the lines of imports and signatures; None: there is no parser."""
    found = definitions_of(text, suffix)
    if not found:
        return None
    return {
        line
        for part in found
        for line in range(part.start_line, part.signature_end + 1)
    }


def is_definition(line: str) -> bool:
    """Return whether a line of some language begins a definition or is an import."""
    found = _DEFINITION.match(line) is not None
    return found and _KEYWORD_CALL.match(line) is None


def _python_lines(text: str) -> set[int] | None:
    """Return the lines of imports, decorators and signatures; None: it is no Python."""
    tree = _parsed(text)
    if tree is None:
        return None
    kept: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kept.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min(
                (decorator.lineno for decorator in node.decorator_list),
                default=node.lineno,
            )
            # The body of `def f(): ...` may begin on the same line.
            last = max(node.lineno, node.body[0].lineno - 1)
            kept.update(range(first, last + 1))
    return kept


def _parsed(text: str) -> ast.Module | None:
    """Return Python code as a tree; None: it is none."""
    import warnings

    try:
        with warnings.catch_warnings():
            # An invalid escape is the author's business.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _numbered(lines: Sequence[str], kept: Iterable[int], first: int) -> Iterator[str]:
    """Yield the lines that are kept with their numbers, and how many lie between."""
    before = 0
    for number in kept:
        if gap := number - before - 1:
            yield f"      … {count_text(gap, 'line')}"
        yield f"{number + first - 1:>5} {lines[number - 1]}"
        before = number
    if gap := len(lines) - before:
        yield f"      … {count_text(gap, 'line')}"


def sections_of(text: str, suffix: str) -> list[Section]:
    """Return the sections of a file: definitions of code, headings of Markdown.

    Together they are the whole file. A class in Python is cut at its methods.
    """
    lines = split_lines(text)
    if suffix in PYTHON and (tree := _parsed(text)) is not None:
        starts = {
            _with_comment(lines, number): name for number, name in _python_starts(tree)
        }
    elif suffix == ".md":
        starts = _heading_starts(lines)
    elif parsed := definitions_of(text, suffix):
        starts = {
            part.first_line: part.name
            for part in reversed(parsed)
            if not part.is_import and part.depth <= 1
        }
    else:
        starts = {
            _with_comment(lines, number): line.strip()
            for number, line in enumerate(lines, start=1)
            if not line[:1].isspace() and is_definition(line)
        }
    starts.setdefault(1, "")
    ordered = sorted(starts)
    ends = [*(start - 1 for start in ordered[1:]), len(lines)]
    return [
        Section(start, end, starts[start])
        for start, end in zip(ordered, ends, strict=True)
        if end >= start
    ]


def _python_starts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield where functions, classes and methods begin, with their names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield _start_of(node), node.name
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield _start_of(inner), f"{node.name}.{inner.name}"


def _start_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """Return the first line of a definition, its decorators included."""
    return min(
        (decorator.lineno for decorator in node.decorator_list), default=node.lineno
    )


def _with_comment(lines: Sequence[str], number: int) -> int:
    """Return where a definition begins with the comment right above it."""
    line = lines[number - 1]
    indent = line[: len(line) - len(line.lstrip())]
    while number > 1 and _is_comment(lines[number - 2], indent):
        number -= 1
    return number


def _is_comment(line: str, indent: str) -> bool:
    """Return whether a line is a comment, indented as what follows it."""
    return line.startswith(indent) and bool(_COMMENT.match(line[len(indent) :]))


def _heading_starts(lines: Sequence[str]) -> dict[int, str]:
    """Return where headings are; a comment in a code fence is none."""
    starts, fence = {}, ""
    for number, line in enumerate(lines, start=1):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and HEADING.match(line):
            starts[number] = line.strip("# \t")
    return starts
