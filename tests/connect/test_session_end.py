"""``hm hook session-end``: queues a capture or reminds the agent; it never fails."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.model.agents import WITH_CAPTURE
from tests.connect.conftest import FILES, SETTINGS, Machine
from tests.support.sessions import ASSISTANT, USER, put_session

PROMPTS = [
    (USER, "Why does the lamp flicker?"),
    (ASSISTANT, "The driver is slow."),
    (USER, "Keep it at 1200 Hz."),
    (ASSISTANT, "Done."),
    (USER, "And the fuse?"),
    (ASSISTANT, "6 A."),
]


def set_options(machine: Machine, **options: object) -> None:
    """Set options of the memory."""
    machine.put(".hivemind/config.json", json.dumps({"memory": options}))
    machine.put(".hivemind/memory/global.md", "Tabs are four spaces.\n")


def hook(machine: Machine, event: str, *words: str, **more: Any) -> str:
    """Run the hook; return what it prints."""
    payload = {
        "hook_event_name": event,
        "session_id": "one-two",
        "cwd": str(machine.home),
        **more,
    }
    ran = machine.run("hook", "session-end", *words, stdin=json.dumps(payload))
    assert ran.code == 0
    assert ran.err == ""
    return ran.out


def jobs(machine: Machine) -> list[dict[str, Any]]:
    """Return the jobs that wait."""
    rows: list[dict[str, Any]] = json.loads(machine.run("jobs", "--json").out)
    return rows


@pytest.fixture
def transcript(machine: Machine) -> Path:
    folder = str(machine.home)
    return put_session(machine.home, "claude", "one-two", folder, PROMPTS)


@pytest.mark.parametrize("agent", WITH_CAPTURE)
def test_the_end_of_a_session_queues_one_job(machine: Machine, agent: str) -> None:
    """Nothing is read or sent by the hook."""
    set_options(machine, capture="inbox", llm_provider="ollama", llm_model="m")
    file = put_session(machine.home, agent, "one-two", str(machine.home), PROMPTS)
    words = () if agent == "claude" else ("--agent", agent)

    for _ in range(2):
        assert hook(machine, "SessionEnd", *words, transcript_path=str(file)) == ""
        assert hook(machine, "Stop", *words, transcript_path=str(file)) == ""

    [job] = jobs(machine)
    size = file.stat().st_size
    assert (job["kind"], job["id"]) == ("capture", f"{agent}:one-two@{size}")


def test_nothing_is_queued_or_said_while_capture_is_off(
    machine: Machine, transcript: Path
) -> None:
    set_options(machine, llm_provider="ollama", llm_model="m")

    for event in ("SessionEnd", "Stop", "BeforeAgent", "Nonsense"):
        assert hook(machine, event, transcript_path=str(transcript)) == ""

    assert jobs(machine) == []


@pytest.mark.parametrize(
    ("agent", "event"),
    [
        ("claude", "Stop"),
        ("codex", "Stop"),
        ("gemini", "BeforeAgent"),
        ("qwen", "Stop"),
    ],
)
def test_without_a_model_the_agent_is_reminded_once(
    machine: Machine, agent: str, event: str
) -> None:
    """It is told what was saved meanwhile, and not asked when little was said."""
    set_options(machine, capture="inbox")
    words = ("--agent", agent)
    folder = str(machine.home)
    file = put_session(machine.home, agent, "one-two", folder, PROMPTS[:4])
    assert hook(machine, event, *words, transcript_path=str(file)) == ""
    put_session(machine.home, agent, "one-two", folder, PROMPTS[4:], first=4)
    machine.run("save", "dimmer-rate", "The dimmer's driver stays at 1200 Hz.")

    said = [hook(machine, event, *words, transcript_path=str(file)) for _ in range(3)]

    assert said[1:] == ["", ""]
    answer = json.loads(said[0])
    if event == "Stop":
        assert answer["decision"] == "block"
        text = answer["reason"]
    else:
        text = answer["hookSpecificOutput"]["additionalContext"]
        assert answer["hookSpecificOutput"]["hookEventName"] == event
    assert "memory_save" in text
    assert jobs(machine) == []


@pytest.mark.parametrize("variable", ["", "CLAUDECODE"])
def test_what_was_saved_in_the_project_of_the_session_is_named(
    machine: Machine, variable: str
) -> None:
    """Claude Code marks the shells of its agent and not those of hooks.

    Such a hook runs as its owner, who has no project, and said that nothing was saved.
    """
    set_options(machine, capture="inbox")
    lamp = machine.home / "lamp"
    subprocess.run(["git", "init", "-q", lamp], check=True)
    folder = str(lamp)
    file = put_session(machine.home, "claude", "one-two", folder, PROMPTS)
    for scope, key in (("project", "dimmer-rate"), ("project/site", "theme")):
        machine.run("save", "--scope", scope, key, "It stays as it is.", cwd=lamp)
    if variable:
        machine.env[variable] = "1"

    said = hook(machine, "Stop", cwd=folder, transcript_path=str(file))

    assert "since the session began: dimmer-rate." in said


def test_an_agent_that_goes_on_because_of_the_hook_is_not_stopped_again(
    machine: Machine, transcript: Path
) -> None:
    set_options(machine, capture="inbox")

    more = {"transcript_path": str(transcript), "stop_hook_active": True}

    assert hook(machine, "Stop", **more) == ""


def test_a_broken_payload_says_one_line_at_most(machine: Machine) -> None:
    set_options(machine, capture="inbox", llm_provider="ollama", llm_model="m")

    for text in ("", "[]", "{", '{"hook_event_name": "SessionEnd"}'):
        ran = machine.run("hook", "session-end", stdin=text)
        assert ran.code == 0
        assert ran.out == ""
        assert ran.err.count("\n") <= 1


def test_connect_registers_it_only_if_asked(machine: Machine) -> None:
    machine.install("claude")
    settings = machine.home / SETTINGS

    machine.run("connect", "claude", "--hooks", "--yes")
    assert set(json.loads(settings.read_text())["hooks"]) == {
        "SessionStart",
        "SubagentStart",
    }
    machine.run("connect", "claude", "--capture", "--yes")

    hooks = json.loads(settings.read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "SubagentStart", "SessionEnd", "Stop"}
    [ours] = hooks["SessionEnd"][0]["hooks"]
    assert ours["command"].endswith("hook session-end")
    machine.run("disconnect", "claude", "--yes")
    assert not settings.exists() or "session-end" not in settings.read_text()


def test_gemini_gets_both_hooks_for_one_event(machine: Machine) -> None:
    machine.install("gemini")
    settings = machine.home / FILES["gemini"]

    machine.run("connect", "gemini", "--hooks", "--capture", "--yes")

    before = json.loads(settings.read_text())["hooks"]["BeforeAgent"]
    commands = [group["hooks"][0]["command"] for group in before]
    assert "hook session-start" in commands[0]
    assert "hook session-end" in commands[1]
