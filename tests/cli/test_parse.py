"""From words to a request: what is understood, what is refused, what is text."""

from __future__ import annotations

import datetime as dt
import shlex
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hivemind_memory.cli.command import QUERY, TASK, TEXT, VERBATIM, Command
from hivemind_memory.cli.commands import link
from hivemind_memory.cli.dates import parse_day, parse_moment
from hivemind_memory.cli.list_filter import STATUSES
from hivemind_memory.cli.options import MEMORY_DIR, SOURCES
from hivemind_memory.cli.parse import parse_request
from hivemind_memory.cli.table import ALIASES, all_commands, find_command
from hivemind_memory.errors import UsageError
from hivemind_memory.model import trust
from hivemind_memory.model.memories import EDGE_KINDS, SHOWN_STATUSES
from tests.support.tiers import examples

COMMANDS = all_commands()
JSON = {"json": True}
WORDS = st.sampled_from(
    ("deploy", "", "-", "--", "a b", "café", "-x", "--jso", "global.md", "7", "-1")
)
VALUES = st.sampled_from(
    ("3", "0", "0.5", "1.", "-1", "nan", "1e-1", " 2", "٣", "x", "human", "", "--json")
)
FLAGS = sorted({flag.names for command in COMMANDS for flag in command.flags})
ODD = st.text(st.sampled_from("-=@*?\"'`$!\\ \t\nab"), max_size=8)
OPTION_LIKE = st.sampled_from(
    ("--force", "--file", "--json", "-n", "-x", "--", "-", "--help", "--file=a b", "-1")
)
TEXTS = st.lists(ODD | OPTION_LIKE | st.text(max_size=6), min_size=1, max_size=8)


def parsed(line: str) -> tuple[str, dict[str, Any], str | None]:
    """What is understood, without what was not given."""
    request = parse_request(shlex.split(line))
    given_values = {
        name: value
        for name, value in request.values.items()
        if value not in (None, False, ())
    }
    return request.command.name, given_values, request.memory_dir


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("search how do I deploy", "search", {"query": ("how", "do", "I", "deploy")}),
        ("search -n 3 x --json", "search", {"query": ("x",), "max_results": 3, **JSON}),
        ("search --limit 3 x", "search", {"query": ("x",), "max_results": 3}),
        ("search -n3 x", "search", {"query": ("x",), "max_results": 3}),
        ("search --min-score=.5 x", "search", {"query": ("x",), "min_score": 0.5}),
        ("search -", "search", {"query": ("-",)}),
        ("search what does -x do", "search", {"query": ("what", "does", "-x", "do")}),
        ("search x -- --json", "search", {"query": ("x", "--json")}),
        ("get a.md --lines 2", "get", {"path": "a.md", "lines": 2}),
        ("config", "config list", {}),
        ("config --json", "config list", {"json": True}),
        ("config get x", "config get", {"key": "x"}),
        ("hook session-start", "hook session-start", {}),
        ("ls", "list", {}),
        ("rm x", "forget", {"ref": "x"}),
        ("add some text", "write", {"text": ("some", "text")}),
        ("", "help", {}),
        ("--help", "help", {}),
        ("-h", "help", {}),
        ("help", "help", {}),
        ("help all", "help", {"topic": ("all",)}),
        ("search --help", "help", {"topic": ("search",)}),
        ("get a b -h", "help", {"topic": ("get",)}),
        ("config --help", "help", {"topic": ("config",)}),
        ("config get --help", "help", {"topic": ("config", "get")}),
        ("--version", "version", {}),
        ("launch a -- --model x", "launch", {"agent": "a", "args": ("--model", "x")}),
        ("exec claude --agent x", "exec", {"command": ("claude", "--agent", "x")}),
        ("exec --agent a -- b -c", "exec", {"command": ("b", "-c"), "agent": "a"}),
    ],
)  # fmt: skip
def test_a_command_line_is_understood(
    line: str, name: str, values: dict[str, Any]
) -> None:
    """Options may stand before, between and after plain words."""
    assert parsed(line) == (name, values, None)


