"""Which words of a worktree's queries a memory has: what ``hm why`` names. No I/O.

The injection log keeps no text of a repository, so they are found when someone asks:
of commits and files that have come since, a memory may have none.
"""

from __future__ import annotations

from hivemind_memory.context.facets import FOLDER
from hivemind_memory.context.query_words import shared_words, telling_words, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.model.injection import Facet

_MAX_WORDS = 3


def matched_words(facets: Iterable[Facet], text: str) -> dict[str, list[str]]:
    """Return the name of each facet -> those of its words that a text has, a few.

    Args:
        facets: Of the worktree. What asks for the project by its name is left out: that
            is the reason already.
        text: All that a memory says, and where it is.
    """
    facets = list(facets)
    names = [facet.text for facet in facets if facet.is_name]
    found: dict[str, dict[str, None]] = {}
    for facet in facets:
        if not facet.is_name:
            words: Iterable[str] = telling_words(facet.text, names)
        elif facet.name == FOLDER:
            words = words_of(facet.text)
        else:
            continue
        shared = (word for word in words if shared_words((word,), text))
        found.setdefault(facet.name, {}).update(dict.fromkeys(shared))
    return {name: [*words][:_MAX_WORDS] for name, words in found.items() if words}
