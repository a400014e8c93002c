"""Classifies names of settings: for a password, another secret, or neither."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.secret_names import (
    KEY_NAMES,
    KEYS_ELSEWHERE,
    PASSWORD_NAMES,
    PASSWORDS_ELSEWHERE,
)
from hivemind_memory.redaction.spans import has_any, shortest_parts

_WORDS = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_ANY_WORDS = lazy_re(r"[^\W\d_]+|[0-9]+")
PASSWORD_ENDS = (
    "password", "passwd", "passwort", "passord", "passphrase", "passcode", "pwd",
    "userpass", "dbpass", "sudopass", "rootpass", "adminpass", "mypass", "mypasswd",
    "sshpass", "smtppass", "authpass", "userpw", "adminpw", "rootpw", "dbpw",
    "kennwort", "wachtwoord", "senha", "losenord",
)  # fmt: skip
PASSWORD_WORDS = frozenset(
    ("pass", "pw", "passe", "pgpassword", "bindpw", *PASSWORD_NAMES)
)
PASSWORD_PARTS = (*PASSWORDS_ELSEWHERE, "contrase")
SECRET_ENDS = (
    "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey",
    "credential", "credentials", "appkey", "secretaccesskey", "apitoken", "authcode",
)  # fmt: skip
SECRET_WORDS = frozenset(("auth", "creds", "cred", "psk", "authorization", "tkn"))
KEY_OWNERS = frozenset(
    (
        "api", "access", "secret", "private", "auth", "encryption", "encrypt",
        "decryption", "signing", "sign", "master", "license", "licence", "webhook",
        "service", "deploy", "account", "admin", "app", "application", "client",
        "consumer", "shared", "session", "jwt", "hmac", "aes", "crypto", "cipher",
        "subscription", "ssh", "gpg", "storage", "server", "write", "ingest",
        "ingestion", "security", "production", "live", "prod", "staging",
        "integration", "root", "user", "team", "org", "project", "bot", "preshared",
        "recovery", "backup", "broker", "registration",
    )
)  # fmt: skip
NO_PASSWORD = frozenset(
    ("bypass", "compass", "encompass", "overpass", "underpass", "surpass", "trespass",
    "multipass", "keepass", "lastpass", "onpass", "onepass", "singlepass", "fullpass",
    "repass", "outpass", "renderpass")
)  # fmt: skip
"""Words that end in *pass* and are no password."""
NOT_AT_THE_END = frozenset(
    (
        "id", "ids", "identifier", "name", "names", "count", "counts", "counter",
        "length", "len", "size", "limit", "limits", "budget", "type", "types",
        "kind", "file", "files", "filename", "path", "paths", "dir", "folder",
        "url", "uri", "urls", "endpoint", "host", "port", "policy", "field",
        "fields", "label", "prefix", "suffix", "format", "regex", "pattern",
        "manager", "provider", "providers", "store", "index", "ttl", "expiry",
        "expires", "expiration", "expire", "at", "age", "max", "min", "usage",
        "used", "cost", "price", "rate", "hint", "prompt", "reset", "required",
        "enabled", "disabled", "version", "algorithm", "alg", "scheme", "class",
        "column", "fn", "func", "function", "ref", "arn", "selector", "mapping",
        "map", "location", "hash", "digest", "checksum", "fingerprint", "sum",
        "error", "errors", "message", "fd", "fds", "mgr", "method", "mode",
        "status", "state", "strength", "rule", "rules", "handler", "parser",
        "service", "generator", "validator", "event", "callback", "button", "input",
        "form", "page", "screen", "view", "icon",
    )
)  # fmt: skip
NEVER_IN_NAME = frozenset(
    (
        "public", "pub", "foreign", "primary", "sort", "partition", "cache",
        "idempotency", "hot", "author", "authors", "authority", "authored",
        "authentication", "authenticated", "authenticator", "passed", "passes",
        "passing", "bypass", "keyboard", "keyword", "keywords", "keyframe",
        "keyspace", "keycode", "tokenizer", "tokenize", "tokenization", "tokenized",
        "dedupe", "dedup", "lookup", "hash", "hashes", "index", "i18n",
        "translation", "locale", "ordering", "unique", "composite", "object",
        "bucket", "group", "max", "min", "num", "count", "csrf", "xsrf", "nonce",
        "commit", "revision", "sha", "sha1", "sha256", "sha512", "md5", "checksum",
        "digest", "integrity", "etag", "fingerprint", "uuid", "guid", "kbd",
        "hotkey", "shortcut", "design", "publishable", "sitekey",
    )
)  # fmt: skip


NAME_PARTS = shortest_parts(
    (
        *(*PASSWORD_ENDS, *PASSWORD_WORDS, *PASSWORD_PARTS, *SECRET_ENDS),
        *(*SECRET_WORDS, *KEY_NAMES, *KEYS_ELSEWHERE, "key", "erlang"),
    )
)
"""In lower case; a name without any of these is never classified."""


class ValueKind(Enum):
    """What a setting of some name holds."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    """A password: a person may have chosen it, so it need not look random."""

    SECRET = "secret"  # noqa: S105 - the name of a kind
    """A secret that a machine has made."""

    KEY = "key"
    """A key of some kind, which may be that of a dictionary."""


@lru_cache(maxsize=4096)
def classify_name(name: str) -> ValueKind | None:
    """Return what a setting of this name holds, or nothing if no secret.

    >>> classify_name("DB_PASSWORD"), classify_name("stripeApiKey")
    (<Holds.PASSWORD: 'password'>, <Holds.SECRET: 'secret'>)
    >>> classify_name("max_tokens"), classify_name("passwordPolicy")
    (None, None)
    """
    low = name.lower()
    return _classified(name, low) if has_any(low, NAME_PARTS) else None


def _classified(name: str, low: str) -> ValueKind | None:
    """Return what a name with a word of one holds."""
    if not name.isascii():
        if any(part in low for part in PASSWORD_PARTS):
            return ValueKind.PASSWORD
        if any(part in low for part in KEYS_ELSEWHERE):
            return ValueKind.KEY
    # The rule for words is that of English names; others are taken as they stand.
    words = [
        word.lower()
        for word in (_WORDS if name.isascii() else _ANY_WORDS).findall(name)
    ]
    # A site's key is that of a captcha, and public.
    if not NEVER_IN_NAME.isdisjoint(words) or words[-2:] == ["site", "key"]:
        return None
    if words[-2:] in (["secret", "id"], ["erlang", "cookie"]):
        return ValueKind.SECRET  # half of a login: Vault, Consul
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        holds = _one(word, words[place - 1] if place else "")
        if holds is not None:
            return None if NOT_AT_THE_END.intersection(words[place + 1 :]) else holds
    return None


def _one(word: str, before: str) -> ValueKind | None:
    """Return what one word of a name says."""
    single = word.removesuffix("s") if word not in {"pass", "dbpass"} else word
    # The key of a network is one that a person may have chosen.
    is_network = single == "key" and before in {"shared", "preshared"}
    is_pass = word.endswith("pass") and len(word) > 6 and word not in NO_PASSWORD
    if (
        is_network
        or is_pass
        or word in PASSWORD_WORDS
        or single.endswith(PASSWORD_ENDS)
    ):
        return ValueKind.PASSWORD
    if any(part in word for part in PASSWORD_PARTS):
        return ValueKind.PASSWORD
    if word in SECRET_WORDS or single.endswith(SECRET_ENDS):
        return ValueKind.SECRET
    if single in KEY_NAMES:
        return ValueKind.KEY
    if single == "key":
        return ValueKind.SECRET if before in KEY_OWNERS else ValueKind.KEY
    return None
