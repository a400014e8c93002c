"""The times that a query names: "in May", "last week", 2023-05, 先月.

One rule for many languages: a query is cut into words and numbers, and words are
looked up in tables of months, units and fixed phrases. Anything ambiguous is
not treated as a time: "may" and "march" count only beside a number or after a
preposition.

Loaded only for a query that may name a time; see ``terms.may_name_time``.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from unicodedata import combining, normalize

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.time_words import (
    AGO_BEFORE,
    AGO_BEHIND,
    ALONE,
    ARTICLES,
    BEFORE_TIME,
    BETWEEN,
    LAST,
    ORDINAL_ENDINGS,
    SINCE,
    THIS,
    UNSPACED,
    UNSPACED_SINCE,
    UNSPACED_UNITS,
    VERSION_WORDS,
    WITHIN,
    YEAR_WORDS,
    tables,
)

MAX_CHARS = 1_000
"""Characters of a query that are read for times."""

YEARS_BACK = 10
"""Years that "in May" or "on 7 May" may mean, this one included."""

MAX_SPANS = 4 * YEARS_BACK
"""Times of one query that count."""

_EARLIEST_YEAR = 1970
_MAX_AMOUNT = 1_000
_DAYS_OF_WEEK = 7
_MONTHS_OF_YEAR = 12
_LAST_DAY_OF_MONTH = 31


class TimeSpan(NamedTuple):
    """Days from the first to the last, both included, since the epoch."""

    first: int
    last: int


def time_spans(query: str, today: int) -> tuple[TimeSpan, ...]:
    """Return the times that *query* names, each once; empty: none.

    Args:
        query: In any language that the tables know.
        today: Days since the epoch, which "yesterday" and "May" are counted from.

    >>> time_spans("what did we decide on 7 May 2023?", 20_000)
    (TimeSpan(first=19484, last=19484),)
    >>> time_spans("what may go wrong?", 20_000)
    ()
    """
    return _Reader(query[:MAX_CHARS], today).spans()


def _folded(text: str) -> str:
    """Return *text* in lower case, without accents."""
    if text.isascii():
        return text.lower()
    plain = normalize("NFKD", normalize("NFKC", text).casefold())
    bare = "".join(char for char in plain if not combining(char))
    # Syllables of Hangul fall apart in NFKD.
    return normalize("NFC", bare.translate({0x142: "l", 0x131: "i", 0xF8: "o"}))


def _ends_with_since(words: list[str]) -> bool:
    """Return whether some words end with "since" or "since the"."""
    while words and words[-1] in ARTICLES:
        words = words[:-1]
    return bool(words) and words[-1] in SINCE


class _Reader:
    """Reads one query."""

    def __init__(self, text: str, today: int) -> None:
        self._epoch = date(1970, 1, 1)
        self._day = timedelta(days=1)
        self._today = self._epoch + today * self._day
        self._text = _folded(text)
        self._found: dict[TimeSpan, None] = {}

    def spans(self) -> tuple[TimeSpan, ...]:
        """Return what was found."""
        self._read_digits()
        if not self._text.isascii():
            self._read_unspaced()
        self._words = re.findall(r"\d+|[^\W\d_]+", self._text)
        for at, word in enumerate(self._words):
            self._read_word(at, word)
        return tuple(self._found)[:MAX_SPANS]

    # -- What is found, as days --------------------------------------------------------

    def _add(self, first: int, last: int) -> None:
        """Add a time, in days from the epoch."""
        self._found[TimeSpan(first, last)] = None

    def _add_date(
        self, year: int, month: int = 0, day: int = 0, *, is_since: bool = False
    ) -> None:
        """Add a year, a month of it, or a day; a date that does not exist is skipped.

        Args:
            year: 1 to 9999.
            month: 1 to 12; 0: the whole year.
            day: 1 to 31; 0: the whole month.
            is_since: All from then until today.
        """
        try:
            first = date(year, month or 1, day or 1)
            if day:
                behind = first + self._day
            elif month:
                months = year * _MONTHS_OF_YEAR + month
                behind = date(
                    months // _MONTHS_OF_YEAR, months % _MONTHS_OF_YEAR + 1, 1
                )
            else:
                behind = date(year + 1, 1, 1)
        except (ValueError, OverflowError):
            return
        last = self._today if is_since else behind - self._day
        self._add((first - self._epoch).days, (max(first, last) - self._epoch).days)

    def _add_newest(self, month: int, day: int = 0) -> None:
        """Add all from the newest month, or day, that has begun, until today."""
        for year in range(self._today.year, self._today.year - YEARS_BACK, -1):
            try:
                first = date(year, month, day or 1)
            except ValueError:
                continue  # 29 February
            if first <= self._today:
                self._add_date(year, month, day, is_since=True)
                return

    def _add_each_year(self, month: int, day: int = 0) -> None:
        """Add a month, or a day, whose year is not named: it may be any of the last."""
        for year in range(self._today.year, self._today.year - YEARS_BACK, -1):
            self._add_date(year, month, day)

    def _add_unit(self, unit: str, offset: int, *, is_since: bool = False) -> None:
        """Add the day, calendar week, month or year so many after this one."""
        today = self._today
        if unit in ("day", "week"):
            now, length = (today - self._epoch).days, 1
            first = now + offset
            if unit == "week":
                length = _DAYS_OF_WEEK
                first = now - today.weekday() + offset * length
            self._add(first, max(first, now) if is_since else first + length - 1)
        elif unit == "month":
            months = today.year * _MONTHS_OF_YEAR + today.month - 1 + offset
            year, month = divmod(months, _MONTHS_OF_YEAR)
            self._add_date(year, month + 1, is_since=is_since)
        else:
            self._add_date(today.year + offset, is_since=is_since)

    def _add_recent(self, unit: str, count: int) -> None:
        """Add the time from so many units ago until today."""
        days = {"day": 1, "week": 7, "month": 31, "year": 366}[unit]
        today = (self._today - self._epoch).days
        self._add(today - days * count, today)

    # -- How it is written -------------------------------------------------------------

    def _read_digits(self) -> None:
        """Take dates of digits, and leave blanks: 2023-05-07, 2023/05, 7.5.2023."""

        def words_before(match: re.Match[str]) -> list[str]:
            return re.findall(r"[^\W\d_]+", match.string[: match.start()][-20:])

        def take_iso(match: re.Match[str]) -> str:
            is_since = _ends_with_since(words_before(match))
            self._add_date(*map(int, match.groups("0")), is_since=is_since)
            return " "

        def take_dotted(match: re.Match[str]) -> str:
            before = words_before(match)
            if before and before[-1] in VERSION_WORDS:
                return match[0]
            day, month, year = map(int, match.groups())
            self._add_date(year, month, day, is_since=_ends_with_since(before))
            return " "

        self._text = re.sub(
            r"(?<![\d.-])((?:19|20)\d\d)[-/](\d\d?)(?:[-/](\d\d?))?(?!-?\d)",
            take_iso,
            self._text,
        )
        self._text = re.sub(
            # Neither part of a version or an address, nor followed by a port.
            r"(?<![\w.@])(?<!\w[/:])(\d\d?)\. ?(\d\d?)\. ?((?:19|20)\d\d)"
            r"(?!\w|[.:/]\w|-(?!\d\d?\.)\w)",
            take_dotted,
            self._text,
        )

    def _read_unspaced(self) -> None:
        """Take times of scripts without blanks, and leave blanks."""

        def take_date(match: re.Match[str]) -> str:
            is_since = bool(since.match(match.string, match.end()))
            self._add_date(*map(int, match.groups("0")), is_since=is_since)
            return " "

        def take_month(match: re.Match[str]) -> str:
            is_since = bool(since.match(match.string, match.end()))
            add = self._add_newest if is_since else self._add_each_year
            add(*map(int, match.groups("0")))
            return " "

        def take_amount(match: re.Match[str]) -> str:
            amount, unit = min(_MAX_AMOUNT, int(match[1])), match[2]
            self._add_unit(UNSPACED_UNITS[unit[-1]], -amount)
            return " "

        since = re.compile(rf" ?(?:{'|'.join(UNSPACED_SINCE)})")
        month_and_day = r"(\d\d?) ?[月월] ?(?:(\d\d?) ?[日号號일])?"
        for (unit, offset), words in UNSPACED.items():
            if unit == "year":
                year = str(self._today.year + offset)
                named = words.replace(" ", "|")
                self._text = re.sub(
                    rf"(?:{named})[的の]? ?(?={month_and_day})", f"{year}年", self._text
                )
        for pattern, take in (
            (
                r"(\d{1,4}) ?(天|日|일|周|週間|주|[个個かヶ]月|달|年|년) ?[前전]",
                take_amount,
            ),
            (rf"((?:19|20)\d\d) ?[年년] ?(?:{month_and_day})?", take_date),
            (rf"(?<!\d){month_and_day}", take_month),
        ):
            self._text = re.sub(pattern, take, self._text)
        for (unit, offset), words in UNSPACED.items():
            for word in words.split():
                if (at := self._text.find(word)) >= 0:
                    is_since = bool(since.match(self._text, at + len(word)))
                    self._text = self._text.replace(word, " ")
                    self._add_unit(unit, offset, is_since=is_since)

    def _read_word(self, at: int, word: str) -> None:
        """Take the time that begins or is at a word, if one does."""
        known = tables()
        if word in ALONE:
            is_before = self._words[max(0, at - 2) : at] == ["day", "before"]
            is_since = self._is_since(at - 2 * is_before)
            self._add_unit("day", ALONE[word] - is_before, is_since=is_since)
        elif word in known.months:
            self._read_month(at, known.months[word])
        elif word in known.units:
            self._read_unit(at, known.units[word])
        elif word in known.weekdays:
            is_since = self._is_since(at - (self._word(at - 1) in LAST))
            if is_since or self._has_beside(at, LAST):
                back = self._today.weekday() + 1 - known.weekdays[word]
                back = back % _DAYS_OF_WEEK or _DAYS_OF_WEEK
                self._add_unit("day", -back, is_since=is_since)
        elif word == "q":
            self._read_quarter(at)
        elif self._year(at) and self._word(at - 1) in BEFORE_TIME | YEAR_WORDS | SINCE:
            left = at - (self._word(at - 1) in YEAR_WORDS)
            self._add_date(int(word), is_since=self._is_since(left))

    def _read_month(self, at: int, month: int) -> None:
        """Take a month with what is next to it: 7 May 2023, mayo de 2023, in May."""
        before = at - 1
        for words in (BETWEEN, ORDINAL_ENDINGS):
            if self._word(before) in words:
                before -= 1
        day = self._number(before, _LAST_DAY_OF_MONTH)
        left = before - 1 if day else before
        behind = at + 1
        if not day:
            day = self._number(behind, _LAST_DAY_OF_MONTH)
            if day:
                behind += 1
                if self._word(behind) in ORDINAL_ENDINGS:
                    behind += 1
        if self._word(behind) in BETWEEN:
            behind += 1
        year = self._year(behind)
        if year:
            self._words[behind] = ""  # it is no year by itself
        else:
            year = self._take_relative_year(behind)
        is_since = self._is_since(left + (self._word(left) not in LAST))
        if year:
            self._add_date(year, month, day, is_since=is_since)
        elif not day and self._word(at - 1) in LAST:
            is_over = month < self._today.month
            self._add_date(self._today.year - (not is_over), month, is_since=is_since)
        elif is_since:
            self._add_newest(month, day)
        elif day or self._word(at - 1) in BEFORE_TIME | THIS:
            self._add_each_year(month, day)

    def _take_relative_year(self, at: int) -> int:
        """Take "last year" or "año pasado" behind a month; 0: it is not there."""
        first, second = self._word(at), self._word(at + 1)
        if not {first, second} & YEAR_WORDS:
            return 0
        is_last = bool({first, second} & LAST)
        if not is_last and first not in THIS:
            return 0
        self._words[at] = self._words[at + 1] = ""
        return self._today.year - is_last

    def _read_unit(self, at: int, unit: str) -> None:
        """Take "last week", "semana pasada", "this month", "3 days ago"."""
        amount = self._amount(at - 1)
        if amount:
            before, behind = self._words[max(0, at - 4) : at - 1], self._word(at + 1)
            is_recent = self._word(at - 2) in LAST or behind in LAST
            if is_recent or self._is_since(at - 1):
                self._add_recent(unit, amount)
            elif behind in AGO_BEHIND or not AGO_BEFORE.isdisjoint(before):
                self._add_unit(unit, -amount)
        elif self._word(at - 2) == "the" and self._word(at - 3) in WITHIN:
            if self._word(at - 1) in LAST:
                self._add_recent(unit, 1)
        else:
            is_since = self._is_since(at - (self._word(at - 1) in LAST | THIS))
            if self._has_beside(at, LAST):
                self._add_unit(unit, -1, is_since=is_since)
            elif self._word(at - 1) in THIS:
                self._add_unit(unit, 0, is_since=is_since)

    def _read_quarter(self, at: int) -> None:
        """Take Q3 2025, or Q3 of any year."""
        quarter = self._number(at + 1, 4)
        if not quarter:
            return
        named = self._year(at + 2)
        is_since, start = self._is_since(at), 3 * quarter - 2
        if is_since and not named:
            self._add_newest(start)
            return
        years = [named] if named else [self._today.year - n for n in range(YEARS_BACK)]
        for year in years:
            for month in (start,) if is_since else range(start, start + 3):
                self._add_date(year, month, is_since=is_since)

    # -- What is next to it ---------------------------------------------------------

    def _word(self, at: int) -> str:
        """Return a word, empty beyond the ends."""
        return self._words[at] if 0 <= at < len(self._words) else ""

    def _is_since(self, at: int) -> bool:
        """Whether "since" is before a word, or before the article of the word."""
        return _ends_with_since(self._words[max(0, at - 3) : max(0, at)])

    def _has_beside(self, at: int, words: frozenset[str]) -> bool:
        """Whether the word before or after is one of some."""
        return self._word(at - 1) in words or self._word(at + 1) in words

    def _number(self, at: int, most: int) -> int:
        """Return the number at a place; 0: none, or too large."""
        word = self._word(at)
        number = int(word) if word.isdecimal() and len(word) < 3 else 0
        return number if number <= most else 0

    def _amount(self, at: int) -> int:
        """Return a number of digits or in words; 0: none."""
        word = self._word(at)
        if word.isdecimal():
            return min(_MAX_AMOUNT, int(word)) if len(word) < 5 else 0
        return tables().numbers.get(word, 0)

    def _year(self, at: int) -> int:
        """Return the year at a place; 0: none."""
        word = self._word(at)
        if len(word) != 4 or not word.isdecimal():
            return 0
        year = int(word)
        return year if _EARLIEST_YEAR <= year <= self._today.year + 1 else 0
