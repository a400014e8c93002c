"""Checks the options that have parts, or name a file: a function each, in the table.

Each takes the value and returns a sentence about the first thing in it that is not
allowed, or nothing. Imported only when such an option is set.
"""

from __future__ import annotations

import json
import os
import shlex

from hivemind_memory.config.option import is_writable
from hivemind_memory.model.agents import (
    RULES_FOLDER,
    TRANSCRIPT_SOURCES,
    list_names,
    sources_named,
)
from hivemind_memory.model.memory_types import INJECTED
from hivemind_memory.model.scope import (
    FOLDERS,
    place_in_scope,
    slug_problem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def check_agents(agents: Mapping[str, object]) -> str:
    """Return what is wrong with a table of agents: name -> command.

    >>> check_agents({"quick": "claude --model haiku", "pi": ["pi", "--fast"]})
    ''
    >>> check_agents({"pi": "pi 'fast"})
    'The command of "pi" has an unclosed quote.'
    """
    for name, command in agents.items():
        shown = json.dumps(name, ensure_ascii=False)
        is_word = name.isprintable() and not any(letter.isspace() for letter in name)
        if not name or not is_word or name.startswith("-"):
            return f"{shown} cannot name an agent: use one word without a leading dash."
        complaint = _command_complaint(command)
        if complaint:
            return f"The command of {shown} {complaint}."
    return ""


def _command_complaint(command: object) -> str:
    """Return what is wrong with a command, as the end of a sentence."""
    words = command
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError:
            return "has an unclosed quote"
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return "must be a string or a list of strings"
    if not words or not words[0].strip():
        return "is empty"
    return (
        ""
        if all(map(is_writable, words))
        else "contains a character that a command line cannot hold"
    )


def check_types(types: Mapping[str, object]) -> str:
    """Return what is wrong with a table of types: name -> what it means.

    >>> check_types({"runbook": {"ages": False, "importance": 0.6}})
    ''
    """
    for name, meaning in types.items():
        shown = json.dumps(name, ensure_ascii=False)
        if not name.isidentifier() or name != name.lower():
            return f"{shown} cannot name a type: use one lowercase word."
        if not isinstance(meaning, dict):
            return f"The type {shown} must be an object, such as {{}}."
        unknown = meaning.keys() - {"importance", "ages", "injected", "aliases"}
        if unknown:
            return f"The type {shown} has no {min(unknown)}."
        complaint = _type_complaint(meaning)
        if complaint:
            return f"The type {shown} {complaint}."
    return ""


def check_projects(projects: Mapping[str, object]) -> str:
    """Return what is wrong with a table of projects: name of its folder -> what it is.

    >>> check_projects({"shop": {"identity": "github.com/me/shop"}})
    ''
    """
    for slug, project in projects.items():
        complaint = _scope_complaint(
            "project", slug, project, {"identity", "visibility"}
        )
        if complaint:
            return complaint
        assert isinstance(project, dict)  # noqa: S101 - it was just looked at
        if not isinstance(project.get("identity", ""), str):
            return f"The identity of the project {slug} must be a string."
        if project.get("visibility", "public") not in ("public", "private"):
            return f"The visibility of the project {slug} must be public or private."
    return ""


def check_workspaces(workspaces: Mapping[str, object]) -> str:
    """Return what is wrong with a tree of workspaces: name -> parent and teams.

    >>> check_workspaces({"web": {"parent": "web"}})
    'The workspace web is its own ancestor.'
    """
    for slug, workspace in workspaces.items():
        complaint = _scope_complaint("workspace", slug, workspace, {"parent", "teams"})
        if complaint:
            return complaint
        assert isinstance(workspace, dict)  # noqa: S101 - it was just looked at
        teams = workspace.get("teams", [])
        if not isinstance(teams, list) or any(_slug_complaint(team) for team in teams):
            return f"The teams of the workspace {slug} must be a list of names."
        if _slug_complaint(workspace.get("parent", slug)):
            return f"The parent of the workspace {slug} must be a name."
    return next(
        (
            f"The workspace {slug} is its own ancestor."
            for slug in workspaces
            if _is_own_ancestor(slug, workspaces)
        ),
        "",
    )


def check_sources(names: str) -> str:
    """Return what is wrong with a list of agents whose transcripts are read.

    >>> check_sources("claude, codex")
    ''
    >>> check_sources("claude,cursor")[:43]
    'The transcripts of "cursor" cannot be read;'
    """
    unknown = [name for name in sources_named(names) if name not in TRANSCRIPT_SOURCES]
    if not unknown:
        return ""
    shown = json.dumps(unknown[0], ensure_ascii=False)
    known = list_names(TRANSCRIPT_SOURCES)
    return f"The transcripts of {shown} cannot be read; those of {known} can."


def check_links(links: Mapping[str, object]) -> str:
    """Return what is wrong with a table of links: path below the notes -> folder.

    >>> check_links({"team": "/srv/team-notes", "projects/shop/docs": "/srv/shop"})
    ''
    """
    for path, target in links.items():
        shown = json.dumps(path, ensure_ascii=False)
        parts = path.split("/")
        if any(not part or part.startswith(".") for part in parts):
            return f"{shown} is not the path of a link below the notes folder."
        is_scope = parts[0].casefold() in FOLDERS.values() and len(parts) < 3
        if is_scope or place_in_scope(f"{path}/a.md"):
            return f"{shown} cannot be a link: notes are written there."
        is_whole = isinstance(target, str) and target == os.path.normpath(target)
        if not is_whole or not os.path.isabs(str(target)):
            return f"{shown} must name an absolute path, such as /srv/team-notes."
    return ""


def check_index_dir(folder: str) -> str:
    """Return what is wrong with the folder of the index.

    A relative one would be another folder wherever a command is run.

    >>> check_index_dir("~/.cache/hivemind"), check_index_dir("/var/cache/hm")
    ('', '')
    """
    if not folder or os.path.isabs(os.path.expanduser(folder)):
        return ""
    shown = json.dumps(folder, ensure_ascii=False)
    return f"{shown} is not an absolute path, such as ~/.cache/hivemind."


def check_target(setting: str) -> str:
    """Return what is wrong with the file for the injected section.

    >>> check_target("docs/AGENTS.md"), check_target(".claude/rules/")
    ('', '')
    >>> check_target("../notes.md")
    '"../notes.md" is not a file inside a worktree, such as AGENTS.md.'
    """
    parts = setting.replace("\\", "/").removesuffix("/").split("/")
    is_folder = setting.endswith("/") and setting != RULES_FOLDER
    is_odd = is_folder or any(
        not part or part in (".", "..") or part.lower() == ".git" for part in parts
    )
    # ~ would create a folder of that name, which is not what the user means.
    if is_odd or ":" in parts[0] or parts[0].startswith("~") or "\n" in setting:
        shown = json.dumps(setting, ensure_ascii=False)
        return f"{shown} is not a file inside a worktree, such as AGENTS.md."
    return ""


def _type_complaint(meaning: Mapping[str, object]) -> str:
    """Return what is wrong with the description of a type, as a clause."""
    importance = meaning.get("importance", 0.5)
    is_number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if not is_number or not 0 <= importance <= 1:  # type: ignore[operator]
        return "needs a number from 0 to 1 for importance"
    if not isinstance(meaning.get("ages", True), bool):
        return "needs true or false for ages"
    if meaning.get("injected", "relevant") not in INJECTED:
        return f"needs one of {', '.join(INJECTED)} for injected"
    aliases = meaning.get("aliases", [])
    if not isinstance(aliases, list) or not all(
        isinstance(alias, str) for alias in aliases
    ):
        return "needs a list of words for aliases"
    return ""


def _scope_complaint(kind: str, slug: str, meaning: object, keys: set[str]) -> str:
    """Return what is wrong with the name or the description of a scope."""
    complaint = _slug_complaint(slug)
    if complaint:
        shown = json.dumps(slug, ensure_ascii=False)
        return f"{shown} cannot be the name of a {kind}: {complaint}."
    if not isinstance(meaning, dict):
        return f"The {kind} {slug} must be an object, such as {{}}."
    unknown = meaning.keys() - keys
    return f"The {kind} {slug} has no {min(unknown)}." if unknown else ""


def _slug_complaint(slug: object) -> str:
    """Return why something cannot name a scope, as a clause."""
    return slug_problem(slug) if isinstance(slug, str) else "it is not a string"


def _is_own_ancestor(slug: str, workspaces: Mapping[str, object]) -> bool:
    """Whether the parents of a workspace lead in a circle."""
    seen: set[object] = set()
    at: object = slug
    while isinstance(at, str) and at not in seen:
        seen.add(at)
        workspace = workspaces.get(at)
        at = workspace.get("parent") if isinstance(workspace, dict) else None
    return at is not None
