"""An injection visits its own worktree alone, however many others are known."""

from __future__ import annotations

import builtins
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.inject.injector import Injector
from hivemind_memory.model.injection_outcomes import UNCHANGED
from tests.inject.repos import git, make_repo

FEW, MANY = 2, 12
Calls = list[tuple[str, str]]
"""Which file or folder was opened, and which program was started."""


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    """Record what is opened and started."""
    calls: Calls = []

    def record(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            calls.append((name, repr(values[0])))
            return real(*values, **named)

        return call

    with monkeypatch.context() as patch:
        for module, name in (
            (builtins, "open"),
            (os, "open"),
            (os, "scandir"),
            (os, "listdir"),
            (subprocess, "Popen"),
        ):
            patch.setattr(module, name, record(name, getattr(module, name)))
        yield calls


@pytest.mark.parametrize("is_linked", [True, False])
def test_an_injection_visits_no_other_worktree_however_many_are_known(
    injector: Injector,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_linked: bool,
) -> None:
    """Each agent has one, so hundreds are known; one may be on a disk that is away.

    Of other projects it reads what says which repositories they have, and lists notes.
    """
    repo = make_repo(tmp_path / "repo")
    starts = []

    for first, last in ((0, FEW), (FEW, MANY)):
        for number in range(first, last):
            other = tmp_path / f"other-{number}" / "code"
            if is_linked:
                git(repo, "worktree", "add", "-q", "--detach", str(other))
            else:
                make_repo(other)
            injector.inject(str(other))
        injector.inject(str(repo))
        with recorded(monkeypatch) as calls:
            assert injector.inject(str(repo)).outcome == UNCHANGED
        assert not [call for call in calls if str(tmp_path / "other-") in call[1]]
        starts.append([text for name, text in calls if name == "Popen"])

    assert starts[0]
    assert starts[1] == starts[0]
