"""Writes what can be derived: the references in docs/, and config.example.json.

``--write`` writes the files, ``--check`` ends with 1 if one of them is not up to date.
"""  # noqa: INP001

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from hivemind_memory.cli.command import Command  # noqa: E402
from hivemind_memory.cli.help import (  # noqa: E402 - the path comes first
    EXIT_CODES,
    HELP_ROW,
    VARIABLES,
    option_rows,
    usage,
)
from hivemind_memory.cli.table import (  # noqa: E402
    GROUPS,
    PANELS,
    all_commands,
    panel_of,
    summary_of,
)
from hivemind_memory.config import Option, options  # noqa: E402
from hivemind_memory.config.values import allowed_values  # noqa: E402
from hivemind_memory.mcp_server.instructions import INSTRUCTIONS  # noqa: E402
from hivemind_memory.mcp_server.search_output import SNIPPET_CHARS  # noqa: E402
from hivemind_memory.mcp_server.server_description import (  # noqa: E402
    DescribedTool,
    described_tools,
    described_toolsets,
    first_answers,
)
from hivemind_memory.mcp_server.shaping import LIMIT_CHARS  # noqa: E402

_MADE = "<!-- Made by scripts/generate_docs.py from the code; do not edit. -->"
_CLI_INTRO = (
    "Data goes to standard output, messages to standard error. Piped output is"
    " plain, never wrapped and never cut; `--json` gives everything, for programs."
)
_CONFIG_INTRO = (
    "Options are set under `memory` in `config.json`, in `~/.hivemind` or the folder"
    " that `HIVEMIND_HOME` names; `hm config path` prints its path. The file and every"
    " option in it are optional. A command-line option takes precedence over an"
    " environment variable, which takes precedence over the file. If a value is"
    " invalid, the default is used and every answer says so. Nothing is saved while an"
    " invalid value could put a memory in the wrong place.\n\n"
    "`hm config list` shows the values in effect and where they come from. `hm config"
    " set` and `hm config unset` change the file, which only you can read. Unknown keys"
    " are kept and reported."
)
_TOOLSET_INTRO = (
    "Offered only if `hm mcp --toolset {name}` or the option"
    " [toolsets](config.md#toolsets) asks for it, beside the tools above."
)
_TOOLS_INTRO = (
    "`hm mcp` serves these over the Model Context Protocol, on standard input and"
    " output or, with `--http`, over streamable HTTP on 127.0.0.1. Every result comes"
    " as an object and as text that says the same, because some clients show the"
    " model only one of them. Empty fields are omitted.\n\n"
    f"A result holds at most {LIMIT_CHARS:,} characters of text from the notes, and a"
    f" snippet {SNIPPET_CHARS:,}; `continuation` says what was cut, and which call"
    " returns the rest. Invisible characters, and those that control a terminal, are"
    " shown escaped, as `\\u202e`. A call that fails says in one sentence what is"
    " wrong, what to do, and what was or was not saved.\n\n"
    "A `file` or `path` is relative, ends in `.md`, and has no `~`, `%`, backslash,"
    " dot segment or dot folder. Unknown arguments are rejected."
)


def generated() -> dict[str, str]:
    """Return each derived file: path below the project -> its text."""
    return {
        "docs/cli.md": cli_page(),
        "docs/config.md": config_page(),
        "docs/mcp-tools.md": tools_page(),
        "config.example.json": example_config(),
        "hivemind_memory/mcp_server/tools.json": first_answers_file(),
    }


def cli_page() -> str:
    """Return the reference of the command line."""
    parts = [
        "# The command line",
        _MADE,
        _CLI_INTRO,
    ]
    for panel in PANELS:
        rows = [
            f"| [`hm {command.name}`](#hm-{command.name.replace(' ', '-')}) |"
            f" {_cell(summary_of(command.name))} |"
            for command in all_commands()
            if panel_of(command.name) == panel
        ]
        parts.append("\n".join([f"| {panel} | |", "| --- | --- |", *rows]))
    parts.append(_table(("exit code", "meaning"), EXIT_CODES))
    parts.append(_table(("variable", "meaning"), VARIABLES, is_code=True))
    parts += [_command_part(command) for command in all_commands()]
    return "\n\n".join(parts) + "\n"


