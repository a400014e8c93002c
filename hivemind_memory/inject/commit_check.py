"""The hooks that keep a section out of commits, tags, notes, stashes and pushes.

``reference-transaction`` (git 2.28 and later) sees every command that moves a branch, a
tag or a note: ``git am``, ``git rebase --continue`` and ``git commit --no-verify`` too,
because nothing moves without it. ``pre-push`` is the last check: it also sees a commit
of a program that runs no hooks.

Both read what is new: the lines that a commit adds to what *all* its parents have, and
its message. So a section that someone else has committed passes in a merge or a fetch.
What was fetched is remembered, for a push knows only what remotes have.
Where a file had a section already, what lies between its marks must stay as it was.

What is encoded, packed or compressed is read, too, and a line that is a line of a
memory is refused, see ``check_new``. In any other form only the push compares the text
of the memories: what is committed is still on this machine, and documents may say what
memories say. A copy of one memory is told and let through, copies of two are refused.

They are text for any POSIX shell and awk, and leave their input to the user's own hook.
"""

from __future__ import annotations

from hivemind_memory.files.marked_section import GUIDE_WORDS, NOTES_WORDS
from hivemind_memory.inject.commit_origin import (
    ARRIVING,
    FETCHED,
    MAX_FETCHED,
    REMOTES,
    START,
)
from hivemind_memory.inject.word_file import FETCHED_FILE, WORDS_FILE

CHECK_OPTION = "hivemind.check"
"""Option of git that switches the check off, for one command or for a repository."""

MAX_COMMITS = 1000
"""Newest commits of an update that are read, so that an import stays fast."""

MARKS = "hivemind:begin v[0-9]|hivemind:end --|hivemind memory [(]auto-injected"
"""What a refused line contains, in lower case; for awk, git and Python."""

_PLACE = "> `[^`]+[.]m[a-z]+:[0-9]+(-[0-9]+)?` [(][0-9]+-[0-9]+-[0-9]+[)]"
"""The line above each dated memory of a section; most have one line of text."""

_SECTION_LINES = "|".join(
    (
        MARKS,
        GUIDE_WORDS,
        NOTES_WORDS,
        _PLACE.replace("`", r"\140"),
    )
)
"""What a commit refuses, in lower case, for awk: marks, lines of the guide, places."""

_SOUGHT = f"[Ii][Vv][Ee][Mm][Ii][Nn][Dd]|{GUIDE_WORDS}|{NOTES_WORDS}|{_PLACE}"
"""Files without it are not read; for `git diff-tree -G`."""

QUOTED_MARK = r"[\042\047\140]<!-- hivemind:[a-z0-9 ]+ -->[\042\047\140]"
"""A mark that is only mentioned."""

DIFF_DRIVERS = (
    *("default", "ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir"),
    *("fortran", "fountain", "golang", "html", "java", "kotlin", "markdown", "matlab"),
    *("objc", "pascal", "perl", "php", "python", "ruby", "rust", "scheme", "tex"),
)
"""Kinds of files that git knows, for which the header of a hunk names the last mark."""

# -G, not -S: a file that loses as many marks as it gains has changed, too. A line of an
# object is indented, so that it is not taken for one of a diff.
# A mark between two quotes is only mentioned. The headline is a third mark, for a copy
# without its first and last lines. In awk, quotes are easiest as octal numbers.
#
# Marks that were committed once are no new lines. So the second reading asks for hunks
# below a mark, which their headers name as they name functions, and compares what lies
# between the marks before and after. It takes no binary files and no merges.
_NEW = r"""
    hivemind_diff() {  # what commits add; options of git, a dash, options of diff-tree
        git --no-replace-objects -c core.bigFileThreshold=8m \
            -c i18n.logOutputEncoding=UTF-8 "$@" \
            --stdin --root --always -r -c -p -U0 --no-color --no-ext-diff \
            --no-textconv --no-renames '--format=commit %H%n%w(0,4,4)%B' 2>/dev/null
    }
    hivemind_raw() {  # all headers of commits, and messages in any declared encoding
        printf '%s\n' "$hivemind_new" |
            git --no-replace-objects cat-file --batch | sed 's/^/    /
            s/^    \([0-9a-f]\{40,64\}\) commit [0-9]*$/commit \1/'
    }
    hivemind_others() {  # objects that are no commits
        printf '%s' "$hivemind_objects" | while read -r one; do
            while [ "$(git cat-file -t "$one")" = tag ]; do
                echo "object $one"
                git cat-file tag "$one" | sed 's/^/    /'
                one=$(git cat-file tag "$one" | sed -n '1s/^object //p')
            done
            case $(git cat-file -t "$one") in
            blob) echo "object $one"; git cat-file blob "$one" | sed 's/^/    /' ;;
            tree)
                echo "object $one"
                git diff-tree -r -p --text -U0 "$(git mktree </dev/null)" "$one" ;;
            esac
        done
    }
    [ -z "$hivemind_theirs" ] || hivemind_theirs=$(
        printf '%s\n' "$hivemind_theirs" |  # what is no longer there is left out
            git cat-file --batch-check='%(objecttype) %(objectname)' |
            sed -n 's/^commit /^/p'
    )
    hivemind_new=$(
        printf '%s%s\n' "$hivemind_commits" "$hivemind_theirs" |
            git --no-replace-objects rev-list --stdin --ignore-missing -n MAX_COMMITS \
                --not $hivemind_known 2>/dev/null
    )
"""

