"""Fixtures and settings that every test may rely on, wherever it runs."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.access.rules import AGENT_VARIABLES
from hivemind_memory.memory.memory import Memory
from tests.support import tiers
from tests.support.sandbox import Sandbox

WHOLE_SUITE = "about eight minutes"
MEMORY_DISK = Path("/dev/shm")
MEMORY_DISK_BYTES = 4 << 30
"""Room for the folders of the tests that run at one time, several times over."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs what is left out otherwise."""
    tiers.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Stop ignoring the signals that a shell may have told us to ignore.

    A program that was started in the background or by ``nohup`` ignores some signals,
    and so do all its children; the tests interrupt theirs. And an agent that runs the
    tests has a shell with fewer rights than they need.
    """
    for variable in AGENT_VARIABLES:
        os.environ.pop(variable, None)
    usual = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    for name, handler in usual.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if not config.option.basetemp and "TMPDIR" not in os.environ:
        _use_memory_disk()
    if sys.dont_write_bytecode:
        _compile_once()
    tiers.configure(config)


def _use_memory_disk() -> None:
    """Keep the folders of the tests in memory, if this machine has room there.

    On a disk the tests would wait for it a third of their time: each write is synced.
    What happens when a sync or a write fails is tested with faults. ``TMPDIR`` and
    ``--basetemp`` name another folder.
    """
    if not os.access(MEMORY_DISK, os.W_OK | os.X_OK):
        return
    disk = os.statvfs(MEMORY_DISK)
    can_execute = not disk.f_flag & os.ST_NOEXEC
    if can_execute and disk.f_bavail * disk.f_frsize >= MEMORY_DISK_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_DISK)


def _compile_once() -> None:
    """Let the processes of the tests share compiled modules, yet leave none behind.

    Where nothing may be compiled to a file, each of some thousand would compile all.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["PYTHONPYCACHEPREFIX"] = folder
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say how long the whole suite takes, if that is what was asked for."""
    config = session.config
    is_whole = (
        config.args_source is not pytest.Config.ArgsSource.ARGS
        and not config.getoption("thorough")
    )
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    is_worker = hasattr(config, "workerinput")
    if is_whole and reporter is not None and not is_worker:
        reporter.write_line(f"The whole suite takes {WHOLE_SUITE} on two cores.")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the garbage collector pass over what was collected: it stays to the end.

    It looked at ten thousand tests again and again, for a tenth of their time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _settings() -> dict[str, str]:
    """Return the variables of the environment that change what a memory does."""
    return {
        name: value for name, value in os.environ.items() if name.startswith("HIVEMIND")
    }


@pytest.fixture(autouse=True)
def _settings_stay() -> Iterator[None]:
    """Fail for a test that leaves a setting behind: others would fail for it."""
    before = _settings()
    yield
    assert _settings() == before


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """Return a home with an empty notes folder."""
    return Sandbox(tmp_path / "home")


@pytest.fixture
def memory(sandbox: Sandbox) -> Iterator[Memory]:
    """Yield the memory of that home."""
    with sandbox.memory() as opened:
        yield opened


@pytest.fixture
def travel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that goes to a time zone."""

    def go(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield go
    monkeypatch.undo()
    time.tzset()
