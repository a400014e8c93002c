"""`hm mcp` as a process: what it prints, what it survives, when it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.mcp_server.agents import (
    COMMAND,
    MODES,
    environ,
    initialize_request,
    is_frame,
    piped,
    recorded,
    text_of,
)
from tests.support.waiting import HANG_S, wait_until

LEAVES_WITHIN_S = 60.0
"""Whatever else the machine does: one that waits for something never leaves. How fast
it is tells ``benchmarks/mcp_end.py``."""


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_own_client_is_served(
    home: Path, notes: Path, tmp_path: Path, mode: str
) -> None:
    """A client that nobody here wrote, in each version of the protocol."""
    printed = tmp_path / "printed"
    command = recorded(COMMAND, printed)

    async def run() -> tuple[list[str], str]:
        parameters = StdioServerParameters(
            command=command[0], args=list(command[1:]), env=environ()
        )
        async with Client(parameters, mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            await client.call_tool(
                "memory_write", {"content": "Owls hunt.", "file": "owl.md"}
            )
            answer = await client.call_tool("memory_search", {"query": "owls"})
            return names, text_of(answer)

    names, text = anyio.run(run)

    assert names == [
        *("memory_search", "memory_write", "memory_get", "memory_list"),
        *("memory_save", "memory_history", "memory_link", "memory_forget"),
        "memory_learn",
    ]
    assert "> Owls hunt." in text
    assert " by=mcp " in (notes / "owl.md").read_text(encoding="utf-8")
    lines = printed.read_bytes().splitlines(keepends=True)
    assert len(lines) >= 3
    assert all(is_frame(line) for line in lines)


def test_an_entry_names_the_client_that_wrote_it(home: Path, notes: Path) -> None:
    """Every entry records who wrote it, and in which session."""
    with piped() as pipes:
        pipes.initialize()
        for word in ("one", "two"):
            pipes.call("memory_write", word, content=word, file=f"{word}.md")
        pipes.read_to_end()

    lines = [
        (notes / f"{word}.md").read_text(encoding="utf-8").split("\n")[0]
        for word in ("one", "two")
    ]
    [session] = {line.partition("session=")[2].split()[0] for line in lines}
    assert len(session) == 8
    assert all(" by=piper " in line for line in lines)
    assert all(" source=agent " in line for line in lines)


def test_initialize_is_answered_before_anything_is_opened(home: Path) -> None:
    """It answers `initialize` before it indexes, or a client would give up."""
    notes = home / "memory"
    with piped() as pipes:
        answer = pipes.initialize()
        at_the_answer = (notes / ".index").exists()

        assert answer["result"]["instructions"]
        assert not at_the_answer


def test_a_home_that_cannot_be_used_does_not_keep_it_from_starting(
    home: Path,
) -> None:
    """The agent must be able to read what is wrong."""
    (home / "config.json").write_text("{broken", encoding="utf-8")
    with piped() as pipes:
        pipes.initialize()

        result = pipes.call("memory_write", content="x")

        assert result["isError"]
        assert "config.json" in result["content"][0]["text"]
        assert "Nothing was saved" in result["content"][0]["text"]


@pytest.mark.parametrize("has_asked", [False, True])
def test_it_leaves_when_its_input_ends(home: Path, has_asked: bool) -> None:
    """Servers that stay behind are what users of other systems complain of."""
    with piped() as pipes:
        if has_asked:
            pipes.initialize()
            pipes.call("memory_search", query="deploy")
            wait_for_leader(home)
        else:
            wait_until_it_reads(pipes.process)

        pipes.read_to_end()

        assert pipes.process.wait(LEAVES_WITHIN_S) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_leaves_when_it_is_told_to(home: Path, number: signal.Signals) -> None:
    """With the input still open: a client that is killed by force may leave it so."""
    with piped() as pipes:
        pipes.initialize()
        wait_for_leader(home)

        pipes.process.send_signal(number)

        assert pipes.process.wait(LEAVES_WITHIN_S) == 0


def test_it_leaves_when_nobody_reads_its_answers(home: Path) -> None:
    """A killed client's children may hold our input open, but not read our output."""
    with piped() as pipes:
        pipes.initialize()
        assert pipes.process.stdout is not None

        pipes.process.stdout.close()

        assert pipes.process.wait(LEAVES_WITHIN_S) == 0


def test_it_leaves_while_a_call_hangs(home: Path) -> None:
    """The asker has left; nothing may keep the process, not even a thread."""
    script = (
        "import sys, time\n"
        "from hivemind_memory.memory.memory import Memory\n"
        "Memory.search = lambda self, query: time.sleep(1e6)\n"
        "from hivemind_memory.cli.main import main\n"
        "sys.exit(main(['mcp']))\n"
    )
    with piped(command=(sys.executable, "-c", script)) as pipes:
        pipes.initialize()
        ask = {"name": "memory_search", "arguments": {"query": "x"}}
        frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ask}
        pipes.send(json.dumps(frame).encode())

        pipes.read_to_end()

        # The call never ends: the process would not, if it waited for it.
        assert pipes.process.wait(LEAVES_WITHIN_S) == 0
        assert pipes.answer_to(1)["error"]["message"] == "Connection closed"


