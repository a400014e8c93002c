"""Who may read and write what: one pure rule for every command, tool and query.

A caller is fixed when a process starts, by flags, the environment or a token; no
argument of a tool widens it. What it may not see is treated as missing. The checks at
the end raise an error where the rule denies something.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import PRIVATE, public_condition
from hivemind_memory.errors import (
    NotSavedError,
    NotWritableError,
    PersonOnlyError,
    ProjectUnknownError,
    ScopeError,
    UsageError,
)
from hivemind_memory.model.filters import Access, Requirement
from hivemind_memory.model.scope import (
    GLOBAL,
    SUPERSEDED,
    place_in_scope,
    scope_of,
)
from hivemind_memory.model.trust import HUMAN
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.model.note_path import NotePath


AGENT_VARIABLES = {
    "CLAUDECODE": "claude",  # github.com/anthropics/claude-code/issues/531
    # developers.openai.com/codex/environment-variables
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_CI": "codex",
    "GEMINI_CLI": "gemini",  # google-gemini.github.io/gemini-cli/docs/tools/shell.html
    "QWEN_CODE": "qwen",  # qwenlm.github.io/qwen-code-docs, shell tool
    "OPENCODE": "opencode",  # github.com/anomalyco/opencode/issues/1775
    "CURSOR_AGENT": "cursor",  # forum.cursor.com/t/132427
    "COPILOT_CLI": "copilot",  # github.com/github/copilot-cli, changelog
    "AUGMENT_AGENT": "augment",  # docs.augmentcode.com/cli/reference
    "GOOSE_TERMINAL": "goose",  # github.com/block/goose/pull/7017
    "AI_AGENT": "",  # github.com/vercel/vercel, packages/detect-agent: names itself
}
"""What agents set in the shells that they open -> the agent; see decision 026."""


@value
class Caller:
    """Who asks."""

    workspace: str = ""  # its scope, ``workspaces/web``; empty: none
    teams: tuple[str, ...] = ()
    """Scopes of its teams; the first is the one that ``team`` alone means."""

    project: str = ""
    """Scope of its project; empty: none."""

    is_root: bool = True  # it may write to the global scope, which every caller reads

    is_member: bool = True  # it may see what is private; a visitor may not
    is_owner: bool = False
    """The person whose machine it is, at a shell: they see every scope."""

    is_agent: bool = False
    """It may not do what only a person may decide."""

    is_read_only: bool = False  # it may change nothing
    public_projects: tuple[str, ...] = ()  # scopes that a visitor reads too
    project_problem: str = ""
    """Why it is not known which project is its own; empty: it is known."""

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes that it reads; None: all."""
        if self.is_owner:
            return None
        own = (self.workspace, *self.teams, self.project, *self.public_projects)
        return frozenset({GLOBAL, *(scope for scope in own if scope)})

    @property
    def sees_secrets(self) -> bool:
        """And what is forgotten. A program does not, whatever scopes it sees."""
        return self.is_owner and not self.is_agent

    def may_see(self, visibility: str) -> bool:
        """Return whether it sees a memory of its scopes that says this of itself."""
        return self.is_member or visibility != PRIVATE


OWNER = Caller(is_owner=True)
"""A person at a shell on their own machine."""


def agent_in(environ: Mapping[str, str]) -> str:
    """Return the agent whose shell has an environment; empty: it is a person's.

    >>> agent_in({"CLAUDECODE": "1"}), agent_in({"TERM": "xterm"})
    ('claude', '')
    """
    for name, agent in AGENT_VARIABLES.items():
        marker = environ.get(name, "").strip()
        if marker and marker.casefold() not in {"0", "false"}:
            return agent or marker
    return ""


class ProjectHere:
    """The project that a process is in; looked up only where it matters."""

    def __init__(
        self,
        find: Callable[[bool], str] = lambda _is_write: "",
        caller: Callable[[], Caller] | None = None,
        notice: Callable[[], str] = str,
        known: Callable[[], str] = str,
    ) -> None:
        """Look up nothing yet.

        Args:
            find: Returns its scope, and takes whether something is about to be
                written; empty: there is none, or it was given by name.
            caller: Returns the caller as it is now; None: it stays the same.
            notice: Returns a sentence about another project that may be this one.
            known: Returns its scope if that takes no process; empty: there is none.
        """
        self.find, self.caller, self.notice, self.known = find, caller, notice, known


NO_PROJECT = ProjectHere()


def may_read(caller: Caller, path: str) -> bool:
    """Return whether a caller may read a scope, visibility aside."""
    scopes = caller.scopes
    return scopes is None or scope_of(path) in scopes


def may_write(caller: Caller, path: str) -> bool:
    """Return whether a caller may save a note there.

    It writes where it reads; to the global scope only if ``is_root``.
    """
    if not caller.is_member or not may_read(caller, path):
        return False
    return caller.is_root or caller.is_owner or scope_of(path) != GLOBAL


