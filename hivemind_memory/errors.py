"""Every error of the package: what happened, and what to do next.

HivemindError
├── UsageError            the request itself is wrong (a path, a setting, a number)
│   ├── NotePathError     the name is not a plain relative Markdown name
│   ├── ScopeError        it names no scope, or none of the caller's
│   ├── UnknownTypeError  it names no type of memory
│   ├── PersonOnlyError   a person decides it, and someone else asks
│   └── ConfigError       config.json or the environment holds an invalid value
├── NotesMissingError     there is no notes folder
├── NoteNotFoundError     there is no note of that name
├── LineNotFoundError     the note ends before the line that was asked for
├── NoteUnreadableError   a note exists, and its bytes cannot be read now
│   ├── NoteForbiddenError  this user may not read it
│   └── NoteTooLargeError it is larger than max_note_mb, and is never read
├── MemoryNotFoundError   there is no memory of that key or id
├── NotSavedError         nothing was saved; the notes are as they were
│   ├── NotWritableError  the caller may not write there
│   ├── VersionChangedError  another version is active than the one to be replaced
│   │   └── ProposalOutdatedError  a memory was edited since a link was proposed
│   ├── KeyTakenError     an active memory has that key, and no reason was given
│   ├── VersionMismatchError  a key has another version than was expected
│   ├── TooManyKeysError  a scope has as many keys with values as it may have
│   └── VaultLockedError  the values of the vault cannot be read now
├── KeyNotFoundError      there is no such key in the key-value store or the vault
├── GitError              git failed, or cannot be used there
│   └── ProjectUnknownError   it is not certain which project a repository belongs to
├── NotInjectedError      nothing was injected; the worktree is as it was
├── NotLaunchedError      no agent was started
│   └── ProgramMissingError   there is no such program
├── HookNotChangedError   no hook was changed; git runs what it ran before
├── NotConnectedError     that file of an agent's settings is as it was
├── SkillNotWrittenError  that file of a skill is as it was
├── IndexUnusableError    the index cannot be used; the notes are untouched
│   ├── IndexBusyError    another process held the index for longer than we waited
│   ├── IndexDamagedError SQLite says that the file is not a sound database
│   └── IndexTooNewError  a newer version of this program made the index
├── StateUnusableError    state.db cannot be used; what was asked of it was not done
│   └── StateTooNewError  a newer version of this program made it
├── EmbeddingError        no vector came back; text search goes on without
│   ├── EmbeddingNotReadyError  a local model is not loaded, and is not at fault
│   ├── EmbeddingRefusedError   the provider said no: retrying is useless
│   └── EmbeddingInvalidError   what came back is not a usable vector
│       └── EmbeddingTooLongError   a text is longer than the model takes
├── RerankError           nothing was reranked; the hits keep their order
│   └── RerankNotReadyError     no process has loaded the reranker
└── ChatError             the language model gave no usable reply; nothing was changed
    ├── ChatNotReadyError       it was not asked, and is not at fault
    ├── ChatRefusedError        it said no (key, model, address): retrying is useless
    │   └── ChatFormError       it does not take the form of reply that was asked for
    └── ChatReplyError          what it replied is not what was asked for
"""

from __future__ import annotations

import errno
import os

TOO_MANY_FILES = "Too many files are open."
"""Of this process, or of all together."""

_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether something failed because no more files can be opened.

    A module that is imported late is a file as well. What its import raises then names
    the module, or the library behind it, and looks like a bug.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
            return True
        if isinstance(error, ImportError):
            said = str(error)
            if any(os.strerror(number) in said for number in _OUT_OF_FILES):
                return True
        error = error.__cause__ or error.__context__
    return False


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether something failed because a disk, or a quota of it, is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__
    return False


class HivemindError(Exception):
    """Base of all errors that a caller may want to catch.

    ``str(error)`` says what happened and what that left; ``hint`` says what to do next.
    """

    def __init__(self, message: str, *, hint: str = "", effect: str = "") -> None:
        """Make the error.

        Args:
            message: What happened, as a sentence.
            hint: The next thing to try.
            effect: See the attribute; the text of the error ends with it.
        """
        super().__init__(f"{sentence(message)} {effect}." if effect else message)
        self.problem = message
        """What happened, without the effect."""
        self.hint = hint
        self.effect = effect
        """What the call changed or did not change, such as ``Nothing was saved``. The
        text or the hint already says it, so it is not repeated. Empty: nothing was
        changed, and neither says so."""


def sentence(clause: str) -> str:
    """Return a clause as a sentence of its own; a name at its start stays as it is."""
    first = clause.partition(" ")[0]
    if (
        first.isalpha()
        and first.islower()
        and first not in ("pid", "hm", "git", "tmux")
    ):
        clause = clause[0].upper() + clause[1:]
    return clause if clause.endswith((".", "?", "!")) else f"{clause}."


class UsageError(HivemindError):
    """The request itself is wrong; nothing was read or written."""


class NotePathError(UsageError):
    """The name is not a plain relative name of a Markdown file inside the folder."""


class ScopeError(UsageError):
    """It is no scope, or none that the caller has; nothing was read or written."""


class UnknownScopeError(ScopeError):
    """It is no scope, whoever names it."""


class UnknownTypeError(UsageError):
    """It names no type of memory; nothing was saved."""


class PersonOnlyError(UsageError):
    """Only a person may decide it; its hint is for an agent's shell."""


class ConfigError(UsageError):
    """A setting has a value that cannot be used."""


class NotesMissingError(HivemindError):
    """There is no notes folder yet, or it is not there now."""


