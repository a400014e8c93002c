"""Two hundred random memories, purged one by one: is any byte of them left?

    python -m benchmarks.purge [--memories 200] [--seed 1]
    python -m benchmarks.purge --busy 1
    python -m benchmarks.purge --injecting 1

They are entries and typed memories in several scopes, some replaced, some forgotten
first, in notes with other text and other line ends; found, given vectors, and shown in
a git worktree. After each purge its words, its id and its key, from which the name of
its note is made, are looked for in the raw bytes of every file below the home and of
the worktree, as written, in either case, as stems and as ends of stems, in UTF-8 and
UTF-16; and so are its vectors. An entry whose purge is complete is written again, which
has to be refused. At last the index is compared with one made from nothing.

Then what other processes do in the middle of a purge: one gives a note another name
once it has been chosen, one has read a note before and writes to the index after it,
one has planned a section before and writes it after it.

With ``--busy`` so many other processes search, write to the same notes, save and
rebuild all the while. A receipt may then say that something is left, and where; what
it calls complete has to be. Whatever was left must be gone at the end. With
``--injecting`` so many put sections into the worktree and take them out again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import string
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from hivemind_memory.curation import purge
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.index.sqlite.vector_blocks import BLOCK_ROWS
from hivemind_memory.inject.injector import Injector
from hivemind_memory.inject.past_injections import InjectionTraces
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.note_indexer import NoteIndexer
from hivemind_memory.memory.open_index import IndexHandle
from hivemind_memory.memory.sync import Syncer
from hivemind_memory.model.curation import PurgeResult
from hivemind_memory.opening import open_injector
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.testing import FakeEmbedder
from tests.support.fake_provider import FakeProvider
from tests.support.purge_rig import Bench, traces, vectors_of, words_of
from tests.support.sandbox import Sandbox, ask, difference_from_fresh

LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéñčфжя数据库備"
NOTES = ("crlf.md", "a.md", "b.md")
Use = Callable[[Memory, int, int, random.Random], None]
"""What a process beside the purges does, with its number and that of its call."""

SHAPES = ("{0}", "# {0}\n\n- {1}\n- {2}", "```\n{0}\n{1}", "{0}\r\n\r\n\r\n{1} {2}")


def main() -> int:
    """Run and print what was found as JSON; 1 when any byte was left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0, help="processes beside it")
    parser.add_argument("--injecting", type=int, default=0, help="processes beside it")
    wanted = parser.parse_args()
    chance = random.Random(wanted.seed)
    beside = [use] * wanted.busy + [use_worktree] * wanted.injecting
    with tempfile.TemporaryDirectory() as folder:
        report = run(Path(folder), wanted.memories, beside, chance)
    print(json.dumps({"seed": wanted.seed, **report}, indent=2))
    # Another process that rebuilds leaves the vectors that come last in no block.
    is_blind = (
        report["seen before"] != wanted.memories
        or report["vectors seen before"] != wanted.memories
        or report["blocks seen before"] < wanted.memories // (2 if beside else 1)
    )
    is_incomplete = report["incomplete"] and not beside
    bad = report["left"] or is_incomplete or report["differences"] or is_blind
    return 1 if bad else 0


