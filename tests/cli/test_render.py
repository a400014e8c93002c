"""What is printed, from values alone."""

from __future__ import annotations

import pytest

from hivemind_memory.cli import output
from hivemind_memory.cli.commands.search import print_answer, report_lines
from hivemind_memory.cli.commands.watch import event_line
from hivemind_memory.cli.commands.write import print_written
from hivemind_memory.memory.no_vectors import NO_VECTORS_YET
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.query import Hit, SearchAnswer, SearchReport
from hivemind_memory.model.results import EmbedResult, SyncResult, WriteResult
from hivemind_memory.model.snapshot import SkippedNote
from hivemind_memory.watch.events import (
    Embedded,
    Following,
    Leading,
    StateChanged,
    Synced,
    SyncFailed,
    WatchState,
)


def a_hit(**fields: object) -> Hit:
    usual = {"path": "a.md", "start_line": 2, "end_line": 3, "score": 0.5}
    usual["retrievers"] = ("words",)
    return Hit(**{**usual, "relevance": 0.5, "snippet": "x", **fields})  # type: ignore[arg-type]


def a_report(**fields: object) -> SearchReport:
    usual = {"mode": "hybrid", "reason": "", "is_fresh": True}
    return SearchReport(**{**usual, **fields})  # type: ignore[arg-type]


def test_a_strong_answer_needs_one_line() -> None:
    """Talk that is always the same is not read."""
    answer = SearchAnswer(hits=(a_hit(), a_hit()), report=a_report())

    assert report_lines(answer) == ["2 hits by hybrid search"]


def test_that_there_are_no_vectors_is_said_where_it_matters() -> None:
    """It stood under every answer, the best ones too, for who wants no vectors."""
    report = a_report(mode="keyword", reason=NO_VECTORS_YET)
    good = SearchAnswer(hits=(a_hit(),), report=report)

    assert report_lines(good) == ["1 hit by keyword search"]
    weak = report_lines(
        SearchAnswer(
            hits=good.hits,
            report=a_report(confidence="weak", mode="keyword", reason=NO_VECTORS_YET),
        )
    )
    assert weak[0].endswith("(no vectors yet; `hm status` says why)")


def test_every_weakness_is_told() -> None:
    """No answer is silently weaker."""
    report = a_report(
        mode="keyword",
        reason="the provider does not answer",
        is_fresh=False,
        stale_notes=1,
        skipped_notes=2,
        pending_vectors=3,
        ignored_terms=4,
        warnings=("the index was busy",),
    )

    lines = report_lines(SearchAnswer(hits=(a_hit(),), report=report))

    assert lines[0] == "1 hit by keyword search (the provider does not answer)"
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "3", "the"]
    assert "4 terms" in lines[4]
    assert lines[5] == "the index was busy"


def test_a_hit_in_a_pipe_is_a_place_and_its_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first can be given to `hm get`, the others are indented."""
    hits = (a_hit(headings=("A", "B"), snippet="one\r\n\ntwo\n"), a_hit(path="b\n.md"))

    print_answer(SearchAnswer(hits=hits, report=a_report()), "one", as_json=False)

    assert capsys.readouterr().out == (
        "a.md:2-3  0.50  A > B\n    one\n    \n    two\n\nb\\n.md:2-3  0.50\n    x\n"
    )


def test_a_sync_tells_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """Results to standard output, worries to standard error."""
    skipped = tuple(SkippedNote(path=f"{n}.md", reason="odd") for n in range(12))
    result = SyncResult(added=1, recovered=1, skipped=skipped, took_s=0.5)
    embedding = EmbedResult(embedded=1, from_cache=2, pending=3, problem="no quota")

    output.print_sync(result, embedding, as_json=False)

    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "1 added, 0 updated, 0 removed, 0 unchanged (0.50 s)",
        "1 text embedded, 2 from the cache",
    ]
    assert "skipped 9.md: odd\nand 2 more; `hm status` lists them\n" in err
    assert "1 saved entry was missing from a note" in err
    assert "3 chunks without a vector: no quota" in err


def test_a_write_that_is_not_indexed_says_when_it_will_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is saved all the same."""
    written = WriteResult(
        path=NotePath("a.md"),
        id="01",
        start_line=3,
        end_line=5,
        is_indexed=False,
        warnings=("the next search indexes it", "a key was masked"),
    )

    print_written(written, as_json=False)

    out, err = capsys.readouterr()
    assert out == "saved a.md:3-5 (01)\n"
    assert err == "the next search indexes it\na key was masked\n"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Leading(), "watching; Ctrl-C stops"),
        (Following(leader="pid 7"), "pid 7 is already watching; on standby"),
        (StateChanged(state=WatchState(mode="native")), "the system reports changes"),
        (
            StateChanged(state=WatchState(mode="polling", reason="no watches left")),
            "checking every few seconds: no watches left",
        ),
        (
            Synced(cause="hint", result=SyncResult(updated=1, unchanged=4)),
            "1 updated; 5 notes (0 ms)",
        ),
        (Synced(cause="rescan", result=SyncResult(unchanged=4)), ""),
        (Synced(cause="start", result=SyncResult()), "up to date; 0 notes (0 ms)"),
        (
            SyncFailed(error=OSError("disk gone."), retry_in_s=2.0),
            "could not sync: disk gone. Trying again in 2 s.",
        ),
        (Embedded(result=EmbedResult()), ""),
        (Embedded(result=EmbedResult(embedded=2)), "2 vectors made"),
        (
            Embedded(result=EmbedResult(pending=2, problem="401")),
            "2 pending: 401",
        ),
    ],
)
def test_the_watch_tells_each_event_in_one_line(event: object, line: str) -> None:
    """And nothing where nothing happened."""
    assert event_line(event) == line  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (5_250_000_000, "5.2 GB")],
)
def test_sizes_are_for_people(size: int, text: str) -> None:
    """Programs have --json."""
    assert output.size_text(size) == text
