"""Opens a memory, its watcher, its injector and the launcher.

Chooses the parts; ``environment`` reads. Imports only what every command needs.
"""

from __future__ import annotations

import os
import time

from hivemind_memory.access.rules import NO_PROJECT, ProjectHere
from hivemind_memory.config import CONFIG_NAME
from hivemind_memory.environment import (
    environ_without_hook,
    explicit_git,
    git_environ,
    load_settings,
    local_iso,
    resolve_home,
    section_scope_request,
    session_surroundings,
    shell_scope_request,
    system_clocks,
)
from hivemind_memory.files.places import find_above, locks_folder, places_of
from hivemind_memory.memory.memory import Memory
from hivemind_memory.providers.provider import Provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hivemind_memory.access.callers import ScopeRequest
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.curation.skills import Skills
    from hivemind_memory.curation.worktrees import Worktrees
    from hivemind_memory.files.places import Places
    from hivemind_memory.git.worktree import WorktreeState
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.launch.launcher import Launcher
    from hivemind_memory.model.results import Diagnosis
    from hivemind_memory.projects.folders import ProjectFolder
    from hivemind_memory.projects.lookup import ProjectLookup
    from hivemind_memory.transcripts.activity import Activity
    from hivemind_memory.transcripts.one_session import SessionReader
    from hivemind_memory.watch.watcher import Watcher


def open_memory(
    *,
    memory_dir: str | None = None,
    home: str | None = None,
    flags: Mapping[str, object] | None = None,
    scope_request: ScopeRequest | None = None,
    folder: str | None = None,
    is_look: bool = False,
) -> Memory:
    """Return the memory in *memory_dir*, else that of the home; not opened yet.

    Args:
        memory_dir: Folder of notes; None: ``memory`` in the home folder.
        home: Home folder; None: ``HIVEMIND_HOME``, else ``~/.hivemind``.
        flags: Options that win over environment and config.json.
        scope_request: Scopes to open it with; None: those of the environment,
            or, if it names none, all of them.
        folder: Folder whose project ``auto`` means; None: the current one.
        is_look: Nothing is recorded of its project: for a dry run.

    Raises:
        ConfigError: A value in config.json or the environment cannot be used.
        ScopeError: A scope that the caller or the environment names is not valid.
    """
    home_folder = resolve_home(home)
    settings = load_settings(home_folder, flags)
    places = places_of(
        home_folder,
        os.path.expanduser(memory_dir) if memory_dir else None,
        os.path.expanduser(settings.index_dir),
    )
    if os.path.lexists(places.project_move):
        from hivemind_memory.curation.project_move import resume_move

        resume_move(places)
    clocks = system_clocks()
    provider = Provider(
        settings, places.models, stopwatch=clocks.stopwatch, sleep=time.sleep
    )
    parts = (places, settings, provider, clocks)
    scope_request = scope_request or shell_scope_request()
    if scope_request is None:
        return Memory(
            *parts,
            open_worktrees=open_worktrees,
            here=ProjectHere(
                lambda is_write: _project_here(
                    settings, places, is_write=is_write, is_look=is_look
                ),
                known=lambda: _known_project_here(settings, places),
            ),
        )
    from hivemind_memory.files.overlap import check_overlap

    check_overlap(places, settings.followed_links, memory_dir)
    why = settings.unusable.get("workspaces") or settings.unusable.get(CONFIG_NAME)
    if scope_request.workspace and why:
        from hivemind_memory.errors import ConfigError

        # Without the tree every workspace would have the rights of a root.
        raise ConfigError(why)
    from hivemind_memory.access.callers import AUTO, caller_of

    lookup = _lookup(folder or os.getcwd(), settings, places, is_look=is_look)

    def find_caller() -> Caller:
        return caller_of(
            scope_request,
            workspaces=settings.workspaces,
            find_project=lambda: lookup.find().slug,
        )

    return Memory(
        *parts,
        caller=find_caller(),
        here=lookup.here(find_caller) if scope_request.project == AUTO else NO_PROJECT,
        open_worktrees=open_worktrees,
    )


def find_project(folder: str, memory: Memory, *, is_look: bool) -> ProjectFolder:
    """Return a folder's project; to look registers none, and may find none.

    Raises a ``ScopeError`` if the memory's caller does not see that project.
    """
    from hivemind_memory.access.rules import unseen_folder

    lookup = _lookup(folder, memory.settings, memory.places)
    found = lookup.find_known() if is_look else lookup.find()
    scopes = memory.caller.scopes
    if scopes is not None and f"projects/{found.slug}" not in scopes:
        raise unseen_folder(memory.caller, folder)
    return found


