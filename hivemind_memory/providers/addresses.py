"""Reads the address of a provider: which machine it is on, and how to name it.

Plain string work, because a cold search needs it and importing urllib takes
milliseconds.
"""

from __future__ import annotations

from typing import NamedTuple

_PORTS = {"http": 80, "https": 443}
_SCHEME_END = "://"


class Address(NamedTuple):
    """The parts of an address that matter, without a name or password in it."""

    scheme: str
    host: str
    """In lower case, an IPv6 address without its brackets."""

    port: int
    """0: the port is invalid."""

    path: str
    """Without the last slash; empty for none."""

    @property
    def is_loopback(self) -> bool:
        """What is sent there does not leave the machine."""
        numbers = self.host.split(".")
        is_127 = len(numbers) == 4 and all(
            number.isascii() and number.isdigit() for number in numbers
        )
        return self.host in ("localhost", "::1") or (is_127 and numbers[0] == "127")

    @property
    def place(self) -> str:
        """Host and port for a person; the port only where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == _PORTS.get(self.scheme)
        return host if is_usual else f"{host}:{self.port}"


def parse_address(url: str, *, default_port: int | None = None) -> Address:
    """Return the parts of *url*; http where it names no scheme.

    Args:
        url: ``http://localhost:11434``, ``localhost`` or ``https://host/v1/``.
        default_port: Port where the address names neither scheme nor port.

    >>> parse_address("https://user:secret@API.example.com/v1/").place
    'api.example.com'
    """
    scheme, separator, rest = url.strip().partition(_SCHEME_END)
    if not separator:
        scheme, rest = "http", scheme
    scheme = scheme.lower()
    authority, _, path = rest.partition("/")
    path = path.partition("?")[0].partition("#")[0].rstrip("/")
    # A name and password would change with every new key and show up in messages.
    authority = authority.rpartition("@")[2]
    host, port = _split_port(authority)
    fallback = _PORTS.get(scheme, 0)
    if not separator and default_port is not None:
        fallback = default_port
    if port is None:
        port = fallback
    return Address(scheme, host.lower(), port, path and f"/{path}")


def is_of_ollama(address: Address) -> bool:
    """Return whether an address is one of Ollama's own service."""
    is_host = f".{address.host}".endswith(".ollama.com")
    return is_host and address.scheme == "https"


def _split_port(authority: str) -> tuple[str, int | None]:
    """Return host and port; None where it names no port, 0 for one that cannot be."""
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = authority.partition(":")
    if not port:
        return host, None
    is_port = port.isascii() and port.isdigit() and int(port[:6]) < 65_536
    return host, int(port[:6]) if is_port else 0
