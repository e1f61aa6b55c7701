"""Where scenarios are carried out, and how each is told to its run's certificate."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resumeproof.domain.observation import ScenarioRun
from tests.crash.certificate import PROPERTY, tally

MEMORY = Path("/dev/shm")  # a killed process loses nothing that it wrote: no verdict changes

Certify = Callable[[ScenarioRun], None]


@pytest.fixture
def directory() -> Iterator[Path]:
    """An empty directory, on a memory file system where there is one."""
    parent = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent, prefix="resumeproof-") as name:
        yield Path(name)


@pytest.fixture
def certify(record_property: Callable[[str, object], None]) -> Certify:
    """Tell the certificate of a run that is about to be judged."""
    return lambda run: record_property(PROPERTY, tally(run))
