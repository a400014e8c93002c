"""The pages of skills and of the language model's jobs, and claims that are edited."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.model.skills import SkillRequest
from hivemind_memory.state.jobs import Jobs
from hivemind_memory.state.model_rest import ModelRest, Rest
from tests.dashboard.reader import Elements, Reader
from tests.http_api.served import Served, add_token, save, serving

STEPS = "How we release:\n\n1. Tag the commit.\n2. Push the tag.\n"


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose skills go below the folder of the test."""
    monkeypatch.setenv("HOME", str(home.parent / "user"))
    (home.parent / "user").mkdir()
    return home


def test_a_memory_becomes_a_skill_and_a_memory_again(
    reader: Reader, home: Path
) -> None:
    """Seen first, written then, shown with its copies, removed."""
    memory_id = save("release", STEPS, type="lesson")
    file = home.parent / "user" / ".claude" / "skills" / "release" / "SKILL.md"
    assert "No memory is a skill yet." in reader.page("/skills").text
    assert f"/memory/{memory_id}/promote" in reader.page("/release").text

    form = reader.page(f"/{memory_id}/promote").text
    assert "2. Push the tag." in form
    assert not file.exists()

    fields = {"place": "user", "description": "How to release the shop."}
    made = reader.send(f"/{memory_id}/promote", on=f"/{memory_id}/promote", **fields)
    assert made.status_code == 200
    assert "Written: " in made.text
    assert "How to release the shop." in file.read_text(encoding="utf-8")
    shown = reader.page("/skills/show?name=release").text
    assert str(file) in shown
    assert "up to date" in shown

    file.write_text(file.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")
    refused = reader.send("/skills/demote", on="/release", name="release")
    assert refused.status_code == 400
    assert file.exists()
    gone = reader.send("/skills/demote", on="/release", name="release", discard="1")
    assert "The memory stays." in gone.text
    assert not file.exists()
    assert reader.page("/release").status_code == 200


def test_only_a_person_makes_and_removes_skills(served: Served, home: Path) -> None:
    """A token is a program's, and a place is one that the page offers."""
    memory_id = save("release", STEPS, type="lesson")
    save("plain", "Nothing to follow.", type="fact")
    with Reader(served) as person:
        person.follow_link()
        elsewhere = {"place": str(home)}
        answer = person.send(f"/{memory_id}/promote", **elsewhere)
        assert "Choose one of the places." in answer.text
        assert "/promote" not in person.page("/plain").text
        refused = person.page("/plain/promote")
        assert (refused.status_code, "steps" in refused.text) == (409, True)
    with Reader(served) as program:
        program.log_in(add_token("bot"))
        assert program.page("/skills").status_code == 200
        assert program.page(f"/{memory_id}/promote").status_code == 403
        sent = program.send(f"/{memory_id}/promote", place="user")
        assert sent.status_code == 403
        assert program.send("/skills/demote", name="release").status_code == 403
    assert not (home.parent / "user" / ".claude").exists()


def test_a_job_that_failed_is_run_again_by_a_button(reader: Reader) -> None:
    """And the page says which memory it is about, and why it failed."""
    known = save("deploy-day", "On Tuesdays.")
    assert "No job is waiting." in reader.page("/jobs").text
    with opening.open_memory() as memory:
        jobs = Jobs(memory.state())
        jobs.add("links", [known], now_s=1.0)
        job = jobs.take("me", now_s=2.0)
        assert job is not None
        jobs.end(job, "me", problem="the server said 500")

    page = reader.page("/jobs").text
    assert "deploy-day" in page
    assert "the server said 500" in page
    sent = reader.send("/jobs/retry", on="/jobs", number=str(job.number))

    assert "1 job will run again." in sent.text
    assert "Run again" not in sent.text
    assert "1 job waiting" in reader.page("/health").text
    bad = reader.send("/jobs/retry", on="/new", number="x")
    assert (bad.status_code, "names no job" in bad.text) == (400, True)


def test_a_job_that_waits_because_the_model_rests_is_run_by_a_button(
    reader: Reader,
) -> None:
    known = save("deploy-day", "On Tuesdays.")
    with opening.open_memory() as memory:
        now_s = memory.clocks.now()
        Jobs(memory.state()).add("links", [known], now_s=now_s)
        rest = Rest(now_s + 3_000, "The server received too many requests.")
        ModelRest(memory.state()).keep(rest)

    page = reader.page("/jobs").text
    assert "received too many requests" in page
    assert "Run now" in page
    sent = reader.send("/jobs/retry", on="/jobs", number="1")

    assert "1 job will run again." in sent.text
    assert "received too many requests" not in sent.text


def test_who_sees_skills_and_jobs(served: Served) -> None:
    """Skills by scope; jobs are about all of them."""
    save("shop", "A shop.", scope="projects/shop")
    with Reader(served) as program:
        program.log_in(add_token("shop-only", project="shop"))
        assert program.page("/skills").status_code == 200
        assert program.page("/jobs").status_code == 404
        assert program.send("/jobs/retry", number="1").status_code == 404
    with serving("--public") as public, Reader(public) as visitor:
        assert visitor.page("/skills").status_code == 404
        assert visitor.page("/jobs").status_code == 404


def test_a_claim_is_edited_and_stays_pending(reader: Reader, home: Path) -> None:
    """A typing error was mended, and its links, importance and certainty were gone."""
    save("host", "The host is db1.", type="fact")
    save("dock", "The dock is 7.", type="fact")
    claim = save(
        "port",
        "The prot is 1.",
        type="fact",
        source="external",
        source_ref="specs/net.md#L4",
        importance=0.9,
        related=("host",),
        contradicts=("dock",),
        reason="the harbor moved",
        tags=("net",),
        more={"confidence": "high", "domains": ["a.example"], "mood": "calm"},
    )
    (note,) = (home / "memory").rglob("port*.md")
    entry = f"<!-- hm id=01K{'E' * 23} source=tool at=2026-11-21T14:03:11+01:00 -->"
    with note.open("a", encoding="utf-8") as file:
        file.write(f"\n{entry}\nA log line.\n")
    before = note.read_text(encoding="utf-8")
    form = reader.page(f"/inbox/edit?ref={claim}").text
    assert "The prot is 1." in form
    assert "A log line." not in form

    fields = {"ref": claim, "content": "The port is 1."}
    on = f"/inbox/edit?ref={claim}"
    saved = reader.send("/inbox/edit", on=on, **fields)
    again = reader.send("/inbox/edit", on=on, **fields)

    assert "Saved; it still waits for you." in saved.text
    assert "Nothing changed." in again.text
    assert note.read_text(encoding="utf-8") == before.replace("prot", "port")
    with opening.open_memory() as memory:
        [pending] = memory.curation.pending()
    assert (pending.id, pending.source) == (claim, "external")
    assert "The port is 1." in reader.page(f"/inbox/edit?ref={claim}").text
    blank = reader.send("/inbox/edit", on="/inbox", ref=claim, content=" ")
    assert (blank.status_code, "content is empty" in blank.text) == (400, True)


def test_a_claim_that_was_edited_meanwhile_is_not_overwritten(
    reader: Reader, home: Path
) -> None:
    """The form named no version, so the last one to save won without a word."""
    claim = save("port", "The prot is 1.", type="fact", source="external")
    page = reader.page(f"/inbox/edit?ref={claim}").text
    [version] = re.findall(r'name="version" value="(\w+)"', page)
    (note,) = (home / "memory").rglob("port*.md")
    note.write_text(note.read_text().replace("prot is 1", "prot is 2 at night"))

    fields = {"ref": claim, "content": "The port is 1.", "version": version}
    refused = reader.send("/inbox/edit", on="/inbox", **fields)

    assert refused.status_code == 409
    assert "has changed since you began" in refused.text
    assert "The prot is 2 at night." in refused.text
    assert "The port is 1.</textarea>" in refused.text
    assert "2 at night" in note.read_text()
    [newer] = re.findall(r'name="version" value="(\w+)"', refused.text)
    saved = reader.send("/inbox/edit", on="/inbox", **{**fields, "version": newer})
    assert "Saved; it still waits for you." in saved.text
    assert "The port is 1." in note.read_text()


def test_a_proposal_is_edited_and_stays_one(reader: Reader) -> None:
    """Its source is trusted, and saved anew it would not have waited."""
    claim = save("port", "The prot is 1.", type="fact", is_proposal=True)

    fields = {"ref": claim, "content": "The port is 1."}
    reader.send("/inbox/edit", on=f"/inbox/edit?ref={claim}", **fields)

    with opening.open_memory() as memory:
        [pending] = memory.curation.pending()
    assert (pending.id, pending.text) == (claim, "The port is 1.")


def test_a_search_and_a_list_are_narrowed_to_a_source(
    reader: Reader, home: Path
) -> None:
    """Of memories, and of entries in a note of another source."""
    save("mine", "The zebra is mine.", source="human")
    save("theirs", "The zebra is theirs.")
    entry = f"<!-- hm id=01K{'E' * 23} source=tool at=2026-11-21T14:03:11+01:00 -->"
    text = f"# Zebras\n\n{entry}\nThe zebra is a log line.\n"
    (home / "memory" / "log.md").write_text(text, encoding="utf-8")
    found = {}
    for source in ("human", "agent", "tool"):
        page = reader.page(f"?q=zebra&source={source}").text
        names = ("mine", "theirs", "a log line")
        found[source] = {name for name in names if f"is {name}" in _plain(page)}
    assert found == {"human": {"mine"}, "agent": {"theirs"}, "tool": {"a log line"}}
    listed = reader.page("?source=human").text
    assert ("zebra is mine" in listed, "zebra is theirs" in listed) == (True, False)
    assert reader.page("?q=zebra&source=nobody").status_code == 400


def _plain(page: str) -> str:
    """Return a page without the marks of found words."""
    return page.replace("<mark>", "").replace("</mark>", "")


def test_two_skills_of_one_name_are_opened_from_their_list(
    reader: Reader, home: Path
) -> None:
    """That for every project was not: its page asked which of the two was meant."""
    save("release", STEPS, type="lesson")
    shop = "How the shop is released:\n\n1. Ask Ann.\n2. Push the tag.\n"
    save("release", shop, "projects/shop", type="lesson")
    repository = home.parent / "shop"
    repository.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    with opening.open_memory() as memory:
        # The other way around, the second one is refused: the first would hide it.
        for row in sorted(memory.memories(), key=lambda row: row.scope == ""):
            request = SkillRequest(ref=row.memory_id, is_for_user=not row.scope)
            folder = str(repository) if row.scope else ""
            opening.open_skills(memory, folder).promote(request)

    found = Elements(reader.page("/skills").text).found
    links = [at["href"] for tag, at in found if at.get("class") == "open"]
    pages = [reader.page(link.removeprefix("/memory")) for link in links]

    assert [page.status_code for page in pages] == [200, 200]
    assert sum("Tag the commit." in page.text for page in pages) == 1
    assert sum("Ask Ann." in page.text for page in pages) == 1
