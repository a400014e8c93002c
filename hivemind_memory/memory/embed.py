"""Embeds queries and notes: which vector space answers, and filling in vectors.

One space answers, another may be filling: after a change of model the old vectors keep
answering, asked by the old model, until the new ones are there.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from hivemind_memory.errors import EmbeddingError, IndexUnusableError
from hivemind_memory.memory.moved_spaces import (
    MOVED,
    adopt_moved_space,
    fingerprint_in_use,
    moved_spaces,
    record_space,
    recorded_space,
)
from hivemind_memory.memory.no_vectors import PROBLEM, last_problem, why_no_vectors
from hivemind_memory.model.matches import QueryVector
from hivemind_memory.model.query import ANSWER_TIMEOUT_S
from hivemind_memory.providers.provider import PROBE_TEXT, PROBE_TIMEOUT_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.ports import Embedder
    from hivemind_memory.model.results import EmbedResult
    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.provider import Provider


MIN_QUERY_TIMEOUT_S = 0.2
"""A query's vector is asked for even if loading the library took long."""

MAX_CACHED_QUERIES = 256
SCRIPT_TIMEOUT_S = 10.0


class QueryEmbedRequest(NamedTuple):
    """A query whose vector has to be asked for."""

    text: str
    fingerprint: str
    space: VectorSpace
    dims: int | None
    """Numbers that a vector of this space has; None: not known yet."""


