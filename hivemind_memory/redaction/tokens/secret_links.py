"""Finds the secret part of links that open something for anyone who has them.

A link to sign in, to join, to a private calendar or a shared folder, and the values of
parameters that are keys. What such a link holds must look random; the rest of it stays.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import classify_name
from hivemind_memory.redaction.values.password_check import is_likely
from hivemind_memory.redaction.values.value_check import (
    UUID,
    entropy,
    is_placeholder,
    is_wordy,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.spans import TextSpan

_URL = lazy_re(r"(?:https?|wss?|webcals?|feeds?)://[^\s\"'`<>|\\]{12,2000}")
_OPENS = lazy_re(
    r"(?i)(?:magic|log-?in|sign-?in|sso|otp|invit[\w-]*|join|reset[\w-]*|verif[\w-]*|confirm[\w-]*"
    r"|activat[\w-]*|recover[\w-]*|unlock|share[ds]?|shared[-_]invite|sharing|s|sh|scl|token"
    r"|tokens|auth|session|sessions|private|secret|secrets|access|rss|feeds?|podcasts?"
    r"|ical|ics|calendars?|guest|webhooks?|hooks?|callback|callbacks|ping|heartbeat"
    r"|keys?|api-?key|link|l|links|magic-?links?|signed|onboard[\w-]*|subscribe|unsubscribe"
    r"|preview|report|drop|upload|uploads|password[\w-]*|pw|set-?password|v1|v2|v3|in|inbound"
    r"|incoming|integrations?|enqueue|workflows?|triggers?|services|catch|relay|push|bots?|meet|rec|room|owa"
    r"|pub(?:url)?|public-?share|passwordless|accept|approve|device|t|k|u)"
)
_OPENS_ALONE = frozenset(
    (
        "hc-ping.com", "ntfy.sh", "healthchecks.io", "webhook.site", "requestbin.com",
        "pipedream.net", "make.com", "ifttt.com", "cronitor.link", "deadmanssnitch.com",
        "nosnch.in", "push", "hook", "hooks", "webhook", "webhooks", "in", "status",
        "uptime", "ping",
    )
)  # fmt: skip
"""Hosts, and first parts of their names, that take what a link alone allows."""
_KEY_PART = lazy_re(r"(?i)(?:private|secret|token|key|auth|zt|sig|invite|share)[-_.=]")
_PARAMETER = lazy_re(
    r"(?i)(?:t|k|tk|tok|jwt|code|sig|sign|signature|s|sid|st|sv|share|ticket|hash|hmac"
    r"|rlkey|resourcekey|invite|invitation|magic|link|otp|state|h|p|pw|pwd|auth|access"
    r"|session|sessionid|phpsessid|jsessionid|sessid|oob|oobcode|code_verifier|assertion"
    r"|samlresponse|ott|nonce_secret|e|x|key|api|apikey|appid|app_id|u|uuid|guid|data"
    r"|tkn|cred|credential|policy|key-pair-id|webhook|id_token|wstoken|hapikey|crumb|g)"
)
_LOOSE = lazy_re(r"(?i)t|s|h|e|x|u|g|p|data|state|hash|link|sv|st|uuid|guid|api|policy")
_PUBLIC_HOSTS = frozenset(
    (
        "github.com", "gitlab.com", "youtube.com", "youtu.be", "wikipedia.org",
        "wikimedia.org", "shields.io", "pypi", "npmjs",
        "codecov.io", "githubusercontent.com", "docs.rs", "crates.io", "doi.org",
        "arxiv.org", "medium.com", "stackoverflow.com", "reddit.com", "twitter.com",
        "x.com", "linkedin.com", "groups.google.com", "mail-archive.com", "marc.info",
        "lore.kernel.org", "archive.org", "unsplash.com", "amazon.com", "loom.com",
        "lists", "badge", "badges", "avatars", "images", "img", "cdn", "static",
    )
)  # fmt: skip
"""Hosts, and first parts of their names, whose links are meant for anyone."""


def secret_links(text: str) -> Iterator[TextSpan]:
    """Yield the parts of links that open something, and no more than these."""
    for found in _URL.finditer(text):
        url = found[0].rstrip(".,;:!?)]}*_")
        start = found.start() + found[0].index("://") + 3
        address, mark, rest = found[0][start - found.start() :].partition("#")
        address = address[: len(url) - (start - found.start())]
        host, _, path = address.partition("/")
        host = host.partition("?")[0].rpartition("@")[2].partition(":")[0]
        if _is_of(host, _PUBLIC_HOSTS):
            continue
        path, _, query = path.partition("?")
        at = start + address.find("/") + 1 if "/" in address else start + len(address)
        yield from _of_path(path, at, host)
        if query:
            yield from _of_query(query, at + len(path) + 1)
        if mark:
            fragment = rest[: len(url) - (start - found.start()) - len(address) - 1]
            yield from _of_fragment(fragment, start + len(address) + 1)


def _is_of(host: str, hosts: frozenset[str]) -> bool:
    """Whether a host, or the domain that it belongs to, is one of some."""
    labels = host.lower().split(".")
    return labels[0] in hosts or not hosts.isdisjoint(
        ".".join(labels[-size:]) for size in (2, 3)
    )


def _of_path(path: str, at: int, host: str) -> Iterator[TextSpan]:
    """Yield the parts of a path that a word before them says are secret."""
    opens = _is_of(host, _OPENS_ALONE)
    for segment in path.split("/"):
        value, start = segment, at
        at += len(segment) + 1
        named = _KEY_PART.match(segment)
        if named:
            value, start = segment[named.end() :], start + named.end()
        for ending in (".ics", ".xml", ".rss", ".json"):
            value = value.removesuffix(ending)
        if (opens or named) and _is_opaque(value, is_near=True):
            yield (start, start + len(value), "link")
        elif _OPENS.fullmatch(segment) or _OPENS.fullmatch(
            segment.rpartition("-")[2] if "-" in segment else ""
        ):
            opens = True


def _of_query(query: str, at: int) -> Iterator[TextSpan]:
    """Yield the values of parameters whose name is that of a key."""
    for part in re.split(r"[&;]", query):
        name, equals, value = part.partition("=")
        start = at + len(name) + 1
        at += len(part) + 1
        name = name.removeprefix("amp")
        if not equals or len(value) < 6:
            continue
        if classify_name(name) is not None:
            is_secret = _is_opaque(value, is_near=True) or is_likely(value)
        elif _PARAMETER.fullmatch(name):
            is_secret = _is_opaque(value, is_near=_LOOSE.fullmatch(name) is None)
        else:
            continue
        if is_secret:
            yield (start, start + len(value), "link")


def _of_fragment(fragment: str, at: int) -> Iterator[TextSpan]:
    """Yield the key after the ``#`` of a link, which only the browser sees."""
    name, equals, value = fragment.rpartition("=")
    if equals and (classify_name(name) or _PARAMETER.fullmatch(name) or "key" in name):
        if _is_opaque(value, is_near=True):
            yield (at + len(name) + 1, at + len(fragment), "link")
    elif not equals and "%" not in fragment and _is_mixed(fragment, least=20):
        yield (at, at + len(fragment), "link")


