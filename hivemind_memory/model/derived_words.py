"""English words of one family that the stemmer leaves apart: *fail* and *failure*.

The full-text engine takes regular endings off (*deployment*, *deployed*). It leaves
apart what changes its stem: *describe* and *description*, *theory* and *theoretical*,
and British and American spellings. Here are rules about endings, and a list of what no
rule finds. A form counts only if some note has it, so a rule may make words up.
"""

from __future__ import annotations

from functools import cache, lru_cache

MIN_STEM = 2
"""Letters before an ending at least."""

_LONGEST = 9
"""Letters of the longest ending."""

# Endings of two words of one family.
_ENDINGS = """
bmit bmission, ceive ception, cide cision, clude clusion, cous cosity, dmit dmission,
efence efense, eory eoretical, fine finition, graphy graphic, icence icense, ify
ification, ilure il, ious iosity, istory istoric, istory istorical, ization isation,
ize ise, lide lision, lieve lief, logy logical, metry metric, nomy nomic, ntain
ntenance, ogue og, omit omission, ored oured, oring ouring, ors ours, or our, pand
pansion, pete petition, plain planation, plode plosion, ply plication, rmit rmission,
rode rosion, rous rosity, scribe scription, smit smission, solve solution, sorb
sorption, spond sponse, sume sumption, tend tension, tre ter, unction unctional, vade
vasion, vert version, vide vision, yse ysis, yze yse, yze ysis, yzed ysed, yzing ysing
"""
_FAMILIES = """
advise advice, analyze analyse analysis analyses analytic analytical, argue argument,
art artist artistic, benefit beneficial, birth born, category categorical, cheque check,
choose choice, close closure, compare comparison, compete competition, cover coverage,
dance dancer, deep depth, defend defense defence, define definition, deliver delivery,
deny denial, depart departure, die death dead, discover discovery, electric electricity,
emit emission, energy energetic, equip equipment, exceed excess, expect expectation,
explain explanation, expose exposure, fail failure, finance financial, fly flight, grey
gray, grow growth, high height, history historic historical, hot heat, hypothesis
hypothesize, injure injury, inquire inquiry, invite invitation, judge judgment
judgement, know knowledge, lead leader, leak leakage, library librarian, link linkage,
long length, lose loss, maintain maintenance, marry marriage, maximum maximal maximize,
medicine medical, minimum minimal minimize, mix mixture, move movement, multiply
multiplication, music musician, occur occurrence, optimum optimal optimize, own owner,
paint painter, pay payment, photograph photographer photography, politics political
politician, programme program, prove proof, react reaction, recover recovery, recur
recurrence, relieve relief, repeat repetition, respond response, satisfy satisfaction,
science scientific scientist, sell sale, serve service, ship shipment, sing singer,
speak speech, store storage, strong strength, succeed success, symmetry symmetric, teach
teacher, theory theoretical, treat treatment, true truth, try trial, tyre tire, use
usage, vary variation, warm warmth, weigh weight, wide width, write
writer, canceled cancelled, labeled labelled, modeled modelled, modeling modelling,
traveled travelled, traveling travelling
"""


@lru_cache(maxsize=4096)
def derived_forms(word: str) -> tuple[str, ...]:
    """Return words of the family of *word*, which is in lower case, some made up.

    >>> derived_forms("failures"), derived_forms("described")
    (('fail',), ('description',))
    """
    found: dict[str, None] = {}
    listed, endings, any_ending = _listed(), _ending_pairs(), _any_ending()
    for base in _bases(word):
        if f" {base} " in listed:
            found.update(dict.fromkeys(_families()[base]))
        if base.endswith(any_ending):
            for length in range(2, min(_LONGEST, len(base) - MIN_STEM) + 1):
                for other in endings.get(base[-length:], ()):
                    found[base[:-length] + other] = None
    found.pop(word, None)
    return tuple(found)


def _bases(word: str) -> list[str]:
    """Return what *word* may be a form of: a noun in the plural, a verb with -ed."""
    bases = [word]
    if len(word) > MIN_STEM + 2:
        if word.endswith("ies"):
            bases.append(word[:-3] + "y")
        elif word.endswith("s") and not word.endswith("ss"):
            bases.append(word[:-1])
        elif word.endswith("ied"):
            bases.append(word[:-3] + "y")
        elif word.endswith("ed"):
            bases += (word[:-1], word[:-2])
        elif word.endswith("ing"):
            bases += (word[:-3] + "e", word[:-3])
    return bases


@cache
def _listed() -> str:
    """Return all words of the families, with a blank before and behind each."""
    return f" {' '.join(_FAMILIES.replace(',', ' ').split())} "


@cache
def _families() -> dict[str, tuple[str, ...]]:
    """Return word -> the others of its family."""
    return {
        word: tuple(other for other in family if other != word)
        for family in map(str.split, _FAMILIES.split(","))
        for word in family
    }


@cache
def _ending_pairs() -> dict[str, tuple[str, ...]]:
    """Return ending -> the endings that stand for it in words of the same family."""
    pairs: dict[str, tuple[str, ...]] = {}
    for pair in _ENDINGS.split(","):
        one, other = pair.split()
        pairs[one] = (*pairs.get(one, ()), other)
        pairs[other] = (*pairs.get(other, ()), one)
    return pairs


@cache
def _any_ending() -> tuple[str, ...]:
    """Return all endings."""
    return tuple(_ending_pairs())
