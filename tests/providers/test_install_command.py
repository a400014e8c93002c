"""How a missing package is installed beside the program, however that was installed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.providers.install_command import install_command


@pytest.mark.parametrize(
    ("folder", "left_by", "venv", "begins"),
    [
        ("pipx/venvs/hivemind-memory", "pipx", "", "pipx inject hivemind-memory "),
        ("my programs/hm", "pipx", "", "pipx inject hm "),
        ("uv/tools/hivemind-memory", "uv", "", "uv pip install --python {}/bin/"),
        ("uvt/hivemind-memory", "uv", "", "uv pip install --python {}/bin/"),
        ("shop/.venv", "uv", "shop/.venv", "uv pip install --python {}/bin/"),
        ("shop/.venv", "venv", "shop/.venv", "pip install "),
        ("a shop/.venv", "venv", "", "'{}/bin/"),
        ("shop/.venv", "venv", "other", "{}/bin/"),
    ],
)
def test_the_command_is_that_of_the_environment_that_the_program_runs_in(
    tmp_path: Path, folder: str, left_by: str, venv: str, begins: str
) -> None:
    """After `pipx install` a plain pip installs into another Python; uv has no pip.

    What an environment is made by does not follow from the name of its folder, which
    UV_TOOL_DIR and PIPX_HOME change.
    """
    prefix = tmp_path / folder
    prefix.mkdir(parents=True)
    made_by = "uv = 0.13.9\n" if left_by == "uv" else ""
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\n{made_by}", encoding="utf-8")
    if left_by == "pipx":
        (prefix / "pipx_metadata.json").write_text("{}", encoding="utf-8")

    command = install_command(
        ["onnxruntime", "tokenizers"], str(prefix), str(tmp_path / venv)
    )

    assert command.startswith(begins.format(prefix))
    assert command.endswith(" onnxruntime tokenizers")


def test_the_named_pip_is_that_of_this_python() -> None:
    """The path is a program that exists, and it finds the packages of this one."""
    words = shlex.split(install_command(["x"], venv="/somewhere/else"))
    if words[0] == "pip":  # no environment: the system's own Python
        pytest.skip("not in a virtual environment")

    code = "import sys; print(sys.prefix)"
    ran = subprocess.run(
        [words[0], "-c", code], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == sys.prefix
