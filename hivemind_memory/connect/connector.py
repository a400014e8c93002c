"""Connects agents and disconnects them: makes plans and applies them.

Making a plan only reads. It contains the new text of every file, so that the user can
see it first. Agents are independent: a broken file of one does not affect the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from shlex import quote
from typing import Any

from hivemind_memory.connect import file_draft as draft
from hivemind_memory.connect.agents import (
    AGENTS,
    SERVER,
    STRICT_JSON,
    ConnectableAgent,
    hooks_file,
)
from hivemind_memory.connect.connection import read_settings
from hivemind_memory.connect.entries import (
    is_for_program,
    is_foreign,
    is_same,
    merged,
    server_entry,
    switched_off_by,
)
from hivemind_memory.connect.file_draft import FileDraft
from hivemind_memory.connect.plans import (
    CONNECTED,
    DIFFERS,
    NOT_CONNECTED,
    NOT_INSTALLED,
    UNUSABLE,
    ConnectionPlan,
    FileChange,
    HostEnvironment,
    Registration,
)
from hivemind_memory.connect.settings_file import (
    ClientFile,
    ConnectionRecord,
    delete_client_file,
    may_hold_ours,
    missing_folders,
    read_client_file,
    read_connection_records,
    write_client_file,
    write_connection_records,
)
from hivemind_memory.errors import HivemindError, NotConnectedError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.locks import exclusive
from hivemind_memory.files.places import locks_folder
from hivemind_memory.model.value import replaced

_LOCK_TIMEOUT_S = 20.0


class Connector:
    """Connects the agents of one machine."""

    def __init__(self, around: HostEnvironment) -> None:
        self._around = around

    def is_installed(self, agent: ConnectableAgent) -> bool:
        """Return whether an agent is installed."""
        around = self._around
        if around.find_program(agent.program) is not None:
            return True
        also = os.path.join(around.user_home, *agent.also.split("/"))
        return bool(agent.also) and os.path.exists(also)

    def plan_connect(
        self, agent: ConnectableAgent, registration: Registration
    ) -> ConnectionPlan:
        """Return what connecting an agent would do."""
        # Others who work on a project may have an agent that is not installed here.
        if not self.is_installed(agent) and not registration.is_named:
            path = self._path(agent)
            return ConnectionPlan(agent=agent, state=NOT_INSTALLED, path=path)
        has_hooks = self._has_hooks(agent)
        mixed = self._mixed_with(agent, registration)

        def edit(drafts: tuple[FileDraft, FileDraft]) -> str:
            if mixed and self._around.project:
                raise NotConnectedError(
                    f"{agent.title} would not start: it merges this entry with yours in"
                    f" {mixed}, and one has a program, the other an address.",
                    hint="Yours works in this project too. To have the project's"
                    f" instead, run `hm disconnect {quote(agent.name)}` first.",
                )
            return _connect(agent, registration, *drafts, has_hooks=has_hooks)

        plan = self._planned(agent, edit)
        if mixed and plan.error is None:
            notice = (
                f"{agent.title} does not start in this repository: {mixed} has an entry"
                " of the other kind, and it merges the two. Run"
                f" `hm disconnect {quote(agent.name)} --project` here."
            )
            plan = replaced(plan, notice=notice)
        return replaced(plan, off_by=self._switched_off_by(agent, plan.path))

    def plan_disconnect(self, agent: ConnectableAgent) -> ConnectionPlan:
        """Return what disconnecting an agent would do, installed or not."""
        has_hooks = self._has_hooks(agent)
        plan = self._planned(
            agent, lambda drafts: _disconnect(agent, *drafts, has_hooks=has_hooks)
        )
        if plan.error is not None and not self._may_be_connected(agent, plan.path):
            notice = f"{plan.error} Nothing in it is from hm."
            return ConnectionPlan(
                agent=agent, state=NOT_CONNECTED, path=plan.path, notice=notice
            )
        changes = tuple(replaced(change, record=None) for change in plan.changes)
        notice = plan.notice
        entry = _mapping_at(read_settings(agent, plan.path), agent.table).get(SERVER)
        if is_foreign(entry):
            notice = (
                f"{plan.path} has a server called {SERVER} that is not hm's;"
                " it was left alone."
            )
        return replaced(plan, changes=changes, notice=notice)

    def apply(self, plan: ConnectionPlan) -> None:
        """Apply a plan; the caller holds ``exclusive``.

        Raises:
            NotConnectedError: A file was not written, and why.
        """
        for change in plan.changes:
            self._write(change)

    def exclusive(self) -> AbstractContextManager[None]:
        """Be the only process that connects, from the last plan to the last write.

        Raises:
            NotConnectedError: Another process is connecting.
        """
        return exclusive(
            os.path.join(locks_folder(self._around.home), "connect.lock"),
            wait_s=_LOCK_TIMEOUT_S,
            refused=lambda why, hint: NotConnectedError(why, hint=hint),
        )

    def _planned(
        self,
        agent: ConnectableAgent,
        edit: Callable[[tuple[FileDraft, FileDraft]], str],
    ) -> ConnectionPlan:
        """Return a plan with the changes that *edit* makes to the agent's files."""
        path = self._path(agent)
        try:
            self._check_inside(path)
            records = read_connection_records(self._around.home)
            main = self._draft(agent, path, records)
            beside = self._hooks_path(agent, path)
            other = main if beside == path else self._draft(agent, beside, records)
            has_hook = self._has_hooks(agent) and draft.has_hook(other[1])
            state = edit((main[1], other[1]))
        except HivemindError as error:
            return ConnectionPlan(agent=agent, state=UNUSABLE, path=path, error=error)
        drafts = [main] if other is main else [main, other]
        return ConnectionPlan(
            agent=agent,
            state=state,
            path=path,
            has_hook=has_hook,
            changes=tuple(
                _change(file, draft, records.get(file.real))
                for file, draft in drafts
                if draft.is_changed
            ),
        )

    def _may_be_connected(self, agent: ConnectableAgent, path: str) -> bool:
        """Whether an agent may be connected, of whose files one cannot be used."""
        try:
            self._check_inside(path)
        except NotConnectedError:
            return True
        paths = {path, self._hooks_path(agent, path)}
        records = read_connection_records(self._around.home)
        return any(
            os.path.realpath(file) in records or may_hold_ours(file) for file in paths
        )

    def _mixed_with(self, agent: ConnectableAgent, registration: Registration) -> str:
        """Return the file whose entry does not go with the one to be written.

        Empty: there is none, or the agent reads only one of the two.
        """
        around = self._around
        other = self._user_path(agent)
        if not around.project:
            other = agent.project_servers.find(around.repository, {})
        if not agent.merges_entries or not (around.project or around.repository):
            return ""
        if os.path.realpath(other) == os.path.realpath(self._path(agent)):
            return ""
        entry = _mapping_at(read_settings(agent, other), agent.table).get(SERVER)
        here = _mapping_at(read_settings(agent, self._path(agent)), agent.table)
        wanted = _wanted_entry(agent, registration, here.get(SERVER))
        if not isinstance(entry, dict) or not (
            is_for_program(entry) or agent.form.url in entry
        ):
            return ""
        return other if is_for_program(entry) != is_for_program(wanted) else ""

    def _switched_off_by(self, agent: ConnectableAgent, path: str) -> str:
        """Return the setting that switches the server off, and where it is."""
        around = self._around
        for file in dict.fromkeys((path, self._user_path(agent))):
            setting = switched_off_by(read_settings(agent, file), agent.table, SERVER)
            if setting:
                return f"{setting} in {file}"
        if agent.switches is not None:
            file = agent.switches.find(around.user_home, around.environ)
            switch = read_settings(agent, file).get(SERVER)
            if isinstance(switch, dict) and switch.get("enabled") is False:
                return file
        return ""

    def _user_path(self, agent: ConnectableAgent) -> str:
        """Return the file in which an agent keeps its user's servers."""
        return agent.servers.find(self._around.user_home, self._around.environ)

    def _path(self, agent: ConnectableAgent) -> str:
        """Return the file in which an agent keeps its servers, or a project's."""
        around = self._around
        if around.project:
            return agent.project_servers.find(around.project, {})
        return self._user_path(agent)

    def _check_inside(self, path: str) -> None:
        """Refuse a project's file that is elsewhere.

        Raises:
            NotConnectedError: A link leads out of the project.
        """
        root = os.path.realpath(self._around.project)
        is_inside = os.path.commonpath((root, os.path.realpath(path))) == root
        if self._around.project and not is_inside:
            message = f"{path} is a link that leads out of the project."
            raise NotConnectedError(message, hint="Remove the link, then try again.")

    def _has_hooks(self, agent: ConnectableAgent) -> bool:
        """Whether hooks of an agent are concerned: a project's file has none."""
        return agent.hook is not None and not self._around.project

    def _hooks_path(self, agent: ConnectableAgent, path: str) -> str:
        """Return the file in which an agent keeps hooks and permissions."""
        if not self._has_hooks(agent):
            return path
        return hooks_file(agent, self._around.user_home, self._around.environ)

    def _draft(
        self,
        agent: ConnectableAgent,
        path: str,
        records: Mapping[str, ConnectionRecord],
    ) -> tuple[ClientFile, FileDraft]:
        """Return a file and a draft of it."""
        file = read_client_file(path)
        record = records.get(file.real)
        if path != self._path(agent):  # its hooks are in JSON, whatever its servers are
            return file, FileDraft(file, STRICT_JSON, "{}\n", record)
        return file, FileDraft(file, agent.dialect, agent.beginning, record)

    def _write(self, change: FileChange) -> None:
        """Change one file; its record is written first."""
        file = change.file
        records = read_connection_records(self._around.home)
        old = records.pop(file.real, None)
        if change.record is not None:
            self._remember({**records, file.real: change.record})
        if change.text is None:
            delete_client_file(file, old.folders if old else ())
        else:
            write_client_file(file, change.text)
        if change.record is None and old is not None:
            self._remember(records)

    def _remember(self, records: Mapping[str, ConnectionRecord]) -> None:
        """Write the records."""
        try:
            write_connection_records(self._around.home, records)
        except OSError as error:
            message = f"{self._around.home} cannot be written: {reason_of(error)}."
            raise NotConnectedError(message) from error


