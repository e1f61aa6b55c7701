"""What lies below a directory, byte for byte."""

from __future__ import annotations

from pathlib import Path


def tree(directory: Path) -> dict[str, bytes | None]:
    """Every file below a directory with its bytes, and every directory with None."""
    return {
        path.relative_to(directory).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(directory.rglob("*"))
    }
