"""Keys of config.json that were meant as options and have no effect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory.config import Settings, load_settings


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"memory": {"half_life_day": 10}}, "Did you mean half_life_days?"),
        ({"half_life_day": 10}, "half_life_day is outside memory"),
        ({"memroy": {"half_life_days": 10}}, "Did you mean memory?"),
        ({"search": {"half_life_days": 10}}, "inside search has no effect"),
    ],
)
def test_a_key_that_was_meant_to_be_an_option_is_named(
    tmp_path: Path, document: dict[str, object], said: str
) -> None:
    """It had no effect, and nothing but `hm doctor` said so, of some not even that."""
    (tmp_path / "config.json").write_text(json.dumps(document), encoding="utf-8")

    settings = load_settings(str(tmp_path), {})

    [sentence] = settings.unusable.values()
    assert said in sentence
    assert settings.half_life_days == Settings().half_life_days


@pytest.mark.parametrize(
    "document",
    [
        {"memory": {"from_the_future": 3}},
        {"default_program": "claude", "auto_yes": True, "branch_prefix": "you/"},
        {"telemetry": {"enabled": True}},
        {"editor": {"theme": "dark", "min_score": 3}},
    ],
)
def test_keys_of_others_are_not_spoken_of(
    tmp_path: Path, document: dict[str, object]
) -> None:
    """The file may be shared with programs whose options only sound alike."""
    (tmp_path / "config.json").write_text(json.dumps(document), encoding="utf-8")

    assert load_settings(str(tmp_path), {}).unusable == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ('{"memory": {}} // mine', "JSON has no comments"),
        ('{\n  # mine\n  "memory": {}}', "JSON has no comments"),
        ('{"memory": {},}', "a comma after the last value"),
        ("{'memory': {}}", "strings need double quotes"),
    ],
)
def test_what_people_write_by_habit_is_named(
    tmp_path: Path, text: str, why: str
) -> None:
    """ "Expecting value" tells nobody that the comment is the mistake."""
    (tmp_path / "config.json").write_text(text, encoding="utf-8")

    [sentence] = load_settings(str(tmp_path), {}).unusable.values()

    assert why in sentence
