"""What the hooks of ``commit_check`` ask of a commit: can others have it already?

What a fetch or a push brings is not new here. What is fetched from this repository, or
from another one on this machine that has sections, is: agents in sibling folders merge
by path. For any POSIX shell; ``commit_check`` puts the parts together.
"""

from __future__ import annotations

MAX_FETCHED = 500
"""Newest commits from other repositories that are remembered."""

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
    hivemind_is_here() (  # of this repository, or of one here that has sections, too
        hivemind_mine=$(cd "$hivemind_common" && pwd -P)
        unset $(git rev-parse --local-env-vars)
        cd "${1#file://}" && common=$(git rev-parse --git-common-dir) && cd "$common" &&
            { [ "$(pwd -P)" = "$hivemind_mine" ] || [ -s WORDS_FILE ]; }
    ) 2>/dev/null
"""
"""Where things are, and what remembers or asks."""

# What is brought by a git that fetches, or from elsewhere, is only remembered.
ARRIVING = r"""
    hivemind_asked=
    hivemind_is_arriving() {  # the hook was started by a git that brings commits
        set -- $({ tr '\000' ' ' <"/proc/$PPID/cmdline" || ps -o args= -p "$PPID"; } \
            2>/dev/null)
        case ${1##*/} in
        git-receive-pack) return 0 ;;
        git-fetch) shift; set -- git fetch "$@" ;;
        esac
        while [ $# -gt 1 ]; do
            shift
            case $1 in
            -C | -c | --git-dir | --work-tree | --namespace) [ $# -eq 1 ] || shift ;;
            -*) ;;
            receive-pack) return 0 ;;
            fetch)
                shift
                for one in "$@"; do
                    case $one in -*) ;; *) hivemind_asked=$one; return 0 ;; esac
                done
                return 0 ;;
            *) return 1 ;;
            esac
        done
        return 1
    }
    hivemind_arrived=
    ! hivemind_is_arriving ||
        case $hivemind_input in
        *" refs/heads/"*) hivemind_arrived=yes ;;
        *) exit 0 ;;
        esac
"""
"""Ends if nothing is to be remembered of what arrives."""

ARRIVED = r"""
    [ -z "$hivemind_arrived" ] || {
        hivemind_url=$(git config --get "remote.$hivemind_asked.url")
        { [ -n "$hivemind_asked" ] &&
            hivemind_is_here "${hivemind_url:-$hivemind_asked}"; } ||
            hivemind_remember "$hivemind_commits"
        exit 0
    }
"""
"""Remembers what arrives, and ends."""

FETCHED = r"""
    hivemind_count=0 hivemind_source=
    hivemind_fetched=$(
        while IFS= read -r one && [ $((hivemind_count += 1)) -le MAX_FETCHED ]; do
            two=${one##*	} two=${two##* of }  # a tab, then where it is from
            if [ "$two" != "$hivemind_source" ]; then
                hivemind_source=$two
                hivemind_where=here
                hivemind_is_here "$two" || hivemind_where=there
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

# A remote that is a repository with sections on this machine counts for nothing.
REMOTES = r"""
    hivemind_urls=$(git config --get-regexp '^remote\..*\.url$')
    while read -r one two; do
        [ -d "${two#file://}" ] || continue
        one=${one#remote.}
        ! hivemind_is_here "$two" ||
            hivemind_known="--exclude=${one%.url}/* $hivemind_known"
    done <<HIVEMIND_REMOTES
$hivemind_urls
HIVEMIND_REMOTES
"""
"""Leaves out remotes that are on this machine and have sections."""
