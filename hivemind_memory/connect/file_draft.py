"""A settings file while it is being edited: several edits, one new text.

Handles JSON and TOML, and collects what must be recorded so that every edit can be
undone. Besides the server, an agent may get hooks and permissions; those of others
stay. Reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hivemind_memory.connect import json_edit, toml_edit
from hivemind_memory.connect.agents import PERMISSION_RULES, HookForm
from hivemind_memory.connect.json_edit import JsonPath
from hivemind_memory.connect.jsonc import BrokenTextError, Dialect
from hivemind_memory.connect.plans import pasteable
from hivemind_memory.connect.settings_file import ClientFile, ConnectionRecord
from hivemind_memory.errors import NotConnectedError
from hivemind_memory.model.value import replaced
from hivemind_memory.patterns.lazy_pattern import lazy_re


class FileDraft:
    """The next text of a file."""

    def __init__(
        self,
        file: ClientFile,
        dialect: Dialect | None,
        beginning: str,
        record: ConnectionRecord | None,
    ) -> None:
        """Start from the current text.

        Args:
            file: As it was read.
            dialect: How its agent reads it; None: TOML.
            beginning: Content of a new file.
            record: From an earlier connection; None: there is none.

        Raises:
            NotConnectedError: The agent itself could not read the file.
        """
        self._file = file
        self.path = file.path
        self._dialect = dialect
        self._beginning = beginning
        self._record = record
        is_blank = file.text is None or not file.text.strip()
        self.pending_record = ConnectionRecord(
            blank=file.text if is_blank else "", is_ours=is_blank
        )
        """What must be recorded about the edits so far."""
        self._text = file.text or ""
        if is_blank and dialect is not None:
            self._text = beginning
        self._start = self._text
        self.value_at(())

    def value_at(self, path: JsonPath) -> Any:
        """Return the value at *path*, or None."""
        with _Refusal(self._file):
            if self._dialect is not None:
                return json_edit.value_at(self._text, path, self._dialect)
            value: Any = toml_edit.parse_toml(self._text)
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def put(self, path: JsonPath, value: Any) -> None:
        """Set the value at *path*."""
        with _Refusal(self._file, path, value):
            if self._dialect is None:
                names = [str(key) for key in path]
                self._text = toml_edit.put_table(self._text, names, value)
                return
            emptied = json_edit.emptiness(self._text, path, self._dialect)
            self._text = json_edit.put(self._text, path, value, self._dialect)
        self.pending_record = replaced(
            self.pending_record, emptied={**emptied, **self.pending_record.emptied}
        )

    def drop(self, path: JsonPath) -> None:
        """Remove what is at *path*."""
        with _Refusal(self._file, path):
            if self._dialect is None:
                names = [str(key) for key in path]
                self._text = toml_edit.drop_table(self._text, names)
                return
            emptied = self._record.emptied if self._record else {}
            self._text = json_edit.drop(self._text, path, self._dialect, emptied)

    @property
    def new_text(self) -> str | None:
        """The new content of the file; None: delete it, or do not create it."""
        if self._text == self._start:
            return self._file.text
        record = self._record
        if record is not None and record.is_ours and self._is_bare():
            return record.blank
        return self._text

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to write."""
        return self.new_text != self._file.text

    def _is_bare(self) -> bool:
        """Return whether nothing is left but the content of a new file."""
        if self._dialect is None:
            return not self._text.strip()
        value = json_edit.value_at(self._text, (), self._dialect)
        first = json_edit.value_at(self._beginning, (), self._dialect)
        # The address of a schema has slashes as well.
        slashes = self._beginning.count("//") if value == first else 0
        is_commented = "/*" in self._text or self._text.count("//") > slashes
        return value in ({}, first) and not is_commented


class _Refusal:
    """Converts a ``BrokenTextError`` into an error that names the file and a remedy."""

    def __init__(
        self, file: ClientFile, path: JsonPath = (), value: Any = None
    ) -> None:
        self._file = file
        self._path = path
        self._value = value

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not isinstance(error, BrokenTextError):
            return
        message = f"{self._file.path} was left unchanged: {error}."
        if not self._path:
            hint = "Repair the file, then try again."
        elif self._value is None:
            hint = f"Remove {json_edit.pointer(self._path)} by hand."
        else:
            where = json_edit.pointer(self._path)
            hint = f"Add this at {where} by hand: {pasteable(self._value)}"
        raise NotConnectedError(message, hint=hint) from None


