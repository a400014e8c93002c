"""hm inject where nothing keeps a section out of others' sight: it asks first."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.inject.conftest import make_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that the commands use, in the home folder of a person."""
    folder = make_home(tmp_path / "person" / ".hivemind")
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    return folder


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("plain", "is not in a git repository"),
        ("person", "is your home folder, and agents read it in every folder below"),
    ],
)
def test_it_asks_once_outside_a_repository_and_in_the_home_folder(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    why: str,
) -> None:
    """Without a terminal it writes nothing; what was agreed to is not asked again."""
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    asked: list[str] = []

    def answer(question: str, *_: object, **__: object) -> bool:
        asked.append(question)
        return False

    refused = main.main(["inject", str(place)])
    said = capsys.readouterr()
    left = [path.name for path in place.iterdir()]
    agreed = main.main(["inject", "--yes", str(place)])
    again = main.main(["inject", str(place)])
    main.main(["eject", str(place)])
    after_eject = main.main(["inject", str(place)])
    monkeypatch.setattr("hivemind_memory.cli.commands.inject.is_sure", answer)
    declined = main.main(["inject", str(place)])

    assert (refused, said.out) == (1, "")
    assert f"Nothing was injected: {place} {why}; pass --yes" in said.err
    assert "CLAUDE.md" not in left
    assert (agreed, again) == (0, 0)
    assert (after_eject, declined) == (1, 1)
    assert asked == [f"{place} {why}. Inject there?"]
    assert not (place / "CLAUDE.md").exists()


def test_outside_a_repository_it_says_what_a_later_git_init_would_commit(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no git folder yet that could keep the section out of a commit."""
    place = tmp_path / "plain"
    place.mkdir()

    said = []
    for _ in range(2):
        assert main.main(["inject", "--yes", str(place)]) == 0
        said.append(capsys.readouterr().err)

    assert "run `hm inject` again before the first commit" in said[0]
    assert "git" not in said[1]
