"""Names in docstrings and pages exist: a reference that has become stale fails here.

A name counts as one of our own where its shape says so: two names with a dot between
them, words joined by capitals or underscores, a Python file. Single small words may be
anything and are not checked.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.support.code_tree import walk
from tests.support.tree import project_files

ROOT = Path(__file__).parents[1]
FILES = project_files()
MODULES = [
    name for name in FILES if name.suffix == ".py" and name.parts[0] != "fixtures"
]
PAGES = [
    name
    for name in FILES
    if name.suffix == ".md"
    and name.parts[0] not in ("fixtures", "tests")
    and name.name != "CHANGELOG.md"  # tells of what was
]

# What has such a shape and belongs to others.
OTHERS = {
    "CamelCase",  # the shape itself
    "PyYAML",
    "agents.pi",  # an option of config.json
    "context.fileName",  # of Gemini CLI
    "http.client",
    "memory.db.damaged",  # a file
    "projects.NAME.visibility",  # an option of config.json
    "report.why_empty",  # a field of JSON
    "secure_delete",  # SQLite
    "snake_case",  # the shape itself
    "state.line",  # markdown-it
}

_DOUBLE = re.compile(r"(?<!`)``([^`\n]+)``(?!`)")
_SINGLE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FENCE = re.compile(r"^( *)(```+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_CLASS = re.compile(r"_?[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+")
_SNAKE = re.compile(r"_?[A-Za-z][a-z0-9A-Z]*(?:_[A-Za-z0-9]+)+")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.py")
_ENDINGS = frozenset({"db", "json", "jsonl", "lock", "md", "onnx", "toml", "tsv"})
_RAISED = re.compile(r"^ +([A-Z]\w+):", re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield what code defines, imports or uses by name, its texts and attributes."""
    for node in walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (" " not in node.value or "\n  " in node.value)  # a word, or SQL
        ):
            yield from _IDENTIFIER.findall(node.value)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield every statement of a tree, at any depth."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(tree, name, ())
        for node in inner if isinstance(inner, list) else ():
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


@cache
def divided(module: Path) -> tuple[ast.Module, list[str]]:
    """Return the tree of a module without its docstrings, and these."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    texts = []
    for node in statements(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                texts.append(node.value.value)
            node.value = ast.Constant(value=None)
    return tree, texts


def docstrings_of(module: Path) -> list[str]:
    return divided(module)[1]


def code_of(module: Path) -> ast.Module:
    """Return the tree of a module without what its docstrings say."""
    return divided(module)[0]


@cache
def names_of(module: Path) -> frozenset[str]:
    """Return the names in the code of a module."""
    return frozenset(names_in(code_of(module)))


@cache
def known_names() -> frozenset[str]:
    found = set(dir(builtins))
    for module in MODULES:
        found |= {module.stem, *names_of(module)}
    for page in PAGES:  # of commands and settings
        if page.name in ("config.md", "mcp-tools.md", "cli.md"):
            found |= set(_IDENTIFIER.findall((ROOT / page).read_text("utf-8")))
    return frozenset(found)


@cache
def members() -> dict[str, set[str]]:
    """Return, for each module stem and each class, the names that stand in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        stem = module.parent.name if module.stem == "__init__" else module.stem
        found[stem] |= names_of(module)
        for folder in module.parts[:-1]:
            found[folder] |= {module.stem, *module.parts[:-1]}
        for node in statements(code_of(module)):
            if isinstance(node, ast.ClassDef):
                found[node.name] |= set(names_in(node))
                found[node.name] |= {
                    name for base in node.bases for name in names_in(base)
                }
    return found


@cache
def functions() -> frozenset[str]:
    """Return the functions of the package whose names only our own can have."""
    return frozenset(
        node.name
        for module in MODULES
        if module.parts[0] == "hivemind_memory"
        for node in code_of(module).body
        if isinstance(node, ast.FunctionDef) and "_" in node.name.strip("_")
    )


def is_stale(name: str) -> bool:
    """Whether a text between backticks looks like one of our own names and is none."""
    if name in OTHERS:
        return False
    if _FILE.fullmatch(name):
        return not any(
            file.as_posix() == name or file.as_posix().endswith(f"/{name}")
            for file in FILES
        )
    bare = name.removesuffix("()")
    if _DOTTED.fullmatch(bare):
        parts = bare.split(".")
        if parts[-1] in _ENDINGS:
            return False
        if parts[0] not in members() and parts[-1] in functions():
            return True  # our own function, in a module that does not exist
        return any(
            left in members() and right not in members()[left] | _inherited(left)
            for left, right in pairwise(parts)
        )
    if _CLASS.fullmatch(bare) or _SNAKE.fullmatch(bare) or name.endswith("()"):
        return bare not in known_names()
    return False


def _inherited(name: str) -> set[str]:
    """Return what the bases of a class have."""
    if not name[:1].isupper():
        return set()  # a module has none
    return {
        member
        for base in members()[name]
        if base in members() and base[:1].isupper()
        for member in members()[base]
    }


def test_names_in_docstrings_exist() -> None:
    """A reader who follows one must arrive."""
    stale = {
        f"{module}: {name}"
        for module in MODULES
        for text in docstrings_of(module)
        for name in _DOUBLE.findall(text)
        if is_stale(name)
    }

    assert sorted(stale) == []


def test_errors_that_a_docstring_says_are_raised_exist() -> None:
    """The class had another name since."""
    stale = {
        f"{module}: {name}"
        for module in MODULES
        for text in docstrings_of(module)
        for name in _RAISED.findall(text.partition("Raises")[2])
        if is_stale(name)
    }

    assert sorted(stale) == []


def test_names_in_pages_exist() -> None:
    stale = set()
    for page in PAGES:
        text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        stale |= {f"{page}: {name}" for name in _SINGLE.findall(text) if is_stale(name)}

    assert sorted(stale) == []


def test_what_belongs_to_others_is_still_named() -> None:
    """The list is as short as it can be."""
    said = {
        name
        for module in MODULES
        for text in docstrings_of(module)
        for name in _DOUBLE.findall(text)
    }
    for page in PAGES:
        said |= set(_SINGLE.findall((ROOT / page).read_text(encoding="utf-8")))

    assert {name for name in OTHERS if name not in said} == set()


def test_a_stale_name_is_seen() -> None:
    """The check itself can fail, for every shape."""
    here = (
        "is_stale",
        "FolderSnapshot",
        "memory.memory",
        "Memory.search",
        "errors.py",
    )
    gone = (
        "was_" + "renamed",
        "Folder" + "Look",
        "memory.gone",
        "Memory.sieve",
        "chunker." + "chunk_note",
        "x/y.py",
    )

    assert [name for name in here if is_stale(name)] == []
    assert [name for name in gone if not is_stale(name)] == []