_MARKED = r"""
    hivemind_found=$({
        {
        printf '%s\n' "$hivemind_new" |
            hivemind_diff diff-tree --text -G'SOUGHT'
        hivemind_raw
        hivemind_others
    } 2>/dev/null | tr '\000' ' ' | LC_ALL=C awk '
        /^commit [0-9a-f]+$/ { place = "the message of " $2; columns = -1; next }
        /^object [0-9a-f]+$/ { place = "the object " $2; columns = -1; next }
        /^diff --(git|cc|combined) / { columns = 0; next }
        columns == 0 && /^[+][+][+] / { place = substr($0, 7); next }
        columns >= 0 && /^@@+ / {
            columns = index($0, " ") - 2
            at = substr($(columns + 2), 2) - 1
            next
        }
        columns == 0 { next }
        columns > 0 { if (substr($0, 1, columns) !~ /[-\\]/) at++ }
        columns > 0 && substr($0, 1, columns) !~ /^[+]+$/ { next }
        {
            text = tolower($0)
            gsub(/\302\240/, " ", text)  # a space that is not broken
            gsub(/QUOTED_MARK/, "", text)
            if (text !~ /SECTION_LINES/ || place in told) next
            told[place]
            line = substr($0, columns > 0 ? columns + 1 : 5, 60)
            gsub(/[[:cntrl:]]/, " ", line)
            sub(/^ +/, "", line)
            print "    " place (columns > 0 ? ":" at : "") ": " line
        }
    '
    hivemind_between() {
        git cat-file blob "$1" | LC_ALL=C awk '
            { line = tolower($0); gsub(/QUOTED_MARK/, "", line) }
            line ~ /hivemind:end --/ { if (is_in) print kept; is_in = 0 }
            is_in { kept = kept $0 "\n" }
            line ~ /hivemind:begin v[0-9]/ { is_in = 1; kept = "" }
        '
    }
    set --
    for driver in DIFF_DRIVERS; do
        set -- "$@" -c "diff.$driver.xfuncname=\
([Hh][Ii][Vv][Ee][Mm][Ii][Nn][Dd]:([Bb][Ee][Gg][Ii][Nn] [Vv][0-9]|[Ee][Nn][Dd] --))"
    done
    set -- "$@" diff-tree --inter-hunk-context=0 --full-index
    printf '%s\n' "$hivemind_new" | hivemind_diff "$@" | LC_ALL=C awk '
        /^index [0-9a-f]+[.][.][0-9a-f]+/ { split($2, blobs, "[.][.]") }
        /^[+][+][+] / { place = substr($0, 7) }
        /^@@ -[0-9,]+ [+][0-9]+(,[1-9][0-9]*)? @@ .*:[Bb]/ &&
            !seen[blobs[1], blobs[2], place]++ {
            print blobs[1], blobs[2], substr($3, 2) + 0, place
        }
    ' | while read -r before after at place; do
        [ "$(hivemind_between "$before")" = "$(hivemind_between "$after")" ] ||
            echo "    $place:$at: between the marks of a section"
    done
    })
"""

