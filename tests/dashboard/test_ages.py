"""How long ago something was, as pages say it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.dashboard.ages import PageTime, age_words, exact_time
from hivemind_memory.model.clocks import in_zone
from tests.dashboard.reader import Reader
from tests.http_api.served import save

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=ZONE)
MADE = PageTime(
    NOW.timestamp(),
    lambda seconds: datetime.fromtimestamp(seconds, ZONE).isoformat(),
)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-11-21T09:59:30+02:00", "just now"),
        ("2026-11-21T09:58:00+02:00", "2 minutes ago"),
        ("2026-11-21T07:59:00Z", "1 minute ago"),
        ("2026-11-21T06:00:00+02:00", "4 hours ago"),
        ("2026-11-20T23:00:00+02:00", "11 hours ago"),
        ("2026-11-20T09:00:00+02:00", "yesterday"),
        ("2026-11-19T23:59:00+02:00", "2 days ago"),
        ("2026-11-21", "today"),
        ("2026-11-20", "yesterday"),
        ("2026-11-08", "13 days ago"),
        ("2026-11-07", "2 weeks ago"),
        ("2026-09-23", "8 weeks ago"),
        ("2026-09-22", "2 months ago"),
        ("2024-11-22", "24 months ago"),
        ("2023-11-21", "3 years ago"),
        ("2026-11-22", ""),
        ("2026-11-21T12:00:00+02:00", ""),
        ("soon", ""),
        ("", ""),
    ],
)
def test_an_age_is_in_the_unit_that_a_person_would_use(moment: str, words: str) -> None:
    """Days are those of the reader's calendar, wherever it was written."""
    assert age_words(moment, MADE) == words


def test_the_exact_time_is_that_of_the_reader() -> None:
    """A day stays a day."""
    assert exact_time("2026-11-21T07:59:00Z", MADE) == "2026-11-21 09:59"
    assert exact_time("2026-11-21", MADE) == "2026-11-21"


def test_a_list_shows_ages_with_the_exact_time_as_title(reader: Reader) -> None:
    """Dates had to be counted back from today."""
    save("port", "The port is 5432.", type="fact")

    for path in ("", "?q=port", "/port", "/notes"):
        page = reader.page(path).text

        today = datetime.now(UTC).year
        assert f'<time datetime="{today}-' in page, path
        assert ">just now</time>" in page or ">today</time>" in page, path


def test_the_minute_is_that_of_the_reader_too(reader: Reader, home: Path) -> None:
    """It was that of whoever wrote it, beside an age and a title that were not."""
    moment = "2020-01-01T23:30:00-11:00"
    head = f"id: 01K{'E' * 23}\ntype: fact\nkey: tea\ncreated: {moment}\n"
    (home / "memory" / "tea.md").write_text(f"---\n{head}---\nTea.\n", encoding="utf-8")
    with opening.open_memory() as memory:
        here = in_zone(moment, memory.clocks.local_iso)

    page = reader.page("/tea").text

    assert here[:10] != moment[:10]
    assert f"<td>{here[:16].replace('T', ' ')}</td>" in page
