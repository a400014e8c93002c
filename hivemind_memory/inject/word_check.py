r"""Recognizes the text of a memory in what git is about to keep, in any form.

The hooks compare letters alone: tags, entities, escapes, quoting, numbers, case,
punctuation and line breaks are dropped from both sides, so a wrapped, quoted or
highlighted copy is the same text. A memory is known by all its runs of ``RUN`` letters.
Of a new text every fourth run is looked up, so that one pass costs a fraction of a
second for a megabyte, and ``RUN + STEP - 1`` letters in common are never missed.
Several runs of one memory in one file are a copy; one is a phrase.

What the repository had already when a memory was first injected is not counted: a
memory may be taken from the repository's own files.

Text for any POSIX shell and awk, as in ``commit_check``; Python asks the same awk for
the letters of a memory, so there is one rule.
"""

from __future__ import annotations

RUN = 24
"""Letters of a run, about five words."""

STEP = 4
"""Letters between two runs that are looked up."""

MIN_RUNS = 5
"""Runs in common that make a copy: ``RUN + (MIN_RUNS - 1) * STEP`` letters, 8 words."""

WORDS_FILE = "info/hivemind-words"
"""In the git folder: a line for each memory, its commit and its letters."""

# Bytes from 128 on are letters, apart from the invisible and the typographic ones.
# A first word that a line shares with the one above is a prefix: REM, a file name.
LETTERS = r"""
    function code_point(hex,    value, at) {
        value = 0
        for (at = 1; at <= length(hex); at++)
            value = value * 16 + index("0123456789abcdef", substr(hex, at, 1)) - 1
        return value
    }
    function ascii(value) {
        return value > 32 && value < 127 ? sprintf("%c", value) : ""
    }
    function plain(text, pattern, skip, keep, base,    found, digits, left) {
        left = ""
        while (match(text, pattern)) {
            digits = substr(text, RSTART + skip, RLENGTH - skip - keep)
            found = base == 16 ? code_point(digits) : digits + 0
            left = left substr(text, 1, RSTART - 1) ascii(found)
            text = substr(text, RSTART + RLENGTH)
        }
        return left text
    }
    function wide(text,    left, found) {
        left = ""
        while (match(text, /\357[\274\275][\200-\277]/)) {
            found = index(high, substr(text, RSTART + 2, 1)) + 31
            if (substr(text, RSTART + 1, 1) == "\275") found += 64
            left = left substr(text, 1, RSTART - 1) tolower(ascii(found))
            text = substr(text, RSTART + RLENGTH)
        }
        return left text
    }
    function letters(text, with_tags,    word) {
        if (text ~ /%[0-9A-F][0-9A-F]/) gsub(/%[0-9A-F][0-9A-F]/, "", text)
        if (text ~ /=[0-9A-F][0-9A-F]/) gsub(/=[0-9A-F][0-9A-F]/, "", text)
        text = tolower(text)
        if (!with_tags && text ~ /</) gsub(/<[^<>]*>/, "", text)
        if (text ~ /\\/) {
            if (text ~ /\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f]/)
                text = plain(text, "\\\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f]", 2, 0, 16)
            gsub(/\\[a-z]+[{]|\\[nrt]/, "", text)
        }
        if (text ~ /&/) {
            text = plain(text, "&#[0-9]+;", 2, 1, 10)
            text = plain(text, "&#x[0-9a-f]+;", 3, 1, 16)
            gsub(/&[a-z]+;/, "", text)
        }
        if (text ~ /\033/) gsub(/\033[[][0-9;]*[a-z]/, "", text)
        if (text ~ /[\200-\377]/) {
            gsub(/\342\200[\200-\277]|\302[\200-\277]|\357\273\277/, "", text)
            if (text ~ /\357[\274\275]/) text = wide(text)
        }
        gsub(/[\001-\140\173-\177]+/, "", text)
        return text
    }
    BEGIN {
        for (at = 128; at < 192; at++) high = high sprintf("%c", at)
    }
"""
"""Functions of awk; ``letters`` returns what is compared."""

END_OF_TEXT = "\1"
"""A line that separates two texts for ``TO_LETTERS``."""

TO_LETTERS = (
    LETTERS
    + r"""
    $0 == "\001" { print ""; next }
    { printf "%s", letters($0, 0) }
"""
)
"""A program of awk that prints the letters of each text on one line."""