@pytest.mark.parametrize(
    "line", ["--memory-dir d list", "--memory-dir=d list", "list --memory-dir d"]
)
def test_the_notes_folder_may_be_named_anywhere(line: str) -> None:
    """Before the command it holds for any; after it, it is one of its options."""
    assert parsed(line) == ("list", {}, "d")


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("serach x", "There is no command `hm serach`.", "Did you mean `hm search`?"),
        ("nonsense", "There is no command `hm nonsense`.", "`hm help all` lists"),
        ("config gett x", "no command `hm config gett`", "`hm config get`"),
        ("--jsn list", "`hm` has no option --jsn.", "`hm --help`"),
        ("save --key a b", "`hm save` has no", "is not an option: `hm save KEY TEXT`"),
        ("list --jsn", "`hm list` has no option --jsn.", "Did you mean --json?"),
        ("list -x", "`hm list` has no option -x.", "`hm list --help`"),
        ("write --fil a b", "`hm write` has no option --fil.", "Did you mean --file?"),
        (
            "write -5 degrees",
            "has no option -5. Nothing was saved.",
            "begins with a dash goes after `--`",
        ),
        ("launch a --model", "has no option --model.", "own arguments after `--`"),
        ("list --json=yes", "`--json` takes no value.", "`--json` alone"),
        ("write --file", "`--file` needs a value: PATH.", "Note to"),
        ("list --type", "`--type` needs a value: TYPES.", "such as lesson,decision"),
        ("save --reason --pin a b", "the next word is `--pin`", "`--reason=--pin`"),
        ("search -n 0 x", "from 1 to 1000, not `0`", "Maximum number"),
        ("search -n ٣ x", "a whole number", ""),
        ("search --min-score nan x", "a number from 0 to 1, not `nan`", ""),
        ("search --min-score 1e-1 x", "a number from 0 to 1, not `1e-1`", ""),
        ("get a --lines 1_0", "a whole number from 0 up, not `1_0`", ""),
        ("kv set --if-version -1 k v", "a whole number from 0 up, not `-1`", "Only if"),
        ("write --source humn x", "human, agent, tool or external", "mean human?"),
        ("link a", "`hm link` needs TO.", "Usage: hm link"),
        ("get a b", "takes PATH only: unexpected argument `b`", "Usage: hm get"),
        ("search --since 2026-02-30 x", "takes a time, not `2026-02-30`", "2h, 7d"),
        ("search --until soon x", "`--until` takes a time, not `soon`.", "yesterday"),
        ("search --since 99999w x", "takes a time", "yesterday"),
        ("search --since 20261121 x", "takes a time", "2026-11-21"),
        ("forget --day 2h", "takes a day, not `2h`", "7d or 2w"),
        ("forget --day ''", "The value of `--day` is empty.", "Leave it out"),
        ("save --expires never k x", "takes a day, not `never`", "tomorrow"),
        (
            "save '--reson=new team' k x",
            "no option --reson. Nothing was saved",
            "mean --reason?",
        ),
        ("list '--typ=a b'", "has no option --typ.", "Did you mean --type?"),
        (
            "log a",
            "takes no arguments: unexpected argument `a`",
            "Usage: hm log [OPTIONS]",
        ),
        ("--memory-dir", "`--memory-dir` needs a value: FOLDER.", ""),
    ],
)
def test_a_mistake_is_named_with_what_is_near(
    line: str, message: str, hint: str
) -> None:
    """A person reads one line and types the right one."""
    with pytest.raises(UsageError) as raised:
        parse_request(shlex.split(line))

    assert message in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("text", "back", "on"),
    [
        ("2026-11-21", "2026-11-21", "2026-11-21"),
        (" 2024-02-29 ", "2024-02-29", "2024-02-29"),
        ("today", "2026-03-01", "2026-03-01"),
        ("Yesterday", "2026-02-28", "2026-02-28"),
        ("tomorrow", "2026-03-02", "2026-03-02"),
        ("7d", "2026-02-22", "2026-03-08"),
        ("0d", "2026-03-01", "2026-03-01"),
        ("2w", "2026-02-15", "2026-03-15"),
        ("2023-02-29", None, None),
        ("3m", None, None),
        ("d", None, None),
        ("-1d", None, None),
        ("٣d", None, None),
        ("2026-11-21T10:00", None, None),
    ],
)
def test_a_day_is_typed_as_people_say_it(
    text: str, back: str | None, on: str | None
) -> None:
    """A number of days counts back from today; for an expiry it counts on."""
    today = dt.date(2026, 3, 1)

    assert parse_day(text, today) == back
    assert parse_day(text, today, is_future=True) == on


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", "2026-02-28T23:45:00+01:00"),
        ("2h", "2026-02-28T22:15:00+01:00"),
        (" 1H ", "2026-02-28T23:15:00+01:00"),
        ("7d", "2026-02-22"),
        ("2w", "2026-02-15"),
        ("yesterday", "2026-02-28"),
        ("2026-02-21", "2026-02-21"),
        ("h", None),
        ("-1h", None),
        ("1.5h", None),
        ("999999m", None),
    ],
)
def test_a_time_may_be_minutes_or_hours_ago(text: str, moment: str | None) -> None:
    """`hm log --since 1h` was refused."""
    zone = dt.timezone(dt.timedelta(hours=1))
    now = dt.datetime(2026, 3, 1, 0, 15, tzinfo=zone)

    assert parse_moment(text, now) == moment


