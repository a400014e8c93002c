"""Asks the memory what matters in a worktree: candidates for its section.

Counts as nobody's recall: the injector asks, and no agent or person.

From what a worktree is to the questions that its section answers. No I/O.

Each facet is a question of its own. One long question would hold the words of all of
them, and then no memory would have more than a few of its words; a memory's score is
the sum of what it is worth to each facet, so the parts explain it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hivemind_memory.context.choose import TypedMemories
from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.model.injection import Excerpt, Facet, FacetScore, LeftOut
from hivemind_memory.model.query import Query
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.entry import OPENING, parse_provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.query import Hit


PREFERENCES_NOTE = "global.md"
_PREFERENCE = FacetScore(facet="preference", value=1.0)
_MAX_HITS = 20
_SEARCH_BUDGET_S = 3.0
"""Further facets are not asked after this: a provider far away may take long."""

_EXTERNAL = "external"


class InjectionCandidates:
    """What was found, before the choice."""

    def __init__(self) -> None:
        self.always: list[Excerpt] = []
        """What is pinned and who somebody is, then lessons."""
        self.preferences: list[Excerpt] = []
        self.others: list[Excerpt] = []
        self.left_out: list[LeftOut] = []
        self.warnings: list[str] = []


def gather(memory: Memory, facets: Sequence[Facet]) -> InjectionCandidates:
    """Return what is always told, the preferences, and all that answers a facet.

    Text from outside is never among them: whoever wrote a web page must not speak to
    an agent before its person does.
    """
    found = InjectionCandidates()
    sources = _Sources(memory)
    rows = {row.path: row for row in memory.memories()}
    typed = TypedMemories(memory, rows.values())
    found.always = typed.always()
    taken = {excerpt.path for excerpt in found.always}
    found.preferences = _preferences(memory)
    for excerpt in _merged(_asked(memory, facets, found)):
        if excerpt.path in taken or typed.is_search_only(excerpt.path):
            continue
        if typed.is_untrusted(excerpt.path) or sources.is_external(excerpt):
            found.left_out.append(LeftOut(excerpt=excerpt, why=_EXTERNAL))
        elif typed.is_expired_or_done(excerpt.path):
            found.left_out.append(LeftOut(excerpt=excerpt, why="over"))
        else:
            found.others.append(excerpt)
    return found


def is_empty(memory: Memory, gathered: InjectionCandidates) -> bool:
    """Whether the memory holds nothing at all, the first note's frame apart."""
    found = (gathered.always, gathered.preferences, gathered.others, gathered.left_out)
    if any(found):
        return False
    notes = memory.list()
    return not any(n.chunk_count for n in notes if n.path != PREFERENCES_NOTE)


def _preferences(memory: Memory) -> list[Excerpt]:
    """Return the chunks of ``global.md`` that say something, in their order."""
    # The chunker brings a Markdown parser with it, which only this needs.
    from hivemind_memory.markdown.chunker import parse_note
    from hivemind_memory.model.note_path import NotePath

    try:
        text = memory.read(PREFERENCES_NOTE).text
    except (NoteNotFoundError, NoteUnreadableError):
        return []
    note = parse_note(
        NotePath(PREFERENCES_NOTE),
        text.encode(),
        limit_chars=memory.settings.chunk_chars,
    )
    if not is_trusted(note.front_matter.get("source")):
        return []
    excerpts = []
    for chunk in note.chunks:
        origin = chunk.provenance
        if origin and (origin.is_forgotten or not is_trusted(origin.source)):
            continue
        if not _says_something(chunk.body):
            continue
        excerpts.append(
            Excerpt(
                path=PREFERENCES_NOTE,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                text=chunk.body,
                date=origin.at[:10] if origin else "",
                score=_PREFERENCE.value,
                reasons=(_PREFERENCE,),
                is_preference=True,
            )
        )
    return excerpts


def _says_something(body: str) -> bool:
    """Whether a chunk is more than headings and comments."""
    text = body
    while "<!--" in text:
        before, _, rest = text.partition("<!--")
        text = before + rest.partition("-->")[2]
    lines = text.split("\n")
    return any(line.strip() and not line.startswith("#") for line in lines)


def _asked(
    memory: Memory, facets: Sequence[Facet], found: InjectionCandidates
) -> list[tuple[Facet, Hit]]:
    """Return every hit of every facet."""
    spent_ms, answers = 0.0, []
    for facet in facets:
        if spent_ms > 1000 * _SEARCH_BUDGET_S:
            found.warnings.append(f"the {facet.name} was not asked for: too slow")
            continue
        answer = memory.search(Query(text=facet.text, max_results=_MAX_HITS))
        spent_ms += answer.report.took_ms
        for warning in answer.report.warnings:
            if warning not in found.warnings:
                found.warnings.append(warning)
        answers += [(facet, hit) for hit in answer.hits]
    return answers


def _merged(answers: Sequence[tuple[Facet, Hit]]) -> list[Excerpt]:
    """Return one quote for each place, its score the sum over the facets."""
    hits: dict[tuple[str, int, int], Hit] = {}
    reasons: dict[tuple[str, int, int], list[FacetScore]] = {}
    for facet, hit in answers:
        if hit.path == PREFERENCES_NOTE or hit.standing != "active":
            continue
        if not _says_something(hit.snippet):
            continue
        place = (hit.path, hit.start_line, hit.end_line)
        hits.setdefault(place, hit)
        value = facet.weight * hit.score
        reasons.setdefault(place, []).append(FacetScore(facet=facet.name, value=value))
    return [
        Excerpt(
            path=hit.path,
            start_line=hit.start_line,
            end_line=hit.end_line,
            text=hit.snippet,
            date=hit.date,
            type=hit.type,
            key=hit.key,
            score=sum(reason.value for reason in reasons[place]),
            reasons=tuple(reasons[place]),
        )
        for place, hit in hits.items()
    ]


