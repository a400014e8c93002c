"""Commands that people know from other programs, and what to type here instead.

None of them is an alias: a guess never runs, least of all one that deletes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SEARCH = "hm search QUERY"
_WRITE = "hm write TEXT"
_SAVE = "hm save KEY TEXT"
_GET = "hm get NOTE"
_LIST = "hm list"
_FORGET = "hm forget KEY"
_EDIT = "hm edit NOTE"
_SYNC = "hm sync"
_SERVE = "hm serve"
_RENAME = "hm project rename NAME NEW"
_ANSWERS: Mapping[str, tuple[str, ...]] = {
    _SEARCH: (
        *("rg", "recall", "query", "ask", "lookup", "locate", "match"),
        *("retrieve", "fetch", "fzf", "where", "similar", "q", "s"),
    ),
    _WRITE: (
        *("note", "remember", "append", "log-add", "jot", "record", "insert", "memo"),
        *("put", "memorize", "memorise", "add-note", "store", "w"),
    ),
    _SAVE: ("set", "update", "upsert", "replace", "create", "pin", "fact"),
    _GET: ("read", "print", "view", "less", "head", "tail", "dump"),
    _LIST: ("ll", "dir", "notes", "memories", "types", "keys", "all", "tree"),
    _FORGET: (
        *("delete", "remove", "del", "erase", "drop", "unset", "discard", "hide"),
        *("clear", "prune", "clean", "gc", "trash"),
    ),
    "hm forget KEY --purge": ("purge", "wipe", "shred", "redact"),
    _EDIT: ("open", "new", "vim", "vi", "nano", "code", "editor", "touch"),
    _SYNC: (
        *("sync-now", "index", "refresh", "scan", "update-index", "embed", "ingest"),
        *("load", "import-notes", "reload"),
    ),
    "hm rebuild": ("reindex", "re-index", "rebuild-index", "repair", "fix", "migrate"),
    _SERVE: ("server", "start", "run", "up", "daemon", "http", "api"),
    "hm mcp": ("stdio", "mcp-server", "serve-mcp"),
    "hm connect": ("install", "register", "setup", "enable", "link-agent", "plugin"),
    "hm disconnect": ("uninstall", "unregister", "disable", "remove-agent"),
    "hm backup FILE": ("export", "dump-all", "archive", "snapshot"),
    "hm restore-backup FILE": ("restore-from", "unarchive"),
    "hm list --tag WORD": ("tag", "label"),
    "hm config set openai_api_key -": ("login", "auth", "key", "apikey"),
    "hm config": ("settings", "options", "preferences", "config-edit", "configure"),
    "hm show KEY": ("info", "describe", "details", "inspect", "display", "stat"),
    "hm history KEY": ("versions", "blame", "diff", "changelog"),
    "hm restore KEY": ("undelete", "unforget"),
    "hm undo": ("revert", "rollback", "back"),
    "hm done KEY": ("finish", "complete", "resolve", "tick", "completed", "closed"),
    "hm done --reopen KEY": ("reopen", "undone", "uncheck", "untick"),
    "hm list --type todo,goal": ("todo", "todos", "task", "tasks", "goals"),
    "hm log": ("recent", "latest", "timeline", "journal", "today", "last"),
    "hm doctor": ("check", "verify", "validate", "health", "diagnose", "fsck"),
    "hm status": ("stats", "count", "ps", "about", "whoami", "state"),
    "hm inbox": ("pending", "review", "approve", "accept", "reject"),
    "hm sessions": ("agents", "tmux"),
    "hm launch AGENT": ("claude", "codex", "gemini", "agent", "spawn"),
    "hm kill SESSION": ("stop", "end", "terminate"),
    _RENAME: ("rename", "mv", "move", "rename-project"),
    "hm project": ("projects", "repo", "workspace", "scope", "scopes"),
    "hm link A B": ("relate", "ln", "connect-notes", "merge"),
    "hm vault": ("secret", "secrets", "password", "passwords", "env"),
    "hm version": ("v", "ver"),
    "hm help": ("man", "usage", "?", "commands"),
}
"""What to type here -> what people type instead."""

POINTERS = {word: answer for answer, words in _ANSWERS.items() for word in words}
"""What people type -> what to type here."""

_SENTENCES = {
    "import": "Put .md files into the notes folder, then run `hm sync`.",
    "cp": "Notes are plain files: copy them in the folder that `hm status` names.",
    "git": "Notes are plain files: use git in the folder that `hm status` names.",
}
_SENTENCES |= dict.fromkeys(
    ("upgrade", "self-update"),
    "Upgrade hm with the program that installed it: pipx, uv or pip.",
)
_SENTENCES |= dict.fromkeys(("commit", "push", "pull", "clone"), _SENTENCES["git"])
_SENTENCES |= {"copy": _SENTENCES["cp"], "chat": "Agents use the memory: `hm connect`."}
"""What people type -> what to do, where no one command does it."""


_SECONDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "config": {
        "path": ("edit", "file", "open", "where"),
        "set NAME VALUE": ("add", "change", "put", "update"),
        "get NAME": ("show", "read", "print"),
    },
    "skill": {
        "promote KEY": ("add", "create", "new", "make", "install"),
        "demote NAME": ("remove", "delete", "del", "rm", "uninstall"),
        "sync": ("update", "refresh", "upgrade", "diff", "status"),
        "show NAME": ("get", "cat", "read", "info"),
    },
    "token": {
        "add NAME": ("create", "new", "make", "generate", "issue"),
        "revoke NAME": ("delete", "remove", "del"),
    },
    "kv": {
        "set KEY VALUE": ("put", "add", "write", "save", "update", "incr"),
        "get KEY": ("show", "read", "cat"),
        "delete KEY": ("remove", "del", "unset", "forget"),
    },
    "vault": {
        "set KEY": ("put", "add", "write", "save", "store"),
        "get KEY": ("show", "read", "cat"),
        "delete KEY": ("remove", "del", "unset", "forget"),
        "exec KEY -- COMMAND": ("run", "env"),
    },
}
"""Group -> what to type after it -> what people type there instead."""


def second_pointer(group: str, words: str) -> str:
    """Return what a person who typed ``hm GROUP WORDS`` probably wants, or nothing.

    >>> second_pointer("token", "create")
    'Did you mean `hm token add NAME`?'
    >>> second_pointer("context", "round the sum")
    "Did you mean `hm context build --task 'round the sum'`?"
    """
    from shlex import quote

    for command, known in _SECONDS.get(group, {}).items():
        if words in known:
            return f"Did you mean `hm {group} {command}`?"
    if group == "context":
        task = words if " " in words else "TEXT"
        return f"Did you mean `hm context build --task {quote(task)}`?"
    return "Did you mean `hm activity search QUERY`?" if group == "activity" else ""


_SESSIONS = {
    "hm sessions": ("list", "ls", "show", "status"),
    "hm attach": ("attach", "open", "join", "a", "enter", "switch"),
    "hm kill": ("kill", "stop", "rm", "delete", "remove", "end", "terminate"),
    "hm launch": ("launch", "start", "new", "run", "add"),
}
"""What to type here -> what people type after ``hm sessions``, as in tmux."""


_AFTER_MCP = {
    **dict.fromkeys(("add", "install", "register", "setup", "login"), "hm connect"),
    **dict.fromkeys(("remove", "rm", "uninstall", "delete"), "hm disconnect"),
    **dict.fromkeys(("list", "ls", "status", "get"), "hm connect --dry-run"),
}
"""What people type after ``hm mcp``, as with an agent's own command."""


