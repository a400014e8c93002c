"""The tools, as clients of every version of the protocol meet them."""

from __future__ import annotations

import json
import shlex
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import Implementation, Tool

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.access.scope_names import scope_named
from hivemind_memory.cli.main import main
from hivemind_memory.errors import ConfigError, HivemindError, ScopeError
from hivemind_memory.mcp_server import tools_list
from hivemind_memory.mcp_server.errors import expected_error
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.server import DESCRIPTION, MemoryServer, make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server.agents import MODES, call, found, refused, text_of

BOTH = "Scopes here are global and project; a search without one"
HOSTILE_PATHS = (
    "../secret.md",
    "/etc/passwd.md",
    "~/x.md",
    "a\\b.md",
    "%2e%2e/x.md",
    ".index/x.md",
    "a/./b.md",
    "a//b.md",
    "x.txt",
    "a\x00.md",
    "a\nb.md",
    "",
    "..",
    "x.md/",
    "con.md",
    "a" * 5000 + ".md",
)


def tools_of(server: MemoryServer, mode: str = "auto") -> dict[str, Tool]:
    async def run() -> list[Tool]:
        async with Client(server, mode=mode) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in anyio.run(run)}


def leaves(value: Any) -> list[str]:
    """Every number and line of text in a result."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    if isinstance(value, bool):
        return []
    return [line for line in str(value).split("\n") if line]


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_take_what_the_seed_says(server: MemoryServer, mode: str) -> None:
    """Names, arguments and defaults are a promise to clients that exist."""
    tools = tools_of(server, mode)

    taken = {
        name: {key: one.get("default") for key, one in _properties(tool).items()}
        for name, tool in tools.items()
    }
    assert taken == {
        "memory_search": {
            "query": None,
            "max_results": 10,
            "min_score": 0.3,
            # Ours: a caller that knows the seed alone leaves them out.
            **dict.fromkeys(("types", "scope", "source_ref")),
            "inbox": False,
        },
        "memory_write": {
            **dict.fromkeys(("content", "file", "scope", "source_ref")),
        },
        "memory_get": {"path": None, "from": 1, "lines": 0},
        "memory_list": dict.fromkeys(("after", "types", "scope", "source_ref")),
        "memory_save": {
            **dict.fromkeys(("key", "content", "supersede_reason", "scope")),
            **dict.fromkeys(("visibility", "related", "contradicts", "expires")),
            **dict.fromkeys(("tags", "source_ref", "importance")),
            "type": "context",
        },
        "memory_history": {"key": None},
        "memory_link": {"from": None, "to": None, "kind": None, "weight": 1.0},
        "memory_forget": dict.fromkeys(("id", "key")),
        "memory_learn": {
            **dict.fromkeys(("topic", "claim", "corroborated", "domains")),
            **dict.fromkeys(("verified", "type", "scope", "source_ref")),
            "confidence": "medium",
        },
    }
    required = {name: tool.input_schema.get("required") for name, tool in tools.items()}
    assert required == {
        "memory_search": ["query"],
        "memory_write": ["content"],
        "memory_get": ["path"],
        "memory_list": None,
        "memory_save": ["key", "content"],
        "memory_history": ["key"],
        "memory_link": ["from", "to", "kind"],
        "memory_forget": None,
        "memory_learn": ["topic", "claim"],
    }


def _properties(tool: Tool) -> dict[str, dict[str, Any]]:
    properties: dict[str, dict[str, Any]] = tool.input_schema["properties"]
    return properties


def test_tools_say_what_they_do_and_when_to_call_them(server: MemoryServer) -> None:
    """A model chooses by these words, and a client asks less of what only reads."""
    for name, tool in tools_of(server).items():
        hints = tool.annotations
        assert hints is not None
        writers = {"memory_write", "memory_save", "memory_link", "memory_forget"}
        writers.add("memory_learn")
        assert hints.read_only_hint == (name not in writers)
        assert hints.idempotent_hint == (name != "memory_write")
        assert hints.destructive_hint is False
        assert "Call it" in (tool.description or "")
        assert tool.output_schema is not None
        assert '"title": "' not in json.dumps([tool.input_schema, tool.output_schema])
        always = (tool.meta or {}).get("anthropic/alwaysLoad", False)
        core = {"memory_search", "memory_write", "memory_get", "memory_save"}
        assert always == (name in core)


def test_the_instructions_fit_and_begin_with_what_matters() -> None:
    """Claude Code cuts at 4,096 characters, others show the beginning."""
    assert len(INSTRUCTIONS) < 4000
    assert "memory_search" in INSTRUCTIONS[:200]
    assert "memory_write" in INSTRUCTIONS[:250]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_is_found_and_read(
    server: MemoryServer, notes: Path, mode: str
) -> None:
    """The round trip for which all this exists."""
    written = found(
        call(server, "memory_write", mode, content="Eels swim at dawn.", file="eel.md")
    )
    search = found(call(server, "memory_search", mode, query="when do eels swim"))
    got = found(
        call(
            server,
            "memory_get",
            mode,
            path="eel.md",
            **{"from": written["end_line"], "lines": 1},
        )
    )
    listed = found(call(server, "memory_list", mode))

    assert (written["path"], written["is_indexed"]) == ("eel.md", True)
    assert search["hits"][0]["snippet"] == "Eels swim at dawn."
    assert search["report"]["mode"] == "keyword"
    assert search["report"]["is_fresh"] is True
    assert got["text"] == "Eels swim at dawn."
    assert got["start_line"] == got["end_line"] == written["end_line"]
    assert [one["path"] for one in listed["files"]] == sorted(
        ["deploy.md", "eel.md", "odd.md", "projects/site.md"]
    )
    comment = (notes / "eel.md").read_text(encoding="utf-8").split("\n")[0]
    assert "session=5e551017 source=agent" in comment


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "deploy rollback staging"}),
        ("memory_search", {"query": "zebra"}),
        ("memory_get", {"path": "deploy.md"}),
        ("memory_list", {}),
        ("memory_write", {"content": "one\ntwo"}),
    ],
)
def test_object_and_text_say_the_same(
    server: MemoryServer, tool: str, arguments: dict[str, str]
) -> None:
    """Claude Code and Codex show the object alone, Gemini and OpenCode the text."""
    result = call(server, tool, **arguments)

    text = text_of(result)
    for leaf in leaves(found(result)):
        assert leaf in text.replace(",", "") or leaf in text
    assert len(text) < 400 + 1.3 * len(json.dumps(found(result), ensure_ascii=False))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_a_hostile_path_is_refused_in_one_sentence(
    server: MemoryServer, home: Path, path: str, mode: str
) -> None:
    """Paths are plain relative Markdown names; the error says what was not saved."""
    before = sorted(str(one) for one in home.rglob("*.md"))

    reading = refused(call(server, "memory_get", mode, path=path))
    if path:  # none at all names the note of today
        writing = refused(call(server, "memory_write", mode, content="x", file=path))
        assert "othing was saved" in writing

    assert "cannot be a note" in reading
    assert sorted(str(one) for one in home.rglob("*.md")) == before


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("memory_search", {}, "memory_search needs query."),
        ("memory_search", {"query": 3}, "query must be a string."),
        ("memory_search", {"query": None}, "query must be a string."),
        (
            "memory_search",
            {"query": "x", "max_results": 2.5},
            "max_results must be a whole number from 1 to 100.",
        ),
        (
            "memory_search",
            {"query": "x", "min_score": "high", "inbox": "maybe"},
            "min_score must be a number from 0 to 1. inbox must be true or false.",
        ),
        ("memory_search", {"query": "x", "types": [3]}, "types must be a list"),
        (
            "memory_save",
            {},
            "memory_save needs key and content. Nothing was saved.",
        ),
        (
            "memory_learn",
            {"topic": "a", "claim": "b", "corroborated": -1},
            "corroborated must be a whole number, 0 or more. Nothing was saved.",
        ),
        ("memory_link", {}, "memory_link needs from, to and kind."),
        ("memory_get", {"path": "a.md", "lines": -1}, "lines must be a whole number"),
        ("memory_search", {"query": "x", "max_result": 3}, "no argument max_result"),
        ("memory_search", {"query": "x", "max_results": 0}, "max_results"),
        ("memory_search", {"query": "x", "max_results": 10**30}, "max_results"),
        ("memory_search", {"query": "x", "min_score": "NaN"}, "min_score"),
        ("memory_search", {"query": "x", "min_score": 2}, "min_score"),
        ("memory_write", {"content": " "}, "othing was saved"),
        ("memory_write", {"content": ["x"]}, "Nothing was saved"),
        ("memory_write", {"content": "x", "scope": "repo"}, "Nothing was saved"),
        ("memory_write", {"content": "x" * 1_000_001}, "Nothing was saved"),
        ("memory_get", {"path": "missing.md"}, "memory_list shows all notes"),
        ("memory_get", {"path": "deploy.md", "from": 0}, "from"),
        ("memory_get", {"path": "deploy.md", "from": 999}, "there is no line 999"),
        ("memory_get", {"path": "deploy.md:999"}, "there is no line 999"),
        ("memory_get", {"path": "deploy.md:0"}, "There is no line 0"),
        ("memory_get", {"path": "deploy.md:3-2"}, "ends before it starts"),
        ("memory_get", {"path": "deploy.md", "from_": 1}, "no argument from_"),
        ("memory_list", {"x": "y"}, "no argument x"),
        ("memory_history", {"key": "nobody"}, "memory_search finds memories, with"),
        ("memory_forget", {}, "Nothing was forgotten"),
        ("memory_forget", {"key": "nobody"}, "Nothing was forgotten."),
        ("memory_forget", {"key": ["x"]}, "Nothing was forgotten."),
        ("memory_link", {"from": "a"}, "Nothing was linked."),
        ("memory_purge", {}, "There is no tool memory_purge."),
        ("memory_serach", {}, "memory_serach. Did you mean memory_search?"),
        ("recall", {}, "There is no tool recall. The tools are memory_search,"),
    ],
)
def test_a_wrong_call_is_refused_in_one_sentence(
    server: MemoryServer, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """The model corrects itself by it, and knows what came of the call."""
    told = refused(call(server, tool, **arguments))

    assert said in told
    assert "nput should" not in told
    assert "field required" not in told


@pytest.mark.parametrize(
    ("client", "agent"),
    [
        ("claude-code", "claude"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client", "gemini"),
        ("qwen-cli-mcp-client-hivemind", "qwen"),
        ("Acme-mcp-client", "Acme-mcp-client"),
    ],
)
def test_a_writer_is_called_as_the_agent_is_everywhere_else(
    server: MemoryServer, notes: Path, client: str, agent: str
) -> None:
    """One looks for `codex`; the note said `codex-mcp-client`."""

    async def run() -> None:
        info = Implementation(name=client, version="1")
        async with Client(server, client_info=info) as connected:
            given = {"content": "Owls hunt at dusk.", "file": "owl.md"}
            await connected.call_tool("memory_write", given)
            assert connected.server_info.description == DESCRIPTION

    anyio.run(run)

    assert f" by={agent} " in (notes / "owl.md").read_text(encoding="utf-8")


def test_a_key_that_is_taken_is_told_once(server: MemoryServer) -> None:
    """The sentence about what was saved came twice, one of them as a hint."""
    call(server, "memory_save", key="k", content="one")

    said = refused(call(server, "memory_save", key="k", content="two"))

    assert said.count("Nothing was saved.") == 1
    assert "supersede_reason" in said


def test_an_error_that_nobody_foresaw_is_a_sentence_too(
    server: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK would withhold it; a writer must hear that the outcome is not known."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret text of a note")

    monkeypatch.setattr("hivemind_memory.memory.memory.Memory.write", fail)
    said = refused(call(server, "memory_write", content="x"))

    assert "may or may not have been saved" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("method", "tool", "values", "doubt"),
    [
        (
            "link",
            "memory_link",
            {"from": "a", "to": "b", "kind": "related_to"},
            "link may",
        ),
        ("forget", "memory_forget", {"key": "a"}, "may not have been forgotten"),
    ],
)
def test_each_tool_says_what_it_may_have_done(
    server: MemoryServer,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    tool: str,
    values: dict[str, str],
    doubt: str,
) -> None:
    """A forget that failed said that something may have been saved."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(f"hivemind_memory.curation.curation.Curation.{method}", fail)

    assert doubt in refused(call(server, tool, **values))


