"""Try to get a section into a commit, or the text of memories into a push.

    python -m benchmarks.section_escapes [--every 1] [--made 24] [--seed N]

Real git, in real repositories with a section. First all ways that are known
(``fixtures/escape_ways.tsv``, ``fixtures/quoting_ways.tsv``) and some that are made up
of parts: what is copied how, under which name, by which command it is committed, with
which of the locks off, and how text of a folder beside it is merged. Nothing that git
reaches may have a part of the section then, and no remote the text of a memory. Then
as many ordinary changes, committed and pushed in ordinary ways, and text of someone
else that is fetched and pushed: none may be refused, and branches, tags and the remote
have to become what they become in a twin that never had a section. Prints what came of
it; exits with 1 if a section or a memory got out, or an ordinary command was refused.
``--every`` takes one known way in so many, ``--made`` is how many of each are made,
``--kinds`` what is tried at all.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hivemind_memory import open_memory
from tests.inject import repos
from tests.inject.conftest import Place, make_home
from tests.inject.repos import GIT_OF_NOBODY, add_remote, git
from tests.inject.test_escape import CARRIED, PRELUDE, WAYS, carried, shell
from tests.inject.test_quoted_memories import BOTH, FORMS, is_carried
from tests.inject.test_text_from_elsewhere import (
    BY_PATH,
    HERE,
    ON_PURPOSE,
    write_both,
)
from tests.inject.test_text_from_elsewhere import WAYS as FROM_ELSEWHERE
from tests.inject.test_text_from_elsewhere import with_colleague as _with_colleague

ALL = "git add -A; git commit -q -m all"
PUSH_ALL = "git push -q origin --all; git push -q origin --tags"

# How a copy of the file is made, where $name is a name that no filter covers.
COPIES = (
    *("cp CLAUDE.md $name", "cat CLAUDE.md >> shop.py", "git mv CLAUDE.md $name"),
    "ln CLAUDE.md $name",
    "ln -s $name l; cp CLAUDE.md $name",
    "cp CLAUDE.md $name; sed -i 's/-->$/-->  /' $name",
    "sed 's/^/# /' CLAUDE.md > $name",
    "tr a-z A-Z < CLAUDE.md > $name",
    "sed -n '/begin/,$p' CLAUDE.md > $name",
    "printf '\\0' > $name; cat CLAUDE.md >> $name",
)
NAMES = ("CONTEXT", "docs/guide.rst", "a.py", ".env")
LOCKS = (
    *("", "rm -f .git/info/attributes", "echo '* !filter' > .gitattributes"),
    "git config core.attributesFile /dev/null",
    "git config filter.hivemind-copies.clean cat",
)
# How what is staged gets into the history, a stash, a tag or a note.
COMMITS = (
    *("git commit -q -m x", "git commit -q --no-verify -m x", "git stash -q"),
    "git commit -q --amend --no-edit",
    "git update-ref HEAD $(git commit-tree -p HEAD -m x $(git write-tree))",
    "git tag -a -m x v1 $(git commit-tree -m x $(git write-tree))",
    (
        "git checkout -q -b side; git commit -q -m x; git checkout -q main;"
        " git cherry-pick side"
    ),
    "git checkout -q --detach; git commit -q -m x; git branch kept",
    "git -c user.name=Eve commit -q -m x; git rebase -q upstream",
    "GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD git -C / commit -q -m x",
    (
        "git worktree add -q ../side upstream; cp CLAUDE.md ../side/CONTEXT;"
        " git -C ../side add -A; git -C ../side commit -q -m x"
    ),
    "git notes add -C $(git hash-object -w --no-filters CLAUDE.md)",
)

# How the text of two memories, in the file ../both, gets into commits.
QUOTES = (
    *("cp ../both a.py", "sed 's/^/# /' ../both > a.py", "fold -sw 30 ../both > a.rst"),
    "tr a-z A-Z < ../both > a.txt",
    "sed 's/^/  s = \"/; s/$/\\n\" +/' ../both > a.js",
    "cp ../both guide.md; git add -A; git commit -q -m x; git mv guide.md b.rst",
    "git commit -q --allow-empty -F ../both",
    "cp ../both gone; git add -A; git commit -q -m x; git rm -q gone",
)
PUSHES = (
    *(PUSH_ALL, "git push -q origin HEAD:refs/heads/side", "git push -q --mirror"),
    "git tag -a -m x v1; git push -q origin v1",
    "git worktree add -q ../side; git -C ../side push -q ../remote side",
    "git push -q -o ci.skip origin HEAD; git push -q --force origin HEAD:main",
)
_NO_HOOKS = "core.hooksPath GIT_CONFIG_VALUE_0=/dev/null"
BYPASSED = ("", f"export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0={_NO_HOOKS}")

# What people do all day.
EDITS = (
    *("echo 'price = 9' > shop.py", "git mv shop.py store.py", "git rm -q shop.py"),
    "printf 'Use blanks.\\n\\n' > new.md; git add new.md",
    "mkdir -p docs; echo 'The shop deploys often.' > docs/deploy.md",
    "echo 'Keep `<!-- hivemind:begin v1 -->` as it is.' > guide.rst",
    "sed -i 's/Use tabs/Use blanks/' CLAUDE.md",
    "ln -s shop.py link; chmod +x shop.py",
    "printf '\\0\\1' > a.bin; cp a.bin b.bin",
    *("cp CLAUDE.md copy.md", "git mv CLAUDE.md GUIDE.md", "mv CLAUDE.md NOTES.txt"),
    "echo 'Hivemind is a word for every agent.' >> shop.py",
)
ORDINARY_COMMITS = (
    *(ALL, "git commit -q -a --allow-empty -m 'Ship hivemind'", f"{ALL} --amend"),
    f"{ALL}; git tag -a -m first v1; git notes add -m seen",
    "git stash -q -u; git stash pop -q; git add -A; git commit -q --allow-empty -m x",
    f"git checkout -q -b side; {ALL}; git checkout -q main; git merge -q --no-ff side",
    f"{ALL}; git rebase -q upstream",
    f"git checkout -q -b side; {ALL}; git checkout -q main; git cherry-pick side",
    f"{ALL}; git revert --no-edit HEAD",
    (
        "git worktree add -q ../side upstream; echo 1 > ../side/n;"
        f" git -C ../side add -A; git -C ../side commit -q -m n; {ALL}"
    ),
)


# A section that a colleague has committed arrives, is looked at, and goes.
REVIEW = "git fetch -q ../colleague marks:review && git branch -q -D review"


KINDS = ("escape", "quote", "beside", "ordinary", "elsewhere")
"""A section, or memories, from here or from a folder beside it; what must pass, of
one's own or of someone else."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something to do in a worktree, and what must not come of it."""

    kind: str
    state: str
    script: str


