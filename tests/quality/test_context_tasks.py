"""The context of a task holds what matters: a floor under the judged tasks."""

from __future__ import annotations

import statistics

import pytest

from benchmarks.context_tasks import PROJECTS, figures, read_parts, read_tasks

FLOORS = {
    "lendery": 0.93,
    "ferrybell": 0.96,
    "lockerly": 0.76,
    "gridwatt": 0.82,
    "clinote": 0.74,
    "archivum": 0.76,
    "reefcast": 0.74,
    "ovenbird": 0.82,
    "hutledger": 0.71,
}
"""Measured within half of what recency alone needs for all: 0.95 and 0.98; 0.77 or 0.79
since words have the forms of a search (0.80 before), by the length of the path; 0.84,
0.77, 0.78 and 0.76; 0.85; and 0.73 for the tasks written after the last rules."""

TASKS = {
    "lendery": 100,
    "ferrybell": 100,
    "archivum": 15,
    "reefcast": 15,
    "ovenbird": 40,
    "hutledger": 40,
}
"""How many tasks a project has; 20 where nothing else is said."""


@pytest.mark.parametrize("project", PROJECTS)
def test_every_piece_of_a_task_is_in_the_project(project: str) -> None:
    """A piece that no part has could never arrive."""
    texts = {part.name: part.text for part in read_parts(project)}
    missing = [
        (task.text, piece.source)
        for task in read_tasks(project)
        for piece in task.pieces
        if piece.words not in texts.get(piece.source, "\0")
    ]

    assert missing == []
    assert len(read_tasks(project)) == TASKS.get(project, 20)


@pytest.mark.thorough
@pytest.mark.parametrize("project", PROJECTS)
def test_what_matters_arrives_within_half_of_what_recency_needs(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it gets better, raise the floor."""
    monkeypatch.setenv("HIVEMIND_HOME", "")
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")

    found = figures(project)

    assert statistics.fmean(found.half) >= FLOORS[project]
    assert statistics.fmean(found.half) > statistics.fmean(found.recent_half)
