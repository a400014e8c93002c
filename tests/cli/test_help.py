"""Help fits the screen, is complete, and the pages made from it are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hivemind_memory.cli.help import help_text
from hivemind_memory.cli.table import FIRST, GROUPS, all_commands, command_names
from hivemind_memory.config import load_settings, options
from hivemind_memory.model.query import DEFAULT_HITS, SearchSettings
from tests.cli.conftest import Hm

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = all_commands()


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


@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_help_text_fits_and_names_every_option(width: int) -> None:
    """Help is read in narrow panes."""
    for command in COMMANDS:
        text = help_text(command.name, width)
        assert text is not None

        assert f"hm {command.name}" in text
        for flag in command.flags:
            assert flag.names[-1] in text
        prose = text.partition("Examples:")[0].splitlines()
        assert not [line for line in prose if len(line) > width and "|" not in line]


def test_the_overview_fits_one_screen() -> None:
    """24 lines of 80 columns, the prompt among them; no summary is folded."""
    lines = (help_text("", 80) or "").splitlines()

    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line.startswith("  ")][
        : len(FIRST)
    ] == list(FIRST)


def test_help_all_names_every_command() -> None:
    """What the overview leaves out is found there."""
    text = help_text("all", 80) or ""

    for name in command_names():
        assert f"\n  {name.split()[0]} " in text


def test_help_is_the_same_whichever_way_it_is_asked_for(hm: Hm) -> None:
    """People try all of them."""
    assert hm().out == hm("--help").out == hm("-h").out == hm("help").out
    assert hm().code == 0
    assert hm("help", "search").out == hm("search", "--help").out
    assert "hm search [OPTIONS] [QUERY...]" in hm("search", "-h").out
    assert hm("help", "config", "get").out == hm("config", "get", "--help").out
    for group in GROUPS:
        assert hm("help", group).out == hm(group, "--help").out
    assert hm("help", "ls").out == hm("help", "list").out
    assert hm("--version").out == hm("version").out
    assert hm("--version").out.startswith("hm ")


def test_help_on_nothing_known_is_an_error(hm: Hm) -> None:
    """With what was probably meant."""
    ran = hm("help", "serach")

    assert (ran.code, ran.out) == (2, "")
    assert "Did you mean `hm search`?" in ran.err


def test_the_figures_of_search_are_those_of_the_program(hm: Hm) -> None:
    """Help does not load what knows them."""
    told = " ".join(hm("search", "--help").out.split())

    assert f"else {DEFAULT_HITS}, or as config.json says" in told
    assert f"({SearchSettings().min_score}, or as config.json says)" in told
