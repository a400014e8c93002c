"""Says which words of a facet tell what the work is about. No I/O.

"init", "fix typo" and "update tests" say what kind of change a commit is. A text that
has such words is not about the work, however well it answers.
"""

from __future__ import annotations

import re

from hivemind_memory.model.terms import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CHANGES = """
add added adds adding allow apply backport better big bugfix bump change changed
changelog changes check chore clean cleanup code comment comments commit config
configuration create default delete dependencies dependency deps dev disable doc docs
document documentation drop enable error errors extract feat feature file files final
first fix fixed fixes fixing format formatting get hotfix implement import improve
improved improvements init initial initialize inline introduce issue lint linter main
make merge migrate minor misc module move new option options package patch polish pr
prepare progress project readme refactor refactoring release remove removed rename
reorganize replace repo repository restructure reverts revert review rework rewrite
run scaffold second setting settings setup set simplify small split squash start stuff
style support switch temp test testing tests tidy tmp todo try tweak tweaks typo typos
update updated updates upgrade use utils util version wip work working write
"""
_OF_CHANGES = frozenset(_CHANGES.split())
_MIN_STEM = 4
_MAX_ENDING = 3
"""Letters in which two forms of a word may differ at the end."""


def telling_words(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of a facet that tell what it is about, each once.

    Args:
        text: Of a branch, a commit or some files.
        names: Of the project and its folder; their words say nothing new.

    >>> telling_words("Fix the rounding of invoices"), telling_words("Initial commit")
    (('rounding', 'invoices'), ())
    """
    of_names = {word for name in names for word in words_of(name)}
    terms = [
        term.text
        for term in query_terms(text).terms
        if not (term.is_phrase or term.is_generic)
    ]
    return tuple(
        term
        for term in terms
        if term not in of_names
        and term not in _OF_CHANGES
        and not (term.isdigit() or (term.isascii() and len(term) == 1))
    )


def shared_words(wanted: Iterable[str], text: str) -> int:
    """Return how many of some words a text has, in any form.

    >>> shared_words(("rounding", "invoices"), "Each invoice is rounded per line.")
    2
    """
    folded = text.casefold()
    words = f" {' '.join(words_of(text))} "
    return sum(1 for word in wanted if _has(words, folded, word))


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return re.findall(r"[^\W_]+", text.casefold())


def _has(words: str, folded: str, wanted: str) -> bool:
    """Return whether a text has a word, or one with its beginning.

    Args:
        words: All its words, each with a blank on both sides.
        folded: The text, in small letters.
        wanted: The word.
    """
    if not wanted.isascii():
        return wanted in folded  # a script without blanks has no words to compare
    stem = wanted[: max(_MIN_STEM, len(wanted) - _MAX_ENDING)]
    if not wanted or " " in wanted:
        return False  # no single word
    if len(stem) < _MIN_STEM:
        return f" {wanted} " in words
    return f" {stem}" in words
