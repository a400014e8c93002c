"""Count what an operation passes through, what a command imports, and what there is.

    python -m benchmarks.crossings [--json]

Six operations run in this process. Each runs first in one throw-away memory, which does
the imports, and is then counted in others in the same state. Functions are those made
by ``def`` and ``lambda``; module and class bodies and comprehensions do not count.
Of the package only the command line's entry is used by name, so the figures of two
versions can be compared however their modules are called.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import hivemind_memory
from benchmarks.measure import table
from hivemind_memory.cli.main import main as hm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

NAME = hivemind_memory.__name__
PACKAGE = Path(hivemind_memory.__file__).parent
SETTINGS_OF_OTHERS = ("HIVEMIND_", "OPENAI_", "OLLAMA_", "GIT_", "XDG_", "_HM")
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
TRIES = 3
"""The least counts: a random id may look like part of a secret, and be looked into."""

SETTLE_S = 2.5
"""A note younger than two seconds is read again by every answer."""

NOTES = {
    "global.md": "# Global\n\n- Postgres for the site listens on port 5433.\n",
    "projects/site.md": "# Site\n\n## Deploys\n\nDeploys go out on Tuesdays.\n",
    "2026-06-30.md": "The deploy failed: the disk of the build host was full.\n",
}
SET_UP = (
    ("write", "--file", "projects/site.md", "On-call starts on Wednesday."),
    ("save", "deploy-day", "--type", "decision", "Deploys go out on any weekday."),
    ("save", "build-host", "--type", "fact", "The build host is called harbour."),
    ("inject", "shown"),
)
OPERATIONS = {
    "list": ("list",),
    "search": ("search", "deploy"),
    "write": ("write", "The certificate ends in March."),
    "save": ("save", "review", "--type", "lesson", "Reviews find what tests do not."),
    "inject": ("inject", "shop"),
    "purge": ("forget", "deploy-day", "--purge", "--yes"),
}
COLD = (("--version",), ("--help",), ("search", "x"), ("write", "x"))
RUN = f"from {NAME}.cli.main import main; code = main(sys.argv[1:])"
COUNTED = "import sys; code = 0; {}; print(*sys.modules, file=sys.stderr); exit(code)"
"""Not -X importtime: that does not see what ``importlib.import_module`` loads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What one operation entered."""

    files: int
    functions: int
    names: list[str]
    """The files, relative to the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """How many modules a process had imported when it ended."""

    ours: int
    all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the package is made of."""

    files: int
    lines: int
    median_file_lines: float
    functions: int
    median_function_lines: float
    circles: list[list[str]]
    """Modules that import each other, directly or through others."""


# -- Operations ---------------------------------------------------------------------


def make_homes(folder: Path, count: int) -> Iterator[Path]:
    """Make memories that are all in the same state, and yield them."""
    homes = [make_home(folder / str(number)) for number in range(count)]
    time.sleep(SETTLE_S)
    for home in homes:
        use(home, "sync")
    return iter(homes)


def make_home(folder: Path) -> Path:
    """Make a memory with a few notes and entries, and two repositories beside it."""
    for path, text in NOTES.items():
        note = folder / "memory" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")
    for name in ("shown", "shop"):
        subprocess.run(["git", "init", "-q", str(folder / name)], check=True)
        (folder / name / "CLAUDE.md").write_text("# Deploys\n", encoding="utf-8")
    for words in SET_UP:
        use(folder, *words)
    return folder


def use(home: Path, *words: str) -> None:
    """Run ``hm`` in this process, as if nobody were at a terminal.

    Raises:
        RuntimeError: It failed; with what it said.
    """
    os.environ["HIVEMIND_HOME"] = str(home)
    os.chdir(home)
    said = io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = hm(words)
    finally:
        sys.stdin = before
    if code:
        message = f"hm {' '.join(words)} exited with {code}: {said.getvalue()}"
        raise RuntimeError(message)


def crossing(home: Path, *words: str) -> Crossing:
    """Run ``hm`` and return which functions of the package it entered."""
    root = f"{PACKAGE}{os.sep}"
    seen: set[tuple[str, str, int]] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(root)
            and code.co_flags & inspect.CO_OPTIMIZED  # no module, no class body
            and code.co_name not in COMPREHENSIONS
        ):
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        use(home, *words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    names = sorted({file.removeprefix(root) for file, _, _ in seen})
    return Crossing(files=len(names), functions=len(seen), names=names)


# -- Imports ------------------------------------------------------------------------


def imports(home: Path, program: str, *words: str) -> Imports:
    """Run a program of Python and return how many modules it imported."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTED.format(program), *words],
        env=os.environ
        | {"HIVEMIND_HOME": str(home), "PYTHONPATH": str(PACKAGE.parent)},
        cwd=home,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    names = done.stderr.splitlines()[-1].split()
    ours = [name for name in names if f"{name}.".startswith(f"{NAME}.")]
    return Imports(ours=len(ours), all=len(names))


