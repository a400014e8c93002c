"""A config.json that is wrong is spoken of once, by every command."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm
from tests.support.built_once import build_once
from tests.support.tiers import mostly_thorough

WORDS = {
    "search": ("deploy",),
    "get": ("deploy-day",),
    "list": ("--memories",),
    "write": ("A new entry.",),
    "edit": ("deploy-day",),
    "save": ("new-key", "A new memory."),
    "learn": ("topic", "A claim."),
    "show": ("deploy-day",),
    "history": ("deploy-day",),
    "link": ("deploy-day", "friday"),
    "unlink": ("deploy-day", "friday"),
    "forget": ("deploy-day",),
    "restore": ("deploy-day",),
    "inbox accept": ("firewall",),
    "inbox edit": ("firewall",),
    "inbox reject": ("firewall",),
    "connect": ("--dry-run",),
    "disconnect": ("--dry-run",),
    "hook session-start": ("--agent", "claude"),
    "hook session-end": ("--agent", "claude"),
    "capture": ("--last",),
    "inject": ("--dry-run",),
    "eject": ("--dry-run",),
    "project adopt": ("shop",),
    "project rename": ("shop", "store"),
    "project merge": ("shop", "store"),
    "launch": ("--dry-run", "claude"),
    "exec": ("--", "true"),
    "attach": ("nobody",),
    "kill": ("nobody",),
    "backup": ("copy.tar",),
    "restore-backup": ("copy.tar",),
    "config get": ("fusion",),
    "config set": ("fusion", "weighted"),
    "config unset": ("fusion",),
    "completion": ("bash",),
}
"""Arguments; of the others, none."""

ENDLESS = {"mcp", "serve", "dashboard", "watch", "exec"}
"""These start a server, serve until they are stopped, or become another program."""

FILES = {
    "no JSON": '{"memory": ',
    "an unknown option": '{"memory": {"max_result": 3}}',
    "a wrong type": '{"memory": {"max_results": "many", "workspaces": 3}}',
    "an unknown provider": '{"memory": {"embedding_provider": "anthropic"}}',
    "outside memory": '{"max_results": 3}',
}


@pytest.fixture
def kept(hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Notes with memories and a claim, and a home folder of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("HIVEMIND_EMBEDDING_PROVIDER")
    build_once("memories and a claim", home, lambda: _save_all(hm))
    return home / "memory"


def _save_all(hm: Hm) -> None:
    """Save the memories and the claim."""
    for words in (
        ("init",),
        ("save", "deploy-day", "We deploy on Tuesdays."),
        ("save", "friday", "Never on Fridays."),
        ("save", "--source", "external", "firewall", "Turn it off."),
    ):
        assert hm(*words).code == 0


SPEAK_OTHERWISE = {"doctor", "model fetch"}
"""Exit with 1 and no error: a finding, and a question that nobody answers."""


def sentences(text: str) -> list[str]:
    """Return the long sentences of an answer, in order."""
    pieces = re.split(r"\n|(?<=[.:]) (?=[A-Z])", text)
    plain = (re.sub(r"^(error|hint|note): |\.$", "", one.strip()) for one in pieces)
    return [one for one in plain if len(one) > 20]


@pytest.mark.parametrize("wrong", FILES)
@pytest.mark.parametrize(
    "command",
    mostly_thorough(
        [one.name for one in all_commands() if one.name not in ENDLESS], every=5
    ),
)
def test_a_wrong_configuration_is_spoken_of_once(
    hm: Hm, kept: Path, command: str, wrong: str
) -> None:
    """`hm write` printed its sentence as a notice, and again as the error."""
    (kept.parent / "config.json").write_text(FILES[wrong])

    ran = hm(*command.split(), *WORDS.get(command, ()))

    counted = Counter(sentences(ran.out + ran.err))
    assert [one for one, times in counted.items() if times > 1] == []
    assert ran.err.count("error: ") == (
        ran.code != 0 and command not in SPEAK_OTHERWISE
    )


@pytest.mark.parametrize(
    ("command", "effect"),
    [("write", "Nothing was saved."), ("backup", "No backup was written.")],
)
def test_an_error_whose_reason_was_told_says_what_it_left(
    hm: Hm, kept: Path, command: str, effect: str
) -> None:
    """The reason is on the line above it."""
    (kept.parent / "config.json").write_text(FILES["no JSON"])

    ran = hm(command, *WORDS[command])

    reason, error = ran.err.splitlines()
    assert "config.json is not valid JSON: line 1, column 12" in reason
    assert error == f"error: {effect}"
