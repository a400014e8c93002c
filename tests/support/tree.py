"""The project's own files: what a clone of it would hold."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NOT_OURS = frozenset(
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

    What git tracks or would track; where there is no repository (an unpacked source
    distribution), everything that is not made by tools.
    """
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        names = {Path(name) for name in listed.decode().split("\0") if name}
        return sorted(name for name in names if (ROOT / name).is_file())
    return sorted(
        path.relative_to(ROOT)
        for path in ROOT.rglob("*")
        if path.is_file() and _NOT_OURS.isdisjoint(path.relative_to(ROOT).parts)
    )


def text_files() -> list[Path]:
    """Return the files of the project that hold text."""
    return [name for name in project_files() if b"\0" not in (ROOT / name).read_bytes()]


def copy_project(target: Path, *, as_repository: bool = False) -> Path:
    """Copy the project's files to *target* as if they were new; return *target*."""
    for name in project_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target / name)
        shutil.copymode(ROOT / name, target / name)
    if as_repository:
        author = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            [*author, "commit", "-q", "-m", "all of it"],
        ):
            subprocess.run(["git", *words], cwd=target, check=True)
    return target
