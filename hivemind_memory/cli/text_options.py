"""Says which words of a text look like options, and how to mean either."""

from __future__ import annotations

from shlex import join

from hivemind_memory.cli.unknown_names import nearest
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_MAX_SHOWN = 100
"""Characters of a text that a hint repeats; a longer one is shown as TEXT."""


def either_way(
    command: str, before: Sequence[str], text: Sequence[str], end: Sequence[str]
) -> UsageError:
    """Return the error that the end of a text may be meant as options, with both forms.

    Args:
        command: Such as ``hm write``.
        before: The words between it and the text.
        text: The words of the text up to its end.
        end: Its last words, which are options with their values.
    """
    shown = join(text)
    if len(shown) > _MAX_SHOWN:
        shown = "TEXT"
    first = join([*command.split(), *before])
    options = join(end)
    return UsageError(
        f"`{options}` may be meant as an option or as part of the text.",
        hint=f"As an option it goes before the text: `{first} {options} {shown}`."
        f" As text: `{first} -- {shown} {options}`.",
        effect="Nothing was saved",
    )


def notes_on(text: Sequence[str], known: Collection[str]) -> list[str]:
    """Return which words of a text are also options, for they may have been meant.

    Args:
        text: Its words.
        known: The options of the command.
    """
    names = [word.partition("=")[0] for word in text[1:] if word.startswith("-")]
    found = [name for name in names if name in known]
    if found:
        shown = ", ".join(f"`{name}`" for name in dict.fromkeys(found))
        verb = "is" if len(set(found)) == 1 else "are"
        advice = "options go before the text, or after a text in quotes"
        return [f"{shown} {verb} part of the text: {advice}"]
    is_quoted = any(letter.isspace() for letter in text[0])
    near = nearest(names[0], known) if is_quoted else ""
    if near:
        return [f"`{names[0]}` is part of the text; did you mean `{near}`?"]
    return []
