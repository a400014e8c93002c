"""Forms of secrets that no name of a program or provider gives away.

Each line of ``forms.tsv`` is a text and what its secret is made of; the values are made
anew from a seed, so that no file holds what looks like a live one.
"""

from __future__ import annotations

import base64
import random
import re
import string
from pathlib import Path

import pytest

from hivemind_memory.redaction import find_secrets, scrub
from hivemind_memory.redaction.lone_passwords import chosen_passwords

FORMS = Path(__file__).with_name("forms.tsv")
LETTERS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "low": string.ascii_lowercase,
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b32l": string.ascii_lowercase + "234567",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
WORDS = (
    "ribbon cactus orbit velvet lemon bridge tornado pencil window garden rocket marble"
)
SPELT = {
    "bytes": (", ", "0x{:02x}"),
    "figures": (", ", "{}"),
    "escapes": ("", "\\x{:02x}"),
}
"""How the bytes of a key are spelt in code: what is between them, and each."""

PARTS = "|".join(
    (
        *(*LETTERS, *SPELT, "base64", "base64url", "password", "passphrase", "seednum"),
        *("chosen", "drawn", "spaced", "groups"),
    )
)
PART = re.compile(rf"\{{({PARTS})(?::(\d+))?\}}")
EACH = 8


def made(value: str, rng: random.Random) -> str:
    """A value of a form."""

    def one(found: re.Match[str]) -> str:
        kind, size = found[1], int(found[2] or 0)
        if kind == "password":
            head = rng.choice(
                ["Tr0ub4dor", "Winter2024", "S3cret-Fox", "m0nKey", "Zebra!9"]
            )
            return head + rng.choice("!$*?") + "".join(rng.choices("bkWxQ37", k=2))
        if kind == "passphrase":
            words = rng.sample(["Blau", "kiesel", "Tanne", "Harbor", "lantern"], 4)
            return "-".join([*words, str(rng.randrange(10, 99))])
        if kind == "chosen":
            first, second = (word.title() for word in rng.sample(WORDS.split(), 2))
            number = rng.randrange(10, 99)
            return rng.choice(
                [
                    f"{first}{second}{number}{rng.choice('!?$#')}",
                    f"{first}-{second}{rng.choice('!?')}{number}",
                    one(PART.fullmatch("{alnum:14}") or found),
                ]
            )
        if kind in {"drawn", "spaced"}:
            words = [*rng.sample(WORDS.split(), 3), str(rng.randrange(10, 99))]
            return ("-" if kind == "drawn" else " ").join(words)
        if kind in SPELT:
            joint, each = SPELT[kind]
            return joint.join(each.format(byte) for byte in rng.randbytes(size))
        if kind == "groups":
            return rng.randbytes(size).hex(" ")
        if kind == "seednum":
            words = rng.sample(WORDS.split(), 12)
            return " ".join(f"{at}. {word}" for at, word in enumerate(words, 1))[3:]
        if kind.startswith("base64"):
            data = base64.b64encode(rng.randbytes(size)).decode()
            return (
                data.translate(str.maketrans("+/", "-_", "="))
                if "url" in kind
                else data
            )
        text = "".join(rng.choices(LETTERS[kind], k=size))
        # Letters alone are too much like a word where only twelve of them stand.
        digits = sum(letter.isdigit() for letter in text[1:-1])
        return text if digits > 1 or kind == "low" or size < 6 else one(found)

    return PART.sub(one, value)


def forms() -> list[tuple[str, str]]:
    """The texts and their values."""
    rows = FORMS.read_text(encoding="utf-8").splitlines()[1:]
    return [(row.split("\t")[0], row.split("\t")[1]) for row in rows]


def unescaped(text: str) -> str:
    return (
        text.replace("\\\\", "\0")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\0", "\\")
    )


@pytest.mark.parametrize(
    ("text", "value"), forms(), ids=[text[:50] for text, _ in forms()]
)
def test_a_secret_is_found_by_its_look_and_the_words_near_it(
    text: str, value: str
) -> None:
    """Commands, columns, labels, lists and sentences in many languages."""
    rng = random.Random(len(text))
    for _ in range(EACH):
        secret = unescaped(made(value, rng))
        line = unescaped(text).replace("{secret}", secret)
        note = f"Notes.\n\n{line}\n\nNothing else.\n"

        shown = scrub(note)

        assert secret not in shown.text
        assert shown.text.count("\n") == note.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "see CHANGELOG_V18.md#18.9.1 and HTTP/2#settings",
        "`Uint8Array#indexOf` only takes a number",
        "Jason@zx2c4.com wrote src/ipaddr.coffee#L71",
        "query=branch%3Amain+workflow%3ACI and Hello%20World",
        "s.strokeWidth??1 && Context$1 || a?.b2C",
        "https://x.io/a?Tab=B2c&User=Ann1#Top5Z",
        "password_hash: $2b$12$M1xvs3M94iJgce3Y1vNYyKofr5K7DrY0aQfh4cp/AhkpVg6y.6sqE",
        "the token limit is 4096 per request, see v2.1.0-rc1",
        "idempotency-key: 755323c8-e543-ca86-83e5-8885d00468be",
        "secret scanning was fixed in: 3f786850e387550fdab836ed7e6dc881de23001b",
        "public key of the runner: HrP16fuLqoJhuOVdnrgLMbWrGqTWjUK0HUCni9qrx74=",
        "docker run -p 8080:80 -t ghcr.io/acme/app:v1.2.3 -w /srv/App2",
        "pytest -k TestHash2Factor -p no:randomly",
        "the door opens at 10:30, room 4012",
        "key: value pairs; token: str; password: getElementById(name)",
        "login: anna / admin role",
        "auth: OAuth2PasswordBearer, login with Base64Url",
        "SNMP community string: public, community string is unset",
        "the wifi code is in drivers/wifi2.c, wlan code: see net/wlan80211.h",
        "connect actions/checkout@v4 to the runner",
        "jdbc:oracle:thin:@//ora1.lan:1521/XE and rman target /",
        "Erlang cookie: see the file .erlang.cookie of RabbitMQ 3",
        "backup codes: 2019-2024, 2020-2025",
        "credentials pkg v1.2.65 h1:zLeYxeDp1ZrzYPo4tooA0Lkz4MHNQnAJHnGoOELIyBY=",
    ],
)
def test_what_only_looks_a_little_like_a_password_stays(text: str) -> None:
    """Anchors, escapes, addresses, hashes, versions and code are the daily bread."""
    assert find_secrets(text) == ()


def test_a_password_of_four_kinds_of_characters_needs_no_word_beside_it() -> None:
    """``Winter2024$t5`` is what the rules for passwords of most companies ask for."""
    text = "printer on floor 2 -> Winter2024$t5, ask at the desk"

    assert [text[start:end] for start, end, _ in chosen_passwords(text)] == [
        "Winter2024$t5"
    ]
