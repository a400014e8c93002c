"""What is installed, what it needs, and which module may import which."""

from __future__ import annotations

import ast
import importlib.metadata
import itertools
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import hivemind_memory
from tests.support.code_tree import walk
from tests.support.tree import copy_project, project_files

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hivemind_memory"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = [
    ROOT / name
    for name in project_files()
    if name.parts[0] == PACKAGE.name and name.suffix == ".py"
]
MAX_LINES = 400

# Library -> the only places that may import it.
HOMES = {
    "anyio": ("dashboard/app.py", "http_api/", "mcp_server/"),
    "cryptography": ("vault/cipher.py",),
    "keyring": ("vault/keys.py",),
    "certifi": ("providers/json_connection.py",),
    "apsw": ("index/sqlite/", "sqlite/", "state/", "transcripts/"),
    "httpx": ("providers/ollama_",),
    "markdown_it": ("markdown/",),
    "jinja2": ("dashboard/render.py",),
    "markupsafe": ("dashboard/render.py",),
    "h11": ("mcp_server/",),
    "mcp": ("mcp_server/",),
    "numpy": ("providers/local_model.py",),
    "ollama": ("providers/ollama_",),
    "onnxruntime": ("providers/local_model.py",),
    "openai": ("providers/openai_",),
    "pydantic": ("http_api/", "mcp_server/"),
    "simsimd": ("index/sqlite/vectors.py",),
    "tenacity": ("providers/retry.py",),
    "tokenizers": ("providers/local_model.py", "providers/token_counter.py"),
    "uvicorn": ("mcp_server/",),
    "watchdog": ("watch/observer.py",),
    "yaml": ("markdown/front_matter.py",),
}
# Room, or module, -> floor. A file imports from its own room and from lower floors.
FLOORS = {
    "version": 0,
    "errors": 0,
    "patterns": 0,
    "model": 1,
    "files": 2,
    "config": 3,
    "git": 3,
    "markdown": 3,
    "sqlite": 3,
    "vault": 3,
    "access": 5,
    "notes": 4,
    "redaction": 4,
    "state": 5,
    "projects": 6,
    "backup": 7,
    "transcripts": 7,
    "skills": 7,
    "index": 6,
    "providers": 6,
    "search": 6,
    "testing": 7,
    "memory": 7,
    "curation": 8,
    "memory.memory": 9,  # the class Memory, made of memory and curation
    "context": 10,
    "jobs": 11,
    "evaluation": 11,
    "working": 11,
    "plugin_api": 11,
    "connect": 11,
    "inject": 11,
    "watch": 11,
    "launch": 11,
    "environment": 12,
    "opening": 13,
    "mcp_server": 14,
    "http_api": 15,  # it serves /mcp too
    "dashboard": 16,
    "cli": 17,  # a command starts the server
}


def name_of(module: Path) -> str:
    """Return a module's path inside the package, with forward slashes."""
    return module.relative_to(PACKAGE).as_posix()


