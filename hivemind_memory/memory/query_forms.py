"""Adds to the words of a query the other forms in which notes may have them."""

from __future__ import annotations

from hivemind_memory.markdown.addresses import in_address, looks_like_address
from hivemind_memory.model.derived_words import derived_forms
from hivemind_memory.model.short_words import short_and_long_forms
from hivemind_memory.model.terms import QueryTerm
from hivemind_memory.model.word_forms import other_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.port import IndexView

MAX_INFLECTIONS = 16
"""Words with other endings that are looked up for a word, at most: the commonest."""

MAX_IRREGULAR = 8
"""Irregular forms and other spellings that are looked up for one word, at most."""

MAX_SHORT = 8
"""Short and long forms that are looked up for one word, at most."""

MAX_DERIVED = 8
"""Words of its family that are looked up for one word, at most."""


def with_forms(
    view: IndexView, terms: Sequence[QueryTerm], text: str
) -> tuple[QueryTerm, ...]:
    """Return the terms of a query, each word with its other forms.

    Notes are indexed as they are written; a word and its forms count as one word. The
    words of an address count if the query asks for one, or nothing else has them.
    """
    found = []
    is_address = looks_like_address(text)
    for term in terms:
        if term.is_phrase:
            found.append(term)
            continue
        forms = other_forms(term.text)[:MAX_IRREGULAR]
        if term.text.isascii():
            forms += short_and_long_forms(term.text)[:MAX_SHORT]
            if not term.is_generic:
                forms += derived_forms(term.text)[:MAX_DERIVED]
        in_addresses = in_address(term.text)
        if is_address:
            forms += (in_addresses,)
        # Function words of other languages are in every note.
        if MAX_INFLECTIONS and not term.text.isascii() and not term.is_generic:
            vocabulary = view.vocabulary()
            forms += tuple(vocabulary.inflections(term.text, limit=MAX_INFLECTIONS))
        found.append(
            QueryTerm(
                term.text,
                is_generic=term.is_generic,
                forms=forms,
                last_form=in_addresses,
            )
        )
    return tuple(found)
