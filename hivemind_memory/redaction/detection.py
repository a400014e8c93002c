"""Finds the secrets in a text: where each one is, and of which kind.

A text is first searched for the words that rules need. Most texts have none of them,
and are done in microseconds without a regular expression; the rules are loaded only for
the others. Values of the vault, and those that the caller names as secret, are found as
well, also in JSON, in a URL, in hex or base64.
"""

from __future__ import annotations

from hivemind_memory.model.value import value
from hivemind_memory.redaction.judgments import forget_all
from hivemind_memory.redaction.lone_passwords import chosen_passwords
from hivemind_memory.redaction.prose_words import WALLET_WORDS
from hivemind_memory.redaction.secret_names import (
    KEY_NAMES,
    KEYS_ELSEWHERE,
    PASSWORD_NAMES,
    PASSWORDS_ELSEWHERE,
)
from hivemind_memory.redaction.sentence_gate import (
    DASHED,
    GATE_PATTERNS,
    GATE_WORDS,
    MIXED,
    NAME_WORDS,
    SPOKEN_WORDS,
    may_be_spoken,
)
from hivemind_memory.redaction.spans import (
    HIDDEN,
    TextSpan,
    has_any,
    is_within,
    lowered,
    merge_spans,
    without_marks,
)
from hivemind_memory.redaction.word_gate import LONG, WordGate
from hivemind_memory.vault.opened import secret_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

_OF_NUMBERS = frozenset((
    "key", "secret", "seed", "private", "account", "wallet", "aes", "solana", "phantom",
    "deployer", "signer", "mnemonic",
))  # fmt: skip
"""Words beside which an array of numbers may be a key."""
LONG_WORD = 18  # longer than nearly all words
_DIGITS = frozenset("0123456789")
ASSIGNED = (
    "pass", "pw", "secret", "token", "tkn", "key", "auth", "cred", "contrasen",
    *PASSWORD_NAMES, *KEY_NAMES,
)  # fmt: skip
"""Words beside which something is assigned that may be a secret, in lower case."""
ASSIGNED_NON_ASCII = (*PASSWORDS_ELSEWHERE, *KEYS_ELSEWHERE)
"""The same in texts that are not in ASCII letters."""
SIGNS = (
    "=", ":", "：", "＝", "|", ",", "->", "—", "–", "→", "(", "%3d", "%3a", ">",
    "是", "为", "為", "は", " is ", " was ", " are ", " to ",
    " ist ", " lautet ", " est ", " es ", " é ", " è ",
)  # fmt: skip
"""What is between a name and its value."""
LAYOUT_WORDS = (
    *ASSIGNED, "5432", ":*:", "kind:", "stringdata:", "variable", "identified",
    "login", "account", "psk", "sae_", "appid=", "app_id=", "code", ".local.",
    ".public.", "recovery", "=", "12. ", "12) ", "pepper", *WALLET_WORDS, "_pat",
    "_sid", "_jwt", "_sas", "_seed", "_salt", "_signing", "_hmac", "_cookie",
)  # fmt: skip
"""Words without which no layout gives a secret away."""

HANDING_WORDS = (
    "wifi", "wi-fi", "wlan", "kod", "kód", "код", "пин", "暗証番号", "验证码", "驗證碼",
    "رمز", "magic word", "safe word", "protection word", "challenge word", "gate",
    "combination", "combinación", "combinaison", "combinazione", "kombination", "door",
)  # fmt: skip
"""Words besides these that, each as a whole, call something a secret in a sentence."""

