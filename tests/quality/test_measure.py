"""How figures are taken and written down."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.embedding_server import hash_vectors
from benchmarks.measure import in_turns, peak_mib, table, timing, write_figures


def test_only_the_text_between_the_markers_is_replaced(tmp_path: Path) -> None:
    """The words around the figures are a person's."""
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- figures: a -->\nold\n<!-- end of figures -->\n"
        "between\n<!-- figures: b -->\nkept\n<!-- end of figures -->\n",
        encoding="utf-8",
    )

    write_figures(page, "a", "new")

    assert page.read_text(encoding="utf-8") == (
        "before\n<!-- figures: a -->\n\nnew\n\n<!-- end of figures -->\n"
        "between\n<!-- figures: b -->\nkept\n<!-- end of figures -->\n"
    )


def test_a_page_without_the_markers_is_refused(tmp_path: Path) -> None:
    """Figures that silently go nowhere are worse than an error."""
    page = tmp_path / "page.md"
    page.write_text("nothing here\n", encoding="utf-8")

    with pytest.raises(ValueError, match="no figures of a"):
        write_figures(page, "a", "new")


def test_median_and_95th_percentile_are_the_nearest_ranks() -> None:
    """Of the numbers 1 to 100 the 95th is the 95th percentile."""
    times = timing([number / 1e3 for number in range(100, 0, -1)])

    assert (times.p50_ms, times.p95_ms, times.least_ms) == (50.5, 95.0, 1.0)


def test_things_are_run_in_turns_and_the_first_round_does_not_count() -> None:
    """The first run fills caches and compiles modules."""
    done: list[str] = []

    times = in_turns(2, {"a": lambda: done.append("a"), "b": lambda: done.append("b")})

    assert done == ["a", "b"] * 3
    assert times["a"].tries == 2


def test_the_peak_is_that_of_the_program_and_not_of_this_process() -> None:
    """Linux counts the caller's memory until exec; a test run has plenty of it."""
    ballast = b"x" * 150_000_000

    peak = peak_mib([sys.executable, "-I", "-S", "-c", "pass"])

    assert len(ballast) == 150_000_000
    assert 3 < peak < 100


def test_columns_are_aligned() -> None:
    """The tables are read in the source as well."""
    assert table(["a", "bb"], [["ccc", "d"]]).splitlines() == [
        "| a   | bb |",
        "| --- | -- |",
        "| ccc | d  |",
    ]


def test_texts_with_common_words_are_near_in_the_hash_space() -> None:
    """Hybrid rows time real comparisons, not noise."""
    one, near, far = hash_vectors(["red boat", "red boats boat", "green tree"])

    def cosine(other: list[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert cosine(one) == pytest.approx(1, abs=1e-4)
    assert cosine(near) > 0.5 > cosine(far)