def test_a_broken_configuration_is_told_when_a_tool_is_called() -> None:
    """A server that does not start leaves the agent without a reason."""

    def fail() -> Any:
        raise ConfigError("config.json: min_score is 7", hint="Mend the file.")

    server = make_server(ServerState(fail), "s")

    for tool, arguments in (
        ("memory_search", {"query": "x"}),
        ("memory_write", {"content": "x"}),
    ):
        said = refused(call(server, tool, **arguments))
        assert "min_score is 7" in said
        assert "Mend the file." in said
        assert ("Nothing was saved." in said) == (tool == "memory_write")


def test_what_is_hidden_or_steers_is_shown_escaped(server: MemoryServer) -> None:
    """A note must not hide text from a person that a model reads."""
    result = call(server, "memory_get", path="odd.md")

    for text in (text_of(result), found(result)["text"]):
        assert "Turned \\u202e around, \\x1b[31m red, and hidden\\u200b\\u2066." in text
        assert "\r" not in text


def test_an_echoed_argument_is_clean(server: MemoryServer) -> None:
    """An error quotes what the caller sent, which somebody else may have written."""
    said = refused(call(server, "memory\x1b]0;x\x07\u202e"))

    assert said.isprintable()


def test_a_memory_without_notes_answers(tmp_path: Path, home: Path) -> None:
    """The first agent of a new machine must not meet an error."""
    empty = tmp_path / "empty"
    server = make_server(ServerState(lambda: opening.open_memory(home=str(empty))), "s")

    search = found(call(server, "memory_search", query="anything"))
    listed = found(call(server, "memory_list"))
    written = call(server, "memory_write", content="The first.")

    assert search["hits"] == listed["files"] == []
    assert "no notes folder" in search["report"]["why_empty"]
    assert not written.is_error


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"path": "deploy.md:3-5"}, (3, 5)),
        ({"path": "deploy.md:3"}, (3, 3)),
        ({"path": "deploy.md:3", "lines": 2}, (3, 4)),
        ({"path": "projects/site.md:1"}, (1, 1)),
    ],
)
def test_a_place_is_accepted_where_a_path_is(
    server: MemoryServer, arguments: dict[str, Any], lines: tuple[int, int]
) -> None:
    """Results show places as path:first-last, and agents pass on what they see."""
    got = found(call(server, "memory_get", **arguments))

    assert (got["start_line"], got["end_line"]) == lines


