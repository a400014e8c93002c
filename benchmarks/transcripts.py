"""Read large transcripts, and search them: how fast, in how much memory.

    python -m benchmarks.transcripts [--mb 1000] [--questions 200]

Writes JSON Lines as Claude Code does, of the size that is asked for: prompts, answers,
calls, results, and the records that hold nothing to keep, made of the sentences of this
project's documents and code. Then, in one run:

- the rate at which they are read, beside a bare reader: it parses each line and puts
  the text that is kept into a full-text table of the same form; and beside one that
  looks for secrets in that text too, which is most of the work
- the peak of memory, in a process of its own
- how long it takes until the words of an appended megabyte are found
- how long a search takes
- whether one of 50 secrets in them is in a file of the memory

Exits 1 if one of them is out of bounds.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measure import PEAK, ROOT, run
from hivemind_memory.access.rules import OWNER
from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.files.places import places_of
from hivemind_memory.model.activity import ActivityQuery
from hivemind_memory.model.terms import TOKENIZER
from hivemind_memory.redaction import mask
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.transcripts.activity import Activity
from hivemind_memory.transcripts.kept_text import LIMIT_CHARS, TOOL_LIMIT_CHARS
from hivemind_memory.transcripts.sources import chosen_sources

RATIO = 0.3
PEAK_MB = 150
APPENDED_S = 1.0
SEARCH_MS = 20.0
SECRETS = 50
_MB = 1_000_000
_FILE_MB = 40
_READ = """
import sys
from benchmarks.transcripts import open_activity
with open_activity(sys.argv[1]) as activity:
    report = activity.read()
    assert not report.problems, report
"""


def main() -> int:
    """Measure, print one line for each figure, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mb", type=int, default=100, help="size of the transcripts")
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = make_transcripts(Path(folder), given.mb)
        outcomes = list(_figures(made, given.questions))
    for is_met, line in outcomes:
        print(f"{'ok    ' if is_met else 'FAILED'} {line}", flush=True)
    return 0 if all(is_met for is_met, _ in outcomes) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Transcripts that were made."""

    folder: Path
    size_bytes: int
    secrets: tuple[str, ...]
    words: tuple[str, ...]
    """Of the texts; what is asked for."""


def make_transcripts(folder: Path, size_mb: int) -> Made:
    """Write transcripts of a size below the user's home *folder*."""
    chance = random.Random(7)
    sentences = _sentences()
    planted = tuple(f"ghp_{secrets.token_hex(18)}" for _ in range(SECRETS))
    above = folder / ".claude" / "projects" / "-home-you-shop"
    above.mkdir(parents=True)
    total, number, at_s = 0, 0, time.time() - 20 * 86_400
    waiting = list(planted)
    while total < size_mb * _MB:
        file = above / f"{number}.jsonl"
        number += 1
        with file.open("w", encoding="utf-8") as lines:
            size = 0
            while size < _FILE_MB * _MB and total + size < size_mb * _MB:
                at_s += 0.5
                secret = waiting.pop() if waiting and chance.random() < 0.01 else ""
                size += lines.write(_line(chance, sentences, at_s, secret))
            total += size
    words = tuple(sorted({word for text in sentences for word in text.split()}))
    return Made(
        folder=folder,
        size_bytes=total,
        secrets=tuple(one for one in planted if one not in waiting),
        words=tuple(word for word in words if word.isalpha() and len(word) > 4),
    )


def _sentences() -> list[str]:
    """Return texts of the project, as long as what people and agents say."""
    files = [*ROOT.glob("docs/*.md"), *ROOT.glob("hivemind_memory/*/*.py")]
    texts = [file.read_text(encoding="utf-8") for file in sorted(files)]
    return [
        text[at : at + 600] for text in texts for at in range(0, len(text) - 600, 600)
    ]


def _line(chance: random.Random, sentences: list[str], at_s: float, secret: str) -> str:
    """Return one line: half of them hold nothing that is kept, as in real ones."""

    def said(count: int) -> str:
        return "\n".join([secret, *chance.choices(sentences, k=count)]).strip()

    kind = chance.random()
    if kind < 0.5 and not secret:
        record = {"type": "attachment", "attachment": {"content": said(6)}}
    elif kind < 0.6:
        record = {"type": "user", "message": {"content": said(1)}}
    elif kind < 0.75:
        block = {"type": "text", "text": said(2)}
        record = {"type": "assistant", "message": {"content": [block]}}
    elif kind < 0.87:
        arguments = {"command": said(1)}
        block = {"type": "tool_use", "id": "a", "name": "Bash", "input": arguments}
        record = {"type": "assistant", "message": {"content": [block]}}
    else:
        block = {"type": "tool_result", "tool_use_id": "a", "content": said(8)}
        record = {"type": "user", "message": {"content": [block]}}
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))
    whole = {
        **record,
        "timestamp": f"{moment}.{int(at_s * 1000) % 1000:03}Z",
        "cwd": "/home/you/shop",
        "sessionId": "one",
    }
    return json.dumps(whole, separators=(",", ":")) + "\n"


