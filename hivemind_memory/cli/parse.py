"""Parses a command line into a request: the only parser there is.

It reads the table of commands and says precisely what it did not understand. No word is
dropped: one that is not an option of the command is an error, or belongs to the text.
"""

from __future__ import annotations

from hivemind_memory.cli.command import (
    PLAIN,
    QUERY,
    TASK,
    TEXT,
    VALUE,
    VERBATIM,
    CommandRequest,
)
from hivemind_memory.cli.options import MEMORY_DIR
from hivemind_memory.cli.short_form import is_argument_of
from hivemind_memory.cli.table import (
    ALIASES,
    GROUPS,
    find_command,
    full_second,
    load_command,
)
from hivemind_memory.cli.typed_words import (
    decoded,
    empty_option,
    has_blank,
    is_number,
    next_word,
)
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hivemind_memory.cli.command import Command, Flag

HELP = ("-h", "--help")
_GLOBAL = (*MEMORY_DIR.names, "--version", *HELP)


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
            from hivemind_memory.cli.unknown_names import unknown_option

            raise unknown_option(name, "hm", _GLOBAL)
        memory_dir = value if equals else next_word(name, MEMORY_DIR, rest, _GLOBAL)
        if not memory_dir.strip():
            raise empty_option(name, MEMORY_DIR)
    if not rest:
        return _help_request()
    word = rest.pop(0)
    name = ALIASES.get(word, word)
    if name in GROUPS:
        if rest and rest[0] in HELP:
            return _help_request(name)
        is_named = bool(rest) and not rest[0].startswith("-")
        if is_named and is_argument_of(f"{name} {GROUPS[name][2]}", name, rest):
            is_named = False
        name += f" {full_second(name, rest.pop(0)) if is_named else GROUPS[name][2]}"
    command = find_command(name)
    if command is None:
        from hivemind_memory.cli.unknown_names import unknown_command

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
        """Number of words that come before the text."""
        self._behind_value = ""
        """The first option behind a value."""

    def read(self, words: list[str]) -> CommandRequest:
        """Return the request that *words* make with the command."""
        rest = self._known_words(words) if self._command.is_hook else list(words)
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
                self._note_options_in([word, *rest])
                self._places += [word, *rest]
                break
            else:
                self._places.append(word)
        self._check_value()
        memory_dir = self._values.pop(MEMORY_DIR.name)
        self._fill_arguments()
        self._decode_values()
        return CommandRequest(
            self._command, self._values, memory_dir, tuple(self._notes)
        )

    def _known_words(self, words: list[str]) -> list[str]:
        """Return the options that a hook has, with their values; note the others."""
        known, unknown, rest = [], [], list(words)
        while rest:
            word = rest.pop(0)
            flag = self._flag(word) if len(word) > 1 else None
            if flag is None and word not in HELP:
                unknown.append(word)
                continue
            known.append(word)
            if flag and flag.kind != "flag" and word in self._flags and rest:
                known.append(rest.pop(0))
        if unknown:
            shown = ", ".join(f"`{word}`" for word in unknown)
            verb = "is" if len(unknown) == 1 else "are"
            self._notes.append(f"{shown} {verb} unknown to this version and ignored")
        return known

    def _option(self, word: str) -> Flag | None:
        """Return the option that *word* is; nothing for a word of a text or query.

        Raises:
            UsageError: It looks like an option, and the command has none of that name.
        """
        if len(word) < 2 or word[0] != "-":
            return None
        if (flag := self._flag(word)) is not None:
            return flag
        from hivemind_memory.cli.unknown_names import nearest, unknown_option

        name = word.partition("=")[0]
        if self._reads == QUERY or (self._reads == TASK and name[1] != "-"):
            self._note_unknown_option(name)
            return None
        if has_blank(name):
            return None
        is_saved = self._reads in (TEXT, VALUE)
        is_at_text = is_saved and len(self._places) >= self._text_at
        if is_at_text and has_blank(word) and not nearest(name, self._flags):
            return None
        if is_at_text and self._reads == VALUE and is_number(word):
            return None
        hint = effect = ""
        if is_saved:
            hint = "Text that begins with a dash goes after `--`."
            effect = self._effect()
        elif self._reads == VERBATIM or self._command.name == "launch":
            hint = "Put the agent's own arguments after `--`."
        known = (*self._flags, *HELP)
        owner = f"hm {self._command.name}"
        arguments = [argument.name.upper() for argument in self._command.arguments]
        if (argument := name.strip("-").upper()) in arguments:
            usage = " ".join((owner, *arguments))
            hint = f"{argument} is not an option: `{usage}`."
        may_name = bool(arguments) and not hint
        raise unknown_option(name, owner, known, hint, effect, may_name=may_name)

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
        if len(self._places) > self._text_at:
            self._behind_value = self._behind_value or name
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
            known = (*self._flags, *HELP, "--")
            text = next_word(name, flag, rest, known, self._effect())
        if not text.strip():
            if self._command.is_hook or self._reads == VERBATIM:
                self._notes.append(f"`{name}` is empty and ignored")
                return  # the agent starts in any case
            raise empty_option(name, flag, self._effect())
        from hivemind_memory.cli.values import parse_value

        value, before = parse_value(name, flag, text), self._values[flag.name]
        self._values[flag.name] = flag.value_with(before, value)

    def _is_text(self, word: str, rest: list[str]) -> bool:
        """Whether *word* begins a text, which ends the options."""
        if self._reads not in (TEXT, VERBATIM) or len(self._places) < self._text_at:
            return False
        # A dash by itself stands for standard input, and a word with a blank was in
        # quotes: it is the whole text, with options on either side of it.
        is_whole = word == "-" or (self._reads == TEXT and has_blank(word))
        return not is_whole or not self._are_options(rest)

    def _check_value(self) -> None:
        """Refuse an option behind several words of a value: it may be one of them.

        Raises:
            UsageError: There is one.
        """
        name, words = self._behind_value, self._places[self._text_at :]
        if self._reads == VALUE and name and len(words) > 1:
            message = f"`{name}` may be an option or a part of the value."
            hint = "Put the value in quotes, or the options before it."
            raise UsageError(message, hint=hint, effect=self._effect())

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
        self._refuse_options_at_end(text)
        names = [word.partition("=")[0] for word in text[1:] if word.startswith("-")]
        found = [name for name in names if name in self._flags or name in HELP]
        if names and not found and has_blank(text[0]):  # behind a quoted text
            from hivemind_memory.cli.unknown_names import nearest

            if near := nearest(names[0], self._flags):
                self._notes.append(
                    f"`{names[0]}` is part of the text; did you mean `{near}`?"
                )
        if found:
            shown = ", ".join(f"`{name}`" for name in dict.fromkeys(found))
            verb = "is" if len(set(found)) == 1 else "are"
            self._notes.append(
                f"{shown} {verb} part of the text: options go before the text,"
                " or after a text in quotes"
            )

    def _refuse_options_at_end(self, text: list[str]) -> None:
        """Refuse a text that ends in options with values: few texts are about them.

        Raises:
            UsageError: It does.
        """
        for at, word in enumerate(text[1:], 1):
            name, equals, _ = word.partition("=")
            flag = self._flags.get(name) if name.startswith("--") else None
            has_value = bool(equals) or at + 1 < len(text)
            if flag is None or flag.kind == "flag" or not has_value:
                continue
            if self._are_options(text[at:]):
                message = f"`{name}` may be an option or the end of the text."
                hint = "Put options before the text, or `--` if all of it is text."
                raise UsageError(message, hint=hint, effect=self._effect())

    def _note_unknown_option(self, name: str) -> None:
        """Note that a word of a query looks like an option but is not one."""
        if has_blank(name):
            return
        if self._reads == TASK:
            self._notes.append(f"`{name}` is not an option, so it is part of the task")
            return
        from hivemind_memory.cli.unknown_names import near_options

        near = near_options(name, self._flags)
        # One dash within a query belongs to what is asked about, as in `tar -x`.
        is_likely = near and (not self._places or len(name) > 2)
        if is_likely or (name.startswith("--") and name[2:3].isalnum()):
            near = near.replace(" or ", "` or `")
            advice = (
                f"did you mean `{near}`?" if near else "`hm search --help` lists all"
            )
            self._notes.append(
                f"`{name}` is not an option, so it was searched for; {advice}"
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
                if places and not places[0].strip() and not argument.may_be_empty:
                    raise self._usage_error(
                        f"was given an empty {argument.name.upper()}"
                    )
                self._values[argument.name] = places[0] if places else None
                places = places[1:]
        if places:
            from hivemind_memory.cli.other_programs import stray_pointer

            names = [argument.name.upper() for argument in self._command.arguments]
            what = f"takes {' and '.join(names) or 'no arguments'}"
            what += " only" if names else ""
            problem = f"{what}: unexpected argument `{places[0]}`"
            raise self._usage_error(problem, stray_pointer(self._command.name, places))

    def _decode_values(self) -> None:
        """Make text of every word that must be text.

        Raises:
            UsageError: A word is not UTF-8.
        """
        effect, command = self._effect(), self._command
        names = [argument.name for argument in command.arguments if not argument.is_raw]
        names += [flag.name for flag in command.flags if flag.kind == "text"]
        for name in names:
            value = self._values[name]
            if isinstance(value, str):
                self._values[name] = decoded(value, effect)
            elif isinstance(value, tuple):
                self._values[name] = tuple(decoded(word, effect) for word in value)

    def _usage_error(self, what: str, hint: str = "") -> UsageError:
        """Return the error that the words do not fit the arguments."""
        from hivemind_memory.cli.help import usage

        message = f"`hm {self._command.name}` {what}."
        hint = hint or f"Usage: {usage(self._command)}"
        return UsageError(message, hint=hint, effect=self._effect())

    def _effect(self) -> str:
        """Return what a mistake did not do, for a command that saves a text."""
        return "Nothing was saved" if self._reads in (TEXT, VALUE) else ""


def _help_request(topic: str = "") -> CommandRequest:
    """Return the request for the help of a command, or for the overview."""
    return _request("help", {"topic": tuple(topic.split())})


def _request(name: str, values: dict[str, Any]) -> CommandRequest:
    """Return a request for a command of the table."""
    return CommandRequest(load_command(name), values)