MANY = 32  # occurrences of a word
NEAR = 80  # how far a value may be from its name
HEADERS = ("bearer", "basic", "authorization", "cookie:")
LOGINS = (
    "curl", "sshpass", "login", "mysql", "redis-cli", "ldap", "add-generic-password",
)  # fmt: skip
FLAGS = (" -u", " --user", " --proxy-user", " -p", " -a ", " -w", " -b", " --cookie")
SHORTEST_ALONE = 16  # letters of a value that nothing assigns
_GOES_ON = (":", "=", "|", ">", "-")
_UNLIKE_A_WORD = frozenset("0123456789!@#$%^&*+?~")
_LAYOUT_WORDS, _ASSIGNED = frozenset(LAYOUT_WORDS), frozenset(ASSIGNED)
_HANDING_WORDS = frozenset(HANDING_WORDS)
_SPOKEN = frozenset(SPOKEN_WORDS)
_PLACES = frozenset((*NAME_WORDS, *GATE_WORDS)) - {"/"}
_HEADERS, _LOGINS = frozenset(HEADERS), frozenset(LOGINS)
_ASSIGNED_ORDER = {
    word: place
    for place, word in enumerate(dict.fromkeys((*ASSIGNED, *ASSIGNED_NON_ASCII)))
}
_WORDS = (
    *(*ASSIGNED, *ASSIGNED_NON_ASCII, *LAYOUT_WORDS, *HEADERS, *LOGINS, *NAME_WORDS),
    *(*GATE_WORDS, *_OF_NUMBERS, *HANDING_WORDS),
    *("kennwort", "losung", "unlock", "diceware", "geheim"),
)
_GATE = WordGate(_WORDS, GATE_PATTERNS)
_gates = [_GATE]
"""The last one is asked. The first knows what tells whether a text is suspicious; from
the first that is, there is one that knows the words of every form too."""


@value
class Secret:
    """Where a secret stands, and what it is."""

    kind: str
    """What it is: the rule's name, in small letters and dashes."""

    start: int
    """Offset of its first character."""

    end: int
    """Offset just past its end."""


