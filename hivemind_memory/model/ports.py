"""The ports: interfaces with more than one implementation."""

from __future__ import annotations

from hivemind_memory.model.late_typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from hivemind_memory.model.chat import ChatMessage
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.model.listing import NoteRow, RowFilter
    from hivemind_memory.model.matches import ChunkLocation, HitDetails
    from hivemind_memory.model.memories import Dispute, EdgeRow, MemoryRow
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


class Embedder(Protocol):
    """Turns texts into vectors: OpenAI, Ollama, the local model, or a test's own."""

    @property
    def fingerprint(self) -> str:
        """Name of all that shapes a vector.

        That is provider, address, model, asked dimensions, prefixes, normalization.
        Vectors are compared only within one fingerprint.
        """

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text, in order.

        Returns:
            Little-endian float32, L2-normalized, all of the same length.

        Raises:
            EmbeddingRefusedError: The provider said no; asking again is useless.
            EmbeddingInvalidError: A vector was missing, not finite, zero, or of another
                length than its neighbors'. None of the batch may be stored.
            EmbeddingError: It could not be reached, or not in time.
        """

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a query, as ``embed_documents`` does.

        Within *timeout_s* seconds, and with no second try.
        """

    def close(self) -> None:
        """Close its connections; it is not asked again."""


class Reranker(Protocol):
    """Reads a query together with each text, and says how well the text answers."""

    @property
    def name(self) -> str:
        """Provider and model, as ``--explain`` shows them."""

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_s: float
    ) -> list[float]:
        """Return one score for each text, in order, within *timeout_s* seconds.

        Larger is better, and that is all a score says: it may be any number.

        Raises:
            RerankNotReadyError: It cannot be asked now, and is not at fault.
            RerankError: A score was missing or not finite, or they came too late.
        """

    def close(self) -> None:
        """Close its connections; it is not asked again."""


class Chat(Protocol):
    """A language model that replies with JSON."""

    @property
    def name(self) -> str:
        """Provider and model, for a person."""

    def prepare(self) -> None:
        """Load what is needed to ask; nothing is sent."""

    def ask(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, object],
        *,
        timeout_s: float,
    ) -> dict[str, object]:
        """Return the JSON object that it replies with, within *timeout_s* seconds.

        Args:
            messages: What it is told. Secrets of a known form are not sent.
            schema: JSON schema of the reply, to which the model may not keep.
            timeout_s: Seconds for all requests together.

        Raises:
            ChatNotReadyError: It was not asked; the error says when it may be.
            ChatRefusedError: It said no; asking again is useless.
            ChatReplyError: It replied with something else, or declined.
            ChatError: It could not be reached, or not in time.
        """

    def close(self) -> None:
        """Close its connections; it is not asked again."""