def dotted(module: Path) -> str:
    """Return a module's name inside the package, with dots; the package's is empty."""
    return (
        ".".join(module.relative_to(PACKAGE).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip(".")
    )


@cache
def imports_of(module: Path) -> tuple[str, ...]:
    """Return every module that a file imports, lazily or for its types alone too."""
    found: list[str] = []
    for node in walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def third_party(module: Path) -> set[str]:
    """Return the libraries that a file imports."""
    tops = {name.partition(".")[0] for name in imports_of(module)}
    return tops - set(sys.stdlib_module_names) - {"hivemind_memory"}


def imports_inside() -> dict[str, set[str]]:
    """Return which modules of the package each module of the package imports."""
    known = {dotted(module) for module in MODULES}
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        used = set()
        for name in imports_of(module):
            top, _, inside = name.partition(".")
            if top != PACKAGE.name:
                continue
            # "from package.room import name": the name is a module, or is in one.
            home = inside if inside in known else inside.rpartition(".")[0]
            used.add(home)
        graph[dotted(module)] = used - {dotted(module), ""}
    return graph


def reached_from(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Return all modules that one imports, directly or through others."""
    reached: set[str] = set()
    todo = [start]
    while todo:
        found = graph[todo.pop()] - reached
        reached |= found
        todo += found
    return reached


def floor_of(name: str) -> int:
    """Return the floor of a module: its own if it has one, else its room's."""
    return FLOORS[name] if name in FLOORS else FLOORS[name.partition(".")[0]]


def distributions(requirements: list[str]) -> set[str]:
    """Return the names of the distributions that some requirements ask for."""
    return {re.split(r"[^\w.-]", one, maxsplit=1)[0].lower() for one in requirements}


packages_distributions = cache(importlib.metadata.packages_distributions)


def distribution_of(library: str) -> str:
    """Return the distribution that provides a library."""
    [name] = set(packages_distributions()[library])
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
def test_the_extra_of_a_provider_installs_all_that_it_needs(provider: str) -> None:
    """Each extra is complete by itself: client, simsimd and what else it imports."""
    plain = distributions(PROJECT["project"]["dependencies"])
    extra = PROJECT["project"]["optional-dependencies"][provider]
    needed = {
        distribution_of(library)
        for name in (
            f"providers/{provider}_request.py",
            f"providers/{provider}_chat.py",
            "providers/json_connection.py",
            "providers/retry.py",
            "index/sqlite/vectors.py",
        )
        for library in third_party(PACKAGE / name)
    }

    assert distributions(extra) == needed - plain


def test_the_extra_of_the_local_model_installs_all_that_it_needs() -> None:
    """It asks nobody, so it needs no client."""
    needed = {
        distribution_of(library)
        for name in ("providers/local_model.py", "index/sqlite/vectors.py")
        for library in third_party(PACKAGE / name)
    }

    plain = distributions(PROJECT["project"]["dependencies"])
    extra = PROJECT["project"]["optional-dependencies"]["local"]

    assert distributions(extra) == needed - plain


def test_optional_libraries_are_imported_only_where_they_are_optional() -> None:
    """Keyword search must work with the plain dependencies."""
    plain = distributions(PROJECT["project"]["dependencies"])
    optional = ("providers/", "index/sqlite/vectors.py", "vault/keys.py")

    strays = [
        f"{name_of(module)}: {library}"
        for module in MODULES
        for library in third_party(module)
        if distribution_of(library) not in plain
        and not name_of(module).startswith(optional)
    ]

    assert strays == []


def test_a_library_has_one_home() -> None:
    """So that it can be exchanged by changing one place."""
    strays = [
        f"{name_of(module)}: {library}"
        for module in MODULES
        for library in third_party(module)
        if not name_of(module).startswith(HOMES[library])
    ]

    assert strays == []


def test_what_the_system_says_is_put_into_words_in_one_place() -> None:
    """One failure is told in the same words by every command."""
    readers = {
        name_of(module)
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "strerror"
            and not (isinstance(node.value, ast.Name) and node.value.id == "os")
        )
        or (isinstance(node, ast.Constant) and node.value == "strerror")
    }

    assert readers == {"files/errors.py"}


def private_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a module defines; a decorator may use a function."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )


def test_a_module_uses_each_of_its_private_names() -> None:
    """Who changes a number that nothing reads changes nothing."""
    unused = []
    for module in MODULES:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        used = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        unused += [
            f"{name_of(module)}: {name}"
            for name in private_names(tree)
            if re.match("_[^_]", name) and name not in used
        ]

    assert unused == []


def test_imports_go_downward_only() -> None:
    """A reader can understand a file without opening those above it."""
    upward = [
        f"{name} imports {used}"
        for name, all_used in imports_inside().items()
        for used in all_used
        if name  # the package itself names what is public, wherever it is
        and name.partition(".")[0] != used.partition(".")[0]
        and floor_of(used) >= floor_of(name)
    ]

    assert sorted(set(upward)) == []


def test_the_map_of_packages_is_that_of_the_tree() -> None:
    """A newcomer finds every package on it, those above first."""
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    lines = page.partition("## The folders")[2].split("```")[1].splitlines()
    rows = [re.findall(r"(\w+)(?:/|\.py)", line) for line in lines if line]
    tops = {dotted(module).partition(".")[0] for module in MODULES} - {""}

    assert sorted(itertools.chain(*rows)) == sorted(tops - {"version", "testing"})
    for above, below in itertools.pairwise(rows):
        assert min(map(floor_of, above)) >= max(map(floor_of, below)), (above, below)


def test_a_package_says_what_lives_there() -> None:
    """In the first line of its ``__init__``, with what does not."""
    for module in MODULES:
        if module.name == "__init__.py" and module.parent != PACKAGE:
            said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
            first = (said or "").partition("\n")[0]
            assert re.fullmatch(r"[A-Z].+[.:] .+\.", first), f"{module}: {first}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even inside functions, or for types alone: a circle is read as one file."""
    graph = imports_inside()
    circles = {name for name in graph if name in reached_from(name, graph)}

    assert sorted(circles) == []


def test_no_file_is_long() -> None:
    """One that is has two reasons to change."""
    long = {
        name_of(module): lines
        for module in MODULES
        if (lines := module.read_text(encoding="utf-8").count("\n")) > MAX_LINES
    }

    assert long == {}


def test_the_package_exports_what_it_lists() -> None:
    """Everything else may change in any release."""
    homes = vars(hivemind_memory)["_HOMES"]

    assert sorted(hivemind_memory.__all__) == sorted({*homes, "__version__"})
    for name in hivemind_memory.__all__:
        assert getattr(hivemind_memory, name) is not None
    with pytest.raises(AttributeError):
        _ = hivemind_memory.Manager


def test_every_mention_of_the_licence_agrees() -> None:
    """It is said in three places."""
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert licence.startswith("MIT License")
    assert "the Hivemind Memory authors" in licence
    assert PROJECT["project"]["license"] == "MIT"
    assert PROJECT["project"]["license-files"] == ["LICENSE"]


def test_the_changelog_has_the_version() -> None:
    """People look it up when they upgrade."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"\n## {hivemind_memory.__version__}" in text


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What building a copy of the project made."""

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


@pytest.mark.thorough
def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    """Tests and sample notes don't belong in a user's site-packages."""
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
    assert "hm = hivemind_memory.cli.start:run" in entry_points
    assert hivemind_memory.__version__ in wheel.name


@pytest.mark.thorough
def test_the_source_distribution_holds_the_project_and_nothing_else(
    built: Built,
) -> None:
    """Packagers run the tests from it."""
    [source] = built.dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert names == built.files | {"PKG-INFO"}


def test_the_command_is_the_one_that_is_installed() -> None:
    """``hm --version`` is the first thing that people type."""
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
