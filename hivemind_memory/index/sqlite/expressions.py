"""Makes full-text expressions of the terms of a query. Every term is quoted."""

from __future__ import annotations

from hivemind_memory.model.matches import WordForm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.matches import TermCount

    Locations = list[list[list[int]]]
    """For each phrase, for each column: offsets in tokens."""

ROW_BUDGET = 1_000
"""Rows that the rarest terms of a query may bring before the common ones bring no
candidates of their own. They still count in the candidates found. benchmarks/speed.py
shows what it saves."""


def match_expression(known: Sequence[TermCount]) -> tuple[list[WordForm], str]:
    """Return the full-text expression for terms that are in the index, and its phrases.

    The rarest terms bring the candidates. A common one that would go over the budget
    is joined by AND to what the rare ones found: it is seen where it is, and
    brings no rows of its own.
    """
    everything = " OR ".join(map(quoted, known))
    phrases = [form for term in known for form in forms_of(term)]
    bringing = bringing_terms(known)
    if len(bringing) == len(known):
        return phrases, everything
    rare = " OR ".join(map(quoted, bringing))
    phrases += [form for term in bringing for form in forms_of(term)]
    return phrases, f"({everything}) AND ({rare})"


def bringing_terms(known: Sequence[TermCount]) -> list[TermCount]:
    """Return the terms that bring candidates: the rarest, within the budget."""
    rows = 0
    bringing: list[TermCount] = []
    for term in sorted(known, key=lambda term: term.chunks):
        if bringing and rows + term.chunks > ROW_BUDGET:
            break
        bringing.append(term)
        rows += term.chunks
    return bringing


def forms_of(term: TermCount) -> list[WordForm]:
    """Return what is looked up for a term: one phrase each, itself first."""
    others = sum(form.chunks for form in term.forms)
    return [WordForm(term.text, term.tokens, term.chunks - others), *term.forms]


def quoted(term: TermCount) -> str:
    """Return a term as strings of the full-text language: no operator survives."""
    if not term.forms:
        return _quoted(term.text)
    return f"({' OR '.join(_quoted(form.text) for form in forms_of(term))})"


def _quoted(text: str) -> str:
    """Return one string of the full-text language."""
    return '"' + text.replace('"', '""') + '"'


def by_term(locations: Locations, known: Sequence[TermCount]) -> Locations:
    """Return where each term is, from where each of its forms is."""
    merged: Locations = []
    at = 0
    for term in known:
        end = at + 1 + len(term.forms)
        if not term.forms:
            merged.append(locations[at])
        else:
            columns = zip(*locations[at:end], strict=True)
            merged.append([sorted(set().union(*column)) for column in columns])
        at = end
    return merged
