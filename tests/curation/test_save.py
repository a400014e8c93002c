"""What a save writes, refuses and says."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivemind_memory.access.rules import Caller
from hivemind_memory.curation.save import save
from hivemind_memory.errors import (
    HivemindError,
    KeyTakenError,
    MemoryNotFoundError,
    NotSavedError,
    UnknownTypeError,
    UsageError,
)
from hivemind_memory.model.curation import NewMemory, StoredMemory, TextCandidate
from hivemind_memory.model.display import escape_line
from hivemind_memory.model.memory_types import MemoryType
from hivemind_memory.model.value import replaced
from tests.support.tiers import examples
from tests.support.typed_memory import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A home without a memory."""
    return Shelf(tmp_path / "home")


def refusal(shelf: Shelf, *args: str, **more: object) -> HivemindError:
    """Return why a save was refused; nothing may have changed."""
    before = shelf.tree()
    with pytest.raises(HivemindError) as caught:
        shelf.save(*args, **more)
    assert shelf.tree() == before
    return caught.value


def test_a_memory_is_one_file_that_a_person_can_read(shelf: Shelf) -> None:
    """The example of the documents, as it stands on the disk."""
    saved = shelf.save(
        "deploy-lesson",
        "Never deploy on Fridays: it caused incident #42.\n",
        type="Warning",
        importance=0.9,
        visibility="private",
        expires="2027-01-01",
        tags=("ci", "a, b"),
        by="claude-code",
        session="s1",
        source_ref="specs/ios.md#L40",
        is_pinned=True,
    )

    assert shelf.text("deploy-lesson.md") == (
        "---\n"
        f"id: {saved.id}\n"
        "type: lesson\n"
        "key: deploy-lesson\n"
        "importance: 0.9\n"
        "visibility: private\n"
        "created: 2026-11-21T10:03:12+00:00\n"
        "updated: 2026-11-21T10:03:12+00:00\n"
        "by: claude-code\n"
        "session: s1\n"
        "source: agent\n"
        'source_ref: "specs/ios.md#L40"\n'
        "pinned: true\n"
        "expires: 2027-01-01\n"
        'tags: [ci, "a, b"]\n'
        "---\n"
        "Never deploy on Fridays: it caused incident #42.\n"
    )
    assert (saved.start_line, saved.end_line, saved.is_new) == (17, 17, True)
    assert saved.changed_paths == (saved.path,) == ("deploy-lesson.md",)


def test_what_was_not_given_is_not_written(shelf: Shelf) -> None:
    """So that another default of tomorrow counts for the memories of today."""
    saved = shelf.save("k", "text")

    assert list(shelf.values(saved.path)) == [
        *("id", "type", "key", "created", "updated", "source")
    ]
    assert shelf.said(saved.path).importance == 0.5


def test_a_key_that_is_taken_is_refused_with_what_is_in_force(shelf: Shelf) -> None:
    """The text of the error is one that other systems' clients know."""
    first = shelf.save("auth-approach", "JWT with one hour")

    error = refusal(shelf, "auth-approach", "sessions")

    assert isinstance(error, KeyTakenError)
    assert str(error) == (
        'Active entry exists for key "auth-approach", supersede_reason required'
    )
    assert isinstance(error.current, StoredMemory)
    assert (error.current.id, error.current.text) == (first.id, "JWT with one hour")
    assert "JWT with one hour" in error.hint


def test_a_reason_replaces_and_the_old_text_stays_whole(shelf: Shelf) -> None:
    """Replaced is not deleted: why it was wrong is worth as much as what is right."""
    first = shelf.save("k", "old", type="lesson")
    before = shelf.text(first.path)

    second = shelf.save("k", "new", "it was the migration")

    assert second.path == first.path
    assert second.superseded == first.id
    values = shelf.values(second.path)
    assert (values["supersedes"], values["reason"]) == (
        first.id,
        "it was the migration",
    )
    copy = shelf.text(second.superseded_path)
    assert second.superseded_path == f"superseded/k--{first.id}.md"
    added = f"superseded_by: {second.id}\nsuperseded: 2026-11-21T10:03:14+00:00\n"
    assert copy == before.replace("---\nold", f"{added}---\nold")
    assert shelf.said(second.superseded_path).status == "superseded"


