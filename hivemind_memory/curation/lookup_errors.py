"""Says why a name refers to no memory: nothing is called so, or it is forgotten."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import (
    ForgottenError,
    HivemindError,
    MemoryNotFoundError,
)
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.clocks import in_zone
from hivemind_memory.model.keys import no_such, operand, quoted, similar_names
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.own_forms import is_ulid
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.entry_edits import entries_in, forgotten_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow


def names_near(name: str, rows: Iterable[MemoryRow]) -> tuple[str, ...]:
    """Return the key or path of some rows that a name was probably meant to be.

    The topic of a claim stands for its key, which ends in a hash.
    """
    from hivemind_memory.notes.slug import claim_prefix
    from hivemind_memory.redaction import mask

    names = {ref for row in rows for ref in (row.key, row.path) if ref}
    claims = sorted(ref for ref in names if ref.startswith(claim_prefix(name)))
    near = claims or similar_names(name, names)
    # A row of earlier rules may hold a secret that only the current rules find.
    return tuple(ref for ref in near if mask(ref) == ref)


def not_found(
    ref: str, tail: str = "", *, effect: str = "", meant: tuple[str, ...] = ()
) -> MemoryNotFoundError:
    """Return the error for a name that refers to nothing the caller sees."""
    near = f" Did you mean {quoted(meant[0])}?" if meant else ""
    return MemoryNotFoundError(
        f"{no_such('memory', ref, tail)}{near}",
        hint="Use a key, an id or a path; `hm search` and `hm list` print them.",
        effect=effect,
    )


def forgotten_memory(context: CurationContext, row: MemoryRow) -> ForgottenError:
    """Return the error for the name of a memory that is forgotten."""
    name = masked(row.key or row.memory_id or row.path)
    try:
        data, _ = context.folder.read(NotePath(row.path))
    except HivemindError:
        return _forgotten(context, f"memory {quote(name)}", name, "")
    at = split_front_matter(decode(data)).values.get("forgotten")
    return _forgotten(context, f"memory {quote(name)}", name, str(at))


def forgotten_entry(
    context: CurationContext, entry_id: str, scopes: frozenset[str] | None
) -> ForgottenError | None:
    """Return the error for the id of an entry that is forgotten; None: it is not.

    The index knows nothing of such an entry, so the notes are read.
    """
    if not is_ulid(entry_id):
        return None
    for path in sorted(context.folder.signatures()):
        if scopes is not None and scope_of(path) not in scopes:
            continue
        try:
            data, _ = context.folder.read(path)
        except HivemindError:
            continue
        if entry_id.encode() not in data:
            continue
        for entry in entries_in(data):
            if entry.provenance.id == entry_id and entry.provenance.is_forgotten:
                at = forgotten_at(data, entry_id)
                return _forgotten(context, f"entry {entry_id} in {path}", entry_id, at)
    return None


def _forgotten(
    context: CurationContext, what: str, name: str, at: str
) -> ForgottenError:
    """Return the error for what was forgotten at a time, if that is known."""
    at = in_zone(at, context.clocks.local_iso)
    is_dated = at[:4].isdigit() and len(at) > len("2026-11-21T09:30")
    when = f"was forgotten on {at[:10]} at {at[11:16]}" if is_dated else "is forgotten"
    hint = f"`hm restore {operand(name)}` brings it back."
    return ForgottenError(f"The {what} {when}.", hint=hint)
