"""What only a person may run, of the commands that open no memory."""

from __future__ import annotations


def check_persons_shell(what: str) -> None:
    """Raise in the shell of an agent: *what* is for a person.

    Raises:
        UsageError: It is an agent's shell.
    """
    from hivemind_memory import environment
    from hivemind_memory.access.rules import Caller, check_person

    check_person(Caller(is_agent=environment.is_agents_shell()), what)
