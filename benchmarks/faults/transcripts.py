"""Faults that the rig of transcripts must notice."""

from __future__ import annotations

from benchmarks.faults.fault import Fault

FAULTS = (
    Fault(
        name="a transcript is read from its beginning each time",
        rig="transcripts --mb 12 --questions 5",
        module="transcripts/line_file.py",
        code="place_to_go_on = lambda _file, _known, inode: ReadPlace(inode=inode)\n",
        says=r"FAILED an appended megabyte",
    ),
    Fault(
        name="secrets of transcripts are kept",
        rig="transcripts --mb 12 --questions 5",
        module="transcripts/kept_text.py",
        code="assert mask\nmask = lambda text: text\n",
        says=r"FAILED [1-9]\d* of \d+ secrets",
    ),
    Fault(
        name="a whole transcript is held in memory",
        rig="transcripts --mb 40 --questions 5",
        module="transcripts/line_file.py",
        code=(
            "_lines, _held = lines_after, []\n"
            "def lines_after(file, start):\n"
            "    for line in _lines(file, start):\n"
            "        _held.extend(bytes(bytearray(line.data)) for _ in range(4))\n"
            "        yield line\n"
        ),
        says=r"FAILED peak of memory",
    ),
)