def with_remote(folder: Path) -> Path:
    """Make a worktree with a remote, beside a file with the text of two memories."""
    made = repos.tracked(folder)
    add_remote(folder, made)
    (folder / "both").write_text(BOTH)
    return made


def with_colleague(folder: Path) -> Path:
    """Make a worktree beside a colleague who has written what its section quotes."""
    made = _with_colleague(folder)
    colleague = folder / "colleague"
    write_both(colleague)
    git(colleague, "switch", "-q", "-c", "marks")
    (colleague / "a.rst").write_text("<!-- hivemind:begin v1 -->\nx\n")
    git(colleague, "add", "-A")
    git(colleague, "commit", "-q", "-m", "marks")
    git(colleague, "push", "-q", "shared", "marks")
    return made


def tries(options: argparse.Namespace) -> Iterator[Attempt]:
    """Yield what is tried."""
    chance = random.Random(options.seed)
    for state, script in WAYS[:: options.every]:
        yield Attempt("escape", state, f"{PRELUDE}{script}\n{ALL}")
    for script in FORMS[:: options.every]:
        yield Attempt("quote", "with_remote", f"{PRELUDE}{script}\n{ALL}; {PUSH_ALL}")
    for number, way in enumerate([*BY_PATH.values()][:: options.every]):
        here = [*HERE.values()][(number + options.seed) % len(HERE)]
        yield Attempt(
            "beside",
            "with_remote",
            f"({here} && cp ../both r.rst && {ON_PURPOSE})\n{way}\n{PUSH_ALL}",
        )
    for script in [REVIEW, *FROM_ELSEWHERE.values()][:: options.every]:
        yield Attempt("elsewhere", "with_colleague", f"{script}\n{PUSH_ALL}")
    for _ in range(options.made):
        name, lock = chance.choice(NAMES), chance.choice(LOCKS)
        copy, commit = chance.choice(COPIES), chance.choice(COMMITS)
        script = f"mkdir docs; name='{name}'; {lock}\n{copy}\ngit add -A\n{commit}"
        yield Attempt("escape", "tracked", script)
        quote, push = chance.choice(QUOTES), chance.choice(PUSHES)
        script = f"({chance.choice(BYPASSED)}\n{quote}\n{ALL})\n{push}"
        yield Attempt("quote", "with_remote", script)
    for number in range(2 * options.made):
        edit = EDITS[number % len(EDITS)]
        commit = chance.choice(ORDINARY_COMMITS)
        yield Attempt("ordinary", "with_remote", f"{edit}\n{commit}\n{PUSH_ALL}")


