"""Adds to the words of a query the other forms in which notes may have them."""

from __future__ import annotations

from hivemind_memory.model.word_forms import other_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.port import IndexView
    from hivemind_memory.model.terms import QueryTerm

MAX_INFLECTIONS = 16
"""Words with other endings that are looked up for a word, at most: the commonest."""

MAX_IRREGULAR = 8
"""Irregular forms and other spellings that are looked up for one word, at most."""


def with_forms(view: IndexView, terms: Sequence[QueryTerm]) -> tuple[QueryTerm, ...]:
    """Return the terms, each word with its other forms.

    Notes are indexed as they are written; a word and its forms count as one word.
    """
    found = []
    for term in terms:
        if term.is_phrase:
            found.append(term)
            continue
        forms = other_forms(term.text)[:MAX_IRREGULAR]
        # Function words of other languages are in every note.
        if MAX_INFLECTIONS and not term.text.isascii() and not term.is_generic:
            vocabulary = view.vocabulary()
            forms += tuple(vocabulary.inflections(term.text, limit=MAX_INFLECTIONS))
        found.append(term._replace(forms=forms) if forms else term)
    return tuple(found)
