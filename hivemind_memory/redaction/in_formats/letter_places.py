"""Finds passwords without a digit, by the place alone: only a password stands there.

``password=kuvaritomel``, ``define('DB_PASSWORD', '…')``, a line below ``DB_PASSWORD``,
a cell below *Password*, ``net use … kuvaritomel``. Other rules ask how a value looks;
here the place is strict, and ``letter_check`` passes over words of documents.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.arguments import (
    ACCOUNT,
    CALLED,
    HERE,
    PAIR,
    PIPED,
    SENT,
    SETTER,
    TYPED_IN,
)
from hivemind_memory.redaction.in_code.commands import FORMS
from hivemind_memory.redaction.in_code.given_values import (
    ATTRIBUTE,
    BASIC,
    BESIDE_NAME,
    CALL,
    ELEMENT,
    HEREDOC,
    OF_COMMAND,
    VARIABLE,
)
from hivemind_memory.redaction.in_code.plain_commands import PLAIN_FORMS, names_database
from hivemind_memory.redaction.in_code.setting_names import ValueKind, classify_name
from hivemind_memory.redaction.in_formats.basic_logins import basic_logins
from hivemind_memory.redaction.in_formats.columns import columns
from hivemind_memory.redaction.in_formats.layouts import KUBERNETES, kubernetes
from hivemind_memory.redaction.in_formats.sql_rows import inserted
from hivemind_memory.redaction.secret_names import PASSWORDS_ELSEWHERE
from hivemind_memory.redaction.sentence_gate import NAME_WORDS
from hivemind_memory.redaction.spans import has_any
from hivemind_memory.redaction.values.letter_check import (
    may_be_any,
    may_be_letters,
    may_be_said,
)
from hivemind_memory.redaction.values.value_check import is_placeholder
from hivemind_memory.redaction.values.value_score import held, held_bare, is_chosen_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

    Places = Iterable[re.Match[str]]

_PASSWORD = "password"  # noqa: S105 - the name of a kind
_NAME = r"(?<![\w.-])(?P<name>[\w.-]{2,60}+)"
_WORD = r"(?P<value>[^\s\"'`;,&<>()\[\]{}|$\\=]{5,100}+)"
_QUOTED = lazy_re(
    _NAME + r"(?:\[\]|\\{0,2}[\"'`\])]){0,3}+(?:(?<=\w)[ \t]{0,4}:[ \t]{0,4}"
    r"[\w.\[\]|]{2,30}+(?=[ \t]{1,4}=))?"
    r"(?:[ \t]{0,16}+(?::|=>|==|[:=：])[ \t]{0,16}+|[ \t]{1,16}+)"
    r"(?:(?:get)?env\([\"'][\w.]{1,60}[\"'],[ ]{0,4}"
    r"|[\w.]{3,60}+[ ](?:\|\||\?\?|or)[ ])?[bruN@]?\\{0,2}"
    r"(?=(?P<quote>[\"'`])(?P<value>[^\"'`\\\s]{5,100}+)\\{0,2}(?P=quote))"
)
_TYPED = lazy_re(
    r"(?P<name>pass\w{0,12}+)[^\n]{0,60}?\b(?:fill|type\w{0,4}|send_?keys|set_?value)"
    r"\((?:[^()\n\"']{0,60},[ \t]{0,4})?[\"'](?P<value>[^\"'\s]{5,100}+)[\"']\)"
    r"|\bfill\([\"'][^\"'\n]{0,40}?(?P<upper>pass\w{0,12}+)[^\"'\n]{0,20}"
    r"[\"'],[ \t]{0,4}"
    r"[\"'](?P<other>[^\"'\s]{5,100}+)[\"']\)",
    re.IGNORECASE,
)
_TIGHT = lazy_re(_NAME + r"(?:=|%3[dD]|}?=)" + _WORD + r"(?=[\s;,&\"'`)\]<]|\Z)")
# In a list of settings within one string, and in an environment: no variable of code.
_OF_STRING = lazy_re(
    r"(?:(?<=[;&?])[ ]?(?P<name>[\w.-]{2,60}+)|(?<![\w$.-])(?P<upper>[A-Z][A-Z0-9_]"
    r"{2,60}+))="
    + _WORD + r"(?=[\s;,&\"'`)\]<]|\Z)"
)  # fmt: skip
_VALUE_ENDS = r"[ \t]*+(?:[#;][^\n]{0,200}+|//[^\n]{0,200}+|,)?\r?$"
_LINE = lazy_re(
    r"(?m)^[ \t>*+#-]{0,16}+(?:(?:export|set|setenv|ENV|ARG)[ \t]++)?"
    r"(?P<name>[\w.-]{2,60}+)(?:[ \t]{0,20}+(?P<sign>[:=：])[ \t]{0,20}+|[ \t]{1,20}+)"
    + _WORD + _VALUE_ENDS
)  # fmt: skip
_LABELED = lazy_re(
    r"(?m)^[ \t>*+#_`|-]{0,16}+(?P<name>[^\n:=：|]{2,60}+)[:：=][ \t]{0,8}"
    r"(?:[*_`\"'“„«]{1,3}[ \t]{0,3})?"
    r"(?P<value>[^\s`\"'*“”«»|]{5,100}+)[ ]?[`\"'*_”»]{0,3}[ \t|]*+\r?$"
)
_DEFAULT = lazy_re(r"\$\{(?P<name>[\w.]{2,60}+):-?(?P<value>[^\s}\"'$]{5,100}+)\}")
_AMONG = lazy_re(
    r"(?<![\w.$-])(?P<name>[^\W\d][\w-]{1,40}+)[ \t]{0,2}(?:[:：=]|->|→|[ ](?"
    r"=\S+[ \t]*\r?$))"
    r"[ \t]{0,4}(?P<value>[^\s\"'`,;&<>()\[\]{}|$\\=]{5,100}+)(?=[ \t]*(?:[,;)]|\r?$))",
    re.MULTILINE,
)
_BELOW = lazy_re(
    r"(?m)^(?P<mark>[ \t>#*_`-]{0,8}+)(?P<name>[^\n|=]{2,80}?)[ \t*_`:.]{0,6}\r?\n"
    r"(?:[ \t>]*+\r?\n)?(?P<indent>[ \t>]{0,12}+)[*`\"']{0,3}(?P<value>[^\s`\"'*|]"
    r"{5,100}+)"
    r"[*`\"']{0,3}[ \t]*+\r?$"
)
_IS = r"(?:is|was|to|ist|lautet|auf|est|es|é|è|jest|är)"
_CHANGED = lazy_re(
    r"(?i)\b(?:has[łl]o\b|chang|set\b|reset|updat|rotat|änder|aender|gesetzt)"
)
_VERBS = frozenset(("pass", "passes"))
_ASSIGNS = lazy_re(r"[=:：,>]")
_STATED = lazy_re(
    rf"(?i)(?<![a-z]){_IS}[ \t]{{1,3}}(?P<quote>[\"'`“„«*]{{0,2}}+)"
    r"(?P<value>[^\s\"'`“”«»*.,;:!?()]{5,100}+)"
    r"(?=(?:[\"'`”»*]|[.!]?[ \t]*\r?(?:\n|\Z)|[ \t](?:yesterday|today|now)\b))"
    r"|は[ \t]?(?P<other>[A-Za-z]{5,100}+)[ \t]?(?:です|$)"
)
_ALSO = (".auth", "psk")
_ALSO_IN_QUOTES = ("secret", "secret_key", "secretkey", "signing_key")
"""Ends of names of what a person may have chosen, though they name no password."""

_ANSWERED = lazy_re(
    r"(?m)^(?P<name>[^\n]{4,200}+)(?<=\?)[ \t]*\r?\n[ \t>*<]{0,6}+"
    r"(?:[\w.@-]{1,30}+[>*]{0,3}:|(?<=> ))[ \t*]{0,4}(?P<value>[^\s]{5,64}+)[ \t]*\r?$"
)
_LINE_ENDS = lazy_re(r"[\"'`]?[ \t]*\r?(?:\n|\Z)")
_SIGNS_IN = ("login", "user", "host", "account", "machine", "smtp", "imap", "server")


def in_letter_places(there: LineWords) -> list[TextSpan]:
    """Return the passwords without a digit, where only a password can stand."""
    spans: list[TextSpan] = []
    if there.has_any(_NAME_WORDS):
        for pattern, judge, below, signs in _NAMED:
            if has_any(there.text, signs):
                spans += _named(there.near(pattern, NAME_WORDS, below=below), judge)
        spans += _on_lines(there)
        spans += _stated(there)
        spans += inserted(there)
        spans += columns(there, words=NAME_WORDS, chosen=held)
    commands = there.words(_COMMANDS)
    for word, pattern in _ALL_FORMS if commands else ():
        if word in commands:
            ends_line = word in _IN_SENTENCES
            places = there.near(pattern, (word,), below=_BELOW_COMMAND)
            spans += _given(places, ends_line=ends_line)
    if there.has_any(KUBERNETES):
        spans += kubernetes(there.text)
    for pattern, words in _TAKEN:
        spans += _taken(there.near(pattern, words, below=2 * (pattern is HEREDOC)))
    if '" "' in there.text:
        spans += [
            (*found.span("value"), _PASSWORD)
            for found in _USERLIST.finditer(there.text)
            if may_be_any(found["value"])
        ]
    spans += basic_logins(there)
    for pattern, words in _BESIDE:
        spans += [
            (*found.span("value"), _PASSWORD)
            for found in there.near(pattern, words)
            if not is_placeholder(found["value"])
        ]
    return spans


_CONNECTED = lazy_re(
    r"(?i)connect\w{0,10}[ \t]{0,2}\([ \t]{0,4}[\"'](?:dbi|jdbc|mysql|pgsql|odbc"
    r"|ldaps?|mongodb|amqp):[^\"'\n]{0,200}[\"'],[ \t]{0,4}[\"'][^\"'\n]{1,60}[\"'],"
    r"[ \t]{0,4}[\"'](?P<value>[^\"'\n]{5,100})[\"']"
)


def _holds_password(name: str, *, is_quoted: bool = False) -> bool:
    """Whether a name, or the words of a label, say that a password follows."""
    if classify_name(name) is ValueKind.PASSWORD:
        return True
    ends = (*_ALSO, *_ALSO_IN_QUOTES) if is_quoted else _ALSO
    return name.lower().endswith(ends) and classify_name(name) is not None


def _named(places: Places, judge: Callable[[str], bool]) -> Iterator[TextSpan]:
    """Yield the values that are assigned to the name of a password."""
    for found in places:
        group = "value" if found["value"] else "other"
        value = found[group].rstrip(".,")
        name = found["name"] or found["upper"]
        if name.lower() in _VERBS and not _ASSIGNS.search(found[0]):
            continue
        is_quoted = judge is may_be_letters
        if _holds_password(name.rstrip("."), is_quoted=is_quoted) and judge(value):
            start = found.start(group)
            yield (start, start + len(value), _PASSWORD)


def _on_lines(there: LineWords) -> Iterator[TextSpan]:
    """Yield the values that are all there is on a line beside or below their name."""
    for found in there.near(_LINE, NAME_WORDS):
        if (
            _holds_password(found["name"])
            and held_bare(found["value"])
            and (found["sign"] or _signs_in(there, found.start()))
            and not _is_variable(there.text, found)
        ):
            yield (*found.span("value"), _PASSWORD)
    for found in there.near(_AMONG, NAME_WORDS):
        value = found["value"].rstrip(".")
        is_shown = ":" in found[0] or ">" in found[0] or _signs_in(there, found.start())
        if (
            is_shown
            and _holds_password(found["name"])
            and (may_be_said(value) or (not value.isalpha() and held(value)))
        ):
            start = found.start("value")
            yield (start, start + len(value), _PASSWORD)
    for found in there.near(_LABELED, NAME_WORDS):
        label = _label(found["name"])
        value = found["value"].rstrip(".,")
        is_said = may_be_said if value.isalpha() else held_bare
        if _holds_password(label) and is_said(value):
            start = found.start("value")
            yield (start, start + len(value), _PASSWORD)
    for found in there.near(_ANSWERED, NAME_WORDS, below=1):
        if _says_password(found["name"]) and may_be_said(found["value"]):
            yield (*found.span("value"), _PASSWORD)
    for found in there.near(_BELOW, NAME_WORDS, below=2):
        label = _label(found["name"])
        value = found["value"].rstrip(".,;:")
        is_name = label.isupper() and "_" in label
        is_heading = "#" in found["mark"]
        is_set_off = (
            is_heading
            or found["indent"] > found["mark"]
            or found["value"] != (found[0].rstrip().rpartition("\n")[2].strip())
        )
        head = _OF_WHAT.split(label, maxsplit=1)[0]
        is_label = len(head.split("_")) < 5 and (is_set_off or ":" in found[0])
        is_label = is_label or ("_" not in label and _signs_in(there, found.start()))
        if (
            (is_name or is_label or not value.isalpha())
            and _ends_in_password(label)
            and may_be_any(value)
        ):
            start = found.start("value")
            yield (start, start + len(value), _PASSWORD)


def _label(words: str) -> str:
    """Return the words of a label as one name."""
    return re.sub(r"[^\w]+", "_", re.sub(r"\([^)]*\)?", "", words)).strip("_")


_OF_WHAT = lazy_re("(?i)_(?:for|of|on|to|für|von|de|del|du|di|da|do|voor|für|для|от)_")


def _ends_in_password(label: str) -> bool:
    """Whether the last word of a label is a name of a password."""
    head = _OF_WHAT.split(label, maxsplit=1)[0]
    return any(_holds_password(some.rpartition("_")[2]) for some in (label, head))


def _signs_in(there: LineWords, start: int) -> bool:
    """Whether a line near a place has the other words of a login."""
    around = there.low[max(0, start - 160) : start + 120]
    return any(word in around for word in _SIGNS_IN)


def _is_variable(text: str, found: re.Match[str]) -> bool:
    """Whether what is assigned without quotes stands elsewhere, as variables do."""
    value = found["value"]
    return len(re.findall(rf"(?<![\w:=\"']){re.escape(value)}(?!\w)", text)) > 1 + (
        text.count(found[0])
    )


def _stated(there: LineWords) -> Iterator[TextSpan]:
    """Yield the words that sentences say are a password."""
    for found in there.near(_STATED, NAME_WORDS):
        group = "value" if found["value"] else "other"
        start = there.text.rfind("\n", 0, found.start()) + 1
        before = there.text[max(start, found.start() - 80) : found.start()]
        said = re.split(r"[.!?;]\s", before)[-1]
        is_change = found[0].lower().startswith(("to", "auf"))
        if is_change and not _CHANGED.search(said):
            continue
        judge = may_be_letters if found["quote"] else may_be_said
        if _says_password(said) and judge(found[group]):
            yield (*found.span(group), _PASSWORD)


def _says_password(words: str) -> bool:
    """Whether words before a verb name a password."""
    if any(part in words.lower() for part in ("mot de passe", *PASSWORDS_ELSEWHERE)):
        return True
    names = re.findall(r"[\w-]{2,40}", words)[-8:]
    return any(
        _holds_password(name)
        for place, name in enumerate(names, start=1)
        if name.lower() not in _VERBS or place == len(names)
    )


def _taken(places: Places) -> Iterator[TextSpan]:
    """Yield the letters that a program, a call or an option takes as a password."""
    for found in places:
        groups = ("value", "plain", "single", "double")
        group = next(name for name in groups if found.groupdict().get(name))
        if held(found[group]):
            yield (*found.span(group), _PASSWORD)


def _given(places: Places, *, ends_line: bool) -> Iterator[TextSpan]:
    """Yield the values that a command takes as a password."""
    for found in places:
        value = found["value"].rstrip(")],")
        if ends_line and not _LINE_ENDS.match(found.string, found.end()):
            continue
        if may_be_any(value) and not names_database(found):
            yield (found.start("value"), found.start("value") + len(value), _PASSWORD)


_QUOTES = ('"', "'", "`")
_NAMED: tuple[
    tuple[re.Pattern[str], Callable[[str], bool], int, tuple[str, ...]], ...
] = (
    (_QUOTED, held, 0, _QUOTES),
    (CALL, held, 0, _QUOTES),
    (_TYPED, held, 0, _QUOTES),
    (_OF_STRING, held, 0, ("=",)),
    (_TIGHT, held_bare, 0, ("=", "%3")),
    (PAIR, held, 1, (":", "=")),
    (SETTER, held, 0, ("set", "put", "add", "config", "env", "secret")),
    (_DEFAULT, held_bare, 0, ("${",)),
    (ELEMENT, held, 1, ("</",)),
    (ATTRIBUTE, held, 0, ("value=",)),
    (BESIDE_NAME, is_chosen_pair, 0, _QUOTES),
    (VARIABLE, held, 4, ("variable",)),
)
"""What holds a name and a value, what judges the value, the lines below it, and signs
without which no text has one."""

_TAKEN = (
    (PIPED, ("echo ", "printf ")),
    (SENT, ("send",)),
    (TYPED_IN, ("send",)),
    (ACCOUNT, ("-u", "-a", "auth", "cred", "user")),
    (_CONNECTED, ("connect",)),
    (CALLED, ("auth", "login", "connect", "cred")),
    (HERE, ("<<<",)),
    (OF_COMMAND, ("command", "cmd")),
    (HEREDOC, ("<<",)),
    (BASIC, ("base64", "b64", "btoa")),
)
"""What takes a password, and the words without which a line has none of it."""

_USERLIST = lazy_re(
    r"(?m)^[ \t]*\"[\w.@-]{1,60}\"[ \t]+\"(?P<value>[^\"\s]{5,200})\"[ \t]*$"
)
_BESIDE = (
    (
        lazy_re(
            r"(?i)\bpin\b[^\n\d]{0,12}[:=][ \t]{0,3}(?P<value>\d{3}-\d\d-\d{3})(?![\w-]"
            r")"
        ),
        ("pin",),
    ),
    (
        lazy_re(
            r"(?i)temporary password[^\n]{0,80}?:[ \t]{1,4}(?P<value>\S{8,64})[ \t]*"
            r"\r?$"
        ),
        ("temporary password",),
    ),
    (
        lazy_re(
            r"(?i)define\([ \t]{0,4}['\"]\w{2,40}_(?:KEY|SALT)['\"][ \t]{0,4},[ \t]{"
            r"0,16}"
            r"'(?P<value>[^'\n]{32,100})'"
        ),
        ("define",),
    ),
)
"""What is a secret whatever it looks like, but for placeholders."""

_IN_SENTENCES = frozenset(("username ", "enable "))
"""Commands whose words sentences have too: there the value ends the line."""

_BELOW_COMMAND = 6
_NAME_WORDS = frozenset(NAME_WORDS)
_ALL_FORMS = (*FORMS, *PLAIN_FORMS)
_COMMANDS = frozenset(word for word, _ in _ALL_FORMS)
WORDS = _COMMANDS.union(NAME_WORDS, *(words for _, words in (*_TAKEN, *_BESIDE)))
"""Words that the gate looks for before ``in_letter_places`` is asked, in lower case."""
