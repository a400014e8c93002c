"""Patterns that are compiled when they are first used.

A note with one word that may stand beside a secret asks a dozen of some two hundred
patterns. Compiling all of them takes a cold process 50 ms, longer than most commands.
What one process compiles, the next reads (``patterns.pattern_file``).
"""

from __future__ import annotations

from hivemind_memory.patterns.pattern_file import PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

_METHODS = (
    *("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"),
    *("pattern", "flags", "groups", "groupindex"),
)


class LazyPattern:
    """What ``re.compile`` returns, compiled when it is first asked for something."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """Compile, and put the methods in place: this is not called for them again."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = self.compiled()
        # Two threads may do so at once: they find the same pattern.
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)

    def compiled(self) -> re.Pattern[Any]:
        """Return the pattern itself.

        Raises:
            re.error: It is none.
        """
        return PROGRAM.compile(self._source, self._flags)


def lazy_re(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first used.

    Args:
        source: Of the program: it is kept in a file.
        flags: Those of ``re``.

    >>> digits = lazy_re(r"[0-9]+")
    >>> digits.findall("a1b22"), digits.pattern
    (['1', '22'], '[0-9]+')
    """
    return LazyPattern(source, flags)  # type: ignore[return-value]
