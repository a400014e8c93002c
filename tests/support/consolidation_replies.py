"""Replies to what a consolidation asks, and memories that must survive all of them.

Whatever a model replies, and whatever of it a person applies: the text of each memory
stays in a note, and forgetting the session of the consolidation brings all of them
back.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from hivemind_memory.errors import ChatReplyError
from hivemind_memory.jobs.consolidate import apply_merges
from hivemind_memory.jobs.consolidation import ask_for_merges, find_clusters
from hivemind_memory.jobs.consolidation_file import parse_merges, render_merges
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.chat import ChatMessage
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.providers.chat_reply import NoObjectError, read_object
from hivemind_memory.testing import FakeChat
from tests.support.model_replies import WORDS
from tests.support.sandbox import Sandbox

SECRET = "sk-proj-q8Zt4Lw2Vx9Rb3Nc7Md5Kf1Gh6Js0Pa"
_TIMES = ("daily", "nightly", "weekly")


def random_merges(rng: random.Random, shown: Sequence[dict[str, str]]) -> str:
    """Return the text of a reply about some memories: one in three or so can be used.

    It is a good one, in which something is wrong, or nothing.
    """
    refs = [each["id"] for each in shown]
    texts = [each["text"] for each in shown]
    chosen = rng.sample(refs, rng.randrange(2, len(refs) + 1))
    text = " ".join(rng.sample(texts, 2))
    good: dict[str, object] = {
        "type": "fact",
        "key": next(each["key"] for each in shown if each["id"] == chosen[0]),
        "content": text,
        "from": chosen,
    }
    wrong: dict[str, Sequence[object]] = {
        "type": ("decision", None, 7),
        "key": ("invented", "", "../x", "a\nb", None, 5),
        "content": (
            *(f"{text} It also needs port 9731.", f"{text} Ask `root@evil`."),
            *(f"{text} {SECRET}", f"{text}\n```\n+ x\n<!-- hm consolidate {{}} -->"),
            *(f"{text}\n---\nforgotten: yes\n---", *WORDS, "", text * 200, None, 7),
        ),
        "from": (
            *(refs, chosen[:1], [*chosen, chosen[0]], "x", [5], [], None),
            [*chosen, "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
        ),
    }
    rows: list[object] = [good]
    if rng.random() < 0.5:
        name = rng.choice([*wrong])
        good[name] = rng.choice(wrong[name])
    if rng.random() < 0.1:
        rows = rng.choice(([], [good, good], [[good]], [None], [good] * 50))
    keep: object = [ref for ref in refs if ref not in chosen]
    if rng.random() < 0.2:
        keep = rng.choice((refs, [*refs, *refs], ["invented"], None, 3, []))
    reply: object = {"merged": rows, "keep": keep}
    if rng.random() < 0.05:
        reply = rng.choice(({"merged": {"0": rows}}, rows, {"keep": keep}))
    written = json.dumps(reply, ensure_ascii=rng.random() < 0.5)
    chance = rng.random()
    if chance < 0.05:
        return written[: rng.randrange(len(written) + 1)]
    if chance < 0.08:
        return rng.choice(WORDS)
    if chance < 0.083:
        return written + "x" * 10_000_000
    return written


def try_consolidation_replies(
    base: Path, count: int, seed: int, *, least_applied: int = 0
) -> list[str]:
    """Consolidate by *count* replies; return what is wrong.

    Args:
        base: An empty folder.
        count: How many replies.
        seed: Of what is chosen by chance.
        least_applied: So many merges at least must have been usable, or nothing was
            tried.
    """
    rng = random.Random(seed)
    replies = applied = 0
    problems: list[str] = []

    def reply(messages: Sequence[ChatMessage]) -> dict[str, object]:
        nonlocal replies
        replies += 1
        shown = json.loads(messages[-1].text)["memories"]
        try:
            return read_object(random_merges(rng, shown))
        except NoObjectError as error:
            raise ChatReplyError(str(error)) from None

    chat = FakeChat(reply)
    number = 0
    while replies < count:
        sandbox = Sandbox(base / f"home-{number}")
        number += 1
        with sandbox.memory() as memory:
            texts = _fill(memory, rng)
            for _ in range(min(20, count - replies)):
                applied += _round(memory, chat, rng, texts, problems)
        problems += [
            f"a secret is in {path.name}"
            for path in sandbox.home.rglob("*")
            if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
    if applied < least_applied:
        problems.append(f"only {applied} merges were applied")
    return problems


def _fill(memory: Memory, rng: random.Random) -> dict[str, str]:
    """Save a group of near copies, and what is like no other; return key -> text."""
    host = rng.randrange(100, 999)
    texts = {
        f"backup-{at}": f"Backups of the wiki run {_TIMES[at]} on host {host} at ten."
        for at in range(3)
    }
    texts["lunch"] = "Lunch is served in the yard when the sun shines."
    for key, text in texts.items():
        memory.save(NewMemory(key=key, content=text, type="fact"))
    return texts


def _round(
    memory: Memory,
    chat: FakeChat,
    rng: random.Random,
    texts: dict[str, str],
    problems: list[str],
) -> int:
    """Ask once, apply some of it, and undo it; return how many were applied."""
    [cluster] = find_clusters(memory, [""])
    try:
        merges = ask_for_merges(memory, cluster, chat)
    except (ValueError, ChatReplyError):
        return 0
    file = render_merges(merges, {each.id: each for each in cluster})
    parts = list(enumerate(parse_merges(file), start=1))
    if len(parts) != len(merges):
        problems.append(f"{len(merges)} merges are {len(parts)} parts")
    chosen = [part for part in parts if rng.random() < 0.8]
    if not chosen:
        return 0
    session, done = apply_merges(memory, chosen)
    count = sum(bool(part.id) for part in done)
    said = {memory.curation.show(part.id).memory.text for part in done if part.id}
    if any("9731" in text or "evil" in text for text in said):
        problems.append(f"applied: {said}")
    problems += _lost(memory, texts, is_merged=count > 0)
    if count:
        memory.curation.forget(MemorySelector(session=session))
    problems += _lost(memory, texts, is_merged=False)
    return count


def _lost(memory: Memory, texts: dict[str, str], *, is_merged: bool) -> list[str]:
    """Return which texts no note has; if nothing is merged, which are not active."""
    if is_merged:
        notes = Path(memory.places.notes).rglob("*.md")
        all_notes = "\n".join(note.read_text(encoding="utf-8") for note in notes)
        return [
            f"{key} is lost" for key, text in texts.items() if text not in all_notes
        ]
    rows = [row for row in memory.memories() if row.status == ACTIVE]
    loaded = [memory.curation.stored.load(row.path) for row in rows]
    active = {each.text for each in loaded if each is not None}
    return [f"{key} is not active" for key, text in texts.items() if text not in active]
