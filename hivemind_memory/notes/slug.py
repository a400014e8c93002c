"""Makes a readable file name from a key in any script.

Pure. A key may hold any character; a name holds letters and digits of any script and
dashes, and means the same on every system.
"""

from __future__ import annotations

import re
import unicodedata

from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.files.paths import SUFFIX, name_problem
from hivemind_memory.model.own_forms import CLAIM_PREFIX, is_ulid
from hivemind_memory.model.scope import INBOX, SUPERSEDED, place_in_scope
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


MAX_SLUG_BYTES = 80
"""Leaves room for a hash, or for an id, in every file system."""

_NUMBERS = range(2, 10)
_HASH_CHARS = (4, 8, 16, 64)
# Dropbox, Nextcloud and Obsidian; Syncthing; ownCloud and Synology.
_CONFLICT = lazy_re(
    r"conflicted copy|\.sync-conflict-\d|[_ (](?:case )?conflict[- _)]", re.IGNORECASE
)
# Names that a memory of text without a key has: what is appended there is no part of
# a typed memory.
_RESERVED = lazy_re(r"global|recovered(-.*)?|\d{4}-\d{2}-\d{2}")


def slug_of(text: str) -> str:
    """Return the name for a text: short, legal as a file's name, never empty.

    Equal texts have equal names, and so may texts that differ; see ``names_of``.

    >>> slug_of("Deploy: never on Fridays!"), slug_of("数据库 备份")
    ('deploy-never-on-fridays', '数据库-备份')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    slug = _cut(dashed(folded, _is_kept))
    if not slug:
        return f"memory-{hash_of(text)[:8]}"
    if _RESERVED.fullmatch(slug) or name_problem(slug + SUFFIX):
        return f"memory-{slug}"
    return slug


def claim_prefix(topic: str) -> str:
    """Return what the keys of all claims about a topic begin with.

    >>> claim_prefix("SQLite locks")
    'learn:sqlite-locks:'
    """
    return f"{CLAIM_PREFIX}{slug_of(topic)}:"


def dashed(text: str, is_kept: Callable[[str], bool]) -> str:
    """Return a text with one dash for each run of what a name does not hold.

    >>> dashed("Ärger: it's v2.0", str.isalnum)
    'Ärger-it-s-v2-0'
    """
    kept = "".join(letter if is_kept(letter) else "-" for letter in text)
    return "-".join(part for part in kept.split("-") if part)


def names_of(key: str) -> Iterator[str]:
    """Yield the names that a memory's file may take, the best first.

    The first is the slug; the others are for when a file of another key or a note of a
    person has it: with a number, then with more and more of the key's hash.
    """
    slug = slug_of(key)
    yield slug + SUFFIX
    for number in _NUMBERS:
        yield f"{slug}-{number}{SUFFIX}"
    for chars in _HASH_CHARS:
        yield f"{slug}-{hash_of(key)[:chars]}{SUFFIX}"


def rank_of_name(path: str, key: str) -> int:
    """Return how likely a file is not a memory's own but a copy of it, from 0 on.

    A tool that syncs a folder keeps a second version of a file under another name.

    >>> rank_of_name("a.md", "a"), rank_of_name("a (conflicted copy).md", "a") > 10
    (0, True)
    """
    name, names = path.rpartition("/")[2], list(names_of(key))
    if name in names:
        return names.index(name)
    return len(names) + is_conflict_copy(path)


def is_conflict_copy(path: str) -> bool:
    """Return whether a file is called as tools call the second version of a file.

    >>> is_conflict_copy("a.sync-conflict-20261121-093012-ABCDEFG.md")
    True
    """
    return _CONFLICT.search(path.rpartition("/")[2]) is not None


def name_with_id(key: str, memory_id: str) -> str:
    """Return the name of a superseded or pending memory's file: ``slug--id.md``.

    An id that a person made up is cut down to what a name may hold.
    """
    is_ours = is_ulid(memory_id)
    return f"{slug_of(key)}--{memory_id if is_ours else slug_of(memory_id)}{SUFFIX}"


def own_path(path: str) -> str:
    """Return the path that a memory had before it gave way to another of its key.

    >>> own_path("teams/red/k--01M80JBHRKPTRHKEJQQCVB56P4.md"), own_path("k--b.md")
    ('teams/red/k.md', 'k--b.md')
    """
    slug, dashes, memory_id = path.removesuffix(SUFFIX).rpartition("--")
    is_ours = dashes and place_in_scope(path) not in (SUPERSEDED, INBOX)
    return slug + SUFFIX if is_ours and is_ulid(memory_id) else path


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text, hexadecimal; any text has one."""
    return sha256_hex(text.encode("utf-8", "surrogatepass"))


def _is_kept(letter: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark upon one."""
    return unicodedata.category(letter)[0] in "LNM"


def _cut(slug: str) -> str:
    """Return a slug of at most ``MAX_SLUG_BYTES``, no letter parted from its marks."""
    data = slug.encode()
    if len(data) <= MAX_SLUG_BYTES:
        return slug
    kept = data[:MAX_SLUG_BYTES].decode("utf-8", "ignore")
    if unicodedata.category(slug[len(kept)])[0] == "M":
        while kept and unicodedata.category(kept[-1])[0] == "M":
            kept = kept[:-1]
        kept = kept[:-1]
    return kept.rstrip("-")
