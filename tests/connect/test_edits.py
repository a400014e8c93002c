"""One value goes into a file of settings and out again; every other byte stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.connect import json_edit
from hivemind_memory.connect.agents import COMMENTED, LENIENT, STRICT_JSON
from hivemind_memory.connect.jsonc import BrokenTextError, Dialect, parse
from hivemind_memory.connect.plans import difference, mask_secrets
from hivemind_memory.connect.toml_edit import drop_table, put_table
from tests.support.tiers import examples

PLACE = ("mcpServers", "hivemind")
ENTRY = {"command": "/bin/hm", "args": ["mcp"]}
TABLE = ("mcp_servers", "hivemind")

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.dictionaries(st.text(max_size=5), values, max_size=4)
servers = st.none() | st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def there_and_back(text: str, value: Any, dialect: Dialect) -> tuple[str, str]:
    """Put a value and take it out again; both texts."""
    emptied = json_edit.emptiness(text, PLACE, dialect)
    put = json_edit.put(text, PLACE, value, dialect)
    return put, json_edit.drop(put, PLACE, dialect, emptied)


@settings(deadline=None, max_examples=examples(300))
@given(
    documents,
    servers,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_what_is_put_and_taken_out_again_leaves_no_trace(
    document: dict[str, Any],
    others: dict[str, Any] | None,
    indent: int | str | None,
    newline: str,
    end: str,
) -> None:
    """Of any formatting that a program could have given the file."""
    if others is not None:
        document["mcpServers"] = others
    text = json.dumps(document, indent=indent) + end
    text = text.replace("\n", newline)

    put, back = there_and_back(text, ENTRY, STRICT_JSON)

    document.setdefault("mcpServers", {})["hivemind"] = ENTRY
    assert json.loads(put) == document
    assert back == text


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }",
        "{\n}\n",
        '{"mcpServers":{}}',
        '{"mcpServers": { }, "b": 1}',
        '{\n  // mine\n  "mcpServers": {\n    // none yet\n  }\n}\n',
        '{\n  "a": 1 // one\n}\n',
        '{\n  "a": 1, // one\n  "b": [2] /* two */\n}\n',
        '{"a": 1 // one\n}',
        '{"a": 1 /* one */}',
        '/* head */ {"a": 1}\n// foot\n',
        '{\n\t"mcpServers": {\n\t\t"x": {} // x\n\t\t// more\n\t}\n}\n',
        '{"url": "http://x/*y*/", "mcpServers": {"a": {}}}',
    ],
)
def test_comments_and_odd_spaces_stay(text: str) -> None:
    """People write them for themselves; no program may lose them."""
    put, back = there_and_back(text, ENTRY, COMMENTED)

    assert back == text
    assert json_edit.value_at(put, PLACE, COMMENTED) == ENTRY
    for line in text.splitlines():
        comment = line.partition("// ")[2]
        assert comment in put


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        '{\n  "a": 1,\n}\n',
        '{\n  "mcpServers": {\n    "x": {}, // x\n  },\n}\n',
        '{\n  "mcpServers": {"x": {},},\n  "b": [1,],\n}\n',
    ],
)
def test_a_comma_behind_the_last_element_stays_the_last(text: str) -> None:
    """OpenCode and editors allow it."""
    put, back = there_and_back(text, ENTRY, LENIENT)

    assert back == text
    assert json_edit.value_at(put, PLACE, LENIENT) == ENTRY


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("", STRICT_JSON),
        ("{", STRICT_JSON),
        ('{"a": 1,}', COMMENTED),
        ('{"a": 1} // x', STRICT_JSON),
        ('{"a": NaN}', LENIENT),
        ('{"a": 01}', LENIENT),
        ("{'a': 1}", LENIENT),
        ('{"a" 1}', LENIENT),
        ('{"a": 1 "b": 2}', LENIENT),
        ('{"a": "\n"}', LENIENT),
        ('{"a": /* ', LENIENT),
        ('{"a": 1}}', LENIENT),
        ("[" * 5000, LENIENT),
    ],
)
def test_what_the_agent_cannot_read_is_broken(text: str, dialect: Dialect) -> None:
    """An edit of it could only make it worse."""
    with pytest.raises(BrokenTextError):
        parse(text, dialect)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": 3}', '{"mcpServers": []}'])
def test_something_else_on_the_way_is_not_replaced(text: str) -> None:
    """Whatever it is, somebody put it there."""
    with pytest.raises(BrokenTextError):
        json_edit.put(text, PLACE, ENTRY, STRICT_JSON)


def test_an_entry_is_replaced_where_it_stands() -> None:
    """The order of the servers is the user's."""
    text = '{"mcpServers": {"hivemind": {"command": "old"}, "b": {}}}'

    new = json_edit.put(text, PLACE, {"command": "new"}, STRICT_JSON)

    assert list(json.loads(new)["mcpServers"]) == ["hivemind", "b"]
    assert json.loads(new)["mcpServers"]["hivemind"] == {"command": "new"}