# -- The package --------------------------------------------------------------------


def shape() -> Shape:
    """Read the package's files and return what it is made of."""
    texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    lines = [text.count("\n") for text in texts.values()]
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return Shape(
        files=len(texts),
        lines=sum(lines),
        median_file_lines=median(lines),
        functions=len(functions),
        median_function_lines=median(functions),
        circles=circles(trees),
    )


def circles(trees: Mapping[Path, ast.Module]) -> list[list[str]]:
    """Return the groups of modules that import each other, the largest first.

    An import inside a function counts; one for type checkers, and the import of a
    package that comes with that of its module, do not.
    """
    modules = {module_name(file): file for file in trees}
    imported = {
        name: {
            target
            for node in statements(trees[file])
            for target in targets(node, name, modules)
        }
        for name, file in modules.items()
    }
    reached = {name: reach(name, imported) for name in modules}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in modules
        if name in reached[name]
    }
    return sorted(map(sorted, groups), key=lambda group: (-len(group), group))


def module_name(file: Path) -> str:
    """Return the dotted name under which a file is imported."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but not what only type checkers see."""
    yield node
    below: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        below = node.orelse
    for child in below:
        yield from statements(child)


def targets(node: ast.AST, importer: str, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
    if not isinstance(node, ast.ImportFrom):
        return
    source = node.module or ""
    if node.level:
        parts = importer.split(".")
        is_package = modules[importer].stem == "__init__"
        base = parts[: len(parts) + is_package - node.level]
        source = ".".join([*base, *filter(None, [node.module])])
    for alias in node.names:
        name = f"{source}.{alias.name}"
        if name in modules or source in modules:
            yield name if name in modules else source


def reach(name: str, imported: Mapping[str, set[str]]) -> set[str]:
    """Return all modules that the import of one leads to."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        new = imported[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


# -- What is printed ----------------------------------------------------------------


def shown(
    entered: Mapping[str, Crossing], cold: Mapping[str, Imports], package: Shape
) -> str:
    """Return all figures as three tables, and the circles below them."""
    rows = [[name, str(one.files), str(one.functions)] for name, one in entered.items()]
    operations = table(["operation, warm", "files entered", "functions entered"], rows)
    rows = [[name, str(one.ours), str(one.all)] for name, one in cold.items()]
    commands = table(["command, cold", "our modules", "all modules"], rows)
    rows = [
        ["files", f"{package.files}"],
        ["lines", f"{package.lines}"],
        ["lines per file, median", f"{package.median_file_lines:g}"],
        ["functions", f"{package.functions}"],
        ["lines per function, median", f"{package.median_function_lines:g}"],
        ["import circles", f"{len(package.circles)}"],
        ["modules in them", f"{sum(map(len, package.circles))}"],
    ]
    parts = [operations, commands, table(["package", "figure"], rows)]
    parts += [f"circle: {' '.join(group)}" for group in package.circles]
    return "\n\n".join(parts)


def main() -> None:
    """Count, and print tables or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="with the files' names")
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(SETTINGS_OF_OTHERS)]:
        del os.environ[name]
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        os.environ |= {
            "HOME": str(folder),
            "HIVEMIND_EMBEDDING_PROVIDER": "none",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        homes = make_homes(folder, (len(OPERATIONS) + 1) * (TRIES + 1))
        entered = {}
        for name, words in OPERATIONS.items():
            use(next(homes), *words)
            tries = [crossing(next(homes), *words) for _ in range(TRIES)]
            entered[name] = min(tries, key=lambda one: one.functions)
        os.chdir(back)
        cold = {"python -c pass": imports(next(homes), "pass")}
        colds = [next(homes) for _ in range(TRIES)]
        for words in COLD:
            counts = [imports(home, RUN, *words) for home in colds]
            cold[f"hm {' '.join(words)}"] = min(counts, key=lambda one: one.all)
    package = shape()
    if options.json:
        made = {
            "operations": {name: asdict(one) for name, one in entered.items()},
            "imports": {name: asdict(one) for name, one in cold.items()},
            "package": asdict(package),
        }
        print(json.dumps(made, indent=1))
    else:
        print(shown(entered, cold, package))


if __name__ == "__main__":
    main()
