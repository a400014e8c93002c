"""Digests are the same with and without OpenSSL."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from hivemind_memory.files import digests

DATA = b"We deploy on Tuesdays only.\n" * 100


@pytest.mark.parametrize("hashed", [0, 1 << 30])
def test_a_digest_does_not_depend_on_how_much_was_hashed(
    hashed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_hashed", [hashed])

    assert digests.sha256_hex(DATA) == hashlib.sha256(DATA).hexdigest()
    assert digests.sha256_digest(DATA) == hashlib.sha256(DATA).digest()
    assert digests.blake2b_digest(DATA, 16) == (
        hashlib.blake2b(DATA, digest_size=16).digest()
    )


def test_a_few_digests_load_no_openssl() -> None:
    """To load it takes 2 ms of a command that writes one note."""
    program = (
        "import sys\n"
        "from hivemind_memory.files.digests import blake2b_digest, sha256_hex\n"
        "sha256_hex(b'a'); blake2b_digest(b'a', 16)\n"
        "sys.exit('hashlib' in sys.modules or '_hashlib' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False)

    assert done.returncode == 0
