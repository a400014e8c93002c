"""How a missing package is installed beside the program, however that was installed."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from hivemind_memory.providers.install_command import install_command


@pytest.mark.parametrize(
    ("prefix", "venv", "begins"),
    [
        ("/home/you/.local/share/pipx/venvs/hivemind-memory", "", "pipx inject"),
        (
            "/home/you/.local/share/uv/tools/hivemind-memory",
            "",
            "uv pip install --python /home/you/.local/share/uv/tools/hivemind-memory/",
        ),
        ("/home/you/shop/.venv", "/home/you/shop/.venv", "pip install"),
        ("/home/you/a shop/.venv", "", "'/home/you/a shop/.venv/"),
        ("/home/you/shop/.venv", "/home/you/other", "/home/you/shop/.venv/"),
    ],
)
def test_the_command_is_that_of_the_environment_that_the_program_runs_in(
    prefix: str, venv: str, begins: str
) -> None:
    """After `pipx install` a plain pip installs into another Python."""
    command = install_command(["onnxruntime", "tokenizers"], prefix, venv)

    assert command.startswith(begins)
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