def test_an_element_from_the_middle_goes_alone() -> None:
    """The one before keeps its comment, the one behind its line."""
    text = '{\n  "a": 1, // one\n  "b": 2, // two\n  "c": 3\n}\n'

    new = json_edit.drop(text, ("b",), COMMENTED, {})

    assert new == '{\n  "a": 1, // one\n   // two\n  "c": 3\n}\n'


def test_what_follows_a_comment_does_not_end_up_in_it() -> None:
    """A line end is all that closes such a comment."""
    text = '{ // head\n  "a": 1, "b": 2}'

    new = json_edit.drop(text, ("a",), COMMENTED, {})

    assert json_edit.value_at(new, (), COMMENTED) == {"b": 2}


def test_two_edits_of_a_flat_file_leave_no_trace() -> None:
    """The second finds the lines of the first; both must go."""
    text = '{"a": 1}'
    emptied = json_edit.emptiness(text, PLACE, STRICT_JSON) | {"/hooks": None}
    one = json_edit.put(text, PLACE, ENTRY, STRICT_JSON)
    two = json_edit.put(one, ("hooks", "x"), [1], STRICT_JSON)

    back = json_edit.drop(two, PLACE, STRICT_JSON, emptied)

    assert json_edit.drop(back, ("hooks", "x"), STRICT_JSON, emptied) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        'model = "x"\n',
        'model = "x"',
        "# only a comment\n\n",
        '# c\nmodel = "x" # y\n\n[mcp_servers.b]\ncommand = "b"\n\n\n',
        'model = "x"\r\n\r\n[mcp_servers.b]\r\ncommand = "b"\r\n',
        '[mcp_servers."b c"]\ncommand = "[mcp_servers.x]"',
        "limit = nan\n[tui]\nall = [-nan, inf]\n",
    ],
)
def test_a_table_goes_and_leaves_no_trace(text: str) -> None:
    """Codex keeps comments, and so must we."""
    entry = ENTRY | {"env": {"HIVEMIND_HOME": 'C:\\h "x"'}}

    put = put_table(text, TABLE, entry)

    assert tomllib.loads(put)["mcp_servers"]["hivemind"] == entry
    assert put.startswith(text)
    assert drop_table(put, TABLE) == text


def test_a_table_in_the_middle_is_replaced_with_all_that_is_below_it() -> None:
    """Codex's own command writes the environment as a table of its own."""
    text = (
        '[mcp_servers.hivemind]\ncommand = "old"\n\n'
        '[mcp_servers.hivemind.env]\nA = "b"\n\n# of c\n[c]\nd = 1\n'
    )

    new = put_table(text, TABLE, ENTRY)

    assert new == (
        '[mcp_servers.hivemind]\ncommand = "/bin/hm"\nargs = ["mcp"]\n\n'
        "# of c\n[c]\nd = 1\n"
    )
    assert drop_table(new, TABLE) == "# of c\n[c]\nd = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { b = { command = "b" } }\n',
        '[mcp_servers]\nhivemind = { command = "old" }\n',
        'mcp_servers.hivemind.command = "old"\n',
        'a = """\n[mcp_servers.hivemind]\n"""\n[mcp_servers.hivemind]\nx = 1\n',
        "a = \n",
    ],
)
def test_a_table_that_is_written_in_another_way_is_refused(text: str) -> None:
    """Lines are all that is understood here; a guess would cost the user's file."""
    with pytest.raises(BrokenTextError):
        put_table(text, TABLE, ENTRY)