def stray_pointer(command: str, words: Sequence[str]) -> str:
    """Return what was probably wanted by words after a command that takes none.

    >>> stray_pointer("sessions", ["stop", "shop-claude"])
    'Did you mean `hm kill shop-claude`?'
    >>> stray_pointer("mcp", ["add"])
    'Did you mean `hm connect`?'
    """
    if command == "sessions":
        return _session_pointer(words)
    answer = _AFTER_MCP.get(words[0].lower()) if command == "mcp" else ""
    return f"Did you mean `{answer}`?" if answer else ""


def _session_pointer(words: Sequence[str]) -> str:
    """Return what a person who typed ``hm sessions WORDS`` probably wants."""
    import shlex

    for answer, known in _SESSIONS.items():
        if words[0].lower() in known:
            rest = (
                f" {shlex.join(words[1:])}"
                if words[1:] and answer != "hm sessions"
                else ""
            )
            return f"Did you mean `{answer}{rest}`?"
    return f"`hm attach {shlex.join(words[:1])}` shows a session, `hm kill` ends it."


def pointer(word: str) -> str:
    """Return what a person who typed *word* probably wants, or nothing.

    >>> pointer("rg")
    'Did you mean `hm search QUERY`?'
    """
    folded = word.lower()
    if folded in POINTERS:
        return f"Did you mean `{POINTERS[folded]}`?"
    return _SENTENCES.get(folded, "")
