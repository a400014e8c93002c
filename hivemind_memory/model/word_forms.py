"""Other forms of a word of a query, which no rule about endings finds.

English verbs and nouns with forms of their own (*went* for *go*), and German umlauts
that are typed as two letters (*Mueller*). The full-text engine takes regular endings
off by itself; ``inflections`` has those of other scripts.
"""

from __future__ import annotations

from functools import cache

_IRREGULAR = """
arise arose arisen, awake awoke awoken, bear bore borne born, beat beaten, become
became, begin began begun, bend bent, bind bound, bite bit bitten, bleed bled, blow
blew blown, break broke broken, breed bred, bring brought, build built, burn burnt,
buy bought, catch caught, choose chose chosen, cling clung, come came, creep crept,
deal dealt, dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove
driven, dwell dwelt, eat ate eaten, fall fell fallen, feed fed, feel felt, fight
fought, find found, flee fled, fly flew flown flies, forbid forbade forbidden, forget
forgot forgotten, forgive forgave forgiven, freeze froze frozen, get got gotten, give
gave given, go goes went gone, grind ground, grow grew grown, hang hung, hear heard,
hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lead
led, lean leant, leap leapt, learn learnt, leave left, lend lent, lie lay lain lying,
light lit, lose lost, make made, mean meant, meet met, pay paid, prove proven, ride
rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen, seek
sought, sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot,
show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep
slept, slide slid, speak spoke spoken, spell spelt, spend spent, spill spilt, spin
spun, split, spoil spoilt, spring sprang sprung, stand stood, steal stole stolen,
stick stuck, sting stung, strike struck stricken, strive strove striven, swear swore
sworn, sweep swept, swell swollen, swim swam swum, swing swung, take took taken, teach
taught, tear tore torn, tell told, think thought, throw threw thrown, understand
understood, undertake undertook undertaken, undo undid undone, wake woke woken, wear
wore worn, weave wove woven, weep wept, win won, wind wound, withdraw withdrew
withdrawn, write wrote written, rewrite rewrote rewritten, overwrite overwrote
overwritten, rebuild rebuilt, resend resent, rethink rethought, foresee foresaw
foreseen, overcome overcame, die dying, tie tying, child children, man men, woman
women, person people, foot feet, tooth teeth, mouse mice, goose geese, life lives,
wife wives, knife knives, leaf leaves, half halves, self selves, shelf shelves, thief
thieves, wolf wolves, loaf loaves, calf calves, index indices, matrix matrices, vertex
vertices, vortex vortices, codex codices, cortex cortices, apex apices, helix helices,
appendix appendices, criterion criteria, analysis analyses, basis bases, crisis crises,
hypothesis hypotheses, thesis theses, axis axes, phenomenon phenomena, schema schemata,
formula formulae
"""
_DIGRAPHS = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_UMLAUTS = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}


def other_forms(word: str) -> tuple[str, ...]:
    """Return words that count like *word*, which is in lower case, if a note has them.

    >>> other_forms("went"), other_forms("mueller"), other_forms("müller")
    (('go', 'goes', 'gone'), ('muller',), ('mueller',))
    """
    if not word.isascii():
        two = word.translate(_UMLAUTS)
        return (two,) if two != word else ()
    if f" {word} " in _irregular_words():
        return tuple(form for form in _classes()[word] if form != word)
    if "e" not in word[1:]:
        return ()
    plain = word
    for digraph, letter in _DIGRAPHS:
        plain = plain.replace(digraph, letter)
    return (plain,) if plain != word else ()


@cache
def _irregular_words() -> str:
    """Return all irregular words, with a blank before and behind each."""
    return f" {' '.join(_IRREGULAR.replace(',', ' ').split())} "


@cache
def _classes() -> dict[str, list[str]]:
    """Return word -> all forms of it."""
    of_word: dict[str, list[str]] = {}
    for forms in _IRREGULAR.split(","):
        for form in forms.split():
            of_word.setdefault(form, []).extend(forms.split())
    return of_word
