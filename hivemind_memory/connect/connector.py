"""Connects agents and disconnects them: looks, plans, and carries plans out.

A plan is made by reading alone and holds every file's next text, so that a person can
see it first. Each agent is its own: one whose file is broken does not hold up the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from hivemind_memory.connect import draft
from hivemind_memory.connect.agents import (
    AGENTS,
    SERVER,
    Agent,
    entry_of,
    hooks_file,
    is_same,
    merged,
    servers_file,
)
from hivemind_memory.connect.client_file import (
    ClientFile,
    Receipt,
    delete_client_file,
    missing_folders,
    read_client_file,
    read_receipts,
    write_client_file,
    write_receipts,
)
from hivemind_memory.connect.draft import Draft
from hivemind_memory.connect.plans import (
    CONNECTED,
    DIFFERS,
    NOT_CONNECTED,
    NOT_INSTALLED,
    UNUSABLE,
    Change,
    Plan,
    Surroundings,
    Wish,
)
from hivemind_memory.errors import HivemindError, NotConnectedError
from hivemind_memory.files import descriptors
from hivemind_memory.files.locks import KernelLock

_PATIENCE_S = 20.0


class Connector:
    """Knows the agents of one machine."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def is_installed(self, agent: Agent) -> bool:
        """Whether an agent is there: its program, or what else tells of it."""
        around = self._around
        if around.find_program(agent.program) is not None:
            return True
        also = os.path.join(around.user_home, *agent.also.split("/"))
        return bool(agent.also) and os.path.exists(also)

    def plan_connect(self, agent: Agent, wish: Wish) -> Plan:
        """Return what connecting an agent would do."""
        if not self.is_installed(agent):
            return Plan(agent=agent, state=NOT_INSTALLED, path=self._path(agent))
        return self._planned(agent, lambda drafts: _connect(agent, wish, *drafts))

    def plan_disconnect(self, agent: Agent) -> Plan:
        """Return what disconnecting an agent would do, installed or not."""
        plan = self._planned(agent, lambda drafts: _disconnect(agent, *drafts))
        changes = tuple(replace(change, receipt=None) for change in plan.changes)
        return replace(plan, changes=changes)

    def carry_out(self, plan: Plan) -> None:
        """Do what a plan says; the caller is ``alone``.

        Raises:
            NotConnectedError: A file was not written, and why.
        """
        for change in plan.changes:
            self._write(change)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one who connects, from the last look to the last write.

        Raises:
            NotConnectedError: Another one is at work and stays.
        """
        folder = os.path.join(self._around.home, "locks")
        lock = KernelLock(os.path.join(folder, "connect.lock"))
        try:
            descriptors.make_private_folder(folder)
            is_mine = lock.acquire(wait_s=_PATIENCE_S)
        except OSError as error:
            message = f"No lock could be had in {folder}: {error.strerror}."
            raise NotConnectedError(message) from error
        if not is_mine:
            raise NotConnectedError("Another hm connect is at work and stays.")
        try:
            yield
        finally:
            lock.release()

    def _planned(
        self, agent: Agent, edit: Callable[[tuple[Draft, Draft]], str]
    ) -> Plan:
        """Return a plan with what *edit* makes of the agent's files."""
        path = self._path(agent)
        try:
            receipts = read_receipts(self._around.home)
            main = self._draft(agent, path, receipts)
            beside = hooks_file(agent, self._around.user_home, self._around.environ)
            other = main if beside == path else self._draft(agent, beside, receipts)
            has_hook = agent.name in draft.HOOKED and draft.has_hook(other[1])
            state = edit((main[1], other[1]))
        except HivemindError as error:
            return Plan(agent=agent, state=UNUSABLE, path=path, error=error)
        drafts = [main] if other is main else [main, other]
        return Plan(
            agent=agent,
            state=state,
            path=path,
            has_hook=has_hook,
            changes=tuple(
                _change(file, draft, receipts.get(file.real))
                for file, draft in drafts
                if draft.is_changed
            ),
        )

    def _path(self, agent: Agent) -> str:
        """Return the file in which an agent keeps its servers."""
        return servers_file(agent, self._around.user_home, self._around.environ)

    def _draft(
        self, agent: Agent, path: str, receipts: Mapping[str, Receipt]
    ) -> tuple[ClientFile, Draft]:
        """Return a file and a draft of it."""
        file = read_client_file(path)
        receipt = receipts.get(file.real)
        return file, Draft(file, agent.dialect, agent.beginning, receipt)

    def _write(self, change: Change) -> None:
        """Change one file; what is to be remembered comes first."""
        file = change.file
        receipts = read_receipts(self._around.home)
        old = receipts.pop(file.real, None)
        if change.receipt is not None:
            self._remember({**receipts, file.real: change.receipt})
        if change.text is None:
            delete_client_file(file, old.folders if old else ())
        else:
            write_client_file(file, change.text)
        if change.receipt is None and old is not None:
            self._remember(receipts)

    def _remember(self, receipts: Mapping[str, Receipt]) -> None:
        """Write the receipts."""
        try:
            write_receipts(self._around.home, receipts)
        except OSError as error:
            message = f"{self._around.home} cannot be written: {error.strerror}."
            raise NotConnectedError(message) from error


def chosen_agents(names: tuple[str, ...]) -> tuple[Agent, ...]:
    """Return the agents called *names*; every one for none, or for ``all``.

    Raises:
        KeyError: There is no agent of that name.
    """
    if not names or "all" in names:
        return AGENTS
    by_name = {agent.name: agent for agent in AGENTS}
    return tuple(by_name[name] for name in dict.fromkeys(names))


def _connect(agent: Agent, wish: Wish, main: Draft, beside: Draft) -> str:
    """Edit the drafts so that an agent is connected; return how it was before."""
    place = (agent.table, SERVER)
    found, wanted = main.value_at(place), entry_of(agent, wish.server)
    state = CONNECTED if found is not None else NOT_CONNECTED
    if not is_same(found, wanted):
        state = DIFFERS if found is not None else NOT_CONNECTED
        main.put(place, merged(found, wanted))
    if agent.name in draft.HOOKED:
        command = wish.hook_command(agent.name)
        draft.put_hook(beside, agent.name, command, is_wanted=wish.has_hooks)
    if wish.has_rules and agent.name in draft.ALLOWED:
        draft.put_rules(beside)
    return state


def _disconnect(agent: Agent, main: Draft, beside: Draft) -> str:
    """Edit the drafts so that nothing of ours is left; return how it was before."""
    place = (agent.table, SERVER)
    is_there = main.value_at(place) is not None
    if is_there:
        main.drop(place)
    if agent.name in draft.HOOKED:
        draft.drop_hooks(beside)
    if agent.name in draft.ALLOWED:
        draft.drop_rules(beside)
    return CONNECTED if is_there else NOT_CONNECTED


def _change(file: ClientFile, draft: Draft, old: Receipt | None) -> Change:
    """Return what is to become of a file, and what is to be remembered of it."""
    text = draft.new_text
    folders = missing_folders(file.real) if file.text is None else ()
    made = replace(draft.made, folders=folders)
    return Change(file=file, text=text, receipt=old.older(made) if old else made)
