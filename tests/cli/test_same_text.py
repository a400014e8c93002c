"""What a person reads of a text that stands in several places."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Hm

TEXT = "The session ends after a day.\n"


def test_a_person_reads_where_else_it_stands(hm: Hm, home: Path) -> None:
    """In text and in JSON."""
    (home / "memory").mkdir(parents=True, exist_ok=True)
    for number in range(6):
        (home / "memory" / f"n{number}.md").write_text(TEXT)

    line = "    also in n1.md:1, n2.md:1, n3.md:1 and 2 more places\n"
    assert line in hm("search", "session").out
    assert '"n5.md:1"' in hm("search", "session", "--json").out
