"""Finds the definitions in source code with tree-sitter, where it is installed.

A grammar is a package of its own, such as ``tree-sitter-go``. Nothing is downloaded:
without the grammar of a language there is no tree, and ``code_outline`` reads lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

GRAMMARS = {
    ".bash": ("tree_sitter_bash", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".cs": ("tree_sitter_c_sharp", "language"),
    ".go": ("tree_sitter_go", "language"),
    ".h": ("tree_sitter_c", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".js": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".kt": ("tree_sitter_kotlin", "language"),
    ".php": ("tree_sitter_php", "language_php"),
    ".rb": ("tree_sitter_ruby", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".scala": ("tree_sitter_scala", "language"),
    ".sh": ("tree_sitter_bash", "language"),
    ".swift": ("tree_sitter_swift", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
}
"""Suffix -> package, and the function in it that returns the grammar."""

MAX_CHARS = 1 << 20
"""Longer files are read by lines."""

_HOLDERS = (
    *("class", "enum", "extension", "impl", "interface", "module", "namespace"),
    *("object", "protocol", "record", "struct", "trait"),
)
"""What a definition is called that may hold others."""

_FUNCTIONS = ("constructor", "function", "macro", "method")
_IMPORTS = ("import", "include", "package", "use", "using")
_ENDS = ("_clause", "_declaration", "_definition", "_header", "_item", "_statement")
_ALONE = frozenset(("class", "method", "module", "preproc_include", "singleton_method"))
"""Types of nodes that are definitions though their names have no such end."""

_NAMES = ("name", "declarator", "type")


class Definition(NamedTuple):
    """A definition or an import; lines from 1, the last one included."""

    first_line: int
    """Where it begins, with the comments and annotations right above it."""

    start_line: int
    """Where its own first line is."""

    signature_end: int
    """The last line of what comes before its body."""

    name: str
    is_import: bool
    depth: int
    """0: at the top; 1: in a class or the like."""


def definitions_of(text: str, suffix: str) -> list[Definition] | None:
    """Return definitions and imports in their order; None: there is no parser."""
    if len(text) > MAX_CHARS or (parser := _parser_of(suffix)) is None:
        return None
    tree = parser.parse(text.encode("utf-8", "replace"))
    try:
        return list(_found(tree.root_node, 0))
    except RecursionError:  # generated code, nested thousands of levels deep
        return None


@lru_cache(maxsize=32)
def _parser_of(suffix: str) -> Any:
    """Return the parser of a language; None: its grammar is not installed."""
    if suffix not in GRAMMARS:
        return None
    package, function = GRAMMARS[suffix]
    try:
        library = import_module("tree_sitter")
        grammar = getattr(import_module(package), function)
        return library.Parser(library.Language(grammar()))
    except (ImportError, AttributeError, TypeError, ValueError):
        return None  # not there, or of another version


def _found(node: Any, depth: int) -> Iterator[Definition]:
    """Yield the definitions below a node; what is inside functions is left out."""
    above: Any = None
    for child in node.named_children:
        kind = child.type
        if "comment" in kind or kind in ("attribute_item", "decorator"):
            is_next = above is not None and _last_row(above) + 1 >= child.start_point[0]
            above = above if is_next else child
            last_above = child
            continue
        first = child
        if above is not None and _last_row(last_above) + 1 >= child.start_point[0]:
            first = above
        above = None
        inner = _defined(child)
        if inner is None:
            if not _is_function(kind):
                yield from _found(child, depth)
            continue
        body = inner.child_by_field_name("body")
        row = child.start_point[0]
        is_import = _has(inner.type, _IMPORTS)
        end = _last_row(child) if is_import else row
        if body is not None:
            before = body.prev_sibling
            same_row = before is None or _last_row(before) == body.start_point[0]
            end = max(row, body.start_point[0] if same_row else _last_row(before))
        name = _name_of(inner)
        yield Definition(
            first.start_point[0] + 1, row + 1, end + 1, name, is_import, depth
        )
        if not is_import and not _is_function(inner.type):
            yield from _found(body if body is not None else inner, depth + 1)


def _defined(node: Any) -> Any:
    """Return the definition that a node is, or exports; None: it is none."""
    kind = node.type
    if kind == "export_statement":
        return node.child_by_field_name("declaration")
    if kind in ("lexical_declaration", "type_declaration"):
        is_function = any(
            value is not None and value.type == "arrow_function"
            for part in node.named_children
            for value in (part.child_by_field_name("value"),)
        )
        return node if kind == "type_declaration" or is_function else None
    is_named = kind in _ALONE or (
        kind.endswith(_ENDS) and _has(kind, (*_HOLDERS, *_FUNCTIONS, *_IMPORTS, "type"))
    )
    if kind.endswith("_specifier") and _has(kind, _HOLDERS):
        is_named = node.child_by_field_name("body") is not None
    return node if is_named else None


def _is_function(kind: str) -> bool:
    """Return whether a type of node is that of a function."""
    return _has(kind, _FUNCTIONS)


def _has(kind: str, words: tuple[str, ...]) -> bool:
    """Return whether a type of node has one of some words in it."""
    return not frozenset(kind.split("_")).isdisjoint(words)


def _name_of(node: Any) -> str:
    """Return the name of what is defined; empty: it has none."""
    inner = node.named_children[:1] if node.type == "type_declaration" else [node]
    for part, field in ((part, field) for part in inner for field in _NAMES):
        found = part.child_by_field_name(field)
        if found is not None and found.text is not None:
            return str(found.text.decode("utf-8", "replace")).split("(")[0][:80]
    return ""


def _last_row(node: Any) -> int:
    """Return the row in which a node ends; a line comment may include its newline."""
    row: int = node.end_point[0]
    ends_before = node.end_point[1] == 0 and row > node.start_point[0]
    return row - 1 if ends_before else row
