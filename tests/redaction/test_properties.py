"""What holds for any text at all, and how long it may take."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.redaction import find_secrets, scrub
from hivemind_memory.redaction.tokens.keywords import EXACT, FOLDED
from hivemind_memory.redaction.tokens.rules import all_rules
from tests.redaction.samples import AROUND_TOKENS, Maker, in_context, tokens
from tests.support.tiers import examples

ROOT = Path(__file__).parents[2]
HOSTILE_CHARS = 60_000
PIECES = (
    "password", "token", "key", "secret", "=", ": ", '"', "'", " ", "\n", "\r\n", "]",
    "[redacted:", "[redacted:password]", "://", "@", "a:b", "Bearer ", "aB3xK9q2LmZ8",
    "q7#", "sk-", "-----BEGIN ", "PRIVATE " + "KEY-----", "-----END ", "discord", "\0",
    "%3D", "\\n", "密码", "是", "curl -u ", "cookie:", "login", "--", "|", "`", "**",
    "2", "İ", "\u2028", "login=64", "):",
)  # fmt: skip
EDGE = "-" * 5
BLOCK = "PRIVATE " + "KEY"
HOSTILE = (
    "key=", "key = ", "password: a1", "pass", "://", "a://b:c@", "eyJ", "sk-", "-us",
    "eyJaaaaaaaaaaaaaaaaaa.ey", "discord", "twitter    ====   ", "cookie: a=b;",
    f"{EDGE}BEGIN {BLOCK}{EDGE}\n", f"{EDGE}END {BLOCK}{EDGE}\n", "[redacted:",
    "[redacted:a]", 'key="', "Private-Lines: 1\n", "密码是", "aA1 ", "AccountKey=",
    "data:image/png;base64,", "Authorization: ", "A", "=".join(EXACT + FOLDED),
)  # fmt: skip
"""Short texts that are nasty when they are repeated."""


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=24))
@settings(max_examples=examples(400), deadline=None)
def test_scrubbing_twice_is_scrubbing_once(parts: list[str]) -> None:
    """What is stored scrubbed is scrubbed again when it is shown."""
    text = "".join(parts)

    once = scrub(text)

    assert scrub(once.text).text == once.text
    assert once.text.count("\n") == text.count("\n")
    assert find_secrets(once.text) == ()


@pytest.mark.parametrize("name", ["login", "auth", "creds", "userpass"])
@pytest.mark.parametrize("value", ["6476):", "me:", ":", "me::", "a:b:"])
def test_a_name_of_a_login_with_a_colon_at_the_end_is_read(
    name: str, value: str
) -> None:
    """``def search(*, login=6476):`` once made every sync of the notes fail."""
    for text in (f"def search(*, {name}={value}", f"{name}={value}\nnext"):
        assert scrub(text).text.count("\n") == text.count("\n")


@given(st.integers(0, 10_000), st.lists(st.sampled_from(PIECES), max_size=6))
@settings(max_examples=examples(200), deadline=None)
def test_places_are_in_order_and_do_not_overlap(seed: int, parts: list[str]) -> None:
    """They are cut out one after the other."""
    make = Maker(seed)
    kinds = list(tokens(make).values())
    written = list(in_context(make).values())
    text = " ".join(
        [
            "".join(parts),
            make.rng.choice(AROUND_TOKENS).format(s=make.rng.choice(kinds)()),
            make.rng.choice(written)()[0],
        ]
    )

    found = find_secrets(text)

    end = 0
    for secret in found:
        assert end <= secret.start < secret.end <= len(text)
        assert re.fullmatch(r"[a-z0-9-]+", secret.kind)
        end = secret.end


@pytest.mark.thorough
@pytest.mark.parametrize("piece", HOSTILE, ids=lambda piece: repr(piece[:20]))
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    """A note of a megabyte must not hold up a search: twice the text, twice the time.

    CPU time, the least of two; a time that grows with the square is four times as long.
    """
    text = (piece * (HOSTILE_CHARS // len(piece) + 1))[:HOSTILE_CHARS]
    half = text[: HOSTILE_CHARS // 2]

    def spent_s(part: str) -> float:
        start = time.process_time()
        find_secrets(part)
        return time.process_time() - start

    whole_s, half_s = spent_s(text), 0.0
    if whole_s >= 0.05:
        half_s = min(spent_s(half), spent_s(half))
    if whole_s >= 3 * half_s + 0.05:  # the machine may have been busy
        whole_s = min(whole_s, spent_s(text))

    assert whole_s < 3 * half_s + 0.05


def test_every_rule_is_well_formed_and_says_what_it_finds() -> None:
    """They come from two files, one of which somebody else keeps."""
    rules = all_rules()

    assert len(rules) > 200
    assert len({rule.kind for rule in rules}) == len(rules)
    assert all(re.fullmatch("[a-z0-9-]+", rule.kind) for rule in rules)
    assert all(rule.keywords and rule.description for rule in rules)


def test_the_words_to_look_for_are_those_of_the_rules() -> None:
    """They are written by a script; an edited rule without it would never be tried."""
    script = ROOT / "scripts" / "convert_secret_rules.py"

    ran = subprocess.run([sys.executable, script, "--check"], check=False)

    assert ran.returncode == 0


def test_a_text_without_secrets_costs_no_rules() -> None:
    """A search in a fresh process pays for every module; most hits need none."""
    program = (
        "import sys\n"
        "from hivemind_memory.redaction import mask\n"
        "mask('Retry the token of the header; see `api_key` in path/to/file.py.' * 9)\n"
        "heavy = ('json', 'base64', 'hivemind_memory.redaction.tokens.rules',"
        " 'hivemind_memory.redaction.in_code.assignments',\n"
        " 'hivemind_memory.redaction.in_formats.headers_and_urls')\n"
        "loaded = sum(name in sys.modules for name in heavy)\n"
        "for name in heavy: __import__(name)  # all of them exist\n"
        "sys.exit(loaded)\n"
    )

    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)

    assert ran.returncode == 0
