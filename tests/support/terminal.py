"""What a program prints on a real terminal."""

from __future__ import annotations

import os


def read_to_end(descriptor: int) -> str:
    """Return all that is printed on a terminal until its program ends; close it."""
    pieces = []
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(descriptor)
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")