# Nothing is started for a commit whose marks are found. A stash stays on this machine.
_HIDDEN = r"""
    hivemind_words=$hivemind_common/WORDS_FILE
    hivemind_program= hivemind_folder=
    [ ! -s "$hivemind_words" ] ||
        while read -r one two; do
            case $one in
            python) hivemind_program=$two ;;
            folder) hivemind_folder=$two; break ;;
            esac
        done <"$hivemind_words"
    hivemind_python() {  # a module, and what its main takes after the hashes
        hivemind_module=$1
        shift
        "$hivemind_program" -I -S -c '
import sys
from importlib import import_module
sys.path.append(sys.argv[1])
import_module("hivemind_memory.inject." + sys.argv[2]).main(*sys.argv[3:])' \
            "$hivemind_folder" "$hivemind_module" "$hivemind_words" "$@" \
            2>/dev/null || echo '!'
    }
    [ -n "$hivemind_found" ] || [ ! -s "$hivemind_words" ] || hivemind_hidden=$(
        {
            printf '%s\n%s\n--\n' "--exclude=refs/stash $hivemind_known" \
                "$hivemind_theirs"
            printf '%s' "$hivemind_refs" | sed 's/.*/name &/'
            printf '%s' "$hivemind_objects" | sed 's/.*/object &/'
            printf '%s\n' "$hivemind_new" | git --no-replace-objects diff-tree \
                --stdin --root --always -r -c --raw --no-abbrev --no-renames \
                '--format=commit %H' 2>/dev/null
        } | hivemind_python check_new \
            "${GIT_OBJECT_DIRECTORY:-$hivemind_common/objects}" \
            'SECTION_LINES' 'QUOTED_MARK' "$hivemind_only"
    )
    hivemind_lines=
    if [ -n "$hivemind_hidden" ]; then
        hivemind_lines=$(printf '%s\n' "$hivemind_hidden" | sed -n 's/^?//p')
        hivemind_found=$hivemind_found$(
            printf '%s\n' "$hivemind_hidden" | sed -n 's/^=//p'
        )
    fi
"""

# What was there before the first injection is not compared.
_QUOTES = r"""
    [ ! -s "$hivemind_words" ] || hivemind_quoted=$(
        hivemind_first=$(sed -n '/^commits/{s/^commits *//;p;q;}' "$hivemind_words")
        {
            printf '%s\n%s\n--\n' "$hivemind_known" "$hivemind_theirs"
            printf '%s%s\n' "$hivemind_commits" "$hivemind_theirs" |
                git --no-replace-objects rev-list --stdin --ignore-missing \
                    -n MAX_COMMITS --not $hivemind_known $hivemind_first 2>/dev/null |
                hivemind_diff diff-tree
            hivemind_others 2>/dev/null
            printf '%s' "$hivemind_names" | sed 's/.*/object &/'
        } | hivemind_python find_copies
    )
"""

_REPORT = r"""
    hivemind_both=$hivemind_hidden$hivemind_quoted
    [ "${hivemind_hidden%!}${hivemind_quoted%!}" = "$hivemind_both" ] ||
        echo 'hivemind: the text of memories was not compared; run `hm inject`.'
    hivemind_copied=$(printf '%s\n' "$hivemind_quoted" | sed -n 's/^=//p')
    hivemind_quoted=$(printf '%s\n' "$hivemind_quoted" | sed -n 's/^?//p')
    hivemind_refused=$hivemind_found$hivemind_lines$hivemind_copied
    [ -n "$hivemind_refused$hivemind_quoted" ] || exit 0
    [ "$(git config --type=bool --get CHECK_OPTION)" != false ] || {
        [ -z "$hivemind_names" ] || hivemind_remember "$hivemind_commits"
        exit 0
    }
    if [ -n "$hivemind_found" ]; then
        echo 'hivemind: refused: this has lines of a section that `hm inject` wrote:'
        printf '%s\n' "$hivemind_found"
        echo 'A section is for the agents on this machine and stays out of git.'
        echo 'If this is a copy of one, delete it, from hivemind:begin to hivemind:end.'
        echo 'If you only mention the marks, put them in quotes or backticks.'
    fi
    if [ -n "$hivemind_lines" ]; then
        echo 'hivemind: refused: this has whole lines of memories from a section:'
        printf '%s\n' "$hivemind_lines"
        echo 'Delete them, or say it in other words.'
    fi
    if [ -n "$hivemind_copied" ]; then
        echo 'hivemind: refused: this push contains the text of several memories:'
        printf '%s\n' "$hivemind_copied"
        echo 'They were injected for the agents on this machine.'
        echo 'To publish them anyway, run `git -c CHECK_OPTION=false push`.'
    fi
    if [ -z "$hivemind_refused" ]; then
        echo 'hivemind: warning: this push contains the text of a memory:'
        printf '%s\n' "$hivemind_quoted"
        exit 0
    fi
    [ -z "$hivemind_found$hivemind_lines" ] ||
        echo 'To keep it, run the command as `git -c CHECK_OPTION=false ...`.'
    exit 1
"""

