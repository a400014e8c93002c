"""Modules come from one file of byte code, and are those of their sources."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCES = {
    "__init__.py": "",
    "one.py": "VALUE = 1\n",
    "sub/__init__.py": "VALUE = 2\n",
    "sub/two.py": "from sample.one import VALUE\n",
}
_LOAD = """
import json, sys
from hivemind_memory.cli.kept_modules import KeptModules
folder, path = sys.argv[1:]
sys.path.insert(0, folder)
kept = KeptModules("sample", f"{folder}/sample", path)
kept.install()
import sample.one, sample.sub, sample.sub.two
names = ("sample.one", "sample.sub", "sample.sub.two")
print(json.dumps([
    [
        sys.modules[name].VALUE,
        type(sys.modules[name].__spec__.loader).__name__ == "_KeptLoader",
        {
            key: str(vars(sys.modules[name]).get(key))
            for key in ("__file__", "__cached__", "__package__", "__path__", "__name__")
        },
    ]
    for name in names
]))
kept.write()
"""
_LIST = """
import atexit, sys
from hivemind_memory.cli.start import run
sys.argv = ["hm", "list"]

@atexit.register
def tell():
    loader = sys.modules["hivemind_memory.memory.memory"].__spec__.loader
    print(type(loader).__name__, file=sys.stderr)

run()
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A folder with a package and its byte code."""
    for name, text in SOURCES.items():
        path = tmp_path / "sample" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    compileall.compile_dir(str(tmp_path / "sample"), quiet=2)
    return tmp_path


def load(folder: Path, *, closed: str = "") -> list[Any]:
    """Load the modules in a new process; return value, kept or not, and names."""
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    words = [sys.executable, "-c", _LOAD, str(folder), str(folder / "modules.bin")]
    if closed:
        words = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
    done = subprocess.run(
        words, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def kept(found: list[Any]) -> list[bool]:
    return [is_kept for _, is_kept, _ in found]


def test_the_second_process_loads_from_the_file_and_finds_the_same(
    sample: Path,
) -> None:
    first, second = load(sample), load(sample)

    assert kept(first) == [False] * 3
    assert kept(second) == [True] * 3
    for one, other in zip(first, second, strict=True):
        assert (one[0], one[2]) == (other[0], other[2])


def test_a_source_that_has_changed_is_loaded_as_ever(sample: Path) -> None:
    load(sample)
    (sample / "sample" / "one.py").write_text("VALUE = 100\n")
    compileall.compile_dir(str(sample / "sample"), quiet=2)

    changed, again = load(sample), load(sample)

    assert [value for value, *_ in changed] == [100, 2, 100]
    assert kept(changed) == [False, True, True]
    assert kept(again) == [True] * 3
    assert [value for value, *_ in again] == [100, 2, 100]


def test_a_module_that_is_gone_is_not_loaded(sample: Path) -> None:
    load(sample)
    (sample / "sample" / "one.py").unlink()

    with pytest.raises(AssertionError, match=r"No module named 'sample\.one'"):
        load(sample)


@pytest.mark.parametrize("how", ["cut", "table", "other build", "zeros", "empty"])
def test_a_damaged_file_is_not_used_and_made_again(sample: Path, how: str) -> None:
    load(sample)
    file = sample / "modules.bin"
    data = file.read_bytes()
    at = data.index(b"sample.one")
    damaged = {
        "cut": data[:-1],
        "table": data[:at] + b"S" + data[at + 1 :],
        "other build": b"4" + data[1:],
        "zeros": data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
        "empty": b"",
    }[how]
    file.write_bytes(damaged)

    assert [value for value, *_ in load(sample)] == [1, 2, 1]
    if how != "zeros":
        assert kept(load(sample)) == [True] * 3


def test_where_python_writes_no_byte_code_nothing_is_written(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-B", "-c", _LOAD, str(sample), str(sample / "none.bin")]

    subprocess.run(words, check=True, capture_output=True)

    assert not (sample / "none.bin").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the stream")
def test_a_closed_stream_stays_closed(sample: Path) -> None:
    """The file would get its number, and who reads standard input would read it."""
    load(sample)

    assert kept(load(sample, closed="<&-")) == [False] * 3


def test_commands_load_the_program_from_the_file(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "HIVEMIND_HOME": str(tmp_path / "home"),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "cache"),
    }
    (tmp_path / "home" / "memory").mkdir(parents=True)
    loaders = [
        subprocess.run(
            [sys.executable, "-c", _LIST],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        ).stderr.split()[-1]
        for _ in range(2)
    ]

    assert loaders == ["SourceFileLoader", "_KeptLoader"]
    assert len(list((tmp_path / "cache").rglob("modules.*.bin"))) == 1
