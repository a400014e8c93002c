"""The files of the project: those that git tracks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MADE_BY_TOOLS = frozenset(
    {
        ".data",
        ".git",
        ".hypothesis",
        ".index",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".venv",
        "__pycache__",
        "build",
        "dist",
    }
)


def project_files() -> list[Path]:
    """Return every file of the project, relative to it, sorted.

    What git tracks; where there is no repository (an unpacked source distribution),
    everything that tools did not make. So a virtual environment or a scratch file
    inside the clone, whatever its name, is never taken for a part of the project.
    """
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        names = {Path(name) for name in listed.decode().split("\0") if name}
        return sorted(name for name in names if (ROOT / name).is_file())
    environments = {found.parent for found in ROOT.rglob("pyvenv.cfg")}
    return sorted(
        path.relative_to(ROOT)
        for path in ROOT.rglob("*")
        if path.is_file()
        and _MADE_BY_TOOLS.isdisjoint(path.relative_to(ROOT).parts)
        and environments.isdisjoint(path.parents)
    )


def text_files() -> list[Path]:
    """Return the files of the project that hold text."""
    return [name for name in project_files() if b"\0" not in (ROOT / name).read_bytes()]


def copy_project(target: Path, *, as_repository: bool = False) -> Path:
    """Copy the project's files to the new folder *target*; return *target*."""
    for name in project_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target / name)
        shutil.copymode(ROOT / name, target / name)
    if as_repository:
        author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            [*author, "commit", "-q", "-m", "all of it"],
        ):
            subprocess.run(["git", *words], cwd=target, check=True)
    return target