def describe_project(memory: Memory) -> str:
    """Return which project the current folder belongs to and why, as a clause."""
    return _lookup(os.getcwd(), memory.settings, memory.places).describe()


def _lookup(
    folder: str, settings: Settings, places: Places, *, is_look: bool = False
) -> ProjectLookup:
    """Return what finds the project of a folder."""
    from hivemind_memory.projects.lookup import ProjectLookup

    environ, projects = git_environ(), settings.projects
    return ProjectLookup(folder, environ, places.notes, projects, is_look=is_look)


def _project_here(
    settings: Settings, places: Places, *, is_write: bool, is_look: bool = False
) -> str:
    """Return the scope of the project of the current folder; empty: no repository."""
    # Looked for by hand first: git and what calls it take time to load.
    if not find_above(os.path.realpath(os.getcwd()), ".git"):
        return ""
    lookup = _lookup(os.getcwd(), settings, places, is_look=is_look)
    return lookup.find(is_write=is_write).scope


def _known_project_here(settings: Settings, places: Places) -> str:
    """Return it as a search needs it: without git, unless config.json names origins."""
    if settings.configured_projects():
        from hivemind_memory.errors import HivemindError

        try:
            return _project_here(settings, places, is_write=False)
        except HivemindError:
            return ""
    from hivemind_memory.projects.known_project import known_scope

    return known_scope(os.path.realpath(os.getcwd()), places.notes)


def _caller_in(
    state: WorktreeState,
    memory: Memory,
    scope_request: ScopeRequest | None,
    *,
    is_look: bool,
) -> Caller:
    """Return the caller for whom a section is made; to look registers no project."""
    from hivemind_memory.access.callers import caller_of
    from hivemind_memory.access.rules import check_project_known
    from hivemind_memory.projects import folders
    from hivemind_memory.projects.lookup import seen_in

    notes, settings = memory.places.notes, memory.settings
    caller = caller_of(
        scope_request or section_scope_request(),
        workspaces=settings.workspaces,
        find_project=lambda: (
            folders.find_project(
                seen_in(state), notes, settings.projects, is_look=is_look
            ).slug
        ),
    )
    check_project_known(caller)
    return caller


def open_watcher(memory: Memory) -> Watcher:
    """Return the watcher of *memory*; ``run`` starts it."""
    from hivemind_memory.jobs.chosen import chosen_jobs
    from hivemind_memory.memory.leading import LeadingMemory
    from hivemind_memory.watch import change_detector, observer
    from hivemind_memory.watch.leader import Leadership
    from hivemind_memory.watch.leader_loop import WatchSettings
    from hivemind_memory.watch.watcher import Watcher

    places, settings = memory.places, memory.settings
    return Watcher(
        LeadingMemory(memory),
        change_detector.ChangeDetector(
            places.notes,
            open_source=observer.open_source,
            settings=change_detector.ChangeDetectorSettings(
                poll_s=settings.poll_s, has_links=bool(settings.followed_links)
            ),
        ),
        leadership=Leadership(places.leader_lock, state_path=places.watch_state),
        settings=WatchSettings(quiet_s=settings.debounce_ms / 1000),
        clock=time.monotonic,
        is_moved=places.is_moved,
        helped_home=places.home if settings.ask_leader else "",
        open_jobs=chosen_jobs(memory, open_sessions),
    )


def diagnose(memory: Memory) -> Diagnosis:
    """Return the findings of the memory and of the rooms above it."""
    from hivemind_memory.connect.entry_findings import entry_findings
    from hivemind_memory.connect.hook_findings import agent_hook_findings
    from hivemind_memory.inject.section_findings import injection_findings
    from hivemind_memory.inject.skills_here import skill_findings
    from hivemind_memory.model.results import Diagnosis
    from hivemind_memory.transcripts.findings import session_findings
    from hivemind_memory.watch.leader import leader_finding

    user_home = os.path.expanduser("~")
    entries = entry_findings(user_home, os.environ, git_environ())
    entries += agent_hook_findings(user_home, os.environ)
    hooks = injection_findings(open_injector(memory), memory.state(), os.curdir)
    with open_activity(memory) as activity:
        sessions = session_findings(activity)
    skills = skill_findings(open_skills(memory))
    found = (leader_finding(memory.places), *hooks, *skills, *entries, *sessions)
    return memory.diagnose(Diagnosis(findings=found))


def open_injector(memory: Memory, request: ScopeRequest | None = None) -> Injector:
    """Return what puts the memory's section into worktrees.

    Their agents see what *request* says; None: what the environment says.
    """
    from hivemind_memory.inject.injector import Injector

    return Injector(
        memory,
        git_environ(),
        lambda: local_iso(time.time()),
        lambda state, is_look: _caller_in(state, memory, request, is_look=is_look),
        explicit_git(),
        _has_tools,
    )