class NoteNotFoundError(HivemindError):
    """There is no note of that name; ``similar`` is the path of one like it."""

    def __init__(
        self, message: str, *, hint: str = "", effect: str = "", similar: str = ""
    ) -> None:
        super().__init__(message, hint=hint, effect=effect)
        self.similar = similar


class LineNotFoundError(HivemindError):
    """The note ends before the line that was asked for."""


class NoteUnreadableError(HivemindError):
    """The note is there, but the system does not give its bytes now."""


class NoteForbiddenError(NoteUnreadableError):
    """The note is there, and this user may not read it, which its owner may mean."""


class NoteTooLargeError(NoteUnreadableError):
    """The note is larger than ``max_note_mb``: it was not read, and never will be."""


class NotSavedError(HivemindError):
    """Nothing was saved: the notes are as they were before the call."""


class NotWritableError(NotSavedError):
    """The caller may not write there; nothing was saved."""


class VersionChangedError(NotSavedError):
    """Another version is active than the one to be replaced; nothing was saved."""


class ProposalOutdatedError(VersionChangedError):
    """A memory was edited since its link was proposed; nothing was linked."""


class JobLostError(HivemindError):
    """Another process has the job of the language model; nothing was asked."""


class CapturedMeanwhileError(NotSavedError):
    """Another process captured the session while the model was asked."""


class MemoryNotFoundError(HivemindError):
    """There is no memory of that key or id for this caller."""


class ForgottenError(MemoryNotFoundError):
    """The memory or entry of that key or id is forgotten."""


class KeyTakenError(NotSavedError):
    """An active memory has that key; ``current`` is its place and text."""

    def __init__(self, message: str, *, hint: str = "", current: object = None) -> None:
        super().__init__(message, hint=hint)
        # Not passed on: agents know the message word for word, and the hint says it.
        self.effect = "Nothing was saved"
        self.current = current
        """The memory that is active, a ``StoredMemory``; None: unknown."""


class VersionMismatchError(NotSavedError):
    """A key has another version than the one that a write expected."""

    def __init__(self, *, expected: int, current: int) -> None:
        super().__init__(
            f"The key has version {current}; version {expected} was expected."
            if expected
            else f"The key already exists, in version {current}.",
            hint="Read it again, and decide with its current value.",
            effect="Nothing was saved",
        )
        self.expected = expected
        self.current = current
        """The version that it has."""


class TooManyKeysError(NotSavedError):
    """A scope has as many keys with values as it may have."""


class KeyNotFoundError(HivemindError):
    """There is no key of that name, or it has expired."""


class VaultLockedError(NotSavedError):
    """The vault is encrypted, and its key cannot be had now; nothing was changed."""


class GitError(HivemindError):
    """Git failed, or a repository cannot be used; nothing was changed."""


class ProjectUnknownError(GitError):
    """It is unknown which project a repository belongs to; nothing was changed."""


class NotInjectedError(HivemindError):
    """Nothing was injected: the files of the worktree are as they were."""


class NotLaunchedError(HivemindError):
    """No agent was started; one that ran before goes on."""


class ProgramMissingError(NotLaunchedError):
    """There is no such program; no agent was started."""


class HookNotChangedError(HivemindError):
    """No hook was changed: git runs what it ran before."""


class NotConnectedError(HivemindError):
    """A file of an agent's settings cannot be used; it is as it was."""


class SkillNotWrittenError(HivemindError):
    """A ``SKILL.md`` could not be written or removed; it is as it was."""


class IndexUnusableError(HivemindError):
    """The index cannot be used now; no note was touched."""


class IndexBusyError(IndexUnusableError):
    """Another process held the index for longer than we waited."""


class IndexDamagedError(IndexUnusableError):
    """SQLite says that the index file is not a sound database."""


class IndexTooNewError(IndexUnusableError):
    """A newer version of this program made the index."""


class StateUnusableError(HivemindError):
    """``state.db`` cannot be used now; nothing was looked up in it or written to it."""


class StateTooNewError(StateUnusableError):
    """A newer version of this program made ``state.db``."""


class EmbeddingError(HivemindError):
    """No vector came back; text search goes on without.

    ``retry_after_s`` is how many seconds the provider asks us to wait; None: it did
    not say.
    """

    is_failure = True
    """Whether the provider is to blame, so that it is asked less."""

    def __init__(
        self, message: str, *, hint: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class EmbeddingNotReadyError(EmbeddingError):
    """A local model is not loaded and would take too long to load; it is not broken."""

    is_failure = False


class EmbeddingRefusedError(EmbeddingError):
    """The provider said no (key, model, quota): asking again changes nothing."""


class EmbeddingInvalidError(EmbeddingError):
    """What came back is not a usable vector; it was not stored."""


class EmbeddingTooLongError(EmbeddingInvalidError):
    """A text is longer than the model takes; a shorter one may pass."""


class RerankError(HivemindError):
    """The reranker gave no usable answer in time; the hits keep their order."""

    is_failure = True
    """Whether the reranker is to blame, so that it is asked less."""


class RerankNotReadyError(RerankError):
    """No process has loaded the local reranker, or there is none; it is not broken."""

    is_failure = False


class ChatError(HivemindError):
    """The language model gave no usable reply; nothing was changed.

    ``retry_after_s`` is how many seconds to wait before it is asked again; None: that
    is not known.
    """

    def __init__(
        self, message: str, *, hint: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ChatNotReadyError(ChatError):
    """It was not asked: none is chosen, it rests, or the requests of a day are used."""


class ChatRefusedError(ChatError):
    """It said no (key, model, quota, address): asking again changes nothing."""


class ChatFormError(ChatRefusedError):
    """It does not take the form of reply that was asked for; a simpler one may do."""


class ChatReplyError(ChatError):
    """It replied with something else than was asked for, or declined."""
