"""Agents write into their project while its owner renames it again and again.

    python -m benchmarks.project_moves --agents 8 --moves 12

Each agent is a process that opens the memory in the repository, as a server does,
and writes entries and saves memories without a scope, so they go into the project.
All that was acknowledged has to be in the folder that the project has in the end, and
the project must have no other. An entry that is lost after a move has to come back in
the folder of the new name. Exits 1 if something is lost, or lies in a folder of an
earlier name.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from hivemind_memory import open_memory
from hivemind_memory.environment import agent_scope_request
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import NewMemory
from tests.inject.repos import GIT_OF_NOBODY, git, make_repo

END = "end"
"""File in the home that ends the agents."""


def run(base: Path, *, agents: int, moves: int) -> list[str]:
    """Let all of them work; return what is wrong, and a last line of figures."""
    repo = make_repo(base / "shop")
    git(repo, "remote", "add", "origin", "git@github.com:acme/shop.git")
    os.chdir(repo)
    home = base / "home"
    (home / "memory").mkdir(parents=True)
    with open_memory(home=str(home), scope_request=agent_scope_request()) as memory:
        memory.write("first")
    told, tell = os.pipe()
    children = [_start(home, number, tell) for number in range(agents)]
    os.close(tell)
    name, refused = "shop", 0
    said = os.fdopen(told, "rb", buffering=0)
    acknowledged: list[bytes] = []
    with open_memory(home=str(home)) as owner:
        for number in range(moves):
            try:
                owner.curation.projects.move(name, f"store{number}", is_merge=False)
                name = f"store{number}"
            except HivemindError:
                refused += 1
            # Until all have written, about, so that each folder gets something.
            acknowledged += [said.readline() for _ in range(agents)]
    (home / END).touch()
    acknowledged += said.readlines()
    said.close()
    words = b"".join(acknowledged).decode().split()
    broken = [child for child in children if os.waitpid(child, 0)[1]]
    above = home / "memory" / "projects"
    problems = [f"{len(broken)} agents ended with an error"] if broken else []
    folders = sorted(folder.name for folder in above.iterdir())
    if folders != [name]:
        problems.append(f"the project {name} lies in {', '.join(folders)}")
    kept = "".join(file.read_text() for file in (above / name).rglob("*.md"))
    lost = [word for word in words if f"{word}." not in kept]
    if lost:
        problems.append(f"{len(lost)} acknowledged texts are not in {name}: {lost[:5]}")
    if refused == moves or len(words) < 4 * agents:
        problems.append("hardly anything happened")
    problems += _lost_after_a_move(home)
    figures = f"{agents} agents, {len(words)} texts, {moves - refused} moves"
    return [*problems, f"{figures}; {len(problems)} problems"]


def _lost_after_a_move(home: Path) -> list[str]:
    """Save an old buffer over an entry whose project has moved; return what is wrong.

    No repository belongs to the project, so only its name says where the entry belongs.
    """
    above = home / "memory" / "projects"
    with open_memory(home=str(home)) as owner:
        owner.write("The word is lamp.", scope="project/yard", file="log.md")
        owner.curation.projects.move("yard", "quay", is_merge=False)
        note = above / "quay" / "log.md"
        note.write_text("an old buffer\n")
        a_minute_ago = time.time() - 60
        os.utime(note, (a_minute_ago, a_minute_ago))
        owner.sync()
    back = above / "quay" / "recovered.md"
    is_back = back.exists() and not (above / "yard").exists()
    return [] if is_back else ["a lost entry came back under the earlier name"]


def _start(home: Path, number: int, tell: int) -> int:
    """Fork an agent that writes until it is told to end; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        _work(home, number, tell)
        code = 0
    finally:
        os._exit(code)


def _work(home: Path, number: int, tell: int) -> None:
    """Write and save, and tell what was acknowledged."""
    turn = 0
    while not (home / END).exists():
        turn += 1
        word = f"agent{number}turn{turn}"
        # Opened each time: a server opens it again when its project has moved.
        with (
            suppress(HivemindError),
            open_memory(home=str(home), scope_request=agent_scope_request()) as memory,
        ):
            if turn % 4:
                memory.write(f"The word is {word}.")
            else:
                text = f"The {word}. It belongs to the harbour of agent {number}."
                memory.save(NewMemory(key=word, content=text))
            os.write(tell, f"{word}\n".encode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--moves", type=int, default=12)
    given = parser.parse_args()
    os.environ.update(GIT_OF_NOBODY, HIVEMIND_EMBEDDING_PROVIDER="none")
    with tempfile.TemporaryDirectory() as made:
        said = run(Path(made).resolve(), agents=given.agents, moves=given.moves)
        os.chdir("/")
    print("\n".join(said))
    return 1 if len(said) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