def _has_tools(agent: str, root: str) -> bool:
    """Return whether an agent that works in *root* is connected to the memory."""
    from hivemind_memory.connect.connection import is_connected

    return is_connected(agent, root, os.path.expanduser("~"), os.environ)


def open_activity(memory: Memory) -> Activity:
    """Return the activity that the memory's caller may see; nothing is opened yet."""
    from hivemind_memory.transcripts.open import activity_in

    around, state = session_surroundings(), memory.state()
    here = memory.places, memory.settings, memory.clocks
    return activity_in(around, *here, caller=memory.caller, state=state)


def read_sessions(memory: Memory) -> None:
    """Read the transcripts up to now: what a purge does not find there comes back."""
    if memory.settings.session_sources:
        with open_activity(memory) as activity:
            activity.read()


def open_sessions(memory: Memory, *, is_look: bool = False) -> SessionReader:
    """Return what reads single sessions, for the owner only; see ``sessions_in``."""
    from hivemind_memory.transcripts.open import sessions_in

    here = (memory.places, memory.settings, memory.state())
    return sessions_in(session_surroundings(), *here, is_look=is_look)


def open_skills(memory: Memory, folder: str = "") -> Skills:
    """Return what makes skills, in the worktree of a folder; empty: the current one."""
    from hivemind_memory.inject.skills_here import skills_here

    injector, home = open_injector(memory), os.path.expanduser("~")
    return skills_here(memory, injector, folder=folder or os.getcwd(), user_home=home)


def open_worktrees(memory: Memory) -> Worktrees:
    """Return the worktrees in which agents are shown a memory."""
    from hivemind_memory.access.callers import AUTO, ScopeRequest
    from hivemind_memory.curation.worktrees import Worktrees
    from hivemind_memory.inject.past_injections import InjectionTraces
    from hivemind_memory.state.injection_log import InjectionLog

    # The scopes in this process's environment are not those of other worktrees.
    of_worktree = ScopeRequest(project=AUTO, is_agent=True)
    injector = open_injector(memory, of_worktree)
    traces = InjectionTraces(InjectionLog(memory.state()), injector)
    return Worktrees(injected=traces, around=lambda: open_skills(memory).around)


def check_worktree(memory: Memory, worktree: str) -> None:
    """Raise if a caller of some scopes names a worktree whose project it does not see.

    The one that it is in is its own, whatever project it was given. It is a
    ``ScopeError``; a ``UsageError`` if the folder does not exist.
    """
    from hivemind_memory.access.rules import unseen_folder

    if not _may_use(memory, worktree):
        raise unseen_folder(memory.caller, worktree)


def _may_use(memory: Memory, worktree: str) -> bool:
    """Return whether a worktree is the caller's own, or its agents see no more."""
    scopes = memory.caller.scopes
    if scopes is None:
        return True
    injector = open_injector(memory)
    if injector.root_of(worktree) == injector.root_of(os.curdir):
        return True
    return open_worktrees(memory).injected.is_within(worktree, scopes)


def check_folder(folder: str, memory_dir: str | None = None) -> None:
    """Raise as ``check_worktree`` does; opens nothing where all scopes are seen."""
    if shell_scope_request() is None:
        return
    with open_memory(memory_dir=memory_dir) as memory:
        check_worktree(memory, folder)


def open_launcher(
    scope_request: ScopeRequest | None, memory_dir: str | None = None
) -> Launcher:
    """Return what starts agents, and finds those that run.

    *scope_request*: of who asks, who sees sessions in usable worktrees; None: all.
    """
    from hivemind_memory.launch.launcher import Launcher

    def usable(worktrees: frozenset[str]) -> Collection[str]:
        if scope_request is None or not worktrees:
            return worktrees
        return _usable(worktrees, scope_request, memory_dir)

    return Launcher(
        environ_without_hook(),
        git_environ(),
        locks=locks_folder(resolve_home()),
        usable=usable,
    )


def _usable(
    worktrees: frozenset[str], scope_request: ScopeRequest, memory_dir: str | None
) -> frozenset[str]:
    """Return the worktrees that a caller may use; none if that cannot be known."""
    from hivemind_memory.errors import HivemindError

    def is_usable(worktree: str) -> bool:
        try:
            return _may_use(memory, worktree)
        except (HivemindError, OSError):
            return False  # it is gone

    try:
        with open_memory(memory_dir=memory_dir, scope_request=scope_request) as memory:
            return frozenset(filter(is_usable, worktrees))
    except HivemindError:
        return frozenset()  # launching never waits for the memory to be well
