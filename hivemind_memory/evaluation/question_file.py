"""Reads the file of golden questions: a note, or any other text file."""

from __future__ import annotations

import os

from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import hint_for_given, reason_of
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory

DEFAULT_NAME = "golden.md"
"""In the home folder, beside the notes folder: no search finds it there."""

EXAMPLE = "- which port does staging use → setup/network.md:12"


@value
class QuestionFile:
    """The text of a file of questions, and which note it is."""

    name: str
    """As errors and reports call it."""

    text: str
    note: str = ""
    """Its path as a note; empty: it is none."""


def read_question_file(memory: Memory, name: str | None) -> QuestionFile:
    """Return a file of questions: a path, or the name of a note.

    Args:
        memory: Whose questions they are.
        name: What was typed; None: ``golden.md`` in the home folder.

    Raises:
        HivemindError: It cannot be read.
    """
    path = os.path.expanduser(name or os.path.join(memory.places.home, DEFAULT_NAME))
    below = os.path.relpath(os.path.realpath(path), memory.places.notes)
    is_file = os.path.isfile(path)
    if is_file and below.partition(os.sep)[0] == os.pardir:
        try:
            with open(path, "rb", opener=open_regular) as file:
                return QuestionFile(name=name or path, text=decode(file.read()))
        except OSError as error:
            message = f"{name or path} was not read: {reason_of(error)}."
            raise UsageError(message, hint=hint_for_given(error)) from None
    if name is None:
        hint = "`hm eval suggest` drafts one; `hm help eval run` explains it."
        message = f"There is no file {path} with golden questions."
        raise UsageError(message, hint=hint)
    note = below.replace(os.sep, "/") if is_file else name
    try:
        return QuestionFile(name=note, text=memory.read(note).text, note=note)
    except HivemindError as error:
        hint = f"A file of questions has list items: {EXAMPLE}"
        raise UsageError(error.problem, hint=hint) from None
