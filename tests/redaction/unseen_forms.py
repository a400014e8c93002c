"""Forms that were written before anyone looked at the rules, in ``unseen/``.

Each list holds pieces of configuration, commands, logs and chats as people keep them.
``= kind`` begins one; ``<<letters>>`` and its like stand for its secrets, which are
made anew from a seed, so that no file holds what looks like a live one. Values that
people chose say something by their words; they are kept as ``<<turned:…>>`` (ROT13).
"""

from __future__ import annotations

import base64
import codecs
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.redaction.samples import is_left

LISTS = Path(__file__).with_name("unseen")
WORDS = (
    *("orbit", "velvet", "cactus", "lemon", "tornado", "pencil", "garden", "rocket"),
    *("marble", "ribbon", "copper", "willow", "falcon", "basalt", "pepper", "saddle"),
)
SIGNS = "!#%^&*()-_=+[]{}~?,.;:@/|"
ALPHABETS = {
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "signs": string.ascii_letters + string.digits + SIGNS,
}
PART = re.compile(r"<<(?:(turned):(.+?)|(\w+)(?::(\w+))?)>>(?!>)", re.DOTALL)


@dataclass(frozen=True)
class Form:
    """A text with its secrets."""

    kind: str
    pattern: str
    text: str
    secrets: tuple[str, ...]

    def left(self, scrubbed: str) -> tuple[str, ...]:
        """Return the secrets that are still in a scrubbed text."""
        return tuple(secret for secret in self.secrets if is_left(secret, scrubbed))


def forms(name: str, seed: int) -> Iterator[Form]:
    """Make the forms of a list, with values drawn from a seed."""
    for kind, pattern in patterns(name):
        rng = random.Random(f"{seed} {pattern}")
        secrets: list[str] = []
        text = PART.sub(lambda part: _kept(part, rng, secrets), pattern)  # noqa: B023
        yield Form(kind, pattern, text, tuple(secrets))


def harmless() -> Iterator[str]:
    """Yield the lines without a secret that were written before as well."""
    lines = LISTS.with_name("unseen_harmless.txt").read_text(encoding="utf-8")
    for line in lines.splitlines():
        yield codecs.decode(json.loads(line), "rot13")


def patterns(name: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each form of a list."""
    text = (LISTS / f"{name}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"^= ", text, flags=re.MULTILINE)[1:]
    return [
        (kind, body.strip("\n")) for kind, body in (b.split("\n", 1) for b in blocks)
    ]


def _kept(part: re.Match[str], rng: random.Random, secrets: list[str]) -> str:
    if part[1]:  # a value as it was written, its letters turned by half the alphabet
        value = codecs.decode(part[2], "rot13")
    else:
        value = _value(part[3], part[4] or "", rng)
    secrets.append(value)
    return value


def _value(kind: str, detail: str, rng: random.Random) -> str:
    """Return a value of a kind, such as ``hex:32`` or ``b64of:letters``."""
    if kind in ALPHABETS:
        return "".join(rng.choices(ALPHABETS[kind], k=int(detail)))
    if kind == "b64of":
        return base64.b64encode(_value(detail, "", rng).encode()).decode()
    if kind in ("b64", "b64url"):
        encode = base64.b64encode if kind == "b64" else base64.urlsafe_b64encode
        return encode(rng.randbytes(int(detail))).decode()
    if kind == "bytes":
        return ", ".join(f"0x{byte:02X}" for byte in rng.randbytes(int(detail)))
    return _PASSWORDS[kind](rng)


def _letters(rng: random.Random) -> str:
    """Return a password of letters alone: spoken, random, or of two words."""
    spoken = "".join(
        rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(5)
    )
    return rng.choice(
        (
            spoken + rng.choice("nrst"),
            "".join(rng.choices(string.ascii_letters, k=rng.randint(9, 14))),
            "".join(word.title() for word in rng.sample(WORDS, 2)),
        )
    )


def _joined(rng: random.Random) -> str:
    """Return words with signs between them, without a digit."""
    sign = rng.choice("-_!.")
    return sign.join(rng.sample(WORDS, 3))


def _mixed(rng: random.Random) -> str:
    """Return a password with letters, digits and signs."""
    word = rng.choice(WORDS).title()
    return rng.choice(
        (
            f"{word}{rng.randint(10, 9999)}{rng.choice('!#?.')}",
            "".join(rng.choices(ALPHABETS["alnum"], k=10)) + "7x",
            f"{word[:3]}@{rng.randint(100, 999)}{word[3:]}",
        )
    )


_PASSWORDS: dict[str, Callable[[random.Random], str]] = {
    "letters": _letters,
    "joined": _joined,
    "password": _mixed,
    "login": lambda rng: f"anna:{_letters(rng)}",
    "spaced": lambda rng: " ".join(rng.sample(WORDS, 5)),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
}
