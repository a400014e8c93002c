"""hm inject and eject: add a section to an agent's file, and remove it."""

from __future__ import annotations

import os

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.confirm import is_sure
from hivemind_memory.cli.options import DRY_RUN, JSON, WORKTREE, YES
from hivemind_memory.cli.output import (
    is_person,
    print_json,
    print_notices,
    print_once,
    write_stdout,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.errors import HivemindError, ScopeError, UsageError
from hivemind_memory.model.display import count_text, escape_line, escape_text
from hivemind_memory.model.injection_outcomes import (
    OFF,
    PLANNED,
    UNCHANGED,
    WITHOUT_MEMORIES,
)
from hivemind_memory.model.value import as_dict, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.model.injection import EjectionResult, InjectionResult

ADDED_TO_GIT = (
    "filters and two hooks in this repository's .git keep the section out of commits"
    " and pushes: `hm eject` removes them"
)
"""Said after the first injection into a repository."""

_MAX_LEFTOVERS = 10
"""What is shown of what keeps git's settings; JSON has all."""


@command(
    "inject",
    description=(
        "The section is placed between two marker lines; every other byte of the file"
        " is kept, and git sees no change: no status, diff or commit shows it. If the"
        " memories are the same, nothing is written. hm why shows what was chosen."
        " The first section in a repository adds two clean filters,"
        " core.attributesFile and the hooks pre-push and reference-transaction to .git,"
        " which keep sections out of commits and pushes; hm eject removes them. On a"
        " terminal it asks before it adds them. Outside a git repository and in your"
        " home folder it always asks."
    ),
    arguments=(WORKTREE,),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent that will read it: claude (the default), codex, gemini,"
            " opencode, qwen, cursor, aider or another.",
            metavar="NAME",
            completes="agents",
        ),
        DRY_RUN,
        YES,
        Flag(("--off",), "flag", "Never inject into this repository again."),
        Flag(("--on",), "flag", "Inject into this repository again."),
        JSON,
    ),
    examples=("hm inject", "hm inject --agent codex ~/code/shop"),
)
def inject(request: CommandRequest) -> int:
    """Inject into a worktree, or turn that off or on."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_person
    from hivemind_memory.inject.commit_guard import GIT_ADDITIONS
    from hivemind_memory.inject.injection_record import record_of
    from hivemind_memory.model.agents import check_agent

    values = request.values
    check_agent(values["agent"] or "")
    if values["off"] and values["on"]:
        raise UsageError("--off and --on cannot be combined.")
    worktree = values["worktree"] or os.curdir
    with request.open_memory() as memory:
        opening.check_worktree(memory, worktree)
        injector = opening.open_injector(memory)
        if values["off"] or values["on"]:
            option = "--on" if values["on"] else "--off"
            check_person(memory.caller, f"hm inject {option}")
            ejection = injector.switch(worktree, is_on=values["on"])
            place, other = (
                injector.root_of(worktree),
                "--off" if values["on"] else "--on",
            )
            record_command(request, ("inject", option, place), ("inject", other, place))
            return _show_switch(ejection, as_json=values["json"])
        if not (values["dry_run"] or values["yes"]):
            doubt = injector.doubt_about(worktree)
            refusal = f"Nothing was injected: {doubt}"
            if doubt and not is_sure(
                f"{doubt}. Inject there?", refusal, remedy="pass --yes to inject anyway"
            ):
                return 1
        agent, is_dry_run = values["agent"] or "", values["dry_run"]
        is_agreed = is_dry_run or values["yes"] or values["json"] or not is_person()
        if not is_agreed and not _may_change_git(injector, worktree, agent):
            return 1
        done = injector.inject(worktree, agent=agent, is_dry_run=is_dry_run)
        if not is_agreed:
            done = replaced(done, is_first=False)  # it was asked about
    if done.is_first and not is_dry_run:  # later ones only update the section
        record_command(request, ("inject", done.worktree), ("eject", done.worktree))
    if values["json"]:
        record = record_of(done, "")
        del record["at"]
        print_json(
            {
                **record,
                "section": done.planned.body,
                "adds_to_git": GIT_ADDITIONS if done.is_first else (),
            }
        )
        return 0
    if done.outcome == PLANNED:
        write_stdout(escape_text(done.planned.body) + "\n" if done.planned.body else "")
    else:
        write_stdout(f"{sentence(done)}\n")
    print_once(_notices(done))
    return 0


def _may_change_git(injector: Injector, worktree: str, agent: str) -> bool:
    """Ask a person before the first section of a repository changes its git folder."""
    planned = injector.inject(worktree, agent=agent, is_dry_run=True)
    if not planned.is_first:
        return True
    print_notices(_git_additions())
    return is_sure(
        f"Write {escape_line(planned.file)} and change .git?", "Nothing was injected"
    )


def _git_additions() -> Iterable[str]:
    """Yield what the first section in a repository adds to its git folder."""
    from hivemind_memory.inject.commit_guard import GIT_ADDITIONS

    yield (
        "To keep sections out of commits and pushes, the first one in this repository"
        " adds these to its .git:"
    )
    yield from (f"  - {addition}" for addition in GIT_ADDITIONS)
    yield "None of it is committed or pushed; `hm eject` removes it."


@command(
    "eject",
    arguments=(WORKTREE,),
    flags=(
        Flag(
            ("--all",),
            "flag",
            "Remove every section that hm has injected. Run this before you uninstall"
            " hm.",
        ),
        JSON,
    ),
    examples=("hm eject", "hm eject --all"),
)
def eject(request: CommandRequest) -> int:
    """Remove the section and restore git's settings."""
    from hivemind_memory import opening

    if request.values["all"]:
        return _eject_all(request)
    worktree = request.values["worktree"] or os.curdir
    with request.open_memory() as memory:
        opening.check_worktree(memory, worktree)
        injector = opening.open_injector(memory)
        done = injector.eject(worktree)
    if done.files:
        place = done.worktree
        record_command(request, ("eject", place), ("inject", place))
    if request.values["json"]:
        print_json(as_dict(done))
    else:
        _show_ejection(done)
    return int(bool(done.leftovers))


