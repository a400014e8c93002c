"""``hm forget`` and ``hm restore`` hide and show what was meant, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.forked import HM, finish


@pytest.mark.parametrize("command", ["forget", "restore"])
@pytest.mark.parametrize("option", ["--session=bad", "--source=tool", "--day=today"])
def test_a_name_beside_another_choice_is_refused(
    tmp_path: Path, command: str, option: str
) -> None:
    """The other choice was dropped, and a memory hidden that it had left out."""
    env = {**os.environ, "HIVEMIND_HOME": str(tmp_path / "home")}
    finish([*HM, "save", "victim", "The well is deep."], env=env, cwd=tmp_path)

    done = finish(
        [*HM, command, "victim", option, *(("--yes",) if command == "forget" else ())],
        env=env,
        cwd=tmp_path,
    )

    shown = finish([*HM, "show", "victim"], env=env, cwd=tmp_path)
    assert done.returncode == 2
    assert b"cannot be combined. Nothing was changed." in done.stderr
    assert b"The well is deep." in shown.stdout
