"""Desks: an empty one, and copies of those that somebody has worked at already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.desk import Desk

Worked = Callable[[str], tuple[Desk, str]]

STATES: dict[str, Callable[[Desk], str]] = {
    "pending_approval": lambda desk: desk.create("--key", "k1"),
    "approved": lambda desk: desk.approved("--key", "k1"),
    "approved without a key": lambda desk: desk.approved(),
    "running": lambda desk: desk.crashed("--key", "k1"),
    "unknown": lambda desk: desk.unknown(),
    "completed": lambda desk: desk.completed("--key", "k1"),
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty desk."""
    path = tmp_path / "desk"
    path.mkdir()
    return Desk(path)


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Desk, str]]:
    return {}


@pytest.fixture
def worked(
    masters: dict[str, tuple[Desk, str]],
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> Worked:
    """Gives a desk of its own with one workflow in the state asked for, and the workflow's id."""

    def at(state: str) -> tuple[Desk, str]:
        if state not in masters:
            master = Desk(tmp_path_factory.mktemp("master"))
            masters[state] = master, STATES[state](master)
        master, workflow_id = masters[state]
        return master.copy_to(tmp_path / "desk"), workflow_id

    return at