def piped_writes(count: int) -> bytes:
    """What a script sends that writes so many entries and closes its end."""
    frames: list[dict[str, object]] = [
        initialize_request(0, "sh"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {
                    "name": "memory_write",
                    "arguments": {"content": f"entry {number}.", "file": "piped.md"},
                },
            }
            for number in range(1, count + 1)
        ),
    ]
    return "\n".join(json.dumps(frame) for frame in frames).encode()


# It waits for an answer as long as a busy machine may need.
PATIENT = f"""\
import sys
from hivemind_memory.mcp_server import stdio
stdio.GRACE_S = {HANG_S}
from hivemind_memory.cli.main import main
sys.exit(main(["mcp"]))
"""

# Twelve writes take longer than the wait for one answer, and each a tenth of it.
SLOW_WRITES = """\
import sys, threading, time
from hivemind_memory.memory.memory import Memory
from hivemind_memory.mcp_server import stdio
stdio.GRACE_S = 4.0
write, one_at_a_time = Memory.write, threading.Lock()
def slow(self, *args, **kwargs):
    with one_at_a_time:
        time.sleep(0.4)
    return write(self, *args, **kwargs)
Memory.write = slow
from hivemind_memory.cli.main import main
sys.exit(main(["mcp"]))
"""


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ((sys.executable, "-c", PATIENT), 20),
        ((sys.executable, "-c", SLOW_WRITES), 12),
    ],
    ids=["at once", "one after the other"],
)
def test_requests_that_were_piped_in_are_answered_before_it_leaves(
    home: Path, notes: Path, command: tuple[str, ...], count: int
) -> None:
    """`printf … | hm mcp` works, and nothing that was sent is dropped."""
    done = subprocess.run(
        command,
        input=piped_writes(count),
        capture_output=True,
        env=environ(),
        check=True,
        timeout=HANG_S,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(count + 1))
    assert [answer for answer in answers if "result" not in answer] == []
    text = (notes / "piped.md").read_text(encoding="utf-8")
    for number in range(1, count + 1):
        assert f"\nentry {number}.\n" in text


def test_what_the_program_prints_does_not_reach_the_client(home: Path) -> None:
    """One stray word on standard output ends a connection."""
    script = (
        "import sys\n"
        "from hivemind_memory.memory.memory import Memory\n"
        "search = Memory.search\n"
        "def noisy(self, query):\n"
        "    print('stray'); import os; os.write(1, b'stray bytes\\n')\n"
        "    os.system('echo stray child')\n"
        "    assert sys.stdin.read() == ''\n"
        "    return search(self, query)\n"
        "Memory.search = noisy\n"
        f"{PATIENT}"
    )
    frames = [
        initialize_request(0, "sh"),
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "deploy"}},
        },
    ]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input="".join(json.dumps(frame) + "\n" for frame in frames).encode(),
        capture_output=True,
        env=environ(),
        check=True,
        timeout=HANG_S,
    )

    answers = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert answers[1]["result"]["structuredContent"]["hits"]
    assert done.stderr.count(b"stray") == 3


def test_an_argument_of_any_kind_is_answered(home: Path) -> None:
    """The request is answered, and the next one is served as before."""
    odd: tuple[dict[str, Any], ...] = (
        {"content": "x" * 20_000_000},
        {"content": "half \ud83d", "file": "a\ud800.md"},
        {"content": "x", "file": "a\x00.md"},
        {"content": "x", "file": "\u202egnp.md" * 100_000},
        {"content": "x", "x" * 1_000_000: "y"},
    )
    with piped() as pipes:
        pipes.initialize()
        results = [
            pipes.call("memory_write", number, **arguments)
            for number, arguments in enumerate(odd)
        ]
        search = pipes.call("memory_search", "next", query="deploy" + " word" * 100_000)

    for result in results:
        said = result["content"][0]["text"]
        assert result["isError"]
        assert "othing was saved" in said
        assert len(said) < 1200
    assert not search.get("isError")


def test_a_line_that_never_ends_is_answered_when_it_does(home: Path) -> None:
    """Its id stands at its beginning; its bytes are not kept."""
    with piped() as pipes:
        pipes.initialize()
        head = b'{"jsonrpc":"2.0","id":"long","method":"x","params":{"a":"'
        pipes.send(head + b"x" * (33 * 1024 * 1024))

        assert "at most" in pipes.answer_to("long")["error"]["message"]
        assert pipes.call("memory_list", "next")["structuredContent"]["files"]


def test_options_for_http_are_refused_without_it(home: Path) -> None:
    """A port that is not used misleads."""
    done = subprocess.run(
        [*COMMAND, "--port", "1"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environ(),
        check=False,
        timeout=HANG_S,
    )

    assert done.returncode == 2
    assert done.stdout == b""
    assert b"need --http" in done.stderr


def wait_for_leader(home: Path) -> None:
    """Wait until a watcher leads."""
    lock = home / "memory" / ".index" / "watch.json"
    wait_until(lock.exists, "nobody leads")


def wait_until_it_reads(process: subprocess.Popen[bytes]) -> None:
    """Wait until a server has taken its standard streams for itself."""

    def reads() -> bool:
        try:
            return os.readlink(f"/proc/{process.pid}/fd/0") == os.devnull
        except OSError:
            return False

    wait_until(reads, "it does not start")
