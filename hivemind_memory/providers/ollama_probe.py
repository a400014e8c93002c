"""Asks whether Ollama runs on this machine, and whether it has a model.

Over a bare socket, because every cold search asks: ``http.client`` takes 30 ms to
import and the ``ollama`` package 400.
"""

from __future__ import annotations

import json
import socket

from hivemind_memory.model.embedding_providers import OLLAMA
from hivemind_memory.providers.addresses import Address, parse_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ANSWER_BYTES = 1_000_000
_OTHERWISE = (
    "or choose another with `hm config set embedding_provider` (local, openai, none)."
)
PORT_PROBE_S = 0.1
"""On this machine a refusal comes at once."""


def may_be_listening(url: str) -> bool:
    """Return whether something may listen at *url*; False only if surely not."""
    # The long way parses addresses properly; this one knows the usual ones only.
    host, _, port = url.partition("://")[2].rstrip("/").partition(":")
    if host not in ("localhost", "127.0.0.1") or not port.isdigit():
        return True
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(PORT_PROBE_S)
                if probe.connect_ex((address, int(port))) == 0:
                    return True
        except (OSError, OverflowError):
            continue
    return False


def why_ollama_is_not_ready(
    url: str,
    model: str,
    *,
    timeout_s: float,
    now: Callable[[], float],
) -> str:
    """Return "" if the Ollama at *url* answers and has *model*, else why not.

    Args:
        url: Address on this machine; another machine is never asked.
        model: Name as in ``ollama pull``.
        timeout_s: Seconds for the whole exchange.
        now: Seconds on a clock that never goes back.
    """
    address = parse_address(url, default_port=OLLAMA.default_port)
    if not address.is_loopback:
        return f"{address.place} is on another machine; it is not checked by default."
    try:
        answer = _get(address, "/api/tags", timeout_s=timeout_s, now=now)
    except (OSError, ValueError):
        return f"Ollama does not answer at {address.place}: start it, {_OTHERWISE}"
    names = _model_names(answer)
    if names is None:
        other = f"What answers at {address.place} is not Ollama"
        return f"{other}: set ollama_url, {_OTHERWISE}"
    if OLLAMA.same_model(model) not in names:
        return f"Ollama answers but has no {model}: `ollama pull {model}` gets it."
    return ""


def _get(
    address: Address, path: str, *, timeout_s: float, now: Callable[[], float]
) -> bytes:
    """Return the body of an answer to GET, or raise OSError."""
    deadline = now() + timeout_s
    # HTTP/1.0: the answer ends with the connection and never comes in chunks.
    request = (
        f"GET {address.path}{path} HTTP/1.0\r\nHost: {address.place}\r\n"
        "Accept: application/json\r\n\r\n"
    )
    data = b""
    with socket.create_connection((address.host, address.port), timeout_s) as link:
        link.sendall(request.encode("utf-8"))
        while len(data) < _ANSWER_BYTES:
            left_s = deadline - now()
            if left_s <= 0:
                raise TimeoutError
            link.settimeout(left_s)
            part = link.recv(65_536)
            if not part:
                break
            data += part
    return data.partition(b"\r\n\r\n")[2]


def _model_names(answer: bytes) -> frozenset[str] | None:
    """Return the models that Ollama lists; None if that is not a list of models."""
    try:
        document = json.loads(answer)
    except ValueError:
        return None
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return None
    names = (model.get("name") for model in models if isinstance(model, dict))
    return frozenset(OLLAMA.same_model(name) for name in names if isinstance(name, str))
