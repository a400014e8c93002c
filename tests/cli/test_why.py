"""Why one memory is not in the section."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


def test_a_memory_that_is_switched_off_is_the_reason(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that others in the project are newer."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    hm("save", "-g", "deploy-day", "We deploy on Tuesdays.")
    hm("inject")
    hm("config", "set", "enabled", "false")
    hm("inject")

    said = hm("why", "deploy-day").out

    assert said == "not injected: deploy-day.md: the memory is switched off\n"