def problem_with(attempt: Attempt, place: Place) -> str:
    """Try something; return what went wrong, or nothing."""
    own = {"with_remote": with_remote, "with_colleague": with_colleague}
    state = own.get(attempt.state) or getattr(repos, attempt.state)
    with place.injected(state) as (worktree, file):
        if CARRIED[0] not in file.read_bytes():
            return "there is no section"
        done = shell(worktree, attempt.script)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if attempt.kind == "escape":
            return "a commit has a part of the section" if carried(worktree) else ""
        remote = worktree.parent / "remote"
        if attempt.kind in {"quote", "beside"}:
            return "the remote has the text of a memory" if is_carried(remote) else ""
        if "hivemind:" in said:
            return f"an ordinary command was refused: {said}"
        with_section = (done.returncode, _refs(worktree), _refs(remote))
    with place.plain(state) as worktree:
        done = shell(worktree, attempt.script)
        plain = (done.returncode, _refs(worktree), _refs(worktree.parent / "remote"))
    return "" if with_section == plain else f"{with_section} is not {plain}: {said}"


def _refs(repository: Path) -> str:
    """Return all branches, tags and notes with what they name."""
    # A stash, and what is in it, are the worktree's own.
    return git(repository, "for-each-ref", "refs/heads", "refs/tags", "refs/notes")


def main() -> int:
    """Try everything, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--made", type=int, default=24)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    options = parser.parse_args()
    os.environ.update(GIT_OF_NOBODY, HIVEMIND_EMBEDDING_PROVIDER="none")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        os.environ.pop(name, None)
    counts = dict.fromkeys(options.kinds, 0)
    problems = []
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        top = Path(made)
        os.chdir(top)
        home = make_home(top / "made" / "home")
        points = BOTH.rstrip().replace("\n", "\n\n## Another\n\n")
        (home / "memory" / "global.md").write_text(f"# Global\n\n## One\n\n{points}\n")
        with open_memory(home=str(home)) as memory:
            memory.sync()
        place = Place(top / "here", home)
        for attempt in tries(options):
            if attempt.kind not in counts:
                continue
            counts[attempt.kind] += 1
            problem = problem_with(attempt, place)
            if problem:
                problems.append(
                    f"{attempt.kind} in {attempt.state}: {attempt.script}\n  {problem}"
                )
        os.chdir("/")
    tried = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
    print(f"{tried}; {len(problems)} problems in {time.monotonic() - began_s:.0f} s")
    for problem in problems[:10]:
        print(problem[:1500])
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