def test_a_memory_is_named_by_the_place_of_a_hit(server: MemoryServer) -> None:
    """The place is all that some clients show of it."""
    saved = found(call(server, "memory_save", key="k", content="one"))
    place = f"{saved['path']}:{saved['start_line']}-{saved['end_line']}"

    history = found(call(server, "memory_history", key=place))
    forgotten = found(call(server, "memory_forget", key=place))

    assert history["memories"][0]["id"] == saved["id"]
    assert forgotten["forgotten"][0]["id"] == saved["id"]


@pytest.mark.parametrize("types", [["decision", "lesson"], "decision,lesson", "choice"])
def test_types_come_as_a_list_or_as_text(server: MemoryServer, types: Any) -> None:
    """Models send lists; clients that exist send text; aliases count."""
    for kind in ("decision", "fact"):
        call(server, "memory_save", key=kind, content=f"Cranes {kind}.", type=kind)

    hits = found(call(server, "memory_search", query="cranes", types=types))["hits"]

    assert [hit["type"] for hit in hits] == ["decision"]


def test_an_error_names_no_options_of_commands() -> None:
    """An agent has tools, and can pass an option to none of them."""
    hint = "save it anyway with --force; a person can: `hm save --force`"
    error = HivemindError("It was purged.", hint=hint)

    said = str(expected_error("memory_save", error))

    # A command for a person is whole, for half of one does something else.
    assert said == (
        "It was purged. Nothing was saved. Hint: a person can: `hm save --force`."
    )


