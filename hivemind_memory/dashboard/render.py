"""Makes the HTML of a page from its template.

Every text is escaped, and shows what would hide or turn it. What is Markdown is made
HTML by ``markdown.html``; nothing else passes as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from hivemind_memory.curation.status_names import status_name
from hivemind_memory.dashboard.addresses import (
    hit_address,
    memory_address,
    segment,
)
from hivemind_memory.dashboard.ages import PageTime, age_words, exact_time
from hivemind_memory.dashboard.purge_words import place_text, why_text
from hivemind_memory.dashboard.reply import static_address
from hivemind_memory.dashboard.shown_text import hidden_names, masked_text
from hivemind_memory.markdown.html import NO_LINKS, to_html
from hivemind_memory.markdown.plain_text import plain_text
from hivemind_memory.model.display import count_text, escape_text, shorten
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.redaction import mask

_TIME = Markup('<time datetime="{}" title="{}">{}</time>')
_WORD = re.compile(r"\w{2,}")
_MAX_WORDS = 20
_MIN_PART = 4
"""Letters of a word that is marked within others: `deploy` in `deploys`."""

_COMMON = frozenset(
    _WORD.findall(
        "about an and are as at be by can do does for from has have how in is it my not"
        " of on or our should that the there they this to was we were what when where"
        " which who why will with you your"
        " das der die ein eine für ich im ist mit und von wie wir wo zu"
    )
)


class Renderer:
    """Renders the templates."""

    def __init__(self) -> None:
        """Compile nothing yet."""
        self._environment = Environment(
            loader=PackageLoader("hivemind_memory.dashboard"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_visible,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            ago=ago,
            coded=coded,
            count=count_text,
            day=day_of,
            hidden_names=hidden_names,
            highlighted=highlighted,
            hit_address=hit_address,
            markdown=markdown,
            masked=mask,
            memory_address=memory_address,
            minute=minute,
            ms=milliseconds,
            plain=plain,
            number=lambda number: f"{number:,}",
            place=place_text,
            percent=lambda share: f"{share * 100:.0f} %",
            scope=scope_text,
            segment=segment,
            sentence=sentence,
            short=shorten,
            status=status_name,
            typed=lambda text: escape(str(text)),
            why=why_text,
        )
        self._environment.tests["untrusted"] = lambda source: not is_trusted(source)
        self._environment.globals.update(static=static_address, in_inbox=lambda: 0)

    def page(self, template: str, values: Mapping[str, Any]) -> str:
        """Return a page.

        Args:
            template: Name of a file in ``templates/``.
            values: What it shows.
        """
        return self._environment.get_template(template).render(values)


def day_of(moment: str) -> str:
    """Return the day of a moment, ISO 8601.

    >>> day_of("2026-11-21T09:30:00+01:00")
    '2026-11-21'
    """
    return moment[:10]


@pass_context
def ago(context: Context, moment: str) -> Markup | str:
    """Return a time of the past as HTML: how long ago, the exact time as its title.

    Args:
        context: Of the page; its ``time`` is a ``PageTime``.
        moment: ISO 8601, or a day; of what is neither, its beginning is returned.
    """
    made: PageTime | None = context.get("time")
    words = age_words(moment, made) if made else ""
    if made is None or not words:
        return minute_of(moment)
    exact = escape_text(exact_time(moment, made))
    return _TIME.format(escape_text(moment), exact, words)


def coded(text: str) -> Markup:
    """Return a text as HTML in which commands between backticks are code.

    >>> coded("`hm edit` <opens> it")
    Markup('<code>hm edit</code> &lt;opens&gt; it')
    """
    parts = escape_text(text).split("`")
    if len(parts) % 2 == 0:  # one of them is text
        return escape(escape_text(text))
    code = Markup("<code>{}</code>")
    shown = [
        code.format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    ]
    return Markup("").join(shown)


def markdown(
    text: str,
    links: Mapping[str, str] = NO_LINKS,
    *,
    has_ids: bool = False,
    line: int = 0,
) -> Markup:
    """Return Markdown as HTML; see ``to_html``.

    Args:
        text: The Markdown.
        links: Name between double brackets -> address of its page.
        has_ids: As in ``to_html``.
        line: As in ``to_html``.
    """
    html = to_html(escape_text(text), links, has_ids=has_ids, line=line)
    return Markup(html)  # noqa: S704


def plain(text: str, limit_chars: int, separator: str = " ") -> str:
    r"""Return the beginning of Markdown without its signs; see ``plain_text``.

    Args:
        text: The Markdown.
        limit_chars: Of what is returned.
        separator: Between paragraphs or items.

    >>> plain("Run `make`,\n- then **wait**.", 40)
    'Run make, • then wait.'
    """
    # What signs have cut into pieces may be a secret once they are gone.
    return masked_text(plain_text(text, limit_chars, separator=separator))


def sentence(text: str) -> str:
    """Return a text as a sentence.

    >>> sentence("nothing matches the filters")
    'Nothing matches the filters.'
    """
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


@pass_context
def minute(context: Context, moment: str) -> str:
    """Return the minute of a moment in the time zone of the reader.

    Args:
        context: Of the page; its ``time`` is a ``PageTime``.
        moment: ISO 8601, or a day; of what is neither, its beginning is returned.
    """
    made: PageTime | None = context.get("time")
    return exact_time(moment, made) if made else minute_of(moment)


def minute_of(moment: str) -> str:
    """Return the minute of a moment, ISO 8601.

    >>> minute_of("2026-11-21T09:30:00+01:00")
    '2026-11-21 09:30'
    """
    return moment[:16].replace("T", " ")


def milliseconds(time_ms: float) -> str:
    """Return a time with two digits that count.

    >>> milliseconds(0.84), milliseconds(13.45), milliseconds(724.1)
    ('0.84 ms', '13 ms', '720 ms')
    """
    if time_ms < 10:
        return f"{float(f'{time_ms:.2g}'):g} ms"
    return f"{int(float(f'{time_ms:.2g}')):,} ms"


def highlighted(text: str, words: Sequence[str]) -> Markup:
    """Return a text as HTML in which some words are marked, in any case of letters.

    >>> highlighted("We <deploy>", ["deploy"])
    Markup('We &lt;<mark>deploy</mark>&gt;')
    """
    shown = escape_text(text)
    if not words:
        return escape(shown)
    pattern = re.compile("|".join(map(_pattern_of, words)), re.IGNORECASE)
    parts: list[Markup] = []
    done = 0
    for found in pattern.finditer(shown):
        parts += [
            escape(shown[done : found.start()]),
            Markup("<mark>{}</mark>").format(found[0]),
        ]
        done = found.end()
    return Markup("").join([*parts, escape(shown[done:])])


def words_of(question: str) -> list[str]:
    """Return the words of a question that are marked where they are found.

    Those that nearly every text has are not, unless there is no other.

    >>> words_of("When do we deploy?"), words_of("to be")
    (['deploy'], ['to', 'be'])
    """
    found = list(dict.fromkeys(_WORD.findall(question)))[:_MAX_WORDS]
    telling = [word for word in found if word.lower() not in _COMMON]
    return sorted(telling or found, key=len, reverse=True)


def _pattern_of(word: str) -> str:
    """Return the pattern of a word; a short one is marked only where it stands alone.

    Chinese and Japanese have no spaces between words.
    """
    is_short = len(word) < _MIN_PART and word.isascii()
    return rf"\b{re.escape(word)}\b" if is_short else re.escape(word)


def _visible(value: object) -> object:
    """Return a value as a template shows it."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    return escape_text(value)
