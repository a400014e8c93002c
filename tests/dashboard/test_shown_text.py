"""What pages show of a text, the first time and each time after it."""

from __future__ import annotations

import pytest

from hivemind_memory.dashboard import shown_text
from hivemind_memory.dashboard.shown_text import masked_text
from hivemind_memory.redaction import mask
from tests.support.hostile_texts import XSS_TEXTS

SECRET = "export DB_PASSWORD='x9!kfT2#pa'"


def test_a_text_is_masked_each_time() -> None:
    """What has a secret, and what has none, also half of a surrogate pair."""
    for text in (SECRET, "We deploy on Mondays.", "", "half \ud83d", *XSS_TEXTS):
        assert [masked_text(text) for _ in range(3)] == [mask(text)] * 3


def test_no_text_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests alone, and not more than a bound."""
    monkeypatch.setattr(shown_text, "MAX_CLEAN", 50)
    monkeypatch.setattr(shown_text, "_clean", set())
    for at in range(60):
        masked_text(f"note {at}")
    assert 0 < len(shown_text._clean) <= 50
    assert {len(digest) for digest in shown_text._clean} == {16}
