"""Faults in what is indexed and found."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

_FINDS_NOTHING = (
    "from hivemind_memory.model.matches import WordMatches\n\n"
    "assert WordRetriever.find\n"
    "WordRetriever.find = lambda *_, **__: WordMatches(asked=())\n"
)

FAULTS = (
    Fault(
        name="a note and its chunks are indexed in separate transactions",
        rig="kill_index --kills 200",
        module="index/sqlite/notes.py",
        code=(
            "from contextlib import nullcontext\n"
            "assert notes_transaction\n"
            "notes_transaction = lambda _: nullcontext()\n"
        ),
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="a pattern looks on from every letter of a word",
        rig="patterns --seconds 60",
        module="markdown/addresses.py",
        code=(
            "assert _asked\n"
            "_asked = lambda: re.compile(r'[\\w-]+\\.[A-Za-z]{2,}/\\S')\n"
        ),
        says=r"a question of .* takes long",
    ),
    Fault(
        name="the last chunk of a note is dropped",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n"
            "_chunks = lambda *given: _all_chunks(*given)[:-1] or _all_chunks(*given)\n"
        ),
        says=r"joined, the chunks are not the text",
    ),
    Fault(
        name="the last chunk of a large note alone is dropped",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n\n\n"
            "def _chunks(*given):\n"
            "    found = _all_chunks(*given)\n"
            "    size = sum(len(chunk.text) for chunk in found)\n"
            "    return found[:-1] if size > 100_000 else found\n"
        ),
        says=r"joined, the chunks are not the text",
    ),
    Fault(
        name="for each chunk of a note those before it are read again",
        rig="fuzz_chunker --cases 200",
        module="markdown/note_parser.py",
        code=(
            "_all_chunks = _chunks\n\n\n"
            "def _chunks(*given):\n"
            "    found = _all_chunks(*given)\n"
            "    for number in range(len(found)):\n"
            "        sum(chunk.text.count(' ') for chunk in found[:number:3])\n"
            "    return found\n"
        ),
        says=r"a byte costs [\d.]+ times as much",
    ),
    Fault(
        name="damage is reported as an ordinary error",
        rig="damage_index --times 25",
        module="sqlite/connection.py",
        code=(
            "from hivemind_memory.errors import IndexBusyError\n"
            "assert _damaged\n"
            "_damaged = lambda path: IndexBusyError(path, hint='')\n"
        ),
        says=r"seed \d+",
    ),
    Fault(
        name="a search finds nothing, after damage either",
        rig="damage_index --times 4",
        module="index/sqlite/words.py",
        code=_FINDS_NOTHING,
        says=r"common: 0 hits",
    ),
    Fault(
        name="a search does not look at the notes",
        rig="index_race --steps 1000 --seconds 60",
        module="memory/freshness.py",
        code=(
            "def _compare(self, index, version, **_):\n"
            "    self._looked_at = self._verified = version\n"
            "    return self._last\n\n\n"
            "assert FreshnessCheck._compare\n"
            "FreshnessCheck._compare = _compare\n"
        ),
        says=r"searcher-\d missed",
    ),
    Fault(
        name="young files are not compared by their bytes",
        rig="index_race --steps 3000 --seconds 30",
        module="model/snapshot.py",
        code="assert is_settled\nis_settled = lambda *_: True\n",
        says=r"searcher-\d missed|newer\d+newer undone",
    ),
    Fault(
        name="what the kernel names is not indexed",
        rig="index_race --steps 3000 --seconds 30",
        module="memory/sync.py",
        code="assert Syncer.sync_named\nSyncer.sync_named = lambda *_: True\n",
        says=r"searcher-\d missed",
    ),
    Fault(
        name="what was read long ago replaces what is newer",
        rig="index_race --steps 500 --seconds 60",
        module="memory/sync_round.py",
        code=(
            "def _may_replace(self, path, signature, digest):\n"
            "    (self.added if signature is None else self.updated).add(path)\n"
            "    return True\n\n\n"
            "assert SyncRound.may_replace\n"
            "SyncRound.may_replace = _may_replace\n"
        ),
        says=r"newer\d+newer undone",
    ),
    Fault(
        name="a note that came back is removed because it was gone",
        rig="index_race --steps 500 --seconds 60",
        module="memory/sync_round.py",
        code=("assert SyncRound.may_remove\nSyncRound.may_remove = lambda *_: True\n"),
        says=r"newer\d+newer undone",
    ),
    Fault(
        name="notes that are gone stay in the index",
        rig="index_race --steps 2000 --seconds 30",
        module="memory/sync.py",
        code=(
            "from hivemind_memory.model.value import replaced\n"
            "_apply_all = Syncer._apply_all\n"
            "Syncer._apply_all = lambda self, index, changes, *rest: _apply_all(\n"
            "    self, index, replaced(changes, gone=()), *rest\n"
            ")\n"
        ),
        says=r"was shown x\w+, which is in no note",
    ),
    Fault(
        name="a term may be an operator of the full-text engine",
        rig="hostile_queries --queries 100 --chunks 300 --max-p99-ms 5000",
        module="index/sqlite/expressions.py",
        code="assert _quoted\n_quoted = lambda text: text.upper()\n",
        says=r"[1-9]\d* problems",
    ),
    Fault(
        name="a search finds nothing, whatever the question",
        rig="hostile_queries --queries 60 --chunks 300 --max-p99-ms 5000",
        module="index/sqlite/words.py",
        code=_FINDS_NOTHING,
        says=r"does not find",
    ),
    Fault(
        name="a superseded memory stays active",
        rig="curating_stateful --steps 200 --no-shrink",
        module="notes/memory_header.py",
        code="assert status_of\nstatus_of = lambda path, front_matter: ACTIVE\n",
        says=r"AssertionError",
    ),
)