_HOOKS = ("hooks",)
_ALLOW = ("permissions", "allow")
START_HOOK, END_HOOK = "session-start", "session-end"
"""Our hooks: what tells an agent its memories, and what captures a session."""

_OURS = lazy_re(
    r"(?:\bhm(?:\.exe)?|hivemind_memory\.cli)['\"]? hook (session-start|session-end)\b"
)


def put_hooks(
    draft: FileDraft, form: HookForm, kind: str, command: str, *, is_wanted: bool
) -> None:
    """Add our hook to each of its events of an agent, or update the existing ones.

    Args:
        draft: Of the agent's settings.
        form: How the agent spells a hook.
        kind: Which hook.
        command: The shell command that the hook runs.
        is_wanted: Whether to add them; if one is there, all are updated in any case.
    """
    if not is_wanted and not has_hook(draft, kind):
        return
    for event in form.capture_events if kind == END_HOOK else form.events:
        place = (*_HOOKS, event)
        found = next(_own_hooks(draft, event, kind), None)
        if found is None:
            end = len(_list_at(draft, place))
            draft.put((*place, end), {"hooks": [_hook(form, event, command)]})
            continue
        group, at, hook = found
        if hook["command"] != command:
            draft.put((*place, group, "hooks", at, "command"), command)


def has_hook(draft: FileDraft, kind: str = START_HOOK) -> bool:
    """Whether a hook that we added is there."""
    return any(
        next(_own_hooks(draft, event, kind), None) is not None
        for event in _events(draft)
    )


def own_commands(draft: FileDraft, kind: str) -> dict[str, str]:
    """Return the command of a hook that we added, by the event that runs it."""
    return {
        event: hook["command"]
        for event in _events(draft)
        for _, _, hook in _own_hooks(draft, event, kind)
    }


def drop_hooks(draft: FileDraft) -> None:
    """Remove every hook that we added, of whatever event."""
    for event in _events(draft):
        place = (*_HOOKS, event)
        # Last one first, so that the positions of the others stay valid.
        for group, at, _ in reversed(list(_own_hooks(draft, event))):
            hooks = draft.value_at((*place, group, "hooks"))
            draft.drop((*place, group, *(("hooks", at) if len(hooks) > 1 else ())))


def put_rules(draft: FileDraft) -> None:
    """Allow the read-only tools."""
    for rule in PERMISSION_RULES:
        rules = _list_at(draft, _ALLOW)
        if rule not in rules:
            draft.put((*_ALLOW, len(rules)), rule)


def drop_rules(draft: FileDraft) -> None:
    """Remove our permissions."""
    rules = _list_at(draft, _ALLOW)
    for at in reversed(range(len(rules))):
        if rules[at] in PERMISSION_RULES:
            draft.drop((*_ALLOW, at))


def _hook(form: HookForm, event: str, command: str) -> dict[str, Any]:
    """Return a hook in an agent's own form."""
    named = {"name": form.name} if form.name else {}
    timeout = form.timeouts.get(event, form.timeout)
    return {**named, "type": "command", "command": command, "timeout": timeout}


def _events(draft: FileDraft) -> tuple[str, ...]:
    """Return the events that the settings have hooks for, the last one first."""
    found = draft.value_at(_HOOKS)
    # Other settings of hooks, as Gemini CLI has them, are no lists.
    return (
        tuple(
            event for event, value in reversed(found.items()) if isinstance(value, list)
        )
        if isinstance(found, dict)
        else ()
    )


def _own_hooks(
    draft: FileDraft, event: str, kind: str = ""
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield each hook that we added: index of its group, its own index, its value.

    Args:
        draft: Of the agent's settings.
        event: When the agent runs it.
        kind: Only this hook; empty: either.
    """
    for group, value in enumerate(_list_at(draft, (*_HOOKS, event))):
        hooks = value.get("hooks") if isinstance(value, dict) else None
        for at, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            command = hook.get("command") if isinstance(hook, dict) else None
            ours = _OURS.search(command) if isinstance(command, str) else None
            if ours is not None and kind in ("", ours[1]):
                yield group, at, hook


def _list_at(draft: FileDraft, path: tuple[str, ...]) -> list[Any]:
    """Return a list in the settings; empty if it is missing."""
    value = draft.value_at(path)
    if value is None:
        return []
    if not isinstance(value, list):
        message = f"{'.'.join(path)} is not a list in the agent's settings."
        raise NotConnectedError(message, hint="Repair the file, then try again.")
    return value