def run(
    folder: Path, memories: int, busy: Sequence[Use], chance: random.Random
) -> dict[str, Any]:
    """Write, find, show, purge, look."""
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    shop = folder / "shop"
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    sandbox = Sandbox(folder / "home", provider=FakeProvider(FakeEmbedder()))
    left: list[str] = []
    incomplete: list[str] = []
    unfinished: list[str] = []
    times_s: list[float] = []
    seen = vectors_seen = blocks_seen = 0
    with busy_processes(sandbox, busy) as end_work, sandbox.memory() as memory:
        injector = open_injector(memory)
        bench = Bench(
            sandbox, memory, InjectionTraces(InjectionLog(memory.state()), injector)
        )
        texts, entries = written(bench, memories, chance)
        memory.sync()
        memory.embed_pending()
        # Vectors that come last are in no block until so many more have come.
        sandbox.save("filler.md", filler())
        memory.sync()
        memory.embed_pending()
        vectors: dict[str, set[bytes]] = {}
        for name, text in texts.items():
            found = vectors_of(sandbox.index_file, words_of(text))
            vectors[name] = found.whole | found.halves
            vectors_seen += _are_seen(sandbox, found.whole)
            blocks_seen += _are_seen(sandbox, found.in_blocks)
        injector.inject(str(shop))
        names = list(texts)
        chance.shuffle(names)
        for name in names:
            if chance.random() < 0.3:
                bench.forget(name)
            if chance.random() < 0.1:
                memory.rebuild()
            words = words_of(texts[name])
            seen += bool(traces(sandbox.home, words, sandbox.index_file))
            started = time.perf_counter()
            receipt = bench.purge(name)
            times_s.append(time.perf_counter() - started)
            incomplete += [f"{one.what}: {one.why}" for one in receipt.left]
            if receipt.left and busy:
                unfinished.append(name)
            else:
                left += saved_again(bench, *entries.get(name, ("", "")))
                left += traces(sandbox.home, words, sandbox.index_file, vectors[name])
                left += traces(shop, words, sandbox.index_file)
        words = words_of(" ".join(texts.values()))
        busy_calls = end_work()
        if busy:
            for name in unfinished:
                left += [f"{one.what}: {one.why}" for one in bench.purge(name).left]
        every_vector = set().union(*vectors.values())
        left += traces(sandbox.home, words, sandbox.index_file, every_vector)
        for word in ("flimmerkeks", "floobersnatch"):
            left += renamed_meanwhile(bench, word)
            left += read_before(bench, f"quibble{word}")
            left += planned_before(bench, injector, shop, f"snark{word}")
        differences = difference_from_fresh(sandbox, memory)
    return {
        "memories": memories,
        "seen before": seen,
        "vectors seen before": vectors_seen,
        "blocks seen before": blocks_seen,
        "words looked for": len(words),
        "left": left[:20],
        "incomplete": incomplete[:20],
        "calls of busy processes": busy_calls,
        "differences": differences[:5],
        "purge_s_median": round(statistics.median(times_s), 3),
        "purge_s_most": round(max(times_s), 3),
    }


def _are_seen(sandbox: Sandbox, forms: set[bytes]) -> bool:
    """Return whether some bytes are in a file of the home; nothing is in none."""
    return bool(traces(sandbox.home, (), sandbox.index_file, forms))


@contextmanager
def busy_processes(
    sandbox: Sandbox, uses: Sequence[Use]
) -> Iterator[Callable[[], int]]:
    """Start processes that use the memory; yield what ends them and counts calls."""
    over = sandbox.home.parent / "over"
    told = [sandbox.home.parent / f"busy-{number}" for number in range(len(uses))]
    children = [
        start_busy(sandbox, number, over, told[number], use)
        for number, use in enumerate(uses)
    ]

    def end_work() -> int:
        over.touch()
        while children:
            status = os.waitpid(children.pop(), 0)[1]
            assert not status, "a process beside the purges has failed"
        calls = [int(file.read_text()) for file in told]
        assert all(calls), "a process beside the purges did nothing"
        return sum(calls)

    try:
        yield end_work
    finally:
        end_work()


def start_busy(sandbox: Sandbox, number: int, over: Path, told: Path, use: Use) -> int:
    """Return the id of a process that uses the memory until *over* exists."""
    pid = os.fork()
    if pid:
        return pid
    calls, code = 0, 1
    chance = random.Random(f"busy {number}")
    try:
        with Sandbox(sandbox.home).memory() as memory:
            while not over.exists():
                calls += 1
                use(memory, number, calls, chance)
        told.write_text(str(calls))
        code = 0
    except BaseException:  # noqa: BLE001 - a forked child must not go on
        traceback.print_exc()
        told.write_text("0")
    finally:
        os._exit(code)


def use(memory: Memory, number: int, call: int, chance: random.Random) -> None:
    """Do one thing that people and agents do while another purges."""
    what = chance.random()
    if what < 0.6:
        ask(memory, f"call {chance.randrange(call)} replaced weather")
    elif what < 0.7:
        memory.write(f"call {call} of {number}", file=chance.choice(NOTES))
    elif what < 0.98:
        memory.sync()
    else:
        memory.rebuild()


def use_worktree(memory: Memory, _: int, __: int, chance: random.Random) -> None:
    """Put a section into the worktree, or take it out, while another purges."""
    shop = str(Path(memory.places.home).parent / "shop")
    with suppress(HivemindError):  # the purge is changing the same files
        if chance.random() < 0.8:
            open_injector(memory).inject(shop)
        else:
            open_injector(memory).eject(shop)


def filler() -> str:
    """Return a note of so many entries that the vectors of all are put into blocks."""
    entries = (
        f"<!-- hm id=01JDK3R8Z6{at:016} source=agent at=2026-11-21T14:03:11+01:00 -->\n"
        f"It is {at} o'clock.\n"
        for at in range(BLOCK_ROWS)
    )
    return "\n".join(entries)


