"""An injection starts git, and masks, as rarely as it can: a git costs a search."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from hivemind_memory.cli import main
from hivemind_memory.inject import injector as injector_module
from hivemind_memory.inject import section
from hivemind_memory.inject.session_hook import session_start_section
from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.opening import open_injector, open_memory
from hivemind_memory.redaction import mask, redact
from hivemind_memory.state.injection_log import InjectionLog
from tests.inject.conftest import make_home
from tests.inject.repos import git, make_repo, status

if TYPE_CHECKING:
    from pathlib import Path

    from hivemind_memory.model.injection import SectionPlan


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the words of each git that is started, one a line."""
    log, real = tmp_path / "asked", shutil.which("git")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$3 $4" >> "{log}"\nexec "{real}" "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    monkeypatch.setenv("HIVEMIND_HOME", str(make_home(tmp_path / "home")))
    return log


def names_of(asked: Path) -> list[str]:
    return sorted(line.split()[0] for line in asked.read_text().splitlines())


def test_a_section_that_is_there_takes_six_gits(asked: Path, tmp_path: Path) -> None:
    """There were twelve: two looked for the repository, and four read its options."""
    worktree = make_repo(tmp_path / "shop", text=None)
    assert main.main(["inject", str(worktree)]) == 0
    asked.unlink()

    assert main.main(["inject", str(worktree)]) == 0

    assert names_of(asked) == sorted(
        ("rev-parse", "config", "status", "log", "ls-files", "check-attr")
    )


def test_a_section_in_a_tracked_file_takes_seven_gits(
    asked: Path, tmp_path: Path
) -> None:
    """There were eleven: what git stores was hashed before the index was asked."""
    worktree = make_repo(tmp_path / "shop")
    assert main.main(["inject", str(worktree)]) == 0
    asked.unlink()

    assert main.main(["inject", str(worktree)]) == 0

    assert names_of(asked) == sorted(
        (
            *("rev-parse", "config", "status", "log"),
            *("cat-file", "check-attr", "diff-files"),
        )
    )


def test_a_session_that_reads_a_section_takes_two_gits_and_no_search(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took eight, and everything was searched and masked, to say nothing."""
    worktree = make_repo(tmp_path / "shop")
    assert main.main(["inject", str(worktree)]) == 0
    asked.unlink()
    planned: list[object] = []
    monkeypatch.setattr(injector_module, "plan_section", planned.append)

    with open_memory() as memory:
        log = InjectionLog(memory.state())
        injector = open_injector(memory)
        assert session_start_section(injector, str(worktree), "claude", log) == ""

    assert names_of(asked) == ["config", "rev-parse"]
    assert not planned


def test_settings_that_are_removed_meanwhile_are_made_again(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options are read once, before the lock is taken."""
    worktree = make_repo(tmp_path / "shop")
    assert main.main(["inject", str(worktree)]) == 0
    plan = injector_module.plan_section

    def eject_meanwhile(*arguments: Any, **options: Any) -> SectionPlan:
        assert main.main(["eject", str(worktree)]) == 0
        return plan(*arguments, **options)

    monkeypatch.setattr(injector_module, "plan_section", eject_meanwhile)
    assert main.main(["inject", str(worktree)]) == 0

    assert "hivemind:begin" in (worktree / "CLAUDE.md").read_text()
    assert status(worktree) == ""
    assert "hivemind:begin" not in git(worktree, "diff")


def test_a_created_file_that_git_begins_to_see_is_hidden_again(
    asked: Path, tmp_path: Path
) -> None:
    worktree = make_repo(tmp_path / "shop", text=None)
    assert main.main(["inject", str(worktree)]) == 0
    (worktree / ".git" / "info" / "exclude").write_text("")
    assert "CLAUDE.md" in status(worktree)

    assert main.main(["inject", str(worktree)]) == 0

    assert status(worktree) == ""


@pytest.mark.parametrize("off", ["false", "no", "off", "0"])
def test_whatever_git_takes_for_false_switches_injection_off(
    asked: Path, tmp_path: Path, off: str
) -> None:
    worktree = make_repo(tmp_path / "shop", text=None)
    git(worktree, "config", "hivemind.inject", off)

    assert main.main(["inject", str(worktree)]) == 0

    assert not (worktree / "CLAUDE.md").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="no other kernel is asked")
def test_an_injection_compares_the_notes_once(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks a dozen times; the kernel watched only from the second answer on."""
    worktree = make_repo(tmp_path / "shop")
    assert main.main(["inject", str(worktree)]) == 0
    compared: list[object] = []
    real = FreshnessCheck._compare

    def compare(self: FreshnessCheck, *arguments: Any, **options: Any) -> Any:
        compared.append(self)
        return real(self, *arguments, **options)

    monkeypatch.setattr(FreshnessCheck, "_compare", compare)
    assert main.main(["inject", str(worktree)]) == 0

    assert len(compared) == 1


def test_an_injection_masks_each_text_once(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was masked when it was weighed, for each record, for hashes and the file."""
    worktree = make_repo(tmp_path / "shop")
    texts: list[str] = []

    def counted(text: str) -> str:
        texts.append(text)
        return mask(text)

    monkeypatch.setattr(section, "mask", counted)
    assert main.main(["inject", str(worktree)]) == 0

    assert texts
    assert len(texts) == len(set(texts))


def test_a_text_that_had_no_secret_is_not_searched_again_and_a_purge_forgets(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look for secrets in what the last section quoted took a fifth of the time."""
    worktree = make_repo(tmp_path / "shop")
    sections: list[bytes] = []
    counts: list[int] = []
    searched: list[str] = []
    real = redact.scrub

    def scrub(text: str, known: tuple[str, ...] = ()) -> redact.RedactedText:
        searched.append(text)
        return real(text, known)

    monkeypatch.setattr(redact, "scrub", scrub)

    def inject() -> None:
        searched.clear()
        assert main.main(["inject", str(worktree)]) == 0
        counts.append(len(searched))
        sections.append((worktree / "CLAUDE.md").read_bytes())

    assert (
        main.main(["save", "--type", "lesson", "zanzibar", "The word is Zanzibarquux."])
        == 0
    )
    inject()
    inject()
    before = (tmp_path / "home" / "memory" / ".index" / "clean-texts").read_bytes()
    assert main.main(["forget", "zanzibar", "--purge", "--yes"]) == 0
    inject()
    after = (tmp_path / "home" / "memory" / ".index" / "clean-texts").read_bytes()

    assert counts[0] > counts[1] == 0
    hashes = [
        {data[at : at + 16] for at in range(39, len(data), 16)}
        for data in (before, after)
    ]
    assert hashes[0].isdisjoint(hashes[1])
    assert sections[0] == sections[1]
    assert b"quux" in sections[1]
    assert b"quux" not in sections[2]
