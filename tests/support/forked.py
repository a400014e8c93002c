"""Runs ``hm`` in a process of its own that need not start Python first.

Starting the interpreter and importing the SDK take most of a second. A child that is
forked from the process of the tests has both; its streams, environment and signals are
those of a command. How ``hm`` starts, what it imports and in which encoding is tested
with new interpreters: in `test_stdio`, in `test_terminal`, and wherever ``hm`` is
installed as a program.
"""

from __future__ import annotations

import atexit
import contextvars
import functools
import gc
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from hivemind_memory.cli.asking.preload import preload
from hivemind_memory.cli.main import run

HM = (sys.executable, "-m", "hivemind_memory.cli")


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    max_files: int = 0,
    program: str = "hm",
    **more: Any,
) -> subprocess.Popen[Any]:
    """Start a command as ``subprocess.Popen`` does; fork if it is ``hm``.

    Args:
        command: A program and its arguments.
        env: Its environment; None: that of this process.
        max_files: How many files ``hm`` may have open; 0: as many as this process.
        program: By which name ``hm`` believes that it was called.
        more: What else ``subprocess.Popen`` takes.
    """
    if tuple(command[: len(HM)]) == HM:
        load_once()
        environ = dict(os.environ if env is None else env)
        words = (program, *command[len(HM) :])
        # Called in the child, where the streams are in their places; never returns.
        more["preexec_fn"] = functools.partial(become_hm, words, environ, max_files)
    return subprocess.Popen(command, env=env, **more)


def finish(
    command: Sequence[str], stdin: bytes = b"", timeout: float = 60, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end; return what it printed."""
    pipe = subprocess.PIPE
    with start(command, stdin=pipe, stdout=pipe, stderr=pipe, **more) as process:
        try:
            out, err = process.communicate(stdin, timeout)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@functools.cache
def load_once() -> None:
    """Load here what each child would load, as the helper of a leader does."""
    preload(lambda: False)


def become_hm(
    words: Sequence[str], environ: Mapping[str, str], max_files: int = 0
) -> None:
    """Run ``hm`` in this process, a child that was forked, then end it.

    Args:
        words: The name of the program and its arguments.
        environ: Its environment.
        max_files: How many files it may have open; 0: as many as before.
    """
    # What the parent has opened is closed here, by its number. An object of the parent
    # that is collected later would close a file that has got its number since.
    gc.freeze()
    # One of these tells the parent by its end that the child runs.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.closerange(3, soft)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max_files or soft, hard))
    code = 1
    try:
        gc.enable()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        atexit._clear()
        logging.root.handlers.clear()  # those of pytest swallow what is logged
        logging.root.setLevel(logging.WARNING)
        warnings.resetwarnings()  # those of the tests are errors
        for ignored in (DeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", ignored)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = [*words]
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            for number, mode, errors in (
                (0, "r", "surrogateescape"),
                (1, "w", "surrogateescape"),
                (2, "w", "backslashreplace"),
            )
        )
        try:
            contextvars.Context().run(run)  # not within the loop of a test
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
    finally:
        os._exit(code)