@pytest.mark.parametrize(
    ("line", "text", "note"),
    [
        ("write never git push --force", "never git push --force", "`--force`"),
        ("write a --json --file=b c", "a --json --file=b c", "`--json`, `--file`"),
        ("write a -- b", "a -- b", ""),
        ("write -- --json is text", "--json is text", ""),
        ("write '- milk' --pin", "- milk --pin", ""),
        ("write '--unknown=a b'", "--unknown=a b", ""),
        ("save '- milk' a", "a", ""),
        ("write a --help", "a --help", "`--help`"),
        ("write - milk", "- milk", ""),
        ("write -", "-", ""),
        ("save k a --reason b c", "a --reason b c", "`--reason`"),
        ("save k a --reason", "a --reason", "`--reason`"),
        ("save k -- a --reason b", "a --reason b", ""),
        ("save k --pin a --pin", "a --pin", "`--pin`"),
    ],
)  # fmt: skip
def test_the_first_word_of_a_text_ends_the_options(
    line: str, text: str, note: str
) -> None:
    """Words are never lost, and what may have been meant otherwise is named."""
    request = parse_request(shlex.split(line))

    assert " ".join(request.values[request.command.arguments[-1].name]) == text
    assert " ".join(request.notes).startswith(note)
    assert bool(request.notes) == bool(note)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("write word --memory-dir X", "--memory-dir"),
        ("write two words --json --file=c.md", "--file"),
        ("save k a --reason b --pin", "--reason"),
        ("learn t a --confidence high", "--confidence"),
    ],
)
def test_a_text_that_ends_in_options_with_values_is_refused(
    line: str, name: str
) -> None:
    """`hm write word --memory-dir X` saved all of it, to another memory."""
    with pytest.raises(UsageError) as refused:
        parse_request(shlex.split(line))

    assert f"`{name}` may be an option or the end of the text" in str(refused.value)
    assert refused.value.effect == "Nothing was saved"
    assert "`--` if all of it is text" in refused.value.hint


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("save k 'a b' --tags x", {"text": ("a b",), "tags": ("x",)}),
        (
            "save k 'a b' --tags x --pin",
            {"text": ("a b",), "tags": ("x",), "pin": True},
        ),
        ("write 'a b' --file=c.md", {"text": ("a b",), "file": "c.md"}),
        ("learn t 'a b' --confidence low", {"claim": ("a b",), "confidence": "low"}),
        ("save --pin k 'a b' --json", {"text": ("a b",), "pin": True, "json": True}),
    ],
)
def test_options_after_a_text_in_quotes_are_options(
    line: str, values: dict[str, Any]
) -> None:
    """`hm save k "text" --tags x` made the tags a part of the text."""
    request = parse_request(shlex.split(line))

    assert values.items() <= request.values.items()
    assert request.notes == ()


