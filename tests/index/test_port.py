"""Only the port is known outside ``index/``, and the SQLite engine fits it."""

from __future__ import annotations

import ast
from pathlib import Path

import hivemind_memory

PACKAGE = Path(hivemind_memory.__file__).parent
OPEN_TO_ALL = {"hivemind_memory.index.choose_engine", "hivemind_memory.index.port"}


def imported_modules(file: Path) -> set[str]:
    """Return the dotted names of all that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
    return found


def test_nothing_outside_the_index_imports_an_engine() -> None:
    """A second engine must be a new folder and a line in ``index/choose_engine.py``."""
    strays = {}
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE).as_posix()
        if place.startswith("index/"):
            continue
        found = {
            name
            for name in imported_modules(file)
            if name.startswith("hivemind_memory.index.")
            and not any(
                name == one or name.startswith(f"{one}.") for one in OPEN_TO_ALL
            )
        }
        if found:
            strays[place] = found

    assert strays == {}


def test_the_port_knows_no_engine() -> None:
    """What it needs, every engine would have to bring along."""
    found = imported_modules(PACKAGE / "index" / "port.py")

    assert not {name for name in found if "index.sqlite" in name or name == "apsw"}
