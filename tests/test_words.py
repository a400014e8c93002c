"""Names, docstrings, comments and texts use the words of docs/glossary.md.

Names and docstrings are those of the whole repository; texts are those that the program
shows, its pages, and its docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.code_tree import walk
from tests.support.tree import project_files

ROOT = Path(__file__).parents[1]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PAGES = [
    name
    for name in project_files()
    if name.suffix == ".md" and name.parts[0] not in ("fixtures", "tests")
]
MODULES = [name for name in project_files() if name.suffix == ".py"]

# Word of an identifier -> the word of the glossary.
RETIRED_NAMES = {
    "curated": "render_memory",
    "deed": "action",
    "desk": "context",
    "disarm": "escape",
    "distrust": "mark_stale",
    "door": "caller, command, tool or transport",
    "doors": "callers, commands, tools or transports",
    "eraser": "purge",
    "freshener": "freshness_check",
    "holdings": "index_contents",
    "keeper": "state",
    "knock": "probe",
    "lane": "retriever",
    "lanes": "retrievers",
    "leavings": "leftover_files",
    "ledger": "injection_log",
    "lookout": "change_detector",
    "news": "events",
    "patience": "retry_policy",
    "purger": "purge",
    "recalled": "lookup",
    "scouring": "vacuum",
    "sentry": "inotify_probe",
    "sieve": "visibility",
    "sight": "visibility",
    "somebody": "caller",
    "splice": "marked_section",
    "stamp": "signature",
    "stamps": "signatures",
    "standing": "status",
    "strength": "raw_score",
    "strengths": "raw_scores",
    "succeeding": "supersede",
    "tally": "result",
    "trail": "breadcrumbs",
    "wish": "filter, option or request",
    "wishes": "filters, options or requests",
    "wishing": "parse",
}
# In what a user or a reader of the package reads.
VAGUE = {
    r"everybody|everyone's": "all agents, all projects",
    r"somebody|nobody": "you, another program",
}
# Everywhere.
RETIRED_TEXTS = {
    r"\bdoors?\b": "caller, server",
    r"\bgo_on\b": "continuation",
    r"\blanes?\b": "retriever",
    r"\bsentry\b": "inotify probe",
    r"\bleavings\b": "leftover files",
    r"\bledger\b": "injection log",
    r"\bin force\b": "active",
    r"(?<!time)stamps?\b": "signature",
    r"\bstanding\b": "status",
    r"\bstrengths?\b": "raw score",
    r"\bin step\b": "update the index",
    r"\bwish(es)?\b": "option, filter, request",
    r"\bstand-ins?\b": "fake",
    r"\bof ours\b": "our own",
    r"\btrails?\b": "breadcrumbs",
    r"\b(a|the|each|next|last|this) look\b": "scan, snapshot, check",
    r"\bthe house\b|\bthe house's\b": "the package",
    r"\bdisarm": "escape",
    r"\bturn of\b": "lock",
    r"\b(tak(e|es|en|ing)|took) (it |this |that |that one |all of it )?back\b": "undo",
}
ALLOWED_NAMES: set[str] = set()
ALLOWED_TEXTS: set[str] = {
    # That of a house, and its code.
    "hivemind_memory/redaction/in_prose/dialog.py: door",
    "hivemind_memory/redaction/in_prose/handing_labels.py: door",
    "hivemind_memory/redaction/in_prose/handing_labels.py: doors",
    "hivemind_memory/redaction/in_prose/handing_words.py: door",
    "hivemind_memory/redaction/in_prose/handing_words.py: strength",
    "hivemind_memory/redaction/in_prose/spoken_letters.py: door",
    "hivemind_memory/redaction/in_code/arguments.py: door",
    "hivemind_memory/redaction/in_formats/columns.py: door",
    "hivemind_memory/redaction/in_prose/statement_words.py: door",
    "hivemind_memory/redaction/in_prose/statement_words.py: doors",
    "hivemind_memory/redaction/in_prose/statement_words.py: ledger",  # a wallet
    "hivemind_memory/model/derived_words.py: strength",  # of *strong*
    "hivemind_memory/index/sqlite/schema.py: stamp",
    "hivemind_memory/index/sqlite/schema.py: standing",  # the steps as released
    "hivemind_memory/index/sqlite/schema.py: trail",
    "hivemind_memory/state/schema.py: took back",  # the steps as released
    "hivemind_memory/state/schema.py: took it back",
}

_RETIRED = re.compile("|".join((RETIRED_TEXTS | VAGUE).keys()), re.IGNORECASE)
_PLACE_OF_ONE = re.compile(r"\bone\s*(?:[,:=)\]|]|in\b)")
"""Where code may give a value the name ``one``; few modules have such a place."""

_UNANCHORED = [
    re.sub(r"^(\\b|\(\?<!time\))", "", pattern) for pattern in RETIRED_TEXTS | VAGUE
]
_QUICK = [
    re.compile("|".join(p for p in _UNANCHORED if p.startswith("(") is is_group))
    for is_group in (False, True)
]
"""They find all that ``_RETIRED`` finds, and more, in small letters, and much faster:
most patterns begin with a letter then."""

_TEXTS_THAT_MEET = re.compile("""["']\\s*\\n\\s*[bfr]{0,2}["']""")
"""Where one text of a module goes on as the next: of most modules, nothing more has to
be read."""

_FENCE = re.compile(r"^( *)(```+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TERM = re.compile(r"^\| \*\*(.+?)\*\* \|", re.MULTILINE)


def tree_of(module: Path) -> ast.Module:
    """Return the code of a module."""
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def names_of(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module gives to classes, functions, arguments, values."""
    for node in walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def comments_of(source: str) -> Iterator[str]:
    """Yield the comments of a module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def texts_of(module: Path, tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a module; of tests and benchmarks the docstrings alone.

    The rest of their texts are notes and answers that a person may have written.
    """
    is_shown = module.parts[0] == "hivemind_memory"
    for node in walk(tree):
        value = node if is_shown else isinstance(node, ast.Expr) and node.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        if is_text and " " in value.value:
            yield value.value


def retired_names() -> list[str]:
    """Return every name with a retired word, as ``file: name``."""
    found = set()
    for module in MODULES:
        source = (ROOT / module).read_text(encoding="utf-8").lower()
        has_any = any(word in source for word in RETIRED_NAMES)
        names = names_of(tree_of(module)) if has_any else ()
        for name in {*names, *module.with_suffix("").parts}:
            words = {part.lower() for part in _PART.findall(name)}
            if words & RETIRED_NAMES.keys():
                found.add(f"{module}: {name}")
    return sorted(found)


def retired_texts() -> list[str]:
    """Return every text with a retired word, as ``file: word``."""
    found = set()
    texts = {
        page: _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for page in PAGES
    }
    for module in MODULES:
        source = (ROOT / module).read_text(encoding="utf-8")
        joined = _TEXTS_THAT_MEET.sub("", source)
        low = joined.lower()
        if not any(quick.search(low) for quick in _QUICK):
            continue
        if not _RETIRED.search(joined):
            continue
        # No word begins in one text and ends in the next.
        texts[module] = "\0".join(
            [*texts_of(module, tree_of(module)), *comments_of(source)]
        )
    for name, text in texts.items():
        is_shown = name.parts[0] not in ("benchmarks", "scripts", "tests")
        for pattern in RETIRED_TEXTS | (VAGUE if is_shown else {}):
            for match in re.finditer(pattern, text, re.IGNORECASE):
                found.add(f"{name}: {match[0]}")
    return sorted(found)


def test_names_use_the_words_of_the_glossary() -> None:
    """One word for one thing: the reader learns it once."""
    assert {*retired_names()} == ALLOWED_NAMES


def test_a_limit_is_called_max_or_min() -> None:
    """One form: who looks for the limits of a module finds all of them."""
    strays = [
        f"{module}: {name}"
        for module in MODULES
        if "redaction" not in module.parts  # it has its own words for what it counts
        for name in names_of(tree_of(module))
        if re.match("_?(MOST|LEAST)_", name)
    ]

    assert strays == []


_SHORT = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    ast.Lambda,
)


def vague_values(tree: ast.Module, *, is_product: bool) -> Iterator[int]:
    """Yield the lines at which a value is called ``one``.

    Not where it is one of two that are compared, the second of them ``other``, nor,
    outside the product, in a comprehension or lambda that fits on three lines.
    """
    parents = {
        child: node for node in walk(tree) for child in ast.iter_child_nodes(node)
    }

    def has_other(node: ast.AST) -> bool:
        names = {
            inside.arg if isinstance(inside, ast.arg) else inside.id
            for inside in walk(parents[node])
            if isinstance(inside, ast.arg | ast.Name)
        }
        return "other" in names

    def is_allowed(node: ast.AST) -> bool:
        holder = node
        while not isinstance(holder, (ast.stmt, *_SHORT)):
            holder = parents[holder]
        is_short = isinstance(holder, _SHORT) and holder.end_lineno - holder.lineno < 3
        return is_short and not is_product

    for node in walk(tree):
        is_argument = isinstance(node, ast.arg) and node.arg == "one"
        is_stored = (
            isinstance(node, ast.Name)
            and node.id == "one"
            and isinstance(node.ctx, ast.Store)
        )
        is_vague = (is_argument or is_stored) and not has_other(node)
        if is_vague and not is_allowed(node):
            yield node.lineno


@pytest.mark.parametrize(
    ("line", "is_vague"),
    [
        ("[one.path for one in notes]", True),
        ("sorted(notes, key=lambda one: one.path)", True),
        ("{key: one for key, one in values.items()}", True),
        ("for one in notes: read(one)", True),
        ("sum(one < other for one, other in pairs)", False),
        ("def is_near(one, other): ...", False),
        ("[note.path for note in notes]", False),
    ],
)
def test_a_vague_name_is_noticed(line: str, *, is_vague: bool) -> None:
    """The test below sees all places where a name is given."""
    assert bool(_PLACE_OF_ONE.search(line)) >= is_vague
    assert bool([*vague_values(ast.parse(line), is_product=True)]) == is_vague


def test_a_value_is_called_what_it_is() -> None:
    """``one`` says nothing to whoever meets it ten lines later."""
    vague = [
        f"{module}:{line}"
        for module in MODULES
        if module.parts[0] != "tests"
        and _PLACE_OF_ONE.search((ROOT / module).read_text(encoding="utf-8"))
        for line in vague_values(
            tree_of(module),
            is_product=module.parts[0] == "hivemind_memory",
        )
    ]

    assert vague == []


def test_texts_use_the_words_of_the_glossary() -> None:
    """Help, errors, tool descriptions and pages call a thing by one name."""
    assert {*retired_texts()} == ALLOWED_TEXTS


def test_the_glossary_has_each_term_once() -> None:
    terms = _TERM.findall(GLOSSARY)

    assert len(terms) >= 80
    assert sorted(terms) == sorted(set(terms))
