"""Encrypts values with AES-256-GCM. The home of ``cryptography``."""

from __future__ import annotations

import hmac
import os
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12


def derive_key(text: str, salt: str) -> bytes:
    """Return the key that a text and a salt give, 32 bytes: HKDF with SHA-256.

    It is not stretched, so the text has to be a random key and no password.

    Source:
        RFC 5869, with one block of output.
    """
    extracted = hmac.digest(bytes.fromhex(salt), text.encode(), "sha256")
    return hmac.digest(extracted, b"hivemind vault\x01", "sha256")


def seal(key: bytes, text: str, bound_to: str) -> str:
    """Return a text encrypted under a nonce of its own, as base64.

    Args:
        key: 32 bytes.
        text: Any text.
        bound_to: What it belongs to; only with this it can be decrypted.
    """
    nonce = os.urandom(_NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, text.encode(), bound_to.encode())
    return b64encode(nonce + sealed).decode()


def unseal(key: bytes, sealed: str, bound_to: str) -> str:
    """Return an encrypted text.

    Raises:
        ValueError: The key is another one, or the text was changed.
    """
    raw = b64decode(sealed, validate=True)
    try:
        text = AESGCM(key).decrypt(
            raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], bound_to.encode()
        )
    except InvalidTag as error:
        message = "it was encrypted with another key, or was changed"
        raise ValueError(message) from error
    return text.decode()
