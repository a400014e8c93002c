"""How long a key, a value and a life may be in the key-value store."""

from __future__ import annotations

MAX_KEY_CHARS = 256
MAX_VALUE_BYTES = 262_144
"""Of the JSON text, in UTF-8."""

MAX_TTL_S = 315_360_000  # ten years
MAX_VERSION = 2**53
"""Larger whole numbers are not exact in every reader of JSON."""