def _eject_all(request: CommandRequest) -> int:
    """Eject from every worktree that is still there."""
    from hivemind_memory import opening
    from hivemind_memory.access.rules import check_person

    if request.values["worktree"]:
        raise UsageError("--all and a worktree cannot be combined.")
    ejections: list[EjectionResult] = []
    failed: dict[str, str] = {}
    with request.open_memory() as memory:
        check_person(memory.caller, "hm eject --all")
        injector = opening.open_injector(memory)
        for worktree in injector.worktrees():
            try:
                opening.check_worktree(memory, worktree)
                ejections.append(injector.eject(worktree))
            except ScopeError:
                continue  # of another project, which this caller does not see
            except HivemindError as error:
                failed[worktree] = str(error)
    if any(done.files for done in ejections):
        record_command(request, ("eject", "--all"))
    if request.values["json"]:
        print_json({"ejections": list(map(as_dict, ejections)), "failed": failed})
        return int(bool(failed) or any(done.leftovers for done in ejections))
    told = [done for done in ejections if done.files or done.warnings or done.leftovers]
    if not told and not failed:
        write_stdout("There is no section to remove.\n")
    for ejection in told:
        write_stdout(f"{escape_line(ejection.worktree)}:\n")
        _show_ejection(ejection)
    print_notices([f"{worktree}: {why}" for worktree, why in failed.items()])
    return int(bool(failed) or any(done.leftovers for done in ejections))


def _show_switch(ejection: EjectionResult | None, *, as_json: bool) -> int:
    """Say that injection was turned off or on for a repository."""
    is_on = ejection is None
    if as_json:
        print_json({"is_on": is_on, **(as_dict(ejection) if ejection else {})})
    elif ejection is None:
        write_stdout("On: hm inject writes into this repository again.\n")
    else:
        write_stdout("Off: hm inject writes nothing into this repository.\n")
        _show_ejection(ejection)
    return int(ejection is not None and bool(ejection.leftovers))


def _show_ejection(done: EjectionResult) -> None:
    """Say what was removed."""
    for file in done.files:
        write_stdout(f"{escape_line(file)}: section removed\n")
    if not done.files:
        write_stdout("There is no section to remove.\n")
    notices = list(done.warnings)
    if done.leftovers:
        shown = done.leftovers[:_MAX_LEFTOVERS]
        notices += shown
        if more := len(done.leftovers) - len(shown):
            notices.append(f"and {more:,} more: `hm eject --json` lists them")
        notices.append(
            "hm's filter and hooks stay, to keep the section out of commits: do the"
            " above, then run `hm eject` again"
        )
    elif not done.is_git_restored:
        notices.append(
            "left hm's filters and hooks in place: another worktree still has a section"
        )
    print_notices(notices)


def sentence(done: InjectionResult) -> str:
    """Return what an injection did."""
    if done.outcome == OFF:
        return "off for this repository: `hm inject --on` turns it on"
    if done.outcome in WITHOUT_MEMORIES:
        what = "section removed" if done.file else "nothing to inject"
        place = f"{escape_line(done.file)}: " if done.file else ""
        return f"{place}{what}: {done.planned.why_empty}"
    excerpts = done.planned.choice.excerpts
    count = count_text(len(excerpts), "memory", "memories")
    what = "unchanged, " if done.outcome == UNCHANGED else ""
    tokens = f"about {done.planned.tokens} tokens"
    return f"{escape_line(done.file)}: {what}{count}, {tokens}"


def _plan(done: InjectionResult) -> str:
    """Return what an injection would do."""
    if done.planned.why_empty:
        return f"would write nothing: {done.planned.why_empty}"
    excerpts = done.planned.choice.excerpts
    count = count_text(len(excerpts), "memory", "memories")
    tokens = f"about {done.planned.tokens} tokens"
    return f"would write {count} ({tokens}) to {escape_line(done.file)}"


def _notices(done: InjectionResult) -> Iterable[str]:
    """Return what else a person should know about an injection."""
    if done.outcome == PLANNED:
        yield f"dry run: {_plan(done)}"
    choice = done.planned.choice
    if choice.left_out_count:
        count = count_text(choice.left_out_count, "memory", "memories")
        more = "more than " if choice.has_more else ""
        if done.outcome == PLANNED:
            yield f"{more}{count} left out; `hm inject --dry-run --json` says why"
        else:
            yield f"{more}{count} left out; see `hm why`"
    if done.is_first and done.outcome == PLANNED:
        yield from _git_additions()
    elif done.is_first:
        yield ADDED_TO_GIT
    yield from done.warnings
    yield from done.planned.warnings