def _is_opaque(value: str, *, is_near: bool) -> bool:
    """Whether a part of a link says nothing to a person."""
    plain = value.replace("%3D", "").replace("%2B", "").replace("%2F", "").rstrip("=")
    if is_placeholder(plain) or "{" in value or "." in plain[:-4]:
        return False
    if UUID.fullmatch(plain):
        return is_near
    if re.fullmatch("[0-9a-f]+", plain):
        return is_near and len(plain) >= 24 and entropy(plain) >= 3
    least = 14 if is_near else 24
    return _is_mixed(plain, least=least) or (
        is_near
        and len(plain) >= 20
        and sum(letter.isdigit() for letter in plain) >= 3
        and looks_random(plain)
        and not is_wordy(plain)
        and max(map(len, re.split("[-_~]", plain))) >= 12
    )


def _is_mixed(value: str, *, least: int) -> bool:
    """Whether a value mixes small and large letters and digits as no words do."""
    return (
        len(value) >= least
        and re.fullmatch(r"[\w~%+=-]+", value) is not None
        and any(letter.isdigit() for letter in value)
        and value != value.lower()
        and value != value.upper()
        and looks_random(value)
        and not is_wordy(value)
        and max(map(len, re.split("[-_~]", value))) >= min(least, 8)
    )
