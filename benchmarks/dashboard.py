"""Measure the pages of the dashboard: time of the server, bytes, first paint, typing.

    python -m benchmarks.dashboard [--memories 10000] [--chunks 100000]

A server over a corpus with typed memories; each page is read again and again, beside
``/healthz``, which does nothing: what that takes is the machine's. CPU is what the
server computes for each page, whatever else the machine does. With Chromium on the
machine, the first contentful paint and the time from a key to the frame that shows its
results are measured too, in turns with whole pages in their place, which is what the
script once asked for. Prints milliseconds, and what was asked from elsewhere, which
must be nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import httpx

from benchmarks.corpus import corpus
from benchmarks.measure import table
from hivemind_memory import opening
from hivemind_memory.model.clocks import utc_iso
from tests.http_api.served import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

TYPES = ("decision", "fact", "lesson", "preference", "context", "event")
ROUNDS = 40
TYPED_WORDS = 20
WORDS = ("disk", "host", "deploy", "backup", "server")
KEY_MS = 100
WATCH = """word => {
  const field = document.getElementById("q");
  let began = 0;
  window.taken = 0;
  field.addEventListener("input", () => { began = performance.now(); }, true);
  new MutationObserver(() => {
    if (new URL(location.href).searchParams.get("q") !== word || window.taken) return;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { window.taken ||= performance.now() - began; };
      port2.postMessage(0);
    });
  }).observe(document.getElementById("memory-index"), { childList: true });
}"""
"""Takes the time from the last key to the frame in which its results are."""

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        home = Path(base) / "home"
        environ = {"HIVEMIND_HOME": str(home), "HIVEMIND_EMBEDDING_PROVIDER": "none"}
        with mock.patch.dict(os.environ, environ):
            key = fill(home / "memory", given.memories, given.chunks)
            with serving() as served:
                show(served, key)
    return 0


def fill(notes: Path, memories: int, chunks: int) -> str:
    """Write the notes and index them; return the id of one memory."""
    made = corpus(chunks=chunks)
    shutil.copytree(made.notes, notes)
    rng, words = random.Random(1), [word for q in made.queries() for word in q.split()]
    for at in range(memories):
        ulid = f"01K{at:023d}"
        text = " ".join(rng.choices(words, k=30))
        day = utc_iso(1_750_000_000 + at * 3_000)
        head = f"id: {ulid}\nkey: memory-{at}\ntype: {rng.choice(TYPES)}\n"
        file = notes / f"memory-{at}.md"
        file.write_text(f"---\n{head}created: {day}\n---\n{text}\n", encoding="utf-8")
    with opening.open_memory() as memory:
        memory.sync()
    return ulid


def show(served: Served, key: str) -> None:
    """Print the figures of every page."""
    paths = {
        "nothing": "/healthz",
        "memories": "/memory",
        "last part": "/memory?page=200",
        "search": "/memory?q=disk+full+host",
        "while typing": "/memory?q=disk+full+host",
        "a memory": f"/memory/{key}",
        "edit": f"/memory/{key}/edit",
        "notes": "/memory/notes",
        "inbox": "/memory/inbox",
        "doubtful": "/memory/doubtful",
        "injection": "/memory/injection",
        "sessions": "/memory/sessions",
        "log": "/memory/log",
        "figures": "/memory/figures",
        "health": "/memory/health",
    }
    code = served.ask("POST", "/memory/link").json()["code"]
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        client.get(f"/memory/login?code={code}")
        rows = []
        for name, path in paths.items():
            part = "typed" if name == "while typing" else ""
            client.headers["hivemind-part"] = part
            client.get(path).raise_for_status()
            times = []
            cpu = cpu_s(served.process.pid)
            for _ in range(ROUNDS):
                began = time.perf_counter()
                reply = client.get(path)
                times.append((time.perf_counter() - began) * 1000)
            cpu = (cpu_s(served.process.pid) - cpu) * 1000 / ROUNDS
            times.sort()
            size = int(reply.headers["content-length"])
            p95 = times[int(len(times) * 0.95) - 1]
            middle = f"{times[ROUNDS // 2]:.1f}"
            rows.append((name, middle, f"{p95:.1f}", f"{cpu:.1f}", f"{size:,}"))
    print(table(("page", "p50 ms", "p95 ms", "CPU ms", "bytes sent"), rows))
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        print("no Chromium here: no paint and no typing")
        return
    in_browser(served, program)


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has taken, in all its threads."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def in_browser(served: Served, program: str) -> None:
    """Print what a person waits for."""
    from playwright.sync_api import sync_playwright

    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update"]
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        page = browser.new_context(base_url=served.url).new_page()
        page.on("request", lambda request: asked.append(request.url))
        code = served.ask("POST", "/memory/link").json()["code"]
        page.goto(f"/memory/login?code={code}")
        paints = []
        for _ in range(10):
            page.goto("/memory")
            paints.append(
                page.evaluate(
                    "new Promise(done => new PerformanceObserver(list => done("
                    "list.getEntries()[0].startTime)).observe("
                    "{ type: 'paint', buffered: true }))"
                )
            )
        waits: dict[str, list[float]] = {"results": [], "pages": []}
        for at in range(TYPED_WORDS):
            for what, times in waits.items():
                page.unroute_all()
                if what == "pages":
                    page.route("**/memory?*q=*", ask_for_page)
                times.append(typed_ms(page, WORDS[at % len(WORDS)]))
        page.unroute_all()
        browser.close()
    paints.sort()
    print(f"first contentful paint: p50 {paints[5]:.0f} ms, worst {paints[-1]:.0f} ms")
    for what, times in waits.items():
        times.sort()
        middle, p95 = times[len(times) // 2], times[int(len(times) * 0.95) - 1]
        print(f"last key to {what} shown: p50 {middle:.0f} ms, p95 {p95:.0f} ms")
    outside = [url for url in asked if not url.startswith(served.url)]
    print(f"asked from elsewhere: {len(outside)}")


def ask_for_page(route: Route) -> None:
    """Ask for a whole page, though the script asks for results alone."""
    headers = {**route.request.headers, "hivemind-part": ""}
    route.continue_(headers=headers)


def typed_ms(page: Page, word: str) -> float:
    """Type a word as a person does; return how long its results take to be shown."""
    page.goto("/memory")
    page.evaluate(WATCH, word)
    page.wait_for_timeout(1_200)
    page.get_by_label("Search").press_sequentially(word, delay=KEY_MS)
    end_s = time.monotonic() + 30
    while not (taken := page.evaluate("window.taken")):
        page.wait_for_timeout(20)
        if time.monotonic() > end_s:
            raise SystemExit(f"no results of {word} were shown within 30 s")
    return float(taken)


if __name__ == "__main__":
    sys.exit(main())