def test_a_successor_keeps_the_subject_and_drops_what_belonged_to_the_words(
    shelf: Shelf,
) -> None:
    """A private lesson must not turn public because somebody corrected it."""
    other = shelf.save("other", "x")
    shelf.save(
        "k",
        "old",
        type="lesson",
        importance=0.9,
        visibility="private",
        tags=("ci",),
        is_pinned=True,
        related=("other",),
        contradicts=("other",),
        expires="2030-01-01",
        source_ref="a.md",
        by="ada",
    )

    shelf.save("k", "new", "found out", session="s2")

    values = shelf.values("k.md")
    assert values["type"] == "lesson"
    assert (values["importance"], values["visibility"]) == (0.9, "private")
    assert (values["tags"], values["pinned"]) == (["ci"], True)
    assert values["related"] == [other.id]
    assert values["source_ref"] == "a.md"
    assert values["contradicts"] == [other.id]
    assert {"expires", "by"}.isdisjoint(values)


def test_a_new_version_contradicts_what_the_old_one_did_and_more(shelf: Shelf) -> None:
    """A dispute was over once either of the two was saved again."""
    first, second = shelf.save("first", "x"), shelf.save("second", "y")
    shelf.save("k", "old", contradicts=("first",))

    shelf.save("k", "new", "found out", contradicts=("second", "first"))
    assert shelf.values("k.md")["contradicts"] == [second.id, first.id]
    shelf.save("k", "newer", "found out more", contradicts=("second",))
    assert shelf.values("k.md")["contradicts"] == [first.id, second.id]


def test_a_minor_correction_keeps_everything_but_the_words(shelf: Shelf) -> None:
    """It says the same, better; its old text is kept like any other."""
    first = shelf.save(
        "k", "old", expires="2030-01-01", source_ref="a.md", source="human"
    )

    second = shelf.save("k", "olt", "Minor correction: a typing error")

    values = shelf.values("k.md")
    assert second.is_minor
    assert values["created"] == "2026-11-21T10:03:12+00:00"
    assert str(values["updated"]) > "2026-11-21T10:03:12+00:00"
    assert (values["expires"], values["source_ref"]) == ("2030-01-01", "a.md")
    assert values["source"] == "agent"  # the lower of both
    assert shelf.said(second.superseded_path).text == "old"
    assert first.id == second.superseded


def test_what_a_person_added_to_a_front_matter_survives(shelf: Shelf) -> None:
    """Order, comments, keys of other programs."""
    shelf.put(
        "k.md",
        "---\n# mine\naliases:\n  - one\n\n  - two\ntype: warning\nreason: >\n  long\n"
        "\n  one\ncssclass: wide   # for Obsidian\n---\n\n# Title\n\nold\n",
    )

    saved = shelf.save("k", "new", "found out")

    text = shelf.text("k.md")
    assert "# mine\n" in text
    assert "aliases:\n  - one\n\n  - two\ncssclass: wide   # for Obsidian\n---" in text
    assert shelf.values("k.md")["type"] == "lesson"
    assert shelf.values("k.md")["reason"] == "found out"
    copy = shelf.values(saved.superseded_path)
    assert copy["id"] == saved.superseded
    assert (copy["key"], copy["reason"]) == ("k", "long\none\n")
    assert copy["aliases"] == ["one", "two"]


def test_a_file_with_crlf_and_a_mark_keeps_every_byte_in_its_copy(
    shelf: Shelf,
) -> None:
    """A note from Windows, replaced."""
    shelf.put("k.md", b"\xef\xbb\xbf---\r\ntype: fact\r\nid: A-1\r\n---\r\nold\r\n")

    saved = shelf.save("k", "new", "found out")

    copy = (shelf.notes / saved.superseded_path).read_bytes()
    assert copy.startswith(b"\xef\xbb\xbf---\r\ntype: fact\r\nid: A-1\r\nkey: k\r\n")
    assert copy.endswith(b"---\r\nold\r\n")
    assert saved.superseded == "A-1"
    assert saved.superseded_path == "superseded/k--a-1.md"


def test_the_name_that_a_person_gave_stays(shelf: Shelf) -> None:
    """A memory is known by its key, wherever in its scope it was put."""
    first = shelf.save("k", "old")
    (shelf.notes / "deep").mkdir()
    (shelf.notes / first.path).rename(shelf.notes / "deep" / "friday.md")

    second = shelf.save("k", "new", "found out")

    assert second.path == "deep/friday.md"
    assert shelf.files() == ["deep/friday.md", f"superseded/k--{first.id}.md"]


