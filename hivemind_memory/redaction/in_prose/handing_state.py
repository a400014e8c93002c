"""Keeps what a line has said so far: what a secret is called, and what leads on."""

from __future__ import annotations

from hivemind_memory.redaction.in_prose.handing_labels import (
    WORDS_OF_SECRETS,
    Label,
    is_sign,
)
from hivemind_memory.redaction.in_prose.handing_words import (
    COPULAS,
    ENGLISH,
    FOLLOWS_LABEL,
    LEADS,
    MOVES,
    NAMES_OF_FIELDS,
    NETWORKS,
    OPENING,
    OTHER_CODES,
    TO,
    WITH,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.in_prose.line_tokens import Token

BASE = {
    Label.PASSWORD: 2.5,
    Label.CODE: 1.5,
    Label.ANY_CODE: 1.5,
    Label.KEY: 1.5,
    Label.PLACE: 1.0,
    Label.LOCK: 1.5,
}
"""What a name says for a value with letters."""

OF_DIGITS = {
    Label.CODE: 2.5,
    Label.ANY_CODE: 1.5,
    Label.LOCK: 1.0,
    Label.PASSWORD: 2.0,
}
"""The same for digits."""

LED, BESIDE = 1.5, 1.0
"""What says that the value is what was named; and what only leads to it, or nothing."""

FAR = 4
"""Words after which a name says less, and what leads on nothing."""

_CALLED = frozenset((Label.PASSWORD, Label.CODE))
_WORD = frozenset(("word", "wort", "phrase", "mot", "palabra", "parola", "słowo"))
_COMMENTS = frozenset(("#", "//", "--", "/*", "<!--"))
_REMOTE = frozenset(("ssh", "ftp", "sftp", "scp", "vnc", "rdp", "telnet", "mosh"))
_PIN_OF_A_BOARD = 0.5
_FORGOTTEN = 8  # words after which any other name counts
_OPENED_WITH = 2.0


class State:
    """What was read before a word."""

    __slots__ = (
        *("base", "is_east", "is_elsewhere", "is_moved", "is_network", "is_remote"),
        *("label", "led", "of_digits", "opened", "since", "words"),
    )

    def __init__(self) -> None:
        """Begin with nothing read."""
        self.label = 0
        self.base = 0.0
        self.words = 99
        """Words since the label."""

        self.led = 0.0
        self.since = 99
        """Words since what leads on."""

        self.is_moved = False
        self.of_digits = 0.0
        """What the names so far say of digits."""

        self.opened = 99
        """Words since the line said that something is opened."""

        self.is_east = False
        """Whether the label is in a script without blanks."""

        self.is_remote = False
        """Whether the line signs in to another machine."""

        self.is_network = False
        """Whether the line speaks of a wireless network."""

        self.is_elsewhere = False
        """Whether what was called a secret is not in English."""

    def before(self, token: Token, *, is_digits: bool) -> float:
        """Return what the words before a value say for it."""
        base = self.of_digits if is_digits else self.base
        if not self.label or not base:
            return 0.0
        led = self.led - 0.2 * max(0, self.since - 1) if self.since < FAR else 0.0
        if self.is_network:
            base += 0.5
        if self.words == 0 and is_digits and (self.is_east or self.is_elsewhere):
            led = LED
        elif self.words == 0:
            led = max(led, BESIDE if self.label in _CALLED else 0.5)
        if token.opens and self.is_remote:
            led = LED
        return base + led - 0.15 * max(0, self.words - FAR)

    def read(self, tokens: list[Token], place: int) -> None:
        """Go on behind a word that is no value."""
        token = tokens[place]
        low = token.low
        label = _label_at(tokens, place)
        self.is_remote = self.is_remote or low in _REMOTE
        self.is_network = self.is_network or low in NETWORKS
        self.is_moved = self.is_moved or low in MOVES
        if label:
            self._name(label, tokens, place)
        else:
            self._go_on(token)
        self.opened += 1
        if token.leads and label == Label.PLACE and token.is_assigned:
            self._lead(0.5)
        elif token.leads or (label and (token.is_joined or is_sign(low))):
            self._lead(LED)
        if token.is_stop:
            self.base *= 0.7
            self.words += 2
            if not token.leads:
                self.led, self.since = 0.0, 99

    def _lead(self, led: float) -> None:
        """Note that something leads on."""
        self.led, self.since = led, 0

    def _name(self, label: int, tokens: list[Token], place: int) -> None:
        """Note what a word calls the value."""
        token = tokens[place]
        base = BASE[Label(label)]
        if label == Label.CODE and token.is_assigned:
            base = _PIN_OF_A_BOARD
        following = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if following in FOLLOWS_LABEL and not token.leads:
            base -= 1.5
        else:
            more = 0.5 * (not token.low.isascii() and label != Label.CODE)
            of_digits = OF_DIGITS.get(Label(label), 0.0) + more
            self.of_digits = max(self.of_digits, of_digits)
        if label in OF_DIGITS and label != Label.LOCK:
            self.is_elsewhere = self.is_elsewhere or token.low not in ENGLISH
        if base >= self.base or self.words > _FORGOTTEN or token.is_assigned:
            self.label, self.base, self.words = label, base, 0
            self.is_east = token.low[0] >= "\u3000"
            self.led, self.since = 0.0, 99
        else:
            self.words += 1
            self.since += 1

    def _go_on(self, token: Token) -> None:
        """Note a word that calls nothing a secret."""
        low = token.low
        if low in COPULAS or low in _COMMENTS:
            self._lead(LED)
        elif not any(map(str.isalnum, token.body)):
            self._lead(BESIDE)
        elif low in OPENING:
            self.opened = 0
        elif low in WITH and self.opened < FAR:
            self.label, self.base, self.words = Label.PASSWORD, _OPENED_WITH, 0
            self._lead(LED)
        elif low in LEADS:
            self._lead(max(BESIDE, self.led))
        elif low in TO and (self.is_moved or self.is_elsewhere):
            self._lead(LED)
        else:
            self.words += 1
            self.since += 1


def _label_at(tokens: list[Token], place: int) -> int:
    """Return what a word calls a value, after the word before it."""
    token = tokens[place]
    before = tokens[place - 1].low if place else ""
    if token.low in _WORD and before in WORDS_OF_SECRETS:
        return Label.PASSWORD
    if token.is_quoted and token.leads and token.low == "code":
        return 0  # a field of JSON: of an error, a product, a country
    if token.low in NAMES_OF_FIELDS and not token.leads:
        return 0
    if token.label in (Label.ANY_CODE, Label.CODE) and before in OTHER_CODES:
        return 0
    return token.label
