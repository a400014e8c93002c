"""Which writing systems a model understands, by asking it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.providers.vectors import pack
from hivemind_memory.providers.writing_system_samples import PROBES
from hivemind_memory.providers.writing_systems import (
    count_right,
    measure_script,
    probe_texts,
    script_of,
    understands,
)
from hivemind_memory.testing import FakeEmbedder

SCRIPTS = [script for script in PROBES if script != "Latin"]


class Polyglot:
    """An embedder that knows what note and question *n* of some scripts mean."""

    fingerprint = "test/polyglot"

    def __init__(self, *scripts: str) -> None:
        self._meanings = {
            text: number
            for script in scripts
            for texts in PROBES[script]
            for number, text in enumerate(texts)
        }

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        assert timeout_s > 0
        return self._embed(text)

    def _embed(self, text: str) -> bytes:
        values = [0.1] * 7
        values[self._meanings.get(text, 6)] = 1.0
        return pack(values)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_model_that_knows_the_script_is_found_out(script: str) -> None:
    """And only that script: the others get vectors that are all the same."""
    embedder = Polyglot(script)

    known = {one for one in SCRIPTS if measure_script(embedder, one, timeout_s=1)}

    assert known == {script}


@pytest.mark.parametrize("script", SCRIPTS)
def test_shared_words_do_not_give_the_answer_away(script: str) -> None:
    """A fake that compares letters must not pass for one that understands."""
    assert not measure_script(FakeEmbedder(dims=384), script, timeout_s=1)


def test_latin_is_taken_for_granted_and_the_unknown_is_not() -> None:
    """No request is sent for either."""
    embedder = FakeEmbedder()

    assert measure_script(embedder, "Latin", timeout_s=1)
    assert not measure_script(embedder, "Tibetan", timeout_s=1)
    assert embedder.documents == embedder.queries == []


def test_five_of_six_are_enough_and_four_are_not() -> None:
    """One sentence may be bad; two may be chance."""
    axes = [pack([float(a == b) for b in range(6)]) for a in range(6)]
    five = [*axes[:5], axes[0]]
    four = [*axes[:4], axes[0], axes[1]]

    assert [count_right(axes, found) for found in (axes, five, four)] == [6, 5, 4]
    assert understands(axes, five)
    assert not understands(axes, four)


def test_vectors_that_are_all_the_same_understand_nothing() -> None:
    """What a model does with letters it has never seen."""
    same = [pack([1.0, 2.0])] * 6

    assert count_right(same, same) == 0


@pytest.mark.parametrize("script", PROBES)
def test_a_probe_is_six_distinct_pairs_in_its_own_script(script: str) -> None:
    """Else the figure would mean something else in each script."""
    passages, queries = probe_texts(script)

    assert len(passages) == len(queries) == 6
    assert len({*passages, *queries}) == 12
    assert {script_of(text) for text in (*passages, *queries)} == {script}


def test_an_unknown_script_has_no_probe() -> None:
    """Nothing is made up for it."""
    assert probe_texts("Tibetan") == ((), ())


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", "Latin"),
        ("1234 !? 🙂", "Latin"),
        ("naïve café", "Latin"),
        ("Как настроить nginx?", "Cyrillic"),
        ("nginx настроить", "Cyrillic"),
        ("kubectl get pods для", "Latin"),
        ("东京的天气怎么样", "Han"),
        ("東京の天気はどうですか", "Kana"),
        ("カタカナ", "Kana"),
        ("ﾊﾝｶｸ", "Kana"),
        ("설정 파일", "Hangul"),
        ("הגדרות", "Hebrew"),
        ("إعدادات", "Arabic"),
        ("सेटिंग्स", "Devanagari"),
        ("การตั้งค่า", "Thai"),
        ("ρυθμίσεις", "Greek"),
        ("სისტემა", "Georgian"),
        ("ＦＵＬＬ", "Latin"),
        ("𠮷野家", "Han"),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, script: str) -> None:
    """Names of programs are Latin in every language and do not decide."""
    assert script_of(text) == script


@given(st.text())
def test_every_text_has_a_script(text: str) -> None:
    """Also private letters and unassigned ones."""
    assert script_of(text)
