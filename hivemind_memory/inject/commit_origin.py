"""What the hooks of ``commit_check`` ask of a commit: can others have it already?

What came from another machine is not new here, nor is what a bare repository has: it is
made to be shared. What came by path from a working repository on this machine is new:
agents in sibling folders merge by path, and such a folder may be gone at the next push.
For any POSIX shell; ``commit_check`` puts the parts together.
"""

from __future__ import annotations

MAX_FETCHED = 500
"""Newest commits from other repositories that are remembered."""

# A path, though it may hold colons, begins with a slash or a dot, or is a folder. git
# leaves .git at the end of an address out of FETCH_HEAD.
START = r"""
    hivemind_common=${GIT_DIR:-$(git rev-parse --git-dir)}
    hivemind_fetched=$hivemind_common/FETCH_HEAD
    [ ! -f "$hivemind_common/commondir" ] ||
        hivemind_common=$(git rev-parse --git-common-dir)
    hivemind_kept=$hivemind_common/FETCHED_FILE
    hivemind_before=
    [ ! -f "$hivemind_kept" ] || hivemind_before=$(cat "$hivemind_kept")
    hivemind_remember() {  # commits that others have
        printf '%s\n' "$hivemind_before" "$1" | sed '/^$/d' | tail -n MAX_FETCHED \
            >"$hivemind_kept.$$" && mv "$hivemind_kept.$$" "$hivemind_kept"
    } 2>/dev/null
    hivemind_is_shared() (  # an address: of another machine, or a bare repository
        where=${1#file://}
        [ -d "$where" ] || [ ! -d "$where.git" ] || where=$where.git
        if [ ! -d "$where" ]; then
            case $where in /* | .*) exit 1 ;; *:*) exit 0 ;; *) exit 1 ;; esac
        fi
        mine=$(cd "$hivemind_common" && pwd -P)
        unset $(git rev-parse --local-env-vars)
        cd "$where" && [ "$(git rev-parse --is-bare-repository)" = true ] &&
            common=$(git rev-parse --git-common-dir) && cd "$common" &&
            [ "$(pwd -P)" != "$mine" ] && [ ! -s WORDS_FILE ]
    ) 2>/dev/null
"""
"""Where things are, and what remembers or asks."""

# Words hold no line break here. What arrives is looked at when it is used or pushed.
ARRIVING = r"""
    hivemind_is_arriving() {  # the hook was started by a git that brings commits
        hivemind_command=$({ tr '\n\000' ' \n' <"/proc/$PPID/cmdline" ||
            ps -o args= -p "$PPID" | tr ' ' '\n'; } 2>/dev/null)
        IFS=$hivemind_line
        set -- $hivemind_command
        unset IFS
        case ${1##*/} in git-receive-pack | git-fetch) return 0 ;; esac
        while [ $# -gt 1 ]; do
            shift
            case $1 in
            -C | -c | --git-dir | --work-tree | --namespace | --exec-path | \
                --super-prefix | --config-env | --attr-source)
                [ $# -eq 1 ] || shift ;;
            -*) ;;
            receive-pack | fetch) return 0 ;;
            *) return 1 ;;
            esac
        done
        return 1
    }
    ! hivemind_is_arriving || exit 0
"""
"""Ends at once: a fetch starts the hook for each tag."""

# A line ends in `branch 'x' of ADDRESS`, or in the address alone, after a tab.
FETCHED = r"""
    hivemind_count=0 hivemind_source= hivemind_where=here
    hivemind_fetched=$(
        while IFS= read -r one && [ $((hivemind_count += 1)) -le MAX_FETCHED ]; do
            two=${one##*	} two=${two#*"' of "}
            if [ "$two" != "$hivemind_source" ]; then
                hivemind_source=$two
                hivemind_where=here
                ! hivemind_is_shared "$two" || hivemind_where=there
            fi
            [ $hivemind_where = here ] || echo "${one%%[!0-9a-f]*}"
        done 2>/dev/null <"$hivemind_fetched"
    )
    case $hivemind_line$hivemind_before$hivemind_line in
    *"$hivemind_line$hivemind_fetched$hivemind_line"*) ;;
    *) [ -z "$hivemind_fetched" ] || hivemind_remember "$hivemind_fetched" ;;
    esac
    [ -z "$hivemind_before$hivemind_fetched" ] || hivemind_theirs=\
"$hivemind_theirs$hivemind_before$hivemind_line$hivemind_fetched"
"""
"""Adds what the last fetch brought to what others have."""

REMOTES = r"""
    hivemind_urls=$(git config --get-regexp '^remote\..*\.url$')
    while read -r one two; do
        [ -n "$one" ] || continue
        one=${one#remote.}
        hivemind_is_shared "$two" ||
            hivemind_known="--exclude=${one%.url}/* $hivemind_known"
    done <<HIVEMIND_REMOTES
$hivemind_urls
HIVEMIND_REMOTES
"""
"""Leaves out remotes that are not shared."""
