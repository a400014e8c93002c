"""Kills leaders that run jobs, and looks how often the model was asked.

Each victim saves memories, ends sessions and runs their jobs, and applies what the
model made of near copies. Whatever is killed: the model is asked at most once about a
memory and a session, no more often than a day allows, and no memory is lost. Of two
that are merged, each is active, or is replaced by one that is.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hivemind_memory.context.briefing import told_in
from hivemind_memory.jobs import brief, capture_queue
from hivemind_memory.jobs.capture_queue import queue_capture
from hivemind_memory.jobs.consolidate import apply_merges
from hivemind_memory.jobs.consolidation import find_clusters, merges_in
from hivemind_memory.jobs.runner import JobRunner, requests_of
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.state.briefings import Briefings
from hivemind_memory.state.erased_messages import ErasedMessages
from hivemind_memory.state.jobs import DONE, INTERRUPTED, RUNNING, WAITING, Jobs
from hivemind_memory.testing import FakeChat
from hivemind_memory.transcripts.one_session import SessionReader
from hivemind_memory.transcripts.sources import all_sources
from tests.support.capture_home import proposal
from tests.support.kill_rig import die_between_statements, kill_victim
from tests.support.model_home import data_in
from tests.support.sandbox import Sandbox
from tests.support.sessions import ASSISTANT, USER, put_session

STATEMENT_SHARE = 0.3
"""Of all victims, these die between two statements of SQLite, at the latest."""

SESSION_SHARE = 0.3
"""Of all rounds, in these a session ends."""

LATENCY_S = 0.004

PROSE = (
    "The backup of each service runs at night on one of a few hosts, and every service"
    " has its own; nothing else is known of them."
)
"""A briefing that no memory refutes."""


@dataclass
class Result:
    """What happened in all rounds."""

    kills: int = 0
    saved: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """Key of a memory, or what a briefing was to be made from -> how often the model
    was asked about it."""

    briefings: int = 0
    """Requests for a briefing, each made from other memories."""

    captures: int = 0
    """Requests about a session, each of which is queued once."""

    merged: int = 0
    """Near copies that were replaced."""

    states: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def kill_leaders(
    base: Path, kills: int, seed: int, *, merge_share: float = 0.0
) -> Result:
    """Kill *kills* leaders; return what was found.

    Args:
        base: An empty folder.
        kills: How many.
        seed: Of what is chosen by chance.
        merge_share: Of all rounds, in these two near copies are saved and merged.
    """
    rng = random.Random(seed)
    result = Result()
    sandbox = Sandbox(base / "home")
    per_day = max(20, kills // 3)
    sandbox.flags = {"llm_provider": "openai", "llm_calls_per_day": per_day}
    saved: set[str] = set()
    with sandbox.memory() as memory:
        memory.save(NewMemory(key="first", content=_text(0), type="fact"))
    for number in range(kills):
        for line in _kill_one(sandbox, rng, 1_000 * (number + 1), merge_share):
            what, _, key = line.partition(" ")
            if what == "asked":
                result.asked[key] += 1
            else:
                saved.add(key)
        result.kills += 1
    result.saved = len(saved)
    _check(sandbox, result, saved, per_day)
    return result


def _kill_one(
    sandbox: Sandbox, rng: random.Random, first: int, merge_share: float
) -> list[str]:
    """Let a leader work until it is killed; return what it said."""
    stops_between_statements = rng.random() < STATEMENT_SHARE

    def work(victim: random.Random, said: int) -> None:
        if stops_between_statements:
            die_between_statements(victim)
        _lead(sandbox, victim, said, first, merge_share)

    lines = kill_victim(rng, work)
    if errors := [line for line in lines if line.startswith("!")]:
        raise AssertionError(errors)
    return lines


def _lead(
    sandbox: Sandbox,
    rng: random.Random,
    said: int,
    number: int,
    merge_share: float,
) -> None:
    """Save and run jobs again and again."""
    try:
        brief.QUIET_S = rng.random() * LATENCY_S
        memory = sandbox.memory()
        account = requests_of(memory)

        def reply(messages: Sequence[ChatMessage]) -> dict[str, object]:
            data = data_in(messages)
            if account.take_request():
                return _nothing(data)
            what = _name_of(data)
            os.write(said, f"asked {what}\n".encode())
            time.sleep(rng.random() * LATENCY_S)
            if "transcript" in data:
                text = data["transcript"][0]["text"]
                return {"memories": [proposal(text, 1, 2, key=what)]}
            if "saved" not in data:
                return {"briefing": PROSE}
            kind = rng.choice(("related_to", "contradicts", "updates"))
            rows = [
                {"id": other["id"], "kind": kind, "weight": 1}
                for other in data["older"]
            ]
            return {"relations": rows}

        runner = JobRunner(memory, lambda _: FakeChat(reply), open_sessions=_sessions)
        capture_queue.SETTLES_S = 0.0
        while True:
            number += 1
            if rng.random() < SESSION_SHARE:
                _end_session(memory, number)
            if merge_share and rng.random() < merge_share:
                _merge_twins(memory, said, number)
            key = f"key-{number}"
            new = NewMemory(key=key, content=_text(number), type="fact")
            memory.save(new)
            os.write(said, f"saved {key}\n".encode())
            runner.run(should_stop=lambda: False)
    except BaseException as error:  # noqa: BLE001 - the parent reports all of them
        os.write(said, f"! {type(error).__name__}: {error}\n".encode())


def _merge_twins(memory: Memory, said: int, number: int) -> None:
    """Save two near copies, and apply what merges them, as a person does."""
    keys = [f"twin-{number}-{name}" for name in ("a", "b")]
    for key, more in zip(keys, ("", " As said"), strict=True):
        text = f"{_lesson(number)}{more}"
        memory.save(NewMemory(key=key, content=text, type="decision"))
    os.write(said, "".join(f"saved {key}\n" for key in keys).encode())
    for cluster in find_clusters(memory, [""], ["decision"]):
        if sorted(each.key for each in cluster) == keys:
            row = {
                "key": keys[0],
                "content": f"{_lesson(number)} As said",
                "from": [each.id for each in cluster],
            }
            merges = merges_in({"merged": [row], "keep": []}, cluster, memory.state())
            apply_merges(memory, [(1, merge) for merge in merges])


def _end_session(memory: Memory, number: int) -> None:
    """Write a session, and queue its capture as its agent's hook does."""
    user, session = Path(memory.places.home).parent / "user", f"session-{number}"
    said = [(USER, _lesson(number)), (ASSISTANT, "I wrote that down.")]
    file = put_session(user, "claude", session, "", said)
    queue_capture(memory, "claude", session, str(file))


