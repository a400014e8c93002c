"""From words to a request: the only parser of the command line.

It reads the table of commands and says precisely what it did not understand. No word is
dropped: one that is no option of the command is an error, or belongs to the text.
"""

from __future__ import annotations

import os

from hivemind_memory.cli.command import (
    PLAIN,
    QUESTION,
    TEXT,
    VERBATIM,
    CommandRequest,
)
from hivemind_memory.cli.options import MEMORY_DIR, WORKTREE
from hivemind_memory.cli.table import (
    ALIASES,
    GROUPS,
    command_names,
    find_command,
    load_command,
)
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hivemind_memory.cli.command import Argument, Command, Flag

HELP = ("-h", "--help")
_GLOBAL = (*MEMORY_DIR.names, "--version", *HELP)
_MAX_DIGITS = 15


def parse_request(words: Sequence[str]) -> CommandRequest:
    """Return what *words* ask for.

    Raises:
        UsageError: They are no command line of ``hm``; says why, and what is near.
    """
    rest = list(words)
    memory_dir: str | None = None
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name in HELP:
            return _help_request()
        if name == "--version":
            return _request("version", {})
        if name not in MEMORY_DIR.names:
            raise _unknown_option(name, "hm", _GLOBAL)
        memory_dir = value if equals else _next_word(name, MEMORY_DIR, rest, _GLOBAL)
    if not rest:
        return _help_request()
    name = rest.pop(0)
    name = ALIASES.get(name, name)
    if name in GROUPS:
        if rest and rest[0] in HELP:
            return _help_request(name)
        is_named = bool(rest) and not rest[0].startswith("-")
        if is_named and _is_folder_of(f"{name} {GROUPS[name][2]}", name, rest[0]):
            is_named = False
        name = f"{name} {rest.pop(0) if is_named else GROUPS[name][2]}"
    command = find_command(name)
    if command is None:
        raise unknown_command(name)
    return _CommandLine(command, memory_dir).read(rest)