def config_page() -> str:
    """Return the reference of the options."""
    parts = [
        "# Options",
        _MADE,
        _CONFIG_INTRO,
    ]
    parts += [_option_part(option) for option in options().values()]
    return "\n\n".join(parts) + "\n"


def tools_page() -> str:
    """Return the reference of the tools that agents call."""
    parts = ["# Tools for agents", _MADE, _TOOLS_INTRO]
    for tool in described_tools():
        parts += _tool_parts(tool, "##")
    for name, tools in described_toolsets().items():
        parts.append(f"## Toolset {name}\n\n{_TOOLSET_INTRO.format(name=name)}")
        for tool in tools:
            parts += _tool_parts(tool, "###")
    parts.append("## Server instructions")
    parts.append(f"```text\n{INSTRUCTIONS.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _tool_parts(tool: DescribedTool, level: str) -> list[str]:
    """Return the parts of the page that describe one tool."""
    return [
        f"{level} {tool.name}\n\n{tool.description}",
        _table(("argument", "meaning"), tool.arguments, is_code=True),
        _table(("result", "meaning"), tool.results, is_code=True),
        f"Annotations: {tool.hints}.",
    ]


def example_config() -> str:
    """Return a config.json with every option at its default."""
    values = {option.name: option.default for option in options().values()}
    return json.dumps({"memory": values}, indent=2) + "\n"


def first_answers_file() -> str:
    """Return what a server answers before it imports the SDK."""
    return json.dumps(first_answers(), indent=1, ensure_ascii=False) + "\n"


def _command_part(command: Command) -> str:
    """Return the section of one command."""
    parts = [f"## hm {command.name}", summary_of(command.name)]
    if command.description:
        parts.append(command.description)
    for group, (_, _, fallback) in GROUPS.items():
        if f"{group} {fallback}" == command.name:
            parts.append(f"`hm {group}` alone does the same.")
    parts.append(f"```\n{usage(command)}\n```")
    places = [(x.name.upper(), x.description) for x in command.arguments]
    rows = [*places, *option_rows(command), HELP_ROW]
    parts.append(_table(("", "meaning"), rows, is_code=True))
    if command.examples:
        parts.append("```sh\n" + "\n".join(command.examples) + "\n```")
    return "\n\n".join(parts)


def _option_part(option: Option) -> str:
    """Return the section of one option."""
    default = json.dumps(option.default)
    names = ", ".join(f"`{name}`" for name in option.env)
    return (
        f"## {option.name}\n\n{option.description}\n\n"
        f"- value: {allowed_values(option)}\n"
        f"- default: `{default}`\n"
        f"- environment: {names}"
    )


def _table(
    heads: tuple[str, str],
    rows: list[tuple[str, str]] | tuple[tuple[str, str], ...],
    *,
    is_code: bool = False,
) -> str:
    """Return a Markdown table of two columns."""
    tick = "`" if is_code else ""
    lines = [f"| {heads[0]} | {heads[1]} |", "| --- | --- |"]
    lines += [f"| {tick}{_cell(x)}{tick} | {_cell(y)} |" for x, y in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return *text* fit for a cell of a table."""
    return text.replace("|", "\\|")


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--write", action="store_true")
    how.add_argument("--check", action="store_true")
    should_write = parser.parse_args().write
    stale = []
    for name, text in generated().items():
        path = ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if should_write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print("wrote" if should_write else "not up to date:", name)  # noqa: T201
    return 1 if stale and not should_write else 0


if __name__ == "__main__":
    sys.exit(main())
