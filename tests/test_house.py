"""What a command loads, and how long a function may be: the shape of the house.

That imports go down only, that a library is imported in its home alone and that files
are short is in ``test_package``.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.house import House

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hivemind_memory"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 40
MOST_POSITIONS = 5

HEAVY = {
    "dataclasses",
    "datetime",
    "httpx",
    "inspect",
    "hashlib",
    "logging",
    "markdown_it",
    "mcp",
    "numpy",
    "ollama",
    "openai",
    "pathlib",
    "rich",
    "subprocess",
    "tenacity",
    "typer",
    "watchdog",
    "yaml",
}
_LOADED = """
import sys
before = set(sys.modules)
from hivemind_memory.cli import entry
code = entry.main(sys.argv[1:])
print(code, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A memory that is indexed, and whose files are old enough to be believed."""
    house = House(tmp_path / "home")
    house.save("note.md", "# Title\n\nthe answer\n")
    house.ahead_s = 10
    with house.memory() as memory:
        memory.sync()
    return house


def loaded(house: House, *words: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    environment = {
        "HIVEMIND_HOME": str(house.home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "PYTHONPATH": str(ROOT),
    }
    ended = subprocess.run(
        [sys.executable, "-c", _LOADED, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    code, *names = ended.stderr.splitlines()[-1].split()
    assert code == "0", ended.stderr
    return set(names)


@pytest.mark.parametrize(
    "words",
    [("search", "answer", "--json"), ("search", "answer"), ("sync",)],
    ids=" ".join,
)
def test_a_cold_command_loads_nothing_heavy(
    house: House, words: tuple[str, ...]
) -> None:
    """Each of these costs more than the whole answer may take."""
    assert loaded(house, *words) & HEAVY == set()


def functions(module: Path) -> Iterator[ast.FunctionDef]:
    """Every function of a module."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


def length_of(function: ast.FunctionDef) -> int:
    """Lines of a function's body, its docstring apart."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize(
    "module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_a_function_fits_a_screen(module: Path) -> None:
    """And takes at most five things by their place."""
    too_long = [
        function.name
        for function in functions(module)
        if length_of(function) > MOST_LINES
    ]
    too_wide = [
        function.name
        for function in functions(module)
        if len(function.args.args) > MOST_POSITIONS + 1  # self
    ]

    assert (too_long, too_wide) == ([], [])
