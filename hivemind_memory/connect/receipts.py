"""Remembers what a file of an agent was like before we added to it.

Only what a later look cannot tell: whether the file and its folders were there, and
what an empty object held between its brackets. No setting, no token. Without the
receipt a file keeps an empty object, and that is all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hivemind_memory.notes import os_files

NAME = "connections.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What one file was like."""

    blank: str | None = ""
    """Its text, if it had none to speak of; None: it was not there."""

    is_ours: bool = False
    """It was not there, or blank: we made what is in it."""

    folders: tuple[str, ...] = ()
    """Those that we made for it."""

    emptied: Mapping[str, str | None] = field(default_factory=dict)
    """See ``json_edit.Emptied``."""

    def older(self, other: Receipt) -> Receipt:
        """Return this receipt with what a newer one adds: the first look counts."""
        emptied = {**other.emptied, **self.emptied}
        return Receipt(
            blank=self.blank,
            is_ours=self.is_ours,
            folders=self.folders,
            emptied=emptied,
        )


def read_receipts(home: str) -> dict[str, Receipt]:
    """Return every receipt, by the real path of its file; none when it is broken."""
    try:
        with open(os.path.join(home, NAME), encoding="utf-8") as file:
            found = json.load(file)["files"]
        return {path: _receipt(one) for path, one in found.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_receipts(home: str, receipts: Mapping[str, Receipt]) -> None:
    """Replace all receipts; the file goes with the last one.

    Raises:
        OSError: They could not be written.
    """
    path = os.path.join(home, NAME)
    if not receipts:
        if os.path.exists(path):
            os.unlink(path)
        return
    value = {
        "files": {
            path: {
                "blank": one.blank,
                "is_ours": one.is_ours,
                "folders": list(one.folders),
                "emptied": dict(one.emptied),
            }
            for path, one in receipts.items()
        }
    }
    os_files.make_private_folder(home)
    beside = f"{path}.{os.urandom(6).hex()}.tmp"
    fd = os.open(beside, os_files.CREATE, os_files.PRIVATE_FILE)
    try:
        os_files.write_all(fd, json.dumps(value, indent=2).encode())
        os_files.sync_file(fd)
    finally:
        os.close(fd)
    os.replace(beside, path)


def _receipt(value: Any) -> Receipt:
    """Return a receipt from its JSON."""
    return Receipt(
        blank=value["blank"],
        is_ours=value["is_ours"],
        folders=tuple(value["folders"]),
        emptied=dict(value["emptied"]),
    )
