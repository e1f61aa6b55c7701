"""A JSON journal is born whole, and so is each workflow in it: by the rename of a directory."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

from resumeproof.stores.durable import sync_directory, write_synced
from resumeproof.stores.gate import gate
from resumeproof.stores.json_form import (
    BIRTHS_NAME,
    IDENTITY_NAME,
    TIMELINE_NAME,
    WORKFLOWS_NAME,
    Identity,
)

_BIRTH_SUFFIX = ".birth.d"  # no name that stores.birth would take for one of its own
_WAIT_SECONDS = 10.0


def create(place: Path, identity: Identity) -> bool:
    """Create an empty journal; False if something is at `place` already.

    Raises `StoreNotFound` where there is no directory to create it in, and `OSError` with nothing
    left behind.
    """
    with gate(place, "journal", _WAIT_SECONDS) as alone:
        if os.path.lexists(place):
            return False
        if alone:
            # Whoever built these died, or it would be at the gate.
            for entry in place.parent.iterdir():
                if entry.name.startswith(f".{place.name}.") and entry.name.endswith(_BIRTH_SUFFIX):
                    shutil.rmtree(entry)
        token = f"{os.getpid():x}-{time.monotonic_ns():x}"
        birth = place.with_name(f".{place.name}.{token}{_BIRTH_SUFFIX}")
        birth.mkdir()
        try:
            write_synced(birth / IDENTITY_NAME, identity.to_bytes())
            for name in (WORKFLOWS_NAME, BIRTHS_NAME):
                (birth / name).mkdir()
            sync_directory(birth)
            birth.rename(place)
        except OSError as error:
            shutil.rmtree(birth, ignore_errors=True)
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                return False
            raise
        sync_directory(place.parent)
    return True


def unborn(journal: Path) -> list[Path]:
    """What is not born yet; nothing where the empty directory was lost, as it is in a Git clone."""
    births = journal / BIRTHS_NAME
    return sorted(births.iterdir()) if births.exists() else []


def conceive(directory: Path) -> None:
    """Make the directory of a workflow that is not born yet. Raises `OSError`."""
    # A creator of the same workflow may have died before its first save.
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / TIMELINE_NAME).touch(exist_ok=False)


def bear(journal: Path, directory: Path) -> Path:
    """Put a workflow into its place, with its first save, and return it. Raises `OSError`."""
    place = journal / WORKFLOWS_NAME / directory.name
    directory.rename(place)
    sync_directory(place.parent)
    return place


def next_number(journal: Path) -> int:
    """The place of a new workflow in the order of creation: no workflow is ever deleted."""
    return 1 + sum(1 for _ in (journal / WORKFLOWS_NAME).iterdir())
