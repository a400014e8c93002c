"""An argument of megabytes costs a refusal, whatever field it is in."""

from __future__ import annotations

import time
from typing import Any

import anyio
from mcp import Client

from hivemind_memory.mcp_server.server import MemoryServer

SMALL = {
    "claim": "WAL allows one writer.",
    "content": "Herons stand.",
    "from": "heron",
    "key": "heron",
    "kind": "updates",
    "path": "deploy.md",
    "query": "heron",
    "to": "crane",
    "topic": "locks",
}
"""What each required argument is unless it is the large one."""

LARGE = "pass word: Xy7key " * 222_222
"""Four megabytes that look like secrets, which are slow to find."""

MANY = [f"a{number}.org" for number in range(100_000)]
MOST = 200
"""Small calls that a large one may cost; looking for secrets first was 5,000."""


def test_limits_come_before_what_takes_time(server: MemoryServer) -> None:
    """A claim of 100,000 domains took 21 s, and a key of 4 MB 11 s, to be refused."""

    async def cost_s(client: Client, tool: str, arguments: dict[str, Any]) -> float:
        # All threads: the work is done on one of its own.
        start_s = time.process_time()
        await client.call_tool(tool, arguments)
        return time.process_time() - start_s

    async def run() -> dict[str, float]:
        costs: dict[str, float] = {}
        async with Client(server) as client:
            for key in ("heron", "crane"):
                saved = {"key": key, "content": f"A {key}."}
                await client.call_tool("memory_save", saved)
            small = {"query": "heron"}
            unit = min([await cost_s(client, "memory_search", small) for _ in "12345"])
            for tool in (await client.list_tools()).tools:
                schema = tool.input_schema
                base = {name: SMALL[name] for name in schema.get("required", ())}
                for name, field in schema["properties"].items():
                    kind = field.get("type")
                    values = {"string": [LARGE], "array": [MANY, [LARGE]]}
                    for value in values.get(kind, ()):
                        arguments = {**base, name: value}
                        cost = await cost_s(client, tool.name, arguments)
                        costs[f"{tool.name} {name}"] = cost / unit
        return costs

    costs = anyio.run(run)

    assert len(costs) > 30
    assert {name: cost for name, cost in costs.items() if cost > MOST} == {}