class _Sources:
    """Tells where a text comes from; each note is read once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._lines: dict[str, list[str]] = {}
        self._is_external: dict[str, bool] = {}

    def is_external(self, excerpt: Excerpt) -> bool:
        """Whether a text came from outside, as its entry or its note says."""
        if excerpt.path not in self._lines:
            self._read(excerpt.path)
        if self._is_external[excerpt.path]:
            return True
        # An entry goes on to the next one, so the last comment above tells.
        for line in reversed(self._lines[excerpt.path][: excerpt.start_line]):
            if line.startswith(OPENING) and (origin := parse_provenance(line)):
                return not is_trusted(origin.source)
        return False

    def _read(self, path: str) -> None:
        """Keep the lines of a note, and what its front matter says."""
        from hivemind_memory.markdown.front_matter import split_front_matter

        try:
            text = self._memory.read(path).text
        except (NoteNotFoundError, NoteUnreadableError):
            text = ""
        self._lines[path] = text.split("\n")
        values = split_front_matter(text).values if text.startswith("---") else {}
        self._is_external[path] = not is_trusted(values.get("source"))


PROJECT_WEIGHT = 1.0
BRANCH_WEIGHT = 0.8
FOLDER_WEIGHT = 0.4
FILES_WEIGHT = 0.6
COMMIT_WEIGHT = 0.4

_MAX_COMMITS = 4
_MAX_FILES = 8
_COMMON_BRANCHES = frozenset({"main", "master", "trunk", "develop", "HEAD", ""})
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/]+@)?(\[[^\]]+\]|[^:/]+):(?!//)(.*)$")
_SEPARATORS = re.compile(r"[/_.\-]+")
# What a commit's subject says of its kind and not of its matter.
_KIND = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:\s+|Merge (?:branch|pull request) )")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeState:
    """What git tells about a worktree; all but the folder may be empty."""

    folder: str
    """Its absolute path."""

    common_dir: str = ""
    """The git folder that all worktrees of the repository share."""

    origin: str = ""
    """URL of the remote ``origin``, as configured."""

    branch: str = ""
    subjects: tuple[str, ...] = ()
    """First lines of the newest commits, newest first."""

    changed: tuple[str, ...] = ()
    """Files that differ from the last commit, relative to the worktree."""


def project_identity(state: WorktreeState) -> str:
    """Return what all worktrees of one repository share, and no other has.

    >>> project_identity(
    ...     WorktreeState(folder="/x", origin="git@GitHub.com:Acme/Shop.git")
    ... )
    'github.com/Acme/Shop'
    """
    return normalise_origin(state.origin) or state.common_dir or state.folder


def normalise_origin(url: str) -> str:
    """Return host and path of a remote, the same however it is written.

    User, password, port and ``.git`` are left out; a path on this machine stays.

    >>> normalise_origin("https://ann:key@github.com:443/Acme/Shop.git/")
    'github.com/Acme/Shop'
    """
    text = url.strip().rstrip("/").removesuffix(".git").rstrip("/")
    if not text:
        return ""
    if _SCHEME.match(text):
        host, _, path = _SCHEME.sub("", text).partition("/")
        host = host.rpartition("@")[2]
        if not host:  # file:///srv/git/shop
            return f"/{path}"
        return f"{_without_port(host)}/{path}" if path else _without_port(host)
    scp = _SCP.match(text)
    if scp is None or len(scp[1]) == 1:  # a path; one letter is a drive of Windows
        return text
    return f"{scp[1].lower()}/{scp[2].lstrip('/')}"


def facets_of(state: WorktreeState) -> tuple[Facet, ...]:
    """Return the questions, the weightiest first, none empty, none twice."""
    identity = project_identity(state).removesuffix("/.git").removesuffix(".git")
    name = identity.rpartition("/")[2]
    # A linked worktree's folder often names the task, and the project's name is apart.
    folder = state.folder.rstrip("/").rpartition("/")[2]
    facets = [Facet(name="project", text=_words(name), weight=PROJECT_WEIGHT)]
    if folder != name:
        facets.append(Facet(name="folder", text=_words(folder), weight=FOLDER_WEIGHT))
    if state.branch not in _COMMON_BRANCHES:
        branch = _words(state.branch)
        facets.append(Facet(name="branch", text=branch, weight=BRANCH_WEIGHT))
    stems = dict.fromkeys(_stem(path) for path in state.changed[:_MAX_FILES])
    facets.append(Facet(name="files", text=" ".join(stems), weight=FILES_WEIGHT))
    facets += [
        Facet(name="commit", text=_KIND.sub("", subject), weight=COMMIT_WEIGHT)
        for subject in state.subjects[:_MAX_COMMITS]
    ]
    first = {facet.text: facet for facet in reversed(facets) if facet.text.strip()}
    return tuple(facet for facet in facets if first.get(facet.text) is facet)


def _words(name: str) -> str:
    """Return the parts of a name as words."""
    return _SEPARATORS.sub(" ", name).strip()


def _stem(path: str) -> str:
    """Return a file's name without its ending, in words."""
    name = path.rstrip("/").rpartition("/")[2]
    return _words(name.rpartition(".")[0] or name)


def _without_port(host: str) -> str:
    """Return a host in small letters, its port left out."""
    return re.sub(r":\d+$", "", host).lower()
