"""hm skill: makes skills of memories, keeps them up to date, and removes them."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import DRY_RUN, JSON, SCOPE
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    print_table,
    write_stdout,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.model.display import count_text, escape_text
from hivemind_memory.model.keys import operand
from hivemind_memory.model.skills import SYNC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.uses import OfferedSkill
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.skills import (
        PromotedSkill,
        SkillInfo,
        SkillSync,
        SyncedCopy,
    )

_SEE_LIST = "hm skill list"
_NAME = Argument("name", "Name of the skill, or key of its memory.")


@command(
    "skill promote",
    description=(
        "Writes the memory as a SKILL.md into .claude/skills and .agents/skills of this"
        " worktree, where Claude Code, Codex, Gemini CLI, OpenCode, Cursor and others"
        " read it; git ignores the folder. With --user it goes into your home folder,"
        " for every project; only a global memory can. The memory must be active and"
        " trusted, and have at least two numbered steps. An existing skill or command"
        " is never replaced. This is for a person to decide; agents cannot run it."
    ),
    arguments=(Argument("ref", "Key, id or path of the memory.", completes="keys"),),
    flags=(
        Flag(
            ("--name",),
            "text",
            "Name of the skill (made from the key).",
            metavar="NAME",
        ),
        Flag(
            ("--description",),
            "text",
            "What it does and when to use it; agents choose by this.",
            metavar="TEXT",
        ),
        Flag(
            ("--to",),
            "text",
            "Only .claude/skills (claude) or .agents/skills (codex).",
            choices=("claude", "codex", "all"),
        ),
        Flag(("--user",), "flag", "In your home folder, for every project."),
        SCOPE,
        DRY_RUN,
        JSON,
    ),
    examples=(
        "hm skill promote deploy-shop",
        "hm skill promote deploy-shop --dry-run",
        "hm skill promote release --user --to claude",
    ),
)
def promote(request: CommandRequest) -> int:
    """Turn a memory into a skill."""
    from hivemind_memory import opening
    from hivemind_memory.model.skills import TO_ALL, SkillRequest

    values = request.values
    with request.open_memory() as memory:
        done = opening.open_skills(memory).promote(
            SkillRequest(
                ref=values["ref"],
                scope=values["scope"] or "",
                name=values["name"] or "",
                description=values["description"] or "",
                to=values["to"] or TO_ALL,
                is_for_user=values["user"],
                is_dry_run=values["dry_run"],
            )
        )
    if done.written and not done.is_dry_run:
        record_command(request, ("skill", "promote"))
    if values["json"]:
        print_json(done)
        return 0
    verb = "would write" if done.is_dry_run else "wrote"
    for file in done.written:
        print_line(f"{verb} {file}", keep=[file])
    for copy in done.synced:
        print_line(f"{copy.file}: {copy.outcome}{_why(copy)}", keep=[copy.file])
    synced = {copy.file for copy in done.synced}
    for file in done.already:
        if file not in synced:
            print_line(f"unchanged: {file}", keep=[file])
    if done.is_dry_run:
        write_stdout(f"\n{escape_text(done.text)}")
    print_notices(_after_promotion(done))
    return 0


@command(
    "skill list",
    description=(
        "Also lists the memories that were applied often enough to become skills: see"
        " hm used."
    ),
    flags=(JSON,),
)
def list_(request: CommandRequest) -> int:
    """List the skills."""
    from hivemind_memory import opening

    with request.open_memory() as memory:
        found = opening.open_skills(memory).list()
        offers = memory.curation.uses(memory.settings.skill_uses).offers()
    if request.values["json"]:
        print_json({"skills": found, "offered": list(map(_offer_row, offers))})
        return 0
    print_table(
        ("name", "memory", "version", "copies", "state"),
        [
            (
                skill.name,
                skill.path or skill.key,
                str(skill.version),
                str(len(skill.places)),
                _state_text(skill),
            )
            for skill in found
        ],
        is_cut=True,
    )
    for offer in offers:
        print_line(_offer_text(offer))
    if not found and not offers:
        print_notices(["no skills yet; `hm skill promote KEY` turns a memory into one"])
    return 0


@command(
    "skill show",
    description="Prints the state of each copy, and the memory's current SKILL.md.",
    arguments=(_NAME,),
    flags=(SCOPE, JSON),
    examples=("hm skill show deploy-shop",),
)
def show(request: CommandRequest) -> int:
    """Show a skill."""
    from hivemind_memory import opening

    values = request.values
    with request.open_memory() as memory:
        skill = opening.open_skills(memory).show(
            values["name"], scope=values["scope"] or ""
        )
    if values["json"]:
        print_json(skill)
        return 0
    for place in skill.places:
        print_line(f"{place.file}: {place.state}", keep=[place.file])
    if skill.text:
        write_stdout(f"\n{escape_text(skill.text)}")
    if skill.problem:
        print_notices([f"{skill.problem}: `{skill.hint}`"])
    return 0


@command(
    "skill sync",
    description=(
        "Rewrites each skill whose memory has changed, adds this repository's skills to"
        " this worktree, and removes those whose memory is forgotten. Your edits to a"
        " copy are kept: merged with the new text, or left alone if both change the"
        " same lines. Exits with 1 if something needs your attention."
    ),
    arguments=(
        Argument(
            "name",
            "Name of one skill (all of them).",
            is_required=False,
        ),
    ),
    flags=(
        Flag(
            ("--edited",),
            "text",
            "keep: leave edited copies in conflict as they are; replace:"
            " overwrite all edited copies.",
            choices=("keep", "replace"),
        ),
        SCOPE,
        DRY_RUN,
        JSON,
    ),
    examples=("hm skill sync", "hm skill sync deploy-shop --edited keep"),
)
def sync(request: CommandRequest) -> int:
    """Update skills."""
    from hivemind_memory import opening

    values = request.values
    with request.open_memory() as memory:
        done = opening.open_skills(memory).sync(
            values["name"] or "",
            scope=values["scope"] or "",
            edited=values["edited"] or "",
            is_dry_run=values["dry_run"],
        )
    if values["json"]:
        print_json(done)
    else:
        _print_sync(done)
    return 0 if done.is_complete else 1


@command(
    "skill demote",
    description=(
        "Removes the skill's files and the folders made for them; the memory stays. An"
        " edited copy is removed only with --discard-edits. This is for a person to"
        " decide; agents cannot run it."
    ),
    arguments=(_NAME,),
    flags=(
        Flag(("--discard-edits",), "flag", "Remove edited copies, too."),
        SCOPE,
        JSON,
    ),
    examples=("hm skill demote deploy-shop",),
)
def demote(request: CommandRequest) -> int:
    """Take a skill back."""
    from hivemind_memory import opening

    values = request.values
    with request.open_memory() as memory:
        removed = opening.open_skills(memory).demote(
            values["name"],
            scope=values["scope"] or "",
            discards_edits=values["discard_edits"],
        )
    record_command(request, ("skill", "demote"))
    if values["json"]:
        print_json({"removed": removed})
        return 0
    for file in removed:
        print_line(f"removed {file}", keep=[file])
    if not removed:
        print_notices(["demoted; its files were already gone"])
    return 0


def status_of_skills(memory: Memory) -> list[str]:
    """Return what ``hm status`` says of skills; nothing if there is nothing to say."""
    from hivemind_memory import opening
    from hivemind_memory.errors import HivemindError, StateTooNewError

    try:
        found = opening.open_skills(memory).list()
        offers = memory.curation.uses(memory.settings.skill_uses).offers()
    except StateTooNewError:
        return []  # said once, for all that is missing without it
    except HivemindError as error:
        return [str(error)]
    lines = []
    if found:
        outdated = [skill for skill in found if skill.problem]
        hint = next((skill.hint for skill in outdated if skill.hint == SYNC), _SEE_LIST)
        more = f"{len(outdated)} out of date: `{hint}`" if outdated else ""
        lines = [", ".join((f"{len(found):,}", more or "up to date"))]
    return [*lines, *map(_offer_text, offers)]


def _after_promotion(done: PromotedSkill) -> Iterator[str]:
    """Yield what a person should know of a promotion."""
    if done.is_dry_run:
        return
    if done.late_folders:
        yield (
            "the skills folder is new: running agents see it after a restart,"
            " Claude Code after /reload-skills"
        )
    if done.written:
        yield f"`hm skill demote {quote(done.name)}` removes it"


def _print_sync(done: SkillSync) -> None:
    """Print what a sync did."""
    for copy in done.copies:
        outcome = copy.outcome
        if done.is_dry_run and outcome in ("written", "merged", "kept", "taken away"):
            outcome = f"would be {outcome}"
        print_line(f"{copy.file}: {outcome}{_why(copy)}", keep=[copy.file])
    if not done.copies and not done.problems:
        print_notices(["no skills; `hm skill promote KEY` turns a memory into one"])
    print_notices(done.problems)


def _why(copy: SyncedCopy) -> str:
    """Return the reason of an outcome, as it follows it."""
    return f" ({copy.why})" if copy.why else ""


def _state_text(skill: SkillInfo) -> str:
    """Return the state of a skill in a few words."""
    if skill.problem:
        return f"{skill.problem}: `{skill.hint}`"
    return "up to date, edited" if skill.is_edited else "up to date"


def _offer_row(offer: OfferedSkill) -> dict[str, object]:
    """Return an offer as JSON shows it."""
    return {
        "key": offer.memory.key,
        "path": offer.memory.path,
        "applied": offer.counts.applied,
        "days": offer.counts.days,
    }


def _offer_text(offer: OfferedSkill) -> str:
    """Return an offer in a sentence."""
    sessions = count_text(offer.counts.applied, "session")
    days = count_text(offer.counts.days, "day")
    return (
        f"{offer.memory.path} was applied in {sessions} on {days}:"
        f" `hm skill promote {operand(offer.memory.key)}`"
    )
