"""Says whether a text that a program proposes to remember is known already.

Known is also what waits in the inbox, what was replaced, and what a person rejected or
forgot: none of it is to be proposed again.
"""

from __future__ import annotations

from hivemind_memory.curation.lookup import load_memory
from hivemind_memory.model.keys import folded_key
from hivemind_memory.model.memories import ACTIVE, FORGOTTEN, PENDING, STATUSES
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.search.similarity import similarity, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import TextCandidate

SAYS_THE_SAME = 0.6
"""Similarity from which a proposal repeats a memory. Lower than ``NEAR_DUPLICATE``:
a model puts the same thing in other words each time."""

HOLDS_ALL = 0.85
"""Share of a proposal's words from which a longer text says it too."""

_FEW_WORDS = 5
"""A shorter proposal may be in a long text by chance."""


def says_already(
    context: CurationContext,
    key: str,
    content: str,
    scope: str,
    find_similar: Callable[[str], Iterable[TextCandidate]],
) -> str:
    """Return what says a text already, as a clause; empty: nothing does.

    A text for the key of an active memory may replace what that one says, so it counts
    as known only if it has the same words.

    Args:
        context: Of the caller.
        key: Under which the text would be saved.
        content: The text.
        scope: Its folder; what is global is known everywhere.
        find_similar: Returns what shares words with a text.
    """
    words, wanted = words_in(content), folded_key(key)
    scopes = frozenset({scope, GLOBAL})
    rows = context.index.fresh(is_lookup=True).memories(scopes=scopes)
    own = {row.status for row in rows if folded_key(row.key) == wanted}
    for row in rows:
        is_own = folded_key(row.key) == wanted
        if is_own and row.status == PENDING:
            return f"{row.path} waits in the inbox under that key"
        if is_own and row.status == FORGOTTEN and ACTIVE not in own:
            return f"{row.path} was forgotten or rejected"
        memory = load_memory(context, row.path)
        if memory is None:
            continue
        known = words_in(memory.text)
        is_update = is_own and row.status == ACTIVE
        if known == words if is_update else _repeats(words, known):
            return f"{row.path} says so already ({STATUSES[row.status]})"
    paths = {row.path for row in rows}
    for candidate in find_similar(content):
        if candidate.path in paths or scope_of(candidate.path) not in scopes:
            continue
        if _repeats(words, words_in(candidate.text)):
            return f"{candidate.path} says so already"
    return ""


def _repeats(words: frozenset[str], known: frozenset[str]) -> bool:
    """Return whether a text has no more to say than another."""
    if similarity(words, known) >= SAYS_THE_SAME:
        return True
    share = len(words & known) / max(1, len(words))
    return share >= HOLDS_ALL and len(words) >= _FEW_WORDS
