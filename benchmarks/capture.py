"""Capture sessions with known lessons: what is proposed, how often, and from where?

    python -m benchmarks.capture

Sixty sessions, in the forms of five agents, each teach one lesson. A model that replies
by script, asked by the real clients over both wires, proposes it, and with it what no
model should: lines that are not there, invented numbers, the secret of the session,
what a tool said. Each session is captured ten times; before the last time, how far it
was read is lost, and the model says the same in other words. Exits 1 if a proposal
cites lines that do not exist, a secret is sent or kept, a lesson is missing, or
anything is proposed twice.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hivemind_memory.jobs.runner import open_chosen_chat
from hivemind_memory.state.captures import Captures
from tests.support.capture_home import CaptureHome, proposal
from tests.support.chat_server import ChatServer
from tests.support.lesson_sessions import (
    SECRET,
    LessonSession,
    lesson_sessions,
    lines_of,
)

RUNS = 10
WIRES = ("openai", "ollama")
_LINES = re.compile(r"lines? (\d+)(?: to (\d+))?")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    failed = 0
    for wire in WIRES:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as base:
            counts, problems = try_wire(Path(base), wire, given.sessions, given.runs)
        for problem in problems:
            print(problem[:1000])
        failed += len(problems)
        shown = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        took_s = time.monotonic() - started
        print(f"{wire}: {shown}, {len(problems)} problems, {took_s:.0f} s")
    return 1 if failed else 0


def try_wire(
    base: Path, wire: str, count: int, runs: int
) -> tuple[dict[str, int], list[str]]:
    """Capture the sessions over one wire; return counts, and what is wrong."""
    home = CaptureHome(base)
    sessions = list(lesson_sessions(count))
    for each in sessions:
        home.put(each.said, each.agent, session=each.session)
    problems: list[str] = []
    captured = dropped = 0
    with ChatServer() as server:
        home.sandbox.flags |= {
            "llm_provider": wire,
            "llm_base_url": server.url_for(wire),
            "llm_calls_per_day": 100_000,
        }
        is_again = False
        server.reply = lambda request: reply_to(request, sessions, is_again=is_again)
        for run in range(runs):
            is_again = run == runs - 1 and run > 0
            if is_again:
                names = {each.session for each in sessions}
                home.with_memory(
                    lambda memory, names=names: Captures(memory.state()).drop(names)
                )
            for each in sessions:
                result = home.capture(each.session, open_chat=open_chosen_chat)
                new = result.count("proposed") + result.count("saved")
                dropped += result.count("dropped")
                captured += new
                if new != (run == 0):
                    problems.append(f"run {run + 1} of {each.key}: {result.memories}")
        sent = "".join(server.said)
        requests = len(server.requests)
    if SECRET in sent:
        problems.append("the secret was sent")
    problems += list(_what_is_wrong(home, sessions))
    counts = {
        "sessions": len(sessions),
        "captures": runs * len(sessions),
        "requests": requests,
        "proposed": captured,
        "dropped": dropped,
    }
    return counts, problems


def reply_to(
    request: dict[str, Any], sessions: list[LessonSession], *, is_again: bool
) -> dict[str, object]:
    """Return what the model replies to a request: the lesson, and what is no lesson."""
    shown = json.loads(request["messages"][-1]["content"])["transcript"]
    texts = {row["text"] for row in shown}
    [taught] = [each for each in sessions if set(each.taught) <= texts]
    first, last = lines_of(shown, taught.taught)
    lesson = taught.lesson
    if is_again:
        lesson = f"Note: {lesson[0].lower()}{lesson[1:].rstrip('.')}!"
    more = {"type": taught.type, "confidence": 0.95}
    return {
        "memories": [
            proposal(lesson, first, last, key=taught.key, **more),
            proposal(lesson, first, 99_999, key="no-such-line"),
            proposal(f"The token of the account is {SECRET}.", first, key="token"),
            proposal("There were 7341 warnings in that module.", first, key="invented"),
            proposal("Too vague to be kept by anyone.", first, confidence=0.1),
        ]
    }


def _what_is_wrong(home: CaptureHome, sessions: list[LessonSession]) -> list[str]:
    """Return what is wrong with the inbox in the end."""
    problems = []
    claims = home.with_memory(lambda memory: memory.curation.pending())
    for each in sessions:
        own = [claim for claim in claims if claim.session == each.session]
        if [claim.text for claim in own] != [each.lesson]:
            problems.append(f"{each.key}: {[claim.text for claim in own]}")
        for claim in own:
            cited = _LINES.search(claim.source_ref)
            with home.sandbox.memory() as memory:
                reader = home.sessions(memory)
                lines = reader.read(reader.find(each.session)).lines
            numbers = {line.number for line in lines}
            named = {int(cited[1]), int(cited[2] or cited[1])} if cited else {0}
            said = [line.text for line in lines if line.number in named]
            if not named <= numbers or not set(said) <= set(each.taught):
                problems.append(f"{each.key} cites {claim.source_ref}")
    problems += [
        f"the secret is in {path.name}"
        for path in home.sandbox.home.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    return problems


if __name__ == "__main__":
    sys.exit(main())
