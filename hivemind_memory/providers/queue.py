"""Gives a vector to every text that has none.

Knows neither SQL nor HTTP: the index hands out texts and takes vectors, each in a
transaction of its own, and none is open while the provider works. A batch is stored
whole or not at all, so a run may stop at any moment and the next one continues.
"""

from __future__ import annotations

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
)
from hivemind_memory.model.display import count_text
from hivemind_memory.model.results import EmbedResult
from hivemind_memory.providers.vectors import check_batch, count_dims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.model.ports import Clock, Embedder, VectorStore
    from hivemind_memory.providers.breaker import Breaker

    Named = tuple[str, str]


BATCH_TEXTS = 64
POISON_IN_A_ROW = 8
"""After this many texts in a row without a usable vector, the provider is at fault and
not the texts."""


class EmbedQueue:
    """Asks for the vectors that are missing, batch by batch."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        *,
        breaker: Breaker,
        clock: Clock,
        batch_texts: int = BATCH_TEXTS,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._breaker = breaker
        self._clock = clock
        self._batch_texts = batch_texts
        self._poisons: dict[str, str] = {}
        self._poisons_in_a_row = 0
        self._run = _Run()

    @property
    def poisons(self) -> dict[str, str]:
        """Hash -> why, for texts that got no usable vector and are not asked again."""
        return dict(self._poisons)

    def drain(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> EmbedResult:
        """Embed until nothing is left or the provider will not.

        Args:
            progress: Called with (done, total) texts after each step.
            should_stop: Asked between batches.

        Returns:
            What was done; ``problem`` says why something is left.
        """
        store, space = self._store, self._embedder.fingerprint
        waiting = max(0, store.count_pending(space) - len(self._poisons))
        self._run = _Run(total=waiting, progress=progress)
        self._poisons_in_a_row = 0
        if waiting:
            # The first answer may take long, or never come.
            self._run.report_progress()
        problem = ""
        while not problem and not (should_stop is not None and should_stop()):
            batch = self._next_batch()
            if not batch:
                break
            batch = self._take_cached(batch)
            problem = self._ask(batch) if batch else ""
        return EmbedResult(
            embedded=self._run.embedded,
            from_cache=self._run.from_cache,
            pending=store.count_pending_chunks(space),
            problem=problem or self._tell_poisons(),
        )

    def _next_batch(self) -> list[Named]:
        """Return texts that wait, and were neither stored nor given up in this run."""
        limit = self._batch_texts + len(self._poisons)
        waiting = self._store.pending_texts(self._embedder.fingerprint, limit)
        seen = self._run.stored
        fresh = [
            (name, text)
            for name, text in waiting
            if name not in self._poisons and name not in seen
        ]
        return fresh[: self._batch_texts]

    def _take_cached(self, batch: list[Named]) -> list[Named]:
        """Store what was paid for earlier; return the rest."""
        space = self._embedder.fingerprint
        kept = self._store.cached(space, [name for name, _ in batch])
        if kept:
            dims = self._store.dims(space) or count_dims(next(iter(kept.values())))
            known = {
                name: vector
                for name, vector in kept.items()
                if count_dims(vector) == dims
            }
            self._keep(list(known), list(known.values()))
            self._run.from_cache += len(known)
            self._run.report_progress()
            batch = [(name, text) for name, text in batch if name not in known]
        return batch

    def _ask(self, batch: list[Named]) -> str:
        """Embed and store one batch; return why to stop, empty to go on."""
        now_s = self._clock()
        if not self._breaker.may_ask(now_s):
            return self._breaker.why_not(now_s)
        try:
            self._embed(batch)
        except EmbeddingRefusedError as error:
            # It lasts until a person does something: the remedy is given each time.
            self._breaker.fail(self._clock(), error_text(error), is_refusal=True)
            return error_text(error)
        except EmbeddingInvalidError as error:
            self._breaker.fail(self._clock(), str(error))
            return error_text(error)
        except EmbeddingError as error:
            # Once more with the same texts, until the breaker has seen enough.
            self._breaker.fail(self._clock(), str(error))
            return "" if self._breaker.may_ask(self._clock()) else error_text(error)
        self._breaker.succeed()
        return ""

    def _embed(self, batch: list[Named]) -> None:
        """Embed and store *batch*; halve it while the answer is of no use."""
        parts = [batch]
        while parts:
            part = parts.pop()
            try:
                vectors = self._embedder.embed_documents([text for _, text in part])
                check_batch(vectors, count=len(part))
            except EmbeddingInvalidError as error:
                if len(part) == 1:
                    self._give_up(part[0][0], error)
                else:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
                continue
            self._keep([name for name, _ in part], vectors)
            self._run.embedded += len(part)
            self._poisons_in_a_row = 0
            self._run.report_progress()

    def _give_up(self, name: str, error: EmbeddingInvalidError) -> None:
        """Do not ask for this text again; stop if it seems not to be the text."""
        self._poisons[name] = str(error)
        self._poisons_in_a_row += 1
        self._run.given_up += 1
        self._run.report_progress()
        if self._poisons_in_a_row >= POISON_IN_A_ROW:
            # The texts are not to blame, so they may be asked for in another run.
            for name_in_row in list(self._poisons)[-POISON_IN_A_ROW:]:
                del self._poisons[name_in_row]
            raise error

    def _keep(self, names: Sequence[str], vectors: Sequence[bytes]) -> None:
        """Store vectors, if they are of the length that the space has."""
        space = self._embedder.fingerprint
        known = self._store.dims(space)
        dims = check_batch(vectors, count=len(names), dims=known)
        self._store.store(space, dims, dict(zip(names, vectors, strict=True)))
        self._run.stored.update(names)

    def _tell_poisons(self) -> str:
        """Return that some texts have no vector, and why the first has none."""
        count = len(self._poisons)
        if not count:
            return ""
        has_none = count_text(count, "text has", "texts have")
        reason = next(iter(self._poisons.values()))
        return f"{has_none} no vector and can be found by words only: {reason}"


class _Run:
    """The counts of one run."""

    __slots__ = ("embedded", "from_cache", "given_up", "progress", "stored", "total")

    def __init__(
        self, total: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.total = total
        self.progress = progress
        self.embedded = 0
        self.from_cache = 0
        self.given_up = 0
        self.stored: set[str] = set()

    def report_progress(self) -> None:
        """Report how far it is; texts that came meanwhile raise the total."""
        done = len(self.stored) + self.given_up
        self.total = max(self.total, done)
        if self.progress is not None:
            self.progress(done, self.total)


def error_text(error: EmbeddingError) -> str:
    """Return an error and its hint as one text."""
    return f"{error} {error.hint}".strip()
