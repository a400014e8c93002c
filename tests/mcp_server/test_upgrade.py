"""An old server that finds a new package says so, and does nothing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.upgrade import UpgradeCheck
from hivemind_memory.version import __version__
from tests.mcp_server.agents import ROOT, piped


def test_a_running_server_whose_package_is_replaced_asks_for_a_restart(
    home: Path, tmp_path: Path
) -> None:
    """It mixed old code with new, or answered with a traceback."""
    package = tmp_path / "site" / "hivemind_memory"
    shutil.copytree(ROOT / "hivemind_memory", package)
    path = f"PYTHONPATH={package.parent}"
    with piped(
        ("env", path, sys.executable, "-P", "-m", "hivemind_memory.cli", "mcp")
    ) as server:
        server.initialize()
        before = server.call("memory_list", 2)
        version = package / "version.py"
        version.write_text(version.read_text().replace(__version__, "99.0.0"))
        after = server.call("memory_write", 3, content="Kept by nobody.")

    assert not before.get("isError")
    assert after["isError"]
    [said] = after["content"]
    assert "was replaced by 99.0.0 while this server ran" in said["text"]
    assert "ran. Nothing was done. Hint: Restart" in said["text"]
    assert "Nothing was saved" not in said["text"]
    assert "Kept by nobody" not in "".join(
        note.read_text() for note in home.rglob("*.md")
    )


def test_the_same_version_installed_again_goes_on(tmp_path: Path) -> None:
    """Only another version is another program."""
    file = tmp_path / "version.py"
    file.write_text(f'__version__ = "{__version__}"\n')
    check = UpgradeCheck(str(file))
    check.refuse_if_upgraded()

    file.unlink()
    with pytest.raises(HivemindError, match="removed"):
        check.refuse_if_upgraded()
    file.write_text(f'"""New."""\n\n__version__ = "{__version__}"\n')

    check.refuse_if_upgraded()


def test_a_half_installed_package_is_not_used(tmp_path: Path) -> None:
    """An installer writes one file after the other."""
    file = tmp_path / "version.py"
    file.write_text("")

    with pytest.raises(HivemindError, match="replaced by another version"):
        UpgradeCheck(str(file)).refuse_if_upgraded()
