"""A proposal to consolidate memories as a file that a person reads, and its parts.

Each part is a diff below a comment that names the memories it replaces. What counts is
the comment and the lines that begin with ``+``; a person may edit those. Pure.
"""

from __future__ import annotations

import json
import re

from hivemind_memory.jobs.consolidation import Merge, text_of
from hivemind_memory.model.display import escape_line, escape_text
from hivemind_memory.model.scope import scope_text
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.model.curation import StoredMemory

_PART = re.compile(
    r"^<!-- hm consolidate (\{[^\n]*\}) -->$\n+```diff\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_HEAD = """\
# Consolidation of memories

Each part replaces the memories on its `-` lines by the one on its `+` lines, which you
may edit. `hm consolidate --apply FILE` applies all parts, and `--only 1,3` some of
them. What has changed since is refused.
"""


def render_merges(merges: Iterable[Merge], memories: Mapping[str, StoredMemory]) -> str:
    """Return the file of some merges.

    Args:
        merges: In order.
        memories: Id of each memory that they replace -> the memory.
    """
    parts = [_HEAD]
    for number, merge in enumerate(merges, start=1):
        named = {
            "scope": scope_text(merge.scope),
            "type": merge.type,
            "key": merge.key,
            "from": dict(merge.sources),
        }
        # No text can end the comment.
        comment = json.dumps(named).replace(">", "\\u003e")
        lines = []
        for ref, _ in merge.sources:
            # A character that is not seen could hide a line, or begin another one.
            lines += [escape_line(f"@@ {mask(memories[ref].key)} {ref} @@")]
            text = escape_text(text_of(memories[ref]))
            lines += [f"- {line}" for line in text.split("\n")]
        lines += [f"+ {line}".rstrip() for line in merge.content.split("\n")]
        what = f"{len(merge.sources)} memories become `{escape_line(merge.key)}`"
        where = f"{merge.type}, {scope_text(merge.scope)}"
        body = "\n".join(lines)
        parts.append(
            f"## {number}. {what} ({where})\n\n"
            f"<!-- hm consolidate {comment} -->\n\n```diff\n{body}\n```\n"
        )
    return "\n".join(parts)


def parse_merges(text: str) -> list[Merge]:
    """Return the merges of a file; the scopes as they are shown.

    Raises:
        ValueError: A part cannot be read; the message is the end of a sentence.
    """
    merges = []
    for number, match in enumerate(_PART.finditer(text), start=1):
        try:
            named = json.loads(match[1])
            sources = tuple((str(r), str(h)) for r, h in named["from"].items())
            scope, kind, key = (str(named[name]) for name in ("scope", "type", "key"))
        except (ValueError, LookupError, AttributeError, TypeError):
            message = f"part {number} is damaged"
            raise ValueError(message) from None
        added = [line[2:] for line in match[2].split("\n") if line.startswith("+")]
        content = "\n".join(added).strip()
        if not content or len(sources) < 2:
            message = f"part {number} has no text, or replaces fewer than two memories"
            raise ValueError(message)
        merges.append(
            Merge(scope=scope, type=kind, key=key, content=content, sources=sources)
        )
    return merges
