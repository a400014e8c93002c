"""Downloads a known model: one file after the other, each checked by its digest.

Nothing calls this but a person's command. A download that was broken off goes on where
it ended; a file has its name only when it is whole and has the digest that is known.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from http.client import HTTPException
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from hivemind_memory.errors import EmbeddingError
from hivemind_memory.files.descriptors import (
    make_private_folder,
    open_regular,
    sync_file,
    write_all,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.own_files import open_own
from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.providers.local_catalog import LocalModel, ModelFile


TIMEOUT_S = 30.0
"""Seconds without a byte before a download counts as broken off."""

_PART = ".part"
_BLOCK_BYTES = 1 << 18
_MB = 1_000_000
_AGAIN = "Run the command again: it resumes where it stopped."


class _Progress:
    """Tells how much of a whole model is there, in megabytes."""

    def __init__(
        self, model: LocalModel, tell: Callable[[str, int, int], None]
    ) -> None:
        self._tell = tell
        self._total = model.size_bytes
        self.done_before = 0
        """Bytes of the files before the one that is fetched now."""

    def report(self, done: int) -> None:
        """Tell that so many bytes of the present file are there."""
        done += self.done_before
        self._tell("MB fetched", done // _MB, max(self._total // _MB, 1))


class _Place(NamedTuple):
    """Where a file comes from and goes to."""

    file: ModelFile
    url: str
    path: str


def fetch_model(
    model: LocalModel,
    models: str,
    *,
    server: str,
    progress: Callable[[str, int, int], None],
) -> str:
    """Download the missing files of a model; return its folder.

    Args:
        model: Which one.
        models: Folder of all models; it is made if it is missing.
        server: ``https://huggingface.co``, or a mirror of it.
        progress: Called with what is counted, number done, and number in all.

    Raises:
        EmbeddingError: A file could not be fetched, is another one, or does not fit on
            the disk. What is there so far is kept for the next time.
    """
    folder = os.path.join(models, model.name)
    reporter = _Progress(model, progress)
    try:
        make_private_folder(folder)
        _check_space(model, folder)
        for file in model.files:
            path = os.path.join(folder, file.name)
            if not _is_whole(path, file):
                source = f"{model.repository}/resolve/{model.revision}/{file.source}"
                _fetch_file(_Place(file, f"{server}/{source}", path), reporter)
            reporter.done_before += file.size_bytes
        if model.pooling != "mean" or model.max_tokens != 512:
            _write_settings(model, folder)
    except OSError as error:
        if isinstance(error, URLError) or error.errno is None:
            raise _no_answer(server, error) from error
        message = f"{model.name} could not be stored: {reason_of(error)}."
        raise EmbeddingError(message, hint=f"It needs {folder}.") from error
    return folder


def is_fetched(model: LocalModel, models: str) -> bool:
    """Return whether all files of a model are there, by their size."""
    folder = os.path.join(models, model.name)
    return all(_has_size(os.path.join(folder, file.name), file) for file in model.files)


def _write_settings(model: LocalModel, folder: str) -> None:
    """Say beside the weights how they are used."""
    import json

    from hivemind_memory.files.atomic import write_file

    used = {"pooling": model.pooling, "max_tokens": model.max_tokens}
    write_file(os.path.join(folder, "model.json"), json.dumps(used).encode())


def _fetch_file(place: _Place, reporter: _Progress) -> None:
    """Download one file, and give it its name if it is the right one."""
    part = f"{place.path}{_PART}"
    has = os.path.getsize(part) if os.path.exists(part) else 0
    if has > place.file.size_bytes:
        has = 0
    request = Request(  # noqa: S310 - the server is https, or one that was chosen
        place.url, headers={"User-Agent": f"hivemind-memory/{__version__}"}
    )
    if has:
        request.add_header("Range", f"bytes={has}-")
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            is_rest = has > 0 and answer.status == 206
            _store(answer.read, part, has if is_rest else 0, place.file, reporter)
    except HTTPError as error:
        if error.code != 416:  # the part is whole already, or longer: the digest says
            message = f"{place.url} answers {error.code}."
            hint = f"Check the network and HF_ENDPOINT. {_AGAIN}"
            raise EmbeddingError(message, hint=hint) from error
    except HTTPException as error:
        raise _no_answer(place.url, error) from error
    if os.path.getsize(part) < place.file.size_bytes:
        message = f"{place.url} ended early."
        raise EmbeddingError(message, hint=_AGAIN)
    if not _is_whole(part, place.file):
        os.unlink(part)
        message = f"{place.url} is not the file it should be, and was removed."
        raise EmbeddingError(message, hint="Check HF_ENDPOINT, or try again later.")
    os.replace(part, place.path)


def _store(
    read: Callable[[int], bytes],
    part: str,
    has: int,
    file: ModelFile,
    reporter: _Progress,
) -> None:
    """Write what comes, from a byte on, and no more than the file has."""
    flags = os.O_WRONLY | os.O_CREAT | (0 if has else os.O_TRUNC)
    descriptor = open_own(part, flags)
    try:
        os.lseek(descriptor, has, os.SEEK_SET)
        while block := read(_BLOCK_BYTES):
            has += len(block)
            if has > file.size_bytes:
                break
            write_all(descriptor, block)
            reporter.report(has)
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def _check_space(model: LocalModel, folder: str) -> None:
    """Raise if the model does not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if not is_fetched(model, os.path.dirname(folder)) and free < model.size_bytes:
        message = (
            f"{model.name} needs {model.size_bytes // _MB} MB, and {free // _MB} MB are"
            f" free in {folder}."
        )
        raise EmbeddingError(message, hint="Make room, or choose a smaller model.")


def _has_size(path: str, file: ModelFile) -> bool:
    """Return whether a file is there and as large as it should be."""
    return os.path.isfile(path) and os.path.getsize(path) == file.size_bytes


def _is_whole(path: str, file: ModelFile) -> bool:
    """Return whether a file is there and the right one, by its digest."""
    if not _has_size(path, file):
        return False
    with open(path, "rb", opener=open_regular) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _no_answer(server: str, error: Exception) -> EmbeddingError:
    """Return the error for a server that cannot be reached."""
    reason = getattr(error, "reason", None) or type(error).__name__
    message = f"{server} cannot be reached ({reason})."
    hint = (
        f"{_AGAIN} Without a network, copy a folder with model.onnx and tokenizer.json"
        " here, and set local_model to its path."
    )
    return EmbeddingError(message, hint=hint)