def _sessions(memory: Memory) -> SessionReader:
    """Return what reads the sessions that the victims write."""
    user = os.path.join(os.path.dirname(memory.places.home), "user")
    return SessionReader(
        all_sources(user, {}),
        find_scope=lambda _: "",
        erased=ErasedMessages(memory.state()),
    )


def _lesson(number: int) -> str:
    """Return what a session teaches, unlike all others."""
    name = hashlib.sha256(str(number).encode()).hexdigest()
    words = " ".join(name[at : at + 8] for at in range(0, 64, 8))
    return f"Lesson {number}: {words}."


def _nothing(data: dict[str, Any]) -> dict[str, object]:
    """Return the reply of a day that has no request left: the job ends all the same."""
    if "saved" in data:
        return {"relations": []}
    return {"memories": []} if "transcript" in data else {"briefing": PROSE}


def _name_of(data: dict[str, Any]) -> str:
    """Return what tells apart what the model is asked about."""
    if "saved" in data:
        return str(data["saved"]["key"])
    if "transcript" in data:
        return f"capture-{data['transcript'][0]['text'].split()[1].rstrip(':')}"
    said = json.dumps(data["entries"], sort_keys=True).encode()
    return f"briefing-{hashlib.sha256(said).hexdigest()[:16]}"


def _text(number: int) -> str:
    """Return a text that is like the others, and no copy."""
    return f"The backup of service {number} runs at night on host {number % 7}."


def _check(sandbox: Sandbox, result: Result, saved: set[str], per_day: int) -> None:
    """Note what is wrong in the end."""
    often = {key: count for key, count in result.asked.items() if count > 1}
    if often:
        result.problems.append(f"asked more than once: {often}")
    if result.asked.total() > per_day:
        result.problems.append(f"asked {result.asked.total()} times of {per_day}")
    with sandbox.memory() as memory:
        runner = JobRunner(memory, lambda _: FakeChat())
        runner.run(should_stop=lambda: True)
        jobs = Jobs(memory.state()).all()
        result.states.update(job.state for job in jobs)
        known = {row.key for row in memory.memories() if row.status == ACTIVE}
        told = {row.key for row in told_in(memory, "")}
        counted = requests_of(memory).count_today()
        kept = Briefings(memory.state()).find("")
        active = {row.memory_id for row in memory.memories() if row.status == ACTIVE}
        claims = Counter(claim.text for claim in memory.curation.pending())
    result.captures = sum(name.startswith("capture-") for name in result.asked)
    if twice := [text for text, count in claims.items() if count > 1]:
        result.problems.append(f"proposed twice: {twice}")
    result.briefings = sum(name.startswith("briefing-") for name in result.asked)
    if kept is not None and (gone := {ref for ref, _ in kept.sources} - active):
        result.problems.append(f"the briefing is made from {sorted(gone)}")
    if lost := saved - known:
        result.problems.append(f"lost: {sorted(lost)}")
    twins = {key.rpartition("-")[0] for key in saved if key.startswith("twin-")}
    if gone := [twin for twin in twins if not {f"{twin}-a", f"{twin}-b"} & told]:
        result.problems.append(f"both are replaced: {sorted(gone)}")
    result.merged = sum(f"{twin}-b" in saved - told for twin in twins)
    if counted < result.asked.total():
        result.problems.append(f"{counted} requests counted, {result.asked} made")
    usual = {DONE, INTERRUPTED, WAITING}
    if result.states[RUNNING] or set(result.states) - usual:
        result.problems.append(f"states: {result.states}")
