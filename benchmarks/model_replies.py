"""Give thousands of bad replies to the jobs of the language model: is anything lost?

    python -m benchmarks.model_replies --replies 5000

Memories are saved and related by replies of every kind: wrong shapes, invented ids,
instructions, other languages, 10 MB. In the end each memory is active and says what was
saved, no link leads to a memory that the model was not given, and none hides another.
Briefings are asked for in between: none that is shown has what no memory says. As many
replies are given about sessions: what they propose cites lines that are there, holds no
secret, and nothing that a tool said is saved. And as many to consolidations: whatever
is applied of them, no text is lost, and forgetting the session undoes all of it.
Exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.capture_replies import try_capture_replies
from tests.support.consolidation_replies import try_consolidation_replies
from tests.support.model_replies import try_replies


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as base:
        problems = try_replies(Path(base) / "memories", given.replies, given.seed)
        problems += try_capture_replies(
            Path(base) / "sessions", given.replies, given.seed
        )
        problems += try_consolidation_replies(
            Path(base) / "merges",
            given.replies,
            given.seed,
            least_applied=given.replies // 50,
        )
    for problem in problems:
        print(problem[:1000])
    took_s = time.monotonic() - started
    print(
        f"seed {given.seed}: 3 x {given.replies} replies in {took_s:.0f} s,"
        f" {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
