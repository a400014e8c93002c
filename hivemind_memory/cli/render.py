"""What commands share when they print: lines, notices, JSON, sizes and numbers.

For a pipe: one fact a line, nothing wrapped, nothing cut, no colour. Tables for a
terminal are in ``terminal``, which alone imports rich.
"""

from __future__ import annotations

import sys

from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.streams import is_terminal, write_stderr, write_stdout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.model.results import EmbedResult, SyncResult
    from hivemind_memory.model.snapshot import SkippedNote

_MAX_SKIPPED = 10


def print_line(text: str) -> None:
    """Print one line of data to standard output."""
    write_stdout(f"{escape_line(text)}\n")


def print_rows(rows: Iterable[Sequence[object]]) -> None:
    """Print one line for each row, its cells separated by tabs: for cut and awk."""
    lines = ("\t".join(escape_line(str(cell)) for cell in row) for row in rows)
    write_stdout("".join(f"{line}\n" for line in lines))


def print_notices(lines: Iterable[str]) -> None:
    """Print lines to standard error, wrapped at words on a terminal."""
    shown = [escape_line(line) for line in lines]
    if shown and is_terminal(sys.stderr):
        shown = [_wrapped(line) for line in shown]
    write_stderr("".join(f"{line}\n" for line in shown))


def print_json(value: object) -> None:
    """Print *value*, made of plain types and our values, as one JSON document."""
    from hivemind_memory.cli import as_json

    as_json.print_json(value)


def print_sync(result: SyncResult, embedding: EmbedResult, *, as_json: bool) -> None:
    """Print what a sync did."""
    if as_json:
        from hivemind_memory.cli.as_json import plain_value

        return print_json({**plain_value(result), "embedding": embedding})
    print_line(
        f"{result.added} added, {result.updated} updated, {result.removed} removed,"
        f" {result.unchanged} unchanged ({result.took_s:.2f} s)"
    )
    return print_indexed(result, embedding)


def print_indexed(result: SyncResult, embedding: EmbedResult) -> None:
    """Print what a sync and a rebuild have in common: vectors, skips, recoveries."""
    if embedding.embedded or embedding.from_cache:
        print_line(
            f"{count_text(embedding.embedded, 'text')} embedded,"
            f" {embedding.from_cache} from the cache"
        )
    notices = list(_skipped_lines(result.skipped))
    if result.recovered:
        entries = count_text(result.recovered, "saved entry was", "saved entries were")
        notices.append(f"{entries} missing from a note and restored")
    if embedding.problem:
        pending = count_text(embedding.pending, "text")
        notices.append(f"{pending} without a vector: {embedding.problem}")
    print_notices(notices)


def lines_text(path: str, start_line: int, end_line: int) -> str:
    """Return lines of a note as ``hm get`` takes them."""
    return f"{path}:{start_line}-{end_line}"


def minute_text(stamp: str) -> str:
    """Return a time in ISO form without its seconds.

    >>> minute_text("2026-11-21T09:30:12+01:00")
    '2026-11-21 09:30'
    """
    return stamp[:16].replace("T", " ")


def size_text(size_bytes: int) -> str:
    """Return a size as a person reads it.

    >>> size_text(999), size_text(1_536_000)
    ('999 B', '1.5 MB')
    """
    size = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"


def count_text(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _wrapped(line: str) -> str:
    """Return a line wrapped at words, as wide as the terminal is."""
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(20, get_terminal_size().columns)
    return fill(line, width, break_long_words=False, break_on_hyphens=False)


def _skipped_lines(skipped: Sequence[SkippedNote]) -> Iterable[str]:
    """Return the files that were left out, the first few of many."""
    for note in skipped[:_MAX_SKIPPED]:
        yield f"skipped {note.path}: {note.reason}"
    if len(skipped) > _MAX_SKIPPED:
        yield f"and {len(skipped) - _MAX_SKIPPED} more; `hm status` lists them"
