"""Measure how well a language model judges: relations, lessons, briefings.

    python -m benchmarks.judgement --base-url http://localhost:8080/v1 --model qwen3-8b
    python -m benchmarks.judgement --provider ollama --model qwen3:8b --part edges

This project does not measure a model's judgement; this measures yours, with the same
requests that the jobs send. The labels are written by hand: 300 pairs of memories with
their relation, 60 sessions with the lesson that each teaches, 40 scopes with what their
briefing must say and must not, in ``fixtures``. A key is read from the variable
OPENAI_API_KEY. Nothing of your own memory is read or sent.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hivemind_memory.errors import ChatError
from hivemind_memory.jobs.brief import write_briefing
from hivemind_memory.jobs.relations import messages_about, relations_in, schema_for
from hivemind_memory.jobs.runner import open_chosen_chat
from hivemind_memory.model.curation import NewMemory, StoredMemory
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.ports import Chat
from tests.support.capture_home import CaptureHome
from tests.support.lesson_sessions import lesson_sessions
from tests.support.sandbox import Sandbox

LABELS = Path(__file__).parents[1] / "fixtures" / "judgement"
KINDS = ("updates", "contradicts", "related_to", "none")
_OLDER = "older"


class Row(NamedTuple):
    """One line of the table that is printed."""

    what: str
    of: int
    right: int
    """Of those, how many the model found."""

    said: int
    """How often it said so, rightly or not."""

    @property
    def text(self) -> str:
        """The line."""
        recall = _share(self.right, self.of)
        precision = _share(self.right, self.said)
        return f"{self.what:24}{self.of:8}{self.said:8}{recall:>12}{precision:>12}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", required=True)
    parser.add_argument("--provider", choices=("openai", "ollama"), default="openai")
    parser.add_argument("--part", choices=tuple(PARTS), action="append")
    parser.add_argument("--limit", type=int, help="only the first so many of each")
    parser.add_argument("--timeout", type=float, default=60.0, help="of a reply, in s")
    given = parser.parse_args()
    flags: dict[str, object] = {
        "llm_provider": given.provider,
        "llm_model": given.model,
        "llm_timeout_s": given.timeout,
        "llm_calls_per_day": 1_000_000,
    }
    if given.base_url:
        flags["llm_base_url"] = given.base_url
    if key := os.environ.get("OPENAI_API_KEY", ""):
        flags["llm_api_key"] = key
    head = ("", "labels", "said", "recall", "precision")
    print("{:24}{:>8}{:>8}{:>12}{:>12}".format(*head))
    failures = 0
    for part in given.part or PARTS:
        rows, failed = judge(part, flags, given.limit)
        failures += failed
        for row in rows:
            print(row.text)
    if failures:
        print(f"{failures} requests failed; what they were about counts as not found")
    return 1 if failures else 0


def judge(
    part: str, flags: dict[str, object], limit: int | None = None
) -> tuple[list[Row], int]:
    """Return the rows of one part of the table, and how many requests failed.

    Args:
        part: A name in ``PARTS``.
        flags: Options of the memory that choose the language model.
        limit: Only the first so many labels; None: all.
    """
    with tempfile.TemporaryDirectory() as base:
        home = CaptureHome(Path(base))
        home.sandbox.flags |= flags
        return PARTS[part](home, limit)


def judge_edges(home: CaptureHome, limit: int | None) -> tuple[list[Row], int]:
    """Ask for the relation of each pair, as the job that links memories does."""
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    failed = 0
    with _opened_chat(home.sandbox) as (chat, timeout_s):
        for pair in _labels("edges", limit):
            labels[pair["relation"]] += 1
            others = {_OLDER: _memory(_OLDER, pair["older"], "2026-01-15")}
            saved = _memory("saved", pair["saved"], "2026-06-15")
            try:
                reply = chat.ask(
                    messages_about(saved, others),
                    schema_for([_OLDER]),
                    timeout_s=timeout_s,
                )
            except ChatError:
                failed += 1
                continue
            found = relations_in(reply, others)
            kind = found[0].kind if found else "none"
            said[kind] += 1
            right[kind] += kind == pair["relation"]
    return [
        Row(f"edges: {kind}", labels[kind], right[kind], said[kind]) for kind in KINDS
    ], failed


def judge_capture(home: CaptureHome, limit: int | None) -> tuple[list[Row], int]:
    """Capture each session, as the job does when it ends."""
    count = found = said = failed = 0
    for each in lesson_sessions(60 if limit is None else limit):
        count += 1
        home.put(each.said, each.agent, session=each.session)
        try:
            result = home.capture(each.session, open_chat=open_chosen_chat)
        except ChatError:
            failed += 1
            continue
        texts = [
            memory.proposal.content.casefold()
            for memory in result.memories
            if memory.outcome != "dropped"
        ]
        said += len(texts)
        found += any(all(word in text for word in each.must) for text in texts)
    return [Row("capture: lessons", count, found, said)], failed


def judge_briefings(home: CaptureHome, limit: int | None) -> tuple[list[Row], int]:
    """Have the briefing of each scope written, as the job does."""
    must = found = allowed = refrained = count = shown = failed = 0
    for case in _labels("briefings", limit):
        count += 1
        scope = f"projects/{case['scope']}"
        try:
            body = _briefing_of(home, scope, case["entries"]).casefold()
        except ChatError:
            failed += 1
            body = ""
        shown += bool(body)
        must += len(case["must"])
        found += sum(word.casefold() in body for word in case["must"])
        allowed += len(case["must_not"])
        refrained += sum(
            bool(body) and word.casefold() not in body for word in case["must_not"]
        )
    return [
        Row("briefings: written", count, shown, count),
        Row("briefings: facts said", must, found, must),
        Row("briefings: left out", allowed, refrained, allowed),
    ], failed


def _briefing_of(home: CaptureHome, scope: str, entries: list[dict[str, str]]) -> str:
    """Return what the model writes about some memories; empty: nothing to be shown."""
    for number, entry in enumerate(entries, 1):
        home.sandbox.ahead_s += 86_400
        new = NewMemory(
            key=f"entry-{number}",
            content=entry["text"],
            type=entry["type"],
            scope=scope,
        )
        with home.sandbox.memory() as memory:
            memory.save(new)
    with home.sandbox.memory() as memory:
        chat = open_chosen_chat(memory)
        try:
            written = write_briefing(memory, scope, chat)
        finally:
            chat.close()
    return written.body if written is not None else ""


PARTS: dict[str, Callable[[CaptureHome, int | None], tuple[list[Row], int]]] = {
    "edges": judge_edges,
    "capture": judge_capture,
    "briefings": judge_briefings,
}


@contextmanager
def _opened_chat(sandbox: Sandbox) -> Iterator[tuple[Chat, float]]:
    """Open the language model of a home; yield it, and how long to wait for it."""
    with sandbox.memory() as memory:
        chat = open_chosen_chat(memory)
        try:
            yield chat, memory.settings.llm_timeout_s
        finally:
            chat.close()


def _labels(name: str, limit: int | None) -> Iterator[dict[str, Any]]:
    """Yield the labeled cases of a part."""
    lines: Sequence[str] = (LABELS / f"{name}.jsonl").read_text("utf-8").splitlines()
    for line in lines[:limit]:
        yield json.loads(line)


def _memory(key: str, text: str, day: str) -> StoredMemory:
    """Return a memory that says a text."""
    return StoredMemory(
        path=NotePath(f"{key}.md"),
        id=key,
        key=key,
        type="fact",
        scope="",
        status="active",
        text=text,
        start_line=1,
        end_line=1,
        created=day,
    )


def _share(part: int, whole: int) -> str:
    """Return a share as it is printed."""
    return f"{part / whole:.2f}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
