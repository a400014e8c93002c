"""Puts together what finds activity: the chosen sources, and what knows projects."""

from __future__ import annotations

import os

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.agents import sources_named
from hivemind_memory.model.value import value
from hivemind_memory.projects.lookup import ProjectLookup, settled_scope
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.transcripts.activity import Activity
from hivemind_memory.transcripts.one_session import SessionReader
from hivemind_memory.transcripts.sources import all_sources, chosen_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.state.state_file import StateFile


@value
class Surroundings:
    """What the process is surrounded by."""

    user_home: str
    """The user's home folder."""

    environ: Mapping[str, str]
    """Variables, some of which say where agents keep transcripts."""

    git_environ: Mapping[str, str]
    """Variables for git."""


def activity_in(
    around: Surroundings,
    places: Places,
    settings: Settings,
    clocks: Clocks,
    **caller_and_state: Any,
) -> Activity:
    """Return the activity that a caller may see; nothing is opened yet.

    Args:
        around: The user's home and the environment.
        places: Where the files of the memory are.
        settings: The options.
        clocks: Tell the time.
        **caller_and_state: As ``Activity`` takes them.
    """
    names = sources_named(settings.session_sources)
    return Activity(
        places,
        settings,
        clocks,
        sources=chosen_sources(names, around.user_home, around.environ),
        find_scope=_scope_finder(around, places, settings),
        **caller_and_state,
    )


def sessions_in(
    around: Surroundings,
    places: Places,
    settings: Settings,
    state: StateFile,
    *,
    is_look: bool,
) -> SessionReader:
    """Return what finds and reads single sessions of any agent; for the owner only.

    Args:
        around: The user's home and the environment.
        places: Where the files of the memory are.
        settings: The options.
        state: Knows what was purged.
        is_look: Register no project, for a dry run.
    """
    return SessionReader(
        all_sources(around.user_home, around.environ),
        find_scope=_scope_finder(around, places, settings),
        claim_scope=_scope_claimer(around, places, settings, is_look=is_look),
        erased=ErasedMessages(state),
    )


def _scope_claimer(
    around: Surroundings, places: Places, settings: Settings, *, is_look: bool
) -> Callable[[str], str]:
    """Return what registers the project of a folder, and returns its scope."""

    def claim_scope(folder: str) -> str:
        if not os.path.isdir(folder):
            return ""
        found = ProjectLookup(
            folder,
            around.git_environ,
            places.notes,
            settings.projects,
            is_look=is_look,
        )
        try:
            return found.find().scope
        except HivemindError:
            return ""  # as if the folder were gone

    return claim_scope


def _scope_finder(
    around: Surroundings, places: Places, settings: Settings
) -> Callable[[str], str]:
    """Return what finds the scope of a folder's project."""

    def find_scope(folder: str) -> str:
        try:
            return settled_scope(
                folder, around.git_environ, places.notes, settings.projects
            )
        except HivemindError:
            return ""  # as if the folder were gone

    return find_scope
