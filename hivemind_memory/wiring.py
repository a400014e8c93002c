"""Puts the house together: reads environment, clock and home folder, picks the parts.

Nothing below reads any of these. Imports only what every command needs.
"""

from __future__ import annotations

import os
import time

from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.config.resolve import load_settings as resolve_settings
from hivemind_memory.embeddings.provider import Provider
from hivemind_memory.memory.clocks import Clocks
from hivemind_memory.memory.core import Memory
from hivemind_memory.memory.places import places_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.watch.loop import Watcher

__all__ = [
    "CONFIG_NAME",
    "load_settings",
    "new_session",
    "open_memory",
    "open_watcher",
    "resolve_home",
]

HOME_VARIABLE = "HIVEMIND_HOME"

# What a hook of git inherits (git rev-parse --local-env-vars); it names a repository
# that need not be the one of the worktree.
_GIT_OF_A_HOOK = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


def resolve_home(flag: str | None = None) -> str:
    """Return the home folder: the flag, ``HIVEMIND_HOME``, or ``~/.hivemind``."""
    chosen = flag or os.environ.get(HOME_VARIABLE)
    return os.path.abspath(os.path.expanduser(chosen or "~/.hivemind"))


def load_settings(
    home: str | None = None, flags: Mapping[str, object] | None = None
) -> Settings:
    """Return the settings in effect: flag, environment, config.json, default.

    Raises:
        ConfigError: A value cannot be used.
    """
    return resolve_settings(resolve_home(home), os.environ, flags or {})


def open_memory(
    *,
    memory_dir: str | None = None,
    home: str | None = None,
    flags: Mapping[str, object] | None = None,
) -> Memory:
    """Return the memory in *memory_dir*, else that of the home folder.

    Nothing is read or made before its first use.

    Args:
        memory_dir: Folder of notes; None: ``memory`` in the home folder.
        home: Home folder; None: ``HIVEMIND_HOME``, else ``~/.hivemind``.
        flags: Options that win over environment and config.json.

    Raises:
        ConfigError: A value in config.json or the environment cannot be used.
    """
    folder = resolve_home(home)
    settings = load_settings(folder, flags)
    places = places_of(
        folder,
        os.path.expanduser(memory_dir) if memory_dir else None,
        os.path.expanduser(settings.index_dir),
    )
    clocks = Clocks(
        now=time.time,
        stopwatch=time.perf_counter,
        local_iso=_local_iso,
        local_offset_s=_local_offset_s,
        randomness=_ten_random_bytes,
    )
    return Memory(places, settings, Provider(settings), clocks)


def open_watcher(memory: Memory) -> Watcher:
    """Return the watcher that keeps *memory* in step; ``run`` starts it."""
    from hivemind_memory.watch import observer
    from hivemind_memory.watch.leader import Leadership
    from hivemind_memory.watch.lookout import Lookout, LookoutSettings
    from hivemind_memory.watch.loop import Watcher
    from hivemind_memory.watch.term import WatchSettings

    places, settings = memory.places, memory.settings
    return Watcher(
        memory,
        Lookout(
            places.notes,
            open_source=observer.open_source,
            settings=LookoutSettings(poll_s=settings.poll_s),
        ),
        leadership=Leadership(places.leader_lock, state_path=places.watch_state),
        settings=WatchSettings(quiet_s=settings.debounce_ms / 1000),
        clock=time.monotonic,
    )


def new_session() -> str:
    """Return a name for this process, by which the entries it writes can be found."""
    return os.urandom(4).hex()


def open_injector(memory: Memory) -> Injector:
    """Return what puts the memory's section into worktrees."""
    from hivemind_memory.inject.injector import Injector

    return Injector(memory, _git_environ(), lambda: _local_iso(time.time()))


def _git_environ() -> dict[str, str]:
    """Return the environment for git: its own repository, no question, in English."""
    kept = {
        name: text for name, text in os.environ.items() if name not in _GIT_OF_A_HOOK
    }
    return {
        **kept,
        "GIT_OPTIONAL_LOCKS": "0",  # asking must not disturb a git that is at work
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _local_iso(moment_s: float) -> str:
    """Return a moment as ISO 8601 in the local time zone, to the second."""
    # time.strftime: datetime would cost milliseconds on the way to a cold answer.
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(moment_s))
    return f"{text[:-2]}:{text[-2:]}"


def _local_offset_s(moment_s: float) -> int:
    """Return the offset of the local time zone from UTC at a moment."""
    return time.localtime(moment_s).tm_gmtoff


def _ten_random_bytes() -> bytes:
    """Return what makes an entry's number unique."""
    return os.urandom(10)
