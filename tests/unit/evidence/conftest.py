"""Evidence to tamper with: made once, and copied for each test that changes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.evidence.scene import STORIES, Scene, everything


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """All stories in one pair of stores; nobody changes it."""
    return everything(tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="session")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """As few stories as put a row into every table and a value into every column."""
    scene = Scene(tmp_path_factory.mktemp("varied"))
    for name in ("unknown", "lookup found", "late call", "expired key", "retrying", "conflict"):
        STORIES[name](scene, name)
    scene.write()
    return scene


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """What the demo tells: one workflow with a key, and one without; nobody changes it."""
    scene = Scene(tmp_path_factory.mktemp("small"))
    for name in ("idempotent", "confirmed applied"):
        STORIES[name](scene, name)
    scene.write()
    return scene


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Scene], Scene]:
    """Gives a copy of a scene, to be changed."""

    def copy(scene: Scene) -> Scene:
        directory = tmp_path / "copy"
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(scene.directory, directory)
        return Scene(directory, list(scene.scenarios))

    return copy
