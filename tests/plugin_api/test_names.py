"""Names of namespaces, and the folders that they mean."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.model.scope import FOLDERS, slug_problem
from hivemind_memory.plugin_api.names import (
    NAME_PATTERN,
    check_name,
    name_of_scope,
    scope_of_name,
)
from hivemind_memory.plugin_api.refusal import RefusedError
from hivemind_memory.plugin_api.rows import (
    day_after,
    read_uuid,
    ulid_of_uuid,
    uuid_of_ulid,
)

names = st.from_regex(NAME_PATTERN, fullmatch=True).filter(lambda name: len(name) < 257)


@given(names)
def test_every_name_means_a_folder_that_there_may_be(name: str) -> None:
    """Whatever it holds; and always the same one."""
    scope = scope_of_name(check_name(name))

    folder, _, slug = scope.partition("/")
    assert scope == "" or folder in FOLDERS.values()
    assert (scope == "") == name.startswith("org:")
    assert scope == "" or slug_problem(slug) == ""
    assert scope_of_name(name) == scope


@given(names, names)
def test_names_that_differ_mean_different_folders(first: str, second: str) -> None:
    """But for the org, and for what may be a folder's name under two beginnings."""
    if first == second or {first[:4], second[:4]} & {"org:"}:
        return
    if scope_of_name(first) == scope_of_name(second):
        assert {first.partition(":")[0], second.partition(":")[0]} == {
            "custom",
            "project",
        }


@pytest.mark.parametrize("scope", ["workspaces/web", "teams/red", "projects/shop", ""])
def test_a_scope_without_a_name_has_one_that_means_it(scope: str) -> None:
    """So v2 can name it."""
    assert scope_of_name(name_of_scope(scope)) == scope


@pytest.mark.parametrize(
    "name",
    ["", "web", "Workspace:a", "a:", ":a", "a: b", "a:é", "a:b\n", f"a:{'b' * 255}"],
)
def test_other_names_are_refused(name: str) -> None:
    """As the contract says; a newline at the end too."""
    with pytest.raises(RefusedError):
        check_name(name)
    assert len(name) > 256 or not re.fullmatch(NAME_PATTERN.rstrip("$"), name)


@given(st.uuids())
def test_an_id_has_two_forms(own: object) -> None:
    """Each says the other."""
    assert uuid_of_ulid(ulid_of_uuid(str(own))) == str(own)
    assert read_uuid(str(own).upper()) == str(own)


@pytest.mark.parametrize("text", ["", "x", "5b1f0c1e7c1e4f439d4d0f9f7f1d2a10", "{}"])
def test_other_texts_are_no_ids(text: str) -> None:
    """A path may hold anything."""
    assert read_uuid(text) is None
    assert uuid_of_ulid(text) == ""


@given(st.floats(0, 4e9), st.sampled_from([-43_200, 0, 3_600, 50_400]))
def test_a_note_is_over_with_the_first_whole_day(end_s: float, offset_s: int) -> None:
    """Never while it is alive, and never a day too late."""
    from datetime import date

    first = (date.fromisoformat(day_after(end_s, offset_s)) - date(1970, 1, 1)).days

    assert (first - 1) * 86_400 < end_s + offset_s <= first * 86_400