class _CommandLine:
    """Reads the words after a command into the values of its request."""

    def __init__(self, command: Command, memory_dir: str | None) -> None:
        self._command = command
        flags = (*command.flags, MEMORY_DIR)
        self._flags = {name: flag for flag in flags for name in flag.names}
        self._values: dict[str, Any] = {
            flag.name: False if flag.kind == "flag" else None for flag in flags
        }
        self._values[MEMORY_DIR.name] = memory_dir
        self._places: list[str] = []
        self._notes: list[str] = []
        last = command.arguments[-1] if command.arguments else None
        self._reads = last.reads if last else PLAIN
        self._text_at = len(command.arguments) - 1
        """Number of words that stand before the text."""

    def read(self, words: list[str]) -> CommandRequest:
        """Return the request that *words* make with the command."""
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                self._places += rest
                break
            if word in HELP:
                return _help_request(self._command.name)
            if (flag := self._option(word)) is not None:
                self._take_option(flag, word, rest)
            elif self._is_text(word, rest):
                self._note_options_in(rest)
                self._places += [word, *rest]
                break
            else:
                self._places.append(word)
        memory_dir = self._values.pop(MEMORY_DIR.name)
        self._fill_arguments()
        return CommandRequest(
            self._command, self._values, memory_dir, tuple(self._notes)
        )

    def _option(self, word: str) -> Flag | None:
        """Return the option that *word* is; nothing for a word of a text or question.

        Raises:
            UsageError: It looks like an option, and the command has none of that name.
        """
        if len(word) < 2 or word[0] != "-":
            return None
        if (flag := self._flag(word)) is not None:
            return flag
        is_phrase = any(letter.isspace() for letter in word)
        if self._reads == QUESTION:
            if not is_phrase:
                self._note_near_option(word)
            return None
        if is_phrase and self._reads == TEXT:
            return None
        name = word.partition("=")[0]
        hint = ""
        if self._reads == TEXT:
            hint = "Text that begins with a dash goes after `--`."
        elif self._reads == VERBATIM or self._command.name == "launch":
            hint = "Put the agent's own arguments after `--`."
        known = (*self._flags, *HELP)
        raise _unknown_option(name, f"hm {self._command.name}", known, hint)

    def _flag(self, word: str) -> Flag | None:
        """Return the option that *word* names: -n, -n5, --file or --file=PATH."""
        name, equals, _ = word.partition("=")
        if name in self._flags and (not equals or name.startswith("--")):
            return self._flags[name]
        flag = self._flags.get(word[:2]) if word[1] != "-" else None
        return flag if flag and flag.kind == "int" and word[2:].isdigit() else None

    def _take_option(self, flag: Flag, word: str, rest: list[str]) -> None:
        """Put the value of the option *word* into the values."""
        name, equals, text = word.partition("=")
        if flag.kind == "flag":
            if equals:
                raise UsageError(
                    f"`{name}` takes no value.", hint=f"Give `{name}` alone."
                )
            self._values[flag.name] = True
            return
        if not equals and name not in self._flags:  # -n5
            name, text = word[:2], word[2:]
        elif not equals:
            text = _next_word(name, flag, rest, (*self._flags, *HELP, "--"))
        self._values[flag.name] = _value(name, flag, text)

    def _is_text(self, word: str, rest: list[str]) -> bool:
        """Whether *word* begins a text, which ends the options."""
        if self._reads not in (TEXT, VERBATIM) or len(self._places) < self._text_at:
            return False
        # A dash by itself stands for standard input, with options on either side.
        return word != "-" or not self._are_options(rest)

    def _are_options(self, words: list[str]) -> bool:
        """Whether *words* are nothing but options with their values."""
        rest = list(words)
        while rest:
            word = rest.pop(0)
            flag = self._flag(word) if len(word) > 1 else None
            if word not in HELP and (word[:1] != "-" or flag is None):
                return False
            if flag and flag.kind != "flag" and word in self._flags and rest:
                rest.pop(0)
        return True

    def _note_options_in(self, text: list[str]) -> None:
        """Say which words of a text are also options, for they may have been meant."""
        if self._reads == VERBATIM:
            return
        names = [word.partition("=")[0] for word in text if word.startswith("--")]
        found = [name for name in names if name in self._flags or name in HELP]
        if found:
            shown = ", ".join(f"`{name}`" for name in dict.fromkeys(found))
            verb = "is" if len(set(found)) == 1 else "are"
            self._notes.append(
                f"{shown} came after the text began and {verb} part of it;"
                " options go before the text"
            )

    def _note_near_option(self, word: str) -> None:
        """Say that a word of a question is nearly an option."""
        if near := _nearest(word.partition("=")[0], self._flags):
            self._notes.append(
                f"`{word}` is not an option, so it was searched for;"
                f" did you mean `{near}`?"
            )

    def _fill_arguments(self) -> None:
        """Give the words that are no options to the arguments."""
        places = self._places
        for argument in self._command.arguments:
            if argument.is_required and not places:
                raise self._usage_error(f"needs {argument.name.upper()}")
            if argument.is_many:
                self._values[argument.name], places = tuple(places), []
            else:
                self._values[argument.name] = places[0] if places else None
                places = places[1:]
        if places:
            what = f"takes {_listed(self._command.arguments)}"
            raise self._usage_error(f"{what}, so `{places[0]}` is one word too many")

    def _usage_error(self, what: str) -> UsageError:
        """Return the error that the words do not fit the arguments."""
        from hivemind_memory.cli.help import usage

        message = f"`hm {self._command.name}` {what}."
        return UsageError(message, hint=f"Usage: {usage(self._command)}")


def _help_request(topic: str = "") -> CommandRequest:
    """Return the request for the help of a command, or for the overview."""
    return _request("help", {"topic": tuple(topic.split())})


def _request(name: str, values: dict[str, Any]) -> CommandRequest:
    """Return a request for a command of the table."""
    return CommandRequest(load_command(name), values)


