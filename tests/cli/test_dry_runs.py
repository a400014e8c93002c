"""A dry run of any command writes nothing: no note, no record, no setting."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from hivemind_memory.cli.table import all_commands
from tests.inject.repos import GIT_OF_NOBODY, git

DRY_RUNS = {
    "undo": "",
    "project rename": "shop store",
    "project merge": "till shop",
    "connect": "claude --hooks",
    "disconnect": "claude",
    "forget": "shop-db --scope project/shop",
    "inject": "",
    "context clean": "--blocks blocks.json",
    "skill promote": "tidy-up",
    "skill sync": "",
    "capture": "--last",
    "consolidate": "",
}
"""Command -> its arguments."""

MORE = (
    "forget shop-db --scope project/shop --purge",
    "forget --session s1",
    "forget --session s1 --all-scopes",
    "inject ../new",
)
DERIVED = {".index", "locks", "state.db-shm"}
"""The index, which every question updates; locks, and where readers take theirs."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a memory, an agent, two projects, and a repository without one."""
    root = tmp_path_factory.mktemp("machine")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(root).items():
            patch.setenv(name, value)
        (root / "home/.claude").mkdir(parents=True)
        (root / "home/.claude.json").write_text("{}")
        (root / "bin").mkdir()
        (root / "bin/claude").symlink_to("/bin/true")
        assert main.main(["init"]) == 0
        for name in ("shop", "till", "new"):
            git(root, "init", "-q", name)
        for name in ("shop", "till"):
            patch.chdir(root / name)
            words = ["save", f"{name}-db", "--session", "s1", "It is Postgres."]
            assert main.main(words) == 0
        for name in ("shop", "new"):
            patch.chdir(root / name)
            (root / name / "seen.md").write_text("Seen.\n")
            words = ["context", "add", "--blocks", "blocks.json", "seen.md"]
            assert main.main(words) == 0
            (root / name / "seen.md").unlink()
        assert main.main(["connect", "claude", "--yes"]) == 0
        patch.chdir(root / "shop")
        for key in ("tidy-up", "release"):
            words = ["save", key, "-g", "--type", "lesson", "1. Look.\n2. Do it."]
            assert main.main(words) == 0
        assert main.main(["skill", "promote", "release"]) == 0
        words = ["save", "release", "-g", "--reason", "new", "1. Look.\n2. Do more."]
        assert main.main(words) == 0
    return root


def environment(root: Path) -> dict[str, str]:
    return {
        **GIT_OF_NOBODY,
        "HOME": str(root / "home"),
        "HIVEMIND_HOME": str(root / "home/.hivemind"),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


def tree(root: Path) -> dict[str, bytes]:
    """Return every file and folder below *root* that is not derived."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if not DERIVED.intersection(name.parts):
            found[str(name)] = path.read_bytes() if path.is_file() else b""
    return found


def test_every_dry_run_only_if_all_known() -> None:
    """A command that gets the option gets a row."""
    dry = {
        command.name
        for command in all_commands()
        if any(flag.name == "dry_run" for flag in command.flags)
    }

    assert dry == set(DRY_RUNS)


@pytest.mark.parametrize("line", [*(f"{c} {a}" for c, a in DRY_RUNS.items()), *MORE])
@pytest.mark.parametrize("folder", ["shop", "new"])
def test_a_dry_run_writes_nothing_at_all(
    machine: Path, monkeypatch: pytest.MonkeyPatch, line: str, folder: str
) -> None:
    """``hm inject --dry-run`` made a project of the repository."""
    for name, value in environment(machine).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(machine / folder)
    before = tree(machine)

    code = main.main([*line.split(), "--dry-run"])

    assert tree(machine) == before
    # Nothing of the session is in the project of the other folder; no agent left one.
    is_empty = line == "forget --session s1" and folder == "new"
    assert code == int(is_empty or line == "capture --last")
