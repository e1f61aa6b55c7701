"""Where a scenario lies on disk, and how it is put aside while another one is tried.

    <root>/subject/            what `ctx.directory` names
    <root>/receiver.sqlite3    the receiver's ledger, beside it and not below it

All lives of all scenarios of one worker see the same path, so that a path which a subject writes
down is no difference between scenarios.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resumeproof.proof.image import byte_digest, copy_image, semantic_digest
from resumeproof.stores.receiver import make_receiver, read_receiver


class ScenarioSite:
    """The directory in which one worker's scenarios take place, one after the other."""

    def __init__(self, base: Path) -> None:
        base.mkdir()
        self.root = base / "scenario"
        self._blank = base / "blank"
        self._base = base
        self._serial = 0
        self._blank.mkdir()
        (self._blank / "subject").mkdir()
        make_receiver(self._blank / "receiver.sqlite3")

    @property
    def subject(self) -> Path:
        return self.root / "subject"

    @property
    def receiver(self) -> Path:
        return self.root / "receiver.sqlite3"

    def lay_out(self, image: Path | None = None) -> None:
        """Put an image in place; None is the empty scenario, before the first life."""
        self.clear()
        copy_image(image or self._blank, self.root)

    def clear(self) -> None:
        """Remove the scenario, whatever the subject left of it."""
        shutil.rmtree(self.root, ignore_errors=True)

    @contextmanager
    def put_aside(self) -> Iterator[Path]:
        """Move the scenario away as an image, and back again; the place is free meanwhile."""
        self._serial += 1
        image = self._base / f"image-{self._serial}"
        self.root.rename(image)
        try:
            yield image
        finally:
            self.clear()
            image.rename(self.root)


def image_digest(image: Path) -> str:
    """What tells one image from another: the subject's bytes, and what the receiver holds.

    When the receiver was asked, and by which life, no subject can see.
    """
    return f"{byte_digest(image / 'subject')}:{_received(image)}"


def state_digest(image: Path) -> str:
    """What tells one state from another: what the subject's files say, databases by contents."""
    return f"{semantic_digest(image / 'subject')}:{_received(image)}"


def _received(image: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for effect in read_receiver(image / "receiver.sqlite3"):
        row = (effect.kind, effect.payload, effect.key, effect.absorbed_by)
        digest.update(repr(row).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
