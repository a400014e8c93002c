"""Faults in the servers for agents."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="what was read of a note is never forgotten",
        rig="mcp_growth --writes 1200 --notes 2 --most-kb 4",
        module="markdown/blocks.py",
        code=(
            "_every = []\n\n\n"
            "def _grown(self, path, data, growth, read=BlockReader.read_grown):\n"
            "    _every.append(decode(data))\n"
            "    return read(self, path, data, growth)\n\n\n"
            "BlockReader.read_grown = _grown\n"
        ),
        says=r"memory x",
    ),
    Fault(
        name="a token sees what the server itself sees",
        rig="access_matrix --pairs 0 --calls routes --every 40",
        module="http_api/callers.py",
        code=(
            "assert CallerMemories._open\n"
            "CallerMemories._open = lambda self, _: (\n"
            "    client_memory.open_owner_connection_memory(self._memory_dir)\n"
            ")\n"
        ),
        says=r"[1-9]\d* leaks",
    ),
    Fault(
        name="a broken frame is not answered",
        rig="mcp_frames --frames 300 --patience 3",
        module="mcp_server/frames.py",
        code=(
            "assert _refused\n_refused = lambda *_: RejectedLine(error_responses=())\n"
        ),
        says=r"[1-9]\d* unanswered",
    ),
    Fault(
        name="a server that has nothing to answer waits after its client has left",
        rig="mcp_end --times 1 --idle-s 0.2",
        module="mcp_server/stdio.py",
        code=(
            "async def _wait(self):\n"
            "    await anyio.sleep(GRACE_S)\n\n\n"
            "assert _Connection._answer_the_rest\n"
            "_Connection._answer_the_rest = _wait\n"
        ),
        says=r"median \d{4,} ms",
    ),
    Fault(
        name="a server does not notice that its input has ended",
        rig="mcp_end --times 1 --idle-s 0.2",
        module="mcp_server/streams.py",
        code=(
            "import time\n\n\n"
            "def _read(self, timeout_s=None, read=LineReader.read):\n"
            "    try:\n"
            "        return read(self, timeout_s)\n"
            "    except EOFError:\n"
            "        time.sleep(0.5)\n"
            "        raise\n\n\n"
            "LineReader.read = _read\n"
        ),
        says=r"median [3-9]\d\d ms",
    ),
    Fault(
        name="every call fails",
        rig="mcp_frames --frames 100",
        module="mcp_server/tools.py",
        code=(
            "async def _run(self, tool, *_):\n"
            "    raise unexpected_error(tool, RuntimeError('broken'))\n\n\n"
            "ToolRunner.run = _run\n"
        ),
        says=r"[1-9]\d* wrong",
    ),
    Fault(
        name="a wrong query string is an error of the server",
        rig="http_hostile --requests 400 --clients 2 --seed 3",
        module="http_api/frame.py",
        code=(
            "assert field_failure and failure_of_fields\n"
            "field_failure = failure_of_fields = lambda *_: RuntimeError('x')\n"
        ),
        says=r"[1-9]\d* wrong answers",
    ),
    Fault(
        name="threads use one connection to state.db at the same time",
        rig="mcp_parallel --clients 8 --calls 20 --seconds 20 --transport http"
        " --projects 1 --workspaces 1",
        module="state/state_file.py",
        code=(
            "class _NoLock:\n"
            "    def acquire(self, timeout=0):\n"
            "        return True\n\n"
            "    def release(self, *_):\n"
            "        pass\n\n"
            "    __enter__, __exit__ = acquire, release\n\n"
            "assert threading.RLock\n"
            "class threading:\n"
            "    RLock = _NoLock\n"
        ),
        says=r"Threading|[1-9]\d* fail",
    ),
    Fault(
        name="calls wait for each other, and some for longer than anyone does",
        rig="mcp_parallel --clients 4 --calls 20 --seconds 5 --transport http",
        module="mcp_server/tools.py",
        code=(
            "async def _run(*arguments, run=ToolRunner.run):\n"
            "    await anyio.sleep(1)\n"
            "    return await run(*arguments)\n\n"
            "ToolRunner.run = _run\n"
        ),
        says="cut short after 5 s",
    ),
    Fault(
        name="a caller gets the answer to another call",
        rig="mcp_parallel --clients 3 --calls 8 --seconds 60 --transport http",
        module="mcp_server/tools.py",
        code=(
            "_LAST = {}\n\n\n"
            "async def _run(self, tool, *rest, run=ToolRunner.run):\n"
            "    answer = await run(self, tool, *rest)\n"
            "    before, _LAST[tool] = _LAST.get(tool, answer), answer\n"
            "    return before\n\n\n"
            "ToolRunner.run = _run\n"
        ),
        says=r"memory_search: .* is not answered by",
    ),
    Fault(
        name="every connection gets the project of the first one",
        rig="mcp_parallel --clients 4 --calls 4 --seconds 60 --transport http",
        module="mcp_server/server_state.py",
        code=(
            "_FIRST = []\n\n\n"
            "def _memory_of(self, project, token, of=ServerState._memory_of):\n"
            "    _FIRST.extend(filter(None, [project]))\n"
            "    return of(self, project and _FIRST[0], token)\n\n\n"
            "ServerState._memory_of = _memory_of\n"
        ),
        says=r"memory_(search|history): .* is not answered by",
    ),
    Fault(
        name="one write in five is acknowledged and not made",
        rig="mcp_parallel --clients 3 --calls 20 --seconds 60 --transport http",
        module="memory/write.py",
        code=(
            "_CALLS = []\n_append = append_entry\n\n\n"
            "def append_entry(new, *rest, **more):\n"
            "    _CALLS.append(new)\n"
            "    if len(_CALLS) % 5:\n"
            "        return _append(new, *rest, **more)\n"
            "    return WriteResult(\n"
            "        path=new.path, scope='', id='01M80JBHRKPTRHKEJQQCVB56P4',\n"
            "        start_line=1, end_line=2, is_indexed=True, warnings=()\n"
            "    )\n"
        ),
        says=r"is in the notes as \[\]",
    ),
)
