"""hm config: list, get, set, unset and path."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    is_terminal,
    print_json,
    print_notices,
    print_rows,
    read_stdin,
    write_stderr,
    write_stdout,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.errors import ConfigError, UsageError
from hivemind_memory.model.display import escape_line
from hivemind_memory.model.keys import no_such

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.config import ConfigFile, Option

_OF_SCOPES = {"projects", "workspaces"}

_KEY = Argument("key", "Name of an option, such as min_score.", completes="options")


@command("config list", flags=(JSON,))
def list_options(request: CommandRequest) -> int:
    """Show every option with its value and where it was set."""
    from hivemind_memory.config import options, read_config, resolve

    file = read_config(_config_path())
    unusable: dict[str, str] = {}
    settings, origins = resolve(file, os.environ, unusable=unusable)
    print_notices(unusable.values())
    table = options()
    if request.values["json"]:
        entries = [
            {
                "name": name,
                "value": _shown(option, getattr(settings, name)),
                "origin": origins[name],
                "default": _shown(option, option.default),
                "description": option.description,
            }
            for name, option in table.items()
        ]
        print_json(
            {
                "path": file.path,
                "options": entries,
                "unknown_keys": settings.unknown_keys,
            }
        )
        return 0
    rows = [
        (name, _text(_shown(option, getattr(settings, name))), origins[name])
        for name, option in table.items()
    ]
    if is_terminal(sys.stdout):
        write_stdout(_terminal_text(rows))
    else:
        print_rows(rows)
    unknown = [key for key in settings.unknown_keys if key not in settings.unusable]
    if unknown:
        names = ", ".join(map(escape_line, unknown))
        write_stderr(f"in {file.path}, but unknown to this version: {names}\n")
    return 0


@command("config get", arguments=(_KEY,), flags=(JSON,))
def get(request: CommandRequest) -> int:
    """Print one value."""
    from hivemind_memory.config import read_config, resolve

    option, part = _option_and_part(request.values["key"])
    file, unusable = read_config(_config_path()), dict[str, str]()
    settings, origins = resolve(file, os.environ, unusable=unusable)
    print_notices([unusable[option.name]] if option.name in unusable else [])
    value = _shown(option, getattr(settings, option.name))
    if part:
        value = value.get(part) if isinstance(value, dict) else None
    if request.values["json"]:
        origin = origins[option.name]
        name = _name(option, part)
        print_json({"name": name, "value": value, "origin": origin})
    else:
        write_stdout(f"{_text(value)}\n")
    return 0


@command(
    "config set",
    description=(
        "With - the value is read from standard input, so that a secret does not end up"
        " in the shell's history. To set one part of an option that is an object,"
        " name both: agents.NAME."
    ),
    arguments=(
        _KEY,
        Argument(
            "value", "The new value.", completes="option values", may_be_empty=True
        ),
    ),
    examples=(
        "hm config set embedding_provider ollama",
        "hm config set openai_api_key -",
        "hm config set agents.quick 'claude --model haiku'",
    ),
)
def set_option(request: CommandRequest) -> int:
    """Write one value into config.json."""
    from hivemind_memory.config.file import change_options
    from hivemind_memory.config.values import parse_part, parse_value

    check_shell_may_configure("hm config set")
    option, part = _option_and_part(request.values["key"])
    path = _config_path()
    text, before = request.values["value"], None
    if text == "-":
        text = _read_value(option)
    with _refused_values(option, text):
        given: object = parse_part(text) if part else parse_value(option, text)

    def changed(file: ConfigFile) -> dict[str, object]:
        nonlocal before
        parts = _parts_in_file(option, file) if part else file.memory
        before = parts.get(part or option.name)
        value = _with_part(option, file, part, given) if part else given
        _check_whole(file, option.name, value)
        if option.kind == "dict":
            _refuse_known_names({part: given} if part else given)
        return {**file.memory, option.name: value}

    change_options(path, changed)
    name, shown = _name(option, part), _text(_shown(option, given))
    done = _command_to(option, name, given) or ("config", "set", name)
    record_command(request, done, _command_to(option, name, before))
    write_stderr(f"{name} is now {escape_line(shown)} in {escape_line(path)}\n")
    for variable in option.env:
        if os.environ.get(variable):
            write_stderr(f"but {variable} is set, and overrides the file\n")
    return 0


@contextmanager
def _refused_values(option: Option, text: str) -> Iterator[None]:
    """Raise a ``UsageError`` for a value that an option does not take."""
    from hivemind_memory.config.values import InvalidPartError, allowed_values

    try:
        yield
    except InvalidPartError as error:
        raise UsageError(str(error), hint=option.description) from None
    except ValueError:
        from hivemind_memory.cli.unknown_names import nearest
        from hivemind_memory.config.resolve import (
            OTHER_PROVIDERS,
            name_without_embeddings,
        )

        if name := name_without_embeddings(option, text):
            message = f"{name} has no embeddings."
            raise UsageError(message, hint=OTHER_PROVIDERS) from None
        message = f"{option.name} must be {allowed_values(option)}."
        near = nearest(text, option.choices)
        hint = f"Did you mean {near}?" if near else option.description
        raise UsageError(message, hint=hint) from None


def _with_part(option: Option, file: ConfigFile, part: str, given: object) -> object:
    """Return an object of the file with one part of it as it was given."""
    from hivemind_memory.config.values import check_value

    with _refused_values(option, _text(given)):
        return check_value(option, {**_parts_in_file(option, file), part: given})


def _refuse_known_names(given: object) -> None:
    """Raise if a name in an object is a secret of the vault."""
    from hivemind_memory import environment
    from hivemind_memory.curation.vault_access import check_option_names

    with suppress(ConfigError):  # another option may have to be mended too
        environment.load_settings()  # from here on the vault's values are known
    check_option_names(given)


def _check_whole(file: ConfigFile, name: str, value: object) -> None:
    """Refuse a change that would make the whole file unusable.

    Raises:
        ConfigError: Two options would contradict each other; nothing was changed.
    """
    from hivemind_memory.config import ConfigFile, resolve

    unusable: dict[str, str] = {}
    resolve(file, {}, unusable=unusable)
    if not unusable:  # else this change may be one of several that mend it
        changed = {**file.memory, name: value}
        resolve(ConfigFile(file.path, file.document, changed), {})


@command("config unset", arguments=(_KEY,))
def unset(request: CommandRequest) -> int:
    """Remove one option from config.json."""
    from hivemind_memory.config import options
    from hivemind_memory.config.file import change_options

    check_shell_may_configure("hm config unset")
    key = _bare(request.values["key"])
    path, not_set, before = _config_path(), "", None

    def changed(file: ConfigFile) -> Mapping[str, object]:
        nonlocal not_set, before
        before = file.memory.get(key)
        # Also a key that this version does not know: nothing else removes it.
        if key in file.memory:
            return {name: file.memory[name] for name in file.memory if name != key}
        option, part = _option_and_part(key)
        parts = _parts_in_file(option, file) if part else {}
        if part not in parts:
            not_set = _name(option, part)
            return file.memory
        before = parts[part]
        del parts[part]
        return {**file.memory, option.name: parts}

    change_options(path, changed)
    if not_set:
        write_stderr(f"{escape_line(not_set)} was not set in {escape_line(path)}\n")
    else:
        option = options().get(key.partition(".")[0])
        back = _command_to(option, key, before) if option else ()
        record_command(request, ("config", "unset", key), back)
        write_stderr(f"{escape_line(key)} is no longer set in {escape_line(path)}\n")
    return 0


def _command_to(option: Option, name: str, value: object) -> tuple[str, ...]:
    """Return the command that gives an option a value; empty: it is not recorded.

    Only a number, a switch or a choice is: anything else may hold a text or a secret.

    Args:
        option: The option.
        name: Its name, or that of a part of it.
        value: The value; None: it is not set.
    """
    if value is None:
        return ("config", "unset", name)
    is_harmless = isinstance(value, bool | int | float) or value in option.choices
    return ("config", "set", name, _text(value)) if is_harmless else ()


@command("config path", flags=(JSON,))
def path(request: CommandRequest) -> int:
    """Print the path of config.json."""
    if request.values["json"]:
        print_json({"path": _config_path()})
        return 0
    write_stdout(f"{_config_path()}\n")
    return 0


def check_shell_may_configure(what: str) -> None:
    """Raise in a shell that sees some scopes only.

    Raises:
        UsageError: It is one.
    """
    from hivemind_memory import environment
    from hivemind_memory.access.options import check_may_configure
    from hivemind_memory.access.rules import OWNER, Caller

    scope_request = environment.shell_scope_request()
    # Not opened with its scopes: a workspace that is not in the tree is refused too.
    limited = Caller(is_agent=scope_request.is_agent) if scope_request else OWNER
    check_may_configure(limited, what)


def _read_value(option: Option) -> str:
    """Return a value from standard input; a secret typed there is not shown."""
    if option.is_secret and is_terminal(sys.stdin):
        from getpass import getpass

        return getpass(f"{option.name}: ").strip()
    return read_stdin("Nothing was changed").strip()


def _config_path() -> str:
    """Return the path of config.json, whether it exists or not."""
    from hivemind_memory import environment
    from hivemind_memory.config import CONFIG_NAME

    return os.path.join(environment.resolve_home(None), CONFIG_NAME)


def _bare(key: str) -> str:
    """Return the name of an option without the section in config.json."""
    return key.removeprefix("memory.")


def _option_and_part(key: str) -> tuple[Option, str]:
    """Return an option, and which part of it: ``agents.pi``; empty for all of it."""
    from hivemind_memory.config import options

    name, _, part = _bare(key).partition(".")
    option = options().get(name)
    if option is not None and option.kind == "dict" and part:
        return option, part
    return _option(key), ""


def _parts_in_file(option: Option, file: ConfigFile) -> dict[str, object]:
    """Return the parts of an object that config.json holds."""
    value = file.memory.get(option.name)
    return dict(value) if isinstance(value, dict) else {}


def _name(option: Option, part: str) -> str:
    """Return an option, or a part of it, as it is typed."""
    return escape_line(f"{option.name}.{part}" if part else option.name)


def _option(key: str) -> Option:
    """Return the option called *key*.

    Raises:
        UsageError: There is none; the hint names what is near.
    """
    from hivemind_memory.config import options
    from hivemind_memory.model.keys import closest

    table = options()
    name = _bare(key)
    if name in table:
        return table[name]
    near = closest(name, table, 3) or closest(name, table, 3, similarity=0.5)
    message = no_such("option", key)
    hint = f"Did you mean {', '.join(near)}?" if near else "`hm config` lists them."
    raise UsageError(message, hint=hint)


def _shown(option: Option, value: object) -> object:
    """Return a value for display; of a secret, only whether it is set.

    To a caller of some scopes, what names those of others is one. An address may hold
    a password, and to such a caller nothing that looks like a secret is shown.
    """
    from hivemind_memory import environment

    is_limited = environment.shell_scope_request() is not None
    is_hidden = option.name in _OF_SCOPES and is_limited
    if option.is_secret or is_hidden:
        return "set" if value else "not set"
    if is_limited or (option.is_url and "@" in str(value)):
        from hivemind_memory.redaction.json_values import mask_json

        return mask_json(value)
    return value


def _text(value: object) -> str:
    """Return a value as it is typed after ``hm config set KEY``."""
    import json

    return value if isinstance(value, str) else json.dumps(value)


def _terminal_text(rows: list[tuple[str, str, str]]) -> str:
    """Return the table of options, with what is not a default marked."""
    from hivemind_memory.cli.terminal import Text, columns_text

    shown = []
    for name, value, origin in rows:
        style = "dim" if origin == "default" else ""
        shown.append((name, Text(origin, style), Text(escape_line(value), style)))
    return columns_text(("option", "from", "value"), shown)
