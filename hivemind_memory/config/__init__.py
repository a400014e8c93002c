"""Every option once: name, type, default, source. Reads no other file."""

from __future__ import annotations

from hivemind_memory.config.file import CONFIG_NAME, ConfigFile, read_config
from hivemind_memory.config.option import Option
from hivemind_memory.config.resolve import Origin, load_settings, resolve
from hivemind_memory.config.settings import Settings, options

__all__ = [
    "CONFIG_NAME",
    "ConfigFile",
    "Option",
    "Origin",
    "Settings",
    "load_settings",
    "options",
    "read_config",
    "resolve",
]
