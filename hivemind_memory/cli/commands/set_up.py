"""The commands that set up."""

from __future__ import annotations

from hivemind_memory.cli.commands.parts import JSON, SET
from hivemind_memory.cli.shapes import Argument, Command

_KEY = Argument("key", "Name of an option, such as min_score.", completes="options")

COMMANDS: tuple[Command, ...] = (
    Command(
        "init",
        "starting:init",
        "Make the notes folder and a first note; safe to repeat.",
        panel=SET,
        description="Nothing that exists is changed: what is there is left as it is.",
    ),
    Command(
        "config list",
        "configuring:list_options",
        "Show every option with its value and where the value comes from.",
        panel=SET,
        flags=(JSON,),
    ),
    Command(
        "config get",
        "configuring:get",
        "Print the value of one option; a key is shown as set or not set.",
        panel=SET,
        arguments=(_KEY,),
        flags=(JSON,),
    ),
    Command(
        "config set",
        "configuring:set_option",
        "Write the value of one option into config.json.",
        panel=SET,
        description=(
            "With - the value is read from standard input, so that a key does not"
            " stay in the history of the shell. Of an option that is an object, a part"
            " is set by its name: agents.NAME."
        ),
        arguments=(_KEY, Argument("value", "The new value.")),
        examples=(
            "hm config set embedding_provider ollama",
            "hm config set openai_api_key -",
            "hm config set agents.quick 'claude --model haiku'",
        ),
    ),
    Command(
        "config unset",
        "configuring:unset",
        "Take one option out of config.json, so that its default counts.",
        panel=SET,
        arguments=(_KEY,),
    ),
    Command(
        "config path",
        "configuring:path",
        "Print where config.json lies.",
        panel=SET,
    ),
)
