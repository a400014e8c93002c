"""hm dashboard: a link that works once, and a server that is started and stopped."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from hivemind_memory.cli import dashboard_server
from hivemind_memory.mcp_server import port_holder
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
            assert f"hm_session_{port}=" in answer.headers["set-cookie"]
    finally:
        stopped = finish([*HM, "dashboard", "--stop"])
    assert stopped.stdout == f"stopped the server on port {port}\n".encode()
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
    assert f"Port {other.server_port} is used by process {os.getpid()}" in done.err
    assert "which is not hm serve of these notes" in done.err
    assert f"`hm dashboard --port {other.server_port + 1}`" in done.err


def test_a_program_that_never_answers_is_named_and_not_waited_for(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server was started on the taken port, and waited for in vain."""
    monkeypatch.setattr(dashboard_server, "_TIMEOUT_S", 0.2)
    assert notes.is_dir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        done = hm("dashboard", "--no-open", "--port", str(port))

    assert done.code == 2
    assert f"Port {port} is used by process {os.getpid()}" in done.err
    assert "did not start" not in done.err


def test_the_token_is_never_sent_to_a_program_of_another_user(
    hm: Hm, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever took the port first got the token of the server."""
    assert notes.is_dir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        table = tmp_path / "tcp"
        user = os.getuid() + 1
        row = f"0: 0100007F:{port:04X} 00000000:0000 0A 0:0 0:0 0 {user} 0 77\n"
        table.write_text(row)
        monkeypatch.setattr(port_holder, "_TABLES", (str(table),))
        done = hm("dashboard", "--no-open", "--port", str(port))
        other.settimeout(5)
        asked, _ = other.accept()
        with asked:
            asked.settimeout(5)
            sent = asked.recv(1_000)

    assert done.code == 2
    assert f"Port {port} is used by another program" in done.err
    assert sent == b""


def test_a_server_of_another_home_or_other_notes_is_never_opened(
    notes: Path, tmp_path: Path
) -> None:
    """Its pages would show, and change, other memories than those of the shell."""
    assert notes.is_dir()
    port = str(_free_port())
    words = [*HM, "dashboard", "--no-open", "--port", port]
    other_notes = tmp_path / "other"
    other_notes.mkdir()
    other_home = {**os.environ, "HIVEMIND_HOME": str(tmp_path / "elsewhere")}
    finish([*HM, "init"], env=other_home)
    try:
        first = finish(words)
        of_notes = finish([*words, "--memory-dir", str(other_notes)])
        of_home = finish(words, env=other_home)
    finally:
        finish([*HM, "dashboard", "--stop"])

    assert first.returncode == 0, first.stderr
    assert (of_notes.returncode, of_home.returncode) == (2, 2)
    assert of_notes.stdout == of_home.stdout == b""
    assert f"shows other notes, {notes}" in of_notes.stderr.decode()
    assert b"is not hm serve of these notes" in of_home.stderr


def test_stop_ends_every_server_that_it_started_and_no_other(notes: Path) -> None:
    """Only the last one was known."""
    assert notes.is_dir()
    ports = [str(_free_port()) for _ in range(2)]
    own = str(_free_port())
    serve = subprocess.Popen([*HM, "serve", "--port", own], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _is_answered(int(own)), "hm serve does not listen")
        for port in ports:
            started = finish([*HM, "dashboard", "--no-open", "--port", port])
            assert started.returncode == 0, started.stderr
    finally:
        stopped = finish([*HM, "dashboard", "--stop"])
        is_left_alone = _is_answered(int(own))
        serve.terminate()
        serve.wait()

    lines = stopped.stdout.decode().splitlines()
    assert lines == [f"stopped the server on port {port}" for port in ports]
    assert not any(_is_answered(int(port)) for port in ports)
    assert is_left_alone


def test_a_server_that_the_system_knows_a_moment_later_can_be_stopped(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was remembered without the time of its start, and then ran on for ever."""
    home, port = str(notes.parent), _free_port()
    real, asked = dashboard_server._started_at, iter([True, True])

    def late(pid: int) -> str:
        return "" if next(asked, False) else real(pid)

    monkeypatch.setattr(dashboard_server, "_started_at", late)
    dashboard_server.start_server(home, port, str(notes))

    stopped = dashboard_server.stop_servers(home)
    dashboard_server._started.pop().wait()

    assert stopped == [port]


def test_servers_that_are_started_at_once_are_all_remembered(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was forgotten, and no command stopped it any more."""
    home, other = str(notes.parent), [2]

    def wait(_process: object) -> str:
        if other:
            dashboard_server.start_server(home, other.pop(), None)
        return "now"

    monkeypatch.setattr(dashboard_server, "_started", [])
    monkeypatch.setattr(dashboard_server, "_is_ours", lambda _: True)
    monkeypatch.setattr(dashboard_server, "_wait_for_start", wait)
    monkeypatch.setattr(
        dashboard_server.subprocess, "Popen", lambda *_, **__: SimpleNamespace(pid=7)
    )

    dashboard_server.start_server(home, 1, None)

    assert dashboard_server._lines(home) == ["7 2 now", "7 1 now"]


def test_over_ssh_it_says_how_to_reach_the_page(notes: Path) -> None:
    """A link to 127.0.0.1 leads nowhere on the machine that a person sits at."""
    assert notes.is_dir()
    port = str(_free_port())
    environ = {**os.environ, "SSH_CONNECTION": "10.0.0.2 50000 10.0.0.1 22"}
    try:
        done = finish([*HM, "dashboard", "--port", port], env=environ)
    finally:
        finish([*HM, "dashboard", "--stop"])

    assert done.stdout.startswith(f"http://127.0.0.1:{port}/memory/login".encode())
    assert f"`ssh -N -L {port}:127.0.0.1:{port} " in done.stderr.decode()


def test_an_agents_shell_gets_no_link(notes: Path) -> None:
    """What only a person may do begins with a link."""
    assert notes.is_dir()
    environ = {**os.environ, "CLAUDECODE": "1"}
    done = finish([*HM, "dashboard", "--no-open"], env=environ)
    assert done.returncode != 0
    assert b"http" not in done.stdout