class VectorStore(Protocol):
    """Where vectors are kept, and which texts have none yet: the index.

    A text is named by its hash: SHA-256 of its UTF-8 bytes, hexadecimal. Each method is
    one short transaction of its own; none is open while a provider is asked.
    """

    def pending_texts(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return at most *limit* (hash, text) that have no vector in that space.

        No hash twice; the same order as long as nothing is stored.
        """

    def count_pending(self, fingerprint: str) -> int:
        """Return how many texts have no vector in that space."""

    def count_pending_chunks(self, fingerprint: str) -> int:
        """Return how many chunks lack a vector: their own, or that of a part."""

    def cached(self, fingerprint: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Return hash -> vector for those that were paid for earlier."""

    def dims(self, fingerprint: str) -> int | None:
        """Return how many numbers a vector of that space has; None while empty."""

    def store(self, fingerprint: str, dims: int, vectors: Mapping[str, bytes]) -> None:
        """Keep hash -> vector, all of *dims* numbers; afterward none is pending.

        Vectors stay cached even after no text uses them.
        """


class Clock(Protocol):
    """Tells the time; tests bring their own."""

    def __call__(self) -> float:
        """Return seconds since the epoch, UTC."""


class MemoryIndex(Protocol):
    """Finds typed memories and their edges: the index, or a test's own."""

    def memories(
        self,
        *,
        key: str | None = None,
        memory_id: str | None = None,
        path: str | None = None,
        scopes: frozenset[str] | None = None,
        statuses: Collection[int] | None = None,
    ) -> list[MemoryRow]:
        """Return the memories that fit all that is given, the newest created first.

        Args:
            key: Exactly this key.
            memory_id: Exactly this id.
            path: The note at this path, which may be free text.
            scopes: In these scopes; None: in all.
            statuses: Of these statuses; None: of any, forgotten ones too.
        """

    def resolve_ref(
        self, target: str, *, scopes: frozenset[str] | None, near: str = ""
    ) -> MemoryRow | None:
        """Return the note that an id, a key, a path or a name means; no forgotten one.

        What is active comes before what was replaced, and *near* before the other
        scopes.
        """

    def edges_of(self, path: str, *, scopes: frozenset[str] | None) -> list[EdgeRow]:
        """Return the edges that begin or end at a note, both ends resolved.

        An end outside *scopes* counts as missing; None: all scopes.
        """

    def entry_path(self, entry_id: str, scopes: frozenset[str] | None) -> str:
        """Return the note of an appended entry; empty if no note of *scopes* has it."""

    def scopes_with(self, own_id: str) -> set[str]:
        """Return the scopes in which a memory or an entry has an id; all callers'."""


class ListSource(Protocol):
    """Lists memories and notes a part at a time, and counts them.

    Of *scopes*, None means all.
    """

    def memory_page(
        self, wanted: RowFilter, *, offset: int = 0, limit: int | None = None
    ) -> tuple[list[MemoryRow], int]:
        """Return some of the typed memories that fit, and how many do.

        The newest come first; of what is forgotten alone, what was forgotten last.

        Args:
            wanted: Which fit.
            offset: How many to pass over, at least 0.
            limit: How many to return; None: all.
        """

    def count_memories(
        self, *fields: str, scopes: frozenset[str] | None
    ) -> dict[tuple[Any, ...], int]:
        """Return the values of some fields -> how many memories have them.

        *fields*: ``scope``, ``type``, ``status``, ``source`` or ``day``.
        """

    def count_types(self, wanted: RowFilter) -> dict[str, int]:
        """Return the types of the memories that fit -> how many have each."""

    def count_by_folder(self, scopes: frozenset[str] | None) -> dict[str, int]:
        """Return folder -> how many notes lie in it, without what is forgotten."""

    def notes_in(
        self, folder: str, scopes: frozenset[str] | None, limit: int, offset: int = 0
    ) -> list[NoteRow]:
        """Return some notes that lie in a folder, by path, without forgotten ones.

        *folder*: empty: the notes folder itself. *limit*: after *offset* notes.
        """

    def disputes(self, scopes: frozenset[str] | None) -> list[Dispute]:
        """Return which active memories contradict which, each pair once."""

    def note_rows(self) -> list[NoteRow]:
        """Return every indexed note, forgotten ones too, in no order."""

    def pending_notes(self) -> list[NotePath]:
        """Return the notes in all inboxes, without forgotten ones, by path."""

    def not_utf8(self) -> tuple[list[NotePath], list[NotePath]]:
        """Return the notes that are not UTF-8, and those of which it is not known."""


class HitSource(Protocol):
    """Lists hits without a query, and returns their details and titles."""

    def newest_chunks(
        self, access: Access, search_filter: SearchFilter, today: int, *, limit: int
    ) -> tuple[list[ChunkLocation], int]:
        """Return where memories and entries that fit begin, and how many there are.

        The newest come first. What was superseded is left out.
        """

    def titles(self, paths: Collection[str] | None = None) -> dict[str, str]:
        """Return note -> its first heading, else the first line of its text.

        *paths*: of these notes; None: of all.

        Claims in an inbox and text of untrusted sources have none: a title is shown
        without quotes.
        """

    def hit_details(self, chunks: Sequence[int]) -> dict[int, HitDetails]:
        """Return what the memories of chunks say of themselves; of others, nothing."""

    def bodies(self, path: str) -> list[tuple[int, int, str]]:
        """Return first line, last line and body of each chunk of a note, in order."""

    def signatures(
        self, paths: Collection[str], *, only_outdated: bool
    ) -> dict[str, FileSignature]:
        """Return the signatures of those notes that are indexed.

        *only_outdated*: only of those that were indexed by other rules.
        """


WORKTREE, INDEX = "worktree", "index"
"""Where a worktree keeps a file: on the disk, and in git."""


class InjectionRecords(Protocol):
    """What worktrees were shown: the injection log and sections, or a test's own.

    A folder above the memory keeps it; a purge has to reach it all the same.
    """

    def count_quoting(
        self, paths: Collection[str], ids: Collection[str] = ()
    ) -> Mapping[str, int]:
        """Return worktree -> how many of its records name some notes, or some ids."""

    def is_within(self, worktree: str, scopes: frozenset[str]) -> bool:
        """Return whether the agents of a worktree see none but some scopes."""

    def refresh_section(self, worktree: str) -> str:
        """Rewrite a worktree's section; return why that failed, empty: it did not.

        Half-written files that a killed process left there are taken away.
        """

    def find_copies(
        self, worktree: str, texts: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return ``WORKTREE`` and ``INDEX`` -> files that hold one of some texts.

        Also those with a copy of a section that cannot be removed: it may quote a part
        of a text. What ``refresh_section`` and ``erase_copies`` remove does not count.
        """

    def count_copies(self, worktree: str) -> int:
        """Return how many copies of a section ``erase_copies`` would remove."""

    def erase_copies(self, worktree: str) -> tuple[int, Mapping[str, str]]:
        """Remove the copies of a section between our marks; return how many.

        Also returns file -> why that failed.
        """

    def git_folders(self) -> Mapping[str, Collection[str]]:
        """Return folder of git -> the worktrees that were injected into.

        Each may keep hashes of what was injected, for the check of commits, and its
        history may hold the text. Folders that are gone are left out.
        """

    def count_hashed(
        self, git_folder: str, paths: Collection[str], texts: Collection[str]
    ) -> int:
        """Return of how many memories of some notes hashes are kept, by their texts."""

    def prune_hashed(self, git_folder: str) -> str:
        """Remove the hashes of what no note says now; return why that failed."""

    def rename(
        self,
        names: Mapping[str, str],
        *,
        ids: Collection[str] = (),
        kept: Collection[str] = (),
    ) -> int:
        """Write another name for notes into the records; return how many changed.

        The *ids* go from them. Records of the *kept* worktrees stay as they are, but no
        record keeps a text.
        """