@pytest.mark.parametrize(
    ("line", "text", "named"),
    [
        ("save k 'a b' --tags x more", "a b --tags x more", "`--tags` is part"),
        ("save k 'a b' --tga x", "a b --tga x", "`--tga` is part of the text; did you"),
        ("write 'a b' c --json", "a b c --json", "`--json` is part"),
    ],
)
def test_what_is_not_certain_to_be_an_option_stays_text_and_is_named(
    line: str, text: str, named: str
) -> None:
    """No word is lost, and none becomes text unsaid."""
    request = parse_request(shlex.split(line))

    assert " ".join(request.values["text"]) == text
    assert request.notes[0].startswith(named)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("mcp --toolset context --toolset skills", "toolset", "context,skills"),
        ("mcp --team a --team b,c", "team", "a,b,c"),
        ("token add ci --team a --team b", "team", "a,b"),
        ("git-hook install --agent claude --agent codex", "agent", "claude,codex"),
        ("consolidate --apply d --only 1 --only 3,4", "only", "1,3,4"),
        ("save --related a --related b k x", "related", "a,b"),
        ("save --contradicts a --contradicts b k x", "contradicts", "a,b"),
        ("learn --domains a.org --domains b.org t x", "domains", "a.org,b.org"),
        ("list --type fact --type lesson", "type", "fact,lesson"),
        ("search --type fact --type lesson tea", "type", "fact,lesson"),
        ("list --tag a --tag b", "tag", ("a", "b")),
        ("list --scope global --scope project", "scope", "project"),
    ],
)
def test_a_list_that_is_given_again_adds_up(
    line: str, name: str, value: object
) -> None:
    """`hm mcp --toolset context --toolset skills` offered only the skills."""
    assert parsed(line)[1][name] == value


def test_every_option_that_takes_words_between_commas_adds_up() -> None:
    """None that says so in its help drops what was given first."""
    for command in COMMANDS:
        for flag in command.flags:
            if "commas" in flag.description or flag.metavar in ("NAMES", "TYPES"):
                assert flag.is_list or flag.is_many, (command.name, flag.name)


def test_an_option_after_a_text_in_quotes_needs_its_value() -> None:
    """Nothing is saved without it."""
    with pytest.raises(UsageError, match="`--tags` needs a value") as caught:
        parse_request(["save", "k", "a b", "--tags"])
    assert str(caught.value).endswith("Nothing was saved.")


@pytest.mark.parametrize(
    "line", ["write - --file a.md", "write --file a.md -", "write --file a.md"]
)
def test_a_dash_between_options_is_standard_input(line: str) -> None:
    """``git log | hm write - --file a.md`` must not store a dash and drop the pipe."""
    name, values, _ = parsed(line)

    assert (name, values["file"]) == ("write", "a.md")
    assert values.get("text", ("-",)) == ("-",)


def test_a_word_of_a_question_that_is_nearly_an_option_is_named() -> None:
    """It is searched for, but it may have been a typing error."""
    request = parse_request(["search", "deploy", "--jsn"])

    assert request.values["query"] == ("deploy", "--jsn")
    assert request.notes == (
        "`--jsn` is not an option, so it was searched for; did you mean `--json`?",
    )


@pytest.mark.parametrize("name", ["--top-k", "--project", "--label"])
def test_an_unknown_option_is_named_wherever_it_stands(name: str) -> None:
    """Before the words of a question, between them and behind them."""
    notes = set()
    for words in ((name, "3", "deploy"), ("a", name, "3"), ("a", "b", name)):
        request = parse_request(["search", *words])
        assert request.values["query"] == words
        notes.add(request.notes)

    [(note,)] = notes
    assert note.startswith(f"`{name}` is not an option, so it was searched for; ")


@pytest.mark.parametrize("words", ["tar -x", "a --> b", "-- git --force", "a --- b"])
def test_a_dash_that_is_part_of_a_question_is_not_noted(words: str) -> None:
    """It begins no option, or stands after the mark that ends them."""
    assert parse_request(["search", *words.split()]).notes == ()


