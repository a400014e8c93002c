"""Notes that hold data and no sentences: random ids, base64, minified code."""

from __future__ import annotations

import base64
import cProfile
import pstats
import random
import string
from typing import TYPE_CHECKING

import pytest

from hivemind_memory.redaction import detection, find_secrets, judgments, scrub
from hivemind_memory.redaction.line_words import LineWords
from hivemind_memory.redaction.redact import LINE_ENDS, MAX_ROUNDS
from hivemind_memory.redaction.spans import mark
from hivemind_memory.redaction.values import value_check
from tests.redaction.samples import samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hivemind_memory.redaction.detection import Secret

LETTERS = string.ascii_letters + string.digits
TOKEN = "ghp_x9kQ2mWp7rTz4vB1cD8eF3gH6jK5lN0s" + "Ab1Z"


def random_ids(chance: random.Random, lines: int) -> str:
    """Return random ids, one on each line: some of them say ``pw`` or ``key``."""
    lengths = (8, 12, 16, 20)
    return "\n".join(
        "".join(chance.choices(LETTERS, k=chance.choice(lengths))) for _ in range(lines)
    )


def minified(chance: random.Random, statements: int) -> str:
    """Return code without line ends, in which words of rules stand everywhere."""
    names = ["a", "b", "net", "auth", "token", "user", "use", "az", "login", "key"]
    return "".join(
        "function {}({}){{return {}.{}===1 ? {} : {}}}".format(
            *chance.choices(names, k=6)
        )
        for _ in range(statements)
    )


def base64_lines(chance: random.Random, lines: int) -> str:
    """Return random bytes in base64, as mail wraps them."""
    encoded = base64.b64encode(chance.randbytes(57 * lines)).decode()
    return "\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))


def dump(chance: random.Random, lines: int) -> str:
    """Return random bytes as hex digits."""
    return "\n".join(
        f"{line * 16:08x}: {chance.randbytes(16).hex(' ', 2)}" for line in range(lines)
    )


MAKERS = (random_ids, minified, base64_lines, dump)


def scrubbed_round_by_round(text: str) -> str:
    """Return what searching the whole text again and again leaves of it."""
    for _ in range(MAX_ROUNDS):
        secrets = find_secrets(text)
        for secret in reversed(secrets):
            gone = text[secret.start : secret.end]
            ends = "".join(letter for letter in gone if letter in LINE_ENDS)
            text = text[: secret.start] + mark(secret.kind) + ends + text[secret.end :]
        if not secrets:
            break
    return text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_remembered_within_a_text_changes_nothing(
    maker: Callable[[random.Random, int], str], seed: int
) -> None:
    """Judging each value once finds what judging it in each round finds."""
    chance = random.Random(seed)
    some = list(samples(chance.randrange(1000), 1))
    parts = [maker(chance, 60), *(sample.text for sample in chance.sample(some, 8))]
    chance.shuffle(parts)
    text = "\n\n".join(parts)

    assert scrub(text).text == scrubbed_round_by_round(text)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_secret_among_data_is_found(
    maker: Callable[[random.Random, int], str],
) -> None:
    """Data hides no token and no password."""
    chance = random.Random(11)
    before, behind = maker(chance, 300), maker(chance, 300)
    text = f"{before}\nDB_PASSWORD='x9!kfT2#pa'\ntoken: {TOKEN}\n{behind}"

    clean = scrub(text).text

    assert TOKEN not in clean
    assert "x9!kfT2#pa" not in clean


def test_later_rounds_read_only_what_is_near_their_last_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list of ids takes a dozen rounds, each for the neighbor of one line."""
    read: list[int] = []
    find = detection.find_secrets_in_part

    def counted(text: str, known: Iterable[str] = ()) -> tuple[Secret, ...]:
        read.append(len(text))
        return find(text, known)

    monkeypatch.setattr(detection, "find_secrets_in_part", counted)
    text = random_ids(random.Random(12), 9_000)

    scrub(text)

    assert len(read) > 10
    assert sum(read) < 3.5 * len(text)


def test_each_value_of_a_text_is_judged_once() -> None:
    """Many rules ask, in each of many rounds."""
    text = random_ids(random.Random(7), 2_000)
    scrub("password: Xk9#mQ2w")
    profile = cProfile.Profile()

    profile.runcall(scrub, text)

    calls = sum(
        row[0]
        for (file, _, name), row in pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
        if file == value_check.__file__ and name == "looks_random"
    )
    assert 0 < calls < 1.5 * 2_000


def test_nothing_of_a_text_is_remembered_behind_it() -> None:
    """A process that runs for days keeps no token of a note that it once read."""
    text = f"token: {TOKEN}\n{random_ids(random.Random(3), 6_000)}"

    scrub(text)
    find_secrets(text)

    assert judgments._remembered
    assert not any(judgments._remembered)


def test_a_line_is_searched_once_for_each_word_with_a_blank() -> None:
    """Minified code is one line of a megabyte, and each of its pieces may ask."""
    copied: list[int] = []

    class Counted(str):
        __slots__ = ()

        def __getitem__(self, place: object) -> str:
            part = str(self)[place]  # type: ignore[index]
            copied.append(len(part))
            return part

    low = "use(net) " * 5_000
    there = LineWords(low, Counted(low), [low])

    there.add({"use(net)": (("use", "net"), ("net use",), 0, False)})

    assert sum(copied) <= len(low)
    assert "net use" not in there


@pytest.mark.parametrize(
    "line",
    ["basic 'dXNlcjpwYXNz{}b3Jk'", "powershell -enc dXNlcjpwYXNz{}b3JkMTIz"],
)
def test_letters_of_another_script_in_base64_are_no_error(line: str) -> None:
    """A pattern that ignores case takes two of them for ``s`` and ``k``."""
    for letter in "\u017f\u212a":
        text = line.format(letter)
        assert scrub(f"{text}\ntoken: {TOKEN}").found, text
