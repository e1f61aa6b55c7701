"""How much memory the images of an exploration may take."""

from __future__ import annotations

from typing import Final

from resumeproof.errors import UsageRefused

_SHARES: Final = 3
"""Of the free memory images get one; what workers come to change is copied, and is another."""


class Room:
    """Memory for images, of which all are held at once. `limit_bytes` is for the whole process."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        import psutil

        self._process = psutil.Process()
        free_bytes = psutil.virtual_memory().available // _SHARES
        self._limit_bytes = self._taken() + free_bytes if limit_bytes is None else limit_bytes

    def _taken(self) -> int:
        taken_bytes: int = self._process.memory_info().rss
        return taken_bytes

    def must_be_left(self, images: int) -> None:
        """Raises `UsageRefused` where so many images have filled it."""
        if self._taken() > self._limit_bytes:
            raise UsageRefused(
                f"the states of this program do not fit into memory: {images} of them are more "
                f"than {self._limit_bytes >> 20} MiB; let it write or print less"
            )
