"""The first text of a process is searched as thoroughly as later ones."""

from __future__ import annotations

import pytest

from hivemind_memory.redaction import detection, scrub


@pytest.mark.parametrize(
    "text",
    [
        "zip -r -P <<kuvaritomel>> backup.zip site/",
        "openssl enc -aes-256-cbc -k <<lumatiber>> -in a -out b",
    ],
)
def test_the_first_suspect_text_is_searched_by_all_rules(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It was searched with the words of few: each hm write is the first of its own."""
    secret = text.partition("<<")[2].partition(">>")[0]
    monkeypatch.setattr(detection, "_gates", [detection._GATE])

    first = scrub(text.replace("<<", "").replace(">>", ""))

    assert secret not in first.text
