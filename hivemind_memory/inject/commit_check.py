"""The hooks that keep a section out of commits, tags, notes, stashes and pushes.

``reference-transaction`` (git 2.28 and later) sees every command that moves a branch, a
tag or a note: ``git am``, ``git rebase --continue`` and ``git commit --no-verify`` too,
because nothing moves without it. ``pre-push`` is the last check: it also sees a commit
of a program that runs no hooks.

Both read what is new: the lines that a commit adds to what *all* its parents have, and
its message. So a section that someone else has committed passes in a merge or a fetch.
What was fetched is remembered, for a push knows only what remotes have.
Where a file had a section already, what lies between its marks must stay as it was.
Copies of one memory are told and let through, copies of two are refused.
They are text for any POSIX shell and awk, and leave their input to the user's own hook.
"""

from __future__ import annotations

from hivemind_memory.inject.word_file import FETCHED_FILE, WORDS_FILE

CHECK_OPTION = "hivemind.check"
"""Option of git that switches the check off, for one command or for a repository."""

MAX_COMMITS = 1000
"""Newest commits of an update that are read, so that an import stays fast."""

MAX_FETCHED = 500
"""Newest commits from other repositories that are remembered."""

MARKS = "hivemind:begin v[0-9]|hivemind:end --|hivemind memory [(]auto-injected"
"""What a refused line contains, in lower case; for awk, git and Python."""

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
_CHECK = r"""
    hivemind_is_arriving() {  # the hook was started by a git that brings commits
        set -f
        set -- $({ tr '\000' ' ' <"/proc/$PPID/cmdline" || ps -o args= -p "$PPID"; } \
            2>/dev/null)
        case ${1##*/} in git-receive-pack | git-fetch) return 0 ;; esac
        while [ $# -gt 1 ]; do
            shift
            case $1 in
            -C | -c | --git-dir | --work-tree | --namespace) [ $# -eq 1 ] || shift ;;
            -*) ;;
            fetch | receive-pack) return 0 ;;
            *) return 1 ;;
            esac
        done
        return 1
    }
    hivemind_fetched=${GIT_DIR:-$(git rev-parse --git-dir)}/FETCH_HEAD
    if [ -f "$hivemind_fetched" ]; then  # what is fetched from this repository is not
        hivemind_fetched=$(sed -e '/ of \.$/d' -e 's/[^0-9a-f].*//' "$hivemind_fetched")
    else
        hivemind_fetched=
    fi
    hivemind_kept=$(git rev-parse --git-common-dir)/FETCHED_FILE
    hivemind_before=
    [ ! -f "$hivemind_kept" ] || hivemind_before=$(cat "$hivemind_kept")
    case $hivemind_line$hivemind_before$hivemind_line in
    *"$hivemind_line$hivemind_fetched$hivemind_line"*) ;;
    *)
        [ -z "$hivemind_fetched" ] || {
            printf '%s\n' "$hivemind_before" "$hivemind_fetched" |
                tail -n MAX_FETCHED >"$hivemind_kept.$$" &&
                mv "$hivemind_kept.$$" "$hivemind_kept"
        } 2>/dev/null ;;
    esac
    [ -z "$hivemind_before$hivemind_fetched" ] || hivemind_theirs=\
"$hivemind_theirs$hivemind_before$hivemind_line$hivemind_fetched"
    hivemind_diff() {  # what commits add; options of git, a dash, options of diff-tree
        git --no-replace-objects -c core.bigFileThreshold=8m "$@" \
            --stdin --root --always -r -c -p -U0 --no-color --no-ext-diff \
            --no-textconv --no-renames '--format=commit %H%n%w(0,4,4)%B' 2>/dev/null
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
    hivemind_found=$({ {
        printf '%s\n' "$hivemind_new" |
            hivemind_diff diff-tree --text -G'[Ii][Vv][Ee][Mm][Ii][Nn][Dd]'
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
            gsub(/QUOTED_MARK/, "", text)
            if (text !~ /MARKS/ || place in told) next
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
    hivemind_words=$(git rev-parse --git-common-dir)/WORDS_FILE
    hivemind_later=$hivemind_new
    if [ -s "$hivemind_words" ]; then
        hivemind_first=$(sed -n '/^commits/{s/^commits *//;p;q;}' "$hivemind_words")
        hivemind_later=$(  # what was there before the first injection is not compared
            printf '%s%s\n' "$hivemind_commits" "$hivemind_theirs" |
                git --no-replace-objects rev-list --stdin --ignore-missing \
                    -n MAX_COMMITS --not $hivemind_known $hivemind_first 2>/dev/null
        )
        hivemind_python=$(sed -n '/^python /{s///;p;q;}' "$hivemind_words")
        hivemind_folder=$(sed -n '/^folder /{s///;p;q;}' "$hivemind_words")
    fi
    hivemind_copies() {  # gives back what the next step needs, at least
        [ -s "$hivemind_words" ] || { sed '1,/^--$/d'; return; }
        "$hivemind_python" -I -S -c '
import sys
sys.path.append(sys.argv[1])
from hivemind_memory.inject.find_copies import main
main(sys.argv[2], results=5)' "$hivemind_folder" "$hivemind_words" 2>/dev/null ||
            echo '?' >&5
    }
    set --
    for driver in DIFF_DRIVERS; do
        set -- "$@" -c "diff.$driver.xfuncname=\
([Hh][Ii][Vv][Ee][Mm][Ii][Nn][Dd]:([Bb][Ee][Gg][Ii][Nn] [Vv][0-9]|[Ee][Nn][Dd] --))"
    done
    set -- "$@" diff-tree --inter-hunk-context=0 --full-index
    {
        {
            printf '%s\n%s\n--\n' "$hivemind_known" "$hivemind_theirs"
            printf '%s\n' "$hivemind_later" | hivemind_diff "$@"
            hivemind_others 2>/dev/null
            printf '%s' "$hivemind_names" | sed 's/.*/object &/'
        } | hivemind_copies
        [ "$hivemind_later" = "$hivemind_new" ] ||
            printf '%s\n' "$hivemind_new" | hivemind_diff "$@"
    } | LC_ALL=C awk '
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
    } 5>&1)
    [ -n "$hivemind_found" ] || exit 0
    hivemind_copied=$(printf '%s\n' "$hivemind_found" | sed -n 's/^=//p')
    case $hivemind_found in *'?'*)
        printf '%s\n' "$hivemind_found" | grep -q '^?$' &&
            echo 'hivemind: the text of memories was not compared; run `hm inject`.'
    esac
    hivemind_quoted=$(printf '%s\n' "$hivemind_found" | sed -n 's/^?\(.\)/\1/p')
    hivemind_found=$(printf '%s\n' "$hivemind_found" | sed '/^[=?]/d')
    [ -n "$hivemind_found$hivemind_copied$hivemind_quoted" ] || exit 0
    [ "$(git config --type=bool --get CHECK_OPTION)" != false ] || exit 0
    ! hivemind_is_arriving || exit 0
    if [ -z "$hivemind_found$hivemind_copied" ]; then
        echo 'hivemind: warning: this equals a memory that `hm inject` wrote:'
        printf '%s\n' "$hivemind_quoted"
        echo "It is let through, because it is one alone. $hivemind_undo"
        exit 0
    fi
    if [ -n "$hivemind_found" ]; then
        echo 'hivemind: refused: this has the marks of a section of `hm inject`:'
        printf '%s\n' "$hivemind_found"
        echo 'A section is for the agents on this machine and stays out of git.'
        echo 'If this is a copy of one, delete it, from hivemind:begin to hivemind:end.'
        echo 'If it is text of yours, put the marks in quotes or backticks.'
        echo 'Then try again.'
    fi
    if [ -n "$hivemind_copied" ]; then
        echo 'hivemind: refused: this quotes two or more memories of `hm inject`:'
        printf '%s\n' "$hivemind_copied"
        echo 'What is injected is for the agents on this machine and stays out of git.'
        echo 'Delete it, or say it in other words, and try again.'
    fi
    echo 'To keep it on purpose, run the command as `git -c CHECK_OPTION=false ...`.'
    exit 1
""".replace("MAX_COMMITS", str(MAX_COMMITS)).replace("CHECK_OPTION", CHECK_OPTION)
_CHECK = _CHECK.replace("WORDS_FILE", WORDS_FILE).replace("FETCHED_FILE", FETCHED_FILE)
_CHECK = _CHECK.replace("MAX_FETCHED", str(MAX_FETCHED))
_CHECK = _CHECK.replace("QUOTED_MARK", QUOTED_MARK).replace("MARKS", MARKS)
_CHECK = _CHECK.replace("DIFF_DRIVERS", " ".join(DIFF_DRIVERS))

