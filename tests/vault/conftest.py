"""A home of the test's own, and ``hm`` in processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.forked import HM, finish

Hm = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a notes folder, and an environment without settings."""
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    # No keyring of the machine that runs the tests.
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    (folder / "memory").mkdir(parents=True, mode=0o700)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def hm(home: Path) -> Hm:
    """Return a function that runs ``hm`` and returns what it printed."""
    assert home.is_dir()

    def run(
        *words: str, stdin: bytes = b"", **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        return finish([*HM, *words], stdin, env={**os.environ, **environ})

    return run
