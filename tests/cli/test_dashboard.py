"""hm dashboard: a link that works once, and a server that is started and stopped."""

from __future__ import annotations

import http.server
import os
import socket
import threading
from pathlib import Path

import httpx

from tests.cli.conftest import Hm
from tests.support.forked import HM, finish
from tests.support.waiting import wait_until


def _free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _is_answered(port: int) -> bool:
    """Return whether something listens on a port."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_it_starts_a_server_prints_a_link_and_stops_it(notes: Path) -> None:
    """A second call asks the same server."""
    assert notes.is_dir()
    port = str(_free_port())
    try:
        first = finish([*HM, "dashboard", "--no-open", "--port", port])
        second = finish([*HM, "dashboard", "--no-open", "--port", port])

        assert first.returncode == second.returncode == 0, first.stderr
        assert b"hm dashboard --stop ends it" in first.stderr
        assert second.stderr == b""
        links = [first.stdout.decode().strip(), second.stdout.decode().strip()]
        assert links[0] != links[1]
        for link in links:
            assert link.startswith(f"http://127.0.0.1:{port}/memory/login?code=")
            answer = httpx.get(link, trust_env=False)
            assert (answer.status_code, answer.headers["location"]) == (303, "/memory")
            assert "hm_session=" in answer.headers["set-cookie"]
    finally:
        stopped = finish([*HM, "dashboard", "--stop"])
    assert stopped.stdout == b"stopped\n"
    wait_until(lambda: not _is_answered(int(port)), "the server still listens")
    assert finish([*HM, "dashboard", "--stop"]).stdout.startswith(b"no server")


def test_another_program_on_the_port_is_no_server_of_this_memory(
    hm: Hm, notes: Path
) -> None:
    """It is told, and nothing is started."""
    assert notes.is_dir()
    other = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler
    )
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        done = hm("dashboard", "--no-open", "--port", str(other.server_port))
    finally:
        other.shutdown()
        other.server_close()
    assert done.code == 2
    assert "is not hm serve of this memory" in done.err


def test_an_agents_shell_gets_no_link(notes: Path) -> None:
    """What only a person may do begins with a link."""
    assert notes.is_dir()
    environ = {**os.environ, "CLAUDECODE": "1"}
    done = finish([*HM, "dashboard", "--no-open"], env=environ)
    assert done.returncode != 0
    assert b"http" not in done.stdout