# What comes from elsewhere is not new: refs/remotes and the like, and FETCH_HEAD.
_REFERENCES = r"""
    hivemind_known=--all
    hivemind_undo='To undo a commit, run `git reset --soft HEAD^`; a tag, `git tag -d`.'
    while read -r old new ref; do
        case $new in *[!0-9a-f]*) continue ;; *[!0]*) ;; *) continue ;; esac
        case $ref in
        HEAD | worktrees/*/HEAD | refs/heads/* | refs/stash) ;;
        refs/tags/* | refs/notes/* | refs/replace/*)
            hivemind_objects="$hivemind_objects$new$hivemind_line" ;;
        refs/*)
            hivemind_theirs="$hivemind_theirs$new$hivemind_line"; continue ;;
        *) continue ;;
        esac
        hivemind_commits="$hivemind_commits$new$hivemind_line"
        hivemind_names="$hivemind_names$ref$hivemind_line"
    done <<HIVEMIND_INPUT
$hivemind_input
HIVEMIND_INPUT
    [ -n "$hivemind_commits" ] || exit 0
"""

# What the remote has is not new, and neither is what any remote is known to have.
_PUSHED = r"""
    hivemind_known=--remotes
    hivemind_undo='To undo it, amend the commit and `git push --force-with-lease`.'
    while read -r ref new remote_ref old; do
        case $old in *[!0]*)
            hivemind_theirs="$hivemind_theirs$old$hivemind_line" ;;
        esac
        case $new in *[!0]*) ;; *) continue ;; esac
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


def _hook(condition: str, reading: str) -> tuple[str, ...]:
    """Return a hook that reads its input, and gives it back to what follows."""
    text = f"""\
# Keeps the section of `hm inject` out of git. `hm eject` removes this.
if {condition}; then
hivemind_input=$(cat)
(
    hivemind_line='
' hivemind_commits= hivemind_objects= hivemind_theirs= hivemind_names=
{reading}{_CHECK}) >&2 || exit 1
exec <<HIVEMIND_INPUT
$hivemind_input
HIVEMIND_INPUT
fi"""
    return tuple(text.split("\n"))


HOOKS = {
    "reference-transaction": _hook('[ "$1" = prepared ]', _REFERENCES),
    "pre-push": _hook(":", _PUSHED),
}
"""Name of a hook -> its lines, for any POSIX shell."""

FORMER_HOOKS = ("pre-commit",)
"""Hooks that an earlier version installed, which are removed."""
