"""Each reader finds what was said in a transcript that the real agent wrote."""

from __future__ import annotations

import sqlite3
from itertools import chain
from pathlib import Path

import pytest

from hivemind_memory.files.marked_section import SECTION_HEADLINE
from hivemind_memory.inject.section import guide_lines
from hivemind_memory.mcp_server.server_description import first_answers
from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from hivemind_memory.transcripts import gemini, qwen
from hivemind_memory.transcripts.claude import read_record
from hivemind_memory.transcripts.message import OWN_TOOLS, FileState
from hivemind_memory.transcripts.sources import LineSource, all_sources
from tests.support.cpu import cpu_s
from tests.support.sandbox import Sandbox
from tests.transcripts.places import FILES, LAMP, RECORDED, put_recorded, read_all, rows

QUESTION = "On which port does the tide gauge of the harbour listen?"
LAST_WORDS = "The stand-in is done."
READ = {
    "claude": "Read",
    "codex": "exec_command",
    "gemini": "read_file",
    "opencode": "read",
    "qwen": "read_file",
}
"""The tool with which each agent read the file that holds the section."""

PREFERENCE = "quartzline"
"""A word of the memory that was injected."""

PORT = "54417"
"""What only a search of the memory told."""


@pytest.fixture(params=TRANSCRIPT_SOURCES)
def name(request: pytest.FixtureRequest) -> str:
    """Each agent."""
    return str(request.param)


def test_what_was_said_is_kept_in_order(
    sandbox: Sandbox, user: Path, name: str
) -> None:
    """The question, the call and the answer; each once, with session and folder."""
    put_recorded(user, name)
    report = read_all(sandbox, user)

    found = rows(sandbox)
    said = [(role, text) for *_, role, _, text in found if role != "tool"]

    assert (report.files, report.problems) == (1, ())
    assert [role for role, _ in said] == ["user", "assistant"]
    assert said[0][1].strip('"') == QUESTION
    assert said[1][1] == LAST_WORDS
    assert READ[name] in [row[8] for row in found]
    assert {row[3] for row in found} == {LAMP}
    assert len({row[2] for row in found}) == 1
    assert found[0][2]


def test_no_memory_of_the_memory_is_kept(
    sandbox: Sandbox, user: Path, name: str
) -> None:
    """Neither the injected section, which a tool read, nor what our tools answered."""
    recorded = next(RECORDED.glob(f"{name}.*")).read_text(encoding="utf-8")
    assert PREFERENCE in recorded  # the section
    # Qwen Code offered its model no tool of a server; the others' answers are there.
    assert (PORT in recorded) == (name != "qwen")
    put_recorded(user, name)
    read_all(sandbox, user)

    kept = "\n".join(row[-1] for row in rows(sandbox))

    # What stands around the section in the file; GEMINI.md has nothing else.
    assert ("Rules" in kept) == (name != "gemini")
    for word in (PREFERENCE, PORT, SECTION_HEADLINE, "hivemind:begin"):
        assert word not in kept


def test_a_message_is_where_its_place_says(
    sandbox: Sandbox, user: Path, name: str
) -> None:
    """The line, or the part of the database, holds the text."""
    put_recorded(user, name)
    read_all(sandbox, user)
    file = user / FILES[name]
    [said] = [row for row in rows(sandbox) if row[-1].strip('"') == QUESTION]
    _, _, _, _, line, _, place, *_ = said

    if place:
        connection = sqlite3.connect(file)
        [(data,)] = connection.execute("SELECT data FROM part WHERE id = ?", (place,))
        connection.close()
        assert QUESTION in data
    else:
        assert QUESTION in file.read_text(encoding="utf-8").splitlines()[line - 1]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"type": "user"},
        {"type": "user", "message": None},
        {"type": "user", "message": {"content": None}},
        {"type": "user", "message": {"content": [None, 1, "a", {"type": "x"}]}},
        {"type": "user", "message": {"parts": [None, {"functionResponse": 1}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use"}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": 3}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": 1}},
        {"type": "session_meta", "payload": {"id": 1, "cwd": []}},
        {"type": "gemini", "content": {"a": 1}, "toolCalls": {"a": 1}},
        {"type": "gemini", "toolCalls": [{"name": None}]},
        {"type": "user", "content": 7, "timestamp": 7},
        {"type": ["user"], "timestamp": "soon"},
        {"$set": 7},
    ],
)
def test_a_record_of_another_form_is_passed_over(record: dict[str, object]) -> None:
    """Agents change their files every week; a reader must not end at a line."""
    for source in all_sources("/home/you", {}):
        if isinstance(source, LineSource):
            for message in source.read_record(dict(record), FileState()):
                assert isinstance(message.text, str)


def test_our_own_tools_are_known_to_the_readers() -> None:
    """The list stands where no server is loaded. Those of toolsets were not on it."""
    answers = first_answers()
    of_toolsets = chain(*answers["toolsets"].values())
    tools = (*answers["tools"], *answers["activityTools"], *of_toolsets)

    assert set(OWN_TOOLS) == {tool["name"] for tool in tools}


def test_the_headline_is_that_of_the_section() -> None:
    """A section without its marks is recognized by it."""
    for has_tools in (True, False):
        assert guide_lines(has_tools=has_tools)[0] == SECTION_HEADLINE


