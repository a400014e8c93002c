"""Short and long forms of the same word: *config* and *configuration*.

People write *repo* and ask for the repository. Both count as one word when a query is
read; notes are indexed as they are written.
"""

from __future__ import annotations

from functools import cache

# What programmers, and people in letters, cut words down to. Words between two commas
# mean the same; a short word of two long ones stands twice.
_CLASSES = """
acct account, addr address, admin administrator, alloc allocate allocation, app
application, approx approximately, apt apartment, arg argument, async asynchronous, attr
attribute, auth authentication, auth authorization, authn authentication, authz
authorization, auto automobile, bday birthday, bike bicycle, bool boolean, bro brother,
btn button, buf buffer, celeb celebrity, cfg configuration, char character, chimp
chimpanzee, cmd command, col column, combo combination, concat concatenate, condo
condominium, conf configuration, config configuration configure, convo conversation,
creds credentials, ctrl control, ctx context, dad father, db database, decl declaration,
del delete, demo demonstration, dep dependency, dept department, dest destination, dev
development, dev developer, diff difference, dir directory, doc document, doc
documentation, env environment, err error, eval evaluate evaluation, exam examination,
exec execute execution, expr expression, fav fave favorite favourite, flu influenza, fn
function, fridge refrigerator, func function, govt government, grandma grandmother,
grandpa grandfather, gym gymnasium, hr hour, id identifier, idx index, img image, impl
implementation implement, info information, infra infrastructure, init initialize
initialise initialization, int integer, iter iterate iterator, js javascript, k8s
kubernetes, kid child, km kilometer kilometre, lab laboratory, lang language, len
length, lib library, math maths mathematics, max maximum, md markdown, memo memorandum,
mgmt management, min minimum, misc miscellaneous, mom mum mother, mongo mongodb, msg
message, mutex mutual, ns namespace, num number, obj object, ops operations, param
parameter, perf performance, perms permissions, pg postgres postgresql, phone telephone,
photo photograph, pic picture, pkg package, plane airplane aeroplane, pos position, pref
preference, prep prepare preparation, prev previous, proc process, prod production, prof
professor, proj project, promo promotion, ptr pointer, pwd passwd password, py python,
rb ruby, ref reference, regex regexp, rehab rehabilitation, repo repository, req
request, resp response, sec second, sis sister, spec specification, src source, stat
statistic, stmt statement, str string, svc service, sync synchronize synchronise
synchronization, sys system, tbl table, temp temporary, tf terraform, tmp temporary, ts
typescript, tv television, tx transaction, txn transaction, tz timezone, uni university,
usr user, util utility, val value, var variable, vec vector, veg veggie vegetable, ver
version, vet veterinarian, vid video, vs versus, xmas christmas, yml yaml, yr year, i18n
internationalization, l10n localization, a11y accessibility
"""


def short_and_long_forms(word: str) -> tuple[str, ...]:
    """Return the short or long forms of *word*, which is in lower case.

    >>> short_and_long_forms("repos"), short_and_long_forms("directory")
    (('repository',), ('dir',))
    """
    words = _words()
    if f" {word} " not in words:
        word = word.removesuffix("s")
        if f" {word} " not in words:
            return ()
    return _forms()[word]


@cache
def _words() -> str:
    """Return all words of the table, with a blank before and behind each."""
    return f" {' '.join(_CLASSES.replace(',', ' ').split())} "


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    """Return word -> the others that it is looked up with."""
    of_word: dict[str, dict[str, None]] = {}
    for line in _CLASSES.split(","):
        words = line.split()
        for word in words:
            others = dict.fromkeys(other for other in words if other != word)
            of_word.setdefault(word, {}).update(others)
    return {word: tuple(others) for word, others in of_word.items()}
