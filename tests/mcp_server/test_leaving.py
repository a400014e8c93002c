"""A server never outlives its client: however that ends, and whatever is under way.

`test_stdio` has the ends that a client chooses; here it is killed, as a terminal that
is closed or a machine short of memory does it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp_server.agents import COMMAND, environ
from tests.support.waiting import wait_until

HANGING = """\
import os, sys, time
from hivemind_memory.memory.memory import Memory
def hang(self, *_, **__):
    open(sys.argv[1], "w").close()
    time.sleep(1e6)
Memory.search = Memory.write = hang
from hivemind_memory.cli.main import main
sys.exit(main(["mcp"]))
"""
# The SDK's own client, which then waits for ever: for an answer, or for nothing.
CLIENT = """\
import os, sys
import anyio
from mcp import Client, StdioServerParameters
async def run():
    tool, *command = sys.argv[1:]
    env = dict(os.environ)
    server = StdioServerParameters(command=command[0], args=command[1:], env=env)
    async with Client(server) as client:
        await client.list_tools()
        print("connected", flush=True)
        if tool == "memory_search":
            await client.call_tool(tool, {"query": "x"})
        if tool == "memory_write":
            await client.call_tool(tool, {"content": "x"})
        await anyio.sleep(1e6)
anyio.run(run)
"""


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, as the kernel lists them."""
    tasks = Path(f"/proc/{pid}/task")
    words = [(task / "children").read_text().split() for task in tasks.iterdir()]
    return [int(word) for one in words for word in one]


def is_there(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="finds the server by /proc")
@pytest.mark.parametrize("tool", ["", "memory_search", "memory_write"])
def test_it_leaves_when_its_client_is_killed(
    tool: str, home: Path, tmp_path: Path
) -> None:
    """Idle, or in the midst of a call; the client closes nothing and says nothing."""
    begun = tmp_path / "begun"
    server = (sys.executable, "-c", HANGING, str(begun)) if tool else COMMAND
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, tool, *server],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environ(),
    ) as client:
        try:
            assert client.stdout is not None
            assert client.stdout.readline() == b"connected\n"
            [pid] = children_of(client.pid)
            wait_for(begun if tool else home / "memory" / ".index" / "watch.json")
        finally:
            client.send_signal(signal.SIGKILL)

        try:
            wait_until(lambda: not is_there(pid), "it did not leave")
        finally:
            if is_there(pid):
                os.kill(pid, signal.SIGKILL)


def wait_for(file: Path) -> None:
    """Wait until a file is there."""
    wait_until(file.exists, f"there was no {file}")
