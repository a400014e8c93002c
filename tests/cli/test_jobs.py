"""`hm jobs`, and what `hm status` and `hm inbox` say of the language model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivemind_memory.errors import ChatError, ChatRefusedError
from hivemind_memory.state.jobs import FAILED, MAX_TRIES
from hivemind_memory.testing import FakeChat
from tests.cli.conftest import Hm
from tests.support.model_home import NEW, OLD, ModelHome
from tests.support.sandbox import Sandbox


def test_hm_jobs_lists_and_retries_what_failed(
    hm: Hm, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notes.is_dir()
    monkeypatch.setenv("HIVEMIND_LLM_PROVIDER", "openai")
    monkeypatch.setenv("HIVEMIND_LLM_MODEL", "m")
    monkeypatch.setenv("HIVEMIND_LLM_API_KEY", "sk-1")
    assert "no jobs are waiting; language model: openai m" in hm("jobs").err
    sandbox = Sandbox(home)
    model = ModelHome(sandbox)
    for scope, end in (("", ""), ("projects/shop", "-shop")):
        model.save(f"deploy-day{end}", OLD, scope=scope)
        model.save(f"deploy-time{end}", NEW, scope=scope)
    # Nothing said so: "no jobs are waiting".
    waiting = "; 4 saved memories wait for `hm watch` or an agent's server"
    assert waiting in hm("jobs").err
    assert waiting in hm("status").out
    chat = FakeChat()
    chat.failure = ChatRefusedError("OpenAI did not accept the key (401).")
    for _ in range(MAX_TRIES):
        model.run(chat)
        sandbox.ahead_s += 3_600

    rows = json.loads(hm("jobs", "--json").out)

    # The older ones have nothing to be compared with.
    assert {row["key"] for row in rows} == {"deploy-time", "deploy-time-shop"}
    assert {row["state"] for row in rows} == {FAILED}
    assert "did not accept the key" in hm("jobs").out
    status_text = hm("status").out
    assert "jobs: 2 failed (`hm jobs` lists them); OpenAI did not" in status_text
    status = json.loads(hm("status", "--json").out)["language_model"]
    assert status["jobs"] == {FAILED: 2}
    assert hm("jobs", "retry", str(rows[0]["number"])).out == "1 job will run again\n"
    assert hm("jobs", "retry").out == "1 job will run again\n"
    assert "nothing runs jobs now: start `hm watch`" in hm("jobs").err
    assert "no job failed" in hm("jobs", "retry").err
    assert hm("jobs", "retry", "x").code == 2
    assert "There is no job 99." in hm("jobs", "retry", "99").err


def test_hm_jobs_says_until_when_all_jobs_wait_and_why_and_hastens_them(
    hm: Hm, notes: Path, home: Path
) -> None:
    """Also of a job that was not asked about itself."""
    assert notes.is_dir()
    model = ModelHome(Sandbox(home))
    for key, text in (("day", OLD), ("time", NEW), ("hour", f"{NEW} At ten.")):
        model.save(f"deploy-{key}", text)
    chat = FakeChat()
    chat.failure = ChatError("Too many requests.", retry_after_s=10**9)
    model.run(chat)

    first, second, briefing = json.loads(hm("jobs", "--json").out)

    assert {row["due_at"] for row in (second, briefing)} == {first["due_at"]}
    assert first["due_at"] > first["added_at"]
    assert {row["problem"] for row in (first, second)} == {"Too many requests."}
    assert (second["tries"], briefing["kind"]) == (0, "briefing")
    again = hm("jobs", "retry", str(second["number"]))
    assert again.out == "1 job will run again\n"
    rows = json.loads(hm("jobs", "--json").out)
    assert rows[1]["due_at"] == rows[1]["added_at"]


def test_hm_status_says_that_no_model_is_chosen(hm: Hm, notes: Path) -> None:
    assert "language model: none" in hm("status").out


def test_a_proposed_link_is_listed_and_accepted_in_the_inbox(
    hm: Hm, notes: Path, home: Path
) -> None:
    """With its id, beside the claims; what hides waits for a person."""
    assert notes.is_dir()
    model = ModelHome(Sandbox(home))
    model.save("deploy-day", OLD)
    model.run()
    model.save("deploy-time", NEW)
    model.reply_with("updates")
    model.run()

    [row] = json.loads(hm("inbox", "--json").out)
    assert f"`hm show {row['id']}` prints both texts" in hm("inbox").err
    shown = hm("show", row["id"]).out
    assert shown.endswith(f"newer: {NEW}\nolder: {OLD}\n")
    assert "has no text of its own" in hm("inbox", "edit", row["id"]).err
    assert "1 proposed in `hm inbox`" in hm("status").out
    accepted = hm("inbox", "accept", row["id"])

    assert "deploy-time updates deploy-day" in row["text"]
    assert accepted.out == "linked deploy-time.md updates deploy-day.md\n"
    assert "the inbox is empty" in hm("inbox").err


def test_a_proposal_that_the_inbox_does_not_list_is_not_counted(
    hm: Hm, notes: Path, home: Path
) -> None:
    """One of its memories was replaced: `hm status` named a proposal, and none was."""
    assert notes.is_dir()
    model = ModelHome(Sandbox(home))
    model.save("deploy-day", OLD)
    model.run()
    model.save("deploy-time", NEW)
    model.reply_with("updates")
    model.run()
    hm("forget", "deploy-day")

    assert "the inbox is empty" in hm("inbox").err
    assert "proposed" not in hm("status").out


def test_a_link_of_the_model_is_shown_as_its_own(
    hm: Hm, notes: Path, home: Path
) -> None:
    assert notes.is_dir()
    model = ModelHome(Sandbox(home))
    model.save("deploy-day", OLD)
    model.run()
    model.save("deploy-time", NEW)
    model.reply_with("contradicts", 0.8)
    model.run()

    shown = hm("show", "deploy-time").out

    assert "contradicts: deploy-day.md (weight 0.8, by the language model)" in shown
