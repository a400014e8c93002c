"""Measure what 10,000 typed files cost beside as many chunks in a few hundred notes.

    python -m benchmarks.typed_speed [--files 10000] [--rounds 9] [--hm HM]

The same texts twice: once as the corpus has them, once each as a typed memory in a file
of its own, in five scopes. Every answer looks at every file, so what a scan costs more
is measured by itself and may be taken off.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shlex
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA, Corpus, corpus
from benchmarks.floors import stat_pass
from benchmarks.measure import in_turns, machine, peak_mib, run, shown_ms, table, timing
from benchmarks.place import Place, installed_hm, place
from hivemind_memory import Query, open_memory
from hivemind_memory.access.rules import Caller
from hivemind_memory.markdown.front_matter import render_header
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memory_types import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hivemind_memory import Memory

SCOPES = ("", "projects/shop/", "projects/site/", "teams/red/", "workspaces/web/")
ULID = "01JDK3R8Z6{:016d}"


def write_typed(made: Corpus, folder: Path, *, files: int, seed: int = 1) -> None:
    """Write the texts of a corpus as typed memories, one file each."""
    chance = random.Random(seed)
    types = sorted(BUILT_IN)
    texts = itertools.cycle(
        text
        for note in sorted(made.notes.rglob("*.md"))
        for text in note.read_text(encoding="utf-8").split("\n\n")
        if len(text) > 40
    )
    for number, text in enumerate(itertools.islice(texts, files)):
        path = folder / f"{chance.choice(SCOPES)}memory-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {
            "id": ULID.format(number),
            "type": chance.choice(types),
            "key": f"memory-{number}",
            "created": f"2026-{chance.randint(1, 11):02d}-03T10:00:00+00:00",
            "source": "agent",
            "related": [ULID.format(chance.randrange(files))],
        }
        path.write_text(f"{render_header(header)}{text}\n", encoding="utf-8")


@contextmanager
def typed_place(made: Corpus, hm: Sequence[str], files: int) -> Iterator[Place]:
    """Yield a home of typed files."""
    with tempfile.TemporaryDirectory(dir=DATA, prefix="typed-") as folder:
        home = Path(folder)
        write_typed(made, home / "memory", files=files)
        here = Place(home=home, hm=tuple(hm))
        run(here.command("sync"), env=here.env())
        # What is younger than two seconds is read again each time.
        time.sleep(2.5)
        run(here.command("sync"), env=here.env())
        yield here
        shutil.rmtree(home / "memory", ignore_errors=True)


def warm_rows(made: Corpus, core: Place, typed: Place, rounds: int) -> list[list[str]]:
    """Measure questions in one process."""
    memories = {
        name: open_memory(home=str(here.home), flags={"embedding_provider": "none"})
        for name, here in (("core", core), ("typed", typed))
    }
    memories["typed, one project"] = memories["typed"].as_caller(
        Caller(project="projects/shop")
    )
    queries = made.queries()
    rows = []
    for name, memory in memories.items():
        seconds = []
        for query in (*queries[:20], *(queries * max(1, rounds // 3))):
            started = time.perf_counter()
            memory.search(Query(text=query))
            seconds.append(time.perf_counter() - started)
        taken = timing(seconds[20:])
        folder = (core if name == "core" else typed).notes
        looks = [_timed(lambda folder=folder: _look(folder)) for _ in range(9)]  # type: ignore[misc]
        rows.append(
            [
                f"warm search, {name}",
                f"{shown_ms(taken.p50_ms)} / {shown_ms(taken.p95_ms)}",
                f"a check of every file: {shown_ms(timing(looks).p50_ms)}",
            ]
        )
    rows.append(_save_row(memories["typed"]))
    for memory in memories.values():
        memory.close()
    return rows


def cold_rows(made: Corpus, core: Place, typed: Place, rounds: int) -> list[list[str]]:
    """Measure commands from start to exit."""
    queries = itertools.cycle(made.queries()[::7])

    def search(here: Place) -> Callable[[], object]:
        return lambda: run(
            here.command("search", "--json", next(queries)), env=here.env()
        )

    def sync(here: Place) -> Callable[[], object]:
        return lambda: run(here.command("sync"), env=here.env())

    count = itertools.count()
    times = in_turns(
        rounds,
        {
            "hm search, core": search(core),
            "hm search, typed": search(typed),
            "hm sync, core": sync(core),
            "hm sync, typed": sync(typed),
            "hm save, typed": lambda: run(
                typed.command("save", f"new-{next(count)}", "a new memory of one line"),
                env=typed.env(),
            ),
        },
    )
    rows = [[name, str(taken), ""] for name, taken in times.items()]
    peak = peak_mib(typed.command("search", "--json", "deploy"), env=typed.env())
    return [*rows, ["peak RAM of hm search, typed", f"{peak:.0f} MiB", ""]]


def _save_row(memory: Memory) -> list[str]:
    """Measure saves in one process; each is synced and indexed."""
    seconds = [
        _timed(
            lambda number=number: memory.curation.save(  # type: ignore[misc]
                NewMemory(key=f"saved-{number}", content=f"what number {number} says")
            )
        )
        for number in range(20)
    ]
    taken = timing(seconds[3:])
    text = f"{shown_ms(taken.p50_ms)} / {shown_ms(taken.p95_ms)}"
    return ["save in one process, typed", text, "synced to the disk and indexed"]


def _timed(thing: Callable[[], object]) -> float:
    """Return how many seconds something takes."""
    started = time.perf_counter()
    thing()
    return time.perf_counter() - started


def _look(folder: Path) -> None:
    """Look at every file, also of the scopes."""
    stat_pass(folder)
    for scope in SCOPES[1:]:
        if (folder / scope).is_dir():
            stat_pass(folder / scope)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--hm", type=shlex.split, default=installed_hm())
    options = parser.parse_args()
    made = corpus(chunks=options.files)
    with (
        place(made, options.hm) as core,
        typed_place(made, options.hm, options.files) as typed,
    ):
        run(core.command("sync"), env=core.env())
        rows = warm_rows(made, core, typed, options.rounds)
        rows += cold_rows(made, core, typed, options.rounds)
    print(table(("what", "median / p95, or median and least", "of it"), rows))
    print(machine())


if __name__ == "__main__":
    main()
