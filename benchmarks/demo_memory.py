"""Fills a home with the memory of two small projects, for pictures of the dashboard.

The program itself makes it: memories are saved, replaced and linked, agents are told of
them in three worktrees, and two transcripts are read.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path
from typing import Any

from hivemind_memory import opening
from hivemind_memory.memory import Memory
from hivemind_memory.model.clocks import Clocks, utc_iso
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.state.use_days import UseDays

DAY_S = 86_400
SHOP = "project/shop"
MEMORIES = Path(__file__).with_name("demo_memories.json")
COMMIT = ("commit", "-qm", "Retry payments once")
SESSIONS = ("4f1c2a90", "b7d03e55")


WRITERS = {
    "claude": {"by": "claude", "source": "agent", "session": SESSIONS[0]},
    "codex": {"by": "codex", "source": "agent", "session": SESSIONS[1]},
    "you": {"by": "you", "source": "human"},
}
CHANGED = (
    "We deploy on **Mondays**, after the backup at 06:00.\n\n"
    "- `make release` builds the image\n"
    "- `scripts/deploy.sh prod` rolls it out\n"
    "- watch the error rate for fifteen minutes\n\n"
    "See [[disk-space]] before you start."
)
CLAIMS = (
    (
        "claim-port",
        "The admin port of the payment service is 9443.",
        "https://pay.example/docs",
    ),
    (
        "claim-api",
        "Version 1 of the payment API is switched off on 2027-03-01.",
        "https://pay.example/changes",
    ),
)
QUESTIONS = (
    *("when do we deploy", "which database holds the orders", "retry of a payment"),
    *("disk full before a release", "migration locked the table", "sums in cents"),
    *("accent colour", "rate limit of the API", "restore a backup", "jobs and queue"),
)


def fill(home: Path, work: Path) -> None:
    """Make the memory of *home*, and the two projects in *work* that belong to it.

    Args:
        home: The home folder; ``HIVEMIND_HOME`` names it already.
        work: Where the repositories are made.
    """
    now = time.time()
    (home / "memory").mkdir(parents=True)
    home.chmod(0o700)
    for name in ("shop", "web"):
        _repository(work / name)
    with opening.open_memory() as memory:
        clocks = memory.clocks
        for row in json.loads(MEMORIES.read_text(encoding="utf-8")):
            _at(memory, clocks, now - row["age_days"] * DAY_S)
            more = dict(row.get("more", {}))
            if days := more.pop("expires", 0):
                more["expires"] = utc_iso(now + days * DAY_S)[:10]
            names = ("key", "type", "scope")
            parts = {name: row[name] for name in names}
            _save(memory, row["text"], **parts, **WRITERS[row["by"]], **more)
        _at(memory, clocks, now - 13 * DAY_S)
        why = "the weekly report needs a quiet Tuesday"
        parts = {"key": "deploy-day", "type": "decision", "scope": SHOP}
        _save(memory, CHANGED, **parts, **WRITERS["claude"], reason=why)
        _at(memory, clocks, now - 2 * DAY_S)
        for key, text, ref in CLAIMS:
            parts = {"key": key, "type": "fact", "scope": SHOP, "by": "claude"}
            _save(memory, text, **parts, source="external", source_ref=ref)
        for start, end, kind in (
            ("deploy-day", "migrations", "related_to"),
            ("deploy-day", "disk-space", "related_to"),
            ("disk-space", "outage", "related_to"),
            ("backup-check", "deploy-day", "related_to"),
            ("payment-limit", "retry-policy", "contradicts"),
        ):
            memory.curation.link(start, end, kind)
        _at(memory, clocks, now)
        memory.curation.forget(MemorySelector(name="staging"))
        _ask(memory, clocks, now)
    _broken_notes(home)
    _tell(work)
    _transcripts(home.parent, work, now)


def _save(memory: Memory, text: str, **parts: Any) -> None:
    """Save one memory of the demo."""
    memory.curation.save(NewMemory(content=text, **parts))


def _at(memory: Memory, clocks: Clocks, moment: float) -> None:
    """Let a memory believe that it is another time."""
    memory.clocks = Clocks(
        now=lambda: moment,
        stopwatch=clocks.stopwatch,
        local_iso=clocks.local_iso,
        local_offset_s=clocks.local_offset_s,
        randomness=clocks.randomness,
    )


def _ask(memory: Memory, clocks: Clocks, now: float) -> None:
    """Ask questions on many days, so that memories were recalled."""
    chance = random.Random(7)
    agents = ("claude", "claude", "codex", "")
    days = UseDays(memory.state())
    for back in range(60, -1, -1):
        _at(memory, clocks, now - back * DAY_S)
        # Some are asked only at the beginning, so that not all is in use today.
        asked = QUESTIONS[: 3 + back // 8]
        for question in chance.sample(asked, k=chance.randrange(0, min(4, len(asked)))):
            answer = memory.search(Query(text=question, max_results=2))
            memory.record_recall(answer, chance.choice(agents))
        texts = chance.randrange(2, 9)
        sent = {"openai text-embedding-3-small": (texts, texts * 240)}
        days.count_sent(sent, memory.clocks.today())


def _broken_notes(home: Path) -> None:
    """Write two notes as a person does in haste."""
    notes = home / "memory"
    (notes / "servers.md").write_text(
        "# Servers\n\n## Database\n\nThe replica is `db-2`. See [[old-replica]].\n\n"
        "## Mail\n\nThe old relay took the password `Tr0ub4dor-and-3x7q9`.\n"
        "password: Zx9-kk31-Qw7p-LmT4\n\n## Web\n\nTwo machines behind one proxy.\n",
        encoding="utf-8",
    )


def _repository(folder: Path) -> None:
    """Make a repository with one commit."""
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(f"# {folder.name}\n", encoding="utf-8")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        ("-c", "user.name=you", "-c", "user.email=you@example.com", *COMMIT),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _tell(work: Path) -> None:
    """Inject into the two projects, and into a worktree of one."""
    tree = work / "shop-checkout"
    branch = ("worktree", "add", "-q", "-b", "checkout-steps", str(tree))
    subprocess.run(["git", *branch], cwd=work / "shop", check=True)
    with opening.open_memory() as memory:
        injector = opening.open_injector(memory)
        for folder in (work / "web", work / "shop", tree):
            injector.inject(str(folder), agent="claude")


def _transcripts(user: Path, work: Path, now: float) -> None:
    """Write the transcripts of two sessions, and read them."""
    said = (
        ("user", "The refund test is flaky. Find out why."),
        ("assistant", "Two runs share one database, so their refunds collide."),
        ("user", "Remember that, and give each run a schema."),
        ("assistant", "Saved as flaky-test. Each run has a schema of its own now."),
    )
    folder = user / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    for at, (session, project) in enumerate(
        zip(SESSIONS, ("shop", "web"), strict=True)
    ):
        lines = [
            json.dumps(
                {
                    "type": role,
                    "sessionId": session,
                    "cwd": str(work / project),
                    "timestamp": utc_iso(now - 9_000 * (at + 1) + 60 * number),
                    "message": {"role": role, "content": text},
                }
            )
            for number, (role, text) in enumerate(said)
        ]
        (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
    with opening.open_memory() as memory, opening.open_activity(memory) as activity:
        activity.read()
