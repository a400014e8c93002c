"""What became of a section, as results, JSON and the injection log name it."""

from __future__ import annotations

WRITTEN = "written"
UNCHANGED = "unchanged"
REMOVED = "removed"
NOTHING = "nothing"
"""No memory to show, and no section was there."""
OFF = "off"
"""A person turned injection off for the repository."""
PLANNED = "planned"
"""A dry run: nothing was written."""
BEGUN = "begun"
"""In the log only: a section is being written, or a process was killed meanwhile."""

WITH_SECTION = frozenset({WRITTEN, UNCHANGED})
"""After these the file has a section."""
WITHOUT_MEMORIES = frozenset({NOTHING, REMOVED})
"""After these no memory is shown, and the result says why."""
