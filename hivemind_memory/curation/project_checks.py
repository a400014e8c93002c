"""The checks before a project is renamed or merged."""

from __future__ import annotations

import json
from shlex import quote

from hivemind_memory.access.visibility import PRIVATE
from hivemind_memory.errors import UsageError
from hivemind_memory.model.keys import closest, folded_key, no_such, operand
from hivemind_memory.model.memories import ACTIVE, PENDING
from hivemind_memory.model.scope import FOLDERS, make_scope
from hivemind_memory.projects.known_project import IDENTITY_FILE
from hivemind_memory.projects.record_file import read_record
from hivemind_memory.redaction import holds_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.curation.context import CurationContext

_ABOVE = FOLDERS["project"]


def missing_project(name: str, names: Iterable[str]) -> UsageError:
    """Return the error that there is no such project among *names*."""
    hint = f"{_meant(name, names)}`hm project list` shows them."
    return UsageError(no_such("project", name), hint=hint)


def _meant(name: str, names: Iterable[str]) -> str:
    """Return the question whether another project was meant; empty: none is near."""
    near = closest(name, names)
    return f"Did you mean {near[0]}? " if near else ""


def check_options(projects: Mapping[str, object], source: str, target: str) -> None:
    """Raise if config.json says of a project what would not hold for its new name.

    Args:
        projects: The option ``projects``.
        source: The project that gets another name.
        target: The other name.

    Raises:
        UsageError: It says which repository it is, or that it is private: under another
            name, models and visitors would get what is in it.
    """
    named = (projects.get(name) for name in (source, target))
    own, other = (found if isinstance(found, dict) else {} for found in named)
    effect = "Nothing was moved"
    if own.get("visibility") == PRIVATE != other.get("visibility"):
        value = json.dumps({**other, "visibility": PRIVATE})
        option = quote(f"projects.{target}")
        raise UsageError(
            f"config.json says that {source} is private, and not that {target} is.",
            hint=f"`hm config set {option} {quote(value)}` first.",
            effect=effect,
        )
    if own.get("identity"):
        raise UsageError(
            f"config.json says which repository is {source}.",
            hint=f"`hm config unset {quote(f'projects.{source}')}` first.",
            effect=effect,
        )


def check_names(names: list[str], source: str, target: str, *, is_merge: bool) -> None:
    """Raise unless the names of a move are those of projects.

    Raises:
        UsageError: They are not.
    """
    if source not in names:
        raise missing_project(source, names)
    if source == target:
        problem = f"It is already called {source}."
        if is_merge:
            problem = "A project cannot be merged into itself."
        raise UsageError(problem, effect="Nothing was moved")
    if not is_merge and holds_known(target):
        raise UsageError(
            "The new name contains a secret of the vault, and names are shown.",
            hint="Choose another name.",
            effect="Nothing was moved",
        )
    if is_merge and target not in names:
        raise UsageError(
            no_such("project", target),
            hint=f"{_meant(target, names)}`hm project rename {quote(source)}"
            f" {quote(target)}` gives it that name.",
        )
    if not is_merge and target in names:
        raise UsageError(
            f"There is already a project {target}.",
            hint=f"`hm project merge {quote(source)} {quote(target)}` moves the"
            " notes there.",
            effect="Nothing was moved",
        )


def check_records(above: str, source: str, target: str) -> None:
    """Raise if it cannot be read which repositories belong to two projects.

    Raises:
        UsageError: They are not merged then: what one knows would be lost.
    """
    for name in (source, target):
        problem = read_record(above, name).problem
        if problem:
            raise UsageError(
                f"{_ABOVE}/{name}/{IDENTITY_FILE} cannot be read: {problem}.",
                hint="Repair or delete that file first.",
                effect="Nothing was moved",
            )


def check_keys(context: CurationContext, source: str, target: str) -> None:
    """Raise if two projects have active memories of one key.

    Raises:
        UsageError: They have; nothing is moved.
    """
    index = context.index.fresh()
    keys = [
        {
            folded_key(row.key): row.key
            for row in index.memories(scopes=frozenset({make_scope("project", scope)}))
            if row.type and row.status in {ACTIVE, PENDING}
        }
        for scope in (source, target)
    ]
    both = sorted(key for fold, key in keys[0].items() if fold in keys[1])
    if both:
        first = both[0]
        raise UsageError(
            f"Both have a memory under {', '.join(both)}.",
            hint="Decide first:"
            f" `hm forget --scope {quote(f'project/{source}')} {operand(first)}` or"
            f" `hm forget --scope {quote(f'project/{target}')} {operand(first)}`.",
            effect="Nothing was moved",
        )
