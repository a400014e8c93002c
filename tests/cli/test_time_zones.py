"""Times are shown, and days meant, in the time zone of the reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Hm


def test_a_log_shows_what_was_written_elsewhere_in_local_time(
    hm: Hm, home: Path, travel: Callable[[str], None]
) -> None:
    """It showed 12:00 among rows of 03:02, and --since took the day of elsewhere."""
    travel("UTC")
    rice = hm("save", "rice", "--json", "We eat rice.").json["path"]
    note = home / "memory" / rice
    at = "2026-11-22T01:30:00+09:00"
    lines = note.read_text().split("\n")
    changed = (
        f"{line.partition(':')[0]}: {at}" if line[:3] in {"cre", "upd"} else line
        for line in lines
    )
    note.write_text("\n".join(changed))

    assert hm("log").out.startswith("2026-11-21 16:30\t")
    assert hm("history", "rice").out.startswith("2026-11-21 16:30 ")
    assert "\t2026-11-21\t" in hm("list", "--memories").out
    assert hm("log", "--since", "2026-11-22").out == ""
    assert hm("forget", "--day", "2026-11-22", "--yes").code == 1
    travel("Asia/Tokyo")
    assert hm("log").out.startswith("2026-11-22 01:30\t")
    assert hm("log", "--since", "2026-11-22").out != ""
    assert hm("forget", "--day", "2026-11-22", "--yes").code == 0


def test_the_way_to_reopen_is_where_it_is_looked_for(hm: Hm) -> None:
    """In the answer of `hm done`, in its help, and in what `hm reopen` says."""
    hm("save", "buy milk", "--type", "todo", "Buy milk.")

    assert "`hm done --reopen 'buy milk'` opens it again" in hm("done", "buy milk").err
    assert "--reopen" in hm("help", "done").out.partition("Options")[0]
    assert "hm done --reopen" in hm("reopen", "milk").err
    assert hm("done", "--reopen", "buy milk").out.startswith("open again")