def chosen_agents(names: tuple[str, ...]) -> tuple[ConnectableAgent, ...]:
    """Return the named agents; all of them for no names, or for ``all``.

    A title, such as *Claude Code*, is a name, too; case makes no difference.

    Raises:
        KeyError: There is no agent of that name.
    """
    if not names or "all" in names:
        return AGENTS
    known = {agent.title.casefold(): agent for agent in AGENTS}
    known |= {agent.name: agent for agent in AGENTS}
    chosen = (known.get(name.casefold()) or known[name] for name in names)
    return tuple({agent.name: agent for agent in chosen}.values())


def _wanted_entry(
    agent: ConnectableAgent, registration: Registration, found: Any
) -> dict[str, Any]:
    """Return the entry that an agent is to have in the place of another."""
    entry: dict[str, Any] = found if isinstance(found, dict) else {}
    is_address = agent.form.url in entry and not is_for_program(entry)
    if registration.keeps_address and is_address:
        return entry
    return server_entry(agent, registration.server)


def _connect(
    agent: ConnectableAgent,
    registration: Registration,
    main: FileDraft,
    beside: FileDraft,
    *,
    has_hooks: bool,
) -> str:
    """Edit the drafts so that an agent is connected; return the state before."""
    place = (agent.table, SERVER)
    found = main.value_at(place)
    wanted = _wanted_entry(agent, registration, found)
    if is_foreign(found):
        raise NotConnectedError(
            f"{main.path} has another server that is called {SERVER}.",
            hint="Give that one another name there, then try again.",
        )
    state = CONNECTED if found is not None else NOT_CONNECTED
    if not is_same(found, wanted, agent.form):
        state = DIFFERS if found is not None else NOT_CONNECTED
        main.put(place, merged(found, wanted, agent.form))
    if agent.hook is not None and has_hooks:
        for kind, is_wanted in (
            (draft.START_HOOK, registration.has_hooks),
            (draft.END_HOOK, registration.has_capture),
        ):
            command = registration.hook_command(agent.name, kind)
            draft.put_hooks(beside, agent.hook, kind, command, is_wanted=is_wanted)
    if registration.has_rules and agent.has_permissions:
        draft.put_rules(beside)
    return state


def _disconnect(
    agent: ConnectableAgent, main: FileDraft, beside: FileDraft, *, has_hooks: bool
) -> str:
    """Take what connect added out of the drafts; return the state before."""
    place = (agent.table, SERVER)
    found = main.value_at(place)
    is_there = found is not None and not is_foreign(found)
    if is_there:
        main.drop(place)
    if has_hooks:
        draft.drop_hooks(beside)
    if agent.has_permissions and has_hooks:
        draft.drop_rules(beside)
    return CONNECTED if is_there else NOT_CONNECTED


def _mapping_at(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key; an empty one if there is none."""
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def _change(
    file: ClientFile, draft: FileDraft, old: ConnectionRecord | None
) -> FileChange:
    """Return the change of a file, with its record."""
    text = draft.new_text
    folders = missing_folders(file.real) if file.text is None else ()
    made = replaced(draft.pending_record, folders=folders)
    return FileChange(
        file=file, text=text, record=old.merged_with(made) if old else made
    )
