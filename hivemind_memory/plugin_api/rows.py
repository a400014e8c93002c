"""A memory as platforms see it, made from the note that it is, and a new one. Pure.

The id is a UUID. A memory that a platform wrote has a key that is made of it; any other
has its own id in the form of a UUID, which says the same 128 bits.
"""

from __future__ import annotations

import json
import uuid

from hivemind_memory.curation.ended_namespaces import PLATFORM_TYPES
from hivemind_memory.markdown.entry import CROCKFORD
from hivemind_memory.model.clocks import SECONDS_PER_DAY, iso_day, seconds_of
from hivemind_memory.model.own_forms import PROGRAM_KEY_PREFIX
from hivemind_memory.model.trust import HUMAN
from hivemind_memory.model.value import value
from hivemind_memory.plugin_api.parse import moment_text
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.curation import StoredMemory

FACT = "fact"
KINDS = PLATFORM_TYPES
"""Kinds of memories, which are types of notes too."""

AGENT, RUNTIME, USER = "agent", "runtime", "user"
SOURCES = (AGENT, RUNTIME, USER)

_ULID_CHARS = 26


@value
class NewRow:
    """A memory that a platform writes."""

    content: str
    id: str = ""
    """A UUID in small letters; empty: it gets one."""

    kind: str = FACT
    source: str = AGENT
    expires_at: float | None = None
    """Seconds since the epoch; None: never."""

    is_pinned: bool = False
    propagation: str = ""
    """JSON; empty: none."""


@value
class Row:
    """A memory that a platform reads."""

    id: str
    namespace: str
    content: str
    kind: str
    source: str
    created_at: str
    """In UTC."""

    expires_at: float | None = None
    """Seconds since the epoch; None: never."""

    is_pinned: bool = False
    propagation: str = ""
    """JSON; empty: none."""

    score: float | None = None
    """0..1; None: nothing was asked."""

    def as_json(self) -> dict[str, object]:
        """Return it as an answer says it; what it does not have is left out."""
        answer: dict[str, object] = {
            "id": self.id,
            "namespace": self.namespace,
            "content": self.content,
            "kind": self.kind,
            "source": self.source,
            "pin": self.is_pinned,
            "created_at": self.created_at,
        }
        if self.expires_at is not None:
            answer["expires_at"] = moment_text(self.expires_at)
        if self.propagation:
            answer["propagation"] = json.loads(self.propagation)
        if self.score is not None:
            answer["score"] = self.score
        return answer


def read_uuid(text: str) -> str | None:
    """Return a UUID in small letters with dashes; None: it is none."""
    try:
        found = str(uuid.UUID(text))
    except ValueError:
        return None
    return found if found == text.lower() else None


def key_of(row_id: str) -> str:
    """Return the key of the memory that has an id."""
    return PROGRAM_KEY_PREFIX + row_id


def made_uuid(random: bytes) -> str:
    """Return a new UUID of 16 random bytes."""
    return str(uuid.UUID(bytes=random, version=4))


def row_of(
    memory: StoredMemory, namespace: str, score: float | None = None
) -> Row | None:
    """Return a memory as a platform sees it, its secrets masked.

    None: it has no id to name it by.
    """
    given = (
        memory.key.removeprefix(PROGRAM_KEY_PREFIX)
        if PROGRAM_KEY_PREFIX in memory.key
        else ""
    )
    row_id = read_uuid(given) or uuid_of_ulid(memory.id)
    if not row_id:
        return None
    source = memory.more.get("plugin_source", "")
    if source not in SOURCES:
        source = USER if memory.source == HUMAN else AGENT
    return Row(
        id=row_id,
        namespace=namespace,
        content=mask(memory.text),
        kind=memory.type,
        source=source,
        created_at=moment_text(seconds_of(memory.created) or 0.0),
        expires_at=end_of(memory),
        is_pinned=memory.is_pinned,
        propagation=json_or_nothing(mask(memory.more.get("propagation", ""))),
        score=score,
    )


def end_of(memory: StoredMemory) -> float | None:
    """Return when a memory is over, in seconds since the epoch; None: never."""
    at = memory.more.get("expires_at") or memory.expires
    return seconds_of(at) if at else None


def day_after(seconds: float, offset_s: int) -> str:
    """Return the first day on which what ends at a moment is over from its beginning.

    Args:
        seconds: The moment, since the epoch.
        offset_s: Of the time zone.

    >>> day_after(86_400, 0), day_after(86_401, 0)
    ('1970-01-02', '1970-01-03')
    """
    return iso_day(int(-(-(seconds + offset_s) // SECONDS_PER_DAY)))


def uuid_of_ulid(ulid: str) -> str:
    """Return the UUID with the bits of a ULID; empty: it is none.

    >>> ulid_of_uuid(uuid_of_ulid("01JDK3R8Z6ABCDEFGHJKMNPQRS"))
    '01JDK3R8Z6ABCDEFGHJKMNPQRS'
    """
    if len(ulid) != _ULID_CHARS or not set(ulid) <= set(CROCKFORD) or ulid[0] > "7":
        return ""
    number = 0
    for digit in ulid:
        number = number * 32 + CROCKFORD.index(digit)
    return str(uuid.UUID(int=number))


def ulid_of_uuid(row_id: str) -> str:
    """Return the ULID with the bits of a UUID."""
    number, digits = uuid.UUID(row_id).int, ""
    for _ in range(_ULID_CHARS):
        number, digit = divmod(number, 32)
        digits = CROCKFORD[digit] + digits
    return digits


def json_or_nothing(text: str) -> str:
    """Return a text if it is JSON still, though a person may have edited it."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return text
