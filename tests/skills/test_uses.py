"""Uses are counted once a session; what works on different days is offered."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.cli.commands.used import OUTCOMES as OFFERED_OUTCOMES
from hivemind_memory.errors import HivemindError, MemoryNotFoundError, UsageError
from hivemind_memory.model.curation import SaveResult
from hivemind_memory.model.uses import OUTCOMES
from tests.skills.bench import LONGER, STEPS, Bench
from tests.support.sandbox import Sandbox

DAY_S = 86_400
PROCESSES = 12
SESSIONS = 25

RECORD = """
import sys
from pathlib import Path
from tests.support.sandbox import Sandbox
with Sandbox(Path(sys.argv[1])).memory() as memory:
    uses = memory.curation.uses(3)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        uses.record("deploy-shop", "applied", session=f"{sys.argv[2]}-{number}")
        uses.record("deploy-shop", "ignored", session=f"shared-{number}")
"""


def use_on_days(bench: Bench, *days: int) -> list[bool]:
    """Apply it in a session of its own on each day; return what was offered."""
    offered = []
    for number, day in enumerate(days):
        bench.sandbox.ahead_s = day * DAY_S
        offered.append(bench.use(session=f"session {number}").is_offered)
    return offered


def test_the_command_offers_the_outcomes_that_there_are() -> None:
    """Help does not load the list."""
    assert OFFERED_OUTCOMES == OUTCOMES


def test_it_is_offered_after_success_in_three_sessions_on_two_days(
    bench: Bench,
) -> None:
    """Not before, and no more once it is a skill."""
    bench.save()

    assert use_on_days(bench, 0, 0, 0) == [False, False, False]
    assert bench.offers() == []
    bench.sandbox.ahead_s = DAY_S
    assert bench.use(session="the next day").is_offered
    assert bench.offers() == ["deploy-shop"]

    bench.promote()
    assert bench.offers() == []
    assert bench.use(session="another").skill == "deploy-shop"


def test_a_session_counts_once_for_each_outcome(bench: Bench) -> None:
    """However often it is recorded."""
    bench.save()

    assert bench.use(session="a").is_new
    again = bench.use(session="a")
    assert not again.is_new
    assert again.counts.applied == 1
    assert bench.use(outcome="ignored", session="a").is_new


def test_without_a_session_a_day_counts_as_one(bench: Bench) -> None:
    """Else repeating the command would make it a success."""
    bench.save()

    assert [bench.use().counts.applied for _ in range(3)] == [1, 1, 1]
    bench.sandbox.ahead_s = DAY_S
    assert bench.use().counts.applied == 2


@pytest.mark.parametrize("outcome", ["contradicted", "corrected"])
def test_one_failure_ends_the_offer_until_the_text_is_another(
    bench: Bench, outcome: str
) -> None:
    """The new text begins at nothing."""
    bench.save()
    use_on_days(bench, 0, 1, 2)
    assert bench.offers() == ["deploy-shop"]

    bench.use(outcome=outcome, session="bad")
    assert bench.offers() == []

    bench.save(text=LONGER, reason="it takes longer")
    assert bench.use(session="new").counts.applied == 1
    use_on_days(bench, 3, 4, 5)
    assert bench.offers() == ["deploy-shop"]


def test_a_minor_correction_keeps_what_was_counted(bench: Bench) -> None:
    """A typing error is no other procedure."""
    bench.save()
    use_on_days(bench, 0, 1)

    bench.save(text=STEPS.replace("graphs", "graph"), reason="minor correction: typo")
    bench.save(text=STEPS.replace("graphs", "charts"), reason="minor correction: word")

    assert bench.use(session="third").counts.applied == 3
    assert bench.offers() == ["deploy-shop"]


def test_a_session_counts_once_though_the_text_was_corrected_meanwhile(
    bench: Bench,
) -> None:
    """Each version had counted it."""
    bench.save()
    bench.use(session="a")
    bench.save(text=STEPS.replace("graphs", "graph"), reason="minor correction: typo")

    assert bench.use(session="a").counts.applied == 1
    assert bench.use(session="b").counts.applied == 2


def test_what_promotion_refuses_is_not_offered(bench: Bench) -> None:
    """Another memory says otherwise, or its day is over."""
    bench.save()
    bench.save("other", text=LONGER, contradicts=("deploy-shop",))

    assert use_on_days(bench, 0, 1, 2) == [False] * 3
    assert bench.offers() == []


@pytest.mark.parametrize(
    "text", ["We deploy on Tuesdays.", "1. Run !`make`.\n2. Wait.\n"]
)
def test_what_can_be_no_skill_is_not_offered(bench: Bench, text: str) -> None:
    """However often it helped."""
    bench.save(text=text)
    assert use_on_days(bench, 0, 1, 2) == [False] * 3
    assert bench.offers() == []


def test_a_caller_is_offered_what_it_sees(bench: Bench) -> None:
    """Nothing of another project."""
    bench.save(scope="project/other")
    use_on_days(bench, 0, 1, 2)

    with bench.memory.as_caller(Caller(project="projects/shop")) as memory:
        limited = Bench(bench.sandbox, memory, bench.shop, bench.user)
        assert limited.offers() == []
        with pytest.raises(MemoryNotFoundError, match="Nothing was recorded"):
            limited.use()


def expect_refusal(bench: Bench, why: str, ref: str, outcome: str = "applied") -> None:
    with pytest.raises(HivemindError, match=f"{why}.*Nothing was recorded"):
        bench.use(ref, outcome)
    assert bench.offers() == []


def test_what_cannot_be_counted_is_said_in_a_sentence(bench: Bench) -> None:
    """And nothing is recorded."""
    first: SaveResult = bench.save()
    written = bench.memory.write("Deploy on Tuesdays.", file="day.md")
    (bench.sandbox.notes / "plain.md").write_text("A note without front matter.\n")

    expect_refusal(bench, "no memory", "nothing-like-it")
    expect_refusal(bench, "is an entry", written.id)
    expect_refusal(bench, "has no type", "plain.md")
    expect_refusal(bench, "not one of applied", "deploy-shop", "worked")
    bench.save(text=LONGER, reason="it takes longer")
    expect_refusal(bench, "is superseded", first.id)


def test_a_session_with_a_secret_in_its_name_is_kept_without_it(bench: Bench) -> None:
    """state.db holds no text of that kind."""
    bench.save()
    token = "ghp_" + "A1b2C3d4" * 5

    bench.use(session=f"run {token}")

    home = Path(bench.memory.places.state_file).parent
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name.endswith("-wal") for path in files)  # where it would be
    assert [path for path in files if token.encode() in path.read_bytes()] == []


@pytest.mark.thorough
def test_twelve_processes_lose_no_use(bench: Bench) -> None:
    """All at once, in sessions of their own and in the same."""
    bench.save()
    bench.memory.close()
    home = str(bench.sandbox.home)
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    [*(sys.executable, "-c", RECORD), home, str(n), str(SESSIONS)],
                    cwd=Path(__file__).parents[2],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for n in range(PROCESSES)
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [process.wait(120) for process in running] == [0] * PROCESSES

    with Sandbox(bench.sandbox.home).memory() as memory:
        counts = memory.curation.uses(3).record("deploy-shop", "corrected").counts
    assert counts.applied == PROCESSES * SESSIONS
    assert counts.ignored == SESSIONS
    assert counts.against == 1


def test_an_unknown_outcome_names_those_that_there_are(bench: Bench) -> None:
    """An agent corrects its call by it."""
    bench.save()
    with pytest.raises(UsageError, match="applied, ignored, contradicted, corrected"):
        bench.use(outcome="")
