"""Where a worker's scenarios take place, one after the other, and always under the same path.

So a path that a subject writes down is no difference between scenarios.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resumeproof.proof.image import copy_image


class ScenarioSite:
    """The directory of one worker. `lay_out` fills the root of an empty scenario, once."""

    def __init__(self, base: Path, lay_out: Callable[[Path], None]) -> None:
        base.mkdir()
        self.root = base / "scenario"
        self._blank = base / "blank"
        self._base = base
        self._images = 0
        self._blank.mkdir()
        lay_out(self._blank)

    def lay_out(self, image: Path | None = None) -> None:
        """Put an image in place; None is the empty scenario, before its first life."""
        self.clear()
        copy_image(image or self._blank, self.root)

    def clear(self) -> None:
        """Remove the scenario, whatever the subject left of it."""
        shutil.rmtree(self.root, ignore_errors=True)

    @contextmanager
    def put_aside(self) -> Iterator[Path]:
        """Move the scenario away as an image, and back again; the place is free meanwhile."""
        self._images += 1
        image = self._base / f"image-{self._images}"
        self.root.rename(image)
        try:
            yield image
        finally:
            self.clear()
            image.rename(self.root)
