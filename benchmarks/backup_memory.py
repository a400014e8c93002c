"""How much memory a backup and a restore take, for many notes and for a large one.

python -m benchmarks.backup_memory --megabytes 300
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import peak_mib
from benchmarks.place import installed_hm

_WORDS = 4096


def main() -> int:
    """Print the peaks of each case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=300)
    megabytes = parser.parse_args().megabytes
    for title, notes in (("1 MB each", megabytes), ("one note", 1)):
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
        with tempfile.TemporaryDirectory(dir=shared) as made:
            folder = Path(made)
            _write_notes(folder / "home" / "memory", notes, megabytes // notes)
            archive = str(folder / "b.tar.gz")
            backup = _peak(folder / "home", "backup", archive)
            restore = _peak(folder / "other", "restore-backup", archive)
            print(
                f"{megabytes} MB, {title}: backup {backup:.0f} MiB,"
                f" restore {restore:.0f} MiB",
                flush=True,
            )
    return 0


def _write_notes(folder: Path, count: int, megabytes: int) -> None:
    """Write notes of words that compress as text does."""
    folder.mkdir(parents=True)
    chosen = random.Random(7)
    words = [f"{chosen.getrandbits(30):x}" for _ in range(_WORDS)]
    text = ""
    while len(text) < 1_000_000:
        text += " ".join(chosen.choices(words, k=1000)) + "\n"
    for number in range(count):
        with open(folder / f"n{number:04d}.md", "w") as note:
            note.writelines(text for _ in range(megabytes))


def _peak(home: Path, *words: str) -> float:
    """Run a command for a home and return its peak in MiB."""
    env = {**os.environ, "HIVEMIND_HOME": str(home), "HOME": str(home.parent)}
    return peak_mib([*installed_hm(), *words], env=env)


if __name__ == "__main__":
    sys.exit(main())
