"""A whole question, from text to hits, over notes of any script and any number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.index.sqlite.view import SqliteView
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import SearchAnswer
from hivemind_memory.model.terms import MAX_TERMS, QueryTerm
from tests.search.scripts import texts_with_words
from tests.support.sandbox import Sandbox, ask, paths
from tests.support.tiers import examples

Make = Callable[..., Memory]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a function that makes a memory of some notes."""
    opened: list[Memory] = []

    def of(*texts: str, **notes: str) -> Memory:
        sandbox = Sandbox(tmp_path / f"home-{len(opened)}")
        named = {f"{number}": text for number, text in enumerate(texts)} | notes
        for name, text in named.items():
            sandbox.save(f"{name}.md", text)
        opened.append(sandbox.memory())
        return opened[-1]

    yield of
    for memory in opened:
        memory.close()


pairs = st.lists(texts_with_words(), min_size=1, max_size=12)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    pairs=pairs,
    copies=st.sampled_from([1, 1, 1, 15]),
    heading=st.sampled_from(["", "# Title\n\n", "- "]),
)
def test_a_chunk_with_all_words_of_the_question_has_at_least_half(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[str, str]],
    copies: int,
    heading: str,
) -> None:
    """In memories of one to two hundred notes, in any script; so the score means much
    the same everywhere, and the default threshold hides no such chunk."""
    sandbox = Sandbox(tmp_path_factory.mktemp("home"))
    for number, (text, _) in enumerate(pairs * copies):
        sandbox.save(f"n{number}.md", heading + text)

    with sandbox.memory() as memory:
        for number, (_, question) in enumerate(pairs[:4]):
            if not any(map(str.isalnum, question)):
                continue
            answer = ask(memory, question, max_results=1000, min_score=None)

            found = {hit.path: hit for hit in answer.hits}
            found |= {
                place.partition(":")[0]: hit
                for hit in answer.hits
                for place in hit.also_in
            }
            assert found[f"n{number}.md"].relevance >= 0.5 - 1e-9, question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Le café ferme à midi.", "cafe"),
        ("Le cafe\u0301 ferme.", "café"),
        ("我们在星期二部署", "星期二"),
        ("データベースの設定", "データベース"),
        ("เราจะปรับใช้ในวันอังคาร", "วันอังคาร"),
        ("सर्वर की समस्या", "समस्या"),
        ("데이터베이스에 배포했다", "데이터베이스"),
        ("Сервер слушает порт", "сервер"),
        ("set user_id here", "user_id"),
        ("call getHTTPResponse first", "HTTP response"),
        ("use kebab-case", "kebab case"),
        ("see src/deep/main.py", "deep/main"),
        ("we deployed on Friday", "deploying"),
        ("generalizations of databases", "atabas"),
        ("the kubernetes cluster", "kubern"),
    ],
)
def test_a_word_is_found_as_a_person_would_ask_for_it(
    make: Make, text: str, question: str
) -> None:
    """Stems, accents, scripts, identifiers, and a part of a word."""
    memory = make("something else entirely", text)

    assert paths(ask(memory, question))[:1] == ["1.md"]


def test_a_heading_a_path_and_a_title_are_words_too(make: Make) -> None:
    """What stands above a chunk says what it is about."""
    memory = make(
        ports="all about numbers\n",
        a="# Staging database\n\nfive thousand\n",
        b="---\ntitle: The Backup\ntags: [nightly]\n---\nrestic\n",
    )

    for question, path in (
        ("ports", "ports.md"),
        ("staging thousand", "a.md"),
        ("backup restic", "b.md"),
        ("nightly", "b.md"),
    ):
        assert paths(ask(memory, question))[0] == path


def test_a_chunk_is_scored_by_its_best_line_too(make: Make) -> None:
    """A long list with the one right line, against a list with all words scattered."""
    other = "\n".join(f"- line {n} of other things" for n in range(20))
    scattered = "- the port\n" + other + "\n- of staging\n"
    together = other + "\n- the port of staging\n"
    memory = make(scattered, together)

    assert paths(ask(memory, "staging port"))[0] == "1.md"


def test_hits_come_in_descending_order_of_score(make: Make) -> None:
    """And each has a score and a relevance in 0..1."""
    memory = make(*(f"alpha {'beta ' * (n % 4)}gamma {n}" for n in range(30)))

    hits = ask(memory, "alpha beta 7", max_results=30).hits

    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= hit.score <= 1 and 0 <= hit.relevance <= 1 for hit in hits)


def with_days(make: Make) -> Memory:
    return make(
        **{
            "2000-01-01": "the port of staging is 5432\n",
            "2026-11-01": "the port of staging, and so much more of all kinds\n",
        }
    )


def test_age_alone_never_hides_an_answer(make: Make) -> None:
    """`min_score` is judged before age, however steep its setting."""
    memory = with_days(make)
    for floor in (0.9, 0.0):
        memory._search_settings = memory.settings.search_settings()
        settings = type(memory._search_settings)(decay_floor=floor)
        memory._search_settings = settings

        hits = ask(memory, "port staging", min_score=0.5).hits

        assert sorted(hit.path for hit in hits) == ["2000-01-01.md", "2026-11-01.md"]
        old = next(hit for hit in hits if hit.path == "2000-01-01.md")
        assert old.score < old.relevance
        assert old.date == "2000-01-01"


