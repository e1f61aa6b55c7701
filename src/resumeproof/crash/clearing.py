"""Clears away what programs have left, whatever they made of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def clear_away(path: Path) -> None:
    """Remove what is at a path, be it a directory, a file or a link; there may be nothing.

    A directory that its owner may not write to, or not even read, is made so that it can go.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            _open_up(path)
            shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _open_up(directory: Path) -> None:
    directory.chmod(0o700)
    for folder, names, _ in os.walk(directory):
        for name in names:
            below = Path(folder, name)
            # What a link leads to is somebody else's.
            if not below.is_symlink():
                below.chmod(0o700)