@pytest.mark.parametrize(
    "broken",
    [
        b"---\ntype: lesson\nkey: [k\n---\nmine\n",
        b"---\ntype: lesson\nkey: k\n---\nmine \xff\n",
        b"---\n{type: lesson, key: k}\n---\nmine\n",
    ],
    ids=["broken front matter", "no UTF-8", "no line for each key"],
)
def test_a_file_that_cannot_be_rewritten_exactly_is_left_alone(
    shelf: Shelf, broken: bytes
) -> None:
    """And no second memory of the key appears beside it."""
    shelf.put("k.md", broken)

    error = refusal(shelf, "k", "new", "found out")

    assert isinstance(error, NotSavedError)
    assert str(error).startswith("k.md cannot be changed: ")


def test_the_same_again_is_not_written_and_says_so(shelf: Shelf) -> None:
    """Agents repeat themselves, and no reason is needed for nothing."""
    first = shelf.save("k", "text\n", tags=("a",), type="fact")
    before = shelf.tree()

    for again in (
        shelf.save("k", "\n\ntext"),
        shelf.save("k", "text", "because", tags=("a",), type="fact"),
    ):
        assert (again.is_new, again.id, again.changed_paths) == (False, first.id, ())
        assert again.hints == ("nothing was written: k.md already says exactly this",)
    assert shelf.tree() == before
    assert isinstance(refusal(shelf, "k", "text", type="lesson"), KeyTakenError)


@pytest.mark.parametrize("source", ["external", "tool"])
def test_an_untrusted_claim_waits_and_touches_nothing(
    shelf: Shelf, source: str
) -> None:
    """A page on the web must not replace what an agent knows."""
    shelf.save("k", "old")

    saved = shelf.save("k", "new", "trust me", source=source)

    assert saved.status == "pending"
    assert saved.path == f"inbox/k--{saved.id}.md"
    assert shelf.said(saved.path).status == "pending"
    assert shelf.said("k.md").text == "old"
    assert "for a person to accept it" in saved.hints[0]
    again = shelf.save("k", "new", source=source)
    assert (again.is_new, again.hints) == (False, saved.hints)
    assert shelf.files() == [saved.path, "k.md"]


def test_a_note_of_a_person_and_other_keys_of_the_name_are_never_overwritten(
    shelf: Shelf,
) -> None:
    """Keys may hold any character, names may not."""
    shelf.put("a-b.md", "# A person's note\n")
    shelf.put("c.md", "---\nno: yes: broken\n---\nfree text\n")

    taken = [shelf.save(key, key).path for key in ("a b", "A+B", "a-b!", "c")]

    assert taken == ["a-b-2.md", "a-b-3.md", "a-b-4.md", "c-2.md"]
    assert shelf.text("a-b.md") == "# A person's note\n"
    assert [shelf.said(path).text for path in taken] == ["a b", "A+B", "a-b!", "c"]


def test_a_forgotten_memory_keeps_its_file(shelf: Shelf) -> None:
    """It can be restored as long as its file is there."""
    shelf.put("k.md", "---\ntype: fact\nforgotten: 2026-01-01\n---\nonce\n")

    saved = shelf.save("k", "now")

    assert saved.path == "k-2.md"
    assert (saved.superseded, shelf.active("k")) == ("", [saved.path])


def test_a_copy_that_claims_the_same_key_is_named(shelf: Shelf) -> None:
    """Sync tools make such copies; which of both is right only a person knows."""
    shelf.save("k", "old")
    (shelf.notes / "k (conflict).md").write_text(shelf.text("k.md"))

    saved = shelf.save("k", "new", "found out")

    assert saved.path == "k.md"
    [warning] = saved.warnings
    assert warning == (
        "k (conflict).md is another active memory with this key: delete it, or give it"
        " a key of its own"
    )


def test_scopes_have_their_own_keys(shelf: Shelf) -> None:
    """One key in two projects is two memories."""
    shelf.save("k", "for all")

    saved = shelf.save("k", "here", scope="projects/shop")
    later = shelf.save("k", "here now", "moved", scope="projects/shop")

    assert saved.path == "projects/shop/k.md"
    assert later.superseded_path.startswith("projects/shop/superseded/k--")
    assert shelf.said("k.md").text == "for all"


def test_a_scope_that_the_caller_does_not_write_to_is_refused(tmp_path: Path) -> None:
    """Global is for the root side; other teams are not there at all."""
    shelf = Shelf(tmp_path, caller=Caller(teams=("teams/red",), is_root=False))

    assert isinstance(refusal(shelf, "k", "x"), NotSavedError)
    assert isinstance(refusal(shelf, "k", "x", scope="teams/blue"), NotSavedError)
    assert shelf.save("k", "x", scope="teams/red").path == "teams/red/k.md"


