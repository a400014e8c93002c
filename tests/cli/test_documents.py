"""What is derived from the code is up to date, and what it says is true."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hivemind_memory.cli.helping import help_text
from hivemind_memory.cli.spec import COMMANDS, Command
from hivemind_memory.config import load_settings, options

ROOT = Path(__file__).resolve().parents[2]


def generated() -> dict[str, str]:
    """What scripts/generate_docs.py would write."""
    place = ROOT / "scripts" / "generate_docs.py"
    spec = importlib.util.spec_from_file_location("generate_docs", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generated()


@pytest.mark.parametrize("name", sorted(generated()))
def test_a_derived_file_is_up_to_date(name: str) -> None:
    """`python scripts/generate_docs.py --write` makes it so."""
    assert (ROOT / name).read_text(encoding="utf-8") == generated()[name]


def test_the_example_holds_every_option_and_changes_nothing(tmp_path: Path) -> None:
    """Whoever copies it gets what they had."""
    (tmp_path / "config.json").write_text(generated()["config.example.json"])

    settings = load_settings(str(tmp_path), {})

    assert settings.unknown_keys == ()
    for name, option in options().items():
        assert getattr(settings, name) == option.default


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_help_text_fits_and_names_every_option(command: Command, width: int) -> None:
    """Help is read in narrow panes."""
    text = help_text(command.name, width)

    assert f"hm {command.name}" in text
    for flag in command.flags:
        assert flag.names[-1] in text
    prose = text.partition("Examples:")[0].splitlines()
    assert not [line for line in prose if len(line) > width and "|" not in line]


def test_the_overview_names_every_command() -> None:
    """It is all that somebody knows who types hm for the first time."""
    text = help_text("", 80)

    for command in COMMANDS:
        assert f"\n  {command.name.split()[0]} " in text