def open_activity(folder: str) -> Activity:
    """Return the activity of a user's home, with a memory below it."""
    home = str(Path(folder) / "hive")
    flags = {"session_sources": "claude", "session_max_mb": 100_000}
    places = places_of(home, None, "")
    return Activity(
        places,
        load_settings(home, {}, flags),
        system_clocks(),
        caller=OWNER,
        state=StateFile.at(places),
        sources=chosen_sources(("claude",), folder, {}),
    )


def _figures(made: Made, questions: int) -> Iterator[tuple[bool, str]]:
    """Yield whether each figure is within its bound, and a line that says it."""
    size_mb = made.size_bytes / _MB
    began = time.perf_counter()
    out = run(
        [sys.executable, "-c", PEAK, sys.executable, "-c", _READ, str(made.folder)]
    )
    took_s = time.perf_counter() - began
    code, peak_kb = map(int, out.split()[-2:])
    if code:
        yield False, "reading failed"
        return
    bare_s, masked_s = (_bare_read(made.folder, is_masked=one) for one in (False, True))
    ratio = masked_s / took_s
    speed = f"read {size_mb:,.0f} MB in {took_s:.1f} s, a bare reader in {bare_s:.1f} s"
    masked = f"one that masks in {masked_s:.1f} s ({ratio:.2f})"
    line = f"{speed} ({bare_s / took_s:.2f} of its rate), {masked}, to reach {RATIO}"
    yield ratio >= RATIO, line
    peak_mb = peak_kb * 1024 / _MB
    yield peak_mb <= PEAK_MB, f"peak of memory {peak_mb:.0f} MB, at most {PEAK_MB}"
    appended_s, is_found = _append(made)
    yield (
        is_found and appended_s <= APPENDED_S,
        f"an appended megabyte found after {appended_s:.2f} s, at most {APPENDED_S:g}",
    )
    p50_ms, p95_ms = _search(made, questions)
    yield (
        p50_ms <= SEARCH_MS,
        f"search p50 {p50_ms:.1f} ms, p95 {p95_ms:.1f} ms; p50 at most {SEARCH_MS:g}",
    )
    raw = sum(_raw_secrets(made, file) for file in (made.folder / "hive").rglob("*"))
    yield not raw, f"{raw} of {len(made.secrets)} secrets are in a file of the memory"


def _bare_read(folder: Path, *, is_masked: bool) -> float:
    """Return how long it takes to parse each line and insert what is kept."""
    began = time.perf_counter()
    file = folder / f"bare-{is_masked}.db"
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, text)")
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content = 'messages',"
        f" content_rowid = 'id', tokenize = \"{TOKENIZER}\")"
    )
    number = 0
    for transcript in sorted((folder / ".claude").rglob("*.jsonl")):
        with transcript.open("rb") as lines:
            for line in lines:
                text = _plain_text(json.loads(line))
                if text:
                    text = mask(text) if is_masked else text
                    number += 1
                    row = (number, text)
                    connection.execute("INSERT INTO messages VALUES (?, ?)", row)
                    connection.execute(
                        "INSERT INTO words(rowid, text) VALUES (?, ?)", row
                    )
                    if number % 2_000 == 0:
                        connection.commit()
    connection.commit()
    connection.close()
    return time.perf_counter() - began


def _plain_text(record: dict[str, object]) -> str:
    """Return the text of a record as far as it is kept."""
    message = record.get("message")
    if not isinstance(message, dict):
        return ""
    content = message["content"]
    if isinstance(content, str):
        return content[:LIMIT_CHARS]
    [block] = content
    if block["type"] == "text":
        return str(block["text"])[:LIMIT_CHARS]
    said = block.get("content") or json.dumps(block.get("input"))
    return str(said)[:TOOL_LIMIT_CHARS]


def _append(made: Made) -> tuple[float, bool]:
    """Return how long after a megabyte was appended it is found, and whether it is."""
    newest = max((made.folder / ".claude").rglob("*.jsonl"))
    chance, sentences = random.Random(8), _sentences()
    with newest.open("a", encoding="utf-8") as lines:
        size = 0
        while size < _MB:
            size += lines.write(_line(chance, sentences, time.time(), ""))
        text = {"type": "user", "message": {"content": "the quokka was here"}}
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines.write(json.dumps({**text, "timestamp": moment}) + "\n")
    with open_activity(str(made.folder)) as activity:
        began = time.perf_counter()
        answer = activity.search(ActivityQuery(text="quokka"))
        return time.perf_counter() - began, len(answer.hits) == 1


def _search(made: Made, questions: int) -> tuple[float, float]:
    """Return the median and the 95th percentile of searches, in ms."""
    chance, took = random.Random(9), []
    with open_activity(str(made.folder)) as activity:
        for _ in range(questions):
            text = " ".join(chance.choices(made.words, k=chance.choice((1, 2, 3))))
            began = time.perf_counter()
            activity.search(ActivityQuery(text=text))
            took.append((time.perf_counter() - began) * 1000)
    took.sort()
    return median(took), took[95 * len(took) // 100]


def _raw_secrets(made: Made, file: Path) -> int:
    """Return how many secrets are in a file as they are."""
    found: set[str] = set()
    if file.is_file():
        kept = b""
        with file.open("rb") as data:
            while piece := data.read(1 << 24):
                kept = kept[-100:] + piece
                found |= {one for one in made.secrets if one[4:].encode() in kept}
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