_NAMES = {
    "MAX_COMMITS": str(MAX_COMMITS),
    "MAX_FETCHED": str(MAX_FETCHED),
    "CHECK_OPTION": CHECK_OPTION,
    "WORDS_FILE": WORDS_FILE,
    "FETCHED_FILE": FETCHED_FILE,
    "QUOTED_MARK": QUOTED_MARK,
    "SECTION_LINES": _SECTION_LINES,
    "SOUGHT": _SOUGHT,
    "DIFF_DRIVERS": " ".join(DIFF_DRIVERS),
}
"""A word in the scripts -> what stands for it."""

# What comes from elsewhere is not new: refs/remotes and the like, and FETCH_HEAD.
_REFERENCES = r"""
    hivemind_known=--all hivemind_only=marks
    while read -r old new ref; do
        case $new in *[!0-9a-f]*) continue ;; *[!0]*) ;; *) continue ;; esac
        case $ref in refs/stash) ;; *) hivemind_only= ;; esac
        case $ref in
        HEAD | worktrees/*/HEAD | refs/heads/* | refs/stash) ;;
        refs/remotes/* | refs/prefetch/* | refs/pull/* | refs/bisect/*)
            hivemind_theirs="$hivemind_theirs$new$hivemind_line"; continue ;;
        refs/*) hivemind_objects="$hivemind_objects$new$hivemind_line" ;;
        *) continue ;;
        esac
        hivemind_commits="$hivemind_commits$new$hivemind_line"
        case $old in *[!0]*) continue ;; esac
        [ ${#ref} -lt 50 ] || hivemind_refs="$hivemind_refs$ref$hivemind_line"
    done <<HIVEMIND_INPUT
$hivemind_input
HIVEMIND_INPUT
    [ -n "$hivemind_commits" ] || exit 0
"""

_NOTHING_NEW = r"""
    [ -n "$hivemind_new$hivemind_objects$hivemind_refs" ] || exit 0
"""

# What the remote has is not new, and neither is what any remote is known to have.
_PUSHED = r"""
    hivemind_known=--remotes hivemind_only=marks
    while read -r ref new remote_ref old; do
        case $old in *[!0]*)
            hivemind_theirs="$hivemind_theirs$old$hivemind_line" ;;
        esac
        case $new in *[!0]*) ;; *) continue ;; esac
        case $ref in *stash*) hivemind_only= ;; esac  # no commit was refused
        case $remote_ref in
        refs/heads/*) ;;
        *) hivemind_objects="$hivemind_objects$new$hivemind_line" ;;
        esac
        hivemind_commits="$hivemind_commits$new$hivemind_line"
        hivemind_names="$hivemind_names$remote_ref$hivemind_line"
    done <<HIVEMIND_INPUT
$hivemind_input
HIVEMIND_INPUT
    [ -n "$hivemind_commits" ] || exit 0
"""


def _hook(condition: str, *parts: str) -> tuple[str, ...]:
    """Return a hook that reads its input, and gives it back to what follows."""
    script = "".join(parts)
    for name, text in _NAMES.items():
        script = script.replace(name, text)
    text = f"""\
# Keeps the section of `hm inject` out of git. `hm eject` removes this.
if {condition}; then
IFS= read -r hivemind_input || :
if IFS= read -r hivemind_more; then
hivemind_input="$hivemind_input
$hivemind_more"
hivemind_more=$(cat)
[ -z "$hivemind_more" ] || hivemind_input="$hivemind_input
$hivemind_more"
fi
case $hivemind_input in *" HEAD"* | */HEAD* | *" refs/"*) (
    set -f
    hivemind_line='
' hivemind_commits= hivemind_objects= hivemind_theirs= hivemind_names= hivemind_quoted=
    hivemind_hidden= hivemind_refs=
{script}) >&2 || exit 1 ;; esac
exec <<HIVEMIND_INPUT
$hivemind_input
HIVEMIND_INPUT
fi"""
    return tuple(text.split("\n"))


HOOKS = {
    "reference-transaction": _hook(
        '[ "$1" = prepared ]',
        *(_REFERENCES, ARRIVING, START, FETCHED, _NEW, _NOTHING_NEW),
        *(_MARKED, _HIDDEN, _REPORT),
    ),
    "pre-push": _hook(
        ":",
        *(_PUSHED, START, REMOTES, FETCHED, _NEW),
        *(_MARKED, _HIDDEN, _QUOTES, _REPORT),
    ),
}
"""Name of a hook -> its lines, for any POSIX shell."""

FORMER_HOOKS = ("pre-commit",)
"""Hooks that an earlier version installed, which are removed."""
