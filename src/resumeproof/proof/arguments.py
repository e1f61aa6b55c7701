"""What a proof is asked for, checked. All of it raises `UsageRefused` for what makes no sense."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from resumeproof.errors import UsageRefused


def at_least_one(name: str, number: Any) -> int:
    """The number, if it is a whole one of at least 1."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise UsageRefused(reason=f"{name} must be a whole number of at least 1, not {number!r}")
    return number


def checked_timeout(seconds: Any) -> float:
    """The seconds, if they are more than 0 and come to an end."""
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise UsageRefused(reason=f"timeout_seconds must be more than 0, not {seconds!r}")
    return float(seconds)


def checked_directory(directory: str | os.PathLike[str] | None) -> Path | None:
    """The directory's absolute path; None where none was named."""
    if directory is None:
        return None
    path = Path(directory).absolute()
    if not path.is_dir():
        raise UsageRefused(reason=f"directory {str(directory)!r} is no directory")
    return path
