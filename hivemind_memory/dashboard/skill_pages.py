"""The pages of skills: which there are, what each says, make one, remove one.

A skill is made and removed by a person, as ``hm skill`` has it.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlencode

from hivemind_memory import opening
from hivemind_memory.dashboard.memory_pages import without_secrets
from hivemind_memory.dashboard.page import ROOT, Page, PageCall, PageGroup, Redirect
from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.http_api.failures import Failure
from hivemind_memory.inject.told_worktrees import list_told
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.scope import scope_text
from hivemind_memory.model.skills import PromotedSkill, SkillRequest

SKILLS = f"{ROOT}/skills"
USER = "user"
"""The place of a skill for every project."""

_NOT_A_PERSON = Failure(
    403,
    "Skills are for a person to make and remove. Nothing was changed.",
    hint="`hm dashboard` logs you in as one.",
)

pages = PageGroup()


@pages.get("/skills")
def skills(call: PageCall) -> Page:
    """List the skills, and what was applied often enough to become one."""
    _check_member(call)
    try:
        found = opening.open_skills(call.memory).list()
        least = call.memory.settings.skill_uses
        offers = call.memory.curation.uses(least).offers()
    except NotesMissingError:
        found, offers = [], []
    values = {
        "skills": [(skill, _address(skill.name, skill.scope)) for skill in found],
        "offers": offers,
    }
    return Page(template="skills.html", values=values)


@pages.get("/skills/show")
def show(call: PageCall) -> Page:
    """Show a skill: its text, its copies and how each is."""
    _check_member(call)
    skill = opening.open_skills(call.memory).show(
        call.query.get("name", ""), scope=call.query.get("scope", "")
    )
    return Page(template="skill.html", values={"skill": skill})


@pages.post("/skills/demote")
def demote(call: PageCall) -> Redirect:
    """Remove the files of a skill; its memory stays."""
    _check_person(call)
    removed = opening.open_skills(call.memory).demote(
        call.form.get("name", ""),
        scope=call.form.get("scope", ""),
        discards_edits=bool(call.form.get("discard")),
    )
    files = ", ".join(removed) or "its files were already gone"
    return Redirect(path=SKILLS, notice=f"Removed: {files}. The memory stays.")


@pages.get("/{id}/promote")
def plan_promotion(call: PageCall) -> Page:
    """Show what a memory would be as a skill, and where it may go."""
    _check_person(call)
    return _form(call)


@pages.post("/{id}/promote")
def promote(call: PageCall) -> Page | Redirect:
    """Make a memory a skill."""
    _check_person(call)
    place = call.form.get("place", "")
    if place not in _places(call, call.memory.curation.show(call.path["id"]).memory):
        raise Failure(400, "Choose one of the places. Nothing was promoted.")
    try:
        done = _promoted(call, place, is_dry_run=False)
    except HivemindError as error:
        return _form(call, problem=f"{error} {error.hint}".strip())
    notice = f"Written: {', '.join(done.written) or 'it was there already'}."
    if done.late_folders:
        notice += (
            " The skills folder is new: running agents see it after a restart,"
            " Claude Code after /reload-skills."
        )
    return Redirect(path=SKILLS, notice=notice)


def _promoted(call: PageCall, place: str, *, is_dry_run: bool) -> PromotedSkill:
    """Make a memory a skill, or return what that would be."""
    folder = "" if place == USER else place
    return opening.open_skills(call.memory, folder).promote(
        SkillRequest(
            ref=call.path["id"],
            name=call.form.get("name", "").strip(),
            description=call.form.get("description", "").strip(),
            is_for_user=place == USER,
            is_dry_run=is_dry_run,
        )
    )


def _form(call: PageCall, problem: str = "") -> Page:
    """Return the page that asks where a skill is to go."""
    memory = call.memory.curation.show(call.path["id"]).memory
    places = _places(call, memory)
    text, chosen = "", call.form.get("place", "") or next(iter(places), "")
    if not problem and chosen:
        try:
            text = _promoted(call, chosen, is_dry_run=True).text
        except HivemindError as error:
            problem = f"{error} {error.hint}".strip()
    typed = {name: call.form.get(name, "") for name in ("name", "description")}
    values: dict[str, Any] = {
        "memory": without_secrets(memory),
        "places": places,
        "chosen": chosen,
        "problem": problem,
        "text": text,
        "typed": typed,
    }
    return Page(template="promote.html", values=values, status=409 if problem else 200)


def _places(call: PageCall, memory: StoredMemory) -> dict[str, str]:
    """Return the places for a skill, with what each is called."""
    places = {}
    if not memory.scope:
        places[USER] = "your home folder, for every project"
    for record in list_told(call.memory):
        worktree = str(record["worktree"])
        if os.path.isdir(worktree):
            places[worktree] = worktree
    return places


def _address(name: str, scope: str) -> str:
    """Return the page of a skill; one for every project names its scope, too."""
    return f"{SKILLS}/show?{urlencode({'name': name, 'scope': scope_text(scope)})}"


def _check_member(call: PageCall) -> None:
    """Raise the failure of a page that is not there for a visitor."""
    if not call.memory.caller.is_member:
        raise Failure(404, "")


def _check_person(call: PageCall) -> None:
    """Raise unless a person asks."""
    if not call.client.is_person:
        raise _NOT_A_PERSON