def test_relations_are_kept_as_ids_and_lead_somewhere(shelf: Shelf) -> None:
    """Keys change, files are renamed; an id stays."""
    a, b = shelf.save("a", "x"), shelf.save("b", "y")
    shelf.put("notes/free.md", "# Free text\n")

    saved = shelf.save(
        "k", "z", related=("a", a.id, "notes/free.md"), contradicts=(b.path,)
    )

    values = shelf.values(saved.path)
    assert values["related"] == [a.id, "notes/free.md"]
    assert values["contradicts"] == [b.id]


@pytest.mark.parametrize("end", ["nothing", "hidden", "01ARYZ6S410000000000000000"])
def test_an_edge_to_nothing_and_to_what_is_hidden_are_refused_alike(
    tmp_path: Path, end: str
) -> None:
    """Whoever could tell them apart would know what others have."""
    Shelf(tmp_path).save("hidden", "x", scope="teams/blue")
    shelf = Shelf(tmp_path, caller=Caller(teams=("teams/red",)))

    error = refusal(shelf, "k", "z", contradicts=(end,))

    assert isinstance(error, MemoryNotFoundError)
    assert str(error) == f"There is no memory {end!r}. Nothing was saved."


def test_a_memory_is_not_related_to_itself(shelf: Shelf) -> None:
    """Nor does it contradict what it replaces: that is what replacing says."""
    shelf.save("k", "old")

    error = refusal(shelf, "k", "new", "found out", contradicts=("k",))

    assert isinstance(error, UsageError)


