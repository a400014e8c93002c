"""Puts together what finds activity: the chosen sources, and what knows projects."""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.agents import sources_named
from hivemind_memory.model.value import value
from hivemind_memory.projects.lookup import settled_scope
from hivemind_memory.transcripts.activity import Activity
from hivemind_memory.transcripts.sources import chosen_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.files.places import Places
    from hivemind_memory.model.clocks import Clocks


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

    def find_scope(folder: str) -> str:
        try:
            return settled_scope(
                folder, around.git_environ, places.notes, settings.projects
            )
        except HivemindError:
            return ""  # as if the folder were gone

    names = sources_named(settings.session_sources)
    return Activity(
        places,
        settings,
        clocks,
        sources=chosen_sources(names, around.user_home, around.environ),
        find_scope=find_scope,
        **caller_and_state,
    )