# The input is what a diff adds, or an object or a message that is indented by four.
# Prints memory, offset in it, place; each once.
_SCAN = (
    LETTERS
    + r"""
    function look(text, stream,    at, run, whole) {
        rest[stream] = rest[stream] text
        whole = length(rest[stream]) - RUN + 1
        for (at = 1; at <= whole; at += STEP) {
            run = substr(rest[stream], at, RUN)
            if (run in known && !((known[run], place) in told)) {
                told[known[run], place]
                print known[run], place
            }
        }
        if (at > 1) rest[stream] = substr(rest[stream], at)
    }
    function begin(name) {
        place = name; rest[0] = rest[1] = ""; above = ""; is_tagged = 0
        sub(/^.*\//, "", name)
        look(letters(name, 0), 0)
        rest[0] = ""
    }
    NR == FNR {
        text = $2
        for (at = 1; at <= length(text) - RUN + 1; at++)
            known[substr(text, at, RUN)] = FNR " " at
        next
    }
    /^commit [0-9a-f]+$/ { columns = -1; begin("the message of " $2); next }
    /^object [^ ]+$/ { columns = -1; begin("the object " $2); next }
    /^diff --(git|cc|combined) / {  # all that an empty file has
        columns = 0
        sub(/^.* (b\/)?/, "")
        begin($0)
        next
    }
    columns == 0 && /^[+][+][+] / { begin(substr($0, 7)); next }
    columns >= 0 && /^@@+ / { columns = index($0, " ") - 2; next }
    columns == 0 { next }
    columns > 0 && substr($0, 1, columns) !~ /^[+]+$/ { next }
    {
        text = substr($0, (columns < 0 ? 4 : columns) + 1)
        first = text
        sub(/^[ \t]+/, "", first)
        sub(/[ \t].*/, "", first)
        gsub(/[0-9]/, "", first)
        if (first != "" && first == above) sub(/^[ \t]*[^ \t]+/, "", text)
        above = first
        if (!is_tagged && text ~ /<.*>/) { is_tagged = 1; rest[1] = rest[0] }
        if (is_tagged) look(letters(text, 1), 1)
        look(letters(text, 0), 0)
    }
"""
)

# Input: runs that were there before as `- memory at`, then the new ones. A run does not
# count if one is known within STEP - 1 letters: only every fourth was looked up.
_DECIDE = r"""
    NR == FNR { size[FNR] = length($2); next }
    $1 == "-" { for (at = $3 - STEP + 1; at < $3 + STEP; at++) old[$2, at]; next }
    ($1, $2) in old { next }
    {
        number = $1
        sub(/^[0-9]+ [0-9]+ /, "")
        wanted = int((size[number] - RUN + 1) / STEP)
        if (wanted > MIN_RUNS) wanted = MIN_RUNS
        if (++runs[number, $0] >= wanted && !($0 in told)) { told[$0]; print "    " $0 }
    }
"""

_SHELL = r"""
    hivemind_scan() {
        tr -d '\000' | LC_ALL=C awk 'SCAN' "$hivemind_words" -
    }
    hivemind_copies() {
        hivemind_runs=$(hivemind_scan)
        [ -n "$hivemind_runs" ] || return 0
        hivemind_numbers=$(printf '%s\n' "$hivemind_runs" | sed 's/ .*//' | sort -u)
        {
            {
                printf '%s\n' "$hivemind_theirs" | sed 's/^^//'
                for number in $hivemind_numbers; do
                    sed -n "${number}s/ .*//p" "$hivemind_words"
                done
            } | sort -u | while read -r one; do
                case $one in *[!0-9a-f]* | '') continue ;; esac
                echo 'object tree'
                git --no-replace-objects grep -h -I '' "$one" -- :/ |
                    sed 's/^/    /'
            done 2>/dev/null | hivemind_scan | sed 's/^/- /'
            printf '%s\n' "$hivemind_runs"
        } | LC_ALL=C awk 'DECIDE' "$hivemind_words" -
    }
"""


def _filled(text: str) -> str:
    """Return a program with its numbers."""
    numbers = {"MIN_RUNS": MIN_RUNS, "RUN": RUN, "STEP": STEP}
    for name, number in numbers.items():
        text = text.replace(name, str(number))
    return text


FIND_COPIES = _SHELL.replace("SCAN", _filled(_SCAN)).replace("DECIDE", _filled(_DECIDE))
"""Shell: ``hivemind_copies`` reads what is new, and prints the places of copies."""