def test_a_scope_that_is_not_set_is_explained_in_whole_words(
    server: MemoryServer,
) -> None:
    """The hint once read `hm mcp,,, or the environment`."""
    said = refused(call(server, "memory_write", content="x", scope="team"))

    assert "`hm mcp --project NAME --team NAMES --workspace NAME`" in said


@pytest.mark.parametrize(
    ("options", "scope", "hint"),
    [
        ({"project": "projects/site"}, "all", f"{BOTH} covers both."),
        ({"project": "projects/site"}, "projct:site", f"Did you mean project? {BOTH}"),
        ({}, "all", "The only scope here is global."),
        ({"is_owner": True}, "all", "A search without one covers all of them."),
    ],
)
def test_a_word_for_all_scopes_is_answered_with_those_that_there_are(
    options: dict[str, Any], scope: str, hint: str
) -> None:
    """`all` was taken for a project, and `project/all` for one of another server."""
    with pytest.raises(ScopeError) as failed:
        scope_named(Caller(**options), scope)

    said = str(expected_error("memory_search", failed.value))
    assert hint in said
    assert "project/all" not in said


def test_null_means_left_out(server: MemoryServer) -> None:
    """Models and strict schemas send it, and four tools once refused it."""
    nulls = {
        "memory_search": {"query": "deploy", "max_results": None, "scope": None},
        "memory_get": {"path": "deploy.md", "from": None, "lines": None},
        "memory_list": {"after": None},
        "memory_save": {"key": "k", "content": "x", "supersede_reason": None},
    }
    for tool, arguments in nulls.items():
        assert found(call(server, tool, **arguments))

    assert "query" in refused(call(server, "memory_search", query=None))
    assert "no argument" in refused(call(server, "memory_list", depth=None))


