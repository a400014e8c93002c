"""The key-value store against a plain dictionary, and under many writers."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.state.key_values import KeyValueStore
from hivemind_memory.state.state_file import StateFile
from tests.support.tiers import examples

KEYS = st.sampled_from(["a", "b", "ключ"])
SCOPES = st.sampled_from(["", "projects/shop"])
STEPS = st.one_of(
    st.tuples(
        st.just("set"),
        SCOPES,
        KEYS,
        st.none() | st.integers(0, 6),
        st.none() | st.integers(1, 40),
    ),
    st.tuples(st.just("delete"), SCOPES, KEYS),
    st.tuples(st.just("get"), SCOPES, KEYS),
    st.tuples(st.just("all"), SCOPES),
    st.tuples(st.just("wait"), st.integers(-50, 50)),
)


class Model:
    """What the store has to do, without SQL: a clock that a test sets."""

    def __init__(self) -> None:
        self.counters: dict[tuple[str, str], int] = {}
        self.live: dict[tuple[str, str], tuple[str, int]] = {}

    def expire(self, now_ms: int, scope: str | None = None) -> None:
        """Forget what has expired; a read looks at one scope only."""
        self.live = {
            name: (text, until)
            for name, (text, until) in self.live.items()
            if not (0 < until <= now_ms) or (scope is not None and name[0] != scope)
        }

    def set(
        self, name: tuple[str, str], text: str, expected: int | None, until: int
    ) -> tuple[bool, int]:
        """Return whether it was written, and the version now."""
        current = self.counters[name] if name in self.live else 0
        if expected is not None and expected != current:
            return False, current
        self.counters[name] = self.counters.get(name, 0) + 1
        self.live[name] = (text, until)
        return True, self.counters[name]


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_the_store_does_what_a_dictionary_does(
    tmp_path_factory: object, steps: list[tuple[object, ...]]
) -> None:
    """Versions survive deletion and expiry; what was seen as gone stays gone."""
    path = tmp_path_factory.mktemp("kv") / "state.db"  # type: ignore[attr-defined]
    state = StateFile(str(path))
    store, model, now_ms = KeyValueStore(state), Model(), 1_000_000

    for number, (what, *given_) in enumerate(steps):
        if what == "wait":
            now_ms += int(str(given_[0]))
            continue
        scope = str(given_[0])
        if what == "all":
            found = {one.key: one.text for one in store.all(scope, now_ms)}
            if any(
                0 < until <= now_ms
                for (at, _), (_, until) in model.live.items()
                if at == scope
            ):
                model.expire(now_ms)
            assert found == {
                key: text for (at, key), (text, _) in model.live.items() if at == scope
            }
            continue
        name = (scope, str(given_[1]))
        if what == "get":
            got = store.get(*name, now_ms)
            if name in model.live and 0 < model.live[name][1] <= now_ms:
                model.expire(now_ms)
            text = model.live.get(name, (None, 0))[0]
            assert (got.text if got else None) == text
            assert got is None or got.version == model.counters[name]
        elif what == "delete":
            model.expire(now_ms)
            assert store.delete(*name, now_ms) == (
                model.live.pop(name, None) is not None
            )
        else:
            expected, ttl = given_[2], given_[3]
            until = now_ms + int(str(ttl)) if ttl else 0
            done = store.set(
                *name,
                str(number),
                now_ms=now_ms,
                expires_ms=until,
                if_version=expected,  # type: ignore[arg-type]
            )
            model.expire(now_ms)
            wanted = model.set(name, str(number), expected, until)  # type: ignore[arg-type]
            assert (done.is_written, done.version) == wanted
    state.close()


def test_an_expired_key_does_not_come_back_with_an_older_clock(tmp_path: Path) -> None:
    """Whoever saw it as gone may have acted on that."""
    store = KeyValueStore(StateFile(str(tmp_path / "state.db")))
    store.set("", "lock", '"me"', now_ms=1_000, expires_ms=2_000)

    assert store.get("", "lock", 1_999) is not None
    assert store.get("", "lock", 2_000) is None
    assert store.get("", "lock", 1_500) is None
    assert store.set("", "lock", "1", now_ms=1_500, if_version=0).version == 2


def test_a_full_scope_takes_no_new_key_until_one_is_gone(tmp_path: Path) -> None:
    """Others are not affected, and a key that is there may be written."""
    store = KeyValueStore(StateFile(str(tmp_path / "state.db")), max_keys=3)
    for key in "abc":
        assert store.set("", key, "1", now_ms=1).is_written

    assert store.set("", "d", "1", now_ms=1).is_full
    assert store.set("", "a", "2", now_ms=1).version == 2
    assert store.set("projects/x", "d", "1", now_ms=1).is_written
    assert store.delete("", "b", 2)
    assert store.set("", "d", "1", now_ms=2).is_written


def test_counters_that_are_let_go_repeat_no_version(tmp_path: Path) -> None:
    """A scope may use up any number of keys; its counters do not grow with them."""
    path = str(tmp_path / "state.db")
    state = StateFile(path)
    store = KeyValueStore(state, max_keys=10)
    versions: dict[str, list[int]] = {}
    for number in range(400):
        key = f"k{number % 57}"
        done = store.set("", key, "1", now_ms=number)
        versions.setdefault(key, []).append(done.version)
        assert store.delete("", key, number)

    assert all(len({*seen}) == len(seen) for seen in versions.values())
    assert all(seen == sorted(seen) for seen in versions.values())
    rows = apsw.Connection(path).execute("SELECT count(*) FROM key_values").get
    assert int(str(rows)) <= 11 + 1000


def test_a_merged_project_loses_no_value_and_repeats_no_version(tmp_path: Path) -> None:
    """Where both have the key, the one that moves gets another name."""
    store = KeyValueStore(StateFile(str(tmp_path / "state.db")))
    for scope, key, count in [
        ("projects/a", "n", 3),
        ("projects/a", "m", 2),
        ("projects/b", "n", 1),
        ("projects/b", "m", 4),
    ]:
        for number in range(count):
            store.set(scope, key, f'"{scope} {number}"', now_ms=1)
    store.delete("projects/b", "m", 1)

    for _ in range(2):  # a move that was killed is done again
        store.rename_scope("projects/a", "projects/b", label="a")

    found = {one.key: (one.text, one.version) for one in store.all("projects/b", 2)}
    assert found == {
        "n": ('"projects/b 0"', 1),
        "n (a)": ('"projects/a 2"', 3),
        "m": ('"projects/a 1"', 5),
    }
    assert store.all("projects/a", 2) == []


def test_two_notes_folders_of_a_home_have_keys_of_their_own(tmp_path: Path) -> None:
    """As everything in the file."""
    path = str(tmp_path / "state.db")
    KeyValueStore(StateFile(path)).set("", "a", "1", now_ms=1)

    other = KeyValueStore(StateFile(path, "/elsewhere"))

    assert other.get("", "a", 1) is None
    assert other.set("", "a", "2", now_ms=1, if_version=0).version == 1


def increment(path: str, rounds: int, said: object) -> None:
    """Count up, only from the version that was read, until *rounds* have succeeded."""
    store = KeyValueStore(StateFile(path))
    done = tries = 0
    while done < rounds:
        tries += 1
        try:
            found = store.get("", "n", 1)
            version, number = (found.version, int(found.text)) if found else (0, 0)
            outcome = store.set("", "n", str(number + 1), now_ms=1, if_version=version)
        except StateUnusableError:
            continue  # busy: it was not written
        done += outcome.is_written
    said.put((done, tries))  # type: ignore[attr-defined]


def test_twelve_processes_count_up_without_losing_one(tmp_path: Path) -> None:
    """The last value is the number of writes that succeeded, and so is its version."""
    path = str(tmp_path / "state.db")
    KeyValueStore(StateFile(path)).set("", "n", "0", now_ms=1)
    context = multiprocessing.get_context("fork")
    said = context.Queue()
    processes = [
        context.Process(target=increment, args=(path, 20, said)) for _ in range(12)
    ]
    for process in processes:
        process.start()
    done = [said.get(timeout=120)[0] for _ in processes]
    for process in processes:
        process.join()

    last = KeyValueStore(StateFile(path)).get("", "n", 1)

    assert last is not None
    assert (int(last.text), last.version) == (sum(done), sum(done) + 1)


def test_thirty_two_threads_share_one_store(tmp_path: Path) -> None:
    """Of all that create a key, one does."""
    store = KeyValueStore(StateFile(str(tmp_path / "state.db")))
    won: list[int] = []

    def create(number: int) -> None:
        if store.set("", "leader", str(number), now_ms=1, if_version=0).is_written:
            won.append(number)

    threads = [threading.Thread(target=create, args=(n,)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = store.get("", "leader", 1)
    assert found is not None
    assert [int(found.text)] == won