class EmbeddingService:
    """Makes vectors of queries and of notes, through the provider that was chosen."""

    def __init__(
        self,
        provider: Provider,
        now: Callable[[], float],
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        self._provider = provider
        self._now = now
        self._stopwatch = stopwatch or now
        self._embedders: dict[str, Embedder] = {}
        self._query_vectors: dict[tuple[str, str], bytes] = {}

    def close(self) -> None:
        """Close the connections to providers; the next query makes new ones."""
        while self._embedders:
            self._embedders.popitem()[1].close()

    def plan(self, index: Index, text: str) -> QueryVector | QueryEmbedRequest:
        """Return the vector of *text*, or why there is none, or what to ask for it.

        A query goes through ``plan``, ``ask`` and ``record_answer``: ``ask`` waits
        for the network and needs no index, so no other process has to wait with it.
        """
        spaces = index.spaces()
        if not spaces:
            why = why_no_vectors(index, self._provider)
            return QueryVector(None, self._chosen(index), why)
        fingerprint, reason = self._answering_space(index, spaces)
        if not fingerprint:
            return QueryVector(None, self._chosen(index), reason)
        reason = self._why_abstain(index, fingerprint, text)
        if reason:
            return QueryVector(None, fingerprint, reason)
        known = self._query_vectors.get((fingerprint, text))
        if known is not None:
            return QueryVector(known, fingerprint, "")
        now_s = self._now()
        space = self._space(index, fingerprint)
        breaker = _Breaker(index, space).value
        if not breaker.may_ask(now_s):
            return QueryVector(None, fingerprint, breaker.why_not(now_s))
        dims = index.vector_store().dims(fingerprint)
        return QueryEmbedRequest(text, fingerprint, space, dims)

    def ask(
        self, request: QueryEmbedRequest, *, timeout_s: float
    ) -> bytes | EmbeddingError:
        """Ask the provider, connected once, for the vector of a query."""
        before_s = self._stopwatch()
        try:
            key = request.space.fingerprint
            embedder = self._embedders.get(key)
            if embedder is None:
                made = self._provider.connect(request.space, dims=request.dims)
                embedder = self._embedders.setdefault(key, made)
                if embedder is not made:  # another thread was faster
                    made.close()
            left_s = max(
                MIN_QUERY_TIMEOUT_S, timeout_s - (self._stopwatch() - before_s)
            )
            return embedder.embed_query(request.text, timeout_s=left_s)
        except EmbeddingError as error:
            return error

    def record_answer(
        self,
        index: Index,
        request: QueryEmbedRequest,
        answer: bytes | EmbeddingError,
    ) -> QueryVector:
        """Return the vector, and let other processes know how it went."""
        breaker = _Breaker(index, request.space)
        if isinstance(answer, EmbeddingError):
            if answer.is_failure:
                breaker.fail(self._now(), answer)
                self._record_problem(index, request.space, _error_text(answer))
            return QueryVector(None, request.fingerprint, str(answer))
        breaker.succeed()
        self._record_problem(index, request.space, "")
        if len(self._query_vectors) >= MAX_CACHED_QUERIES:
            self._query_vectors.clear()
        self._query_vectors[request.fingerprint, request.text] = answer
        return QueryVector(answer, request.fingerprint, "")

    def check(self, handle: IndexHandle) -> bool:
        """Ask the provider that the settings name for a vector, and record the answer.

        So `hm status` says that it is down before a search or a sync finds out.

        Returns:
            Whether there is one to ask; a local model is not loaded for this.
        """
        space = self._provider.named_space()
        if space is None or space.weights:
            return False
        request = QueryEmbedRequest(PROBE_TEXT, space.fingerprint, space, None)
        answer = self.ask(request, timeout_s=PROBE_TIMEOUT_S)
        with handle.lock:
            handle.run_with_fallback(
                lambda opened: self.record_answer(opened.index, request, answer),
                may_repair=False,
            )
        return True

    def fill(
        self,
        index: Index,
        progress: Callable[[str, int, int], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        *,
        should_ask: bool = False,
    ) -> EmbedResult:
        """Give a vector to every text that has none in the chosen space.

        Cheap if there is nothing to do. *should_ask*: ask a provider that just failed.
        """
        from hivemind_memory.model.results import EmbedResult
        from hivemind_memory.providers.queue import EmbedQueue

        space = self._provider.space()
        if space is None:
            return EmbedResult()
        store = index.vector_store()
        fingerprint = fingerprint_in_use(index, space)
        store.plan(fingerprint)
        if not store.count_pending(fingerprint):
            return EmbedResult()
        breaker = _Breaker(index, space)
        if should_ask:
            breaker.value.half_open()
        # A provider that is not asked gives its earlier reason, without the remedy.
        is_asked = breaker.value.may_ask(self._now())
        try:
            made = self._provider.connect(space, dims=store.dims(fingerprint))
        except EmbeddingError as error:
            problem = _error_text(error)
            self._record_problem(index, space, problem)
            return EmbedResult(
                pending=store.count_pending_chunks(fingerprint), problem=problem
            )
        if is_asked and fingerprint == space.fingerprint:
            fingerprint = adopt_moved_space(index, space, made)
        record_space(index, fingerprint, space)
        embedder = _ScriptDetector(made, fingerprint)
        queue = EmbedQueue(
            store,
            embedder,
            breaker=breaker.value,
            clock=self._now,
            batch_texts=self._provider.batch_texts,
        )

        def report(done: int, total: int) -> None:
            if progress is not None:
                progress("embedding", done, total)

        try:
            result = queue.drain(progress=report, should_stop=should_stop)
            breaker.keep()
            if is_asked:
                self._record_problem(index, space, result.problem)
            self._measure_scripts(index, embedder)
        finally:
            embedder.close()
        return result

    def _answering_space(self, index: Index, spaces: dict[str, int]) -> tuple[str, str]:
        """Return the space that answers, and why there is none."""
        space = self._provider.space()
        fullest = max(spaces, key=lambda name: spaces[name])
        if space is None:
            return "", self._provider.choice().reason
        mine = fingerprint_in_use(index, space)
        if spaces.get(mine, 0) < spaces[fullest] and self._may_ask(index, fullest):
            return fullest, ""
        if mine in spaces:
            return mine, ""
        problem = last_problem(index, self._provider, space.fingerprint)
        if not problem and moved_spaces(index, space):
            return "", MOVED
        return "", why_no_vectors(index, self._provider, space.fingerprint)

    def _chosen(self, index: Index) -> str:
        """Return the space that the chosen provider fills; empty: there is none."""
        space = self._provider.space() or self._provider.unusable_space()
        return fingerprint_in_use(index, space) if space else ""

    def _may_ask(self, index: Index, fingerprint: str) -> bool:
        """Return whether an earlier model may still be asked.

        Neither a query nor a key goes where the settings do not point: the model of
        the old space must be at the address that is chosen now.
        """
        now, earlier = self._provider.space(), recorded_space(index, fingerprint)
        if now is None or earlier is None:
            return False
        return (earlier.provider, earlier.address) == (now.provider, now.address)

    def problem(self, index: Index) -> str:
        """Return why the chosen provider last failed; see ``last_problem``."""
        space = self._provider.space()
        return last_problem(index, self._provider, space.fingerprint if space else "")

    def _record_problem(self, index: Index, space: VectorSpace, text: str) -> None:
        """Record why the provider failed; an empty text: it did not."""
        record = f"{space.provider} {space.fingerprint}\n{text}" if text else ""
        if index.get_meta(PROBLEM) != record:
            # An index that cannot be written now is no reason to answer nothing.
            with suppress(IndexUnusableError):
                index.set_meta(PROBLEM, record)

    def _why_abstain(self, index: Index, fingerprint: str, text: str) -> str:
        """Return why vectors should not be used for this query; empty: they should."""
        from hivemind_memory.providers.writing_systems import LATIN, script_of

        script = script_of(text)
        if script == LATIN:
            return ""
        known = index.get_meta(f"script:{fingerprint}:{script}")
        if known == "yes":
            return ""
        if known == "no":
            return f"the embedding model does not understand {script} script"
        return f"not known yet whether the embedding model understands {script} script"

    def _space(self, index: Index, fingerprint: str) -> VectorSpace:
        """Return what a space is made of: the chosen one, or one of earlier days."""
        chosen = self._provider.space()
        if chosen is not None and fingerprint_in_use(index, chosen) == fingerprint:
            return chosen
        earlier = recorded_space(index, fingerprint)
        assert earlier is not None  # noqa: S101 - ``_may_ask`` has read it
        return earlier

    def _measure_scripts(self, index: Index, detector: _ScriptDetector) -> None:
        """Find out whether the model understands the scripts that it was given."""
        from hivemind_memory.providers.writing_systems import measure_script

        for script in detector.scripts_seen:
            key = f"script:{detector.fingerprint}:{script}"
            if index.get_meta(key):
                continue
            try:
                does = measure_script(detector, script, timeout_s=SCRIPT_TIMEOUT_S)
            except EmbeddingError:
                return  # the next run asks again; until then the retriever abstains
            index.set_meta(key, "yes" if does else "no")


def embed_query(
    text: str,
    service: EmbeddingService,
    handle: IndexHandle,
    clocks: Clocks,
    started: float,
) -> QueryVector:
    """Return the vector of a query that was asked at *started*.

    No lock is held while the provider computes: other threads search and write.
    """
    with handle.lock:
        planned = handle.run_with_fallback(
            lambda opened: service.plan(opened.index, text)
        )
    if not isinstance(planned, QueryEmbedRequest):
        return planned
    left_s = ANSWER_TIMEOUT_S - (clocks.stopwatch() - started)
    answer = service.ask(planned, timeout_s=left_s)
    with handle.lock:
        return handle.run_with_fallback(
            lambda opened: service.record_answer(opened.index, planned, answer)
        )


class _ScriptDetector:
    """An embedder that remembers in which foreign scripts it was spoken to."""

    def __init__(self, embedder: Embedder, fingerprint: str) -> None:
        self._embedder = embedder
        self.fingerprint = fingerprint
        """Name of the space in which its vectors are kept."""

        self.scripts_seen: set[str] = set()

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Embed, and listen."""
        from hivemind_memory.providers.writing_systems import LATIN, script_of

        self.scripts_seen.update(
            script for text in texts if (script := script_of(text)) != LATIN
        )
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Embed a query."""
        return self._embedder.embed_query(text, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()


class _Breaker:
    """The circuit breaker of one address, shared by all processes through the index."""

    def __init__(self, index: Index, space: VectorSpace) -> None:
        from hivemind_memory.providers.breaker import Breaker, load_breaker_state

        self._index = index
        self._key = f"breaker:{space.fingerprint}"
        self._before = index.get_meta(self._key)
        self.value = Breaker(load_breaker_state(self._before))

    def fail(self, now_s: float, error: EmbeddingError) -> None:
        """Count a failure, and let other processes know."""
        from hivemind_memory.errors import EmbeddingRefusedError as Refused

        why = _error_text(error) if isinstance(error, Refused) else str(error)
        self.value.fail(now_s, why, is_refusal=isinstance(error, Refused))
        self.keep()

    def succeed(self) -> None:
        """Note that the provider answered."""
        self.value.succeed()
        self.keep()

    def keep(self) -> None:
        """Write the state, if it has changed."""
        state = self.value.state.dump()
        if state != self._before and (self._before or self.value.state.failures):
            # An index that cannot be written now is no reason to answer nothing.
            with suppress(IndexUnusableError):
                self._index.set_meta(self._key, state)
                self._before = state


def _error_text(error: EmbeddingError) -> str:
    """Return an error and its hint as one text."""
    from hivemind_memory.providers.queue import error_text

    return error_text(error)
