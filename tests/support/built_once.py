"""Folders that many tests begin with: built once in a process, then copied.

A copy is a folder with files of its own: what a test does to it, no other test sees.
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

_MADE = mkdtemp()
atexit.register(shutil.rmtree, _MADE, ignore_errors=True)


def build_once(name: str, folder: Path, build: Callable[[], object]) -> None:
    """Fill a folder: call *build*, or copy what it made the first time.

    Args:
        name: Names what is built, in all tests.
        folder: Does not exist, or is empty.
        build: Writes into the folder, and nowhere else.
    """
    made = Path(_MADE) / name
    if made.exists():
        shutil.copytree(made, folder, symlinks=True, dirs_exist_ok=True)
        return
    build()
    shutil.copytree(folder, made, symlinks=True)