def access_of(caller: Caller, private_scopes: frozenset[str]) -> Access:
    """Return what a caller may see, as a condition that is part of every query.

    A visitor sees what is public.

    Args:
        caller: Who asks.
        private_scopes: Scopes whose notes are private unless they say otherwise.
    """
    clauses: list[tuple[Requirement, ...]] = []
    if caller.scopes is not None:
        clauses.append((Requirement(field="scope", values=caller.scopes),))
    if not caller.is_member:
        clauses += public_condition(private_scopes)
    return Access(scopes=caller.scopes, condition=tuple(clauses))


def home_scope(caller: Caller) -> str:
    """Return the scope of a write that names none: the narrowest of the caller.

    Its workspace, else its project, else its first team, else the global scope. So
    agents of one project don't find what was written in another.

    Raises:
        ProjectUnknownError: It is not known which project is the caller's.
    """
    if not caller.workspace:
        check_project_known(caller, effect="Nothing was saved")
    return caller.workspace or caller.project or next(iter(caller.teams), GLOBAL)


def check_project_known(caller: Caller, *, effect: str = "") -> None:
    """Raise if it is not known which project a caller belongs to.

    Raises:
        ProjectUnknownError: It is not.
    """
    if caller.project_problem:
        raise ProjectUnknownError(
            caller.project_problem,
            hint="A person can run `hm project list` to see which file it is."
            " Repair it, or run `hm project adopt NAME` in the repository that"
            " it belongs to.",
            effect=effect,
        )


def check_enabled(*, is_enabled: bool, why_read_only: str = "") -> None:
    """Raise if the memory is switched off, or can only be read.

    Raises:
        UsageError: It is; nothing was saved.
    """
    if why_read_only:
        raise UsageError(why_read_only, effect="Nothing was saved")
    if not is_enabled:
        raise UsageError(
            "the memory is switched off (`enabled` is false).",
            effect="Nothing was saved",
            hint="`hm config set enabled true` switches it on",
        )


def check_owner(caller: Caller, what: str) -> None:
    """Raise unless a caller sees the whole memory.

    Args:
        caller: Who asks.
        what: What describes the whole memory, such as a command.

    Raises:
        UsageError: It is not, and *what* covers all of it.
    """
    if not caller.is_owner:
        raise UsageError(
            f"{what} covers the whole memory; you can only see part of it here.",
            hint=_hint(caller),
        )


SEE_ALL = "To see all, unset HIVEMIND_WORKSPACE, HIVEMIND_TEAM, HIVEMIND_PROJECT."
_ASK_PERSON = (
    "This is an agent's shell (CLAUDECODE or a variable like it is set); ask a person"
    " to run it in a terminal."
)


def check_person(caller: Caller, what: str) -> None:
    """Raise if a caller is an agent: *what* is for a person to decide.

    Raises:
        PersonOnlyError: It is one.
    """
    if caller.is_agent:
        said = f"{what} is for a person to decide."
        if what.startswith("hm "):
            said = f"Only a person may run {what}."
        raise PersonOnlyError(said, hint=_ASK_PERSON, effect="Nothing was changed")


def unseen_folder(caller: Caller, folder: str) -> ScopeError:
    """Return the error for a folder whose project a caller does not see.

    It names neither the project nor whether there is one.
    """
    message = f"{folder} is not in a project of this session."
    return ScopeError(message, hint=_hint(caller))


def _hint(caller: Caller) -> str:
    """Return how a caller gets to see more."""
    return _ASK_PERSON if caller.is_agent else SEE_ALL


def check_source(caller: Caller, source: str) -> None:
    """Raise if an agent says that a person wrote something.

    Raises:
        UsageError: It does.
    """
    if caller.is_agent and source == HUMAN:
        raise UsageError(
            "An agent cannot save under --source human.",
            hint="Leave --source out.",
            effect="Nothing was saved",
        )


def check_readable(caller: Caller, path: NotePath) -> None:
    """Raise the error of a missing note if a caller may not read it.

    Visitors read no whole notes, for visibility is a matter of single memories.

    Raises:
        NoteNotFoundError: The caller sees no such note.
    """
    if caller.is_member and may_read(caller, path):
        return
    from hivemind_memory.files.errors import read_error

    # The same message as for a note that does not exist.
    raise read_error(path, FileNotFoundError())


def check_writable(
    caller: Caller, path: NotePath, effect: str = "", *, source: str = HUMAN
) -> None:
    """Raise if a caller may not save to a note, whether it is there or not.

    Args:
        caller: Who writes, edits or links.
        path: The note that would change.
        effect: What was not done, for the error.
        source: Who says so. Only the owner changes replaced versions by hand.

    Raises:
        NotSavedError: It is outside the caller's scopes, or a replaced version.
    """
    if may_write(caller, path):
        is_person = caller.is_owner and source == HUMAN
        if place_in_scope(path) == SUPERSEDED and not is_person:
            raise NotSavedError(
                "replaced versions are kept there.",
                hint="Save the memory under its key with a reason.",
                effect=effect or f"Nothing was saved to {path}",
            )
        return
    scope = scope_of(path)
    where = "the global memory" if scope == GLOBAL else scope
    raise NotWritableError(
        f"you cannot write to {where} from here.",
        hint="Leave out the file and scope, or name one of your own.",
        effect=effect or f"Nothing was saved to {path}",
    )
