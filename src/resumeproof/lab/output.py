"""Where evidence goes: a new or empty directory, for none is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from resumeproof.errors import OutputNotEmpty, StoreUnavailable, UsageRefused

DEFAULT_DIRECTORY: Final = "resumeproof-demo"
DEFAULTS_AT_MOST: Final = 10_000


def claim_directory(named: Path | None, default: str = DEFAULT_DIRECTORY) -> Path:
    """Make the output directory, or take an empty one; None makes the next free default name.

    Raises `OutputNotEmpty`, since evidence is never overwritten; `UsageRefused` for what is no
    directory; and `StoreUnavailable`.
    """
    if named is not None:
        return _new_or_empty(named)
    for number in range(1, DEFAULTS_AT_MOST + 1):
        candidate = Path(default if number == 1 else f"{default}-{number}")
        try:
            # Of two demos at once only one makes it.
            candidate.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise _unavailable(candidate, error) from error
        return candidate
    raise OutputNotEmpty(f"{default}-{DEFAULTS_AT_MOST}")


def _new_or_empty(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise OutputNotEmpty(str(directory))
    except (FileExistsError, NotADirectoryError):
        raise UsageRefused(f"output directory {directory} is no directory") from None
    except OSError as error:
        raise _unavailable(directory, error) from error
    except ValueError as error:
        raise UsageRefused(f"output directory {str(directory)!r}: {error}") from error
    return directory


def _unavailable(directory: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable("output directory", str(directory), error.strerror or str(error))
