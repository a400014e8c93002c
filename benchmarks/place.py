"""A home for each measurement, and the rows of its results."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA, Corpus
from benchmarks.measure import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

IN_PLACE = "from hivemind_memory.cli.main import run; run()"
SETTINGS_OF_OTHERS = ("HIVEMIND_", "OPENAI_", "OLLAMA_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: what was measured, beside its floor, and the goal."""

    what: str
    measured: str
    floor: str
    ratio: str
    goal: str
    is_reached: bool

    def cells(self) -> list[str]:
        """Return the line as text."""
        verdict = "yes" if self.is_reached else "**no**"
        return [self.what, self.measured, self.floor, self.ratio, self.goal, verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A home folder with a copy of the notes, and the command to use there."""

    home: Path
    hm: tuple[str, ...]

    @property
    def notes(self) -> Path:
        """The folder of notes: where the command looks unless told otherwise."""
        return self.home / "memory"

    @property
    def index_file(self) -> Path:
        """The index, where it lies by default."""
        return self.notes / ".index" / "memory.db"

    def env(self) -> dict[str, str]:
        """Return the environment of a command that works here."""
        return os.environ | {"HIVEMIND_HOME": str(self.home), "PYTHONPATH": str(ROOT)}

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of ``hm`` with some arguments."""
        return [*self.hm, *arguments]

    def forget_index(self) -> None:
        """Leave only notes and settings, as before the first index."""
        for entry in self.home.iterdir():
            if entry.name not in {"memory", "config.json"}:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.rmtree(self.notes / ".index", ignore_errors=True)


@contextlib.contextmanager
def place(
    made: Corpus, hm: Sequence[str], settings: Mapping[str, object] | None = None
) -> Iterator[Place]:
    """Copy the notes into a new home, and remove it at the end.

    Args:
        made: Whose notes; the copies keep their dates.
        hm: The command, as words.
        settings: Keys of config.json under ``memory``; none: no such file.
    """
    with tempfile.TemporaryDirectory(dir=DATA, prefix="home-") as folder:
        home = Path(folder)
        shutil.copytree(made.notes, home / "memory")
        if settings:
            config = json.dumps({"memory": dict(settings)})
            (home / "config.json").write_text(config, encoding="utf-8")
        yield Place(home=home, hm=tuple(hm))


def forget_settings() -> None:
    """Remove the user's settings from the environment."""
    for name in [name for name in os.environ if name.startswith(SETTINGS_OF_OTHERS)]:
        del os.environ[name]


def installed_hm() -> list[str]:
    """Return the ``hm`` beside this Python, else one that runs the source tree."""
    script = Path(sys.executable).with_name("hm")
    return [str(script)] if script.exists() else [sys.executable, "-c", IN_PLACE]
