"""How far the estimate of tokens is from real vocabularies, by language and for code.

    TIKTOKEN_CACHE_DIR=DIR python -m benchmarks.token_error \\
        --tiktoken cl100k_base o200k_base --tokenizer claude=FILE.json

Prints the estimate divided by the true count, for the notes in ten languages of
``fixtures/judged/languages``, English pages, and code. Vocabularies are files that you
have; nothing is downloaded if the folder of the variable holds those of tiktoken.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.providers.token_counter import token_counter

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]


def texts() -> dict[str, list[str]]:
    """Return texts by language, code by its own."""
    found: dict[str, list[str]] = defaultdict(list)
    notes = ROOT / "fixtures" / "judged" / "languages" / "notes" / "memory"
    for path in sorted(notes.rglob("*.md")):
        found[path.parent.name].append(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "docs").glob("*.md")):
        found["en"].append(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "hivemind_memory" / "search").glob("*.py")):
        found["Python"].append(path.read_text(encoding="utf-8"))
    bundle = (ROOT / "fixtures" / "working" / "lendery.txt").read_text(encoding="utf-8")
    for part in bundle.split("\n=== "):
        name = part.partition(" | ")[0]
        kind = {".ts": "TypeScript", ".sql": "SQL", ".sh": "shell"}.get(
            Path(name).suffix
        )
        if kind:
            found[kind].append(part)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiktoken", nargs="*", default=[], metavar="ENCODING")
    parser.add_argument("--tokenizer", nargs="*", default=[], metavar="NAME=FILE")
    arguments = parser.parse_args()
    counters: dict[str, Callable[[str], int]] = {}
    for name in arguments.tiktoken:
        encoding = import_module("tiktoken").get_encoding(name)
        counters[name] = lambda text, encoding=encoding: len(
            encoding.encode(text, disallowed_special=())
        )
    for given in arguments.tokenizer:
        name, _, file = given.partition("=")
        counters[name] = token_counter(file)
    print(f"{'':12}{''.join(f'{name:>14}' for name in counters)}{'highest':>14}")
    for language, some in texts().items():
        estimated = sum(map(estimate_tokens, some))
        counts = [sum(map(count, some)) for count in counters.values()]
        ratios = [estimated / count for count in (*counts, max(counts))]
        print(f"{language:12}{''.join(f'{ratio:14.2f}' for ratio in ratios)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
