"""Record transcripts of real agents, for the tests of their readers.

    python -m benchmarks.real_clients.recordings --clients FOLDER --to FOLDER2

FOLDER is where the agents were installed, see ``benchmarks.real_clients``; those of the
tests are in fixtures/transcripts. Each agent
works in a linked worktree with the injected section and our server; its model is
a script, which reads the file with the section, searches the memory, and says its last
words. What the agent wrote of it is trimmed: long texts and lists are cut, and every
path of this machine becomes one below /home/you. OpenCode's database becomes SQL.

One line for each agent; exits 1 if one left no transcript.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real_clients import agents
from benchmarks.real_clients.__main__ import folders_of
from benchmarks.real_clients.scratch import NAME, Scratch, Setting, scratch, source_hm
from benchmarks.real_clients.stand_in import ScriptedCall, StandIn, playing

HOME = "/home/you"
MAX_CHARS = 300
MAX_SECTION_CHARS = 1_500
MAX_ITEMS = 4
_MARK = "hivemind:begin"
_TABLES = ("session", "message", "part")
_SYSTEM = re.compile(r"Linux \d[\w.+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An agent, what its model does, and where its transcript lies."""

    name: str
    play: agents.Play
    read: Callable[[Path], ScriptedCall]
    """Worktree -> the call that reads the file with the section."""

    pattern: str
    """Of the transcript, below the home folder."""


def _play_qwen(place: Scratch, worktree: Path, model: StandIn) -> str:
    place.must("qwen", "mcp", "add", "--scope", "user", "--trust", NAME, *place.server)
    return agents.ask_qwen(place, worktree, model)


def _reading(tool: str, argument: str, file: str) -> Callable[[Path], ScriptedCall]:
    """Return what makes the call that reads a file of the worktree."""
    return lambda worktree: ScriptedCall(
        tool=tool, arguments={argument: str(worktree / file)}
    )


RECORDED = (
    Recorded(
        name="claude",
        play=agents.play_claude,
        read=_reading("Read", "file_path", "CLAUDE.md"),
        pattern=".claude/projects/*/*.jsonl",
    ),
    Recorded(
        name="codex",
        play=agents.play_codex,
        read=lambda worktree: ScriptedCall(
            tool="exec_command", arguments={"cmd": f"cat {worktree / 'AGENTS.md'}"}
        ),
        pattern=".codex/sessions/*/*/*/rollout-*.jsonl",
    ),
    Recorded(
        name="gemini",
        play=agents.play_gemini,
        read=_reading("read_file", "file_path", "GEMINI.md"),
        pattern=".gemini/tmp/*/chats/session-*.jsonl",
    ),
    Recorded(
        name="opencode",
        play=agents.play_opencode,
        read=_reading("read", "filePath", "AGENTS.md"),
        pattern=".local/share/opencode/opencode.db",
    ),
    Recorded(
        name="qwen",
        play=_play_qwen,
        read=_reading("read_file", "file_path", "AGENTS.md"),
        pattern=".qwen/projects/*/chats/*.jsonl",
    ),
)


def main() -> int:
    """Record what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=Path, help="folder in which they are")
    parser.add_argument("--to", type=Path, required=True, help="folder of the results")
    parser.add_argument("--only", default="", help="agents whose name holds this")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    setting = Setting(hm=source_hm(), folders=folders_of(given.clients))
    failed = 0
    for recorded in RECORDED:
        if given.only not in recorded.name:
            continue
        if not setting.find(recorded.name):
            print(f"skipped {recorded.name}: not installed", flush=True)
            continue
        said = _record(recorded, setting, given.to)
        failed += said.startswith("FAILED")
        print(f"{recorded.name}: {said}", flush=True)
    return 1 if failed else 0


def _record(recorded: Recorded, setting: Setting, to: Path) -> str:
    """Run one agent, and write its transcript; return what to say of it."""
    with scratch(setting) as place:
        worktree = place.worktree()
        place.must(place.hm, "inject", "--agent", recorded.name, cwd=worktree)
        with playing(recorded.read(worktree), agents.SEARCH) as model:
            printed = recorded.play(place, worktree, model)
        files = sorted(place.home.glob(recorded.pattern))
        if not files:
            return f"FAILED, no transcript: {printed[-200:]!r}"
        clean = _cleaner(place)
        if files[-1].suffix == ".db":
            text, suffix = "".join(_sql_of(files[-1], clean)), "sql"
        else:
            lines = files[-1].read_text(encoding="utf-8").splitlines()
            text, suffix = "".join(_line_of(line, clean) for line in lines), "jsonl"
    (to / f"{recorded.name}.{suffix}").write_text(text, encoding="utf-8")
    return f"{len(text.splitlines())} lines, {len(model.answers)} answers of tools"


def _cleaner(place: Scratch) -> Callable[[str], str]:
    """Return what takes this machine out of a text."""
    root = str(place.root)
    # Some agents name folders after paths.
    forms = {root: HOME, re.sub(r"[^A-Za-z0-9]", "-", root): HOME.replace("/", "-")}
    name = place.root.name

    def clean(text: str) -> str:
        for old, new in forms.items():
            text = text.replace(old, new)
        text = text.replace(name, "you").replace(re.sub(r"[^a-z0-9]", "-", name), "you")
        return _SYSTEM.sub("Linux", text)

    return clean


def _line_of(line: str, clean: Callable[[str], str]) -> str:
    """Return a line of a transcript as it is kept."""
    value = _trimmed(json.loads(line), clean)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _trimmed(value: Any, clean: Callable[[str], str]) -> Any:
    """Return a value with its texts and lists cut."""
    if isinstance(value, str):
        limit = MAX_SECTION_CHARS if _MARK in value else MAX_CHARS
        text = clean(value)
        return text if len(text) <= limit else f"{text[:limit]}…"
    if isinstance(value, list):
        return [_trimmed(one, clean) for one in value[:MAX_ITEMS]]
    if isinstance(value, dict):
        return {clean(key): _trimmed(one, clean) for key, one in value.items()}
    return value


def _sql_of(file: Path, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield the statements that make the tables that matter, and their rows."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        for table in _TABLES:
            [(sql,)] = connection.execute(
                "SELECT sql FROM sqlite_master WHERE name = ?", (table,)
            )
            yield f"{' '.join(sql.split())};\n"
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
                yield f"INSERT INTO {table} VALUES ({_sql_values(row, clean)});\n"
    finally:
        connection.close()


def _sql_values(row: tuple[Any, ...], clean: Callable[[str], str]) -> str:
    """Return a row as SQL has it."""

    def literal(value: Any) -> str:
        if value is None:
            return "NULL"
        if not isinstance(value, str):
            return str(value)
        is_json = value.startswith(("{", "["))
        text = _line_of(value, clean).strip() if is_json else clean(value)
        return "'" + text.replace("'", "''") + "'"

    return ", ".join(map(literal, row))


if __name__ == "__main__":
    sys.exit(main())
