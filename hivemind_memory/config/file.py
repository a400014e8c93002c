"""Reads and writes config.json. Knows its shape, not what the options mean.

All our keys are under ``memory``. Everything else in the file belongs to others and is
kept, as are keys under ``memory`` that this version does not know.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import ConfigError, NotSavedError
from hivemind_memory.files.descriptors import IrregularFileError, open_regular
from hivemind_memory.files.errors import reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import json
    from collections.abc import Callable, Mapping

CONFIG_NAME = "config.json"

_FIX_HINT = "Fix the file, or move it away to start from the defaults."


class ConfigFile:
    """What config.json says, before it is checked.

    Not a dataclass, for speed: it is on the way to every cold answer.
    """

    __slots__ = ("document", "memory", "path")

    path: str

    document: Mapping[str, object]
    """The whole file; empty when there is none."""

    memory: Mapping[str, object]
    """Its part ``memory``: option name -> value; empty when there is none."""

    def __init__(
        self,
        path: str,
        document: Mapping[str, object],
        memory: Mapping[str, object],
    ) -> None:
        self.path = path
        self.document = document
        self.memory = memory


def read_config(path: str) -> ConfigFile:
    """Return what the file *path* says; a file that is not there says nothing.

    Raises:
        ConfigError: It cannot be read, is not JSON, or is JSON of another shape.
    """
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(path, {}, {})
    except IrregularFileError as error:
        message = f"{path} cannot be read: {reason_of(error)}."
        raise ConfigError(message, hint="Move it away.") from error
    except OSError as error:
        message = f"{path} cannot be read: {reason_of(error)}."
        raise ConfigError(message, hint="Check its permissions (chmod 600).") from error
    document = _parse(path, data)
    if not isinstance(document, dict):
        message = f"{path} does not contain a JSON object."
        raise ConfigError(message, hint=_FIX_HINT)
    memory = document.get("memory", {})
    if not isinstance(memory, dict):
        message = f"{path}: memory is not an object with options."
        raise ConfigError(message, hint=_FIX_HINT)
    return ConfigFile(path, document, memory)


def change_options(
    path: str, change: Callable[[ConfigFile], Mapping[str, object]]
) -> None:
    """Write the options that *change* makes of those that the file *path* has now.

    Order and unknown keys stay; the file is replaced as a whole, readable by its owner
    only; it and its folder are made if needed. Processes that do so at once wait for
    each other, so none writes what it read before another wrote.

    Raises:
        ConfigError: The file as it stands cannot be read, so it is left alone.
        NotSavedError: The new file could not be written; the old one stands.
    """
    from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
    from hivemind_memory.files.places import locks_folder

    def refused(problem: str, hint: str) -> NotSavedError:
        return NotSavedError(problem, hint=hint, effect="The file is unchanged")

    lock = os.path.join(locks_folder(os.path.dirname(path)), "config.lock")
    with exclusive(lock, wait_s=LOCK_WAIT_S, refused=refused):
        file = read_config(path)
        options = change(file)
        if options is not file.memory:
            _write(path, {**file.document, "memory": options})


def write_new_config(path: str, memory: Mapping[str, object]) -> bool:
    """Write a first config.json with the options *memory*, unless there is a file.

    Returns:
        Whether it was written.

    Raises:
        NotSavedError: It could not be written.
    """
    is_new = not os.path.lexists(path)

    def first(file: ConfigFile) -> Mapping[str, object]:
        nonlocal is_new
        is_new = not os.path.lexists(path)  # another process may have been faster
        return memory if is_new else file.memory

    if is_new:
        change_options(path, first)
    return is_new


def write_option(path: str, name: str, value: object) -> None:
    """Set option *name* in the file *path*; see ``change_options``.

    The value is not checked here.
    """
    change_options(path, lambda file: {**file.memory, name: value})


def remove_option(path: str, name: str) -> bool:
    """Take option *name* out of the file *path*; return whether it was there.

    See ``change_options``.
    """
    was_there = False

    def without(file: ConfigFile) -> Mapping[str, object]:
        nonlocal was_there
        was_there = name in file.memory
        left = {key: value for key, value in file.memory.items() if key != name}
        return left if was_there else file.memory

    change_options(path, without)
    return was_there


def _parse(path: str, data: bytes) -> object:
    """Return the JSON value; json is imported only when there is a file."""
    import json

    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 (byte {error.start + 1})."
        raise ConfigError(message, hint=_FIX_HINT) from error
    except json.JSONDecodeError as error:
        message = f"{path} is not valid JSON: {_explain(error)}."
        raise ConfigError(message, hint=_FIX_HINT) from error
    except (RecursionError, ValueError) as error:  # nested or a number beyond reason
        message = f"{path} is not valid JSON: {error}."
        raise ConfigError(message, hint=_FIX_HINT) from error


def _explain(error: json.JSONDecodeError) -> str:
    """Return where the text stops being JSON, and why; common mistakes are named."""
    if not error.doc.strip():
        return "it is empty"
    rest = error.doc[error.pos :].lstrip()
    before = error.doc[: error.pos].rstrip()
    what = error.msg
    if rest.startswith(("//", "/*", "#")):
        what = "JSON has no comments"
    elif rest.startswith(("}", "]")) and before.endswith(","):
        what = "there is a comma after the last value"
    elif rest.startswith("'"):
        what = "strings need double quotes"
    return f"line {error.lineno}, column {error.colno}: {what}"


def _write(path: str, document: Mapping[str, object]) -> None:
    """Replace the file, or make it and its folder."""
    import json

    from hivemind_memory.files.atomic import write_file
    from hivemind_memory.files.descriptors import make_private_folder

    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    # A link is followed: config.json may live in a folder of dotfiles.
    real = os.path.realpath(path)
    try:
        make_private_folder(os.path.dirname(real))
        write_file(real, text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        message = f"{path} could not be written: {reason_of(error)}."
        raise NotSavedError(message, hint="The file is unchanged.") from error