def find_secrets(text: str, known: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return the secrets in a text, in order and without overlaps.

    Args:
        text: Any text; marks of an earlier scrubbing count as clean.
        known: Values that are secret whatever they look like, besides those of the
            vault. Those shorter than four letters are passed over.

    >>> [(secret.kind, secret.start) for secret in find_secrets("postgres://me:tr0ub4d@host/db")]
    [('url-password', 14)]
    """
    try:
        return find_secrets_in_part(text, known)
    finally:
        forget_all()


def find_secrets_in_part(text: str, known: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return the same, and keep what was learned for the next part of the text.

    Call ``forget_all`` after the last part.
    """
    hidden = without_marks(text)
    values = (*known, *secret_values())
    spans = _spans(hidden, values)
    if '"' in hidden or "'" in hidden or "\\\n" in hidden:
        from hivemind_memory.redaction.in_code.literals import joined

        spans += joined(hidden, lambda whole: _spans(whole, values, is_code=True))
    if "\\u00" in hidden or "&" in hidden:  # before the import; see has_escape
        from hivemind_memory.redaction.in_formats.escapes import has_escape, in_escaped

        if has_escape(hidden):
            spans += in_escaped(hidden, lambda line: _spans(line, values))
    if "base64" in hidden or "powershell" in hidden or "pwsh" in hidden:
        from hivemind_memory.redaction.in_code import encoded_commands as encoded

        spans += encoded.encoded_commands(hidden, lambda said: _spans(said, values))
        spans += encoded.encoded_logins(hidden)
    if spans:
        from hivemind_memory.redaction.in_prose.relatives import relatives
        from hivemind_memory.redaction.own_writing import without_own

        spans += list(relatives(hidden, spans))
        spans = without_own(hidden, spans, lambda value: _spans(value, values))
    if not text.isascii():
        from hivemind_memory.redaction.in_formats.layouts import has_zero_width

        if has_zero_width(hidden):
            from hivemind_memory.redaction.in_formats.layouts import split_by_zero_width

            spans += split_by_zero_width(hidden, lambda whole: _spans(whole, values))
    if "ENC[" in hidden:  # encrypted already, by sops for instance
        spans = [span for span in spans if not is_within(hidden, span, "ENC[", "]")]
    return tuple(
        Secret(kind=kind, start=start, end=end)
        for start, end, kind in merge_spans(spans)
        if HIDDEN not in hidden[start:end] or HIDDEN in text[start:end]
    )


def _spans(text: str, known: Iterable[str], *, is_code: bool = False) -> list[TextSpan]:
    """Return what each way of looking finds, the surest way first.

    No line of what is put together from the literals of code is weighed.
    """
    low = lowered(text)
    spans: list[TextSpan] = []
    if values := tuple(known):
        from hivemind_memory.redaction.known_values import known_values

        spans += known_values(text, values)
    if "PRIVATE KEY" in text or "Private-Lines:" in text or "Static key V" in text:
        from hivemind_memory.redaction.tokens.private_keys import private_keys

        spans += private_keys(text)
    if "MII" in text or "b3BlbnNz" in text or "CAQ" in text or "MIG" in text:
        from hivemind_memory.redaction.tokens.private_keys import private_key_bodies

        spans += private_key_bodies(text)
    there, is_suspect = _words_of(text)
    # Of nearly all notes that agents write, no word is as long as a token.
    if there.tokens:
        from hivemind_memory.redaction.tokens.service_names import beside_names
        from hivemind_memory.redaction.tokens.token_scan import by_tokens

        blocks = there.blocks(sorted(set().union(*there.tokens.values())))
        spans += [*by_tokens(text, low, blocks, there), *beside_names(there, blocks)]
    if "@" in text and any(
        "@" in part and ("://" in part or "@tcp(" in part) for part in text.split()
    ):
        from hivemind_memory.redaction.in_formats.headers_and_urls import url_passwords

        spans += url_passwords(text)
    if _has_header(there):
        from hivemind_memory.redaction.in_formats.headers_and_urls import in_headers

        spans += in_headers(low=low, text=text)
    named = sorted(there.words(_ASSIGNED_ORDER.keys()), key=_ASSIGNED_ORDER.__getitem__)
    words = [word for word in named if _is_assigned(low, word)]
    if words:
        from hivemind_memory.redaction.in_code.assignments import find_assigned

        spans += find_assigned(text, low, words)
    if there.has_any(_PLACES) or '" "' in text:
        from hivemind_memory.redaction.in_formats.letter_places import in_letter_places

        spans += in_letter_places(there)
    if there.has_any(_SPOKEN):
        from hivemind_memory.redaction.in_prose.spoken_letters import in_spoken_letters

        spans += in_spoken_letters(there)
    if is_suspect:
        spans += _by_layout(there, is_weighed=not is_code)
    long = [rows for piece, rows in there.tokens.items() if len(piece) >= LONG]
    if long:
        from hivemind_memory.redaction.tokens.token_scan import in_runs

        spans += in_runs(text, there.blocks(sorted(set().union(*long))))
    return spans


def _words_of(text: str) -> tuple[LineWords, bool]:
    """Return the words of a text, and whether its layout may give something away.

    The first text of which that is so loads the words of all rules, and is read again:
    every rule finds in it what it finds in later ones.
    """
    gate = _gates[-1]
    there = gate.read(text)
    is_suspect = _is_suspect(there)
    if is_suspect and gate is _GATE:
        from hivemind_memory.redaction.suspects.form_words import FORM_WORDS
        from hivemind_memory.redaction.suspects.pieces import looks_of

        # Two threads may do so at once: each has a gate that knows all words.
        gate = WordGate((*_WORDS, *FORM_WORDS), GATE_PATTERNS, looks_of)
        _gates.append(gate)
        there = gate.read(text)
    return there, is_suspect


def _is_suspect(there: LineWords) -> bool:
    """Return whether the layout of a text may give something away."""
    if DASHED in there or _may_have_forms(there) or there.has_any(_OF_NUMBERS):
        return True
    if not (words := there.words(_HANDING_WORDS)):
        return False
    from hivemind_memory.redaction.in_prose.handing_rows import rows_naming

    return bool(rows_naming(there, words))


def _by_layout(there: LineWords, *, is_weighed: bool) -> list[TextSpan]:
    """Return what the layout of a suspect text gives away."""
    from hivemind_memory.redaction.in_prose.seeds import SEED_WORDS, seed_phrases

    spans: list[TextSpan] = []
    if there.has_any(SEED_WORDS):
        spans += seed_phrases(there)
    if DASHED in there or _may_have_forms(there):
        from hivemind_memory.redaction.suspects.lines import suspect_lines

        suspects = suspect_lines(there)
        if suspects is not None:
            spans += suspects.original(_on_lines(suspects.lines, there))
    if is_weighed:
        from hivemind_memory.redaction.in_prose.handed_over import handed_over

        spans += handed_over(there)
    if there.has_any(_OF_NUMBERS):
        from hivemind_memory.redaction.in_code.literals import keys_as_numbers

        spans += keys_as_numbers(there)
    return spans


def _may_have_forms(there: LineWords) -> bool:
    """Whether a text has what a form, a sentence or a value alone needs."""
    return MIXED in there or there.has_any(_LAYOUT_WORDS) or may_be_spoken(there)


def _on_lines(lines: LineWords, there: LineWords) -> list[TextSpan]:
    """Return what rules find on the ``suspect_lines`` of a whole text."""
    from hivemind_memory.redaction.in_prose.statements import in_words

    spans: list[TextSpan] = []
    is_mixed = MIXED in there
    if is_mixed or DASHED in there:
        spans += in_words(lines, is_mixed=is_mixed, is_dashed=DASHED in there)
    if there.has_any(_LAYOUT_WORDS):
        from hivemind_memory.redaction.in_formats.layouts import in_layouts

        spans += in_layouts(lines)
    if may_be_spoken(there):
        from hivemind_memory.redaction.in_prose.sentences import in_sentences

        spans += in_sentences(lines)
    if is_mixed:
        from hivemind_memory.redaction.in_code.arguments import in_arguments
        from hivemind_memory.redaction.in_formats.labels import near_labels

        spans += [*in_arguments(lines), *near_labels(lines)]
        spans += chosen_passwords(lines.text)
        from hivemind_memory.redaction.in_code.calls import in_calls
        from hivemind_memory.redaction.in_formats.columns import columns
        from hivemind_memory.redaction.in_formats.secret_fields import in_slots
        from hivemind_memory.redaction.in_prose.dialog import on_lines
        from hivemind_memory.redaction.tokens.secret_links import secret_links

        spans += [*in_calls(lines.text), *in_slots(lines), *on_lines(lines)]
        spans += columns(lines)
        if "://" in lines.text:
            spans += secret_links(lines.text)
    if is_mixed or there.has_any(_ASSIGNED):
        from hivemind_memory.redaction.in_prose.phrases import by_form, phrases

        spans += phrases(lines)
        if is_mixed:
            spans += by_form(lines)
    return spans


def _has_header(there: LineWords) -> bool:
    """Whether a header or a login is there, and a value for it."""
    if there.has_any(_LOGINS) and has_any(there.low, FLAGS):
        return True
    return any(
        _is_promising(near, words=4)
        for word in there.words(_HEADERS)
        for _, near in _places(there.low, word)
    )


def _is_assigned(low: str, word: str) -> bool:
    """Whether something that is not a plain word follows a sign after a word."""
    if low.count(word) > MANY:
        return True  # then asking costs more than looking
    for at, near in _places(low, word):
        if not _is_promising(near, words=len(near)):
            continue
        if any(
            _is_promising(near.partition(sign)[2]) for sign in SIGNS if sign in near
        ):
            return True
        if any(
            len(part) >= SHORTEST_ALONE and not _DIGITS.isdisjoint(part)
            for part in near.split()
        ):
            return True
        takes_argument = "--" in low[max(0, at - 40) : at] or "login " in low
        if takes_argument and _is_promising(near):
            return True
    return False


def _places(low: str, word: str) -> Iterator[tuple[int, str]]:
    """Return where a word is, and what follows on its line, or on the next."""
    at = low.find(word)
    while at >= 0:
        start = at + len(word)
        near, _, next_line = low[start : start + NEAR].partition("\n")
        if near.rstrip()[-1:] in _GOES_ON:
            near += " " + next_line.partition("\n")[0]
        yield at, near
        at = low.find(word, start)


def _is_promising(near: str, words: int = 2) -> bool:
    """Whether one of the next words does not look like an ordinary word."""
    return any(
        len(part) >= LONG_WORD or not _UNLIKE_A_WORD.isdisjoint(part)
        for part in near.split(maxsplit=words)[:words]
    )