def test_a_comment_that_may_not_be_there_is_named_in_words() -> None:
    """*Unexpected a comment* is no sentence."""
    with pytest.raises(BrokenTextError, match=r"^unexpected comment in line 2$"):
        parse("{\n// mine\n}", STRICT_JSON)


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize(
    "server",
    [
        {"env": {"T": "hunter2", "port": "80"}},
        {"headers": {"X-Mine": "hunter2"}},
        {"args": ["--api-token", "hunter2"]},
        {"args": ["serve", "api_key=hunter2", "--token=hunter2"]},
        {"args": ["https://x.example/sse?token=hunter2&a=b"]},
    ],
)
def test_a_difference_shows_no_weak_secret_of_another_server(
    server: dict[str, Any], indent: int | None
) -> None:
    """It is no less secret because a person chose it badly."""
    old = json.dumps({"x": server}, indent=indent)
    own = {"command": "hm", "env": {"HIVEMIND_HOME": "/h"}}
    new = json_edit.put(old, ("h",), own, STRICT_JSON)

    shown = difference("/f", old, new) + difference("/f", new, old)

    assert "hunter2" not in shown
    assert '"HIVEMIND_HOME": "/h"' in shown
    assert '"command": "hm"' in shown


def test_lines_around_a_change_show_names_alone() -> None:
    """What is secret in them is known to their owner alone."""
    old = '{\n  "a": "hunter2",\n  "theme": "hunter2"\n}\n'
    new = json_edit.put(old, ("h",), {"command": "hm"}, STRICT_JSON)

    assert difference("/f", old, new).splitlines()[3:] == [
        *(" {", '   "a": "…",', '-  "theme": "…"', '+  "theme": "…",'),
        *('+  "h": {', '+    "command": "hm"', "+  }", " }"),
    ]


def test_a_difference_shows_no_secret_of_anybody() -> None:
    """It is printed, and what is printed ends in logs."""
    old = '{\n  "env": {"API_KEY": "hunter2"},\n  "x": "sk-abcdefghijklmnop"\n}\n'
    new = json_edit.put(old, ("h",), {"Authorization": "Bearer 1234"}, STRICT_JSON)

    shown = difference("/f", old, new)

    assert "hunter2" not in shown
    assert "1234" not in shown
    assert "sk-abc" not in shown
    assert '+    "Authorization": "…"' in shown


def test_a_difference_shows_no_password_in_the_address_of_another_server() -> None:
    """Its name says nothing; the lines around a change are anybody's."""
    address = "postgres://me:hunter2-Xq9zz@db.example/shop"
    old = json.dumps({"pg": {"args": ["pg-mcp", address]}}, indent=2)
    new = json_edit.put(old, ("h",), {"command": "hm"}, STRICT_JSON)

    shown = difference("/f", old, new)

    assert '      "…"\n' in shown
    assert "hunter2" not in shown
    assert mask_secrets(address).endswith("@db.example/shop")


def test_a_difference_in_a_large_file_names_its_real_lines() -> None:
    """And is found without comparing every line."""
    old = "".join(f"{n}\n" for n in range(100_000))
    new = old.replace("\n50000\n", "\nfifty\n")

    shown = difference("/f", old, new)

    assert "@@ -49999,5 +49999,5 @@" in shown
    assert mask_secrets("port = 80") == "port = 80"
