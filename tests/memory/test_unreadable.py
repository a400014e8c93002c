"""Notes that the system does not show now are not gone: real limits, real modes.

Each test runs in a process of its own, which takes its own rights away.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import importlib, os, pkgutil, resource, sys, time
from pathlib import Path

import apsw

import hivemind_memory
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.opening import open_memory

home = Path(sys.argv[1])
notes = home / "memory"
(notes / "deep").mkdir(parents=True)
for number in range(5):
    for folder in (notes, notes / "deep"):
        words = " ".join(f"{folder.name}{number}x{word}" for word in range(20))
        (folder / f"{number}.md").write_text(f"A zebra. {words}\\n")
memory = open_memory(home=str(home), flags={"embedding_provider": "none"})
flag = {"max_results": 50, "min_score": 0.0}

def ask():
    return memory.search(Query(text="zebra", **flag))

def rows():
    connection = apsw.Connection(memory.places.index_file)
    found = list(connection.execute("SELECT path, id FROM files ORDER BY path"))
    connection.close()
    return found

lion = {"key": "lion", "type": "decision", "scope": "global"}
memory.save(NewMemory(content="It roars.", **lion))
assert len(ask().hits) == 10
before = rows()
"""

FEW_DESCRIPTORS = """
# A module that is loaded when it is first needed is a file as well.
used = "files index markdown memory model notes redaction search sqlite state".split()
for module in pkgutil.walk_packages(hivemind_memory.__path__, "hivemind_memory."):
    if module.name.split(".")[1] in used:
        importlib.import_module(module.name)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
refused = answered = 0
for free in (200, 201, 202, *range(14)):
    for note in notes.rglob("*.md"):
        os.utime(note, ns=(time.time_ns(), time.time_ns()))
    if free % 2:
        memory.index_handle.close()
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    for descriptor in held[:free]:
        os.close(descriptor)
    try:
        answer = ask()
        answered += 1
        assert len(answer.hits) == 10 or answer.report.warnings, (free, answer)
    except HivemindError:
        refused += 1
    finally:
        for descriptor in held[free:]:
            os.close(descriptor)
    assert rows() == before, free
assert refused and answered, (refused, answered)
assert ask().report.is_fresh
"""

MODES = """
memory.write("Crossing.", file="deep/0.md", scope="global")
memory.write("Crossing.", file="3.md", scope="global")
for path, count in ((notes / "deep", 5), (notes / "3.md", 1)):
    mode = path.stat().st_mode
    os.chmod(path, 0)
    for _ in range(2):
        answer = ask()
        assert len(answer.hits) == 10 - count, answer
        assert answer.report.is_fresh
        assert answer.report.skipped_notes == 1
        assert len(rows()) == len(before) - count
    status = memory.status()
    [skipped] = status.skipped
    assert "denied" in skipped.reason.lower(), skipped
    assert not skipped.reason.startswith(skipped.path), "the path is named twice"
    assert status.stale_notes == 0
    named = [one for one in memory.diagnose().findings if path.name in one.detail]
    assert [one.is_ok for one in named] == [False], named
    assert "not indexed" not in str(memory.diagnose())
    result = memory.sync()
    assert (result.removed, result.recovered, len(result.skipped)) == (0, 0, 1)
    os.chmod(path, mode)
    answer = ask()
    assert answer.report.is_fresh
    assert len(answer.hits) == 10
    assert memory.sync().recovered == 0
assert not list(notes.rglob("recovered.md"))

os.chmod(notes / "lion.md", 0)
ask()
try:
    memory.save(NewMemory(content="It naps.", **lion))
    raise AssertionError("there are two lions")
except HivemindError as error:
    assert "lion.md cannot be read: permission is denied" in str(error), error
    assert "Nothing was saved" in str(error), error
os.chmod(notes / "lion.md", 0o600)

memory.save(NewMemory(content="It sleeps.", reason="seen", **lion))
[old] = (notes / "superseded").glob("*.md")
os.chmod(old, 0)
history = memory.curation.history("lion")
assert [version.text for version in history.memories] == ["It sleeps."]
assert len(history.missing) == 1, history.missing
"""

# Root reads what it may not, unless it gives that right up before it starts.
DROP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc.prctl(24, right, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""


def run(*words: str) -> None:
    """Run a script in a process of its own; what it prints is the failure."""
    done = subprocess.run(
        [sys.executable, "-c", *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_too_many_open_files_take_no_note_out_of_the_index(tmp_path: Path) -> None:
    """Every note that could not be opened looked gone, and was removed."""
    run(BEGIN + FEW_DESCRIPTORS, str(tmp_path / "home"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs prctl")
def test_a_note_that_may_not_be_read_leaves_the_answers(tmp_path: Path) -> None:
    """It stayed in them after a chmod. It is not deleted: nothing of it is written
    again, and a history names what it could not read."""
    run(DROP, BEGIN + MODES, str(tmp_path / "home"))
