"""hm vault: secrets in a file of their own, given to commands by the environment."""

from __future__ import annotations

import os
import re
import shlex
import sys

from hivemind_memory.cli.become import become
from hivemind_memory.cli.command import (
    TEXT,
    VERBATIM,
    Argument,
    CommandRequest,
    Flag,
    command,
)
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON
from hivemind_memory.cli.output import (
    is_terminal,
    print_json,
    print_line,
    print_notices,
    print_table,
    read_stdin,
    write_stdout,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import escape_line
from hivemind_memory.model.keys import operand
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.vault.vault import Vault, VaultKey, VaultSet

_KEY = Argument("key", "Key, such as STRIPE_KEY.")
_NAME = lazy_re(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SHORT_CHARS = 8
_LOST = "if that key is lost, so are the values"
_AT_REST = {
    "none": (
        "The vault is not encrypted: only its file mode, 0600, protects it. Install"
        " hivemind-memory[keyring], or set vault_key_command."
    ),
    "keyring": (
        f"The vault is encrypted with a key in the operating system's keyring; {_LOST}."
    ),
    "command": (
        f"The vault is encrypted with the key that vault_key_command prints; {_LOST}."
    ),
}
"""Where the key is -> what is said of it."""


@command(
    "vault set",
    description=(
        "The value is typed without being shown, or read from standard input (a"
        " trailing newline is dropped). From then on it is removed from whatever is"
        " written, and hidden wherever notes are shown, including those written before."
    ),
    arguments=(
        _KEY,
        Argument(
            "value",
            "Not accepted as an argument: other users could see it.",
            is_required=False,
            reads=TEXT,
        ),
    ),
    flags=(
        Flag(
            ("--not-secret",),
            "flag",
            "The value may be shown: a user name, an address.",
        ),
    ),
    examples=("hm vault set STRIPE_KEY", "pass show stripe | hm vault set STRIPE_KEY"),
)
def set_(request: CommandRequest) -> int:
    """Keep a value."""
    key, is_secret = request.values["key"], not request.values["not_secret"]
    if request.values["value"]:
        raise UsageError(
            "A value is not accepted as an argument: every program on this machine can"
            " see it, and shells keep it in their history.",
            hint=f"Run `hm vault set {operand(key)}` and type the value, or pipe it"
            " in. If what you typed is in use already, replace it.",
            effect="Nothing was saved",
        )
    from hivemind_memory.curation.vault_access import keep_value

    with request.open_memory() as memory:
        vault = _own_vault(memory, "`hm vault set`")
        text = _read_value(key)
        now_s = memory.clocks.now()
        done = keep_value(vault, key, text, now_s=now_s, is_secret=is_secret)
    back = ("vault", "delete", key) if done.is_new else ()
    record_command(request, ("vault", "set", key), back)
    print_line(f"{key}: {'saved' if done.is_new else 'replaced'}")
    print_notices(_set_notices(done, text, is_secret=is_secret))
    return 0


@command(
    "vault get",
    description=(
        "A secret is shown with --show, and only on a terminal, so that it does not end"
        " up in a file or in an agent's context; hm vault exec gives it to a command."
    ),
    arguments=(_KEY,),
    flags=(Flag(("--show",), "flag", "Show the value of a secret."),),
    examples=("hm vault get --show STRIPE_KEY",),
)
def get(request: CommandRequest) -> int:
    """Show the value of a key."""
    key = request.values["key"]
    with request.open_memory() as memory:
        vault = _own_vault(memory, "`hm vault get`")
        wanted = [known for known in vault.all() if known.key == key]
        if wanted and wanted[0].is_secret:
            _check_may_show(key, is_asked=request.values["show"])
        _, text = vault.get(key)
    write_stdout(f"{text}\n")
    return 0


@command("vault list", flags=(JSON,))
def list_(request: CommandRequest) -> int:
    """List the keys."""
    from hivemind_memory.curation.vault_access import open_vault

    with request.open_memory() as memory:
        keys = open_vault(memory.places, memory.settings).all()
        clocks = memory.clocks
    if request.values["json"]:
        print_json([_row(key, clocks) for key in keys])
        return 0
    print_table(
        ("key", "kind", "changed"),
        [
            (
                key.key,
                "secret" if key.is_secret else "not secret",
                minute_text(clocks.local_iso(key.updated_at)),
            )
            for key in keys
        ],
    )
    if not keys:
        print_notices(["the vault is empty; `hm vault set KEY` stores one"])
    return 0


@command(
    "vault delete",
    description="From then on its value is no longer removed from what is written.",
    arguments=(_KEY,),
    examples=("hm vault delete STRIPE_KEY",),
)
def delete(request: CommandRequest) -> int:
    """Delete a key and its value."""
    key = request.values["key"]
    with request.open_memory() as memory:
        _own_vault(memory, "`hm vault delete`").delete(key)
    record_command(request, ("vault", "delete", key))
    print_line(f"{escape_line(key)}: deleted")
    return 0


@command(
    "vault exec",
    description=(
        "The command replaces hm, with the values in its environment; they appear in no"
        " command line or file. A variable is named after its key, or as NAME=KEY says."
        " If a key is missing, nothing is run and the exit code is 1; it is 127 if"
        " there is no such command, and 126 if it cannot be run."
    ),
    arguments=(
        Argument("words", "[NAME=]KEY..., then --, then the command.", reads=VERBATIM),
    ),
    examples=(
        "hm vault exec STRIPE_KEY -- ./deploy.sh",
        "hm vault exec PGPASSWORD=db.password -- psql shop",
    ),
)
def exec_(request: CommandRequest) -> int:
    """Become a command that has some values in its environment."""
    from hivemind_memory.curation.vault_access import open_vault

    names, words = _split(request.values["words"])
    with request.open_memory() as memory:
        found = open_vault(memory.places, memory.settings).get_many(
            list(names.values())
        )
    values = [text for _, text in found]
    environ = {**os.environ, **dict(zip(names, values, strict=True))}
    return become(words, environ)


def _own_vault(memory: Memory, what: str) -> Vault:
    """Return the vault to its owner; see ``open_own_vault``."""
    from hivemind_memory.curation.vault_access import open_own_vault

    return open_own_vault(
        memory.places, memory.settings, caller=memory.caller, what=what
    )


def _split(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return name of a variable -> key, and the command.

    Raises:
        UsageError: There is no key or no command, or a name cannot be one.
    """
    at = words.index("--") if "--" in words else len(words)
    wanted, run = words[:at], list(words[at + 1 :])
    if not wanted or not run or not run[0]:
        raise UsageError(
            "Name at least one key, then --, then a command.",
            hint="For example: `hm vault exec STRIPE_KEY -- ./deploy.sh`.",
            effect="Nothing was run",
        )
    names: dict[str, str] = {}
    for word in wanted:
        name, equals, key = word.partition("=")
        key = key if equals else name
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot be the name of a variable.",
                hint=f"Choose one: NAME={key}.",
                effect="Nothing was run",
            )
        if name in names:
            raise UsageError(f"{name} is named twice.", effect="Nothing was run")
        names[name] = key
    return names, run


def _read_value(key: str) -> str:
    """Return the value that is typed, without showing it, or standard input."""
    if is_terminal(sys.stdin):
        from getpass import getpass

        return getpass(f"{key}: ")
    text = read_stdin("Nothing was saved")
    return text.removesuffix("\n").removesuffix("\r")


def _check_may_show(key: str, *, is_asked: bool) -> None:
    """Raise a ``UsageError`` unless a person asks for a secret on a terminal."""
    run = f"`hm vault exec {shlex.quote(key)} -- COMMAND` gives it to a command."
    if not is_asked:
        raise UsageError(
            f"{key} is a secret.",
            hint=f"`hm vault get --show {operand(key)}` shows it on a terminal. {run}",
        )
    if not (is_terminal(sys.stdout) and is_terminal(sys.stdin)):
        raise UsageError(
            f"{key} is a secret: it is shown on a terminal only.", hint=run
        )


def _set_notices(done: VaultSet, text: str, *, is_secret: bool) -> list[str]:
    """Return what is said of a value that was set, besides that it was."""
    notices = []
    if done.is_key_new or done.key_from == "none":
        notices.append(_AT_REST[done.key_from])
    length = len(text.strip())
    if is_secret and length < 4:
        notices.append("A value shorter than 4 characters is not hidden elsewhere.")
    elif is_secret and length < _SHORT_CHARS:
        notices.append(
            "The value is short: it is hidden wherever these characters occur, even"
            " inside other words."
        )
    return notices


def _row(key: VaultKey, clocks: Clocks) -> dict[str, object]:
    """Return a key as JSON shows it."""
    return {
        "key": key.key,
        "is_secret": key.is_secret,
        "created_at": clocks.local_iso(key.created_at),
        "updated_at": clocks.local_iso(key.updated_at),
    }
