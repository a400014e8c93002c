"""hm completion: the scripts for shells, and the hidden command that they call."""

from __future__ import annotations

from hivemind_memory.cli.command import (
    VERBATIM,
    Argument,
    CommandRequest,
    command,
)
from hivemind_memory.cli.output import write_stdout
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import escape_line


@command(
    "completion",
    description=(
        'Bash: add eval "$(hm completion bash)" to ~/.bashrc. Zsh: add the same with'
        " zsh to ~/.zshrc, below compinit. Fish: add hm completion fish | source to"
        " ~/.config/fish/config.fish."
    ),
    arguments=(Argument("shell", "bash, zsh or fish.", completes="shells"),),
    examples=('eval "$(hm completion bash)"', "hm completion fish | source"),
)
def completion(request: CommandRequest) -> int:
    """Print the script for a shell."""
    from hivemind_memory.cli.completion import SCRIPTS

    shell = request.values["shell"]
    if shell not in SCRIPTS:
        from hivemind_memory.cli.unknown_names import nearest

        near = nearest(shell, SCRIPTS)
        meant = f"Did you mean {near}? " if near else ""
        message = f"There is no completion for {shell}."
        raise UsageError(message, hint=f"{meant}Supported shells: bash, zsh and fish.")
    write_stdout(SCRIPTS[shell])
    return 0


@command(
    "__complete",
    arguments=(
        Argument("words", "The words after hm.", is_required=False, reads=VERBATIM),
    ),
)
def complete(request: CommandRequest) -> int:
    """Print the candidates for the last word."""
    from hivemind_memory.cli.completion import candidates

    try:
        found = candidates(list(request.values["words"]), request.memory_dir)
    # An error would land in the line that is being typed.
    except Exception:  # noqa: BLE001
        return 0
    write_stdout("".join(f"{escape_line(word)}\n" for word in found))
    return 0
