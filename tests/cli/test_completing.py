"""What the shell offers when somebody presses Tab."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.spec import COMMANDS
from tests.cli.conftest import Hm


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("hm sea", ["search"]),
        ("hm config un", ["unset"]),
        ("hm config get min", ["min_score"]),
        ("hm get dep", ["deploy.md"]),
        ("hm edit projects", ["projects/site.md"]),
        ("hm search --fail", ["--fail-empty"]),
        ("hm write --source hu", ["human"]),
    ],
)
def test_tab_offers_what_can_follow(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch, line: str, offers: list[str]
) -> None:
    """Commands, options, notes and their names."""
    monkeypatch.setenv("_HM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))

    ran = hm()

    assert ran.out.split() == offers
    assert ran.err == ""


def test_tab_without_a_memory_offers_nothing_and_says_nothing(
    hm: Hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it printed would land in the line that is being typed."""
    monkeypatch.setenv("_HM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "hm get ")
    monkeypatch.setenv("COMP_CWORD", "2")

    ran = hm()

    assert (ran.out.strip(), ran.err) == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_can_be_printed(hm: Hm, shell: str) -> None:
    """For those who keep their own files."""
    ran = hm("--show-completion", shell)

    assert ran.code == 0
    assert "_HM_COMPLETE" in ran.out


def test_every_completion_is_of_a_known_kind() -> None:
    """A kind without a completer would silently offer nothing."""
    kinds = {argument.completes for one in COMMANDS for argument in one.arguments}

    assert kinds == {"", "connectable", "notes", "options"}
