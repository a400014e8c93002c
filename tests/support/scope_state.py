"""Fills every table of ``state.db`` with rows about one scope.

What a caller is told must not depend on those of a scope that it may not see. A test
compares the tables with the schema, so that a new one must join.
"""

from __future__ import annotations

from pathlib import Path

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.curation.purge_plan import PurgePlan
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.uses import Use
from hivemind_memory.state.activity_log import ActivityLog, ActivityRow
from hivemind_memory.state.briefings import Briefings, WrittenBriefing
from hivemind_memory.state.captures import Captures
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.model_links import LinkProposal, ModelLinks
from hivemind_memory.state.namespaces import Namespace, Namespaces
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.skills import Skill, SkillCopy, SkillStore
from hivemind_memory.state.use_log import UseLog

COUNTS_OF_ALL = frozenset({"meta", "model_requests", "embedding_days"})
"""Tables without a row of a scope: the keys of the file, what was sent to models."""

_WHO = "bee"


def fill_state(
    home: Path,
    scope: str,
    *,
    key: str,
    ids: tuple[str, str],
    session: str,
    word: str,
    at_s: int,
) -> None:
    """Do all that is remembered of a scope, as the program itself would.

    Args:
        home: The home, with its notes.
        scope: The scope, such as ``projects/b``.
        key: Key of one of its memories.
        ids: Id of that memory, and of another one.
        session: Name of the session that did it.
        word: A word that stands in every text of it.
        at_s: When that was, in seconds since the epoch; another time for each scope.
    """
    with opening.open_memory(home=str(home)) as memory:
        _fill(memory, scope, key, ids, session, word, at_s)


def _fill(
    memory: Memory,
    scope: str,
    key: str,
    ids: tuple[str, str],
    session: str,
    word: str,
    at_s: int,
) -> None:
    """Fill the tables one by one."""
    state, (own, other) = memory.state(), ids
    with memory.as_caller(_agent_of(scope)) as agent:
        agent.save(
            NewMemory(
                key=f"{key}-late",
                content=f"The late {word}.",
                by=_WHO,
                session=session,
                scope=scope,
            )
        )
    kind, slug = scope.split("/")
    place = {kind.removesuffix("s"): scope}
    now_ms = at_s * 1000
    KeyValueStore(state).set(scope, f"{key}-value", f'"The {word}."', now_ms=now_ms)
    UseLog(state).record(
        Use(ref=own, scope=scope, session=session, outcome="applied", at_s=at_s)
    )
    RecallLog(state).count([(scope, own)], at_s)
    copy = SkillCopy(
        folder=f"/nowhere/.claude/skills/{key}",
        scope=scope,
        name=key,
        root="/nowhere",
        base=f"The {word}.",
    )
    SkillStore(state).put(
        Skill(name=key, scope=scope, ref=own, key=key, version=1, copies=(copy,))
    )
    ActivityLog(state).add(
        ActivityRow(
            kind="post",
            workspace=place.get("workspace", ""),
            project=place.get("project", ""),
            agent=_WHO,
            session=session,
            label=word,
            content=f"The {word} was here.",
        ),
        now_ms,
        0,
    )
    day = memory.clocks.today()
    who = (state.notes, day, place.get("workspace", ""), place.get("project", ""))
    state.run(
        lambda c: c.execute(
            "INSERT OR IGNORE INTO recall_days VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*who, _WHO, scope, "decision", 7),
        ).fetchall()
    )
    state.run(
        lambda c: c.execute(
            "INSERT OR IGNORE INTO search_days VALUES (?, ?, ?, ?, ?, ?)", (*who, 12, 7)
        ).fetchall()
    )
    ErasedMessages(state).add([(session, f"The {word} was purged.")])
    state.add_tombstones([f"The {word} was purged."], scope)
    state.begin(
        f"a purge of the {word}",
        PurgePlan(paths={f"{scope}/p.md"}, notes={f"{scope}/q.md"}).as_json(),
    )
    Jobs(state).add("links", [own], now_s=at_s)
    links = ModelLinks(state)
    links.propose(
        LinkProposal(
            id=f"01JF{word.upper():0>22.22}",
            from_ref=own,
            to_ref=other,
            kind="related_to",
            weight=0.5,
            model="a-model",
            at="2026-01-05T12:00:00+00:00",
        )
    )
    links.refuse(own, other, "updates")
    captures = Captures(state)
    captures.keep_line(_WHO, session, 12, now_s=at_s)
    captures.keep_draft(_WHO, session, 14, [f'{{"content": "{word} is told."}}'])
    briefings = Briefings(state)
    [(newest,)] = state.run(
        lambda c: c.execute("SELECT coalesce(max(number), 0) FROM changes").fetchall()
    )
    assert briefings.keep(
        WrittenBriefing(
            scope=scope,
            body=f"The {word} in brief.",
            model="a-model",
            made_at=at_s,
            sources=((own, b"x"),),
        ),
        last_change=int(str(newest)),
        purges=briefings.count_purges(),
    )
    name = f"custom:{slug}-{word}"
    Namespaces(state).change(
        name, lambda _: Namespace(name=name, scope=scope, kind="custom")
    )
    InjectionLog(state).append(
        {
            "worktree": f"/nowhere/{word}",
            "file": "CLAUDE.md",
            "memories": [{"path": f"{scope}/only.md", "id": own, "type": "fact"}],
            "left_out": [{"path": f"{scope}/plan.md", "id": other, "why": "budget"}],
        }
    )
    AccessTokens(state, memory.clocks, memory.caller).add(
        f"token-{word}",
        project=slug if kind == "projects" else "",
        teams=[slug] if kind == "teams" else [],
        workspace=slug if kind == "workspaces" else "",
    )


def _agent_of(scope: str) -> Caller:
    """Return an agent that has only this scope beside the global one."""
    kind = scope.partition("/")[0]
    return Caller(
        project=scope if kind == "projects" else "",
        teams=(scope,) if kind == "teams" else (),
        workspace=scope if kind == "workspaces" else "",
        is_agent=True,
    )
