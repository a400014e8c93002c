"""A question that names a time lifts what is from that time, and leaves nothing out."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.model.terms import _TIME_WORDS, may_name_time
from hivemind_memory.model.time_spans import MAX_SPANS, TimeSpan, time_spans
from hivemind_memory.model.time_words import ALONE, tables
from hivemind_memory.search.ranking import time_factor
from tests.support.sandbox import Sandbox, ask

EPOCH = date(1970, 1, 1)
TODAY = (date(2026, 11, 18) - EPOCH).days
"""A Wednesday."""


def named(question: str) -> list[tuple[str, str]]:
    """Return the times that a question names, as dates, in order."""

    def iso(day: int) -> str:
        return date.fromordinal(EPOCH.toordinal() + day).isoformat()

    return [(iso(span.first), iso(span.last)) for span in time_spans(question, TODAY)]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what broke on 2023-05-07?", "2023-05-07", "2023-05-07"),
        ("releases of 2023-05", "2023-05-01", "2023-05-31"),
        ("what broke on 7 May 2023?", "2023-05-07", "2023-05-07"),
        ("what broke on May 7th, 2023?", "2023-05-07", "2023-05-07"),
        ("on the 7th of May 2023", "2023-05-07", "2023-05-07"),
        ("what did we plan in Dec 2024", "2024-12-01", "2024-12-31"),
        ("what did we decide in 2022?", "2022-01-01", "2022-12-31"),
        ("yesterday's outage", "2026-11-17", "2026-11-17"),
        ("what did we decide last week?", "2026-11-09", "2026-11-15"),
        ("what is planned this month", "2026-11-01", "2026-11-30"),
        ("who was on call last year", "2025-01-01", "2025-12-31"),
        ("the deploy of last Friday", "2026-11-13", "2026-11-13"),
        ("what failed 3 days ago", "2026-11-15", "2026-11-15"),
        ("what failed two weeks ago", "2026-11-02", "2026-11-08"),
        ("a month ago", "2026-10-01", "2026-10-31"),
        ("decided ten days ago", "2026-11-08", "2026-11-08"),
        ("eight days ago", "2026-11-10", "2026-11-10"),
        ("the day before yesterday", "2026-11-16", "2026-11-16"),
        ("what changed since 2023", "2023-01-01", "2026-11-18"),
        ("what changed since May 2023", "2023-05-01", "2026-11-18"),
        ("what changed since May", "2026-05-01", "2026-11-18"),
        ("what changed since last May", "2026-05-01", "2026-11-18"),
        ("what changed since November", "2026-11-01", "2026-11-18"),
        ("what changed since last November", "2025-11-01", "2026-11-18"),
        ("what changed since 7 May", "2026-05-07", "2026-11-18"),
        ("since the 7th of December", "2025-12-07", "2026-11-18"),
        ("since May 7th, 2023", "2023-05-07", "2026-11-18"),
        ("since 29 February", "2024-02-29", "2026-11-18"),
        ("what changed since 2026-05-07?", "2026-05-07", "2026-11-18"),
        ("what changed since 2026-05?", "2026-05-01", "2026-11-18"),
        ("since the year 2023", "2023-01-01", "2026-11-18"),
        ("since yesterday", "2026-11-17", "2026-11-18"),
        ("since the day before yesterday", "2026-11-16", "2026-11-18"),
        ("since last week", "2026-11-09", "2026-11-18"),
        ("since this week", "2026-11-16", "2026-11-18"),
        ("since last month", "2026-10-01", "2026-11-18"),
        ("since last year", "2025-01-01", "2026-11-18"),
        ("since last Monday", "2026-11-16", "2026-11-18"),
        ("since Monday", "2026-11-16", "2026-11-18"),
        ("since three days", "2026-11-15", "2026-11-18"),
        ("since 10 days ago", "2026-11-08", "2026-11-18"),
        ("since Q3 2025", "2025-07-01", "2026-11-18"),
        ("since Q3", "2026-07-01", "2026-11-18"),
        ("since Q4", "2026-10-01", "2026-11-18"),
        ("seit gestern", "2026-11-17", "2026-11-18"),
        ("seit dem 7. Mai", "2026-05-07", "2026-11-18"),
        ("seit dem 7.5.2023", "2023-05-07", "2026-11-18"),
        ("seit letzter Woche", "2026-11-09", "2026-11-18"),
        ("depuis la semaine dernière", "2026-11-09", "2026-11-18"),
        ("2023年5月7日以来", "2023-05-07", "2026-11-18"),
        ("5月から何が変わった", "2026-05-01", "2026-11-18"),
        ("先週から", "2026-11-09", "2026-11-18"),
        ("작년 5월 7일부터", "2025-05-07", "2026-11-18"),
        ("어제 이후", "2026-11-17", "2026-11-18"),
        ("desde el lunes pasado", "2026-11-16", "2026-11-18"),
        ("the plan of last May", "2026-05-01", "2026-05-31"),
        ("what broke in May last year", "2025-05-01", "2025-05-31"),
        ("what broke on 7 May of last year", "2025-05-07", "2025-05-07"),
        ("im Mai letzten Jahres", "2025-05-01", "2025-05-31"),
        ("en mayo del año pasado", "2025-05-01", "2025-05-31"),
        ("in May this year", "2026-05-01", "2026-05-31"),
        ("去年5月", "2025-05-01", "2025-05-31"),
        ("去年的5月7日决定了什么", "2025-05-07", "2025-05-07"),
        ("一昨年の5月", "2024-05-01", "2024-05-31"),
        ("今年 5月", "2026-05-01", "2026-05-31"),
        ("작년 5월 7일에", "2025-05-07", "2025-05-07"),
        ("am 10.1.2020: was lief schief?", "2020-01-10", "2020-01-10"),
        ("(10.1.2020)", "2020-01-10", "2020-01-10"),
        ("the plan of last December", "2025-12-01", "2025-12-31"),
        ("in the last year", "2025-11-17", "2026-11-18"),
        ("2023-05-07-standup.md", "2023-05-07", "2023-05-07"),
        ("上上周", "2026-11-02", "2026-11-08"),
        ("incidents in the last 10 days", "2026-11-08", "2026-11-18"),
        ("was haben wir letzte Woche entschieden?", "2026-11-09", "2026-11-15"),
        ("Ausfall am 7.5.2023", "2023-05-07", "2023-05-07"),
        ("im März 2024", "2024-03-01", "2024-03-31"),
        ("vor drei Tagen", "2026-11-15", "2026-11-15"),
        ("letzten Freitag", "2026-11-13", "2026-11-13"),
        ("la panne de la semaine dernière", "2026-11-09", "2026-11-15"),
        ("il y a deux semaines", "2026-11-02", "2026-11-08"),
        ("en août 2023", "2023-08-01", "2023-08-31"),
        ("7 de mayo de 2023", "2023-05-07", "2023-05-07"),
        ("hace 3 días", "2026-11-15", "2026-11-15"),
        ("el año pasado", "2025-01-01", "2025-12-31"),
        ("la settimana scorsa", "2026-11-09", "2026-11-15"),
        ("due settimane fa", "2026-11-02", "2026-11-08"),
        ("no mês passado", "2026-10-01", "2026-10-31"),
        ("drie dagen geleden", "2026-11-15", "2026-11-15"),
        ("w zeszłym tygodniu", "2026-11-09", "2026-11-15"),
        ("что решили на прошлой неделе", "2026-11-09", "2026-11-15"),
        ("в мае 2023", "2023-05-01", "2023-05-31"),
        ("3 дня назад", "2026-11-15", "2026-11-15"),
        ("geçen hafta", "2026-11-09", "2026-11-15"),
        ("上周决定了什么", "2026-11-09", "2026-11-15"),
        ("2023年5月7日的故障", "2023-05-07", "2023-05-07"),
        ("3天前", "2026-11-15", "2026-11-15"),
        ("先月の会議", "2026-10-01", "2026-10-31"),
        ("2023年5月の障害", "2023-05-01", "2023-05-31"),
        ("지난주 회의", "2026-11-09", "2026-11-15"),
    ],
)
def test_a_time_is_found_in_the_words_of_many_languages(
    question: str, first: str, last: str
) -> None:
    """By day, month, year, or counted from today."""
    assert named(question) == [(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "who has 10.1.2020.5",
        "the router at 10.1.20.20",
        "ping 192.10.1.2020",
        "upgrade to v10.1.2020",
        "version 10.1.2020 is broken",
        "die Version 10.1.2020",
        "curl 10.1.2020:8080",
        "10.1.2020/24",
        "pkg-10.1.2020b2",
        "tool@10.1.2020",
        "https://example.com/10.1.2020",
        "10.1.2020-beta",
    ],
)
def test_a_version_or_an_address_names_no_time(question: str) -> None:
    """Its three numbers look like a day, a month and a year."""
    assert named(question) == []


def test_a_range_of_days_is_two_days() -> None:
    """A dash before a date is no part of a version."""
    assert named("7.5.2023-9.5.2023") == [
        ("2023-05-07", "2023-05-07"),
        ("2023-05-09", "2023-05-09"),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "what may go wrong?",
        "how do I march a struct",
        "which port does vlan 2001 use",
        "python 2022 crash",
        "error 404 since release 12",
        "version 1.2.2023.4",
        "release v2023.5.1",
        "next week",
        "run the job once a week",
        "wie deploye ich hier",
        "a 3 day trip",
        "what is a month",
        "the second of three",
        "ten years of logs",
        "done by 2030",
        "valid until 2027",
        "10.0.20.19",
        "2023-13-45",
        "31 February 2023",
        "",
    ],
)
def test_what_is_not_certainly_a_time_is_none(question: str) -> None:
    """A wrong guess would lift notes of a day that nobody asked about."""
    assert named(question) == []


def test_the_reader_is_loaded_for_every_question_that_names_a_time() -> None:
    """The words that decide it are those of the tables."""
    known = tables()
    words = {*ALONE, *known.months, *known.units, *known.weekdays}

    assert {word for word in words if word.isascii()} == set(_TIME_WORDS.split())
    assert may_name_time("since Monday")
    assert may_name_time("2023")
    assert may_name_time("上周")
    assert not may_name_time("which port does postgres use?")


def test_a_month_without_a_year_is_that_of_any_recent_year() -> None:
    """The notes of a person go back some years."""
    found = named("what did we change in May?")

    assert ("2026-05-01", "2026-05-31") in found
    assert ("2020-05-01", "2020-05-31") in found


@given(st.text(max_size=200) | st.text("0123456789.-/年月日前 MayqQ", max_size=60))
def test_any_text_names_some_times_or_none(text: str) -> None:
    """Never an error; first before last; not without bound."""
    spans = time_spans(text, TODAY)

    assert len(spans) <= MAX_SPANS
    assert all(span.first <= span.last for span in spans)


def test_what_is_written_later_gains_less_by_each_day() -> None:
    """And what was written before that time gains nothing."""
    span = TimeSpan(100, 106)
    factors = [time_factor(day, [span]) for day in (99, 103, 106, 107, 110, 200)]

    assert factors[0] == 1
    assert factors[1] == factors[2] == 1.5
    assert all(later < earlier for earlier, later in pairwise(factors[2:]))
    assert factors[-1] == pytest.approx(1)
    assert time_factor(None, [span]) == 1


def test_notes_of_the_time_come_first_and_nothing_is_left_out(tmp_path: Path) -> None:
    """Five notes that say the same, one of the month that is asked for."""
    sandbox = Sandbox(tmp_path / "home")
    for month in range(1, 6):
        sandbox.save(
            f"2023-0{month}-10.md", f"# Retro\n\nThe deploy was slow, take {month}.\n"
        )
    with sandbox.memory() as memory:
        plain = ask(memory, "slow deploy").hits
        timed = ask(memory, "slow deploy in February 2023").hits

    assert plain[0].path != "2023-02-10.md"
    assert timed[0].path == "2023-02-10.md"
    assert {hit.path for hit in timed} == {hit.path for hit in plain}
