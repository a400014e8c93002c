"""Writes a memory as a ``SKILL.md``, and says which memories can be one. Pure.

The format is the open one of agentskills.io: front matter with ``name``,
``description`` and ``metadata``, then the instructions. Agents read the description at
the start of a session, and the rest when they use the skill.
"""

from __future__ import annotations

import json
import re
import unicodedata

from hivemind_memory.errors import UsageError
from hivemind_memory.markdown.entry import own_lines
from hivemind_memory.model.display import escape_line, hidden_in, shorten
from hivemind_memory.model.trust import untrusted_source
from hivemind_memory.redaction.redact import scrub

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.state.skills import Skill

SKILL_FILE = "SKILL.md"
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1_024
MIN_STEPS = 2
MAX_BYTES = 256 * 1024
"""Of the text of a memory that is made a skill."""

_EFFECT = "Nothing was promoted"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Claude refuses these in the name of a skill.
_RESERVED = ("anthropic", "claude")
_STEP = re.compile(r" {0,3}\d{1,3}[.)][ \t]+\S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_VERSION = re.compile(r'^  hivemind-version: "(\d+)"$', re.MULTILINE)
_SHOWN_CHARS = 80
_NO_YAML = ("Cc", "Cn", "Cs")
"""Categories of characters: control, none, half of a pair."""

# Claude Code runs what is in such backticks, and in such a fence, before its model
# reads the skill.
_RUN = re.compile(r"!`")
_RUN_FENCE = re.compile(r"(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*(?:`{3,}|~{3,})\s*!")
"""However far in, in a quote, a list, or what looks like another fence: which of them
an agent takes for one is its own affair."""


class SkillRefusal:
    """Why a memory cannot be a skill."""

    __slots__ = ("hint", "why")

    def __init__(self, why: str, hint: str = "") -> None:
        self.why = why
        """What is wrong with it, after its name: ``is pending``."""
        self.hint = hint

    def as_error(self, name: str) -> UsageError:
        """Return the error for a memory of a name."""
        return UsageError(
            f"The memory {name} {self.why}.", hint=self.hint, effect=_EFFECT
        )


def why_no_skill(memory: StoredMemory) -> SkillRefusal | None:
    """Return why a memory cannot be a skill; None: it can.

    Whether it still counts today, and whether it is disputed, is looked up elsewhere.
    """
    if not memory.type or not memory.id or not memory.key:
        return SkillRefusal(
            "is no typed memory with a key and an id", "`hm save KEY` makes one."
        )
    if memory.status != "active":
        return SkillRefusal(
            f"is {memory.status}", "Only an active memory can become a skill."
        )
    if source := untrusted_source(memory.source):
        return SkillRefusal(
            f"is untrusted: its source is {source}",
            "If you vouch for it, change `source:` in its file to human.",
        )
    text = _own_text(memory)
    if len(text.encode()) > MAX_BYTES:
        return SkillRefusal(
            f"is longer than a skill can be ({MAX_BYTES:,} bytes)",
            "Keep the steps, and put the rest into a note.",
        )
    return _why_secret("\n".join((memory.key, *memory.tags))) or _why_no_steps(text)


def _why_secret(text: str) -> SkillRefusal | None:
    """Return that a text holds a secret; None: it does not."""
    if found := scrub(text).found:
        return SkillRefusal(
            f"holds what looks like a secret ({', '.join(dict.fromkeys(found))})",
            "Write where the secret is kept instead.",
        )
    return None


def _why_no_steps(text: str) -> SkillRefusal | None:
    """Return why a text is not what an agent may follow; None: it is."""
    if secret := _why_secret(text):
        return secret
    if unseen := hidden_in(text.replace("\r\n", "\n")):
        return SkillRefusal(
            f"has invisible characters, such as U+{ord(unseen[0]):04X}",
            "An agent would follow what you cannot read. Remove them.",
        )
    if line := _line_that_runs(text):
        return SkillRefusal(
            f"has a command that agents run unprompted, on line {line} of its text",
            "Without the exclamation mark before the backticks it is only shown.",
        )
    if sum(1 for _ in _steps(text)) < MIN_STEPS:
        return SkillRefusal(
            "has fewer than two numbered steps",
            "Write the steps as a numbered list, each on a line of its own: 1. …",
        )
    return None


def skill_name(given: str, key: str) -> str:
    """Return the name of a skill: the given one, else the key as a name.

    Raises:
        UsageError: It is no valid name, or none can be made of the key.

    >>> skill_name("", "Déploy: the_shop!")
    'deploy-the-shop'
    """
    name = given.strip() or _named_after(key)
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        if not given:
            shown = escape_line(shorten(key, _SHOWN_CHARS))
            raise UsageError(
                f'No name for the skill can be made of the key "{shown}".',
                hint="Give one with --name.",
                effect=_EFFECT,
            )
        raise UsageError(
            f"The name of a skill has 1 to {MAX_NAME_CHARS} characters: a to z, digits,"
            " and single dashes between them.",
            effect=_EFFECT,
        )
    if word := next((word for word in _RESERVED if word in name), ""):
        raise UsageError(
            f'The name of a skill must not contain "{word}": agents refuse it.',
            hint="Give another one with --name.",
            effect=_EFFECT,
        )
    return name


def check_description(text: str) -> str:
    """Return the description that a person gives as one line.

    Raises:
        UsageError: It is too long, or has characters that agents refuse.
    """
    line = _one_line(text)
    if len(line) > MAX_DESCRIPTION_CHARS:
        raise UsageError(
            f"The description has {len(line):,} characters; the limit is"
            f" {MAX_DESCRIPTION_CHARS:,}.",
            effect=_EFFECT,
        )
    if "<" in line or ">" in line:
        raise UsageError(
            "The description must not contain < or >: agents refuse it.",
            effect=_EFFECT,
        )
    if found := scrub(line).found:
        raise UsageError(
            "The description holds what looks like a secret"
            f" ({', '.join(dict.fromkeys(found))}).",
            effect=_EFFECT,
        )
    return line


def skill_text(skill: Skill, memory: StoredMemory, *, name: str) -> str:
    """Return the ``SKILL.md`` of a memory.

    Args:
        skill: What is known of the skill: its version, and a person's description.
        memory: The memory; it can be a skill.
        name: That of the folder; the format asks for the same in the file.
    """
    description = skill.description or _description_of(memory)
    head = (
        "---",
        f"name: {name}",
        # Every JSON text is one of YAML, on one line.
        f"description: {json.dumps(description, ensure_ascii=False)}",
        "metadata:",
        f"  hivemind-memory: {json.dumps(memory.id)}",
        f'  hivemind-version: "{skill.version}"',
        "---",
    )
    return "\n".join((*head, "", _own_text(memory).strip("\n"), ""))


def is_same_skill(one: str, other: str) -> bool:
    """Return whether two texts of a skill say the same, ids and versions aside."""
    return _without_metadata(one) == _without_metadata(other)


def version_in(text: str) -> int:
    r"""Return the version that our text of a skill names; 0: none.

    >>> version_in('---\nmetadata:\n  hivemind-version: "3"\n---\n')
    3
    """
    found = _VERSION.search(text)
    return int(found[1]) if found else 0


def _own_text(memory: StoredMemory) -> str:
    """Return its text without the entries below it: each has a source of its own."""
    return "\n".join(own_lines(memory.text.split("\n")))


def _without_metadata(text: str) -> list[str]:
    """Return the lines of our text without those that no agent follows."""
    lines = text.split("\n")
    end = lines.index("---", 1) if "---" in lines[1:] else 0
    return [
        line
        for number, line in enumerate(lines)
        if number > end or not line.startswith("  hivemind-")
    ]


def _named_after(key: str) -> str:
    """Return a key as a name; empty if nothing is left of it."""
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    words = re.findall("[a-z0-9]+", plain.lower())
    return "-".join(words)[:MAX_NAME_CHARS].rstrip("-")


def _description_of(memory: StoredMemory) -> str:
    """Return what a skill does and when to use it, as far as its memory says so.

    That is the text before its first step; without one, its key. Tags say more.
    """
    text = _own_text(memory)
    first = next(_steps(text), (0, ""))[0]
    above = text.split("\n")[: max(first - 1, 0)]
    said = _plain(" ".join(line.lstrip("#> ") for line in above)).rstrip(":")
    said = said or f"The steps of {_plain(memory.key.replace('-', ' '))}"
    said = said if said.endswith((".", "!", "?")) else f"{said}."
    tags = [tag for tag in map(_plain, memory.tags) if tag]
    uses = f" Use it for: {', '.join(tags)}." if tags else ""
    room = MAX_DESCRIPTION_CHARS - len(uses)
    if room < len(said) // 2:
        return shorten(said, MAX_DESCRIPTION_CHARS)
    return shorten(said, room) + uses


def _plain(text: str) -> str:
    """Return a text as one line without the brackets that agents refuse."""
    return _one_line(text.replace("<", "").replace(">", ""))


def _one_line(text: str) -> str:
    """Return a text as one line without characters that YAML does not know."""
    line = " ".join(text.split())
    return "".join(c for c in line if unicodedata.category(c) not in _NO_YAML)


def _steps(text: str) -> Iterator[tuple[int, str]]:
    """Yield number, from 1, and text of the lines that begin a numbered step."""
    for number, line, is_code in _lines(text):
        if not is_code and _STEP.match(line):
            yield number, line


def _line_that_runs(text: str) -> int:
    """Return the first line with a command that an agent runs unasked; 0: none."""
    for number, line in enumerate(text.split("\n"), start=1):
        if _RUN.search(line) or _RUN_FENCE.match(line):
            return number
    return 0


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield number, line and whether it is in a code fence, or its edge."""
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            yield number, line, True
        elif found and _closes(found, fence):
            fence = ""
            yield number, line, True
        else:
            yield number, line, bool(fence)


def _closes(found: re.Match[str], fence: str) -> bool:
    """Return whether the line of a fence ends the one that is open."""
    return found[1].startswith(fence) and not found[2].strip()
