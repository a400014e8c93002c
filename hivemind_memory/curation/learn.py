"""Saves claims: what was found out, how certain it is, and what confirms it.

The key of a claim is made from its topic and its words, so the same claim replaces what
was known of it without a reason being given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date

from hivemind_memory.curation.lookup import is_name
from hivemind_memory.curation.save import save
from hivemind_memory.curation.validate import MAX_ITEMS, MAX_LINE_CHARS
from hivemind_memory.errors import KeyTakenError, UsageError
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.display import shorten
from hivemind_memory.model.keys import closest
from hivemind_memory.model.memory_types import CONFIDENCES
from hivemind_memory.model.own_forms import CLAIM_HASH_CHARS
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.slug import claim_prefix, hash_of
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction import mask_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import SaveResult


_MAX_TOPIC_CHARS = 200
_SHOWN_CHARS = 80
_WORD = lazy_re(r"\w+")
_URL = lazy_re(r"(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#\s]*@)?([^/?#:@\s]+)")
_PORT = lazy_re(r"([^:]+|\[.*\]):\d*")

_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"}
)
"""Labels before a country code below which names are registered, as in ``co.uk``. The
standard library has no public suffix list: everything below other such names, like
``github.io``, counts as one domain."""


def claim_key(topic: str, claim: str) -> str:
    """Return the key of a claim: ``learn:topic:hash``.

    Upper and lower case, punctuation and spaces of the claim make no difference.

    >>> claim_key("SQLite locks", "WAL allows one writer.") == claim_key(
    ...     "sqlite  locks", "WAL allows ONE writer"
    ... )
    True
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", claim).casefold())
    key_text = " ".join(words) or claim.strip()
    return claim_prefix(topic) + hash_of(key_text)[:CLAIM_HASH_CHARS]


def root_domain(name: str) -> str:
    """Return the registrable domain of a name: the part that has one owner.

    The last two labels; three under names like ``co.uk``. An IP address stays as it is;
    a port is ignored.

    >>> root_domain("docs.example.org:443"), root_domain("www.example.co.uk")
    ('example.org', 'example.co.uk')
    """
    with_port = _PORT.fullmatch(name.strip())
    host = with_port[1] if with_port else name.strip()
    labels = host.rstrip(".").lower().split(".")
    if labels[-1].isdigit():
        return ".".join(labels)
    is_below = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if is_below else -2 :])


def learn(
    context: CurationContext,
    wanted: NewMemory,
    *,
    topic: str,
    confidence: str,
    domains: Iterable[str] = (),
    corroborated: int | None = None,
    verified: str = "",
) -> SaveResult:
    """Save a claim; the same claim again replaces the earlier one.

    Unless a type is given, a claim of high confidence from two or more domains is a
    lesson, and any other a reference, which is not injected.

    Args:
        context: Of the caller.
        wanted: Its ``content`` is the claim; its key is made here.
        topic: What it is about, in a few words.
        confidence: high, medium or low.
        domains: Domains that confirm it; those with one root count as one source.
        corroborated: How many independent sources there are, at least as many as the
            domains have roots; None: that many.
        verified: ISO date of the last check; empty: today.

    Raises:
        UsageError: It cannot be saved as it is.
        HivemindError: As ``save`` raises.
    """
    named = validate_claim(topic, domains)
    roots = len({root_domain(domain) for domain in named})
    count = roots if corroborated is None else corroborated
    day = verified.strip() or context.now_iso()[:10]
    _check(confidence, count, day)
    if count < roots:
        plural = "s are" if roots > 1 else " is"
        raise UsageError(
            f"corroborated is {count} but {roots} domain{plural} named.",
            hint="Leave corroborated out, or name fewer domains.",
            effect="Nothing was saved",
        )
    is_certain = confidence == CONFIDENCES[0] and count > 1
    new = replaced(
        wanted,
        key=claim_key(topic, wanted.content),
        type=wanted.type or ("lesson" if is_certain else "reference"),
        more={
            **wanted.more,
            "confidence": confidence,
            "corroborated": count,
            "domains": ", ".join(named),
            "verified": day,
        },
    )
    try:
        return save(context, new)
    except KeyTakenError:
        reason = new.reason or f"verified again on {day}, confidence {confidence}"
        return save(context, replaced(new, reason=reason))


def validate_claim(topic: str, domains: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct domains of a claim; quick for any number of any length.

    Raises:
        UsageError: The topic is blank or too long, or there are too many domains.
    """
    stripped = tuple(
        dict.fromkeys(domain.strip() for domain in domains if domain.strip())
    )
    named = tuple(dict.fromkeys(map(str.lower, stripped)))
    if not topic.strip():
        raise _invalid("the topic is blank", "Name it in a few words: sqlite locks.")
    if not is_name(topic, _MAX_TOPIC_CHARS):
        raise _invalid("the topic is too long or not valid Unicode")
    if len(named) > MAX_ITEMS:
        raise _invalid(f"{len(named):,} domains are given; the limit is {MAX_ITEMS}")
    # As it was given: in small letters, a token is not seen to be one.
    if wrong := next((name for name in stripped if not _is_domain(name)), ""):
        raise _invalid(_domain_problem(wrong))
    return named


def _check(confidence: str, count: int, day: str) -> None:
    """Raise if a value of a claim is not valid."""
    problem = ""
    if confidence not in CONFIDENCES:
        problem = f"confidence must be one of {', '.join(CONFIDENCES)}"
    elif isinstance(count, bool) or not isinstance(count, int) or count < 0:
        problem = "corroborated must be a whole number, 0 or more"
    elif not _is_date(day):
        problem = "verified must be a date like 2026-11-21"
    near = () if confidence in CONFIDENCES else closest(confidence, CONFIDENCES)
    meant = f"Did you mean {near[0]}?" if near else ""
    if problem:
        raise _invalid(problem, meant)


def _invalid(problem: str, hint: str = "") -> UsageError:
    """Return the error for a value that is not valid."""
    return UsageError(f"{problem}.", hint=hint, effect="Nothing was saved")


def _domain_problem(name: str) -> str:
    """Return what is wrong with a name that is no domain."""
    # Without what a URL may have before and after its domain: passwords, keys.
    domain = _URL.match(name)
    if domain and _is_domain(domain[1]):
        return f"domains holds a URL; its domain is {domain[1]}"
    shown = mask_short(shorten(name, MAX_LINE_CHARS), _SHOWN_CHARS)
    return f"{shown!r} is not a domain like sqlite.org"


def _is_domain(name: str) -> bool:
    """Return whether a text can be a domain name: no space, comma or slash."""
    return len(name) <= 253 and name.isprintable() and not re.search(r"[\s,/]", name)


def _is_date(text: str) -> bool:
    """Return whether a text is an ISO 8601 date without a time."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10
