"""Texts that are known to have no secret: it is as if each was searched again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hivemind_memory.redaction import clean_texts, mask, redact
from hivemind_memory.redaction.clean_texts import (
    CleanTexts,
    clean_texts_kept,
    forget_clean_texts,
)
from tests.support.tiers import examples

TEXTS = (
    "The queue of the checkout is full on Fridays.",
    "export DB_PASSWORD='x9!kfT2#pa'",
    "",
    "Ask Ann for the word zanzibar, it opens the door.",
    "-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----",
    "The port is 8080.\n\nIts pass\ud800word is kept in the vault.",
    "Grüße aus Köln: 怎么办？",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clean-texts"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts in which secrets are looked for."""
    texts: list[str] = []
    real = redact.scrub

    def scrub(text: str, known: tuple[str, ...] = ()) -> redact.RedactedText:
        texts.append(text)
        return real(text, known)

    monkeypatch.setattr(redact, "scrub", scrub)
    return texts


def test_a_text_without_a_secret_is_searched_once(
    path: Path, searched: list[str]
) -> None:
    with clean_texts_kept(str(path), "1"):
        first = [mask(text) for text in TEXTS]
    searched.clear()

    with clean_texts_kept(str(path), "1"):
        assert [mask(text) for text in TEXTS] == first

    assert searched == [TEXTS[1]]
    assert mask(TEXTS[0]) == TEXTS[0]  # and outside, as ever
    assert searched[-1] == TEXTS[0]


def test_other_rules_look_again(
    path: Path, searched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another version, and also of a file that was edited in this one."""
    with clean_texts_kept(str(path), "1"):
        mask(TEXTS[0])
    with clean_texts_kept(str(path), "2"):
        mask(TEXTS[0])
    assert searched == [TEXTS[0]] * 2

    monkeypatch.setattr(clean_texts, "_sources", lambda: "edited")
    with clean_texts_kept(str(path), "2"):
        mask(TEXTS[0])
    assert searched == [TEXTS[0]] * 3


def test_a_value_of_the_vault_is_found_in_a_text_that_was_clean(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was masked with it is no text without a secret when it is gone."""
    with clean_texts_kept(str(path), "1"):
        assert mask(TEXTS[3]) == TEXTS[3]
    vault = ("zanzibar",)
    for module in ("redact", "detection"):
        name = f"hivemind_memory.redaction.{module}.secret_values"
        monkeypatch.setattr(name, lambda: vault)

    with clean_texts_kept(str(path), "1"):
        assert "zanzibar" not in mask(TEXTS[3])
        vault = ()
        assert mask(TEXTS[3]) == TEXTS[3]


def test_whoever_began_before_a_purge_adds_nothing(path: Path) -> None:
    """It may have read the text that was purged."""
    for is_there in (False, True):
        if is_there:
            known = CleanTexts(str(path), "1")
            known.add("kept")
            known.save()
        late = CleanTexts(str(path), "1")
        late.add("purged")
        before = path.read_bytes() if is_there else b""
        forget_clean_texts(str(path))

        late.save()

        assert path.read_bytes() != before
        for text in ("kept", "purged"):
            assert not CleanTexts(str(path), "1").has(text)
            assert late._hash_of(text) not in path.read_bytes()


def test_two_processes_keep_what_both_found(path: Path) -> None:
    CleanTexts(str(path), "1").save()
    first = CleanTexts(str(path), "1")
    first.add("began the file")
    first.save()
    one, other = CleanTexts(str(path), "1"), CleanTexts(str(path), "1")
    one.add("one")
    other.add("other")
    one.save()
    other.save()

    now = CleanTexts(str(path), "1")
    assert all(map(now.has, ("began the file", "one", "other")))


def test_what_is_asked_for_stays_and_the_file_stays_small(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clean_texts, "MOST", 5)
    for day in range(4):
        known = CleanTexts(str(path), "1")
        assert known.has("each day") == (day > 0)
        for text in ("each day", *(f"{day}.{number}" for number in range(3))):
            known.add(text)
        known.save()

    assert path.stat().st_size == len(b"hivemind clean texts 1\n") + 16 * 7
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_that_cannot_be_read_or_written_costs_only_time(
    path: Path, *, is_link: bool
) -> None:
    if is_link:
        path.symlink_to("/dev/full")
    else:
        path.mkdir()

    with clean_texts_kept(str(path), "1"):
        assert mask(TEXTS[1]) != TEXTS[1]
        assert mask(TEXTS[0]) == TEXTS[0]
    with clean_texts_kept(str(path.parent / "nowhere" / "file"), "1"):
        assert mask(TEXTS[0]) == TEXTS[0]


def test_it_is_as_if_each_text_was_searched(path: Path) -> None:
    """Over chance histories: damage, purges, other rules, processes that overlap."""
    expected = {text: mask(text) for text in TEXTS}
    for seed in range(examples(60)):
        chance = random.Random(seed)
        path.unlink(missing_ok=True)
        late: list[CleanTexts] = []
        for _ in range(12):
            if chance.random() < 0.2:
                forget_clean_texts(str(path))
            if chance.random() < 0.2 and path.exists():
                data = bytearray(path.read_bytes())
                data[chance.randrange(len(data)) :] = chance.randbytes(
                    chance.randrange(20)
                )
                path.write_bytes(data)
            if chance.random() < 0.3:
                late.append(CleanTexts(str(path), chance.choice("12")))
            if late and chance.random() < 0.3:
                late.pop().save()
            with clean_texts_kept(str(path), chance.choice("12")):
                for text in chance.sample(TEXTS, 4):
                    assert mask(text) == expected[text]