def reads(kind: int) -> list[Command]:
    """The commands whose last argument reads words in one way."""
    return [
        one for one in COMMANDS if one.arguments and one.arguments[-1].reads == kind
    ]


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(reads(TEXT) + reads(VERBATIM)), TEXTS)
@example(find_command("write"), ["-", "--json"])
def test_a_text_is_kept_to_the_word(command: Command, text: list[str]) -> None:
    """Dashes, quotes, globs: after ``--`` or a first plain word all of it is text."""
    before = ["key"] * (len(command.arguments) - 1)
    name = command.arguments[-1].name

    behind = parse_request([*command.name.split(), *before, "--", *text])

    assert behind.values[name] == tuple(text)
    flags = (*command.flags, MEMORY_DIR)
    names = {name for flag in flags for name in flag.names if flag.kind != "flag"}
    if names.intersection(word.partition("=")[0] for word in text):
        return  # it may end in options, which is refused
    plain = parse_request([*command.name.split(), *before, "word", *text])
    assert plain.values[name] == ("word", *text)


@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, TEXTS)
def test_a_question_loses_only_known_options(words: list[str], rest: list[str]) -> None:
    """Every other word is searched for, in its place; after ``--`` every word is."""
    known = {name for flag in find_command("search").flags for name in flag.names}
    known |= {"-h", "--help", "--", *MEMORY_DIR.names}
    asked = [
        one
        for one in words
        if one.partition("=")[0] not in known and not one.startswith("-n")
    ]

    request = parse_request(["search", "--json", "word", *asked, "--", *rest])

    assert request.values["query"] == ("word", *asked, *rest)


@st.composite
def command_line(draw: st.DrawFn) -> list[str]:
    """A line that begins with a command and goes on with anything."""
    name = draw(st.sampled_from(draw(st.sampled_from([*FLAGS, MEMORY_DIR.names]))))
    value = draw(VALUES)
    forms = [[name], [name, value], [f"{name}={value}"], [f"{name}{value}"]]
    command = draw(st.sampled_from(COMMANDS)).name.split()
    pieces = st.one_of(st.lists(WORDS, max_size=2), st.sampled_from(forms))
    after = draw(st.lists(pieces, max_size=4))
    return [*command, *(word for piece in after for word in piece)]


@settings(max_examples=examples(600), deadline=None)
@given(command_line())
def test_any_line_is_a_request_or_a_usage_error(words: list[str]) -> None:
    """With every value present and of its kind, and no other exception."""
    try:
        request = parse_request(words)
    except UsageError:
        return

    names = {flag.name for flag in request.command.flags}
    names |= {argument.name for argument in request.command.arguments}
    assert set(request.values) == names
    for flag in request.command.flags:
        value = request.values[flag.name]
        kinds = {"flag": bool, "int": int, "float": float}
        kind = tuple if flag.is_many else kinds.get(flag.kind, str)
        assert value is None or type(value) is kind
        assert not flag.choices or value is None or value in flag.choices


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(COMMANDS), st.data())
def test_every_option_of_every_command_can_be_given(
    command: Any, data: st.DataObject
) -> None:
    """Under each of its names."""
    plain = {"int": "3", "float": "0.5", "text": "x", "flag": None}
    plain |= {"day": "today", "due": "3d", "moment": "2h", "path": "x"}
    plain |= {"duration": "10m"}
    words = command.name.split()
    for flag in data.draw(st.lists(st.sampled_from((*command.flags, MEMORY_DIR)))):
        value = flag.choices[0] if flag.choices else plain[flag.kind]
        words += [data.draw(st.sampled_from(flag.names))]
        words += [value] if value is not None else []
    words += ["word"] * len(command.arguments)

    request = parse_request(words)

    assert request.command is command
    assert request.notes == ()


def test_aliases_name_commands_and_are_no_commands_themselves() -> None:
    """Else one of the two could never be called."""
    assert all(find_command(name) for name in ALIASES.values())
    assert not any(find_command(name) for name in ALIASES)
    assert [one.name for one in reads(QUERY)] == ["search", "activity search"]
    assert [one.name for one in reads(TASK)] == ["context build"]


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (SOURCES, trust.SOURCES),
        (STATUSES, SHOWN_STATUSES),
        (link._KINDS, EDGE_KINDS),
    ],
    ids=["sources", "statuses", "links"],
)
def test_commands_take_each_name_that_there_is(
    offered: tuple[str, ...], known: tuple[str, ...]
) -> None:
    """The names are written twice: what ``hm --version`` and help load stays small."""
    assert offered == known