TYPED = ["FIRST-TYPED prompt about lamps", "SECOND-TYPED prompt", "THIRD-TYPED prompt"]
SHELL_OUTPUT = "BANG-42-OUTPUT"
"""What `!echo BANG-$((40+2))-OUTPUT` put out in each of the agents."""


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_only_what_the_user_typed_is_the_users(
    sandbox: Sandbox, user: Path, agent: str
) -> None:
    """Summaries of a compaction and what a `!` command put out counted as well.

    In the recorded sessions of the real agents, the user typed three prompts, ran a
    command with `!`, and had the session compacted.
    """
    recorded = RECORDED / f"{agent}-typed.jsonl"
    assert SHELL_OUTPUT in recorded.read_text(encoding="utf-8")
    put_recorded(user, agent)
    (user / FILES[agent]).write_bytes(recorded.read_bytes())
    read_all(sandbox, user)

    found = [(row[7], row[9]) for row in rows(sandbox)]

    assert [text for role, text in found if role == "user"] == TYPED
    assert [role for role, text in found if SHELL_OUTPUT in text] == ["tool"]


FILE = "Always deploy with force."
HEADER = "\n--- Content from referenced files ---"
NAMED = "\nContent from @page.html:\n"
FOOTER = "\n--- End of content ---"


@pytest.mark.parametrize(
    "texts",
    [
        ["Read @page.html", HEADER, NAMED, FILE, FOOTER],
        ["Read @page.html", HEADER, NAMED, FOOTER, FILE],  # as a file may end it
        [f"Read @page.html{HEADER}{NAMED}{FILE}{FOOTER}"],
    ],
)
def test_a_file_that_the_user_names_is_not_what_the_user_says(texts: list[str]) -> None:
    """Gemini CLI and Qwen Code put its content into the user's message."""
    parts = [{"text": text} for text in texts]
    record = {"type": "user", "sessionId": "s"}
    records = [
        {**record, "content": parts},
        {**record, "content": "".join(texts)},
        {**record, "message": {"parts": parts}},
    ]
    read = [gemini.read_record, gemini.read_record, qwen.read_record]
    for read_record_of, line in zip(read, records, strict=True):
        found = [(m.role, m.text) for m in read_record_of(line, FileState())]
        assert [text for role, text in found if role == "user"] == ["Read @page.html"]
        assert {role for role, text in found if FILE in text} == {"tool"}


def test_a_task_for_a_subagent_is_not_what_the_user_says(
    sandbox: Sandbox, user: Path
) -> None:
    """In OpenCode it has a session of its own, in which the model asks."""
    put_recorded(user, "opencode")
    connection = sqlite3.connect(user / FILES["opencode"])
    with connection:
        connection.execute("UPDATE session SET parent_id = 'ses_other'")
    connection.close()
    read_all(sandbox, user)

    found = [(row[7], row[9].strip('"')) for row in rows(sandbox)]

    assert ("assistant", QUESTION) in found
    assert "user" not in {role for role, _ in found}


def claude_messages(**record: object) -> list[tuple[str, str]]:
    """Return role and text of the messages of one line of Claude Code."""
    line = {"type": "user", "sessionId": "s", "cwd": LAMP, **record}
    return [(m.role, m.text) for m in read_record(line, FileState())]


@pytest.mark.parametrize(
    ("content", "more", "expected"),
    [
        ("Use tabs.", {}, [("user", "Use tabs.")]),
        ("Use tabs.", {"promptSource": "sdk"}, [("user", "Use tabs.")]),
        (
            "<bash-stdout>I typed this tag.",
            {"origin": {"kind": "human"}},
            [("user", "<bash-stdout>I typed this tag.")],
        ),
        (
            "<command-name>/fix</command-name><command-args>the lamp</command-args>",
            {},
            [("user", "the lamp")],
        ),
        (
            "<command-name>/cost</command-name>\n<command-args></command-args>",
            {},
            [],
        ),
        (
            "<command-name>/x\n<command-args>a\nb</command-args></command-args>",
            {},
            [("user", "a\nb")],
        ),
        ("<local-command-stdout>3 dollars</local-command-stdout>", {}, []),
        ("[Request interrupted by user for tool use]", {}, []),
        ("<task-notification>done</task-notification>", {}, []),
        ("An agent has ended.", {"origin": {"kind": "task-notification"}}, []),
        ("Search it.", {"isSidechain": True}, [("assistant", "Search it.")]),
        (
            "<bash-input>ls</bash-input>",
            {},
            [("tool", "ls")],
        ),
    ],
)
def test_what_stands_in_the_users_name_in_claude_code(
    content: str, more: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    """As a text, and as a list with one text."""
    blocks = [{"type": "text", "text": content}]
    for written in (content, blocks):
        found = claude_messages(message={"role": "user", "content": written}, **more)
        assert found == expected


def test_arguments_that_never_end_are_read_once() -> None:
    """The rest of the text was searched again at each beginning, for hours in all."""

    def read(count: int) -> None:
        content = "<command-name>" + "<command-args>" * count
        assert claude_messages(message={"role": "user", "content": content}) == []

    assert cpu_s(lambda: read(8_000)) < 20 * cpu_s(lambda: read(2_000)) + 0.05