def test_the_threshold_is_said_to_have_hidden_something(make: Make) -> None:
    """Nobody wonders where the answer is."""
    memory = make("alpha\n", *(f"word{n}\n" for n in range(20)))

    answer = ask(memory, "alpha beta gamma delta", min_score=0.99)

    assert answer.hits == ()
    assert answer.report.cut.below_min_score == 1
    assert "none relevant enough" in answer.report.why_empty


@pytest.mark.parametrize("min_score", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("text", ["", "   ", "?!", "\0", "\ud800", "⚠️"])
def test_a_question_without_a_word_says_so(
    make: Make, text: str, min_score: float
) -> None:
    """No hit is made up for it."""
    answer = ask(make("alpha\n"), text, min_score=min_score)

    assert answer.hits == ()
    assert "no word to search for" in answer.report.why_empty


def test_a_slip_of_the_finger_gets_a_suggestion(make: Make) -> None:
    """Words of the memory, as they are written there and not as stems."""
    memory = make("Our databases are deployed weekly.\n")

    assert ask(memory, "datbsaes").report.suggestions == ("databases",)
    assert ask(memory, "wekly").hits  # one slip is corrected
    assert ask(memory, "xyzzy").report.suggestions == ()


def test_ignored_terms_are_in_the_report(make: Make) -> None:
    """At most 64 count."""
    memory = make("alpha\n")

    many = " ".join(f"word{chr(97 + n % 26)}{n}x" for n in range(100))

    assert ask(memory, many).report.ignored_terms > 0
    assert ask(memory, "alpha").report.ignored_terms == 0


def explained_sum(answer: SearchAnswer) -> list[float]:
    return [abs(sum(p.value for p in hit.parts) - hit.score) for hit in answer.hits]


def test_the_parts_of_every_score_add_up(make: Make) -> None:
    """Promise of `--explain`."""
    memory = make(
        *(f"# N{n}\n\n- alpha {n}\n- beta gamma\n\ndelta {n % 3}\n" for n in range(12)),
        **{"2001-02-03": "alpha beta gamma, long ago\n"},
    )

    answer = ask(memory, "alpha beta 3", max_results=100, should_explain=True)

    assert len(answer.hits) > 10
    assert max(explained_sum(answer)) < 1e-9


def test_the_newest_of_near_copies_comes_first(make: Make) -> None:
    """Yesterday's version of a fact is not the answer."""
    memory = make(
        **{
            "2024-01-01": "We deploy to staging on Mondays at nine with the script.\n",
            "2026-01-01": "We deploy to staging on Fridays at nine with the script.\n",
            "2025-01-01": "We deploy to staging on Tuesdays at nine with the script.\n",
        }
    )

    answer = ask(memory, "when do we deploy to staging", should_explain=True)

    assert paths(answer)[0] == "2026-01-01.md"
    assert max(explained_sum(answer)) < 1e-9


def test_the_same_question_gets_the_same_answer(make: Make) -> None:
    """Ties are settled by day and place, not by the numbers of an index."""
    memory = make(*["alpha beta"] * 30)

    first = ask(memory, "alpha", max_results=7)
    memory.rebuild()
    second = ask(memory, "alpha", max_results=7)

    assert paths(first) == paths(second) == sorted(paths(first))


def test_a_wanted_number_of_hits_is_kept(make: Make) -> None:
    """And what is beyond is counted."""
    memory = make(*(f"alpha number{n}" for n in range(40)))

    for wanted in (1, 5, 40, 1000):
        answer = ask(memory, "alpha", max_results=wanted)
        assert len(answer.hits) == min(wanted, 40)
        assert (answer.report.cut.over_limit > 0) == (wanted < 40)


def test_a_long_question_is_no_more_work_than_its_first_terms(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred kilobytes of somebody's clipboard."""
    memory = make(*(f"alpha beta {n}" for n in range(50)))
    text = " ".join(f"wort{n} alpha" for n in range(10_000))[:100_000]
    looked_up: list[int] = []
    find_words = SqliteView.find_words

    def counted(
        view: SqliteView,
        terms: Sequence[QueryTerm],
        *,
        limit: int,
        only_if_all_known: bool = False,
    ) -> object:
        looked_up.append(len(terms))
        return find_words(view, terms, limit=limit, only_if_all_known=only_if_all_known)

    monkeypatch.setattr(SqliteView, "find_words", counted)

    answer = ask(memory, text)

    assert answer.hits
    assert 0 < sum(looked_up) <= 2 * MAX_TERMS
    assert answer.report.ignored_terms > len(text.split()) // 2


hostile = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.text(st.sampled_from("\"'*^:(){}[]+-~\\/ \0\nANDORNOTEAR東é"), max_size=80),
)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=hostile)
def test_no_question_raises(shared: Memory, text: str) -> None:
    """Operators are words; broken text is text."""
    answer = ask(shared, text, should_explain=True)

    assert answer.report.mode == "keyword"
    assert bool(answer.hits) != bool(answer.report.why_empty)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    sandbox = Sandbox(tmp_path_factory.mktemp("home"))
    sandbox.save("a.md", "# AND OR NOT\n\nNEAR and A, \"quoted\" 'text' 東京\n")
    sandbox.save("b.md", "not or near\n\n- and\n- é\n")
    with sandbox.memory() as memory:
        yield memory