@pytest.mark.parametrize(
    ("changes", "clause"),
    [
        ({"key": " \n "}, "the key is blank"),
        ({"key": "k" * 201}, "the key has 201 characters; the limit is 200"),
        ({"key": "k\ud800"}, "the key is not valid Unicode: it holds a lone surrogate"),
        ({"content": " \r\n\t"}, "the content is empty"),
        (
            {"content": "x" * 4001},
            "the content has 4,001 characters; the limit for a memory is 4,000",
        ),
        (
            {"content": "\udfff"},
            "the content is not valid Unicode: it holds a lone surrogate",
        ),
        ({"importance": 1.1}, "importance cannot be 1.1"),
        ({"importance": float("nan")}, "importance cannot be nan"),
        ({"importance": True}, "importance cannot be True"),
        ({"visibility": "secret"}, "visibility cannot be 'secret'"),
        ({"source": "me"}, "source cannot be 'me'"),
        ({"expires": "soon"}, "expires cannot be 'soon'"),
        ({"expires": "20270131"}, "expires cannot be '20270131'"),
        ({"reason": "r" * 1001}, "the reason has 1,001 characters; the limit is 1,000"),
        ({"tags": ("t",) * 51}, "tags has 51 items; the limit is 50"),
        ({"by": "\ud800"}, "the by is not valid Unicode: it holds a lone surrogate"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_one_sentence(
    shelf: Shelf, changes: dict[str, object], clause: str
) -> None:
    """With what to do about it."""
    given = {"key": "k", "content": "text", **changes}

    error = refusal(shelf, str(given.pop("key")), str(given.pop("content")), **given)

    assert str(error).lower() == f"{clause}. nothing was saved.".lower()
    assert error.hint
    assert not shelf.files()


def test_unknown_types_are_refused_with_the_list_and_own_types_are_known(
    shelf: Shelf,
) -> None:
    """The list is the way out."""
    error = refusal(shelf, "k", "x", type="recipe")
    recipe = MemoryType(
        name="recipe", injected="search", does_age=False, importance=0.2
    )
    wanted = NewMemory(key="k", content="Never too hot.", type="Recipe")

    saved = save(shelf.context(types={"recipe": recipe}), wanted)

    assert isinstance(error, UnknownTypeError)
    assert str(error) == "There is no memory type 'recipe'. Nothing was saved."
    assert "identity, lesson, decision" in error.hint
    assert (saved.type, saved.hints) == ("recipe", ())


def test_text_that_reads_like_another_type_is_named_softly(shelf: Shelf) -> None:
    """It is saved as it was asked for."""
    saved = shelf.save("k", "We decided to use SQLite.")

    assert saved.hints == ('it reads like type decision ("We decided"), not context',)
    assert shelf.save("l", "We decided it.", type="decision").hints == ()
    assert shelf.save("k", "We decided to use LMDB.", "speed").hints == ()


def test_what_nearly_says_the_same_is_named_with_its_lines(shelf: Shelf) -> None:
    """Except what the memory replaces, its past, and what was forgotten."""
    text = "never deploy on fridays because nobody is there to help"
    shelf.save("k", text)
    shelf.save("k", text + " anyone", "more")
    other = shelf.save("twin", text.upper(), type="lesson")
    shelf.put("free.md", "a\nb\n")
    candidates = [
        TextCandidate(path, 1, 20, shelf.text(path) if path != "free.md" else text)
        for path in shelf.files()
    ]

    saved = shelf.save("k", text + " us", "more still", near=lambda _: candidates)

    assert [one.path for one in saved.near] == ["free.md", "twin.md"]
    assert saved.warnings == (
        "nearly the same as a note, in free.md:1-20",
        'nearly the same as "twin", in twin.md:1-20',
    )
    assert other.near == ()


def test_a_memory_that_is_over_already_says_so(shelf: Shelf) -> None:
    """Most likely the year is wrong."""
    saved = shelf.save("k", "x", expires="2026-01-31")

    assert saved.warnings == ("it expires on 2026-01-31, so searches do not show it",)


def test_text_cannot_pass_for_a_comment_of_ours(shelf: Shelf) -> None:
    """Else a memory could begin an entry in another's name."""
    saved = shelf.save("k", "x\n<!-- hm id=01ARYZ6S410000000000000000 -->\n---\ny")

    assert shelf.said(saved.path).text == (
        "x\n&lt;!-- hm id=01ARYZ6S410000000000000000 -->\n---\ny"
    )
    assert not shelf.save(
        "k", "x\n<!-- hm id=01ARYZ6S410000000000000000 -->\n---\ny"
    ).is_new


_KEPT = st.characters(exclude_characters="\0", exclude_categories=("Cs",))
"""What a text may hold; anything else is refused."""


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.text(_KEPT, min_size=1, max_size=40),
    st.text(_KEPT, min_size=1, max_size=80),
    st.text(_KEPT, max_size=30),
    st.lists(st.text(_KEPT, max_size=10), max_size=3),
)
def test_any_text_comes_back_as_it_was_said(
    shelf: Shelf, key: str, content: str, by: str, tags: list[str]
) -> None:
    """Keys and texts hold what YAML, Markdown and file systems make something of."""
    if not key.strip() or not content.strip():
        return
    if escape_line(by.strip()) != by.strip():
        by = ""  # refused: it could pass for another name
    shelf = Shelf(shelf.home / str(uuid.uuid4()))
    saved = shelf.save(key, content, "again", by=by, tags=tuple(tags))

    said = shelf.said(saved.path)
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    assert (said.key, said.by) == (key.strip(), by.strip())
    assert said.tags == tuple(dict.fromkeys(t.strip() for t in tags if t.strip()))
    assert said.text.strip() == text.strip()
    line = shelf.text(saved.path).split("\n")[saved.start_line - 1]
    assert line.strip()
    assert line.strip() in text
    assert shelf.active(key.strip()) == [saved.path]


def test_files_and_folders_are_private(shelf: Shelf) -> None:
    """Under any umask, from the first moment."""
    shelf.save("k", "x", scope="teams/red")
    shelf.save("k", "y", "z", scope="teams/red")

    for path in (
        *shelf.notes.rglob("*"),
        *(shelf.notes / ".index" / "locks").iterdir(),
    ):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)


def test_a_saved_value_knows_what_must_be_indexed(shelf: Shelf) -> None:
    """Both notes of a replacement change."""
    shelf.save("k", "x")

    saved = shelf.save("k", "y", "z")

    assert saved.changed_paths == (saved.path, saved.superseded_path)
    assert replaced(saved, is_indexed=True).is_indexed


def test_a_type_in_the_place_of_the_key_is_named(shelf: Shelf) -> None:
    """`hm save preference tone short` saved a memory with the key "preference"."""
    saved = shelf.save("preference", "tone: short answers")

    assert saved.hints == ('its key is "preference", its type is context',)
    assert shelf.save("todo", "Ship the search.", type="todo").hints == ()


@pytest.mark.parametrize("source", ["Human", "Ada", "[human, agent]"])
def test_an_edit_makes_no_trusted_memory_untrusted(shelf: Shelf, source: str) -> None:
    """Its source is a name, or a word in capitals; the new version was external."""
    head = f"---\nid: 01K{'E' * 23}\ntype: fact\nkey: tea\nsource: {source}\n---\n"
    shelf.put("tea.md", f"{head}At four.\n")

    shelf.save("tea", "At five.", "a typo", is_edit=True)

    assert shelf.values("tea.md")["source"] == "agent"
