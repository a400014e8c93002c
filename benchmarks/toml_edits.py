"""Adds a table to generated TOML files and removes it, with our editor and tomlkit.

Counts the files that are not the same bytes afterwards. tomlkit is no dependency:
``pip install tomlkit`` first. See docs/decisions/019-toml.md.
"""

from __future__ import annotations

import random
import sys
import time
import tomllib
from collections.abc import Callable, Iterator

from hivemind_memory.connect.toml_edit import drop_table, put_table

ENTRY = {"command": "/bin/hm", "args": ["mcp"]}
TABLE = ("mcp_servers", "hivemind")
NAMES = ("mcp_servers.b", 'mcp_servers."c d"', "profiles.a", "tui", "history")
LINES = ('command = "b"', 'args = [\n  "a", # one\n  "b",\n]', "k = 1_000")


def texts(count: int, seed: int) -> Iterator[str]:
    """Yield valid files."""
    chance = random.Random(seed)
    while count:
        newline = chance.choice(["\n", "\n", "\n", "\r\n"])
        lines = ["# mine", ""] if chance.random() < 0.3 else []
        keys = chance.sample(["model", "notify", "x"], chance.randint(0, 3))
        lines += [f'{k} = "v"' + chance.choice(["", " # why", "   "]) for k in keys]
        for name in chance.sample(NAMES, chance.randint(0, 4)):
            lines += [""] * chance.choice([0, 1, 1, 2]) + [f"[{name}]"]
            body = chance.sample(LINES, chance.randint(1, 3))
            lines += [chance.choice(["", "  "]) + line for line in body]
            if chance.random() < 0.3:
                lines.append("# about the next one")
        text = "\n".join(lines).replace("\n", newline)
        text += chance.choice([newline, newline * 2, ""]) if text else ""
        tomllib.loads(text)
        count -= 1
        yield text


def tomlkit_put(text: str) -> str:
    """Add the table with tomlkit."""
    import tomlkit

    document = tomlkit.parse(text)
    if "mcp_servers" not in document:
        document["mcp_servers"] = tomlkit.table(is_super_table=True)
    table = tomlkit.table()
    table.update(ENTRY)
    document["mcp_servers"]["hivemind"] = table
    return tomlkit.dumps(document)


def tomlkit_drop(text: str) -> str:
    """Remove the table with tomlkit."""
    import tomlkit

    document = tomlkit.parse(text)
    del document["mcp_servers"]["hivemind"]
    if not document["mcp_servers"]:
        del document["mcp_servers"]
    return tomlkit.dumps(document)


def measure(
    name: str, put: Callable[[str], str], drop: Callable[[str], str], count: int
) -> None:
    """Print how many files changed, and how long an edit and its undoing take."""
    changed = 0
    begun_s = time.perf_counter()
    for text in texts(count, seed=7):
        changed += drop(put(text)) != text
    each_ms = 1000 * (time.perf_counter() - begun_s) / count
    print(f"{name:8} {changed} of {count} files changed, {each_ms:.1f} ms each")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    measure(
        "ours",
        lambda text: put_table(text, TABLE, ENTRY),
        lambda text: drop_table(text, TABLE),
        number,
    )
    measure("tomlkit", tomlkit_put, tomlkit_drop, number)