def test_why_a_search_is_not_hybrid_is_told_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a default installation it once ended every answer."""
    monkeypatch.delenv("HIVEMIND_EMBEDDING_PROVIDER")
    state = ServerState(lambda: opening.open_memory(home=str(home)))
    server = make_server(state, "5e551017")

    reports = [
        found(call(server, "memory_search", query="deploy"))["report"] for _ in range(3)
    ]
    state.close(5)

    assert "reason" in reports[0]
    assert "reason" not in reports[1]
    assert "reason" not in reports[2]


def test_the_offered_undo_works_as_it_is_told(server: MemoryServer, home: Path) -> None:
    """It was once a command without a name, which says that nothing is selected."""
    saved = found(call(server, "memory_save", key="k", content="Pterodactyls."))
    undo = found(call(server, "memory_forget", id=saved["id"]))["undo"]
    query = "pterodactyls"
    assert found(call(server, "memory_search", query=query))["hits"] == []

    words = shlex.split(undo)
    assert words[0] == "hm"
    assert main([*words[1:], "--memory-dir", str(home / "memory")]) == 0

    [hit] = found(call(server, "memory_search", query=query))["hits"]
    assert hit["id"] == saved["id"]


def test_a_taken_key_says_what_was_done_before_it_says_what_to_do(
    server: MemoryServer,
) -> None:
    """The hint began with "Nothing was saved"."""
    found(call(server, "memory_save", key="queue", content="Use NATS."))

    said = refused(call(server, "memory_save", key="Queue", content="Use Kafka."))

    assert said.startswith("Active entry exists for key")
    assert "supersede_reason required. Nothing was saved. Hint: " in said
    assert said.count("Nothing was saved.") == 1


def test_no_other_thread_is_answered_before_a_list_says_that_it_is_behind(
    server: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What that one learned of the index was said of the list."""
    listed = tools_list._list_notes
    was_free: list[bool] = []

    def answered(given: Any, wanted: Any, after: str) -> Any:
        result = listed(given, wanted, after)
        handle = given.memory.index_handle

        def ask() -> None:
            was_free.append(handle.lock.acquire(blocking=False))

        other = threading.Thread(target=ask)
        other.start()
        other.join()
        handle.why_behind = "the disk is full"
        return result

    monkeypatch.setattr(tools_list, "_list_notes", answered)

    said = found(call(server, "memory_list"))["continuation"]

    assert was_free == [False]
    assert said.startswith("Recent changes may be missing: the disk is full")
