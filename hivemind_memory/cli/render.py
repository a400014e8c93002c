"""Prints answers: as JSON, for a pipe, or for a terminal. All printing of data is here.

For a pipe: one fact a line, nothing wrapped, nothing cut, no colour. What a terminal
gets is made in ``terminal``, which alone imports rich.
"""

from __future__ import annotations

import sys

from hivemind_memory.cli.escape import escape_for_pipe, escape_for_terminal, escape_line
from hivemind_memory.cli.streams import is_terminal, write_stderr, write_stdout
from hivemind_memory.model.trust import is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.model.query import Hit, SearchAnswer, SearchReport
    from hivemind_memory.model.results import (
        Diagnosis,
        EmbedResult,
        ListedNote,
        MemoryStatus,
        NoteLines,
        SyncResult,
        WriteResult,
    )
    from hivemind_memory.model.snapshot import SkippedNote

_MAX_SKIPPED = 10


def show_answer(answer: SearchAnswer, question: str, *, as_json: bool) -> None:
    """Print hits to standard output and how strong the answer is to standard error."""
    if as_json:
        from hivemind_memory.cli.as_json import answer_value, print_json

        return print_json(answer_value(answer))
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import hits_text

        write_stdout(hits_text(answer.hits, question))
    else:
        write_stdout("\n".join(map(_hit_text, answer.hits)))
    _print_to_stderr(report_lines(answer))
    return None


def report_lines(answer: SearchAnswer) -> list[str]:
    """Return in words how strong the answer is, and what to do when it is empty."""
    report, count = answer.report, len(answer.hits)
    if count:
        reason = f" ({report.reason})" if report.reason else ""
        lines = [f"{count_text(count, 'hit')} by {report.mode} search{reason}"]
    else:
        lines = [f"nothing found: {report.why_empty}"]
        if report.suggestions:
            lines.append(f"did you mean: {', '.join(report.suggestions)}?")
    return [*lines, *_weaknesses(report), *report.warnings]


def show_passage(passage: NoteLines, *, as_json: bool) -> None:
    """Print lines of a note: as they are into a pipe, made visible on a terminal."""
    if as_json:
        return _print_json(passage)
    text = passage.text
    if text and not text.endswith("\n"):
        text += "\n"
    write_stdout(escape_for_terminal(text) if is_terminal(sys.stdout) else text)
    return None


def show_notes(notes: Sequence[ListedNote], *, as_json: bool) -> None:
    """Print one line for each note: path, bytes, last change, chunks."""
    if as_json:
        return _print_json(notes)
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import notes_text

        return write_stdout(notes_text(notes))
    return write_stdout(
        "".join(
            f"{escape_line(note.path)}\t{note.size_bytes}\t{note.updated_at}"
            f"\t{note.chunk_count}\n"
            for note in notes
        )
    )


def show_written(written: WriteResult, *, as_json: bool) -> None:
    """Print where an entry went."""
    if as_json:
        return _print_json(written)
    place = f"{written.path}:{written.start_line}-{written.end_line}"
    write_stdout(f"saved {escape_line(place)}\n")
    later = () if written.is_indexed else ("the next search will index it first",)
    _print_to_stderr((*later, *written.warnings))
    return None


def show_rebuild(result: SyncResult, embedding: EmbedResult, *, as_json: bool) -> None:
    """Print what a rebuild made."""
    if as_json:
        return show_sync(result, embedding, as_json=True)
    notes = count_text(result.added + result.updated + result.unchanged, "note")
    chunks = count_text(result.chunks, "chunk")
    write_stdout(f"{notes} indexed anew, {chunks} ({result.took_s:.2f} s)\n")
    return _show_rest(result, embedding)


def show_sync(result: SyncResult, embedding: EmbedResult, *, as_json: bool) -> None:
    """Print what a sync did."""
    if as_json:
        from hivemind_memory.cli.as_json import plain_value

        return _print_json({**plain_value(result), "embedding": embedding})
    write_stdout(
        f"{result.added} added, {result.updated} updated, {result.removed} removed,"
        f" {result.unchanged} unchanged ({result.took_s:.2f} s)\n"
    )
    return _show_rest(result, embedding)


def _show_rest(result: SyncResult, embedding: EmbedResult) -> None:
    """Print what a sync and a rebuild have in common."""
    if embedding.embedded or embedding.from_cache:
        write_stdout(
            f"{count_text(embedding.embedded, 'text')} embedded,"
            f" {embedding.from_cache} from the cache\n"
        )
    talk = list(_skipped_lines(result.skipped))
    if result.recovered:
        entries = count_text(result.recovered, "saved entry", "saved entries")
        talk.append(f"{entries} had vanished from a note and came back")
    if embedding.problem:
        waiting = count_text(embedding.pending, "text")
        talk.append(f"{waiting} without a vector: {embedding.problem}")
    _print_to_stderr(talk)


def show_status(status: MemoryStatus, *, as_json: bool) -> None:
    """Print what there is."""
    if as_json:
        return _print_json(status)
    rows = _status_rows(status)
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import rows_text

        write_stdout(rows_text(rows))
    else:
        write_stdout("".join(f"{key}: {escape_line(value)}\n" for key, value in rows))
    return None


