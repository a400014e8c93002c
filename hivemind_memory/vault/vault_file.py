"""The file of the vault: its header, its lines, and how both are read and written.

The first line is the header, so that whoever only asks whether the vault has changed
reads no more. Each later line is one key. The file is replaced as a whole.
"""

from __future__ import annotations

import json
import os

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files.descriptors import PRIVATE_FILE, open_regular
from hivemind_memory.files.errors import cause_of
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
_FORMAT_KEY = "hivemind_vault"
_HEADER_BYTES = 4_096

PLAIN, KEYRING, COMMAND = "none", "keyring", "command"
"""Where the key of the encryption is."""


@value
class VaultHeader:
    """What is known of the vault without its key."""

    id: str
    """Names the vault in a keyring; in every value that is encrypted."""

    generation: str
    """Another one after each change."""

    key_from: str = PLAIN
    salt: str = ""
    """Mixed into the key of a command, as hex."""

    check: str = ""
    """A known text, encrypted: tells whether a key is the right one."""


@value
class VaultItem:
    """One key of the vault, as the file has it."""

    key: str
    content: str
    """The value; encrypted, where the vault is."""

    is_secret: bool
    created_at: int
    """Seconds since the epoch."""

    updated_at: int


def read_generation(path: str) -> str:
    """Return what is another one after each change; empty: there is no vault."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return _header_of(file.readline(_HEADER_BYTES)).generation
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, LookupError, TypeError):
        return "unreadable"


def read_vault(path: str) -> tuple[VaultHeader, dict[str, VaultItem]] | None:
    """Return header and items of a vault; None: there is none.

    Raises:
        HivemindError: It cannot be read, or is damaged.
    """
    try:
        with open(path, "rb", opener=open_regular) as file:
            first, *lines = file.read().splitlines()
        header = _header_of(first)
        items = [_item_of(json.loads(line)) for line in lines]
    except FileNotFoundError:
        return None
    except OSError as error:
        cause, hint = cause_of(error)
        raise HivemindError(f"{path}: {cause}.", hint=hint) from error
    except (ValueError, LookupError, TypeError) as error:
        raise HivemindError(
            f"The vault {path} is damaged, or was made by a newer version.",
            hint="Restore it from a backup, or delete the file and set its values"
            " again.",
        ) from error
    return header, {item.key: item for item in items}


def write_vault(
    path: str, header: VaultHeader, items: Mapping[str, VaultItem], effect: str
) -> None:
    """Replace the vault; it is on the disk, and private, when this returns.

    Raises:
        NotSavedError: It is as it was.
    """
    from hivemind_memory.files.atomic import write_file

    head = {
        _FORMAT_KEY: FORMAT,
        "generation": header.generation,
        "id": header.id,
        "key_from": header.key_from,
        "salt": header.salt,
        "check": header.check,
    }
    rows = [
        {
            "key": item.key,
            "content": item.content,
            "is_secret": item.is_secret,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
        }
        for _, item in sorted(items.items())
    ]
    data = "".join(f"{json.dumps(row)}\n" for row in (head, *rows)).encode()
    try:
        write_file(path, data, mode=PRIVATE_FILE)
    except OSError as error:
        cause, hint = cause_of(error)
        raise NotSavedError(f"{path}: {cause}.", hint=hint, effect=effect) from error


def new_generation() -> str:
    """Return a name for the state of a vault that no other state has."""
    return os.urandom(8).hex()


def _header_of(line: bytes) -> VaultHeader:
    """Return the header of a vault.

    Raises:
        LookupError: It lacks something.
        TypeError: It is no object.
        ValueError: It is not JSON, or of a newer version.
    """
    found = json.loads(line)
    if found[_FORMAT_KEY] != FORMAT:
        message = "made by a newer version"
        raise ValueError(message)
    return VaultHeader(
        id=str(found["id"]),
        generation=str(found["generation"]),
        key_from=str(found["key_from"]),
        salt=str(found["salt"]),
        check=str(found["check"]),
    )


def _item_of(found: Mapping[str, object]) -> VaultItem:
    """Return the item of a line."""
    return VaultItem(
        key=str(found["key"]),
        content=str(found["content"]),
        is_secret=bool(found["is_secret"]),
        created_at=int(str(found["created_at"])),
        updated_at=int(str(found["updated_at"])),
    )
