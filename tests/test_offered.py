"""Every command that a message offers can be pasted, whatever the names in it hold."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

import hivemind_memory
from tests.cli.conftest import Hm, hm, home  # noqa: F401 - fixtures
from tests.support.code_tree import walk

ROOT = Path(hivemind_memory.__file__).parent

SAFE = {
    # Names of commands and options, and ids: none holds what a shell would read.
    "option.name",
    "option",
    "name",
    "group",
    "self._command.name",
    "owner",
    "f'{group} {near}' if second else near",
    "change_id",
    "undone.id",
    "change.undone_by",
    "entry.id",
    "self.id",
    "forgotten.id",
    "wider",
    "shown",
    "command",
    "how",
    "line",
}
"""Expressions that may stand in an offered command without being quoted."""

PLACES_OF_NAME = {
    "cli/unknown_names.py",
    "cli/help.py",
    "cli/parse.py",
    "curation/undo.py",
}
"""Files in which ``name`` is the name of a command, an option or an id."""


def _offers() -> Iterator[tuple[str, str]]:
    """Yield file and expression of every value inside an offered command."""
    for file in sorted(ROOT.rglob("*.py")):
        for node in walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                said = ""
                for part in node.values:
                    if isinstance(part, ast.Constant):
                        said += str(part.value)
                        continue
                    assert isinstance(part, ast.FormattedValue)
                    is_open = said.count("`") % 2 == 1
                    if is_open and said.rpartition("`")[2].startswith("hm "):
                        place = file.relative_to(ROOT).as_posix()
                        yield place, ast.unparse(part.value)
                    said += "X"


def test_every_name_in_an_offered_command_is_quoted() -> None:
    """A key such as ``it's a key; rm -rf ~`` is pasted as one word."""
    unquoted = {
        (place, said)
        for place, said in _offers()
        if not said.startswith(
            (
                "operand(",
                "pasted(",
                "quote(",
                "shlex.quote(",
                "shlex.join(",
                "_listing(",
            )
        )
        and (said not in SAFE or (said == "name" and place not in PLACES_OF_NAME))
    }

    assert unquoted == set()


def test_the_search_for_offers_finds_them() -> None:
    """A rule that sees nothing forbids nothing."""
    assert len(set(_offers())) > 15


def test_an_offered_command_with_a_hostile_name_can_be_pasted(
    hm: Hm,  # noqa: F811 - the fixture
    home: Path,  # noqa: F811 - the fixture
) -> None:
    """Blank, quote and semicolon stay in one word."""
    key = "it's a key; rm -rf ~"
    for project, text in (("one", "First."), ("two", "Second.")):
        hm("save", "--scope", f"project/{project}", "--type", "fact", key, text)

    ran = hm("project", "merge", "one", "two")

    offered = [part for part in ran.err.split("`") if part.startswith("hm forget")]
    assert len(offered) == 2
    assert hm(*shlex.split(offered[0])[1:]).code == 0
    assert hm("project", "merge", "one", "two").code == 0


def test_an_offered_command_with_a_name_that_begins_with_a_dash_can_be_pasted(
    hm: Hm,  # noqa: F811 - the fixture
    home: Path,  # noqa: F811 - the fixture
) -> None:
    """Quotes do not keep ``-draft`` from being read as an option; ``--`` does."""
    hm("save", "--type", "todo", "--", "-draft", "Send it.")

    done = hm("done", "--", "-draft")
    reopened = hm(*_offered(done.err, "hm done"))
    hm("forget", "--", "-draft")
    shown = hm("show", "--", "-draft")
    restored = hm(*_offered(shown.err, "hm restore"))

    assert (reopened.code, restored.code) == (0, 0)
    assert hm("show", "--", "-draft").code == 0


def _offered(text: str, command: str) -> list[str]:
    """Return the words after ``hm`` of the command that a message offers."""
    [found] = [part for part in text.split("`") if part.startswith(command)]
    return shlex.split(found)[1:]
