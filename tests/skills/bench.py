"""A repository, a home and a memory, in which skills are made."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from hivemind_memory import opening
from hivemind_memory.curation.skills import Skills
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import (
    MemorySelector,
    NewMemory,
    PurgeResult,
    SaveResult,
)
from hivemind_memory.model.skills import PromotedSkill, SkillRequest
from hivemind_memory.model.uses import UseResult
from tests.support.sandbox import Sandbox

STEPS = """How the zanzibar shop is deployed:

1. Run `make test`.
2. Run `make deploy`.
3. Watch the graphs for ten minutes.
"""
LONGER = STEPS.replace("ten minutes", "twenty minutes")
FOLDERS = (".claude/skills", ".agents/skills")


@dataclass
class Bench:
    """Everything that a test of skills works with."""

    sandbox: Sandbox
    memory: Memory
    shop: Path
    user: Path

    @property
    def skills(self) -> Skills:
        return opening.open_skills(self.memory)

    def save(
        self, key: str = "deploy-shop", text: str = STEPS, **more: object
    ) -> SaveResult:
        new = NewMemory(key=key, content=text, type="lesson", **more)  # type: ignore[arg-type]
        return self.memory.save(new)

    def promote(self, ref: str = "deploy-shop", **more: object) -> PromotedSkill:
        return self.skills.promote(SkillRequest(ref=ref, **more))  # type: ignore[arg-type]

    def use(
        self, ref: str = "deploy-shop", outcome: str = "applied", **more: str
    ) -> UseResult:
        return self.memory.curation.uses(3).record(ref, outcome, **more)

    def forget(self, ref: str = "deploy-shop") -> None:
        self.memory.forget(MemorySelector(name=ref))

    def purge(
        self, ref: str = "deploy-shop", *, is_dry_run: bool = False
    ) -> PurgeResult:
        return self.memory.curation.purge(
            MemorySelector(name=ref),
            is_dry_run=is_dry_run,
        )

    def file(self, name: str = "deploy-shop", above: str = FOLDERS[0]) -> Path:
        return self.shop / above / name / "SKILL.md"

    def state(self, name: str = "deploy-shop") -> dict[str, str]:
        """Return folder -> state of each copy of a skill in the shop."""
        places = self.skills.show(name).places
        return {
            Path(place.file).parents[1].relative_to(self.shop).as_posix(): place.state
            for place in places
            if Path(place.file).is_relative_to(self.shop)
        }

    def status(self) -> str:
        """Return what ``git status`` shows."""
        return git(self.shop, "status", "--porcelain", "--untracked-files=all")

    def offers(self) -> list[str]:
        return [one.memory.key for one in self.memory.curation.uses(3).offers()]


def git(folder: Path, *words: str) -> str:
    """Run git and return what it printed."""
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tree(*folders: Path) -> dict[str, bytes | None]:
    """Return every file and folder below some folders, with the bytes of files.

    Of git's folder only what it ignores: the rest is its own.
    """
    found: dict[str, bytes | None] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            within = path.relative_to(folder).parts
            if within[0] == ".git" and within != (".git", "info", "exclude"):
                continue
            found[str(path)] = path.read_bytes() if path.is_file() else None
    return found
