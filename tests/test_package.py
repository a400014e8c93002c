"""What is installed, what it needs, and how it is built up inside."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import hivemind_memory
from tests.support.tree import copy_project

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hivemind_memory"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 400

# Library -> where alone it may be imported.
HOMES = {
    "anyio": "mcp_server/",
    "apsw": "index/sqlite/",
    "httpx": "providers/ollama_embedder.py",
    "markdown_it": "markdown/chunker.py",
    "mcp": "mcp_server/",
    "numpy": "index/sqlite/vectors.py",
    "ollama": "providers/ollama_embedder.py",
    "openai": "providers/openai_embedder.py",
    "pydantic": "mcp_server/",
    "rich": "cli/",
    "tenacity": "providers/retry.py",
    "typer": "cli/",
    "uvicorn": "mcp_server/",
    "watchdog": "watch/observer.py",
    "yaml": "markdown/front_matter.py",
}
# Room -> floor. A file imports from its own room and from lower floors.
FLOORS = {
    "version": 0,
    "errors": 0,
    "model": 1,
    "notes": 2,
    "secrets": 2,
    "config": 3,
    "callers": 3,
    "embeddings": 4,
    "index": 4,
    "search": 4,
    "testing": 5,
    "memory": 5,
    "connect": 6,
    "inject": 6,
    "watch": 6,
    "launch": 7,  # knows where git's worktrees are from inject
    "wiring": 8,
    "mcp_server": 9,
    "cli": 10,  # a command starts the server
}


def name_of(module: Path) -> str:
    """A module's place in the package, with forward slashes."""
    return module.relative_to(PACKAGE).as_posix()


def imports_of(module: Path) -> Iterator[str]:
    """Every module that a file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            yield node.module or ""


def third_party(module: Path) -> set[str]:
    """The libraries that a file imports."""
    tops = {name.partition(".")[0] for name in imports_of(module)}
    return tops - set(sys.stdlib_module_names) - {"hivemind_memory"}


def distributions(requirements: list[str]) -> set[str]:
    """The names of the distributions that some requirements ask for."""
    return {re.split(r"[^\w.-]", one, maxsplit=1)[0].lower() for one in requirements}


def distribution_of(library: str) -> str:
    """The distribution that brings a library."""
    [name] = set(importlib.metadata.packages_distributions()[library])
    return name.lower()


def test_every_library_that_is_imported_is_declared_and_no_other() -> None:
    """What happens to be installed here is missing on the next machine."""
    extras = PROJECT["project"]["optional-dependencies"]
    declared = distributions(PROJECT["project"]["dependencies"])
    for name in set(extras) - {"dev"}:
        declared |= distributions(extras[name])
    imported = {
        distribution_of(library)
        for module in MODULES
        for library in third_party(module)
    }

    assert declared - {"hivemind-memory"} == imported


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_the_extra_of_a_provider_brings_all_that_it_needs(provider: str) -> None:
    """``pip install 'hivemind-memory[ollama]'`` is what its hint says."""
    plain = distributions(PROJECT["project"]["dependencies"])
    extra = PROJECT["project"]["optional-dependencies"][provider]
    needed = {
        distribution_of(library)
        for name in (
            f"embeddings/{provider}_embedder.py",
            "providers/retry.py",
            "index/sqlite/vectors.py",
        )
        for library in third_party(PACKAGE / name)
    }

    assert distributions(extra) == needed - plain


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_what_a_plain_installation_lacks_is_imported_in_its_home_alone(
    module: Path,
) -> None:
    """Words alone must work with the plain dependencies."""
    plain = distributions(PROJECT["project"]["dependencies"])
    optional = {
        library
        for library in third_party(module)
        if distribution_of(library) not in plain
    }

    assert not optional or name_of(module).startswith(
        ("embeddings/", "index/sqlite/vectors.py", "mcp_server/")
    )


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_library_is_imported_in_its_home_alone(module: Path) -> None:
    """So that it can be exchanged by changing one place."""
    strays = [
        library
        for library in third_party(module)
        if not name_of(module).startswith(HOMES[library])
    ]

    assert strays == []


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_imports_go_down_only(module: Path) -> None:
    """A reader can believe a file without opening those above it."""
    own = name_of(module).removesuffix(".py").split("/")[0]
    if own == "__init__":
        return  # the public names, from wherever they are
    used = {
        name.split(".")[1] if "." in name else "wiring"
        for name in imports_of(module)
        if name.partition(".")[0] == "hivemind_memory"
    }
    upward = [room for room in used - {own} if FLOORS[room] >= FLOORS[own]]

    assert upward == []


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_file_is_short(module: Path) -> None:
    """One that is not has two reasons to change."""
    assert module.read_text(encoding="utf-8").count("\n") <= MAX_LINES


def test_public_is_what_the_package_lists() -> None:
    """Everything else may change from one day to the next."""
    homes = vars(hivemind_memory)["_HOMES"]

    assert sorted(hivemind_memory.__all__) == sorted({*homes, "__version__"})
    for name in hivemind_memory.__all__:
        assert getattr(hivemind_memory, name) is not None
    with pytest.raises(AttributeError):
        _ = hivemind_memory.Manager


def test_what_is_said_of_the_licence_agrees() -> None:
    """A lawyer reads three places."""
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert licence.startswith("MIT License")
    assert "the Hivemind Memory authors" in licence
    assert PROJECT["project"]["license"] == "MIT"
    assert PROJECT["project"]["license-files"] == ["LICENSE"]


def test_the_changelog_knows_the_version() -> None:
    """Somebody upgrades and wants to know what that means."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"\n## {hivemind_memory.__version__}" in text


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was made of a copy of the project."""

    files: frozenset[str]
    """The files of the copy."""

    dist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("built")
    copy = copy_project(folder / "copy")
    files = (path for path in copy.rglob("*") if path.is_file())
    names = frozenset(path.relative_to(copy).as_posix() for path in files)
    # What a search leaves in the notes that the README searches.
    (copy / "fixtures" / "notes" / ".index").mkdir(exist_ok=True)
    (copy / "fixtures" / "notes" / ".index" / "memory.db").write_text("derived")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist")],
        cwd=copy,
        check=True,
        capture_output=True,
    )
    return Built(files=names, dist=folder / "dist")


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    """Tests and notes of ours have no place in somebody's site-packages."""
    [wheel] = built.dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith("entry_points.txt"))
        entry_points = archive.read(info).decode()

    package = {name for name in names if name.startswith("hivemind_memory/")}
    assert package == {one for one in built.files if one.startswith("hivemind_memory/")}
    assert "hivemind_memory/py.typed" in package
    assert all(".dist-info/" in name for name in set(names) - package)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "hm = hivemind_memory.cli.entry:run" in entry_points
    assert hivemind_memory.__version__ in wheel.name


@pytest.mark.slow
def test_the_source_distribution_holds_the_project_and_no_leavings(
    built: Built,
) -> None:
    """Whoever packages it for a distribution runs the tests from it."""
    [source] = built.dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert names == built.files | {"PKG-INFO"}


def test_the_command_is_the_one_that_is_installed() -> None:
    """``hm --version`` is the first thing that somebody types."""
    module, _, function = PROJECT["project"]["scripts"]["hm"].partition(":")
    program = f"from {module} import {function}; {function}()"

    ran = subprocess.run(
        [sys.executable, "-c", program, "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == f"hm {hivemind_memory.__version__}\n"