def _next_word(name: str, flag: Flag, rest: list[str], known: Iterable[str]) -> str:
    """Take the value of an option from the words after it."""
    if not rest or rest[0] in known:
        message = f"`{name}` needs a value: {flag.metavar}."
        if rest:
            message = f"`{name}` needs a value, but the next word is `{rest[0]}`."
        hint = f"`{flag.names[-1]}={rest[0] if rest else flag.metavar}` gives it one."
        raise UsageError(message, hint=hint)
    return rest.pop(0)


def _value(name: str, flag: Flag, text: str) -> object:
    """Return the value of an option in its type."""
    if flag.kind in ("day", "due"):
        return _day(name, flag, text)
    if flag.kind == "text":
        if flag.choices and text not in flag.choices:
            allowed = f"{', '.join(flag.choices[:-1])} or {flag.choices[-1]}"
            near = _nearest(text, flag.choices)
            hint = f"Did you mean {near}?" if near else flag.description
            raise UsageError(f"`{name}` takes {allowed}, not `{text}`.", hint=hint)
        return text
    number: float | None = None
    # Plain digits only: int() and float() also take blanks, underscores and more.
    digits = text.removeprefix("-")
    if flag.kind == "float":
        digits = digits.replace(".", "", 1)
    if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS:
        number = float(text) if flag.kind == "float" else int(text)
    is_low = number is not None and flag.low is not None and number < flag.low
    is_high = number is not None and flag.high is not None and number > flag.high
    if number is None or is_low or is_high:
        what = "a number" if flag.kind == "float" else "a whole number"
        if flag.low is not None:
            bound = f" to {flag.high:g}" if flag.high is not None else " up"
            what += f" from {flag.low:g}{bound}"
        raise UsageError(f"`{name}` takes {what}, not `{text}`.", hint=flag.description)
    return number


def _day(name: str, flag: Flag, text: str) -> str:
    """Return a day in ISO form."""
    from datetime import date

    from hivemind_memory.cli.days import FUTURE_HINT, PAST_HINT, parse_day

    is_future = flag.kind == "due"
    day = parse_day(text, date.today(), is_future=is_future)
    if day is None:
        hint = FUTURE_HINT if is_future else PAST_HINT
        raise UsageError(f"`{name}` takes a day, not `{text}`.", hint=hint)
    return day


def _is_folder_of(default: str, group: str, word: str) -> bool:
    """Return whether a word is no command of a group but a folder for its default."""
    if f"{group} {word}" in command_names(group):
        return False
    known = load_command(default).arguments
    return known[:1] == (WORKTREE,) and os.path.isdir(os.path.expanduser(word))


def unknown_command(name: str) -> UsageError:
    """Return the error that there is no such command."""
    group, _, second = name.partition(" ")
    if second:
        names = [one.partition(" ")[2] for one in command_names(group)]
        near = _nearest(second, names)
        hint = f"`hm {group} --help` lists its commands."
    else:
        firsts = {one.partition(" ")[0]: None for one in command_names()}
        near = _nearest(name, (*firsts, *ALIASES))
        hint = "`hm help all` lists every command."
    if near:
        hint = f"Did you mean `hm {f'{group} {near}' if second else near}`? {hint}"
    return UsageError(f"There is no command `hm {name}`.", hint=hint)


def _unknown_option(
    name: str, owner: str, known: Iterable[str], hint: str = ""
) -> UsageError:
    """Return the error that *owner* has no option of that name."""
    near = _nearest(name, known)
    parts = (
        f"Did you mean {near}?" if near else "",
        hint,
        f"`{owner} --help` lists its options.",
    )
    message = f"`{owner}` has no option {name}."
    return UsageError(message, hint=" ".join(part for part in parts if part))


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return the one of *known* that *word* was probably meant to be, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), list(known), n=1, cutoff=0.7)
    return near[0] if near else ""


def _listed(arguments: tuple[Argument, ...]) -> str:
    """Return the arguments as a sentence names them."""
    names = [argument.name.upper() for argument in arguments]
    return f"{' and '.join(names)} only" if names else "no arguments"