def show_diagnosis(diagnosis: Diagnosis, *, as_json: bool) -> None:
    """Print each thing that was looked at, and what to do about it."""
    if as_json:
        from hivemind_memory.cli.as_json import diagnosis_value

        return _print_json(diagnosis_value(diagnosis))
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import findings_text

        return write_stdout(findings_text(diagnosis.findings))
    for finding in diagnosis.findings:
        verdict = "ok" if finding.is_ok else "WRONG"
        write_stdout(f"{verdict}\t{finding.name}\t{escape_line(finding.detail)}\n")
        if finding.hint:
            write_stdout(f"\thint\t{escape_line(finding.hint)}\n")
    return None


def _print_to_stderr(lines: Iterable[str]) -> None:
    """Print lines to standard error, folded at words on a terminal."""
    shown = [escape_line(line) for line in lines]
    if shown and is_terminal(sys.stderr):
        shown = [_folded(line) for line in shown]
    write_stderr("".join(f"{line}\n" for line in shown))


def _folded(line: str) -> str:
    """Return a line of talk folded at words, as wide as the terminal is."""
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(20, get_terminal_size().columns)
    return fill(line, width, break_long_words=False, break_on_hyphens=False)


def _print_json(value: object) -> None:
    """Print JSON; the module is imported only when it is asked for."""
    from hivemind_memory.cli.as_json import print_json

    print_json(value)


def _hit_text(hit: Hit) -> str:
    """Return one hit for a pipe: a line that says where, then its lines, indented."""
    place = escape_line(place_text(hit))
    trail = f"  {escape_line(' > '.join(hit.headings))}" if hit.headings else ""
    snippet = escape_for_pipe(hit.snippet).rstrip("\n").replace("\n", "\n    ")
    parts = "".join(f"    {line}\n" for line in part_lines(hit))
    label = f"  {escape_line(told)}" if (told := label_text(hit)) else ""
    return f"{place}  {hit.score:.2f}{label}{trail}\n{parts}    {snippet}\n"


def place_text(hit: Hit) -> str:
    """Return where a hit is, as ``hm get`` takes it."""
    return f"{hit.path}:{hit.start_line}-{hit.end_line}"


def label_text(hit: Hit) -> str:
    """Return what a reader must know of a memory: its type, and what speaks against it.

    Empty for free text that nothing disputes.
    """
    said = [hit.type] if hit.type else []
    if hit.standing == "superseded":
        said.append("superseded")
    elif hit.standing == "waiting":
        said.append("untrusted, in the inbox")
    elif not is_trusted(hit.source):
        said.append(f"untrusted, {hit.source}")
    if hit.disputed_by:
        said.append(f"disputed by {hit.disputed_by}")
    return f"[{', '.join(said)}]" if said else ""


def part_lines(hit: Hit) -> list[str]:
    """Return how the score of an explained hit came about, one summand a line."""
    return [
        escape_line(f"{part.value:+.4f} {part.name}  {part.note}".rstrip())
        for part in hit.parts
    ]


def _weaknesses(report: SearchReport) -> Iterable[str]:
    """Return what the answer lacks, in words."""
    if not report.is_fresh:
        changed = count_text(report.stale_notes, "changed note")
        yield f"{changed} not yet in the index; `hm sync` brings it up to date"
    if report.skipped_notes:
        files = count_text(report.skipped_notes, "file")
        yield f"{files} could not be read; `hm status` names them"
    if report.pending_vectors:
        yield f"{count_text(report.pending_vectors, 'chunk')} without a vector yet"
    if report.cut.superseded:
        memories = count_text(report.cut.superseded, "memory", "memories")
        yield f"{memories} left out that a hit supersedes"
    if report.ignored_terms:
        yield f"the question is long: its last {report.ignored_terms} terms not used"


def _status_rows(status: MemoryStatus) -> list[tuple[str, str]]:
    """Return the lines of ``hm status``: what, and how much."""
    rows = [
        ("notes folder", status.memory_dir),
        ("index", f"{status.index_file} ({size_text(status.index_bytes)})"),
        ("notes", f"{status.notes:,}"),
        ("chunks", f"{status.chunks:,}"),
        ("vectors", f"{status.vectors:,}, {status.pending_vectors:,} waiting"),
        ("lanes", ", ".join(status.lanes) or "none"),
        ("provider", f"{status.provider}: {status.provider_reason}"),
        ("leader", status.leader or "nobody; `hm watch` is not running"),
        ("not indexed yet", count_text(status.stale_notes, "changed note")),
    ]
    if status.unsettled_entries:
        entries = count_text(status.unsettled_entries, "fresh entry", "fresh entries")
        rows.append(("journal", f"{entries}, kept twice for ten minutes"))
    return [*rows, *(("skipped", f"{x.path}: {x.reason}") for x in status.skipped)]


def _skipped_lines(skipped: Sequence[SkippedNote]) -> Iterable[str]:
    """Return the files that were left out, the first few of many."""
    for note in skipped[:_MAX_SKIPPED]:
        yield f"skipped {note.path}: {note.reason}"
    if len(skipped) > _MAX_SKIPPED:
        yield f"and {len(skipped) - _MAX_SKIPPED} more; `hm status` names them"


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