def renamed_meanwhile(bench: Bench, word: str) -> list[str]:
    """Return what is left if a person moves a note while it is being purged."""
    key = f"vault-{len(word)}"
    saved = bench.save(key, f"Behind it are {word} of the harbour.")
    notes = bench.sandbox.notes

    def rename_and_plan(*given: Any, plan: Any = purge.plan_purge) -> Any:
        (notes / saved.path).rename(notes / "moved.md")
        return plan(*given)

    with mock.patch.object(purge, "plan_purge", rename_and_plan):
        receipt = bench.purge(key)
    unfinished = [f"{one.what}: {one.why}" for one in receipt.left]
    left = traces(bench.sandbox.home, words_of(word), bench.sandbox.index_file)
    return unfinished + left


def read_before(bench: Bench, word: str) -> list[str]:
    """Return what is left if a process indexes what it read before a purge."""
    path = "late.md"
    bench.sandbox.save(path, "# Late\n")
    bench.memory.sync()
    with mock.patch.object(IndexHandle, "index_note", return_value=False):
        entry = bench.memory.write(f"The word of the harbour is {word}.", file=path)

    receipts: list[PurgeResult] = []
    write = NoteIndexer._write  # noqa: SLF001 - between reading and writing

    def purge_and_write(*given: Any) -> None:
        if given[2] and not receipts:
            with mock.patch.object(NoteIndexer, "_write", write):
                receipts.append(bench.purge(entry.id))
        write(*given)

    with (
        bench.sandbox.memory() as other,
        mock.patch.object(Syncer, "_is_quick", return_value=False),
        mock.patch.object(NoteIndexer, "_write", purge_and_write),
    ):
        other.sync()
    assert receipts
    return traces(bench.sandbox.home, words_of(word), bench.sandbox.index_file)


def planned_before(
    bench: Bench, injector: Injector, shop: Path, word: str
) -> list[str]:
    """Return what is left if a section was planned before a purge, to be written."""
    key = f"crane-{len(word)}"
    bench.save(key, f"Under it are {word} of the harbour.", type="identity")
    lock, is_purged = injector.lock_of, False

    def purge_first(*given: Any) -> Any:
        nonlocal is_purged
        if not is_purged:
            is_purged = True
            bench.purge(key)
        return lock(*given)

    with mock.patch.object(injector, "lock_of", purge_first):
        planned = injector.inject(str(shop)).planned
    assert is_purged, "nothing was purged between the plan and the lock"
    assert planned is not None
    assert word not in planned.body
    return traces(shop, words_of(word), bench.sandbox.index_file)


def saved_again(bench: Bench, text: str, path: str) -> list[str]:
    """Return what is wrong if a purged entry may be written to its note again."""
    if not text:
        return []
    try:
        entry = bench.memory.write(text, file=path).id
    except UsageError:
        return []
    return [f"{path}: the purged text was saved again as {entry}"]


def written(
    bench: Bench, memories: int, chance: random.Random
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Write memories of all kinds.

    Returns:
        Name -> what must not be left of it; and of each entry, its text and its note.
    """
    bench.sandbox.save("crlf.md", "# Mine\r\n\r\nno newline at the end")
    texts: dict[str, str] = {}
    entries: dict[str, tuple[str, str]] = {}
    for number in range(memories):
        words = ["".join(chance.choices(LETTERS, k=14)) for _ in range(6)]
        text = chance.choice(SHAPES).format(
            *(" ".join(words[at::3]) for at in range(3))
        )
        scope = chance.choice(["", "teams/red", "projects/shop", "workspaces/web"])
        if number % 3:
            # The note of an entry keeps its name, so that is not looked for.
            note = chance.choice([*NOTES, f"own-{number}.md"])
            path = f"{scope}/{note}" if scope else note
            entry = bench.memory.write(text, file=path).id
            texts[entry] = f"{text} {entry}"
            entries[entry] = text, path
        else:
            kind = chance.choice(["lesson", "context", "fact", "identity"])
            key = "".join(chance.choices(string.ascii_lowercase, k=14))
            saved = bench.save(key, text, scope=scope, type=kind)
            if number % 2:
                first, text = text, f"{words[0]} {words[5]} replaced"
                saved = bench.save(key, text, scope=scope, reason="it changed")
                text = f"{first} {text}"
            texts[saved.id] = f"{text} {saved.id} {key}"
        bench.found(words[0])
        if number % 5 == 0:
            bench.sandbox.save(f"other-{number}.md", f"Weather on day {number}.\n")
    return texts, entries


if __name__ == "__main__":
    sys.exit(main())
